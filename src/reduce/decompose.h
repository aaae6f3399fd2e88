// Decompositions of small dense matrices: singular values, symmetric eigenvalues, least squares.
//
// Everywhere in these files a matrix [m][n] is m rows and n columns stored by columns: a[i + j m]. Results do not
// depend on the number of workers; LAPACK runs on one thread, its workspace comes from the context. All of them return
// FLX_ERR_NONFINITE for an entry that is not finite, FLX_ERR_MEMORY, and FLX_ERR_UNSUPPORTED for more than 2^31 - 1
// rows.
#ifndef FLX_REDUCE_DECOMPOSE_H
#define FLX_REDUCE_DECOMPOSE_H

#include "base/base.h"

/// Thin SVD a = u diag(sigma) vt with k = min(rows, cols).
/// in/out  a     [rows][cols], destroyed
/// out     sigma [k] descending;  u [rows][k] and vt [k][cols], both NULL: values only
flx_status flx__thin_svd(flx_context* ctx, int64_t rows, int32_t cols, double* a, double* sigma, double* u, double* vt);

/// Singular values of a [rows][cols], which is kept: the largest is its spectral norm |a|_2. An empty matrix has norm 0
/// and least 0. Either output may be NULL.
flx_status flx__singular_range(flx_context* ctx, int64_t rows, int32_t cols, const double* a, double* most,
                               double* least);

/// a = vector diag(value) vector^T.
/// in/out  a [n][n] symmetric, its lower triangle is read; destroyed
/// out     value [n] ascending; vector [n][n], may be NULL
flx_status flx__symmetric_eigen(flx_context* ctx, int32_t n, double* a, double* value, double* vector);

/// x = argmin |a x - b| by Householder QR, never by normal equations, which square the condition.
/// in/out  a [rows][cols], rows >= cols, b [rows][count]: destroyed
/// out     x [cols][count]
/// FLX_ERR_ARGUMENT when a has no full column rank to working precision; `x` is then the least-norm answer with a's
/// singular values below 1e-14 of the largest taken for zero.
flx_status flx__least_squares(flx_context* ctx, int64_t rows, int32_t cols, double* a, int32_t count, double* b,
                              double* x);

#endif
