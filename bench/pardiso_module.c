// MKL PARDISO as a yardstick, a module with MKL inside it: nothing but yard_pardiso_open() is visible from outside.
//
// Partial: iparm[35] = 2, perm marks the prone unknowns, phase 22 gives Sigma and keeps the partial factor; phase 331
// is the forward pass (b_2 - L_21 y_1 in the prone unknowns), 333 the backward one. Else plain: phase 33.
#include "measure.h"
#include "yard.h"

#include <mkl_pardiso.h>
#include <mkl_service.h>
#include <stdio.h>
#include <string.h>

#define SPD 2   // mtype: real, symmetric, positive definite
#define ORDER 3 // iparm[1]: METIS nested dissection, the parallel one, which is no slower here than the serial (2)

typedef struct pardiso_state
{
    void*    handle[64];
    MKL_INT  iparm[64];
    int32_t  workers;
    bool     single, partial, made;
    MKL_INT  n, n2;
    MKL_INT* first; // upper triangle by rows: the given columns
    MKL_INT* column;
    MKL_INT* perm;
    void *   value, *b, *x, *schur;
} pardiso_state;

/// The processor, as MKL sees it: with FLX_MKL_HELPED every x86-64 one is treated as its maker's own.
int __real_mkl_serv_intel_cpu_true(void);
int __wrap_mkl_serv_intel_cpu_true(void);
int __wrap_mkl_serv_intel_cpu_true(void)
{
#ifdef FLX_MKL_HELPED
    return 1;
#else
    return __real_mkl_serv_intel_cpu_true();
#endif
}

static MKL_INT call(pardiso_state* s, MKL_INT phase, void* b, void* x)
{
    MKL_INT one = 1, type = SPD, columns = 3, quiet = 0, error = 0;
    pardiso(s->handle, &one, &one, &type, &phase, &s->n, s->value, s->first, s->column, s->perm, &columns, s->iparm,
            &quiet, b, x, &error);
    return error;
}

static void release(pardiso_state* s)
{
    if (s->made) call(s, -1, s->b, s->x);
    s->made            = false;
    void** const all[] = {(void**)&s->first, (void**)&s->column, (void**)&s->perm, &s->value, &s->b, &s->x, &s->schur};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    {
        free(*all[i]);
        *all[i] = NULL;
    }
}

static bool take(pardiso_state* s, const yard_matrix* a)
{
    const size_t n = (size_t)a->n, nonzeros = (size_t)a->first[n], real = s->single ? sizeof(float) : sizeof(double);
    s->n      = a->n;
    s->n2     = a->n - a->free_count;
    s->first  = malloc((n + 1) * sizeof *s->first);
    s->column = malloc(nonzeros * sizeof *s->column);
    s->perm   = calloc(n, sizeof *s->perm);
    s->value  = malloc(nonzeros * real);
    s->b      = calloc(3 * n, real);
    s->x      = calloc(3 * n, real);
    s->schur  = s->partial ? malloc((size_t)s->n2 * (size_t)s->n2 * real) : NULL;
    if (!s->first || !s->column || !s->perm || !s->value || !s->b || !s->x || (s->partial && !s->schur)) return false;
    for (size_t i = 0; i <= n; ++i) s->first[i] = (MKL_INT)a->first[i];
    for (size_t p = 0; p < nonzeros; ++p)
    {
        s->column[p] = a->row[p];
        if (s->single)
            ((float*)s->value)[p] = (float)a->value[p];
        else
            ((double*)s->value)[p] = a->value[p];
    }
    for (int32_t i = a->free_count; i < a->n; ++i) s->perm[i] = s->partial;
    return true;
}

static bool setup(yard* y, const yard_matrix* a, double ms[2])
{
    pardiso_state* s = y->state;
    release(s);
    if (!take(s, a)) return false;
    mkl_set_dynamic(0);
    mkl_set_num_threads(s->workers);
    memset(s->handle, 0, sizeof s->handle);
    memset(s->iparm, 0, sizeof s->iparm);
    s->iparm[0]   = 1; // nothing by default
    s->iparm[1]   = ORDER;
    s->iparm[17]  = -1; // count nonzeros
    s->iparm[27]  = s->single;
    s->iparm[34]  = 1; // indices from 0
    s->iparm[35]  = s->partial ? 2 : 0;
    double  start = now_ms();
    MKL_INT error = call(s, 11, s->b, s->x);
    s->made       = true;
    ms[0]         = now_ms() - start;
    start         = now_ms();
    if (error == 0) error = call(s, 22, s->b, s->partial ? s->schur : s->x);
    ms[1] = now_ms() - start;
    if (error != 0) fprintf(stderr, "PARDISO: error %d\n", (int)error);
    snprintf(y->note, sizeof y->note, "%.1f M nonzeros, %s", 1e-6 * s->iparm[17],
             s->partial ? "and Sigma" : "all of A");
    return error == 0;
}

static double solve(pardiso_state* s, MKL_INT phase, double* x)
{
    const size_t count = 3 * (size_t)s->n;
    for (size_t i = 0; i < count; ++i)
        if (s->single)
            ((float*)s->b)[i] = (float)x[i];
        else
            ((double*)s->b)[i] = x[i];
    const double  start = now_ms();
    const MKL_INT error = call(s, phase, s->b, s->x);
    const double  ms    = now_ms() - start;
    if (error != 0) fprintf(stderr, "PARDISO, phase %d: error %d\n", (int)phase, (int)error);
    for (size_t i = 0; i < count; ++i) x[i] = s->single ? (double)((float*)s->x)[i] : ((double*)s->x)[i];
    return ms;
}

static double forward(void* state, double* x)
{
    pardiso_state* s = state;
    return solve(s, s->partial ? 331 : 33, x);
}

static double backward(void* state, double* x)
{
    return solve(state, 333, x);
}

static void destroy(void* state)
{
    release(state);
    free(state);
}

__attribute__((visibility("default"))) bool yard_pardiso_open(int32_t workers, bool single, bool partial, yard* out);

bool yard_pardiso_open(int32_t workers, bool single, bool partial, yard* out)
{
    pardiso_state* s = calloc(1, sizeof *s);
    if (!s) return false;
    s->workers = workers;
    s->single  = single;
    s->partial = partial;
    *out       = (yard){.state     = s,
                        .partial   = partial,
                        .own_order = true,
                        .setup     = setup,
                        .forward   = forward,
                        .backward  = partial ? backward : NULL,
                        .destroy   = destroy};
    mkl_get_version_string(out->version, sizeof out->version - 1);
    return true;
}
