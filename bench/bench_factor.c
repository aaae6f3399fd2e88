// The sparse room on the body of an arm: order, analysis, partial factorization, substitutions, dense inverse.
//
//   bench_factor [workers [length [double]]]   length of the cylinder in cells, 137 by default; 2 workers by default;
//                                              double: factorize in double precision
// Medians of repeated runs in ms; bandwidth is given beside what plain reading reaches in the same run.
#include "body.h"
#include "measure.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define RUNS 25

static void run_substitutions(flx_factor* f, float* const b[3], double reading)
{
    samples               forward = {0}, backward = {0};
    const flx_factor_info info = flx__factor_get_info(f);
    for (int k = 0; k < RUNS; ++k)
    {
        double start = now_ms();
        flx__factor_forward_f32(f, b);
        sample_add(&forward, now_ms() - start);
        start = now_ms();
        flx__factor_backward_f32(f, b);
        sample_add(&backward, now_ms() - start);
    }
    const double gb = 4e-9 * (double)(info.forward_entries + info.backward_entries);
    const double f0 = median(&forward), b0 = median(&backward);
    printf("forward %.2f ms (best %.2f), backward %.2f ms (best %.2f), together %.2f ms: %.1f GB/s of %.1f GB/s\n", f0,
           quantile(&forward, 0), b0, quantile(&backward, 0), f0 + b0, 1e3 * gb / (f0 + b0), reading);
}

static void run_dense(flx_context* ctx, int32_t n, const double* schur, double reading)
{
    const int64_t nn   = (int64_t)n * n;
    double*       a    = flx__alloc(ctx, nn, sizeof *a);
    float*        s    = flx__alloc(ctx, nn, sizeof *s);
    float*        xy   = flx__alloc_zero(ctx, 6 * (int64_t)n, sizeof *xy);
    float* const  x[3] = {xy, xy + n, xy + 2 * n};
    float* const  y[3] = {xy + 3 * n, xy + 4 * n, xy + 5 * n};
    samples       ms   = {0};
    for (int64_t i = 0; i < nn; ++i) s[i] = (float)(a[i] = schur[i]);

    double start = flx__now();
    if (flx__dense_cholesky_f64(ctx, n, a, n, NULL) != FLX_OK) abort();
    double t = flx__now() - start;
    printf("dense, n = %d: Cholesky f64 %.0f ms (%.0f GF/s)", n, 1e3 * t, 1e-9 * (double)nn * n / 3.0 / t);
    start = flx__now();
    if (flx__dense_cholesky_f32(ctx, n, s, n, NULL) != FLX_OK) abort();
    t = flx__now() - start;
    printf(", f32 %.0f ms (%.0f GF/s)", 1e3 * t, 1e-9 * (double)nn * n / 3.0 / t);
    memcpy(a, schur, (size_t)nn * sizeof *a);
    start = flx__now();
    if (flx__dense_inverse_f64(ctx, n, a, n, NULL) != FLX_OK) abort();
    t = flx__now() - start;
    printf(", inverse %.0f ms (%.0f GF/s)\n", 1e3 * t, 1e-9 * (double)nn * n / t);

    for (int64_t i = 0; i < nn; ++i) s[i] = (float)a[i];
    for (int32_t i = 0; i < 3 * n; ++i) xy[i] = (float)(i % 17);
    for (int k = 0; k < RUNS; ++k)
    {
        start = now_ms();
        flx__dense_multiply3_f32(ctx, n, s, n, x, y);
        sample_add(&ms, now_ms() - start);
    }
    t = median(&ms);
    printf("multiply3 f32 %.2f ms: %.1f GB/s of %.1f GB/s\n", t, 4e-6 * (double)nn / t, reading);
    flx__free(ctx, a);
    flx__free(ctx, s);
    flx__free(ctx, xy);
}

int main(int count, char** argument)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = count > 1 ? atoi(argument[1]) : 2;
    flx_context* ctx      = NULL;
    if (flx_context_create(&desc, &ctx) != FLX_OK) return 1;

    body          arm     = body_make(ctx, count > 2 ? atoi(argument[2]) : BODY_LENGTH);
    const double  reading = 1e-9 * flx_context_read_bandwidth(ctx);
    const int32_t n       = arm.a.n;
    printf("%d unknowns, %d of them prone, %d workers, %s, reading %.1f GB/s\n", n, n - arm.free_count,
           flx_context_worker_count(ctx), flx_context_isa(ctx), reading);

    flx_factor*              f       = NULL;
    const flx_factor_options options = {.single            = true,
                                        .single_arithmetic = count < 4 || strcmp(argument[3], "double") != 0};
    if (flx__factor_create(ctx, &arm.a, arm.free_count, &options, NULL, &f) != FLX_OK)
    {
        fprintf(stderr, "%s\n", flx_context_error(ctx));
        return 1;
    }
    struct rusage         usage;
    const flx_factor_info info = flx__factor_get_info(f);
    getrusage(RUSAGE_SELF, &usage);
    printf("order %.0f ms, analyze %.0f ms, factor %.0f ms (%.0f GF/s, %s), together %.0f ms\n", arm.ms_order,
           info.ms_analyze, info.ms_factor, 1e-6 * info.flops / info.ms_factor,
           info.single_arithmetic ? "single" : "double", arm.ms_order + info.ms_analyze + info.ms_factor);
    printf("%.1f M nonzeros, %.1f GFlop, %d supernodes, %.0f MB held, %.0f MB peak of the process\n",
           1e-6 * (double)info.nonzeros, 1e-9 * info.flops, info.supernode_count, 1e-6 * (double)info.bytes,
           1e-3 * (double)usage.ru_maxrss);

    float* b[3];
    for (int c = 0; c < 3; ++c)
    {
        b[c] = flx__alloc(ctx, n, sizeof(float));
        for (int32_t i = 0; i < n; ++i) b[c][i] = (float)((i * (c + 7)) % 19) - 9.0f;
    }
    run_substitutions(f, b, reading);
    if (n > arm.free_count) run_dense(ctx, n - arm.free_count, flx__factor_schur(f), reading);
    flx__factor_destroy(f);
    for (int c = 0; c < 3; ++c) flx__free(ctx, b[c]);
    body_free(&arm);
    flx_context_destroy(ctx);
    return 0;
}
