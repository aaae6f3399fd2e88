// Partial Cholesky factorization: L_11, L_21 and Sigma.
//
//   A = [A_11 A_12; A_21 A_22],  L_11 L_11^T = A_11,  L_21 = A_21 L_11^-T,  Sigma = A_22 - L_21 L_21^T.
// Based on [LLKS] eq. 14; multifrontal. Independent subtrees are tasks (front.c), the top of the tree is factored by
// all workers together (top.c). What is kept is the layout of panels.h. On request all but the sums of Sigma are in
// single precision, unless that would show (trial.c).
#include "sparse/blas.h"
#include "sparse/factor_cache.h"
#include "sparse/factor_internal.h"

#include <math.h>
#include <string.h>

// Of a translation. An elbow at full size has 1.2e-5 and strays 3e-5 of a cell from double precision.
#define TRANSLATION_ERROR 3e-5

// Tasks weigh at most this part of all arithmetic, and are not worth dividing below so many operations.
#define TASK_PART (1.0 / 32.0)
#define TASK_FLOPS 4e6

// --- Sigma ---------------------------------------------------------------------------------------------

/// Sigma before elimination: A_22
static void schur_start(const flx_csc* a, int32_t free_count, double* schur)
{
    const int64_t n2 = a->n - free_count;
    memset(schur, 0, (size_t)(n2 * n2) * sizeof *schur);
    for (int64_t j = 0; j < n2; ++j)
        for (int64_t p = a->first[free_count + j]; p < a->first[free_count + j + 1]; ++p)
            schur[a->row[p] - free_count + j * n2] += a->value[p];
}

typedef struct square
{
    double* a;
    int64_t n;
} square;

/// Copy the lower triangle of block column begin/64 to the upper, block by block.
static void mirror_columns(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const square* m = user;
    (void)worker;
    for (int64_t block = begin; block < m->n; block += 64)
        for (int64_t j = begin; j < end; ++j)
            for (int64_t i = block > j ? block : j + 1; i < (block + 64 < m->n ? block + 64 : m->n); ++i)
                m->a[j + i * m->n] = m->a[i + j * m->n];
}

// --- checks ----------------------------------------------------------------------------------------------

static flx_status refuse(flx_context* ctx, int32_t row, int32_t* bad_row)
{
    if (bad_row) *bad_row = row;
    return flx__fail(ctx, FLX_ERR_UNHELD,
                     "unknown %d (in elimination order) has no positive pivot: its component is held by nothing", row);
}

static flx_status check_matrix(flx_context* ctx, const flx_csc* a, int32_t free_count, int32_t* bad_row)
{
    if (free_count < 0 || free_count > a->n)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d unknowns are to be eliminated of %d", free_count, a->n);
    int32_t bad = INT32_MAX;
    for (int32_t j = 0; j < a->n; ++j)
    {
        const int64_t first = a->first[j];
        if (first == a->first[j + 1] || a->row[first] != j || !(a->value[first] > 0.0))
            if (j < bad) bad = j;
        for (int64_t p = first; p < a->first[j + 1]; ++p)
            if (!isfinite(a->value[p]) && a->row[p] < bad) bad = a->row[p];
    }
    return bad == INT32_MAX ? FLX_OK : refuse(ctx, bad, bad_row);
}

// --- the numeric phase -----------------------------------------------------------------------------------------

static void numeric_release(flx__numeric* num)
{
    flx_context* ctx = num->ctx;
    for (int32_t s = 0; num->update && s < num->sym->count; ++s)
        if (num->update[s].owned) flx__free(ctx, num->update[s].data);
    flx__division_release(ctx, &num->division);
    flx__free(ctx, num->update);
    flx__free(ctx, num->root_at);
    flx__free(ctx, num->root_store);
    flx__free(ctx, num->stack);
    flx__free(ctx, num->map);
    flx__free(ctx, num->scratch);
    flx__free(ctx, num->bad);
}

static flx_status divide(flx__numeric* num)
{
    flx_status           status = FLX_OK;
    const flx__symbolic* sym    = num->sym;
    double*              weight = NULL;
    FLX_NEW(num->ctx, weight, sym->count);
    for (int32_t s = 0; s < sym->count; ++s)
    {
        const double w = sym->width[s];
        const double r = flx__row_count(sym, s) - sym->width[s];
        weight[s]      = w * w * w / 3.0 + w * w * r + (w + 4.0) * r * r + 1000.0;
        if (r > FLX__TASK_ROWS) weight[s] = -weight[s];
    }
    const double limit = sym->flops * TASK_PART > TASK_FLOPS ? sym->flops * TASK_PART : TASK_FLOPS;
    FLX_TRY(flx__division_create(num->ctx, sym, weight, limit, &num->division));
done:
    flx__free(num->ctx, weight);
    return status;
}

static flx_status numeric_prepare(flx__numeric* num)
{
    flx_status           status  = FLX_OK;
    const flx__symbolic* sym     = num->sym;
    int64_t              length  = 0;
    const int32_t        workers = flx_context_worker_count(num->ctx);
    FLX_TRY(divide(num));
    FLX_NEW_ZERO(num->ctx, num->update, sym->count);
    FLX_NEW(num->ctx, num->root_at, sym->count);
    FLX_NEW(num->ctx, num->bad, (int64_t)num->division.task_count + 1);
    for (int32_t t = 0; t <= num->division.task_count; ++t) num->bad[t] = INT32_MAX;
    for (int32_t t = 0; t < num->division.task_count; ++t)
    {
        const int64_t want = flx__task_stack(sym, num->division.begin[t], num->division.end[t]);
        if (want > num->stack_length) num->stack_length = want;
        for (int32_t s = num->division.begin[t]; s < num->division.end[t]; ++s)
        {
            const int64_t below = flx__row_count(sym, s) - sym->width[s];
            const bool    root  = sym->parent[s] < 0 || sym->parent[s] >= num->division.end[t];
            num->root_at[s]     = root ? length : -1;
            if (root) length += flx__packed_length(below);
        }
    }
    num->stack_length = (num->stack_length + 7) / 8 * 8;
    num->slots        = workers;
    FLX_NEW(num->ctx, num->map, (int64_t)sym->n * num->slots);
    const size_t size = num->single ? sizeof(float) : sizeof(double);
    num->root_store   = flx__alloc(num->ctx, length, size);
    num->stack        = flx__alloc(num->ctx, num->stack_length * num->slots, size);
    num->scratch      = flx__alloc(num->ctx, (int64_t)FLX__SCRATCH * num->slots, size);
    if (!num->root_store || !num->stack || !num->scratch) status = FLX_ERR_MEMORY;
done:
    return status;
}

static void run_tasks(void* user, int64_t begin, int64_t end, int32_t worker)
{
    flx__numeric* num = user;
    for (int64_t k = begin; k < end; ++k)
        (num->single ? flx__task_run_f32 : flx__task_run_f64)(num, num->division.schedule[k], worker);
}

static int32_t first_bad(const flx__numeric* num)
{
    int32_t bad = INT32_MAX;
    for (int32_t t = 0; t <= num->division.task_count; ++t)
        if (num->bad[t] < bad) bad = num->bad[t];
    return bad;
}

static flx_status numeric_run(flx_factor* f, const flx_csc* a, bool single, int32_t* bad_row)
{
    flx_status   status = FLX_OK;
    flx__numeric num    = {.ctx = f->ctx, .a = a, .sym = &f->sym, .panels = &f->panels, .single = single};
    num.schur           = f->schur;
    num.schur_n         = a->n - f->sym.free_count;

    schur_start(a, f->sym.free_count, f->schur);
    FLX_TRY(numeric_prepare(&num));
    flx__parallel_for(f->ctx, num.division.task_count, 1, run_tasks, &num);
    if (first_bad(&num) == INT32_MAX) FLX_TRY((single ? flx__top_run_f32 : flx__top_run_f64)(&num));
    if (first_bad(&num) != INT32_MAX)
    {
        status = refuse(f->ctx, first_bad(&num), bad_row);
        goto done;
    }
    square m = {f->schur, num.schur_n};
    flx__parallel_for(f->ctx, m.n, 64, mirror_columns, &m);

done:
    numeric_release(&num);
    return status;
}

/// In single precision as long as that neither fails nor shows; then in double.
static flx_status factorize(flx_factor* f, const flx_csc* a, int32_t* bad_row)
{
    flx_status status = FLX_OK;
    double     error  = 0;
    if (f->options.single_arithmetic)
    {
        status = numeric_run(f, a, true, NULL);
        if (status == FLX_OK) FLX_TRY(flx__translation_error(f, a, &error));
        if (status != FLX_OK && status != FLX_ERR_UNHELD) goto done;
        f->info.single_arithmetic = status == FLX_OK && error <= TRANSLATION_ERROR;
        if (f->info.single_arithmetic) return FLX_OK;
    }
    status = numeric_run(f, a, false, bad_row);
done:
    return status;
}

// --- public ----------------------------------------------------------------------------------------------------

static flx_status make_work(flx_factor* f)
{
    flx_status    status  = FLX_OK;
    const int64_t rows    = f->plan.vector_rows;
    const int64_t scratch = (int64_t)flx_context_worker_count(f->ctx) * FLX__SUBSTITUTE_SCRATCH;
    if (f->panels.single)
    {
        FLX_NEW_ZERO(f->ctx, f->f32.x, 4 * rows);
        FLX_NEW_ZERO(f->ctx, f->f32.scratch, scratch);
        FLX_NEW_ZERO(f->ctx, f->f32.partial, f->plan.partial_length);
    }
    if (f->panels.twice)
    {
        FLX_NEW_ZERO(f->ctx, f->f64.x, 4 * rows);
        FLX_NEW_ZERO(f->ctx, f->f64.scratch, scratch);
        FLX_NEW_ZERO(f->ctx, f->f64.partial, f->plan.partial_length);
    }
done:
    return status;
}

flx_status flx__factor_create(flx_context* ctx, const flx_csc* a, int32_t free_count, const flx_factor_options* options,
                              int32_t* bad_row, flx_factor** out)
{
    flx_status    status     = FLX_OK;
    flx_factor*   f          = NULL;
    const int64_t bytes_then = flx_context_bytes_now(ctx);
    *out                     = NULL;

    FLX_ASSERT(!options->single_arithmetic || (options->single && !options->keep_double));
    blas_single_thread();
    FLX_TRY(check_matrix(ctx, a, free_count, bad_row));
    FLX_NEW_ZERO(ctx, f, 1);
    f->ctx     = ctx;
    f->options = *options;
    f->kernels = flx__substitute_choose(flx__context_isa(ctx));

    const double start = flx__now();
    FLX_TRY(flx__symbolic_create(ctx, a, free_count, &f->sym));
    FLX_TRY(flx__panels_create(ctx, &f->sym, options->single, options->keep_double, &f->panels));
    FLX_TRY(flx__plan_create(ctx, &f->sym, &f->panels, &f->plan));
    FLX_TRY(make_work(f));
    const double analyzed = flx__now();
    if (!flx__factor_load(f, a, options->keep))
    {
        FLX_NEW(ctx, f->schur, (int64_t)(a->n - free_count) * (a->n - free_count));
        FLX_TRY(factorize(f, a, bad_row));
    }

    f->info = (flx_factor_info){
        .nonzeros          = f->sym.nonzeros,
        .supernode_count   = f->sym.count,
        .flops             = f->sym.flops,
        .bytes             = flx_context_bytes_now(ctx) - bytes_then,
        .forward_entries   = f->panels.forward_length,
        .backward_entries  = f->panels.backward_length,
        .ms_analyze        = 1e3 * (analyzed - start),
        .ms_factor         = 1e3 * (flx__now() - analyzed),
        .single_arithmetic = f->info.single_arithmetic,
    };
    *out = f;
    f    = NULL;

done:
    flx__factor_destroy(f);
    return status;
}

void flx__factor_destroy(flx_factor* factor)
{
    if (!factor) return;
    flx_context* ctx = factor->ctx;
    flx__free(ctx, factor->f32.x);
    flx__free(ctx, factor->f32.scratch);
    flx__free(ctx, factor->f32.partial);
    flx__free(ctx, factor->f64.x);
    flx__free(ctx, factor->f64.scratch);
    flx__free(ctx, factor->f64.partial);
    flx__free(ctx, factor->schur);
    flx__plan_release(ctx, &factor->plan);
    flx__panels_release(ctx, &factor->panels);
    flx__symbolic_release(ctx, &factor->sym);
    flx__free(ctx, factor);
}

flx_factor_info flx__factor_get_info(const flx_factor* factor)
{
    return factor->info;
}
const double* flx__factor_schur(const flx_factor* factor)
{
    return factor->schur;
}

double* flx__factor_take_schur(flx_factor* factor)
{
    double* schur = factor->schur;
    factor->schur = NULL;
    return schur;
}
