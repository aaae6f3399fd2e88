// States: what a run is at one moment, in one block of memory.
#include "solver/state.h"

#include "math/mat3.h"
#include "math/rotation.h"

#include <string.h>

#define STATE_MAGIC UINT64_C(0x31455441545f584c) // "LX_STATE1"

static int64_t layout(flx_state* s, const flx_model* m, double* base)
{
    int64_t        at      = 0;
    double** const part[]  = {&s->time, &s->step, &s->x, &s->v, &s->force, &s->push, &s->prone_force, &s->sides};
    const int64_t  count[] = {1,
                              1,
                              3 * (int64_t)m->vertex_count,
                              3 * (int64_t)m->vertex_count,
                              3 * (int64_t)m->proxy_count,
                              m->proxy_count,
                              3 * (int64_t)m->prone_count,
                              m->memory_count};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; ++i)
    {
        if (base) *part[i] = base + at;
        at += count[i];
    }
    return at * (int64_t)sizeof(double);
}

flx_status flx_state_create(flx_context* ctx, const flx_model* m, flx_state** out)
{
    flx_status status = FLX_OK;
    flx_state* s      = NULL;
    *out              = NULL;
    FLX_NEW_ZERO(ctx, s, 1);
    s->ctx   = ctx;
    s->model = m;
    s->bytes = layout(s, m, NULL);
    FLX_NEW_ZERO(ctx, s->block, s->bytes / (int64_t)sizeof(double));
    layout(s, m, s->block);
    memcpy(s->x, m->x_rest, 3 * sizeof(double) * (size_t)m->vertex_count);
    for (int32_t b = 0; b < m->body_count; ++b)
        for (int32_t u = m->body[b].vertex_first; u < m->body[b].vertex_first + m->body[b].vertex_count; ++u)
            if (m->of_user[u] >= 0)
                memcpy(s->v + 3 * (int64_t)m->of_user[u], m->scene->body[b].velocity, 3 * sizeof(double));
    *out = s;
    s    = NULL;
done:
    flx_state_destroy(s);
    return status;
}

void flx_state_destroy(flx_state* s)
{
    if (!s) return;
    flx__free(s->ctx, s->block);
    flx__free(s->ctx, s);
}

void flx_state_copy(flx_state* to, const flx_state* from)
{
    FLX_ASSERT(to->model == from->model);
    memcpy(to->block, from->block, (size_t)from->bytes);
}

double flx_state_time(const flx_state* s)
{
    return *s->time;
}
int64_t flx_state_step_count(const flx_state* s)
{
    return (int64_t)*s->step;
}
uint64_t flx_state_hash(const flx_state* s)
{
    return flx__hash(FLX_HASH_START, s->block, s->bytes);
}

static void to_user(const flx_state* s, const double* from, bool rest_for_unused, double* out)
{
    const flx_model* m = s->model;
    for (int32_t u = 0; u < m->user_vertex_count; ++u)
    {
        const int32_t i = m->of_user[u];
        for (int c = 0; c < 3; ++c)
            out[3 * (int64_t)u + c] = i >= 0            ? from[3 * (int64_t)i + c]
                                      : rest_for_unused ? m->user_rest[3 * (int64_t)u + c]
                                                        : 0;
    }
}

static void from_user(const flx_state* s, const double* in, double* to)
{
    const flx_model* m = s->model;
    for (int32_t i = 0; i < m->vertex_count; ++i)
        memcpy(to + 3 * (int64_t)i, in + 3 * (int64_t)m->user_of[i], 3 * sizeof(double));
}

void flx_state_positions(const flx_state* s, double* out)
{
    to_user(s, s->x, true, out);
}
void flx_state_velocities(const flx_state* s, double* out)
{
    to_user(s, s->v, false, out);
}
void flx_state_set_positions(flx_state* s, const double* x)
{
    from_user(s, x, s->x);
    memset(s->sides, 0, sizeof(double) * (size_t)s->model->memory_count); // no motion led there
}
void flx_state_set_velocities(flx_state* s, const double* v)
{
    from_user(s, v, s->v);
}

void flx_state_surface_positions(const flx_state* s, double* out)
{
    const flx_model* m = s->model;
    for (int32_t i = 0; i < m->surface_vertex_count; ++i)
    {
        const flx_embedded* e = &m->surface[i];
        const int32_t*      v = m->surface_corner + 4 * (int64_t)i;
        // displacement form: at rest the surface is the input, bit for bit
        for (int c = 0; c < 3; ++c)
        {
            double u = 0;
            for (int k = 0; k < 4; ++k)
                u += e->weight[k] * (s->x[3 * (int64_t)v[k] + c] - m->x_rest[3 * (int64_t)v[k] + c]);
            out[3 * (int64_t)i + c] = m->surface_rest[3 * (int64_t)i + c] + u;
        }
    }
}

void flx_state_surface_contact_force(const flx_state* s, double* out)
{
    const flx_model* m = s->model;
    memset(out, 0, 3 * sizeof(double) * (size_t)m->surface_vertex_count);
    for (int32_t i = 0; i < m->proxy_count; ++i)
        for (int c = 0; c < 3; ++c) out[3 * (int64_t)m->proxy_surface[i] + c] += s->force[3 * (int64_t)i + c];
}

typedef struct strain_args
{
    const flx_state* s;
    double *         strain, *ratio;
} strain_args;

/// max |sigma - 1| over the singular values, the smallest one signed like det F: right to 1e-6 even where sigma is 0
/// (files hold floats), and a hundred times faster than the reference decomposition; a recording asks for it once a tet
/// and frame.
static double largest_strain(const double F[9])
{
    double mean, spread, angle;
    flx__stretch_cubic(F, &mean, &spread, &angle);
    const double largest = sqrt(mean + 2 * spread * cos(angle / 3));
    const double least   = sqrt(fmax(mean + 2 * spread * cos((angle + 6.283185307179586) / 3), 0));
    return fmax(fabs(largest - 1), fabs((flx__det3(F) < 0 ? -least : least) - 1));
}

static void strain_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const strain_args* a = user;
    const flx_model*   m = a->s->model;
    for (int64_t e = begin; e < end; ++e)
    {
        double F[9];
        flx__deformation_gradient(m, a->s->x, (int32_t)e, F);
        if (a->ratio) a->ratio[e] = flx__det3(F);
        if (a->strain) a->strain[e] = largest_strain(F);
    }
}

void flx_state_tet_strain(const flx_state* s, double* strain, double* volume_ratio)
{
    strain_args a = {s, strain, volume_ratio};
    flx__parallel_for(s->ctx, s->model->tet_count, 2048, strain_range, &a);
}

void flx__deformation_gradient(const flx_model* m, const double* x, int32_t e, double F[9])
{
    const int32_t* v = m->tet + 4 * (int64_t)e;
    double         ds[9];
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) ds[3 * i + j] = x[3 * (int64_t)v[j + 1] + i] - x[3 * (int64_t)v[0] + i];
    flx__mul3(ds, m->rest_inv + 9 * (int64_t)e, F);
}

int64_t flx_state_bytes(const flx_state* s)
{
    return s->bytes + 3 * (int64_t)sizeof(uint64_t);
}

void flx_state_write(const flx_state* s, void* out)
{
    const uint64_t head[3] = {STATE_MAGIC, s->model->hash, (uint64_t)s->bytes};
    memcpy(out, head, sizeof head);
    memcpy((char*)out + sizeof head, s->block, (size_t)s->bytes);
}

flx_status flx_state_read(flx_context* ctx, flx_state* s, const void* data, int64_t bytes)
{
    uint64_t head[3];
    if (bytes < (int64_t)sizeof head)
        return flx__fail(ctx, FLX_ERR_FORMAT, "a state of %lld bytes is cut off", (long long)bytes);
    memcpy(head, data, sizeof head);
    if (head[0] != STATE_MAGIC) return flx__fail(ctx, FLX_ERR_FORMAT, "this is not a state of this version of Flexor");
    if (head[1] != s->model->hash)
        return flx__fail(
            ctx, FLX_ERR_FORMAT,
            "the state belongs to another model (%016llx, this one is %016llx): was the scene or a mesh changed?",
            (unsigned long long)head[1], (unsigned long long)s->model->hash);
    if (head[2] != (uint64_t)s->bytes || bytes != flx_state_bytes(s))
        return flx__fail(ctx, FLX_ERR_FORMAT, "a state of %lld bytes was expected, %lld were given",
                         (long long)flx_state_bytes(s), (long long)bytes);
    memcpy(s->block, (const char*)data + sizeof head, (size_t)s->bytes);
    return FLX_OK;
}
