// Forces on vertices: f_v += sum over the entries of v, in stored order, of w_j c y_j. A vertex adds up its own, so the
// result does not depend on which worker did what.
#include "constraints/constraints_internal.h"

#define GRAIN 512 // vertices

flx_status flx__constraint_gather_create(flx_context* ctx, const flx_constraint_batch* batch, int32_t n,
                                         flx_constraint_gather* out)
{
    flx_status            status = FLX_OK;
    flx_constraint_gather g      = {.n = n};
    const int32_t         count  = batch->first[batch->count];
    *out                         = (flx_constraint_gather){0};
    FLX_TRY(flx__group(ctx, count, batch->vertex, n, &g.first, &g.entry));
    FLX_NEW(ctx, g.of, count);
    for (int32_t j = 0; j < batch->count; ++j)
        for (int32_t k = batch->first[j]; k < batch->first[j + 1]; ++k) g.of[k] = j;
    *out = g;
    g    = (flx_constraint_gather){0};
done:
    flx__constraint_gather_release(ctx, &g);
    return status;
}

void flx__constraint_gather_release(flx_context* ctx, flx_constraint_gather* gather)
{
    if (!gather) return;
    flx__free(ctx, gather->first);
    flx__free(ctx, gather->entry);
    flx__free(ctx, gather->of);
    *gather = (flx_constraint_gather){0};
}

typedef struct gather_pass
{
    const flx_constraint_batch*  batch;
    const flx_constraint_gather* gather;
    const double*                y;
    double*                      f;
} gather_pass;

static void gather_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const gather_pass*           pass  = user;
    const flx_constraint_batch*  batch = pass->batch;
    const flx_constraint_gather* g     = pass->gather;
    const int                    rows  = batch->type->rows;
    for (int64_t v = begin; v < end; ++v)
    {
        double sum[3] = {0};
        for (int32_t i = g->first[v]; i < g->first[v + 1]; ++i)
        {
            const int32_t k = g->entry[i], j = g->of[k];
            const double* y = pass->y + 3 * (int64_t)rows * j;
            for (int r = 0; r < rows; ++r)
            {
                const double c = batch->weight[j] * batch->coefficient[(int64_t)k * rows + r];
                for (int axis = 0; axis < 3; ++axis) sum[axis] += c * y[3 * r + axis];
            }
        }
        for (int axis = 0; axis < 3; ++axis) pass->f[3 * v + axis] += sum[axis];
    }
}

void flx__constraints_gather(flx_context* ctx, const flx_constraint_batch* batch, const flx_constraint_gather* gather,
                             const double* y, double* f)
{
    gather_pass pass = {.batch = batch, .gather = gather, .y = y, .f = f};
    flx__parallel_for(ctx, gather->n, GRAIN, gather_range, &pass);
}
