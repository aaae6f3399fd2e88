// Self contact of cloth.
//
// Cloth is thin: nothing lies inside it, so what a pair of its parts must not do is change sides. Pairs are
//   a vertex p and a point y of the surface, nearest to p among its neighbours: in a triangle, on an edge, at a vertex;
//   two edges that cross at a distance, with both surfaces bent away from the other: ridge against ridge.
// No other point of two surfaces is nearer than these, so rows are few: a vertex over a flat layer has one.
//
//   n = +-(p - y) / |p - y|,   gap = +-|p - y| - kept,   - when p is not on its side
//
// Which side that is, motion tells, not place: within a step everything moves straight from where the step began, and a
// pair has changed sides when an odd number of triangles next to y passed through p on the way (cloth_pairs.c). So a
// vertex that went through is pulled back, however far it got. Where a step ends with vertices on the wrong side, these
// pairs are remembered. A vertex beyond the rim of a surface has no side: it may go round.
//
// kept is the offset, but at most two thirds of the pair's distance at rest: cloth of cells smaller than its
// thickness, or with layers that lie close, does not push itself apart, flat or bent.
//
// Based on [Bridson02] for the pairs and on [Provot97] for the passing. Differs: sides by passing alone; only nearest
// features; rows for the exact contact solve instead of impulses.
#include "contact/cloth_contact_internal.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define KEPT 0.66667 // of a pair's distance at rest: as near as it may come
#define JOINED 1e-6  // of the offset: pairs nearer than this at rest are sewn together
#define POINT_GRAIN 64
#define EDGE_GRAIN 128

// --- create ------------------------------------------------------------------------------------------------

static flx_status check(flx_context* ctx, const flx_cloth_contact_desc* d)
{
    if (!(d->offset > 0 && d->offset < INFINITY) || !(d->margin >= 0 && d->margin < INFINITY) ||
        !(d->depth >= 0 && d->depth < INFINITY))
        return flx__fail(ctx, FLX_ERR_SETTING,
                         "self contact of cloth: offset = %g m must be positive, margin = %g m and depth = %g m must "
                         "not be negative",
                         d->offset, d->margin, d->depth);
    for (int64_t k = 0; k < 3 * (int64_t)d->triangle_count; ++k)
        if (d->triangle[k] < 0 || d->triangle[k] >= d->vertex_count)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "self contact of cloth: vertex %d must be in [0, %d)",
                             d->triangle[k], d->vertex_count);
    return FLX_OK;
}

static void forget(flx_cloth_contact* c)
{
    c->travelled = 0;
    for (int32_t i = 0; i < c->desc.point_count + c->top.edge_count; ++i) c->clear[i] = c->spent[i] = 0;
}

flx_status flx__cloth_contact_create(flx_context* ctx, const flx_cloth_contact_desc* desc, flx_cloth_contact** out)
{
    flx_status         status = FLX_OK;
    flx_cloth_contact* c      = NULL;

    *out = NULL;
    FLX_TRY(check(ctx, desc));
    FLX_NEW_ZERO(ctx, c, 1);
    c->ctx  = ctx;
    c->desc = *desc;
    FLX_TRY(flx__cloth_topology_create(ctx, desc->vertex_count, desc->triangle_count, desc->triangle,
                                       "self contact of cloth", 0, &c->top));
    const int32_t triangles = desc->triangle_count, edges = c->top.edge_count;
    const int32_t points = FLX_CLOTH_PARTNERS * desc->point_count;
    if (desc->proxy_count != points + edges)
    {
        status = flx__fail(ctx, FLX_ERR_ARGUMENT, "self contact of cloth: %d proxies were given, %d are wanted",
                           desc->proxy_count, points + edges);
        goto done;
    }
    FLX_NEW(ctx, c->box, 4 * ((int64_t)triangles + edges));
    FLX_NEW(ctx, c->search, triangles > edges ? triangles : edges);
    FLX_NEW(ctx, c->sharp, edges);
    FLX_NEW(ctx, c->found, desc->proxy_count);
    FLX_NEW(ctx, c->last, 3 * (int64_t)desc->vertex_count);
    FLX_NEW(ctx, c->clear, (int64_t)desc->point_count + edges);
    FLX_NEW(ctx, c->spent, (int64_t)desc->point_count + edges);
    memcpy(c->last, desc->x_rest, 3 * sizeof(double) * (size_t)desc->vertex_count);
    forget(c);
    for (int32_t i = 0; i < triangles || i < edges; ++i) c->search[i] = i;
    for (int64_t t = 0; t < triangles; ++t)
        for (int k = 0; k < 4; ++k) c->box[4 * t + k] = c->top.corner[3 * t + k % 3];
    for (int64_t e = 0; e < edges; ++e)
        for (int k = 0; k < 4; ++k) c->box[4 * (triangles + e) + k] = c->top.edge[2 * e + k % 2];
    FLX_TRY(flx__deformed_bvh_create(ctx, desc->x_rest, c->box, triangles, c->search, &c->triangles));
    FLX_TRY(flx__deformed_bvh_create(ctx, desc->x_rest, c->box + 4 * (int64_t)triangles, edges, c->search, &c->edges));
    *out = c;
    c    = NULL;
done:
    flx__cloth_contact_destroy(c);
    return status;
}

void flx__cloth_contact_destroy(flx_cloth_contact* c)
{
    if (!c) return;
    flx__deformed_bvh_destroy(c->triangles);
    flx__deformed_bvh_destroy(c->edges);
    flx__cloth_topology_release(c->ctx, &c->top);
    flx__free(c->ctx, c->box);
    flx__free(c->ctx, c->search);
    flx__free(c->ctx, c->sharp);
    flx__free(c->ctx, c->found);
    flx__free(c->ctx, c->last);
    flx__free(c->ctx, c->clear);
    flx__free(c->ctx, c->spent);
    flx__free(c->ctx, c);
}

int64_t flx__cloth_contact_memory(const flx_cloth_contact* c)
{
    return FLX_CLOTH_PARTNERS * (int64_t)c->desc.point_count;
}

double flx__cloth_kept(const flx_cloth_contact* c, double rest)
{
    return rest < JOINED * c->desc.offset ? 0 : fmin(c->desc.offset, KEPT * rest);
}

// --- find -------------------------------------------------------------------------------------------

typedef struct find_args
{
    flx_cloth_motion m;
    const double*    memory;
    flx_contact*     out; // [proxy_count] one place a proxy, closed up afterwards
} find_args;

typedef struct settle_args
{
    flx_cloth_motion m;
    double*          memory;
} settle_args;

static void find_points(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const find_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        flx_cloth_pair place[FLX_CLOTH_PARTNERS];
        flx__cloth_point(&a->m, (int32_t)i, a->memory + FLX_CLOTH_PARTNERS * i, place);
        for (int k = 0; k < FLX_CLOTH_PARTNERS; ++k)
        {
            const int64_t proxy      = FLX_CLOTH_PARTNERS * i + k;
            a->m.cloth->found[proxy] = place[k].contact.partner >= 0;
            if (!a->m.cloth->found[proxy]) continue;
            a->out[proxy]       = place[k].contact;
            a->out[proxy].proxy = (int32_t)proxy;
        }
    }
}

static void settle_points(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const settle_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        flx_cloth_pair place[FLX_CLOTH_PARTNERS];
        double*        memory = a->memory + FLX_CLOTH_PARTNERS * i;
        flx__cloth_point(&a->m, (int32_t)i, memory, place);
        for (int k = 0; k < FLX_CLOTH_PARTNERS; ++k) memory[k] = place[k].contact.partner >= 0 ? place[k].memory : 0;
    }
}

static void mark_sharp(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const find_args* a = user;
    for (int64_t e = begin; e < end; ++e) a->m.cloth->sharp[e] = flx__cloth_sharp(a->m.cloth, a->m.x, (int32_t)e);
}

static void find_edges(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const find_args*   a     = user;
    flx_cloth_contact* c     = a->m.cloth;
    const int64_t      first = flx__cloth_contact_memory(c);
    for (int64_t e = begin; e < end; ++e)
    {
        flx_contact* out = &a->out[first + e];
        flx__cloth_edge(&a->m, (int32_t)e, out);
        out->proxy          = (int32_t)(first + e);
        c->found[first + e] = out->partner >= 0;
    }
}

/// Adds to what was travelled the way of all vertices to x: the largest one, seen from the mean one, since what moves
/// together comes no nearer.
static void travel(flx_cloth_contact* c, const double* x)
{
    const int32_t n       = c->desc.vertex_count;
    double        mean[3] = {0}, largest = 0;
    for (int32_t i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k) mean[k] += (x[3 * (int64_t)i + k] - c->last[3 * (int64_t)i + k]) / n;
    for (int32_t i = 0; i < n; ++i)
    {
        double sum = 0;
        for (int k = 0; k < 3; ++k)
        {
            const int64_t at  = 3 * (int64_t)i + k;
            const double  way = x[at] - c->last[at] - mean[k];
            sum += way * way;
            c->last[at] = x[at];
        }
        if (!(sum <= largest)) largest = sum;
    }
    c->travelled += sqrt(largest);
    if (!isfinite(c->travelled)) forget(c);
}

bool flx__cloth_clear(const flx_cloth_contact* c, int32_t which)
{
    const double reach = c->desc.margin + c->desc.offset;
    return c->clear[which] - 2 * (c->travelled - c->spent[which]) > (1 + FLX_CLOTH_ROUNDING) * reach;
}

void flx__cloth_searched(flx_cloth_contact* c, int32_t which, double distance)
{
    c->clear[which] = distance;
    c->spent[which] = c->travelled;
}

double flx__cloth_way(const flx_cloth_motion* m, int count, const int32_t* vertex, int other_count,
                      const int32_t* other)
{
    double longest = 0;
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < other_count; ++j)
        {
            const double *p = flx__cloth_at(m->x, vertex[i]), *p0 = flx__cloth_at(m->from, vertex[i]),
                         *q = flx__cloth_at(m->x, other[j]), *q0 = flx__cloth_at(m->from, other[j]);
            double way[3];
            for (int k = 0; k < 3; ++k) way[k] = p[k] - p0[k] - q[k] + q0[k];
            longest = fmax(longest, flx__dot3(way, way));
        }
    return sqrt(longest);
}

void flx__cloth_contact_begin(flx_cloth_contact* c, const double* from)
{
    c->from = from;
    travel(c, from);
}

int32_t flx__cloth_contact_find(flx_cloth_contact* c, const double* x, const double* memory, flx_contact* out)
{
    find_args args = {{c, c->from, x}, memory, out};
    travel(c, x);
    flx__deformed_bvh_refit_swept(c->triangles, c->from, x);
    flx__deformed_bvh_refit_swept(c->edges, c->from, x);
    flx__parallel_for(c->ctx, c->desc.point_count, POINT_GRAIN, find_points, &args);
    flx__parallel_for(c->ctx, c->top.edge_count, EDGE_GRAIN, mark_sharp, &args);
    flx__parallel_for(c->ctx, c->top.edge_count, EDGE_GRAIN, find_edges, &args);

    int32_t count = 0;
    for (int32_t i = 0; i < c->desc.proxy_count; ++i)
    {
        if (!c->found[i]) continue;
        if (count != i) out[count] = out[i];
        ++count;
    }
    return count;
}

void flx__cloth_contact_settle(flx_cloth_contact* c, const double* x, double* memory)
{
    settle_args args = {{c, c->from, x}, memory};
    travel(c, x);
    flx__deformed_bvh_refit_swept(c->triangles, c->from, x);
    flx__parallel_for(c->ctx, c->desc.point_count, POINT_GRAIN, settle_points, &args);
}
