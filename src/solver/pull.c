// Constraints in the local step: where each is drawn to, and the forces of that; and the air around cloth.
//
//   y_j = w_j (p_j - S_j x),   f = sum_j S_j^T y_j,   energy sum_j w_j/2 |p_j - S_j x|^2
//
// One loop over chunks of all batches finds the y_j; the gather of forces.c adds them at the vertices. [Bouaziz14]
#include "solver/solver_internal.h"

#include "constraints/projections.h"
#include "math/mat3.h"

#include <string.h>

#define PULL_CHUNK 512

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
        at += 3 * (int64_t)m->batch[b].type->rows * m->batch[b].count;
    }
    FLX_NEW_ZERO(s->ctx, w->y, at);
    FLX_NEW_ZERO(s->ctx, w->energy, w->first_chunk[m->batch_count]);
    if (m->cloth_count > 0 && m->scene->wind.drag > 0 && s->settings.mode == FLX_MODE_DYNAMIC)
        FLX_NEW_ZERO(s->ctx, s->air, 3 * (int64_t)s->n);
done:
    return status;
}

void flx__pull_release(flx_solver* s)
{
    flx__free(s->ctx, s->pull.first);
    flx__free(s->ctx, s->pull.first_chunk);
    flx__free(s->ctx, s->pull.y);
    flx__free(s->ctx, s->pull.energy);
    flx__free(s->ctx, s->pull.project);
    flx__free(s->ctx, s->air);
}

static void measure(const flx_constraint_batch* b, int64_t begin, int64_t end, const double* x, double* z)
{
    const int rows = b->type->rows;
    for (int64_t j = begin; j < end; ++j, z += 3 * rows)
    {
        for (int i = 0; i < 3 * rows; ++i) z[i] = 0;
        for (int32_t k = b->first[j]; k < b->first[j + 1]; ++k)
        {
            const double *c = b->coefficient + (int64_t)k * rows, *q = x + 3 * (int64_t)b->vertex[k];
            for (int r = 0; r < rows; ++r)
                for (int axis = 0; axis < 3; ++axis) z[3 * r + axis] += c[r] * q[axis];
        }
    }
}

typedef struct pull_args
{
    flx_solver*   s;
    const double* x;
} pull_args;

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
        const int                   size  = 3 * batch->type->rows;
        const int64_t               from  = (chunk - w->first_chunk[b]) * PULL_CHUNK;
        const int64_t               to    = from + PULL_CHUNK < batch->count ? from + PULL_CHUNK : batch->count;
        double                      z[3 * FLX_CONSTRAINT_ROWS * PULL_CHUNK], energy = 0;
        double*                     y = w->y + w->first[b] + size * from;
        measure(batch, from, to, a->x, z);
        w->project[b]((int32_t)(to - from), z, batch->param + batch->type->params * from, y);
        for (int64_t j = from; j < to; ++j)
        {
            double squared = 0;
            for (int i = 0; i < size; ++i)
            {
                const double d = y[size * (j - from) + i] - z[size * (j - from) + i];
                squared += d * d;
                y[size * (j - from) + i] = batch->weight[j] * d;
            }
            energy += 0.5 * batch->weight[j] * squared;
        }
        w->energy[chunk] = energy;
    }
}

double flx__pull(flx_solver* s, const double* x)
{
    const int64_t chunks = s->pull.first_chunk[s->model->batch_count];
    pull_args     a      = {s, x};
    double        energy = 0;
    flx__parallel_for(s->ctx, chunks, 1, pull_range, &a);
    for (int64_t k = 0; k < chunks; ++k) energy += s->pull.energy[k];
    return energy;
}

void flx__pull_at(const flx_solver* s, int64_t v, double f[3])
{
    const flx_model* m = s->model;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        const flx_constraint_batch*  batch = &m->batch[b];
        const flx_constraint_gather* g     = &m->gather[b];
        const int                    rows  = batch->type->rows;
        const double*                y     = s->pull.y + s->pull.first[b];
        for (int32_t k = g->first[v]; k < g->first[v + 1]; ++k)
        {
            const int32_t entry = g->entry[k];
            const double *c = batch->coefficient + (int64_t)entry * rows, *y_j = y + 3 * (int64_t)rows * g->of[entry];
            for (int r = 0; r < rows; ++r)
                for (int axis = 0; axis < 3; ++axis) f[axis] += c[r] * y_j[3 * r + axis];
        }
    }
}

/// Force of the air on one triangle: along its normal, at most what brings its mass to the air's speed within the step.
static void air_on(const flx_solver* s, const int32_t v[3], double area_density, const flx_state* q, double f[3])
{
    const flx_wind_desc* wind = &s->model->scene->wind;
    double               e[3], g[3], normal[3], across = 0;
    flx__sub3(q->x + 3 * (int64_t)v[1], q->x + 3 * (int64_t)v[0], e);
    flx__sub3(q->x + 3 * (int64_t)v[2], q->x + 3 * (int64_t)v[0], g);
    flx__cross3(e, g, normal);
    const double twice = flx__norm3(normal);
    f[0] = f[1] = f[2] = 0;
    if (!(twice > 0)) return;
    for (int c = 0; c < 3; ++c)
    {
        normal[c] /= twice;
        double u = wind->velocity[c];
        for (int k = 0; k < 3; ++k) u -= q->v[3 * (int64_t)v[k] + c] / 3;
        across += u * normal[c];
    }
    const double rate = fmin(0.5 * wind->drag * wind->density * fabs(across), area_density / s->dt); // kg/(m^2 s)
    for (int c = 0; c < 3; ++c) f[c] = rate * across * 0.5 * twice * normal[c];
}

void flx__air(flx_solver* s, const flx_state* q)
{
    const flx_model* m = s->model;
    if (!s->air) return;
    memset(s->air, 0, 3 * sizeof(double) * (size_t)s->n);
    for (int32_t i = 0; i < m->body_count; ++i)
        for (int32_t t = m->body[i].cloth_first; t < m->body[i].cloth_first + m->body[i].cloth_count; ++t)
        {
            double         f[3];
            const int32_t* v = m->cloth + 3 * (int64_t)t;
            air_on(s, v, m->body[i].area_density, q, f);
            for (int k = 0; k < 3; ++k)
                for (int c = 0; c < 3; ++c) s->air[3 * (int64_t)v[k] + c] += f[c] / 3;
        }
}
