#include "measure.h"
#include "yards.h"

#define MOST_ITERATIONS 5000

typedef struct pcg_state
{
    flx_pcg pcg;
    flx_csr a;
    double* x; // [3 n], then [15 n] of work
    int32_t iterations;
} pcg_state;

static void release(pcg_state* s)
{
    flx__csr_release(s->pcg.ctx, &s->a);
    flx__free(s->pcg.ctx, s->x);
    s->x = NULL;
}

static bool setup(yard* y, const yard_matrix* a, double ms[2])
{
    pcg_state* s = y->state;
    release(s);
    const flx_csc lower = {.n = a->n, .first = (int64_t*)a->first, .row = (int32_t*)a->row, .value = (double*)a->value};
    const double  start = now_ms();
    if (flx__csr_from_lower(s->pcg.ctx, &lower, &s->a) != FLX_OK) return false;
    ms[0]       = now_ms() - start;
    ms[1]       = 0;
    s->x        = flx__alloc(s->pcg.ctx, 18 * (int64_t)a->n, sizeof(double));
    s->pcg.a    = &s->a;
    s->pcg.work = s->x ? s->x + 3 * (int64_t)a->n : NULL;
    return s->x != NULL;
}

static double forward(void* state, double* b)
{
    pcg_state*          s      = state;
    const int64_t       n      = s->a.n;
    const double* const rhs[3] = {b, b + n, b + 2 * n};
    double* const       x[3]   = {s->x, s->x + n, s->x + 2 * n};
    const double        start  = now_ms();
    s->iterations              = flx__pcg_solve(&s->pcg, rhs, x, false);
    const double ms            = now_ms() - start;
    for (int64_t i = 0; i < 3 * n; ++i) b[i] = s->x[i];
    return ms;
}

static void destroy(void* state)
{
    release(state);
    free(state);
}

bool yard_pcg(flx_context* ctx, double tolerance, yard* out)
{
    pcg_state* s = calloc(1, sizeof *s);
    if (!s) abort();
    s->pcg = (flx_pcg){.ctx = ctx, .max_iterations = MOST_ITERATIONS, .tolerance = tolerance};
    *out   = (yard){.name      = "Jacobi-PCG (ours) to 1e-6",
                    .state     = s,
                    .own_order = true,
                    .setup     = setup,
                    .forward   = forward,
                    .destroy   = destroy};
    return true;
}

int32_t yard_pcg_iterations(const yard* y)
{
    return ((const pcg_state*)y->state)->iterations;
}
