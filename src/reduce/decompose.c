// SVD by divide and conquer, symmetric eigenproblem likewise, least squares by QR: LAPACK with our memory and our
// checks.
#include "reduce/decompose.h"

#include "reduce/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define RANK_TOLERANCE 1e-14 // of the largest singular value: about the rounding of a decomposition

static flx_status check(flx_context* ctx, int64_t rows, int64_t cols, const double* a)
{
    if (rows > INT_MAX)
        return flx__fail(ctx, FLX_ERR_UNSUPPORTED, "a dense matrix of %lld rows is beyond LAPACK", (long long)rows);
    for (int64_t j = 0; j < cols; ++j)
        for (int64_t i = 0; i < rows; ++i)
            if (!isfinite(a[i + j * rows]))
                return flx__fail(ctx, FLX_ERR_NONFINITE, "entry (%lld, %lld) of a %lld x %lld matrix is not finite",
                                 (long long)i, (long long)j, (long long)rows, (long long)cols);
    return FLX_OK;
}

flx_status flx__thin_svd(flx_context* ctx, int64_t rows, int32_t cols, double* a, double* sigma, double* u, double* vt)
{
    FLX_ASSERT((u == NULL) == (vt == NULL));
    flx_status  status = FLX_OK;
    double*     work   = NULL;
    int*        iwork  = NULL;
    const char* job    = u ? "S" : "N";

    if (rows == 0 || cols == 0) return FLX_OK;
    FLX_TRY(check(ctx, rows, cols, a));
    blas_single_thread();
    const int m = (int)rows, n = cols, k = m < n ? m : n, ask = -1;
    int       info = 0;
    double    size = 0;
    dgesdd_(job, &m, &n, a, &m, sigma, u, &m, vt, &k, &size, &ask, NULL, &info, 1);
    const int lwork = (int)size;
    FLX_NEW(ctx, work, lwork);
    FLX_NEW(ctx, iwork, 8 * (int64_t)k);
    dgesdd_(job, &m, &n, a, &m, sigma, u, &m, vt, &k, work, &lwork, iwork, &info, 1);
    if (info != 0) status = flx__fail(ctx, FLX_ERR_NONFINITE, "the SVD of a %d x %d matrix did not converge", m, n);
done:
    flx__free(ctx, work);
    flx__free(ctx, iwork);
    return status;
}

flx_status flx__singular_range(flx_context* ctx, int64_t rows, int32_t cols, const double* a, double* most,
                               double* least)
{
    flx_status    status = FLX_OK;
    double *      copy = NULL, *sigma = NULL;
    const int64_t k = rows < cols ? rows : cols;
    if (most) *most = 0;
    if (least) *least = 0;
    if (k == 0) return FLX_OK;
    FLX_NEW(ctx, copy, rows * cols);
    FLX_NEW(ctx, sigma, k);
    memcpy(copy, a, sizeof(double) * (size_t)(rows * cols));
    FLX_TRY(flx__thin_svd(ctx, rows, cols, copy, sigma, NULL, NULL));
    if (most) *most = sigma[0];
    if (least) *least = sigma[k - 1];
done:
    flx__free(ctx, copy);
    flx__free(ctx, sigma);
    return status;
}

flx_status flx__symmetric_eigen(flx_context* ctx, int32_t n, double* a, double* value, double* vector)
{
    flx_status  status = FLX_OK;
    double*     work   = NULL;
    int*        iwork  = NULL;
    const char* job    = vector ? "V" : "N";
    if (n == 0) return FLX_OK;
    for (int64_t j = 0; j < n; ++j) // LAPACK reads the lower triangle, the check reads all
        for (int64_t i = 0; i < j; ++i) a[i + j * n] = a[j + i * n];
    FLX_TRY(check(ctx, n, n, a));
    blas_single_thread();
    const int ask  = -1;
    int       info = 0, isize = 0;
    double    size = 0;
    dsyevd_(job, "L", &n, a, &n, value, &size, &ask, &isize, &ask, &info, 1, 1);
    const int lwork = (int)size, liwork = isize;
    FLX_NEW(ctx, work, lwork);
    FLX_NEW(ctx, iwork, liwork);
    dsyevd_(job, "L", &n, a, &n, value, work, &lwork, iwork, &liwork, &info, 1, 1);
    if (info != 0) status = flx__fail(ctx, FLX_ERR_NONFINITE, "the eigenvalues of a %d x %d matrix diverged", n, n);
    if (info == 0 && vector) memcpy(vector, a, sizeof(double) * (size_t)n * (size_t)n);
done:
    flx__free(ctx, work);
    flx__free(ctx, iwork);
    return status;
}

/// x = v diag(1/sigma) u^T b over the singular values that are not rounding. u [m][k], vt [k][n], k = min(m, n)
static void pseudo_solve(int m, int n, const double* u, const double* sigma, const double* vt, int count,
                         const double* b, double* scratch, double* x)
{
    const int k = m < n ? m : n;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, count, m, 1, u, m, b, m, 0, scratch, k);
    for (int64_t j = 0; j < count; ++j)
        for (int64_t i = 0; i < k; ++i)
            scratch[i + j * k] = sigma[i] > RANK_TOLERANCE * sigma[0] ? scratch[i + j * k] / sigma[i] : 0;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, count, k, 1, vt, k, scratch, k, 0, x, n);
}

/// The square problem that QR leaves: r x = q^T b, by SVD of the small triangle, which also tells the rank.
static flx_status solve_triangle(flx_context* ctx, int m, int n, const double* a, int count, const double* b, double* x)
{
    flx_status    status = FLX_OK;
    const int64_t square = (int64_t)n * n;
    double *      r = NULL, *u = NULL, *vt = NULL, *sigma = NULL, *scratch = NULL, *top = NULL;
    FLX_NEW_ZERO(ctx, r, square);
    FLX_NEW(ctx, u, square);
    FLX_NEW(ctx, vt, square);
    FLX_NEW(ctx, sigma, n);
    FLX_NEW(ctx, scratch, (int64_t)n * count);
    FLX_NEW(ctx, top, (int64_t)n * count);
    for (int64_t j = 0; j < n; ++j) memcpy(r + j * n, a + j * m, sizeof(double) * (size_t)(j + 1));
    for (int64_t j = 0; j < count; ++j) memcpy(top + j * n, b + j * m, sizeof(double) * (size_t)n);
    FLX_TRY(flx__thin_svd(ctx, n, n, r, sigma, u, vt));
    if (sigma[n - 1] > RANK_TOLERANCE * sigma[0])
    {
        memcpy(x, top, sizeof(double) * (size_t)n * (size_t)count);
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, n, count, 1, a, m, x, n);
        goto done;
    }
    pseudo_solve(n, n, u, sigma, vt, count, top, scratch, x);
    status =
        flx__fail(ctx, FLX_ERR_ARGUMENT, "a least-squares matrix %d x %d has no full rank: singular values %g to %g", m,
                  n, sigma[0], sigma[n - 1]);
done:
    flx__free(ctx, r);
    flx__free(ctx, u);
    flx__free(ctx, vt);
    flx__free(ctx, sigma);
    flx__free(ctx, scratch);
    flx__free(ctx, top);
    return status;
}

flx_status flx__least_squares(flx_context* ctx, int64_t rows, int32_t cols, double* a, int32_t count, double* b,
                              double* x)
{
    FLX_ASSERT(rows >= cols);
    flx_status status = FLX_OK;
    double *   tau = NULL, *work = NULL, *q = NULL, *qtb = NULL;
    if (cols == 0 || count == 0) return FLX_OK;
    FLX_TRY(check(ctx, rows, cols, a));
    FLX_TRY(check(ctx, rows, count, b));
    blas_single_thread();
    const int m = (int)rows, n = cols, ask = -1;
    int       info = 0;
    double    size = 0, form = 0;
    dgeqrf_(&m, &n, a, &m, NULL, &size, &ask, &info);
    dorgqr_(&m, &n, &n, NULL, &m, NULL, &form, &ask, &info);
    const int lwork = (int)fmax(size, form);
    FLX_NEW(ctx, tau, n);
    FLX_NEW(ctx, work, lwork);
    FLX_NEW(ctx, q, rows * cols);
    FLX_NEW(ctx, qtb, rows * count);
    dgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
    memcpy(q, a, sizeof(double) * (size_t)(rows * cols));
    dorgqr_(&m, &n, &n, q, &m, tau, work, &lwork, &info);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, count, m, 1, q, m, b, m, 0, qtb, m);
    status = solve_triangle(ctx, m, n, a, count, qtb, x);
done:
    flx__free(ctx, tau);
    flx__free(ctx, work);
    flx__free(ctx, q);
    flx__free(ctx, qtb);
    return status;
}
