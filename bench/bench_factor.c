// The sparse room on the body of an arm: order, analysis, partial factorization, substitutions, dense inverse.
//
//   bench_factor [workers [length]]     length of the cylinder in cells, 137 by default; 2 workers by default
// Medians of repeated runs in ms; bandwidth is given beside what plain reading reaches in the same run.
#include "matrices.h"

#include <cblas.h>
#include <stdio.h>
#include <sys/resource.h>

#ifdef FLX_HAVE_CHOLMOD
#include <cholmod.h>
#endif

#define RADIUS 11.4
#define PRONE_RADIUS 10.6 // of a ball around a point of the surface half way along, in cells
#define BONE_RADIUS 4.0

static int32_t length = 137;

static bool in_cylinder(int32_t x, int32_t y, int32_t z)
{
    const double dx = x + 0.5 - 12.0, dy = y + 0.5 - 12.0;
    (void)z;
    return dx * dx + dy * dy < RADIUS * RADIUS;
}

static int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, compare_doubles);
    return ms[count / 2];
}

// --- memory ---------------------------------------------------------------------------------------------------

typedef struct reading
{
    const double* data;
    double        sum[256 * 8];
} reading;

static void read_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    reading*       r = user;
    typedef double vec __attribute__((vector_size(64)));
    vec            s[4] = {{0}};
    const vec*     v    = (const vec*)r->data;
    for (int64_t i = begin / 8; i + 4 <= end / 8; i += 4)
        for (int k = 0; k < 4; ++k) s[k] += v[i + k];
    for (int k = 0; k < 4; ++k)
        for (int l = 0; l < 8; ++l) r->sum[worker * 8] += s[k][l];
}

static double read_bandwidth(flx_context* ctx)
{
    const int64_t n    = 32 << 20; // 256 MB
    double*       data = flx__alloc_zero(ctx, n, sizeof *data);
    reading       r    = {.data = data};
    double        best = 0.0;
    for (int k = 0; k < 5; ++k)
    {
        const double start = flx__now();
        flx__parallel_for(ctx, n, 1 << 16, read_range, &r);
        const double rate = (double)n * 8e-9 / (flx__now() - start);
        if (rate > best) best = rate;
    }
    flx__free(ctx, data);
    return best + 1e-30 * r.sum[0];
}

// --- the yardstick -------------------------------------------------------------------------------------------

#ifdef FLX_HAVE_CHOLMOD
static void run_cholmod(const flx_csc* a, int32_t workers, float* const rhs[3])
{
    cholmod_common c;
    cholmod_l_start(&c);
    openblas_set_num_threads(workers);
    c.supernodal         = CHOLMOD_SUPERNODAL;
    c.nmethods           = 1;
    c.method[0].ordering = CHOLMOD_NATURAL; // our order, for the same fill
    c.postorder          = 0;
    const size_t    n    = (size_t)a->n;
    cholmod_sparse* m    = cholmod_l_allocate_sparse(n, n, (size_t)a->first[n], 1, 1, -1, CHOLMOD_REAL, &c);
    memcpy(m->p, a->first, (n + 1) * sizeof(int64_t));
    for (int64_t p = 0; p < a->first[n]; ++p)
    {
        ((int64_t*)m->i)[p] = a->row[p];
        ((double*)m->x)[p]  = a->value[p];
    }
    double          start   = flx__now();
    cholmod_factor* l       = cholmod_l_analyze(m, &c);
    const double    analyze = flx__now() - start;
    start                   = flx__now();
    cholmod_l_factorize(m, l, &c);
    const double   factor = flx__now() - start;
    cholmod_dense* b      = cholmod_l_allocate_dense(n, 3, n, CHOLMOD_REAL, &c);
    for (int k = 0; k < 3; ++k)
        for (size_t i = 0; i < n; ++i) ((double*)b->x)[(size_t)k * n + i] = (double)rhs[k][i];
    cholmod_dense *x = NULL, *y = NULL, *e = NULL;
    double         ms[7];
    for (int k = 0; k < 7; ++k)
    {
        start = flx__now();
        cholmod_l_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e, &c);
        ms[k] = 1e3 * (flx__now() - start);
    }
    printf("CHOLMOD, all of A: analyze %.0f ms (order given), factor %.0f ms, solve2 of three columns %.1f ms\n",
           1e3 * analyze, 1e3 * factor, median(ms, 7));
    cholmod_l_free_dense(&x, &c);
    cholmod_l_free_dense(&y, &c);
    cholmod_l_free_dense(&e, &c);
    cholmod_l_free_dense(&b, &c);
    cholmod_l_free_factor(&l, &c);
    cholmod_l_free_sparse(&m, &c);
    cholmod_l_finish(&c);
}
#endif

// --- ours ----------------------------------------------------------------------------------------------------

typedef struct body
{
    flx_csc a;
    int32_t free_count;
    double  ms_order;
} body;

static body make_body(flx_context* ctx)
{
    int32_t(*at)[3];
    body     out   = {0};
    edges    e     = edges_lattice(24, 24, length, in_cylinder, &at);
    uint8_t* prone = calloc((size_t)e.n, 1);
    int32_t* order = malloc((size_t)e.n * sizeof *order);
    out.free_count = e.n;
    for (int32_t v = 0; v < e.n; ++v)
    {
        const double x = 0.5 * at[v][0] - 12.0, y = 0.5 * at[v][1] - 12.0, z = 0.5 * at[v][2] - 0.5 * length;
        const double r = sqrt(x * x + y * y), d = sqrt((x - RADIUS) * (x - RADIUS) + y * y + z * z);
        if (fabs(r - BONE_RADIUS) < 0.5) e.diagonal[v] += 2.0;
        prone[v] = d < PRONE_RADIUS;
        out.free_count -= prone[v];
    }
    flx_graph    graph = edges_graph(&e);
    const double start = flx__now();
    if (flx__order_nested_dissection(ctx, &graph, prone, order) != FLX_OK) abort();
    out.ms_order = 1e3 * (flx__now() - start);
    out.a        = edges_matrix(&e, order);
    graph_free(&graph);
    edges_free(&e);
    free(order);
    free(prone);
    free(at);
    return out;
}

#define RUNS 25

static void run_substitutions(flx_factor* f, float* const b[3], double bandwidth)
{
    double                forward[RUNS], backward[RUNS];
    const flx_factor_info info = flx__factor_get_info(f);
    for (int k = 0; k < RUNS; ++k)
    {
        double start = flx__now();
        flx__factor_forward_f32(f, b);
        forward[k] = 1e3 * (flx__now() - start);
        start      = flx__now();
        flx__factor_backward_f32(f, b);
        backward[k] = 1e3 * (flx__now() - start);
    }
    const double gb = 4e-9 * (double)info.nonzeros, f0 = median(forward, RUNS), b0 = median(backward, RUNS);
    printf("forward %.2f ms (best %.2f), backward %.2f ms (best %.2f), together %.2f ms: %.1f GB/s of %.1f GB/s\n", f0,
           forward[0], b0, backward[0], f0 + b0, 2e3 * gb / (f0 + b0), bandwidth);
}

static void run_dense(flx_context* ctx, int32_t n, const double* schur, double bandwidth)
{
    const int64_t nn   = (int64_t)n * n;
    double*       a    = flx__alloc(ctx, nn, sizeof *a);
    float*        s    = flx__alloc(ctx, nn, sizeof *s);
    float*        xy   = flx__alloc_zero(ctx, 6 * (int64_t)n, sizeof *xy);
    float* const  x[3] = {xy, xy + n, xy + 2 * n};
    float* const  y[3] = {xy + 3 * n, xy + 4 * n, xy + 5 * n};
    double        ms[RUNS];
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
        start = flx__now();
        flx__dense_multiply3_f32(ctx, n, s, n, x, y);
        ms[k] = 1e3 * (flx__now() - start);
    }
    t = median(ms, RUNS);
    printf("multiply3 f32 %.2f ms: %.1f GB/s of %.1f GB/s\n", t, 4e-6 * (double)nn / t, bandwidth);
    flx__free(ctx, a);
    flx__free(ctx, s);
    flx__free(ctx, xy);
}

int main(int count, char** argument)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = count > 1 ? atoi(argument[1]) : 2;
    flx_context* ctx      = NULL;
    if (count > 2) length = atoi(argument[2]);
    if (flx_context_create(&desc, &ctx) != FLX_OK) return 1;

    body          arm       = make_body(ctx);
    const double  bandwidth = read_bandwidth(ctx);
    const int32_t n         = arm.a.n;
    printf("%d unknowns, %d of them prone, %d workers, %s, reading %.1f GB/s\n", n, n - arm.free_count,
           flx_context_worker_count(ctx), flx_context_isa(ctx), bandwidth);

    flx_factor*              f       = NULL;
    const flx_factor_options options = {.single = true};
    if (flx__factor_create(ctx, &arm.a, arm.free_count, &options, NULL, &f) != FLX_OK)
    {
        fprintf(stderr, "%s\n", flx_context_error(ctx));
        return 1;
    }
    struct rusage         usage;
    const flx_factor_info info = flx__factor_get_info(f);
    getrusage(RUSAGE_SELF, &usage);
    printf("order %.0f ms, analyze %.0f ms, factor %.0f ms (%.0f GF/s), together %.0f ms\n", arm.ms_order,
           info.ms_analyze, info.ms_factor, 1e-6 * info.flops / info.ms_factor,
           arm.ms_order + info.ms_analyze + info.ms_factor);
    printf("%.1f M nonzeros, %.1f GFlop, %d supernodes, %.0f MB held, %.0f MB peak of the process\n",
           1e-6 * (double)info.nonzeros, 1e-9 * info.flops, info.supernode_count, 1e-6 * (double)info.bytes,
           1e-3 * (double)usage.ru_maxrss);

    float* b[3];
    for (int c = 0; c < 3; ++c)
    {
        b[c] = flx__alloc(ctx, n, sizeof(float));
        for (int32_t i = 0; i < n; ++i) b[c][i] = (float)((i * (c + 7)) % 19) - 9.0f;
    }
    run_substitutions(f, b, bandwidth);
    if (n > arm.free_count) run_dense(ctx, n - arm.free_count, flx__factor_schur(f), bandwidth);
    flx__factor_destroy(f);
#ifdef FLX_HAVE_CHOLMOD
    run_cholmod(&arm.a, desc.worker_count, b);
#endif
    for (int c = 0; c < 3; ++c) flx__free(ctx, b[c]);
    csc_free(&arm.a);
    flx_context_destroy(ctx);
    return 0;
}
