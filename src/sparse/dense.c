// Dense Cholesky, solve and inverse in tiles.
//
//   Cholesky, right-looking by blocks of TILE columns: A_kk = L_kk L_kk^T; L_ik = A_ik L_kk^-T; A_ij -= L_ik L_jk^T;
//   inverse by symmetric block sweeps: for each block k with P = A_kk^-1, every other block A_ij -= A_ik P A_kj,
//     A_ik := A_ik P, A_kk := -P; after the last sweep A holds -A^-1. Each sweep is one update of the whole matrix, so
//     all workers are busy all the time, and the pivots are those of the Cholesky factorization.
// Based on [Beaton64] (sweep), [ButtariEtAl09] (tiles). BLAS runs on one thread inside each tile.
#include "sparse/blas.h"
#include "sparse/substitute.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TILE 192

static int64_t triangle(int64_t k)
{
    return k * (k + 1) / 2;
}

/// k = i (i + 1) / 2 + j with j <= i
static void tile_of(int64_t k, int64_t* i, int64_t* j)
{
    int64_t row = (int64_t)((sqrt(8.0 * (double)k + 1.0) - 1.0) / 2.0);
    while (triangle(row) > k) --row;
    while (triangle(row + 1) <= k) ++row;
    *i = row;
    *j = k - triangle(row);
}

static flx_status refuse(flx_context* ctx, int32_t row, int32_t* bad_row)
{
    if (bad_row) *bad_row = row;
    return flx__fail(ctx, FLX_ERR_UNHELD, "row %d of a dense matrix has no positive pivot", row);
}

// --- factorization, solve and inverse in both precisions -----------------------------------------------------

#define REAL double
#define NAME(x) x##_f64
#define BLAS(x) cblas_d##x
// What is left of a pivot after all updates carries the rounding of its diagonal entry.
#define PIVOT_LIMIT 1e-12
#include "sparse/dense.inl"
#undef REAL
#undef NAME
#undef BLAS
#undef PIVOT_LIMIT

#define REAL float
#define NAME(x) x##_f32
#define BLAS(x) cblas_s##x
#define PIVOT_LIMIT (4.0f * FLT_EPSILON)
#include "sparse/dense.inl"

flx_status flx__dense_cholesky_f64(flx_context* ctx, int32_t n, double* a, int64_t ld, int32_t* bad_row)
{
    return cholesky_f64(ctx, n, a, ld, bad_row);
}

flx_status flx__dense_cholesky_f32(flx_context* ctx, int32_t n, float* a, int64_t ld, int32_t* bad_row)
{
    return cholesky_f32(ctx, n, a, ld, bad_row);
}

void flx__dense_solve_f64(flx_context* ctx, int32_t n, const double* l, int64_t ld, double* b, int64_t ldb,
                          int32_t columns)
{
    solve_f64(ctx, n, l, ld, b, ldb, columns);
}

void flx__dense_solve_f32(flx_context* ctx, int32_t n, const float* l, int64_t ld, float* b, int64_t ldb,
                          int32_t columns)
{
    solve_f32(ctx, n, l, ld, b, ldb, columns);
}

flx_status flx__dense_inverse_f64(flx_context* ctx, int32_t n, double* a, int64_t ld, int32_t* bad_row)
{
    return inverse_f64(ctx, n, a, ld, bad_row);
}

flx_status flx__dense_inverse_f32(flx_context* ctx, int32_t n, float* a, int64_t ld, int32_t* bad_row)
{
    return inverse_f32(ctx, n, a, ld, bad_row);
}

// --- product -------------------------------------------------------------------------------------------------

#define PRODUCT_ROWS 64

typedef struct product
{
    flx__substitute kernels;
    int32_t         n;
    int64_t         ld;
    const float*    a32;
    float* const*   x32;
    float* const*   y32;
    const double*   a64;
    double* const*  x64;
    double* const*  y64;
} product;

static void product_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p = user;
    (void)worker;
    if (p->a32)
        p->kernels.multiply3_f32(p->n, p->a32, p->ld, begin, end, p->x32, p->y32);
    else
        p->kernels.multiply3_f64(p->n, p->a64, p->ld, begin, end, p->x64, p->y64);
}

void flx__dense_multiply3_f32(flx_context* ctx, int32_t n, const float* a, int64_t ld, float* const x[3],
                              float* const y[3])
{
    product p = {.kernels = flx__substitute_choose(flx__context_isa(ctx)), .n = n, .ld = ld};
    p.a32     = a;
    p.x32     = x;
    p.y32     = y;
    flx__parallel_for(ctx, n, PRODUCT_ROWS, product_rows, &p);
}

void flx__dense_multiply3_f64(flx_context* ctx, int32_t n, const double* a, int64_t ld, double* const x[3],
                              double* const y[3])
{
    product p = {.kernels = flx__substitute_choose(flx__context_isa(ctx)), .n = n, .ld = ld};
    p.a64     = a;
    p.x64     = x;
    p.y64     = y;
    flx__parallel_for(ctx, n, PRODUCT_ROWS, product_rows, &p);
}
