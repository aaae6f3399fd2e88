// Lawson and Hanson's active set, with a factor that follows the set and residuals that are always the true ones.
//
//   passive set P, columns scaled to length 1:  R^T R = G_P^T G_P,   r = b - G xi,   w = G^T r
//   enter the column with the largest w;  R^T R step = w_P;  xi_P += alpha step, alpha <= 1 as far as all stay
//   positive; those that reach 0 leave, and what is left of w_P is (1 - alpha) w_P: the objective is quadratic
//
// Based on [LawsonHanson74] ch. 23 with the row updates of ch. 24. Differs: they keep Q of a QR factorization; here
// only R is kept (a Cholesky factor, one row in and one row out at a time) and every step is a correction from the
// residual r, computed anew from G. Squaring the condition then costs speed of convergence, not accuracy: an error of
// the step is part of the next residual. One more such correction ends it.
#include "reduce/nnls.h"

#include "reduce/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define COLUMN_GRAIN 32  // columns in a chunk
#define ROW_GRAIN 512    // rows in a chunk
#define DEPENDENT 1e-12  // squared distance of a unit column from the span of the passive ones that counts as none
#define AT_MINIMUM 1e-12 // w, of |g| |b|

typedef struct nnls
{
    flx_context*  ctx;
    int64_t       rows;
    int32_t       cols;
    const double *g, *b;
    double*       length; // [cols] 1/|g_j|; 0 for a zero column
    double*       r;      // [rows]
    double*       w;      // [cols] scaled G^T r
    double*       x;      // [cols] scaled solution
    uint8_t*      state;  // [cols] PASSIVE, BARRED or 0

    int32_t  count, capacity;
    int32_t* passive;  // [capacity]
    double*  factor;   // [capacity][capacity] by rows: L of L L^T = G_P^T G_P, scaled
    double*  step;     // [capacity]
    double*  products; // [capacity] G_P^T g_j
    int32_t  entering;
} nnls;

enum
{
    PASSIVE = 1,
    BARRED  = 2 // depends on the passive columns; until one of these leaves
};

// --- passes over G, parallel, each result from one chunk ----------------------------------------------------------

static void length_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    nnls* n = user;
    for (int64_t j = begin; j < end; ++j)
    {
        const double size = cblas_dnrm2((int)n->rows, n->g + j * n->rows, 1);
        n->length[j]      = size > 0 ? 1 / size : 0;
    }
}

static void slope_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    nnls* n = user;
    cblas_dgemv(CblasColMajor, CblasTrans, (int)n->rows, (int)(end - begin), 1, n->g + begin * n->rows, (int)n->rows,
                n->r, 1, 0, n->w + begin, 1);
    for (int64_t j = begin; j < end; ++j) n->w[j] *= n->length[j];
}

static void residual_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    nnls*     n    = user;
    const int size = (int)(end - begin);
    memcpy(n->r + begin, n->b + begin, sizeof(double) * (size_t)size);
    for (int32_t k = 0; k < n->count; ++k)
    {
        const int32_t j = n->passive[k];
        cblas_daxpy(size, -n->x[j] * n->length[j], n->g + j * n->rows + begin, 1, n->r + begin, 1);
    }
}

static void product_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    nnls*         n   = user;
    const int32_t in  = n->entering;
    const double* g_j = n->g + in * n->rows;
    for (int64_t k = begin; k < end; ++k)
    {
        const int32_t j = n->passive[k];
        n->products[k]  = n->length[in] * n->length[j] * cblas_ddot((int)n->rows, g_j, 1, n->g + j * n->rows, 1);
    }
}

static void update_residual(nnls* n)
{
    flx__parallel_for(n->ctx, n->rows, ROW_GRAIN, residual_range, n);
}

static void update_slopes(nnls* n)
{
    flx__parallel_for(n->ctx, n->cols, COLUMN_GRAIN, slope_range, n);
}

// --- the factor -----------------------------------------------------------------------------------------------------

static double* factor_row(const nnls* n, int32_t k)
{
    return n->factor + (int64_t)k * n->capacity;
}

/// Row `count` of the factor for a column; false when the column depends on the passive ones.
static bool append(nnls* n, int32_t j)
{
    const int32_t k   = n->count;
    double*       row = factor_row(n, k);
    n->entering       = j;
    flx__parallel_for(n->ctx, k, 4, product_range, n);
    memcpy(row, n->products, sizeof(double) * (size_t)k);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, k, n->factor, n->capacity, row, 1);
    const double left = 1 - cblas_ddot(k, row, 1, row, 1);
    if (!(left > DEPENDENT)) return false;
    row[k]                 = sqrt(left);
    n->passive[n->count++] = j;
    n->state[j]            = PASSIVE;
    return true;
}

/// Take out the k-th passive column: rows below move up, and rotations of neighbouring columns restore the triangle.
static void drop(nnls* n, int32_t k)
{
    n->state[n->passive[k]] = 0;
    --n->count;
    for (int32_t i = k; i < n->count; ++i)
    {
        n->passive[i] = n->passive[i + 1];
        memcpy(factor_row(n, i), factor_row(n, i + 1), sizeof(double) * (size_t)(i + 2));
    }
    for (int32_t c = k; c < n->count; ++c)
    {
        double*      pivot = factor_row(n, c);
        const double size = hypot(pivot[c], pivot[c + 1]), cosine = pivot[c] / size, sine = pivot[c + 1] / size;
        pivot[c] = size;
        for (int32_t i = c + 1; i < n->count; ++i)
        {
            double*      row = factor_row(n, i);
            const double a = row[c], b = row[c + 1];
            row[c]     = cosine * a + sine * b;
            row[c + 1] = cosine * b - sine * a;
        }
    }
}

/// step = (G_P^T G_P)^-1 w_P
static void solve_step(nnls* n)
{
    for (int32_t k = 0; k < n->count; ++k) n->step[k] = n->w[n->passive[k]];
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n->count, n->factor, n->capacity, n->step, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n->count, n->factor, n->capacity, n->step, 1);
}

// --- the active set -------------------------------------------------------------------------------------------------

static int32_t steepest(const nnls* n, double at_least)
{
    int32_t best = -1;
    for (int32_t j = 0; j < n->cols; ++j)
        if (n->state[j] == 0 && n->w[j] > at_least && (best < 0 || n->w[j] > n->w[best])) best = j;
    return best;
}

/// How far the step may go, and which column stops it (-1: none does).
static double longest_step(const nnls* n, int32_t* stopper)
{
    double alpha = 1;
    *stopper     = -1;
    for (int32_t k = 0; k < n->count; ++k)
    {
        const double x = n->x[n->passive[k]];
        if (x + n->step[k] > 0) continue;
        const double here = x / -n->step[k];
        if (*stopper < 0 || here < alpha) alpha = here, *stopper = k;
    }
    return alpha;
}

/// To the minimum over the passive columns, or to where the last of those that would turn negative has left.
static void settle(nnls* n)
{
    while (n->count > 0)
    {
        int32_t stopper;
        solve_step(n);
        const double alpha = longest_step(n, &stopper);
        for (int32_t k = 0; k < n->count; ++k)
        {
            n->x[n->passive[k]] += alpha * n->step[k];
            n->w[n->passive[k]] *= 1 - alpha;
        }
        if (stopper < 0) return;
        n->x[n->passive[stopper]] = 0;
        for (int32_t k = n->count - 1; k >= 0; --k)
            if (!(n->x[n->passive[k]] > 0))
            {
                n->x[n->passive[k]] = 0;
                drop(n, k);
            }
    }
}

/// One column enters. False when none is left that would help.
static bool enter(nnls* n, double at_least)
{
    for (;;)
    {
        const int32_t j = steepest(n, at_least);
        if (j < 0) return false;
        if (append(n, j)) return true;
        n->state[j] = BARRED;
    }
}

static double residual_norm(const nnls* n)
{
    return cblas_dnrm2((int)n->rows, n->r, 1);
}

static void release_barred(nnls* n)
{
    for (int32_t j = 0; j < n->cols; ++j)
        if (n->state[j] == BARRED) n->state[j] = 0;
}

static int32_t iterate(nnls* n, const flx_nnls_options* o, double size)
{
    const int64_t most_rounds = 10 * (int64_t)n->cols + 100; // each lowers |r|: more means that rounding drives it
    int32_t       rounds      = 0;
    double        before      = residual_norm(n);
    while (rounds < most_rounds && before > o->residual * size && n->count < n->capacity)
    {
        update_slopes(n);
        if (!enter(n, AT_MINIMUM * size)) break;
        ++rounds;
        const int32_t count = n->count, entered = n->passive[count - 1];
        settle(n);
        update_residual(n);
        const double now = residual_norm(n);
        if (n->count < count && now < before) release_barred(n);
        if (n->state[entered] == 0) n->state[entered] = BARRED; // it left at once: it gained nothing but rounding
        before = fmin(before, now);
    }
    return rounds;
}

/// One correction more, from the true residual; not when it would leave the positive side.
static void polish(nnls* n)
{
    int32_t stopper;
    update_slopes(n);
    solve_step(n);
    longest_step(n, &stopper);
    if (stopper >= 0) return;
    for (int32_t k = 0; k < n->count; ++k) n->x[n->passive[k]] += n->step[k];
    update_residual(n);
}

static flx_status check_input(flx_context* ctx, int64_t rows, int32_t cols, const double* g, const double* b)
{
    if (rows < 1 || cols < 1 || rows > INT_MAX)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "no least squares of %lld rows, %d columns", (long long)rows, cols);
    for (int64_t i = 0; i < rows; ++i)
        if (!isfinite(b[i]))
            return flx__fail(ctx, FLX_ERR_NONFINITE, "right-hand side %lld is not finite", (long long)i);
    for (int64_t i = 0; i < rows * cols; ++i)
        if (!isfinite(g[i]))
            return flx__fail(ctx, FLX_ERR_NONFINITE, "column %lld of a least-squares problem is not finite",
                             (long long)(i / rows));
    return FLX_OK;
}

flx_status flx__nnls(flx_context* ctx, int64_t rows, int32_t cols, const double* g, const double* b,
                     const flx_nnls_options* options, double* xi, flx_nnls_result* result)
{
    flx_status status = FLX_OK;
    nnls       n      = {.ctx = ctx, .rows = rows, .cols = cols, .g = g, .b = b};
    FLX_TRY(check_input(ctx, rows, cols, g, b));
    n.capacity = rows < cols ? (int32_t)rows : cols;
    if (options->most_nonzeros > 0 && options->most_nonzeros < n.capacity) n.capacity = options->most_nonzeros;
    FLX_NEW(ctx, n.length, cols);
    FLX_NEW(ctx, n.r, rows);
    FLX_NEW_ZERO(ctx, n.w, cols);
    FLX_NEW_ZERO(ctx, n.x, cols);
    FLX_NEW_ZERO(ctx, n.state, cols);
    FLX_NEW(ctx, n.passive, n.capacity);
    FLX_NEW_ZERO(ctx, n.factor, (int64_t)n.capacity * n.capacity);
    FLX_NEW(ctx, n.step, n.capacity);
    FLX_NEW(ctx, n.products, n.capacity);
    blas_single_thread();

    flx__parallel_for(ctx, cols, COLUMN_GRAIN, length_range, &n);
    update_residual(&n);
    const double  size   = residual_norm(&n);
    const int32_t rounds = iterate(&n, options, size);
    polish(&n);
    for (int32_t j = 0; j < cols; ++j) xi[j] = n.x[j] * n.length[j];
    if (result)
    {
        update_slopes(&n);
        *result = (flx_nnls_result){.nonzeros = n.count, .rounds = rounds};
        for (int32_t j = 0; size > 0 && j < cols; ++j)
            if (n.state[j] != PASSIVE) result->slope = fmax(result->slope, n.w[j] / size);
        result->residual = size > 0 ? residual_norm(&n) / size : 0;
    }
done:
    flx__free(ctx, n.length);
    flx__free(ctx, n.r);
    flx__free(ctx, n.w);
    flx__free(ctx, n.x);
    flx__free(ctx, n.state);
    flx__free(ctx, n.passive);
    flx__free(ctx, n.factor);
    flx__free(ctx, n.step);
    flx__free(ctx, n.products);
    return status;
}
