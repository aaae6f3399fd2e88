// Least squares with weights that may not be negative, and few of them: cubature weights.
//
//   xi = argmin |G xi - b|,  xi >= 0;   at the solution w = G^T (b - G xi) is 0 where xi > 0 and <= 0 where xi = 0
//
// The active-set method of [LawsonHanson74] ch. 23, which enters one column at a time and so can be stopped at m
// nonzeros or at a residual, the way hyper-reduction does [FarhatEtAl14].
#ifndef FLX_REDUCE_NNLS_H
#define FLX_REDUCE_NNLS_H

#include "base/base.h"

typedef struct flx_nnls_options
{
    int32_t most_nonzeros; // stop there; 0 = no limit
    double  residual;      // stop when |G xi - b| <= residual |b|; 0 = at the minimum
} flx_nnls_options;

typedef struct flx_nnls_result
{
    int32_t nonzeros;
    int32_t rounds;   // columns tried
    double  residual; // |G xi - b| / |b|, from G itself
    double  slope; // largest w_j / (|g_j| |b|) among columns at 0: what stopping early leaves; <= 1e-12 at the minimum
} flx_nnls_result;

/// in   g [rows][cols] by columns, finite, in any scale; b [rows]
/// out  xi [cols] >= 0; result may be NULL
/// A column within 1e-6 of its length from the span of those that weigh already is left out, whatever its slope.
/// FLX_ERR_NONFINITE, FLX_ERR_MEMORY, FLX_ERR_ARGUMENT for an empty problem.
flx_status flx__nnls(flx_context* ctx, int64_t rows, int32_t cols, const double* g, const double* b,
                     const flx_nnls_options* options, double* xi, flx_nnls_result* result);

#endif
