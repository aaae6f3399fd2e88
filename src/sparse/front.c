// One task of the numeric factorization: the fronts of whole subtrees, one after the other on a private stack.
//
//   front of s = its columns of A + the updates of its children;
//   F_11 = L_11 L_11^T,  L_21 = F_21 L_11^-T,  update = F_22 - L_21 L_21^T, which the parent adds in turn.
// Based on [DuffReid83]. The stack holds updates as packed triangles; rows below include the prone ones, so what a
// subtree adds to Sigma travels up with it until it meets the top of the tree.
#include "sparse/blas.h"
#include "sparse/factor_internal.h"

#include <float.h>
#include <string.h>

static bool is_task_root(const flx__symbolic* sym, int32_t s, int32_t end)
{
    return sym->parent[s] < 0 || sym->parent[s] >= end;
}

int64_t flx__task_stack(const flx__symbolic* sym, int32_t begin, int32_t end)
{
    int64_t held = 0;
    int64_t peak = 0;
    for (int32_t s = begin; s < end; ++s)
    {
        const int64_t rows  = flx__row_count(sym, s);
        const int64_t below = rows - sym->width[s];
        const int64_t want  = held + rows * sym->width[s] + below * below;
        if (want > peak) peak = want;
        for (int32_t c = s - 1; c >= sym->begin[s]; c = sym->begin[c] - 1)
            held -= flx__packed_length(flx__row_count(sym, c) - sym->width[c]);
        if (!is_task_root(sym, s, end)) held += flx__packed_length(below);
    }
    return peak;
}

// A pivot this small beside its diagonal entry is what rounding leaves of zero.
#define REAL double
#define NAME(x) x##_f64
#define PIVOT_LIMIT 1e-12
#include "sparse/front.inl"
#undef REAL
#undef NAME
#undef PIVOT_LIMIT

#define REAL float
#define NAME(x) x##_f32
#define PIVOT_LIMIT (4.0 * (double)FLT_EPSILON)
#include "sparse/front.inl"
