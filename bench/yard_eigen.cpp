// Eigen's SimplicialLLT in double, ordered by METIS. It has no threads.
extern "C"
{
#include "measure.h"
#include "yard.h"
}

#include <iostream> // MetisSupport uses it and does not say so

#include <Eigen/MetisSupport>
#include <Eigen/SparseCholesky>
#include <cstdio>
#include <memory>

namespace
{

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
using Solver = Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::MetisOrdering<int>>;

struct eigen_state
{
    std::unique_ptr<Solver> solver;
    Eigen::MatrixXd         b, x;
};

bool setup(yard* y, const yard_matrix* a, double ms[2])
{
    auto*  s = static_cast<eigen_state*>(y->state);
    Matrix m(a->n, a->n);
    m.resizeNonZeros(a->first[a->n]);
    for (int j = 0; j <= a->n; ++j) m.outerIndexPtr()[j] = static_cast<int>(a->first[j]);
    std::copy(a->row, a->row + a->first[a->n], m.innerIndexPtr());
    std::copy(a->value, a->value + a->first[a->n], m.valuePtr());
    s->solver = std::make_unique<Solver>();
    s->b.resize(a->n, 3);
    double start = now_ms();
    s->solver->analyzePattern(m);
    ms[0] = now_ms() - start;
    start = now_ms();
    s->solver->factorize(m);
    ms[1] = now_ms() - start;
    std::snprintf(y->note, sizeof y->note, "%.1f M nonzeros, all of A",
                  1e-6 * static_cast<double>(s->solver->matrixL().nestedExpression().nonZeros()));
    return s->solver->info() == Eigen::Success;
}

double forward(void* state, double* x)
{
    auto* s            = static_cast<eigen_state*>(state);
    s->b               = Eigen::Map<Eigen::MatrixXd>(x, s->b.rows(), 3);
    const double start = now_ms();
    s->x               = s->solver->solve(s->b);
    const double ms    = now_ms() - start;
    std::copy(s->x.data(), s->x.data() + s->x.size(), x);
    return ms;
}

void destroy(void* state)
{
    delete static_cast<eigen_state*>(state);
}

} // namespace

extern "C" bool yard_eigen(int32_t, yard* out)
{
    *out           = yard{};
    out->name      = "Eigen SimplicialLLT double, METIS order, one thread";
    out->state     = new eigen_state;
    out->own_order = true;
    out->setup     = setup;
    out->forward   = forward;
    out->destroy   = destroy;
    std::snprintf(out->version, sizeof out->version, "Eigen %d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                  EIGEN_MINOR_VERSION);
    return true;
}
