// The inner contact solve on the test body: the engine's own code, on a solver that holds Sigma^-1, against the paper's
// refactorization of Sigma + W^T C W by LAPACK (yard_refactor.c).
#ifndef FLX_BENCH_INNER_H
#define FLX_BENCH_INNER_H

#include "body.h"
#include "solver/solver_internal.h"

typedef struct inner
{
    flx_context*      ctx;
    int32_t           n2, active, candidates; // candidates come after the active ones and stay apart
    flx_contact*      contact;                // [active + candidates] the solver's
    double            stiffness;
    float*            sigma;  // [n2][n2]
    double*           r[3];   // [n2] right-hand side
    double*           lambda; // [active] the unilateral answer the gaps were made for
    flx_contact_desc  law;
    flx_scene*        scene;
    flx_contact_group group;
    flx_model         model;
    flx_state         state;
    flx_solver        solver;
    double *          push, *force, *prone_force; // the state's
} inner;

/// `schur` is Sigma [n2][n2] in double; it is inverted in place.
flx_status inner_create(flx_context* ctx, const body* arm, int32_t active, int32_t candidates, double* schur,
                        inner* in);
void       inner_release(inner* in);

/// One solve by the engine, without what it remembers of the step before: ms. The increments lie in solver.delta.
double inner_solve(inner* in, flx_law law, flx_strategy strategy);
/// |lambda - the answer| / |the answer| after a unilateral solve.
double inner_lambda_error(const inner* in);

/// Copy Sigma, add W^T C W, Cholesky and solve three columns with OpenBLAS and all its threads, in single precision:
/// ms of everything, -1 if it fails, and of the factorization. dense [n2 + 3][n2] is scratch; answer in delta [3][n2].
double inner_refactor(const inner* in, int32_t workers, float* dense, double* delta, double* ms_factor);

#endif
