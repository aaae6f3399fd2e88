// Cloth beside the plainest other way: Projective Dynamics with Eigen's SimplicialLLT in double, one thread, the local
// step a loop with Eigen's SVD. Both sides do the same rounds from the same state, and are compared at the end.
//
//   yard_cloth_eigen [squares along an edge, 100] [steps, 60]
extern "C"
{
#include "flexor/flexor.h"
#include "measure.h"
}

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace
{

using Vec    = Eigen::Vector3d;
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3>;
using Matrix = Eigen::SparseMatrix<double>;

constexpr int    rounds  = 10;
constexpr double density = 0.2, spring = 50, strain = 100, bending = 50e-6, least = 0.98, most = 1.02, g = 9.81;
constexpr double h = 1.0 / 60, held = 200 * (spring + strain); // held: what the engine takes for a fix

struct Sheet
{
    std::vector<Vec>                x;
    std::vector<std::array<int, 3>> triangle;
    std::vector<std::array<int, 2>> edge;
    std::vector<int>                fixed;
};

Sheet make_sheet(int n)
{
    Sheet s;
    for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i) s.x.push_back(Vec(double(i) / n - 0.5, double(j) / n - 0.5, 0));
    std::map<std::array<int, 2>, bool> seen;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
        {
            const int a = i + (n + 1) * j, b = a + 1, d = a + n + 1, c = d + 1;
            if ((i + j) % 2 == 0)
                s.triangle.push_back({a, b, c}), s.triangle.push_back({a, c, d});
            else
                s.triangle.push_back({a, b, d}), s.triangle.push_back({b, c, d});
        }
    for (const auto& t : s.triangle)
        for (int k = 0; k < 3; ++k)
        {
            const std::array<int, 2> e = {std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])};
            if (!seen[e]) s.edge.push_back(e), seen[e] = true;
        }
    for (int i = 0; i <= n; ++i) s.fixed.push_back(n * (n + 1) + i);
    return s;
}

class Eigens
{
  public:
    explicit Eigens(const Sheet& sheet) : s(sheet), n(int(sheet.x.size())), x(n, 3), v(Points::Zero(n, 3)), mass(n)
    {
        std::vector<Eigen::Triplet<double>> entry;
        mass.setZero();
        Eigen::VectorXd area = Eigen::VectorXd::Zero(n);
        for (int i = 0; i < n; ++i) x.row(i) = s.x[i];
        std::vector<Eigen::Triplet<double>> cot;
        for (const auto& t : s.triangle)
        {
            const Vec       e1 = s.x[t[1]] - s.x[t[0]], e2 = s.x[t[2]] - s.x[t[0]];
            const double    a = e1.cross(e2).norm() / 2;
            Eigen::Matrix2d dm;
            dm << e1.head<2>(), e2.head<2>();
            inverse.push_back(dm.inverse());
            weight.push_back(strain * a);
            Eigen::Matrix<double, 2, 3> d;
            d << -1, 1, 0, -1, 0, 1;
            const Eigen::Matrix3d k = strain * a * d.transpose() * inverse.back() * inverse.back().transpose() * d;
            for (int p = 0; p < 3; ++p)
            {
                mass[t[p]] += density * a / 3;
                area[t[p]] += a / 3;
                const Vec    l = s.x[t[(p + 1) % 3]] - s.x[t[p]], r = s.x[t[(p + 2) % 3]] - s.x[t[p]];
                const double c = l.dot(r) / l.cross(r).norm() / 2;
                const int    u = t[(p + 1) % 3], w = t[(p + 2) % 3];
                cot.emplace_back(u, w, c), cot.emplace_back(w, u, c), cot.emplace_back(u, u, -c),
                    cot.emplace_back(w, w, -c);
                for (int q = 0; q < 3; ++q) entry.emplace_back(t[p], t[q], k(p, q));
            }
        }
        for (const auto& e : s.edge)
        {
            length.push_back((s.x[e[0]] - s.x[e[1]]).norm());
            for (int p = 0; p < 2; ++p)
                for (int q = 0; q < 2; ++q) entry.emplace_back(e[p], e[q], p == q ? spring : -spring);
        }
        for (int i : s.fixed) entry.emplace_back(i, i, held);
        for (int i = 0; i < n; ++i) entry.emplace_back(i, i, mass[i] / (h * h));
        Matrix a(n, n);
        laplace.resize(n, n);
        laplace.setFromTriplets(cot.begin(), cot.end());
        a.setFromTriplets(entry.begin(), entry.end());
        inverse_area = area.cwiseInverse();
        curvature    = inverse_area.asDiagonal() * (laplace * x); // at rest: 0 inside, along the edge not
        rest_size    = curvature.rowwise().norm();
        for (int i = 0; i < n; ++i)
            if (rest_size[i] < 1e-9) rest_size[i] = 0;
        a += Matrix(laplace.transpose() * (bending * inverse_area).asDiagonal() * laplace);
        solver.compute(a);
    }

    void step()
    {
        const Points before = x, inertial = x + h * v;
        x = inertial;
        Points b(n, 3);
        for (int k = 0; k < rounds; ++k)
        {
            b = (mass / (h * h)).asDiagonal() * inertial;
            b.col(2) -= g * mass;
            for (int i : s.fixed) b.row(i) += held * s.x[i].transpose();
            for (size_t i = 0; i < s.edge.size(); ++i)
            {
                const auto& e = s.edge[i];
                Vec         d = x.row(e[0]) - x.row(e[1]);
                d *= spring * length[i] / d.norm();
                b.row(e[0]) += d;
                b.row(e[1]) -= d;
            }
            for (size_t i = 0; i < s.triangle.size(); ++i)
            {
                const auto&                 t = s.triangle[i];
                Eigen::Matrix<double, 3, 2> d, f;
                d << (x.row(t[1]) - x.row(t[0])).transpose(), (x.row(t[2]) - x.row(t[0])).transpose();
                f = d * inverse[i];
                const Eigen::JacobiSVD<Eigen::Matrix<double, 3, 2>> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
                const Eigen::Vector2d             sigma = svd.singularValues().cwiseMax(least).cwiseMin(most);
                const Eigen::Matrix<double, 3, 2> pull  = weight[i] * svd.matrixU().leftCols<2>() * sigma.asDiagonal() *
                                                         svd.matrixV().transpose() * inverse[i].transpose();
                b.row(t[1]) += pull.col(0);
                b.row(t[2]) += pull.col(1);
                b.row(t[0]) -= pull.col(0) + pull.col(1);
            }
            curvature = inverse_area.asDiagonal() * (laplace * x);
            for (int i = 0; i < n; ++i)
                curvature.row(i) *= rest_size[i] > 0 ? bending * rest_size[i] / curvature.row(i).norm() : 0;
            b += laplace.transpose() * curvature;
            const double start = now_ms();
            x                  = solver.solve(b);
            ms_solve += now_ms() - start;
        }
        v = (x - before) / h;
    }

    Sheet                                                               s;
    int                                                                 n;
    Points                                                              x, v;
    Eigen::VectorXd                                                     mass;
    Eigen::VectorXd                                                     rest_size, inverse_area;
    Matrix                                                              laplace;
    Points                                                              curvature;
    std::vector<Eigen::Matrix2d>                                        inverse;
    std::vector<double>                                                 weight, length;
    Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>> solver;
    double                                                              ms_solve = 0;
};

void check(flx_context* ctx, flx_status status)
{
    if (status == FLX_OK) return;
    std::fprintf(stderr, "%s\n", flx_context_error(ctx));
    std::exit(1);
}

std::string write_scene(const Sheet& s, const char* folder)
{
    const std::string mesh = std::string(folder) + "/sheet.obj", path = std::string(folder) + "/sheet.yaml";
    FILE*             out = std::fopen(mesh.c_str(), "w");
    for (const Vec& p : s.x) std::fprintf(out, "v %.17g %.17g %.17g\n", p[0], p[1], p[2]);
    for (const auto& t : s.triangle) std::fprintf(out, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    std::fclose(out);
    out = std::fopen(path.c_str(), "w");
    std::fprintf(out,
                 "flexor: 1\ngravity: %g\nbodies:\n  - {name: sheet, cloth: sheet.obj, material: {area_density: %g},\n"
                 "     constraints: [{spring: %g}, {strain: %g, min: %g, max: %g}, {bending: %g}]}\n"
                 "fix: {region: {box: {min: [-1, 0.4999, -1], max: [1, 1, 1]}}}\n"
                 "solver: {mode: dynamic, outer: %d, tolerance: 0}\nrun: {fps: 60}\n",
                 g, density, spring, strain, least, most, bending, rounds);
    std::fclose(out);
    return path;
}

/// ms a step of the engine; its positions after them.
double run_engine(const std::string& path, int workers, bool wide, int steps, std::vector<double>& x)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = workers;
    flx_context* ctx      = nullptr;
    flx_scene*   scene    = nullptr;
    flx_model*   model    = nullptr;
    flx_solver*  solver   = nullptr;
    flx_state*   state    = nullptr;
    if (flx_context_create(&desc, &ctx) != FLX_OK) std::exit(1);
    check(ctx, flx_scene_read(ctx, path.c_str(), nullptr, &scene));
    scene->settings.precision = wide ? FLX_PRECISION_DOUBLE : FLX_PRECISION_SINGLE;
    check(ctx, flx_model_compile(ctx, scene, nullptr, nullptr, &model));
    check(ctx, flx_solver_create(ctx, model, nullptr, nullptr, nullptr, &solver));
    check(ctx, flx_state_create(ctx, model, &state));
    std::vector<double> ms;
    for (int k = 0; k < steps; ++k)
    {
        const double start = now_ms();
        check(ctx, flx_solver_step(solver, state, nullptr));
        ms.push_back(now_ms() - start);
    }
    x.resize(3 * size_t(flx_model_get_info(model).vertex_count));
    flx_state_positions(state, x.data());
    flx_state_destroy(state);
    flx_solver_destroy(solver);
    flx_model_destroy(model);
    flx_scene_destroy(ctx, scene);
    flx_context_destroy(ctx);
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    const int   n = argc > 1 ? std::atoi(argv[1]) : 100, steps = argc > 2 ? std::atoi(argv[2]) : 60;
    const Sheet sheet    = make_sheet(n);
    char        folder[] = "/tmp/flexor-yard-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    const std::string path = write_scene(sheet, folder);

    Eigens              eigen(sheet);
    std::vector<double> ms;
    for (int k = 0; k < steps; ++k)
    {
        const double start = now_ms();
        eigen.step();
        ms.push_back(now_ms() - start);
    }
    std::sort(ms.begin(), ms.end());
    const double theirs = ms[ms.size() / 2];
    std::printf("%d vertices, %zu triangles, %zu edges; %d rounds a step, median of %d steps\n\n", eigen.n,
                sheet.triangle.size(), sheet.edge.size(), rounds, steps);
    std::printf("| | ms a step | steps/s | times Eigen | farthest from Eigen, m |\n|---|---|---|---|---|\n");
    std::printf("| Eigen, double, 1 thread (%.1f ms of it solving) | %.2f | %.1f | 1.0 | |\n", eigen.ms_solve / steps,
                theirs, 1e3 / theirs);
    for (int wide = 0; wide < 2; ++wide)
        for (int workers = 1; workers <= 2; ++workers)
        {
            std::vector<double> x;
            const double        ours = run_engine(path, workers, wide, steps, x);
            double              far  = 0;
            for (int i = 0; i < eigen.n; ++i)
                far = std::max(far, (Vec(x[3 * size_t(i)], x[3 * size_t(i) + 1], x[3 * size_t(i) + 2]) -
                                     eigen.x.row(i).transpose())
                                        .norm());
            std::printf("| Flexor, %s, %d worker%s | %.2f | %.1f | %.1f | %.1e |\n", wide ? "double" : "single",
                        workers, workers > 1 ? "s" : "", ours, 1e3 / ours, theirs / ours, far);
        }
    std::remove((std::string(folder) + "/sheet.obj").c_str());
    std::remove(path.c_str());
    std::remove(folder);
    return 0;
}
