// Constraints in the local step: where each is drawn to, and the forces of that.
//
//   y_j = w_j (p_j - S_j x),   f = sum_j S_j^T y_j,   energy sum_j w_j/2 |p_j - S_j x|^2
//
// One loop over chunks of all batches finds the y_j; the gather of forces.c adds them at the vertices. [Bouaziz14]
#include "solver/solver_internal.h"

#include "constraints/projections.h"

#include <string.h>

#define PULL_CHUNK 512

/// Half of a point or a row with a fourth number, 0, beside it: two pairs are fewer instructions than three numbers.
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/// Rows of y that a vertex adds up, batch after batch, with the columns of S they go by.
static flx_status list_rows(flx_solver* s)
{
    flx_status       status = FLX_OK;
    const flx_model* m      = s->model;
    flx_pull_work*   w      = &s->pull;
    int64_t          count  = 0;
    for (int32_t b = 0; b < m->batch_count; ++b)
        count += (int64_t)m->batch[b].type->rows * m->batch[b].first[m->batch[b].count];
    FLX_NEW(s->ctx, w->of_vertex, s->n + 1);
    FLX_NEW(s->ctx, w->row, count);
    FLX_NEW(s->ctx, w->coefficient, count);
    int64_t at = 0;
    for (int32_t v = 0; v < s->n; ++v)
    {
        w->of_vertex[v] = at;
        for (int32_t b = 0; b < m->batch_count; ++b)
        {
            const int                    rows = m->batch[b].type->rows;
            const flx_constraint_gather* g    = &m->gather[b];
            for (int32_t k = g->first[v]; k < g->first[v + 1]; ++k)
                for (int r = 0; r < rows; ++r, ++at)
                {
                    w->row[at]         = (int32_t)w->first[b] + rows * g->of[g->entry[k]] + r;
                    w->coefficient[at] = m->batch[b].coefficient[(int64_t)g->entry[k] * rows + r];
                }
        }
    }
    w->of_vertex[s->n] = at;
done:
    return status;
}

flx_status flx__pull_create(flx_solver* s)
{
    flx_status       status = FLX_OK;
    const flx_model* m      = s->model;
    flx_pull_work*   w      = &s->pull;
    int64_t          at     = 0;
    FLX_NEW(s->ctx, w->first, m->batch_count + 1);
    FLX_NEW(s->ctx, w->first_chunk, m->batch_count + 1);
    FLX_NEW(s->ctx, w->project, m->batch_count + 1);
    w->first_chunk[0] = 0;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        w->project[b]         = flx__projection_for(flx__context_isa(s->ctx), m->batch[b].type);
        w->first[b]           = at;
        w->first_chunk[b + 1] = w->first_chunk[b] + (m->batch[b].count + PULL_CHUNK - 1) / PULL_CHUNK;
        at += (int64_t)m->batch[b].type->rows * m->batch[b].count;
    }
    if (at > INT32_MAX) return flx__fail(s->ctx, FLX_ERR_MESH, "the constraints have more than %d rows", INT32_MAX);
    if (m->batch_count > 0)
    {
        FLX_NEW_ZERO(s->ctx, w->x, 4 * (int64_t)s->n);
        FLX_NEW_ZERO(s->ctx, w->y, 4 * at);
        FLX_NEW_ZERO(s->ctx, w->energy, w->first_chunk[m->batch_count]);
        FLX_TRY(list_rows(s));
    }
    if (m->cloth_count > 0 && m->scene->wind.drag > 0 && s->settings.mode == FLX_MODE_DYNAMIC)
        FLX_NEW_ZERO(s->ctx, s->air, 3 * (int64_t)s->n);
done:
    return status;
}

void flx__pull_release(flx_solver* s)
{
    flx_pull_work* w       = &s->pull;
    void* const    array[] = {w->first,     w->first_chunk, w->project,     w->x,   w->y,
                              w->of_vertex, w->row,         w->coefficient, s->air, w->energy};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(s->ctx, array[i]);
}

/// z [..][rows][3] = S x of constraints [begin, end)
static inline void measure(const flx_constraint_batch* b, int64_t begin, int64_t end, const double* x, double* z,
                           const int rows)
{
    for (int64_t j = begin; j < end; ++j, z += 3 * rows)
    {
        two xy[FLX_CONSTRAINT_ROWS] = {{0}}, z0[FLX_CONSTRAINT_ROWS] = {{0}};
        for (int32_t k = b->first[j]; k < b->first[j + 1]; ++k)
        {
            const double* c = b->coefficient + (int64_t)k * rows;
            const two*    q = (const two*)(x + 4 * (int64_t)b->vertex[k]);
#pragma GCC unroll 3
            for (int r = 0; r < rows; ++r) xy[r] += c[r] * q[0], z0[r] += c[r] * q[1];
        }
#pragma GCC unroll 3
        for (int r = 0; r < rows; ++r) z[3 * r] = xy[r][0], z[3 * r + 1] = xy[r][1], z[3 * r + 2] = z0[r][0];
    }
}

/// y [..][rows][4] = w (p - z); returns the energy.
static inline double differ(int64_t count, const double* weight, const double* z, const double* p, double* y,
                            const int rows)
{
    double energy = 0;
    for (int64_t j = 0; j < count; ++j)
    {
        double squared = 0;
        for (int r = 0; r < rows; ++r, z += 3, p += 3, y += 4)
            for (int axis = 0; axis < 3; ++axis)
            {
                const double d = p[axis] - z[axis];
                squared += d * d;
                y[axis] = weight[j] * d;
            }
        energy += 0.5 * weight[j] * squared;
    }
    return energy;
}

typedef struct pull_args
{
    flx_solver*   s;
    const double* x;
} pull_args;

static void widen_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const pull_args* a = user;
    for (int64_t v = begin; v < end; ++v)
        for (int c = 0; c < 3; ++c) a->s->pull.x[4 * v + c] = a->x[3 * v + c];
}

static void pull_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const pull_args* a = user;
    const flx_model* m = a->s->model;
    flx_pull_work*   w = &a->s->pull;
    for (int64_t chunk = begin; chunk < end; ++chunk)
    {
        int32_t b = 0;
        while (chunk >= w->first_chunk[b + 1]) ++b;
        const flx_constraint_batch* batch = &m->batch[b];
        const int                   rows  = batch->type->rows;
        const int64_t               from  = (chunk - w->first_chunk[b]) * PULL_CHUNK;
        const int64_t               to    = from + PULL_CHUNK < batch->count ? from + PULL_CHUNK : batch->count;
        double                      z[3 * FLX_CONSTRAINT_ROWS * PULL_CHUNK], p[3 * FLX_CONSTRAINT_ROWS * PULL_CHUNK];
        double*                     y      = w->y + 4 * (w->first[b] + rows * from);
        const double*               weight = batch->weight + from;
        if (rows == 1)
            measure(batch, from, to, w->x, z, 1);
        else if (rows == 2)
            measure(batch, from, to, w->x, z, 2);
        else
            measure(batch, from, to, w->x, z, 3);
        w->project[b]((int32_t)(to - from), z, batch->param + batch->type->params * from, p);
        w->energy[chunk] = rows == 1   ? differ(to - from, weight, z, p, y, 1)
                           : rows == 2 ? differ(to - from, weight, z, p, y, 2)
                                       : differ(to - from, weight, z, p, y, 3);
    }
}

double flx__pull(flx_solver* s, const double* x)
{
    if (s->model->batch_count == 0) return 0;
    const int64_t chunks = s->pull.first_chunk[s->model->batch_count];
    pull_args     a      = {s, x};
    double        energy = 0;
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, widen_range, &a);
    flx__parallel_for(s->ctx, chunks, 2, pull_range, &a);
    for (int64_t k = 0; k < chunks; ++k) energy += s->pull.energy[k];
    return energy;
}

void flx__pull_at(const flx_solver* s, int64_t v, double f[3])
{
    const flx_pull_work* w  = &s->pull;
    two                  xy = {f[0], f[1]}, z0 = {f[2], 0};
    for (int64_t k = w->of_vertex[v]; k < w->of_vertex[v + 1]; ++k)
    {
        const two* y = (const two*)(w->y + 4 * (int64_t)w->row[k]);
        xy += w->coefficient[k] * y[0];
        z0 += w->coefficient[k] * y[1];
    }
    f[0] = xy[0], f[1] = xy[1], f[2] = z0[0];
}
