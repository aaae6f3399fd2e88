// A contact region for scenes that name none: bend the skin with the bones, without any solve, and see where it meets
// itself.
//
// Each surface vertex follows a blend of the bones' rigid motions, weights falling with the distance to the bone (power
// 4); rotations are blended as quaternions, which keeps the skin from collapsing at the joint. At sampled times a
// vertex is hit when the winding number of the whole skin a little outside of it says "inside": something else of the
// body is there. Against obstacles a vertex is hit when it comes nearer than the reach. All hits over time, grown by
// three cells, or by two edges of the skin where that is coarser, are the region. Bodies without bones are hit
// everywhere against obstacles, nowhere against themselves.
#include "model/model.h"

#include "math/mat3.h"
#include "mesh/shape.h"

#include <string.h>

#define SAMPLED_TIMES 24
#define GROW_CELLS 3.0
#define GROW_EDGES 2.0
#define REACH_CELLS 2.0

typedef struct bone_pose
{
    double q[4], R[9], t[3];
} bone_pose;

static void to_quaternion(const double R[9], double q[4])
{
    const double trace = R[0] + R[4] + R[8];
    if (trace > 0)
    {
        const double s = 2 * sqrt(trace + 1);
        q[0] = 0.25 * s, q[1] = (R[7] - R[5]) / s, q[2] = (R[2] - R[6]) / s, q[3] = (R[3] - R[1]) / s;
        return;
    }
    const int    i = R[0] > R[4] ? (R[0] > R[8] ? 0 : 2) : (R[4] > R[8] ? 1 : 2), j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = 2 * sqrt(fmax(1 + R[4 * i] - R[4 * j] - R[4 * k], 1e-30));
    q[0]           = (R[3 * k + j] - R[3 * j + k]) / s;
    q[1 + i] = 0.25 * s, q[1 + j] = (R[3 * j + i] + R[3 * i + j]) / s, q[1 + k] = (R[3 * k + i] + R[3 * i + k]) / s;
}

static void rotate_by(const double q[4], const double v[3], double out[3])
{
    double a[3], b[3];
    flx__cross3(q + 1, v, a);
    for (int c = 0; c < 3; ++c) a[c] += q[0] * v[c];
    flx__cross3(q + 1, a, b);
    for (int c = 0; c < 3; ++c) out[c] = v[c] + 2 * b[c];
}

typedef struct skin_args
{
    const flx_model*        m;
    const flx_body*         b;
    int32_t                 bone_count; // bones attached to the body
    const float*            weight;     // [surface vertex][bone_count]
    const bone_pose*        pose;       // [bone_count]
    const double*           normal;     // [surface vertex][3]
    double*                 x;          // [surface vertex][3] out
    double*                 n;          // [surface vertex][3] out
    const flx_triangle_bvh* bent;
    const flx_solid*        solid;
    flx_obstacle_pose       solid_pose;
    double                  off, reach;
    uint8_t*                hit;
} skin_args;

/// Blend: the rotation is the normalised sum of quaternions, the place the weighted sum of the rigid images.
static void bend(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    skin_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        const double* rest = a->m->surface_rest + 3 * (a->b->surface_vertex_first + i);
        double*       x    = a->x + 3 * i;
        double        q[4] = {0};
        x[0] = x[1] = x[2] = 0;
        for (int32_t k = 0; k < a->bone_count; ++k)
        {
            const double     w    = (double)a->weight[i * a->bone_count + k];
            const bone_pose* p    = &a->pose[k];
            const double     sign = p->q[0] * a->pose[0].q[0] + p->q[1] * a->pose[0].q[1] + p->q[2] * a->pose[0].q[2] +
                                p->q[3] * a->pose[0].q[3];
            double image[3];
            flx__pose_apply(p->R, p->t, rest, image);
            for (int c = 0; c < 4; ++c) q[c] += (sign < 0 ? -w : w) * p->q[c];
            for (int c = 0; c < 3; ++c) x[c] += w * image[c];
        }
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int c = 0; c < 4; ++c) q[c] = size > 0 ? q[c] / size : c == 0;
        rotate_by(q, a->normal + 3 * i, a->n + 3 * i);
    }
}

static void meet_itself(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    skin_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        if (a->hit[i]) continue;
        double p[3];
        for (int c = 0; c < 3; ++c) p[c] = a->x[3 * i + c] + a->off * a->n[3 * i + c];
        a->hit[i] = flx__triangle_bvh_winding(a->bent, p) > 0.5;
    }
}

static void meet_solid(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    skin_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        double local[3];
        flx__pose_undo(a->solid_pose.R, a->solid_pose.t, a->x + 3 * i, local);
        a->hit[i] |= flx__solid_distance(a->solid, local, NULL) < a->reach;
    }
}

static flx_status bone_weights(flx_model* m, const flx_body* b, int32_t bone_count, const int32_t* bone, float* weight)
{
    flx_status status = FLX_OK;
    for (int32_t k = 0; k < bone_count; ++k)
    {
        flx_solid* solid = NULL;
        FLX_TRY(flx__solid_create(m->ctx, &m->scene->bone[bone[k]].shape, &solid));
        for (int32_t i = 0; i < b->surface_vertex_count; ++i)
        {
            const double d =
                fmax(flx__solid_distance(solid, m->surface_rest + 3 * ((int64_t)b->surface_vertex_first + i), NULL),
                     1e-3 * b->cell);
            weight[(int64_t)i * bone_count + k] = (float)(1 / (d * d * d * d * 1e8));
        }
        flx__solid_destroy(solid);
    }
    for (int32_t i = 0; i < b->surface_vertex_count; ++i)
    {
        float sum = 0;
        for (int32_t k = 0; k < bone_count; ++k) sum += weight[(int64_t)i * bone_count + k];
        for (int32_t k = 0; k < bone_count; ++k) weight[(int64_t)i * bone_count + k] /= sum;
    }
done:
    return status;
}

/// Hit vertices and all within `radius` of one, by a tree over the hit ones.
static flx_status grow(flx_model* m, const flx_body* b, double radius, uint8_t* hit)
{
    flx_status        status = FLX_OK;
    flx_context*      ctx    = m->ctx;
    flx_triangle_bvh* bvh    = NULL;
    int32_t*          point  = NULL; // degenerate triangles: the bvh serves points too
    uint8_t*          grown  = NULL;
    int32_t           count  = 0;
    FLX_NEW(ctx, point, 3 * (int64_t)b->surface_vertex_count);
    FLX_NEW_ZERO(ctx, grown, b->surface_vertex_count);
    for (int32_t i = 0; i < b->surface_vertex_count; ++i)
    {
        if (!hit[i]) continue;
        for (int c = 0; c < 3; ++c) point[3 * count + c] = i;
        ++count;
    }
    if (count == 0) goto done;
    const double* x = m->surface_rest + 3 * (int64_t)b->surface_vertex_first;
    FLX_TRY(flx__triangle_bvh_create(ctx, b->surface_vertex_count, x, count, point, &bvh));
    for (int32_t i = 0; i < b->surface_vertex_count; ++i)
    {
        flx_closest closest;
        grown[i] = flx__triangle_bvh_closest(bvh, x + 3 * (int64_t)i, radius, &closest);
    }
    memcpy(hit, grown, (size_t)b->surface_vertex_count);
done:
    flx__triangle_bvh_destroy(bvh);
    flx__free(ctx, point);
    flx__free(ctx, grown);
    return status;
}

/// Mean edge of the triangles that have a hit corner, m at rest; 0 without any. local [surface triangle][3]
static double mean_hit_edge(const flx_model* m, const flx_body* b, const int32_t* local, const uint8_t* hit)
{
    const double* x     = m->surface_rest + 3 * (int64_t)b->surface_vertex_first;
    double        sum   = 0;
    int64_t       count = 0;
    for (int32_t t = 0; t < b->surface_triangle_count; ++t)
    {
        const int32_t* v = local + 3 * (int64_t)t;
        if (!hit[v[0]] && !hit[v[1]] && !hit[v[2]]) continue;
        for (int c = 0; c < 3; ++c, ++count)
            sum += flx__distance3(x + 3 * (int64_t)v[c], x + 3 * (int64_t)v[(c + 1) % 3]);
    }
    return count > 0 ? sum / (double)count : 0;
}

flx_status flx__propose_region(flx_build* build, int32_t contact, uint8_t* hit)
{
    flx_status              status     = FLX_OK;
    flx_model*              m          = build->model;
    flx_context*            ctx        = m->ctx;
    const flx_scene*        scene      = m->scene;
    const flx_contact_desc* d          = &scene->contact[contact];
    const flx_body*         b          = &m->body[d->body];
    int32_t*                bone       = NULL;
    int32_t                 bone_count = 0;
    float*                  weight     = NULL;
    bone_pose*              pose       = NULL;
    int32_t*                local      = NULL;
    flx_triangle_bvh*       bent       = NULL;
    skin_args               a = {.m = m, .b = b, .off = 0.5 * b->cell, .reach = REACH_CELLS * b->cell, .hit = hit};

    FLX_NEW(ctx, bone, scene->bone_count);
    for (int32_t i = 0; i < scene->attach_count; ++i)
        for (int32_t k = 0; scene->attach[i].body == d->body && k < scene->attach[i].bone_count; ++k)
        {
            bool known = false;
            for (int32_t j = 0; j < bone_count; ++j) known = known || bone[j] == scene->attach[i].bone[k];
            if (!known) bone[bone_count++] = scene->attach[i].bone[k];
        }
    if (bone_count == 0)
    {
        memset(hit, !d->self, (size_t)b->surface_vertex_count);
        goto done;
    }

    FLX_NEW(ctx, weight, (int64_t)b->surface_vertex_count * bone_count);
    FLX_NEW(ctx, pose, bone_count);
    FLX_NEW(ctx, a.x, 3 * (int64_t)b->surface_vertex_count);
    FLX_NEW(ctx, a.n, 3 * (int64_t)b->surface_vertex_count);
    double* normal = flx__alloc_zero(ctx, 3 * (int64_t)b->surface_vertex_count, sizeof *normal);
    a.normal       = normal;
    FLX_NEW(ctx, local, 3 * (int64_t)b->surface_triangle_count);
    if (!normal)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    for (int64_t k = 0; k < 3 * (int64_t)b->surface_triangle_count; ++k)
        local[k] = m->surface_triangle[3 * (int64_t)b->surface_triangle_first + k] - b->surface_vertex_first;
    flx__vertex_normals(b->surface_vertex_count, m->surface_rest + 3 * (int64_t)b->surface_vertex_first,
                        b->surface_triangle_count, local, normal);
    FLX_TRY(bone_weights(m, b, bone_count, bone, weight));
    a.bone_count = bone_count, a.weight = weight, a.pose = pose;

    const double last = scene->run.frames / scene->run.fps;
    for (int32_t s = 1; s <= SAMPLED_TIMES; ++s)
    {
        FLX_TRY(flx__build_progress(build, "proposing a contact region", 0.4 + 0.1 * s / SAMPLED_TIMES));
        const double time = last * s / SAMPLED_TIMES;
        for (int32_t k = 0; k < bone_count; ++k)
        {
            flx_scene_bone_pose(scene, bone[k], time, pose[k].R, pose[k].t);
            to_quaternion(pose[k].R, pose[k].q);
        }
        flx__parallel_for(ctx, b->surface_vertex_count, 1024, bend, &a);
        if (d->self)
        {
            FLX_TRY(
                flx__triangle_bvh_create(ctx, b->surface_vertex_count, a.x, b->surface_triangle_count, local, &bent));
            a.bent = bent;
            flx__parallel_for(ctx, b->surface_vertex_count, 256, meet_itself, &a);
            flx__triangle_bvh_destroy(bent);
            bent = NULL;
        }
        else
        {
            a.solid = m->solid[d->obstacle];
            flx_scene_obstacle_pose(scene, d->obstacle, time, a.solid_pose.R, a.solid_pose.t);
            flx__parallel_for(ctx, b->surface_vertex_count, 1024, meet_solid, &a);
        }
    }
    FLX_TRY(grow(m, b, fmax(GROW_CELLS * b->cell, GROW_EDGES * mean_hit_edge(m, b, local, hit)), hit));
    int32_t count = 0;
    for (int32_t i = 0; i < b->surface_vertex_count; ++i) count += hit[i];
    flx__log(ctx, FLX_LOG_NOTICE,
             "contact[%d]: a region of %d of %d surface vertices was proposed from the bones' motion", contact, count,
             b->surface_vertex_count);

done:
    flx__triangle_bvh_destroy(bent);
    flx__free(ctx, bone);
    flx__free(ctx, weight);
    flx__free(ctx, pose);
    flx__free(ctx, local);
    flx__free(ctx, a.x);
    flx__free(ctx, a.n);
    flx__free(ctx, (void*)a.normal);
    return status;
}
