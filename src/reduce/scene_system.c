#include "reduce/scene_system.h"

#include "solver/air.h"
#include "solver/solver_internal.h"

#include <math.h>
#include <string.h>

#define LEAST_MASS 1e-6 // of the mean

static bool comes_and_goes(const flx_model* m)
{
    for (int32_t i = 0; i < m->spring_count; ++i)
        if (m->spring[i].from > 0 || m->spring[i].until >= 0) return true;
    return false;
}

flx_status flx__scene_system_check(const flx_scene_system* s, flx_reduction method)
{
    const char* what = s->has_contact     ? "contact"
                       : s->timed         ? "fixes that begin or end"
                       : s->system->still ? "quasi-static scenes"
                                          : NULL;
    if (!what || flx__reduction_in_subspace(method)) return FLX_OK;
    return flx__fail(s->system->ctx, FLX_ERR_UNSUPPORTED,
                     "method '%s' knows no %s, for it holds whole positions: take one in a subspace, such as '%s'",
                     flx__reduction_name(method), what, flx__reduction_name(FLX_REDUCTION_W_SECS));
}

static flx_status copy_batch(flx_context* ctx, const flx_constraint_batch* from, flx_constraint_batch* to)
{
    flx_status    status  = FLX_OK;
    const int64_t entries = from->first[from->count], params = (int64_t)from->count * from->type->params;
    *to = (flx_constraint_batch){.type = from->type, .count = from->count};
    FLX_NEW(ctx, to->first, (int64_t)from->count + 1);
    FLX_NEW(ctx, to->vertex, entries);
    FLX_NEW(ctx, to->coefficient, entries * from->type->rows);
    FLX_NEW(ctx, to->weight, from->count);
    FLX_NEW(ctx, to->param, params);
    memcpy(to->first, from->first, ((size_t)from->count + 1) * sizeof *to->first);
    memcpy(to->vertex, from->vertex, (size_t)entries * sizeof *to->vertex);
    memcpy(to->coefficient, from->coefficient, (size_t)(entries * from->type->rows) * sizeof *to->coefficient);
    memcpy(to->weight, from->weight, (size_t)from->count * sizeof *to->weight);
    memcpy(to->param, from->param, (size_t)params * sizeof *to->param);
done:
    return status;
}

/// E = mu vol |F - R|^2 = w/2 |F^T - p|^2 with w = 2 mu vol, the model's stiffness.
static flx_status tet_batch(flx_context* ctx, const flx_model* m, flx_constraint_batch* out)
{
    flx_status status = flx__tet_strains(ctx, m->x_rest, m->tet_count, m->tet, NULL, 1.0, 1.0, out);
    if (status == FLX_OK) memcpy(out->weight, m->stiffness, (size_t)m->tet_count * sizeof *out->weight);
    return status;
}

/// Where the spring's point shall be: at rest, a spring pulls with nothing whatever its rounding.
static void spring_target(const flx_model* m, const flx_spring* s, const double bone[3], double out[3])
{
    for (int c = 0; c < 3; ++c)
    {
        out[c] = bone[c] - s->rest[c] + s->offset[c];
        for (int k = 0; k < 4; ++k)
            if (s->weight[k] != 0) out[c] += s->weight[k] * m->x_rest[3 * (int64_t)s->vertex[k] + c];
    }
}

static void drop_zeros(flx_constraint_batch* b)
{
    int32_t at = 0, begin = 0;
    for (int32_t j = 0; j < b->count; ++j)
    {
        const int32_t end = b->first[j + 1];
        for (int32_t e = begin; e < end; ++e)
            if (b->coefficient[e] != 0) b->vertex[at] = b->vertex[e], b->coefficient[at++] = b->coefficient[e];
        begin           = end;
        b->first[j + 1] = at;
    }
}

static flx_status spring_batch(flx_context* ctx, const flx_model* m, flx_constraint_batch* out)
{
    flx_status    status = FLX_OK;
    const int64_t count  = m->spring_count;
    int32_t*      vertex = NULL;
    double *      weight = NULL, *target = NULL, *stiffness = NULL;
    FLX_NEW(ctx, vertex, 4 * count);
    FLX_NEW(ctx, weight, 4 * count);
    FLX_NEW(ctx, target, 3 * count);
    FLX_NEW(ctx, stiffness, count);
    for (int64_t i = 0; i < count; ++i)
    {
        const flx_spring* s = &m->spring[i];
        memcpy(vertex + 4 * i, s->vertex, sizeof s->vertex);
        memcpy(weight + 4 * i, s->weight, sizeof s->weight);
        spring_target(m, s, s->rest, target + 3 * i);
        stiffness[i] = s->stiffness;
    }
    FLX_TRY(flx__attachments(ctx, m->spring_count, 4, vertex, weight, target, stiffness, out));
    drop_zeros(out);
done:
    flx__free(ctx, vertex);
    flx__free(ctx, weight);
    flx__free(ctx, target);
    flx__free(ctx, stiffness);
    return status;
}

/// Vertices at a lattice's rim may have no mass, but A and the subspace's metric need some of each.
static flx_status some_mass(flx_context* ctx, const flx_model* m, double** out)
{
    flx_status status = FLX_OK;
    double     sum    = 0;
    FLX_NEW(ctx, *out, m->vertex_count);
    for (int32_t i = 0; i < m->vertex_count; ++i) sum += m->mass[i];
    for (int32_t i = 0; i < m->vertex_count; ++i) (*out)[i] = fmax(m->mass[i], LEAST_MASS * sum / m->vertex_count);
done:
    return status;
}

flx_status flx__scene_system_create(flx_context* ctx, const flx_model* m, flx_scene_system* out)
{
    flx_status            status = FLX_OK;
    flx_constraint_batch* batch  = NULL;
    double*               mass   = NULL;
    int32_t               count  = 0;
    *out                         = (flx_scene_system){.model = m, .attachment = -1};
    const bool still             = m->scene->settings.mode != FLX_MODE_DYNAMIC;
    out->h                       = 1.0 / (m->scene->run.fps * (still ? 1 : m->scene->settings.substeps));
    out->keep                    = still ? 1.0 : exp(-m->scene->settings.damping * out->h);
    out->has_wind                = !still && m->cloth_count > 0 && m->scene->wind.drag > 0;
    out->has_contact             = m->group_count > 0;
    out->timed                   = comes_and_goes(m);
    out->by_engine               = out->has_wind || out->has_contact || out->timed || still;
    if (still && m->scene->settings.proximal <= 0) FLX_TRY(flx__check_held(ctx, m, out->h));
    FLX_NEW_ZERO(ctx, batch, (int64_t)m->batch_count + 2);
    if (m->tet_count > 0) FLX_TRY(tet_batch(ctx, m, &batch[count++]));
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(copy_batch(ctx, &m->batch[b], &batch[count++]));
    if (m->spring_count > 0)
    {
        out->attachment = count;
        FLX_TRY(spring_batch(ctx, m, &batch[count++]));
    }
    FLX_TRY(some_mass(ctx, m, &mass));
    status = still ? flx__pd_system_create_still(ctx, m->vertex_count, m->x_rest, mass, out->h,
                                                 m->scene->settings.proximal, count, batch, &out->system)
                   : flx__pd_system_create(ctx, m->vertex_count, m->x_rest, mass, out->h, count, batch, 0, NULL, 1.0,
                                           &out->system);
done:
    for (int32_t b = 0; batch && b < count; ++b) flx__constraint_batch_release(ctx, &batch[b]);
    flx__free(ctx, batch);
    flx__free(ctx, mass);
    return status;
}

void flx__scene_system_release(flx_scene_system* s)
{
    flx__pd_system_destroy(s->system);
    *s = (flx_scene_system){0};
}

// --- what drives it -------------------------------------------------------------------------------------------------

static void add_forces(void* user, int32_t frame, double* f)
{
    const flx_scene_system* s    = user;
    const flx_model*        m    = s->model;
    const double            time = frame * s->h;
    for (int64_t k = 0; k < 3 * (int64_t)m->vertex_count; ++k) f[k] += m->mass[k / 3] * m->scene->gravity[k % 3];
    for (int32_t l = 0; l < m->load_count; ++l)
    {
        const flx_load* load = &m->load[l];
        if (time < load->from || (load->until >= 0 && time >= load->until)) continue;
        for (int32_t i = 0; i < load->count; ++i)
            for (int c = 0; c < 3; ++c) f[3 * (int64_t)load->vertex[i] + c] += load->share[c];
    }
    if (s->has_wind) flx__air_forces(m, s->h, s->x, s->v, f);
}

static void move_targets(void* user, int32_t frame, double* place)
{
    const flx_scene_system* s    = user;
    const flx_model*        m    = s->model;
    int32_t                 last = -1;
    double                  R[9], t[3];
    (void)place; // no vertex is held but by springs
    for (int32_t i = 0; i < m->spring_count; ++i)
    {
        const flx_spring* spring = &m->spring[i];
        double            bone[3];
        memcpy(bone, spring->rest, sizeof bone);
        if (spring->bone >= 0)
        {
            if (spring->bone != last) flx_scene_bone_pose(m->scene, spring->bone, frame * s->h, R, t);
            last = spring->bone;
            for (int c = 0; c < 3; ++c)
                bone[c] =
                    R[3 * c] * spring->rest[0] + R[3 * c + 1] * spring->rest[1] + R[3 * c + 2] * spring->rest[2] + t[c];
        }
        spring_target(m, spring, bone, s->system->batch[s->attachment].param + 3 * (int64_t)i);
    }
}

static void hold_springs(void* user, int32_t frame, uint8_t* hold)
{
    const flx_scene_system* s = user;
    for (int32_t i = 0; i < s->model->spring_count; ++i)
        hold[i] = flx__spring_active(&s->model->spring[i], frame * s->h);
}

flx_pd_drive flx__scene_system_drive(flx_scene_system* s)
{
    return (flx_pd_drive){.user     = s,
                          .force    = add_forces,
                          .targets  = move_targets,
                          .steady   = s->model->load_count == 0 && !s->has_wind,
                          .hold     = s->timed ? hold_springs : NULL,
                          .inertial = true};
}

int32_t flx__scene_system_steps(const flx_scene_system* s, int32_t frames)
{
    const flx_scene* scene = s->model->scene;
    return (frames > 0 ? frames : scene->run.frames) * (s->system->still ? 1 : scene->settings.substeps);
}

void flx__scene_system_keep(const flx_scene_system* s, flx_pd_state* from, flx_state* to)
{
    const int64_t length = 3 * (int64_t)s->system->n;
    for (int64_t k = 0; k < length; ++k) from->v[k] *= s->keep;
    memcpy(to->x, from->q, (size_t)length * sizeof *to->x);
    memcpy(to->v, from->v, (size_t)length * sizeof *to->v);
    *to->step = from->frame;
    *to->time = from->frame * s->h;
}
