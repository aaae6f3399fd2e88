// Self contact of cloth: an edge against another that it crosses at a distance, ridge against ridge.
#include "contact/cloth_contact_internal.h"

#include "contact/cloth_pairs.h"
#include "math/mat3.h"

#define RIDGE 0.05 // sine of the angle by which both flaps of an edge must bend away

/// Does the surface at the edge bend away from direction n, on both of its flaps?
static bool bends_away(const flx_cloth_contact* c, const double* x, int32_t e, const double n[3])
{
    const double *a = flx__cloth_at(x, c->top.edge[2 * (int64_t)e]),
                 *b = flx__cloth_at(x, c->top.edge[2 * (int64_t)e + 1]);
    double along[3];
    flx__sub3(b, a, along);
    const double length2 = flx__dot3(along, along);
    if (!(length2 > 0)) return false;
    for (int i = 0; i < 2; ++i)
    {
        const int32_t o = c->top.flap[2 * (int64_t)e + i];
        double        u[3];
        if (o < 0) continue;
        flx__sub3(flx__cloth_at(x, o), a, u);
        const double share = flx__dot3(u, along) / length2;
        for (int k = 0; k < 3; ++k) u[k] -= share * along[k];
        if (!(flx__dot3(u, n) >= RIDGE * flx__norm3(u))) return false;
    }
    return true;
}

// The middle between its flaps is the best direction.
bool flx__cloth_sharp(const flx_cloth_contact* c, const double* x, int32_t e)
{
    if (c->top.flap[2 * (int64_t)e + 1] < 0) return true;
    const double *a = flx__cloth_at(x, c->top.edge[2 * (int64_t)e]),
                 *b = flx__cloth_at(x, c->top.edge[2 * (int64_t)e + 1]);
    double along[3], sum[3] = {0};
    flx__sub3(b, a, along);
    const double length2 = flx__dot3(along, along);
    for (int i = 0; i < 2; ++i)
    {
        double u[3];
        flx__sub3(flx__cloth_at(x, c->top.flap[2 * (int64_t)e + i]), a, u);
        const double share = length2 > 0 ? flx__dot3(u, along) / length2 : 0;
        for (int k = 0; k < 3; ++k) u[k] -= share * along[k];
        const double size = flx__norm3(u);
        for (int k = 0; k < 3 && size > 0; ++k) sum[k] += u[k] / size;
    }
    return flx__norm3(sum) >= 2 * RIDGE;
}

typedef struct edge_search
{
    const flx_cloth_motion* m;
    int32_t                 edge;
    flx_contact*            best;  // partner -1: none yet
    double                  clear; // m: no other edge is nearer, all the way
} edge_search;

/// Did the two edges pass through each other an odd number of times?
static bool edges_passed(const flx_cloth_motion* m, const int32_t v[2], const int32_t w[2])
{
    const int32_t vertex[4] = {v[0], v[1], w[0], w[1]};
    const double *from[4], *to[4];
    double        time[3], s, t;
    bool          odd = false;
    for (int i = 0; i < 4; ++i) from[i] = flx__cloth_at(m->from, vertex[i]), to[i] = flx__cloth_at(m->x, vertex[i]);
    const int count = flx__coplanar_times(from, to, time);
    for (int i = 0; i < count; ++i)
    {
        double moved[4][3];
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 3; ++k) moved[j][k] = from[j][k] + time[i] * (to[j][k] - from[j][k]);
        odd = odd != flx__edges_nearest(moved[0], moved[1], moved[2], moved[3], &s, &t);
    }
    return odd;
}

static double distance_now(const flx_cloth_motion* m, const int32_t v[2], const int32_t w[2])
{
    return flx__edges_distance(flx__cloth_at(m->x, v[0]), flx__cloth_at(m->x, v[1]), flx__cloth_at(m->x, w[0]),
                               flx__cloth_at(m->x, w[1]));
}

static void visit_edge(void* user, int32_t other)
{
    edge_search*             search = user;
    const flx_cloth_motion*  m      = search->m;
    const flx_cloth_contact* c      = m->cloth;
    const int32_t *          v = c->top.edge + 2 * (int64_t)search->edge, *w = c->top.edge + 2 * (int64_t)other;
    if (other <= search->edge || v[0] == w[0] || v[0] == w[1] || v[1] == w[0] || v[1] == w[1]) return;
    search->clear = fmin(search->clear, distance_now(m, v, w) - flx__cloth_way(m, 2, v, 2, w));
    if (!c->sharp[other]) return;

    const double* p[4] = {flx__cloth_at(m->x, v[0]), flx__cloth_at(m->x, v[1]), flx__cloth_at(m->x, w[0]),
                          flx__cloth_at(m->x, w[1])};
    double        s, t, n[3], away[3];
    if (!flx__edges_nearest(p[0], p[1], p[2], p[3], &s, &t)) return;
    for (int k = 0; k < 3; ++k) n[k] = p[0][k] + s * (p[1][k] - p[0][k]) - p[2][k] - t * (p[3][k] - p[2][k]);
    const double distance = flx__norm3(n);
    if (!(distance > FLX_CLOTH_TOUCHING * c->desc.offset)) return;
    const bool right = !edges_passed(m, v, w);
    if (right && !(distance < c->desc.margin + c->desc.offset)) return;
    for (int k = 0; k < 3; ++k) n[k] *= (right ? 1 : -1) / distance;
    for (int k = 0; k < 3; ++k) away[k] = -n[k];
    if (!bends_away(c, m->x, search->edge, n) || !bends_away(c, m->x, other, away)) return;

    const double* r    = c->desc.x_rest;
    const double  kept = flx__cloth_kept(c, flx__edges_distance(flx__cloth_at(r, v[0]), flx__cloth_at(r, v[1]),
                                                                flx__cloth_at(r, w[0]), flx__cloth_at(r, w[1])));
    const double  gap  = (right ? distance : -distance) - kept;
    flx_contact*  best = search->best;
    if (kept == 0 || !(gap < c->desc.margin)) return;
    if (best->partner >= 0 && (best->gap < gap || (best->gap == gap && best->partner < other))) return;
    best->obstacle = -1;
    best->partner  = other;
    best->gap      = gap;
    for (int k = 0; k < 3; ++k) best->normal[k] = n[k], best->target[k] = kept * n[k];
    const double  weight[4] = {1 - s, s, t - 1, -t};
    const int32_t vertex[4] = {v[0], v[1], w[0], w[1]};
    for (int k = 0; k < FLX_CONTACT_CORNERS; ++k)
    {
        best->vertex[k] = k < 4 ? vertex[k] : -1;
        best->weight[k] = k < 4 ? weight[k] : 0;
    }
}

void flx__cloth_edge(const flx_cloth_motion* m, int32_t e, flx_contact* out)
{
    const flx_cloth_contact* c     = m->cloth;
    const double             reach = c->desc.margin + c->desc.offset;
    edge_search              s     = {m, e, out, FLX_CLOTH_CLEAR * reach};
    double                   lo[3], hi[3];
    out->partner = -1;
    if (!c->sharp[e] || flx__cloth_clear(c, c->desc.point_count + e)) return;
    const int32_t* v = c->top.edge + 2 * (int64_t)e;
    for (int k = 0; k < 3; ++k)
    {
        lo[k] = fmin(fmin(flx__cloth_at(m->from, v[0])[k], flx__cloth_at(m->from, v[1])[k]),
                     fmin(flx__cloth_at(m->x, v[0])[k], flx__cloth_at(m->x, v[1])[k]));
        hi[k] = fmax(fmax(flx__cloth_at(m->from, v[0])[k], flx__cloth_at(m->from, v[1])[k]),
                     fmax(flx__cloth_at(m->x, v[0])[k], flx__cloth_at(m->x, v[1])[k]));
        lo[k] -= FLX_CLOTH_CLEAR * reach;
        hi[k] += FLX_CLOTH_CLEAR * reach;
    }
    flx__deformed_bvh_query(c->edges, lo, hi, visit_edge, &s);
    flx__cloth_searched(m->cloth, c->desc.point_count + e, s.clear);
}
