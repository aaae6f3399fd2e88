// The surfaces of a scene's obstacles and bones, one behind the other, and where they are at a time.
//
// A plane has no end; what is recorded of it is a square, PLANE_SIZES times as wide as everything else is large, around
// the point of the plane that is nearest to everything else.
#include "recording/solid_surfaces.h"

#include "math/mat3.h"
#include "mesh/shape.h"

#include <string.h>

#define PLANE_SIZES 4

/// Obstacles, or bones. Arrays as in flx_recording_solids.
typedef struct part
{
    int32_t  count, vertex_count, triangle_count;
    int64_t  vertex_capacity, triangle_capacity, owner_capacity;
    int32_t *shape, *triangle, *owner;
    int32_t* vertex_end; // [count]
    double*  rest;       // [vertex_count][3]
    double*  x;          // [vertex_count][3]
} part;

struct flx__solid_surfaces
{
    flx_context* ctx;
    part         part[FLX__SOLID_KINDS];
};

void flx__solid_surfaces_destroy(flx__solid_surfaces* s)
{
    if (!s) return;
    flx_context* ctx = s->ctx;
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
    {
        flx__free(ctx, s->part[k].shape);
        flx__free(ctx, s->part[k].triangle);
        flx__free(ctx, s->part[k].owner);
        flx__free(ctx, s->part[k].vertex_end);
        flx__free(ctx, s->part[k].rest);
        flx__free(ctx, s->part[k].x);
    }
    flx__free(ctx, s);
}

/// Takes `points` into the box.
static void enclose(int64_t count, const double* points, double low[3], double high[3])
{
    for (int64_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const double v = points[3 * i + k];
            low[k]         = v < low[k] ? v : low[k];
            high[k]        = v > high[k] ? v : high[k];
        }
}

/// Room for one more solid's surface at the end. *vertex and *triangle say where it begins.
static flx_status extend(flx_context* ctx, part* p, int32_t index, int32_t vertices, int32_t triangles, double** x,
                         int32_t** triangle)
{
    flx_status status = FLX_OK;
    FLX_RESERVE(ctx, p->rest, p->vertex_capacity, 3 * ((int64_t)p->vertex_count + vertices));
    FLX_RESERVE(ctx, p->triangle, p->triangle_capacity, 3 * ((int64_t)p->triangle_count + triangles));
    FLX_RESERVE(ctx, p->owner, p->owner_capacity, (int64_t)p->triangle_count + triangles);
    *x        = p->rest + 3 * (int64_t)p->vertex_count;
    *triangle = p->triangle + 3 * (int64_t)p->triangle_count;
    for (int32_t t = 0; t < triangles; ++t) p->owner[p->triangle_count + t] = index;
    p->vertex_count += vertices;
    p->triangle_count += triangles;
    p->vertex_end[index] = p->vertex_count;

done:
    return status;
}

static flx_status append(flx_context* ctx, part* p, int32_t index, const flx_solid* solid)
{
    flx_status status   = FLX_OK;
    double *   x        = NULL, *to;
    int32_t *  triangle = NULL, *to_triangle;
    int32_t    vertices = 0, triangles = 0;

    const int32_t first = p->vertex_count;
    FLX_TRY(flx__solid_surface(ctx, solid, 1, &vertices, &x, &triangles, &triangle));
    FLX_TRY(extend(ctx, p, index, vertices, triangles, &to, &to_triangle));
    memcpy(to, x, 3 * sizeof(double) * (size_t)vertices);
    for (int64_t i = 0; i < 3 * (int64_t)triangles; ++i) to_triangle[i] = first + triangle[i];

done:
    flx__free(ctx, x);
    flx__free(ctx, triangle);
    return status;
}

/// A square 1 m wide.
static flx_status append_plane(flx_context* ctx, part* p, int32_t index, const flx_solid* solid)
{
    const int32_t n        = FLX__PLANE_CELLS;
    flx_status    status   = FLX_OK;
    double *      corner   = NULL, *x;
    int32_t *     triangle = NULL, *to;
    int32_t       corners = 0, triangles = 0;

    const int32_t first = p->vertex_count;
    FLX_TRY(flx__solid_surface(ctx, solid, 1, &corners, &corner, &triangles, &triangle));
    FLX_ASSERT(corners == 4); // -u -v, +u -v, -u +v, +u +v
    FLX_TRY(extend(ctx, p, index, (n + 1) * (n + 1), 2 * n * n, &x, &to));
    for (int32_t j = 0; j <= n; ++j)
        for (int32_t i = 0; i <= n; ++i)
            for (int k = 0; k < 3; ++k)
                *x++ = corner[k] + (corner[3 + k] - corner[k]) * i / n + (corner[6 + k] - corner[k]) * j / n;
    for (int32_t j = 0; j < n; ++j)
        for (int32_t i = 0; i < n; ++i)
        {
            const int32_t a = first + j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t two[6] = {a, b, d, c, a, d};
            memcpy(to, two, sizeof two);
            to += 6;
        }

done:
    flx__free(ctx, corner);
    flx__free(ctx, triangle);
    return status;
}

static int32_t vertex_begin(const part* p, int32_t index)
{
    return index > 0 ? p->vertex_end[index - 1] : 0;
}

/// The square's centre goes to the foot of the perpendicular from `middle`, which is in the world at time 0.
static void centre_plane(part* p, int32_t index, const flx_scene* scene, const double middle[3])
{
    const flx_shape* shape = &scene->obstacle[index].shape;
    double           R[9], t[3], local[3], n[3], away[3];
    flx_scene_obstacle_pose(scene, index, 0, R, t);
    flx__pose_undo(R, t, middle, local);
    const double length = flx__norm3(shape->b);
    for (int k = 0; k < 3; ++k) n[k] = shape->b[k] / length;
    flx__sub3(local, shape->a, away);
    const double height = flx__dot3(away, n);
    for (int32_t v = vertex_begin(p, index); v < p->vertex_end[index]; ++v)
        for (int k = 0; k < 3; ++k) p->rest[3 * (int64_t)v + k] += away[k] - height * n[k];
}

static void pose_of(const flx_scene* scene, flx_solid_kind kind, int32_t i, double time, double R[9], double t[3])
{
    if (kind == FLX_SOLID_BONE)
        flx_scene_bone_pose(scene, i, time, R, t);
    else
        flx_scene_obstacle_pose(scene, i, time, R, t);
}

static flx_status begin_part(flx_context* ctx, part* p, int32_t count)
{
    flx_status status = FLX_OK;
    p->count          = count;
    if (count == 0) return FLX_OK;
    FLX_NEW_ZERO(ctx, p->shape, count);
    FLX_NEW_ZERO(ctx, p->vertex_end, count);

done:
    return status;
}

static flx_status make_bones(flx_context* ctx, part* p, const flx_scene* scene)
{
    flx_status status = FLX_OK;
    flx_solid* solid  = NULL;
    FLX_TRY(begin_part(ctx, p, scene->bone_count));
    for (int32_t i = 0; i < p->count; ++i)
    {
        p->shape[i] = (int32_t)scene->bone[i].shape.kind;
        FLX_TRY(flx__solid_create(ctx, &scene->bone[i].shape, &solid));
        FLX_TRY(append(ctx, p, i, solid));
        flx__solid_destroy(solid);
        solid = NULL;
    }

done:
    flx__solid_destroy(solid);
    return status;
}

static flx_status make_obstacles(flx_context* ctx, part* p, const flx_model* model)
{
    const flx_scene* scene  = model->scene;
    flx_status       status = FLX_OK;
    double           low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double           middle[3] = {0, 0, 0}, R[9], t[3], span[3] = {0, 0, 0};

    FLX_TRY(begin_part(ctx, p, model->solid_count));
    for (int32_t i = 0; i < p->count; ++i)
    {
        p->shape[i] = (int32_t)scene->obstacle[i].shape.kind;
        if (scene->obstacle[i].shape.kind == FLX_SHAPE_PLANE)
        {
            FLX_TRY(append_plane(ctx, p, i, model->solid[i]));
            continue;
        }
        FLX_TRY(append(ctx, p, i, model->solid[i]));
        flx_scene_obstacle_pose(scene, i, 0, R, t);
        for (int32_t v = vertex_begin(p, i); v < p->vertex_end[i]; ++v)
        {
            double x[3];
            flx__pose_apply(R, t, p->rest + 3 * (int64_t)v, x);
            enclose(1, x, low, high);
        }
    }
    enclose(model->surface_vertex_count, model->surface_rest, low, high);
    for (int k = 0; k < 3; ++k)
        if (low[k] <= high[k]) middle[k] = 0.5 * (low[k] + high[k]), span[k] = high[k] - low[k];
    const double size = flx__norm3(span) > 0 ? PLANE_SIZES * flx__norm3(span) : 1;
    for (int32_t i = 0; i < p->count; ++i)
    {
        if (scene->obstacle[i].shape.kind != FLX_SHAPE_PLANE) continue;
        const double* a = scene->obstacle[i].shape.a;
        for (int32_t v = vertex_begin(p, i); v < p->vertex_end[i]; ++v) // it was made 1 m wide around a
            for (int k = 0; k < 3; ++k)
                p->rest[3 * (int64_t)v + k] = a[k] + size * (p->rest[3 * (int64_t)v + k] - a[k]);
        centre_plane(p, i, scene, middle);
    }

done:
    return status;
}

flx_status flx__solid_surfaces_create(flx_context* ctx, const flx_model* model, flx__solid_surfaces** out)
{
    flx_status           status = FLX_OK;
    flx__solid_surfaces* s      = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, s, 1);
    s->ctx = ctx;
    FLX_TRY(make_obstacles(ctx, &s->part[FLX_SOLID_OBSTACLE], model));
    FLX_TRY(make_bones(ctx, &s->part[FLX_SOLID_BONE], model->scene));
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        if (s->part[k].vertex_count > 0) FLX_NEW(ctx, s->part[k].x, 3 * (int64_t)s->part[k].vertex_count);
    *out = s;
    s    = NULL;

done:
    flx__solid_surfaces_destroy(s);
    return status;
}

flx_recording_solids flx__solid_surfaces_get(const flx__solid_surfaces* s, flx_solid_kind kind)
{
    const part* p = &s->part[kind];
    return (flx_recording_solids){.count          = p->count,
                                  .vertex_count   = p->vertex_count,
                                  .triangle_count = p->triangle_count,
                                  .shape          = p->shape,
                                  .triangles      = p->triangle,
                                  .triangle_solid = p->owner,
                                  .rest           = p->rest};
}

const double* flx__solid_surfaces_at(flx__solid_surfaces* s, const flx_scene* scene, flx_solid_kind kind, double time)
{
    part*  p = &s->part[kind];
    double R[9], t[3];
    for (int32_t i = 0, v = 0; i < p->count; ++i)
    {
        pose_of(scene, kind, i, time, R, t);
        for (; v < p->vertex_end[i]; ++v) flx__pose_apply(R, t, p->rest + 3 * (int64_t)v, p->x + 3 * (int64_t)v);
    }
    return p->x;
}
