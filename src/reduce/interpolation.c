// Operators of interpolation and regression, with their norms.
#include "reduce/interpolation.h"

#include "reduce/decompose.h"
#include "reduce/lapack.h"

#include <math.h>
#include <string.h>

void flx__interpolation_release(flx_context* ctx, flx_interpolation* interpolation)
{
    flx__free(ctx, interpolation->solve);
    *interpolation = (flx_interpolation){0};
}

static flx_status check_desc(flx_context* ctx, const flx_interpolation_desc* d)
{
    if (d->r < 1 || d->rows < d->r || d->sample_count < 1 || (d->sample_count < d->r && !(d->lambda > 0)))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d samples of %lld rows for %d modes", d->sample_count,
                         (long long)d->rows, d->r);
    for (int32_t i = 0; i < d->sample_count; ++i)
        if (d->sample[i] < 0 || d->sample[i] >= d->rows)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "sample %d is row %lld of %lld", i, (long long)d->sample[i],
                             (long long)d->rows);
    if (!(d->lambda >= 0 && isfinite(d->lambda)) || (d->lambda > 0 && !d->sigma))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "MAP with lambda = %g%s", d->lambda, d->sigma ? "" : ", no sigma");
    for (int32_t i = 0; d->lambda > 0 && i < d->r; ++i)
        if (!(d->sigma[i] > 0)) return flx__fail(ctx, FLX_ERR_ARGUMENT, "MAP with sigma[%d] = %g", i, d->sigma[i]);
    return FLX_OK;
}

/// Norm of the inverse and condition of P^T V, from its singular values.
static flx_status measure(flx_context* ctx, int32_t samples, int32_t r, const double* ptv, flx_interpolation* out)
{
    double           most, least;
    const flx_status status = flx__singular_range(ctx, samples, r, ptv, &most, &least);
    if (status != FLX_OK) return status;
    const bool full = samples >= r && least > 0;
    out->norm       = full ? 1 / least : INFINITY;
    out->condition  = full ? most / least : INFINITY;
    return FLX_OK;
}

/// a = [P^T V; sqrt(lambda) diag(sigma_0 / sigma_i)], b = [I; 0]
static void fill(const flx_interpolation_desc* d, int64_t stride, int64_t first, int64_t rows, double* a, double* b)
{
    const double root = sqrt(d->lambda);
    for (int64_t k = 0; k < d->r; ++k)
        for (int64_t i = 0; i < d->sample_count; ++i)
            a[i + k * rows] = d->v[stride * (d->sample[i] + k * d->rows) + first];
    for (int64_t k = 0; d->lambda > 0 && k < d->r; ++k)
        a[d->sample_count + k + k * rows] = root * d->sigma[0] / d->sigma[k];
    for (int64_t i = 0; i < d->sample_count; ++i) b[i + i * rows] = 1;
}

/// V is every `stride`-th row of d->v, from `first`.
static flx_status create(flx_context* ctx, const flx_interpolation_desc* d, int64_t stride, int64_t first,
                         const char* what, flx_interpolation* out)
{
    flx_status    status = FLX_OK;
    const int64_t s = d->sample_count, r = d->r, rows = d->lambda > 0 ? s + r : s;
    double *      a = NULL, *b = NULL, *ptv = NULL;
    *out = (flx_interpolation){.r = d->r, .sample_count = d->sample_count};
    FLX_NEW_ZERO(ctx, a, rows * r);
    FLX_NEW_ZERO(ctx, b, rows * s);
    FLX_NEW(ctx, ptv, s * r);
    FLX_NEW(ctx, out->solve, r * s);
    fill(d, stride, first, rows, a, b);
    for (int64_t k = 0; k < r; ++k) memcpy(ptv + k * s, a + k * rows, sizeof(double) * (size_t)s);
    FLX_TRY(measure(ctx, d->sample_count, d->r, ptv, out));
    if (d->lambda == 0 && !(out->norm <= d->bound) && !d->force) goto refuse; // no operator needed to know
    status = flx__least_squares(ctx, rows, d->r, a, d->sample_count, b, out->solve);
    if (status == FLX_ERR_ARGUMENT) status = FLX_OK; // the pseudo-inverse, asked for by force
    if (status != FLX_OK) goto done;
    if (d->lambda > 0) FLX_TRY(flx__singular_range(ctx, r, d->sample_count, out->solve, &out->norm, NULL));
    if (out->norm <= d->bound || d->force) goto done;
refuse:
    status =
        flx__fail(ctx, FLX_ERR_ARGUMENT, "interpolation%s of %d modes from %d samples has norm %g, above the bound %g",
                  what, d->r, d->sample_count, out->norm, d->bound);
done:
    flx__free(ctx, a);
    flx__free(ctx, b);
    flx__free(ctx, ptv);
    if (status != FLX_OK) flx__interpolation_release(ctx, out);
    return status;
}

flx_status flx__interpolation_create(flx_context* ctx, const flx_interpolation_desc* desc, flx_interpolation* out)
{
    *out                    = (flx_interpolation){0};
    const flx_status status = check_desc(ctx, desc);
    return status == FLX_OK ? create(ctx, desc, 1, 0, "", out) : status;
}

flx_status flx__block_interpolation_create(flx_context* ctx, const flx_interpolation_desc* desc,
                                           flx_interpolation out[3])
{
    static const char* const axis[3] = {" along x", " along y", " along z"};
    flx_status               status  = check_desc(ctx, desc);
    for (int d = 0; d < 3; ++d) out[d] = (flx_interpolation){0};
    for (int d = 0; d < 3 && status == FLX_OK; ++d) status = create(ctx, desc, 3, d, axis[d], &out[d]);
    for (int d = 0; d < 3 && status != FLX_OK; ++d) flx__interpolation_release(ctx, &out[d]);
    return status;
}
