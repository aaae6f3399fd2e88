#include "measure.h"
#include "yards.h"

#include <stdio.h>
#include <string.h>

typedef struct flexor_state
{
    flx_context* ctx;
    const body*  arm;
    flx_factor*  factor;
    int32_t      n;
    float*       b[3];
} flexor_state;

static bool setup(yard* y, const yard_matrix* a, double ms[2])
{
    flexor_state*            s       = y->state;
    const flx_factor_options options = {.single = true, .single_arithmetic = true}; // as a step in single precision has it
    flx__factor_destroy(s->factor);
    s->factor      = NULL;
    int32_t* order = malloc((size_t)a->n * sizeof *order);
    if (!order) return false;
    const double start  = now_ms();
    flx_status   status = flx__order_nested_dissection(s->ctx, &s->arm->graph, s->arm->prone, order);
    ms[0]               = now_ms() - start;
    free(order);
    if (status == FLX_OK)
        status = flx__factor_create(s->ctx, &s->arm->a, s->arm->free_count, &options, NULL, &s->factor);
    if (status != FLX_OK) return false;
    const double together = now_ms() - start;
    ms[0] += flx__factor_get_info(s->factor).ms_analyze;
    ms[1]                      = together - ms[0]; // copies and allocation count as factorization
    const flx_factor_info info = flx__factor_get_info(s->factor);
    snprintf(y->note, sizeof y->note, "%.1f M nonzeros, %.1f GFlop, and Sigma", 1e-6 * (double)info.nonzeros,
             1e-9 * info.flops);
    if (!s->b[0])
        for (int c = 0; c < 3; ++c) s->b[c] = flx__alloc(s->ctx, a->n, sizeof(float));
    s->n = a->n;
    return s->b[0] && s->b[1] && s->b[2];
}

static double pass(flexor_state* s, double* x, void (*run)(flx_factor*, float* const[3]))
{
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i) s->b[c][i] = (float)x[c * (int64_t)s->n + i];
    const double start = now_ms();
    run(s->factor, s->b);
    const double ms = now_ms() - start;
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i) x[c * (int64_t)s->n + i] = (double)s->b[c][i];
    return ms;
}

static double forward(void* state, double* x)
{
    return pass(state, x, flx__factor_forward_f32);
}

static double backward(void* state, double* x)
{
    return pass(state, x, flx__factor_backward_f32);
}

static void destroy(void* state)
{
    flexor_state* s = state;
    flx__factor_destroy(s->factor);
    for (int c = 0; c < 3; ++c) flx__free(s->ctx, s->b[c]);
    free(s);
}

bool yard_flexor(flx_context* ctx, const body* arm, yard* out)
{
    flexor_state* s = calloc(1, sizeof *s);
    if (!s) abort();
    *s   = (flexor_state){.ctx = ctx, .arm = arm};
    *out = (yard){.name     = "Flexor",
                  .version  = "Flexor " FLX_VERSION,
                  .state    = s,
                  .partial  = true,
                  .setup    = setup,
                  .forward  = forward,
                  .backward = backward,
                  .destroy  = destroy};
    return true;
}

flx_factor* yard_flexor_factor(const yard* y)
{
    return ((const flexor_state*)y->state)->factor;
}
