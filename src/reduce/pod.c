// POD by thin SVD of weighted snapshots, or by randomised subspace iteration.
#include "reduce/pod.h"

#include "reduce/random.h"

#include "reduce/decompose.h"
#include "reduce/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

flx_pod_options flx__pod_options_default(void)
{
    return (flx_pod_options){
        .method = FLX_POD_EXACT, .truncation = 1e-11, .oversample = 10, .powers = 2, .seed = 20101, .affine = false};
}

void flx__pod_release(flx_context* ctx, flx_pod* pod)
{
    flx__free(ctx, pod->mode);
    flx__free(ctx, pod->sigma);
    flx__free(ctx, pod->mean);
    *pod = (flx_pod){0};
}

static flx_status check_input(flx_context* ctx, int64_t rows, int32_t cols, const double* snapshot,
                              const flx_pod_options* o)
{
    if (rows < 1 || cols < 1 || rows > INT_MAX)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "no POD of %d snapshots with %lld rows", cols, (long long)rows);
    if (o->most_modes < 0 || (o->method == FLX_POD_RANDOM && o->most_modes < 1) || o->oversample < 0 || o->powers < 0)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "POD of %d modes, %d more and %d power iterations", o->most_modes,
                         o->oversample, o->powers);
    for (int32_t j = 0; j < cols; ++j)
        for (int64_t i = 0; i < rows; ++i)
            if (!isfinite(snapshot[i + j * rows]))
                return flx__fail(ctx, FLX_ERR_NONFINITE, "snapshot %d is not finite in row %lld", j, (long long)i);
    for (int64_t i = 0; o->row_weight && i < rows; ++i)
        if (!(o->row_weight[i] > 0 && isfinite(o->row_weight[i])))
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "row weight %lld of a POD is %g", (long long)i, o->row_weight[i]);
    return FLX_OK;
}

static void mean_of(int64_t rows, int32_t cols, const double* snapshot, double* mean)
{
    memset(mean, 0, sizeof(double) * (size_t)rows);
    for (int32_t j = 0; j < cols; ++j)
        for (int64_t i = 0; i < rows; ++i) mean[i] += snapshot[i + j * rows];
    for (int64_t i = 0; i < rows; ++i) mean[i] /= cols;
}

/// x = W^1/2 (snapshots - mean)
static void weigh(int64_t rows, int32_t cols, const double* snapshot, const double* mean, const double* weight,
                  double* x)
{
    for (int32_t j = 0; j < cols; ++j)
        for (int64_t i = 0; i < rows; ++i)
        {
            const double centred = mean ? snapshot[i + j * rows] - mean[i] : snapshot[i + j * rows];
            x[i + j * rows]      = weight ? sqrt(weight[i]) * centred : centred;
        }
}

// --- randomised range finder ------------------------------------------------------------------------------------

/// Columns of a [m][n] := an orthonormal basis of their span (of more, when they are dependent); m >= n.
static flx_status orthonormalise(flx_context* ctx, int m, int n, double* a)
{
    flx_status status = FLX_OK;
    double *   tau = NULL, *work = NULL;
    const int  ask  = -1;
    int        info = 0;
    double     size = 0, form = 0;
    dgeqrf_(&m, &n, a, &m, NULL, &size, &ask, &info);
    dorgqr_(&m, &n, &n, a, &m, NULL, &form, &ask, &info);
    const int lwork = (int)fmax(size, form);
    FLX_NEW(ctx, tau, n);
    FLX_NEW(ctx, work, lwork);
    dgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
    dorgqr_(&m, &n, &n, a, &m, tau, work, &lwork, &info);
done:
    flx__free(ctx, tau);
    flx__free(ctx, work);
    return status;
}

/// u [m][size], sigma [size]: the leading part of the SVD of x [m][n], size <= min(m, n).
static flx_status random_svd(flx_context* ctx, int m, int n, const double* x, int size, const flx_pod_options* o,
                             double* u, double* sigma)
{
    flx_status status = FLX_OK;
    double *   range = NULL, *row = NULL, *small = NULL, *vt = NULL;
    FLX_NEW(ctx, range, (int64_t)m * size);
    FLX_NEW(ctx, row, (int64_t)n * size);
    FLX_NEW(ctx, small, (int64_t)size * size);
    FLX_NEW(ctx, vt, (int64_t)size * n);
    flx__random_normals(o->seed, (int64_t)n * size, row);
    for (int32_t k = 0;; ++k)
    {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, size, n, 1, x, m, row, n, 0, range, m);
        FLX_TRY(orthonormalise(ctx, m, size, range));
        if (k == o->powers) break;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, size, m, 1, x, m, range, m, 0, row, n);
        FLX_TRY(orthonormalise(ctx, n, size, row));
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, size, n, m, 1, range, m, x, m, 0, row, size); // Q^T X
    FLX_TRY(flx__thin_svd(ctx, size, n, row, sigma, small, vt));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, size, size, 1, range, m, small, size, 0, u, m);
done:
    flx__free(ctx, range);
    flx__free(ctx, row);
    flx__free(ctx, small);
    flx__free(ctx, vt);
    return status;
}

static flx_status exact_svd(flx_context* ctx, int m, int n, double* x, double* u, double* sigma)
{
    flx_status status = FLX_OK;
    double*    vt     = NULL;
    FLX_NEW(ctx, vt, (int64_t)(m < n ? m : n) * n);
    status = flx__thin_svd(ctx, m, n, x, sigma, u, vt);
done:
    flx__free(ctx, vt);
    return status;
}

// --- POD -----------------------------------------------------------------------------------------------------------

static int32_t kept(const flx_pod* pod, const flx_pod_options* o)
{
    int32_t rank = 0;
    while (rank < pod->sigma_count && pod->sigma[rank] > o->truncation * pod->sigma[0]) ++rank;
    return o->most_modes > 0 && o->most_modes < rank ? o->most_modes : rank;
}

/// mode = W^-1/2 u; its sign is free, so the largest entry decides it.
static void unweigh(int64_t rows, int32_t rank, const double* u, const double* weight, double* mode)
{
    for (int32_t k = 0; k < rank; ++k)
    {
        double largest = 0;
        for (int64_t i = 0; i < rows; ++i)
        {
            const double value = weight ? u[i + k * rows] / sqrt(weight[i]) : u[i + k * rows];
            if (fabs(value) > fabs(largest)) largest = value;
            mode[i + k * rows] = value;
        }
        for (int64_t i = 0; largest < 0 && i < rows; ++i) mode[i + k * rows] = -mode[i + k * rows];
    }
}

flx_status flx__pod_create(flx_context* ctx, int64_t rows, int32_t cols, const double* snapshot,
                           const flx_pod_options* o, flx_pod* out)
{
    flx_status status = FLX_OK;
    double *   x = NULL, *u = NULL;
    *out = (flx_pod){.rows = rows};
    FLX_TRY(check_input(ctx, rows, cols, snapshot, o));
    blas_single_thread();

    const int32_t full = rows < cols ? (int32_t)rows : cols;
    const int64_t size = o->method == FLX_POD_RANDOM ? (int64_t)o->most_modes + o->oversample : full;
    out->sigma_count   = size < full ? (int32_t)size : full;
    FLX_NEW(ctx, x, rows * cols);
    FLX_NEW(ctx, u, rows * out->sigma_count);
    FLX_NEW(ctx, out->sigma, out->sigma_count);
    if (o->affine)
    {
        FLX_NEW(ctx, out->mean, rows);
        mean_of(rows, cols, snapshot, out->mean);
    }
    weigh(rows, cols, snapshot, out->mean, o->row_weight, x);
    if (o->method == FLX_POD_RANDOM)
        FLX_TRY(random_svd(ctx, (int)rows, cols, x, out->sigma_count, o, u, out->sigma));
    else
        FLX_TRY(exact_svd(ctx, (int)rows, cols, x, u, out->sigma));
    out->rank = kept(out, o);
    FLX_NEW(ctx, out->mode, rows * out->rank);
    unweigh(rows, out->rank, u, o->row_weight, out->mode);
done:
    flx__free(ctx, x);
    flx__free(ctx, u);
    if (status != FLX_OK) flx__pod_release(ctx, out);
    return status;
}

flx_status flx__pod_error(flx_context* ctx, const flx_pod* pod, int32_t rank, const double* row_weight, int32_t cols,
                          const double* snapshot, double* relative)
{
    FLX_ASSERT(rank >= 0 && rank <= pod->rank);
    flx_status    status = FLX_OK;
    const int64_t rows   = pod->rows;
    double *      x = NULL, *along = NULL;
    double        whole = 0, left = 0;
    FLX_NEW(ctx, x, rows);
    FLX_NEW(ctx, along, rank);
    blas_single_thread();
    for (int32_t j = 0; j < cols; ++j)
    {
        weigh(rows, 1, snapshot + j * rows, pod->mean, row_weight, x); // W^1/2 x
        const double size = cblas_dnrm2((int)rows, x, 1);
        for (int64_t i = 0; row_weight && i < rows; ++i) x[i] *= sqrt(row_weight[i]); // W x
        cblas_dgemv(CblasColMajor, CblasTrans, (int)rows, rank, 1, pod->mode, (int)rows, x, 1, 0, along, 1);
        for (int64_t i = 0; row_weight && i < rows; ++i) x[i] /= row_weight[i]; // x
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)rows, rank, -1, pod->mode, (int)rows, along, 1, 1, x, 1);
        for (int64_t i = 0; row_weight && i < rows; ++i) x[i] *= sqrt(row_weight[i]);
        const double rest = cblas_dnrm2((int)rows, x, 1);
        whole += size * size, left += rest * rest;
    }
    *relative = whole > 0 ? sqrt(left / whole) : 0;
done:
    flx__free(ctx, x);
    flx__free(ctx, along);
    return status;
}

void flx__pod_split_axes(int64_t rows, int32_t cols, const double* flattened, double* split)
{
    for (int64_t j = 0; j < cols; ++j)
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t d = 0; d < 3; ++d) split[i + (3 * j + d) * rows] = flattened[3 * i + d + 3 * j * rows];
}
