// Attachments and loads: springs from bones and fixed places, forces on regions. Built in the user's numbering;
// compile.c renumbers.
#include "model/model.h"

#include "math/mat3.h"
#include "mesh/shape.h"

#include <string.h>

/// Held vertices of a fixed region without a given stiffness: stiff against the element around them.
static double automatic_fix_stiffness(const flx_body* b)
{
    return flx__body_stiffness(b, 200);
}

static flx_status add_spring(flx_context* ctx, flx_model* m, int64_t* capacity, const flx_spring* s)
{
    flx_status status = FLX_OK;
    FLX_RESERVE(ctx, m->spring, *capacity, m->spring_count + 1);
    m->spring[m->spring_count++] = *s;
done:
    return status;
}

/// Cloth is tied where it lies next to the bone, not pulled onto it.
static void nearest_place(const flx_model* m, flx_spring* s)
{
    for (int c = 0; c < 3; ++c)
    {
        s->rest[c] = 0;
        for (int k = 0; k < 4; ++k) s->rest[c] += s->weight[k] * m->user_rest[3 * (int64_t)s->vertex[k] + c];
    }
}

static flx_status attach_bones(flx_model* m, int32_t index, int64_t* capacity)
{
    const flx_attach_desc* d      = &m->scene->attach[index];
    flx_status             status = FLX_OK;
    flx_context*           ctx    = m->ctx;
    const flx_scene*       scene  = m->scene;
    flx_solid**            solid  = NULL;
    double*                point  = NULL;
    const flx_body*        b      = &m->body[d->body];
    const double           reach  = b->is_cloth ? b->cell : 1e-9 * m->size;
    double                 area   = 0;
    int32_t                used = 0, outside = 0;

    FLX_NEW_ZERO(ctx, solid, d->bone_count);
    FLX_NEW(ctx, point, 3 * (int64_t)d->points);
    for (int32_t i = 0; i < d->bone_count; ++i)
    {
        FLX_TRY(flx__solid_create(ctx, &scene->bone[d->bone[i]].shape, &solid[i]));
        area += flx__solid_area(solid[i]);
    }
    for (int32_t i = 0; i < d->bone_count; ++i)
    {
        const int32_t count =
            i + 1 == d->bone_count ? d->points - used : (int32_t)(d->points * flx__solid_area(solid[i]) / area);
        used += count;
        FLX_TRY(flx__solid_sample(ctx, solid[i], count, point));
        for (int32_t k = 0; k < count; ++k)
        {
            const double* p = point + 3 * (int64_t)k;
            flx_spring    s = {.stiffness = d->stiffness, .bone = d->bone[i], .from = 0, .until = -1};
            if (!(flx__body_corners(m, d->body, p, -1, s.vertex, s.weight) <= reach))
            {
                ++outside; // the bone sticks out of the flesh here
                continue;
            }
            memcpy(s.rest, p, sizeof s.rest);
            if (b->is_cloth) nearest_place(m, &s);
            FLX_TRY(add_spring(ctx, m, capacity, &s));
        }
    }
    if (outside == d->points)
        status =
            flx__fail(ctx, FLX_ERR_SCENE, "attach[%d]: none of the %d points on the bones lies %s body '%s'", index,
                      d->points, b->is_cloth ? "within one mean edge of" : "inside", scene->body[d->body].name);
    else if (outside > 0)
        flx__log(ctx, FLX_LOG_NOTICE, "attach[%d]: %d of %d points on the bones lie outside body '%s' and hold nothing",
                 index, outside, d->points, scene->body[d->body].name);
done:
    for (int32_t i = 0; solid && i < d->bone_count; ++i) flx__solid_destroy(solid[i]);
    flx__free(ctx, solid);
    flx__free(ctx, point);
    return status;
}

/// used [user_vertex_count]: an element uses the vertex
static flx_status fix_region(flx_model* m, int32_t index, const uint8_t* used, int64_t* capacity)
{
    const flx_fix_desc* d      = &m->scene->fix[index];
    flx_status          status = FLX_OK;
    flx_context*        ctx    = m->ctx;
    const flx_body*     b      = &m->body[d->body];
    int32_t             held = 0, unused = 0;
    for (int32_t v = b->vertex_first; v < b->vertex_first + b->vertex_count; ++v)
    {
        const double* p = m->user_rest + 3 * (int64_t)v;
        if (!flx__shape_contains(&d->region, p)) continue;
        if (!used[v])
        {
            ++unused;
            continue;
        }
        flx_spring s = {.stiffness = d->stiffness > 0 ? d->stiffness : automatic_fix_stiffness(b),
                        .bone      = d->carried ? d->bone : -1,
                        .from      = d->from,
                        .until     = d->until};
        for (int c = 0; c < 4; ++c) s.vertex[c] = v;
        s.weight[0] = 1;
        memcpy(s.rest, p, sizeof s.rest);
        FLX_TRY(add_spring(ctx, m, capacity, &s));
        ++held;
    }
    if (unused && !m->scene->body[d->body].group)
        flx__log(ctx, FLX_LOG_WARNING,
                 "fix[%d]: %d vertices of body '%s' in the region belong to no element and cannot be held", index,
                 unused, m->scene->body[d->body].name);
    if (held == 0) status = flx__fail_empty_region(m, "fix", index, d->body);
done:
    return status;
}

flx_status flx__build_springs(flx_build* build)
{
    flx_status       status   = FLX_OK;
    flx_model*       m        = build->model;
    const flx_scene* scene    = m->scene;
    int64_t          capacity = 0;
    uint8_t*         used     = NULL;
    FLX_TRY(flx__used_vertices(m, &used));
    for (int32_t i = 0; i < scene->attach_count; ++i) FLX_TRY(attach_bones(m, i, &capacity));
    for (int32_t i = 0; i < scene->fix_count; ++i) FLX_TRY(fix_region(m, i, used, &capacity));
done:
    flx__free(m->ctx, used);
    return status;
}

flx_status flx__build_loads(flx_build* build)
{
    flx_status       status = FLX_OK;
    flx_model*       m      = build->model;
    const flx_scene* scene  = m->scene;
    uint8_t*         used   = NULL;
    FLX_TRY(flx__used_vertices(m, &used));
    if (scene->load_count) FLX_NEW_ZERO(m->ctx, m->load, scene->load_count);
    for (int32_t i = 0; i < scene->load_count; ++i)
    {
        const flx_load_desc* d = &scene->load[i];
        const flx_body*      b = &m->body[d->body];
        flx_load*            l = &m->load[i];
        m->load_count          = i + 1;
        FLX_NEW(m->ctx, l->vertex, b->vertex_count);
        for (int32_t v = b->vertex_first; v < b->vertex_first + b->vertex_count; ++v)
            if (used[v] && flx__shape_contains(&d->region, m->user_rest + 3 * (int64_t)v)) l->vertex[l->count++] = v;
        if (l->count == 0)
        {
            status = flx__fail_empty_region(m, "loads", i, d->body);
            goto done;
        }
        for (int c = 0; c < 3; ++c) l->share[c] = d->force[c] / l->count;
        l->from  = d->from;
        l->until = d->until;
    }
done:
    flx__free(m->ctx, used);
    return status;
}

bool flx__spring_active(const flx_spring* s, double time)
{
    return time >= s->from && (s->until < 0 || time < s->until);
}
