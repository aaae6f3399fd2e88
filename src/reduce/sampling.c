// Elements by D-optimality, points by distance.
//
// With H = delta I + sum_chosen V_j^T V_j and Y = V H^-1/2, adding element j multiplies det H by det(I + Y_j Y_j^T),
// and
//   Y_j^T Y_j = W diag(s^2) W^T:   Y <- Y (I + Y_j^T Y_j)^-1/2 = Y - Y W diag(1 - 1/sqrt(1 + s^2)) W^T
// so no H is ever formed or inverted, and the tiny delta costs no digits: the factor is applied to Y, not subtracted
// from a huge H^-1.
#include "reduce/sampling.h"

#include "reduce/decompose.h"

#include <math.h>
#include <string.h>

#define START 1e-10      // delta, of the mean eigenvalue of V^T V: below what counts as seen, above rounding
#define GRAIN 64         // elements in a chunk
#define MOST_ROWS_EACH 9 // 3 rows of x, y, z

static double dot(int32_t n, const double* a, const double* b)
{
    double  sum[4] = {0};
    int32_t i      = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; ++l) sum[l] += a[i + l] * b[i + l];
    for (; i < n; ++i) sum[0] += a[i] * b[i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

typedef struct d_optimal
{
    int32_t count, rows_each, r;
    double* y;          // [count rows_each][r] by rows
    double* gain;       // [count] log det(I + Y_j Y_j^T); -1 for those chosen
    double *w, *shrink; // [rows_each][r] by rows, [rows_each]: the last choice
} d_optimal;

/// log det of the k x k matrix I + Y_j Y_j^T, by Cholesky.
static double log_det_gain(const d_optimal* d, int64_t j)
{
    const int32_t k = d->rows_each;
    const double* y = d->y + j * k * d->r;
    double        l[MOST_ROWS_EACH][MOST_ROWS_EACH], sum = 0;
    for (int32_t a = 0; a < k; ++a)
    {
        for (int32_t b = 0; b <= a; ++b)
        {
            double entry = dot(d->r, y + a * d->r, y + b * d->r) + (a == b);
            for (int32_t c = 0; c < b; ++c) entry -= l[a][c] * l[b][c];
            l[a][b] = a == b ? sqrt(fmax(entry, 1)) : entry / l[b][b]; // pivots of I + a Gram matrix are >= 1
        }
        sum += 2 * log(l[a][a]);
    }
    return sum;
}

static void update_gains(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    d_optimal*    d = user;
    const int32_t k = d->rows_each, r = d->r;
    for (int64_t j = begin; j < end; ++j)
    {
        if (d->gain[j] < 0) continue;
        for (int64_t row = j * k; row < (j + 1) * k; ++row)
            for (int32_t a = 0; d->w && a < k; ++a)
            {
                double*       y     = d->y + row * r;
                const double* w     = d->w + a * r;
                const double  along = d->shrink[a] * dot(r, y, w);
                for (int32_t i = 0; i < r; ++i) y[i] -= along * w[i];
            }
        d->gain[j] = log_det_gain(d, j);
    }
}

/// w and shrink of element j from the SVD of its rows: Y_j^T [r][k] = W S Z^T
static flx_status take(flx_context* ctx, d_optimal* d, int32_t j, double* rows, double* sigma, double* vt)
{
    const int32_t k = d->rows_each, r = d->r, rank = k < r ? k : r;
    memcpy(rows, d->y + (int64_t)j * k * r,
           sizeof(double) * (size_t)k * (size_t)r); // by rows = the transpose by columns
    memset(d->w, 0, sizeof(double) * (size_t)k * (size_t)r);
    const flx_status status = flx__thin_svd(ctx, r, k, rows, sigma, d->w, vt);
    for (int32_t a = 0; a < k; ++a) d->shrink[a] = a < rank ? 1 - 1 / sqrt(1 + sigma[a] * sigma[a]) : 0;
    d->gain[j] = -1;
    return status;
}

flx_status flx__d_optimal_elements(flx_context* ctx, int32_t element_count, int32_t rows_each, int32_t r,
                                   const double* v, int32_t m, int32_t* element)
{
    flx_status    status  = FLX_OK;
    d_optimal     d       = {.count = element_count, .rows_each = rows_each, .r = r};
    const int64_t rows    = (int64_t)element_count * rows_each;
    double *      scratch = NULL, *sigma = NULL, *vt = NULL, *w = NULL;
    if (m < 0 || m > element_count || rows_each < 1 || rows_each > MOST_ROWS_EACH || r < 1)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d of %d elements with %d rows each for %d modes", m, element_count,
                         rows_each, r);
    FLX_NEW(ctx, d.y, rows * r);
    FLX_NEW_ZERO(ctx, d.gain, element_count);
    FLX_NEW(ctx, w, (int64_t)rows_each * r);
    FLX_NEW(ctx, d.shrink, rows_each);
    FLX_NEW(ctx, scratch, (int64_t)rows_each * r);
    FLX_NEW(ctx, sigma, rows_each);
    FLX_NEW(ctx, vt, (int64_t)rows_each * rows_each);

    double trace = 0;
    for (int64_t i = 0; i < rows * r; ++i) trace += v[i] * v[i];
    if (!isfinite(trace))
    {
        status = flx__fail(ctx, FLX_ERR_NONFINITE, "a basis of %d modes is not finite", r);
        goto done;
    }
    const double scale = trace > 0 ? 1 / sqrt(START * trace / r) : 0;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t k = 0; k < r; ++k) d.y[i * r + k] = scale * v[i + k * rows];
    for (int32_t l = 0; l < m; ++l)
    {
        flx__parallel_for(ctx, element_count, GRAIN, update_gains, &d);
        int32_t best = 0;
        for (int32_t j = 1; j < element_count; ++j)
            if (d.gain[j] > d.gain[best]) best = j;
        element[l] = best;
        d.w        = w;
        FLX_TRY(take(ctx, &d, best, scratch, sigma, vt));
    }
done:
    flx__free(ctx, d.y);
    flx__free(ctx, d.gain);
    flx__free(ctx, w);
    flx__free(ctx, d.shrink);
    flx__free(ctx, scratch);
    flx__free(ctx, sigma);
    flx__free(ctx, vt);
    return status;
}

// --- by distance ---------------------------------------------------------------------------------------------------

static double distance2(const double* a, const double* b)
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

flx_status flx__farthest_points(flx_context* ctx, int32_t count, const double* x, int32_t m, int32_t* point)
{
    flx_status status  = FLX_OK;
    double *   nearest = NULL, mean[3] = {0};
    if (m < 0 || m > count) return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d of %d points", m, count);
    FLX_NEW(ctx, nearest, count);
    for (int64_t i = 0; i < count; ++i)
        for (int d = 0; d < 3; ++d) mean[d] += x[3 * i + d] / count;
    for (int64_t i = 0; i < count; ++i) nearest[i] = distance2(x + 3 * i, mean);
    for (int32_t l = 0; l < m; ++l)
    {
        int32_t best = 0;
        for (int32_t i = 1; i < count; ++i)
            if (nearest[i] > nearest[best]) best = i;
        point[l] = best;
        for (int64_t i = 0; i < count; ++i)
        {
            const double here = distance2(x + 3 * i, x + 3 * (int64_t)best);
            if (l == 0 || here < nearest[i]) nearest[i] = nearest[i] < 0 ? -1 : here;
        }
        nearest[best] = -1; // a point is taken once, also among points that coincide
    }
done:
    flx__free(ctx, nearest);
    return status;
}

// --- what was chosen ------------------------------------------------------------------------------------------------

void flx__element_rows(int32_t m, const int32_t* element, int32_t rows_each, int64_t* row)
{
    for (int64_t l = 0; l < m; ++l)
        for (int64_t k = 0; k < rows_each; ++k) row[l * rows_each + k] = (int64_t)element[l] * rows_each + k;
}
