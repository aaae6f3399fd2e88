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

// --- factorization and solve in both precisions ----------------------------------------------------------------

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

// --- inverse -----------------------------------------------------------------------------------------------------

typedef struct sweep
{
    int32_t n;
    int64_t ld;
    double* a;
    double* v;      // [n][TILE] A_:k L_kk^-T, the pivot block's rows unused
    double* pivot;  // [TILE][TILE] L_kk
    int32_t k0, k1; // pivot block
} sweep;

/// Rows [begin, end) of column block k, whether they lie in the lower triangle (below) or as a row (above), times
/// L_kk^-T.
static void sweep_column(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const sweep*  s     = user;
    const int32_t width = s->k1 - s->k0;
    (void)worker;
    if (begin == s->k0) return;
    for (int32_t j = 0; j < width; ++j)
    {
        double* to = s->v + (int64_t)j * s->n;
        if (begin > s->k0)
            memcpy(to + begin, s->a + (s->k0 + j) * s->ld + begin, (size_t)(end - begin) * sizeof *to);
        else
            for (int64_t i = begin; i < end; ++i) to[i] = s->a[i * s->ld + s->k0 + j];
    }
    blas_solve_right_f64((int32_t)(end - begin), width, s->pivot, TILE, s->v + begin, s->n);
}

/// Tiles of the lower triangle outside row and column k.
static void sweep_tiles(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const sweep*  s     = user;
    const int32_t width = s->k1 - s->k0;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
    {
        int64_t i, j;
        tile_of(k, &i, &j);
        i *= TILE;
        j *= TILE;
        if (i == s->k0 || j == s->k0) continue;
        const int32_t rows    = (int32_t)(s->n - i < TILE ? s->n - i : TILE);
        const int32_t columns = (int32_t)(s->n - j < TILE ? s->n - j : TILE);
        double*       c       = s->a + i + j * s->ld;
        if (i == j)
            blas_subtract_aat_f64(rows, width, s->v + i, s->n, 1.0, c, (int32_t)s->ld);
        else
            blas_subtract_abt_f64(rows, columns, width, s->v + i, s->n, s->v + j, s->n, 1.0, c, (int32_t)s->ld);
    }
}

/// Write back A_ik P = (A_ik L^-T) L^-1 where it lies.
static void sweep_back(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const sweep*  s     = user;
    const int32_t width = s->k1 - s->k0;
    (void)worker;
    if (begin == s->k0) return;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int32_t)(end - begin), width, 1.0,
                s->pivot, TILE, s->v + begin, s->n);
    for (int32_t j = 0; j < width; ++j)
    {
        const double* from = s->v + (int64_t)j * s->n;
        if (begin > s->k0)
            memcpy(s->a + (s->k0 + j) * s->ld + begin, from + begin, (size_t)(end - begin) * sizeof *from);
        else
            for (int64_t i = begin; i < end; ++i) s->a[i * s->ld + s->k0 + j] = from[i];
    }
}

/// Negate the lower triangle and mirror it, block by block.
static void finish_columns(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const sweep* s = user;
    (void)worker;
    for (int64_t block = begin; block < s->n; block += 64)
        for (int64_t j = begin; j < end; ++j)
            for (int64_t i = block > j ? block : j; i < (block + 64 < s->n ? block + 64 : s->n); ++i)
                s->a[j + i * s->ld] = s->a[i + j * s->ld] = -s->a[i + j * s->ld];
}

/// Factor the pivot block; its negative inverse takes its place. Returns a bad row or -1.
static int32_t sweep_pivot(const sweep* s, const double* diagonal)
{
    const int32_t width = s->k1 - s->k0;
    double*       a     = s->a + s->k0 + s->k0 * s->ld;
    for (int32_t j = 0; j < width; ++j)
        memcpy(s->pivot + (int64_t)j * TILE + j, a + j * s->ld + j, (size_t)(width - j) * sizeof *a);
    const int     info = blas_cholesky_f64(width, s->pivot, TILE);
    const int32_t bad  = bad_pivot_f64(width, info, s->pivot, TILE, diagonal + s->k0);
    if (bad >= 0) return s->k0 + bad;

    // -P = -L^-T L^-1, by two triangular solves of the identity
    for (int32_t j = 0; j < width; ++j)
        for (int32_t i = 0; i < width; ++i) a[i + j * s->ld] = i == j ? -1.0 : 0.0;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, width, 1.0, s->pivot, TILE, a,
                (int32_t)s->ld);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, width, width, 1.0, s->pivot, TILE, a,
                (int32_t)s->ld);
    return -1;
}

flx_status flx__dense_inverse_f64(flx_context* ctx, int32_t n, double* a, int64_t ld, int32_t* bad_row)
{
    flx_status    status   = FLX_OK;
    double*       diagonal = NULL;
    sweep         s        = {.n = n, .ld = ld, .a = a};
    const int64_t blocks   = (n + TILE - 1) / TILE;

    blas_single_thread();
    FLX_NEW(ctx, diagonal, n);
    FLX_NEW(ctx, s.v, (int64_t)n * TILE);
    FLX_NEW(ctx, s.pivot, TILE * TILE);
    for (int64_t j = 0; j < n; ++j) diagonal[j] = a[j + j * ld];
    for (int64_t k = 0; k < blocks; ++k)
    {
        s.k0              = (int32_t)(k * TILE);
        s.k1              = n - s.k0 < TILE ? n : s.k0 + TILE;
        const int32_t bad = sweep_pivot(&s, diagonal);
        if (bad >= 0)
        {
            status = refuse(ctx, bad, bad_row);
            goto done;
        }
        flx__parallel_for(ctx, n, TILE, sweep_column, &s);
        flx__parallel_for(ctx, triangle(blocks), 1, sweep_tiles, &s);
        flx__parallel_for(ctx, n, TILE, sweep_back, &s);
    }
    flx__parallel_for(ctx, n, 64, finish_columns, &s);

done:
    flx__free(ctx, diagonal);
    flx__free(ctx, s.v);
    flx__free(ctx, s.pivot);
    return status;
}
