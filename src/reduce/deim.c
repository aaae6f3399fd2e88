// DEIM's greedy points, their 3-vector form, and Q-DEIM's.
//
// What DEIM leaves of mode l after interpolating it by the modes before is what Gaussian elimination leaves of column
// l, and the next point is partial pivoting's next pivot, so the scalar form is an LU factorization that never solves
// anew:
//   c = (P^T V)^-1 P^T v_l,   residual_l = v_l - V c = v_l - sum_k residual_k  e_k,   e_k = (v_l - ...)[p_k] /
//   residual_k[p_k]
// The 3-vector form has one row choice for three eliminations: pivots are then not the largest of their columns and
// may vanish, so it solves with row exchanges at each step.
#include "reduce/deim.h"

#include "reduce/decompose.h"
#include "reduce/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static flx_status check_shape(flx_context* ctx, int64_t rows, int32_t r)
{
    if (r < 0 || rows < r || rows > INT_MAX)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d interpolation points among %lld rows", r, (long long)rows);
    return FLX_OK;
}

static int64_t largest(int64_t rows, const double* x)
{
    int64_t best = 0;
    for (int64_t i = 1; i < rows; ++i)
        if (fabs(x[i]) > fabs(x[best])) best = i;
    return best;
}

flx_status flx__deim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point)
{
    flx_status status   = FLX_OK;
    double*    residual = NULL; // [rows][r]
    FLX_TRY(check_shape(ctx, rows, r));
    FLX_NEW(ctx, residual, rows * r);
    memcpy(residual, v, sizeof(double) * (size_t)(rows * r));
    blas_single_thread();
    for (int32_t l = 0; l < r; ++l)
    {
        double* x = residual + l * rows;
        for (int32_t k = 0; k < l; ++k)
        {
            const double* y = residual + k * rows;
            cblas_daxpy((int)rows, -x[point[k]] / y[point[k]], y, 1, x, 1);
            x[point[k]] = 0;
        }
        point[l] = largest(rows, x);
        if (!(fabs(x[point[l]]) > 0))
        {
            status = flx__fail(ctx, FLX_ERR_ARGUMENT, "mode %d depends on those before it: no interpolation point", l);
            goto done;
        }
    }
done:
    flx__free(ctx, residual);
    return status;
}

flx_status flx__qdeim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point)
{
    flx_status status = FLX_OK;
    double *   a = NULL, *tau = NULL, *work = NULL;
    int*       pivot = NULL;
    FLX_TRY(check_shape(ctx, rows, r));
    if (r == 0) goto done;
    FLX_NEW(ctx, a, rows * r);
    FLX_NEW(ctx, tau, r);
    FLX_NEW_ZERO(ctx, pivot, rows);
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t k = 0; k < r; ++k) a[k + i * r] = v[i + k * rows];
    blas_single_thread();
    const int n = (int)rows, ask = -1;
    int       info = 0;
    double    size = 0;
    dgeqp3_(&r, &n, a, &r, pivot, tau, &size, &ask, &info);
    const int lwork = (int)size;
    FLX_NEW(ctx, work, lwork);
    dgeqp3_(&r, &n, a, &r, pivot, tau, work, &lwork, &info);
    for (int32_t k = 0; k < r; ++k) point[k] = pivot[k] - 1;
done:
    flx__free(ctx, a);
    flx__free(ctx, tau);
    flx__free(ctx, work);
    flx__free(ctx, pivot);
    return status;
}

// --- 3-vectors ---------------------------------------------------------------------------------------------------

typedef struct block_deim
{
    flx_context*   ctx;
    int64_t        rows;
    int32_t        r;
    double*        part[3];     // [rows][r] V_x, V_y, V_z
    double*        residual[3]; // [rows]
    double *       matrix, *c;  // [r][r], [r]
    int*           pivot;       // [r]
    const int64_t* point;
} block_deim;

static void gather_points(const block_deim* b, const double* v, int32_t l)
{
    for (int32_t j = 0; j < l; ++j)
        for (int32_t i = 0; i < l; ++i) b->matrix[i + j * l] = v[b->point[i] + j * b->rows];
    for (int32_t i = 0; i < l; ++i) b->c[i] = v[b->point[i] + l * b->rows];
}

/// c = (P^T V_d)^-1 P^T v_l, or the least-squares answer of least norm when there is no inverse.
static flx_status solve_points(const block_deim* b, const double* v, int32_t l, double* least_norm)
{
    int       info = 0;
    const int one = 1, n = l;
    gather_points(b, v, l);
    dgetrf_(&n, &n, b->matrix, &n, b->pivot, &info);
    if (info == 0) dgetrs_("N", &n, &one, b->matrix, &n, b->pivot, b->c, &n, &info, 1);
    bool good = info == 0;
    for (int32_t i = 0; i < l; ++i) good &= isfinite(b->c[i]) != 0;
    if (good) return FLX_OK;

    gather_points(b, v, l);
    const flx_status status = flx__least_squares(b->ctx, l, l, b->matrix, 1, b->c, least_norm);
    memcpy(b->c, least_norm, sizeof(double) * (size_t)l);
    return status == FLX_ERR_ARGUMENT ? FLX_OK : status; // no full rank: that is why we are here
}

static int64_t worst_row(const block_deim* b, int32_t l)
{
    int64_t best = -1;
    double  most = -1;
    for (int64_t i = 0; i < b->rows; ++i)
    {
        const double size = hypot(hypot(b->residual[0][i], b->residual[1][i]), b->residual[2][i]);
        if (!(size > most)) continue;
        bool taken = false;
        for (int32_t k = 0; k < l; ++k) taken |= b->point[k] == i;
        if (!taken) best = i, most = size;
    }
    return best;
}

flx_status flx__block_deim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point)
{
    flx_status status     = FLX_OK;
    block_deim b          = {.ctx = ctx, .rows = rows, .r = r, .point = point};
    double*    least_norm = NULL;
    FLX_TRY(check_shape(ctx, rows, r));
    for (int d = 0; d < 3; ++d)
    {
        FLX_NEW(ctx, b.part[d], rows * r);
        FLX_NEW(ctx, b.residual[d], rows);
        for (int64_t i = 0; i < rows * r; ++i) b.part[d][i] = v[3 * i + d];
    }
    FLX_NEW(ctx, b.matrix, (int64_t)r * r);
    FLX_NEW(ctx, b.c, r);
    FLX_NEW(ctx, b.pivot, r);
    FLX_NEW(ctx, least_norm, r);
    blas_single_thread();
    for (int32_t l = 0; l < r; ++l)
    {
        for (int d = 0; d < 3; ++d)
        {
            memcpy(b.residual[d], b.part[d] + l * rows, sizeof(double) * (size_t)rows);
            if (l == 0) continue;
            FLX_TRY(solve_points(&b, b.part[d], l, least_norm));
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)rows, l, -1, b.part[d], (int)rows, b.c, 1, 1, b.residual[d],
                        1);
        }
        point[l] = worst_row(&b, l);
        if (point[l] < 0)
        {
            status = flx__fail(ctx, FLX_ERR_NONFINITE, "block DEIM: no finite residual for mode %d", l);
            goto done;
        }
    }
done:
    for (int d = 0; d < 3; ++d) flx__free(ctx, b.part[d]), flx__free(ctx, b.residual[d]);
    flx__free(ctx, b.matrix);
    flx__free(ctx, b.c);
    flx__free(ctx, b.pivot);
    flx__free(ctx, least_norm);
    return status;
}
