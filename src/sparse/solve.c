// Forward and backward substitution with the partial factor, three right-hand sides at once.
//
//   forward:  y_1 = L_11^-1 b_1,  y_2 = b_2 - L_21 y_1;      backward: x_1 = L_11^-T (y_1 - L_21^T x_2).
// Every piece of the factor is read once for the three columns. Subtrees are tasks, children before parents (forward)
// or after them (backward); the few supernodes above are cut into rows for all workers. Same bits for any number of
// workers: see plan.c.
#include "sparse/factor_internal.h"

#include <string.h>

#define REAL float
#define PANELS single
#define WORK f32
#define SUFFIX(name) name##_f32
#define KERNEL(name) name##_f32
#include "sparse/solve.inl"
#undef REAL
#undef PANELS
#undef WORK
#undef SUFFIX
#undef KERNEL

#define REAL double
#define PANELS twice
#define WORK f64
#define SUFFIX(name) name##_f64
#define KERNEL(name) name##_f64
#include "sparse/solve.inl"

void flx__factor_forward_f32(flx_factor* factor, float* const b[3])
{
    FLX_ASSERT(factor->panels.single);
    forward_f32(factor, b);
}

void flx__factor_forward_f64(flx_factor* factor, double* const b[3])
{
    FLX_ASSERT(factor->panels.twice);
    forward_f64(factor, b);
}

void flx__factor_backward_f32(flx_factor* factor, float* const b[3])
{
    FLX_ASSERT(factor->panels.single);
    backward_f32(factor, b);
}

void flx__factor_backward_f64(flx_factor* factor, double* const b[3])
{
    FLX_ASSERT(factor->panels.twice);
    backward_f64(factor, b);
}
