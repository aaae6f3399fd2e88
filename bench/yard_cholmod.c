// CHOLMOD, supernodal, double: the whole matrix, by its own METIS order or in ours.
#include "yards.h"

#ifndef FLX_HAVE_CHOLMOD

bool yard_cholmod(int32_t workers, bool own_order, yard* out)
{
    (void)workers;
    (void)own_order;
    (void)out;
    return false;
}

#else

#include "measure.h"

#include <cblas.h>
#include <cholmod.h>
#include <stdio.h>
#include <string.h>

typedef struct cholmod_state
{
    int32_t         workers;
    bool            own_order;
    cholmod_common  common;
    cholmod_sparse* a;
    cholmod_factor* l;
    cholmod_dense * b, *x, *y, *e;
} cholmod_state;

static void release(cholmod_state* s)
{
    cholmod_l_free_dense(&s->b, &s->common);
    cholmod_l_free_dense(&s->x, &s->common);
    cholmod_l_free_dense(&s->y, &s->common);
    cholmod_l_free_dense(&s->e, &s->common);
    cholmod_l_free_factor(&s->l, &s->common);
    cholmod_l_free_sparse(&s->a, &s->common);
}

static bool setup(yard* y, const yard_matrix* a, double ms[2])
{
    cholmod_state* s = y->state;
    const size_t   n = (size_t)a->n;
    release(s);
    s->a = cholmod_l_allocate_sparse(n, n, (size_t)a->first[n], 1, 1, -1, CHOLMOD_REAL, &s->common);
    s->b = cholmod_l_allocate_dense(n, 3, n, CHOLMOD_REAL, &s->common);
    if (!s->a || !s->b) return false;
    memcpy(s->a->p, a->first, (n + 1) * sizeof(int64_t));
    memcpy(s->a->x, a->value, (size_t)a->first[n] * sizeof(double));
    for (int64_t p = 0; p < a->first[n]; ++p) ((int64_t*)s->a->i)[p] = a->row[p];

    openblas_set_num_threads(s->workers);
    double start = now_ms();
    s->l         = cholmod_l_analyze(s->a, &s->common);
    ms[0]        = now_ms() - start;
    start        = now_ms();
    cholmod_l_factorize(s->a, s->l, &s->common);
    ms[1] = now_ms() - start;
    openblas_set_num_threads(1);
    snprintf(y->note, sizeof y->note, "%.1f M nonzeros, %.1f GFlop, all of A", 1e-6 * s->common.lnz,
             1e-9 * s->common.fl);
    return s->common.status == CHOLMOD_OK;
}

static double forward(void* state, double* x)
{
    cholmod_state* s     = state;
    const size_t   bytes = 3 * s->b->nrow * sizeof(double);
    memcpy(s->b->x, x, bytes);
    openblas_set_num_threads(s->workers);
    const double start = now_ms();
    cholmod_l_solve2(CHOLMOD_A, s->l, s->b, NULL, &s->x, NULL, &s->y, &s->e, &s->common);
    const double ms = now_ms() - start;
    openblas_set_num_threads(1);
    memcpy(x, s->x->x, bytes);
    return ms;
}

static void destroy(void* state)
{
    cholmod_state* s = state;
    release(s);
    cholmod_l_finish(&s->common);
    free(s);
}

bool yard_cholmod(int32_t workers, bool own_order, yard* out)
{
    cholmod_state* s = calloc(1, sizeof *s);
    if (!s) abort();
    s->workers   = workers;
    s->own_order = own_order;
    cholmod_l_start(&s->common);
    s->common.supernodal         = CHOLMOD_SUPERNODAL;
    s->common.nmethods           = 1;
    s->common.method[0].ordering = own_order ? CHOLMOD_METIS : CHOLMOD_NATURAL;
    s->common.postorder          = own_order;
    *out = (yard){.name      = own_order ? "CHOLMOD double, its METIS order" : "CHOLMOD double, our order",
                  .state     = s,
                  .own_order = own_order,
                  .setup     = setup,
                  .forward   = forward,
                  .destroy   = destroy};
    snprintf(out->version, sizeof out->version, "CHOLMOD %d.%d.%d (SuiteSparse %d.%d)", CHOLMOD_MAIN_VERSION,
             CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION, SUITESPARSE_MAIN_VERSION, SUITESPARSE_SUB_VERSION);
    return true;
}

#endif
