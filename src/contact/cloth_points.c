// Self contact of cloth: a vertex against the triangles around it.
#include "contact/cloth_contact_internal.h"

#include "contact/cloth_pairs.h"
#include "math/mat3.h"

#define THROUGH 1e-9   // of the offset: as near as a triangle must come to pass through, so that edges have no gaps
#define SAME_TIME 1e-6 // of the step: passing an edge that two triangles share is passing once
#define MOST_NEAR 24   // points of the surface near one vertex; more than four are rare
#define MOST_PASSED 16 // triangles passed in one step

static void corners_at(const flx_cloth_contact* c, const double* x, int32_t t, const double* corner[3])
{
    for (int k = 0; k < 3; ++k) corner[k] = flx__cloth_at(x, c->top.corner[3 * (int64_t)t + k]);
}

static void mix(const double* const corner[3], const double weight[3], double y[3])
{
    for (int k = 0; k < 3; ++k) y[k] = weight[0] * corner[0][k] + weight[1] * corner[1][k] + weight[2] * corner[2][k];
}

/// Adds factor x the unit normal of triangle t.
static void add_normal(const flx_cloth_contact* c, const double* x, int32_t t, double factor, double n[3])
{
    const double* p[3];
    double        e[3], f[3], m[3];
    corners_at(c, x, t, p);
    flx__sub3(p[1], p[0], e);
    flx__sub3(p[2], p[0], f);
    flx__cross3(e, f, m);
    const double length = flx__norm3(m);
    for (int k = 0; k < 3 && length > 0; ++k) n[k] += factor / length * m[k];
}

static double angle_at(const flx_cloth_contact* c, const double* x, int32_t t, int32_t vertex)
{
    const int32_t* v = c->top.corner + 3 * (int64_t)t;
    const int      k = v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
    double         e[3], f[3], n[3];
    flx__sub3(flx__cloth_at(x, v[(k + 1) % 3]), flx__cloth_at(x, vertex), e);
    flx__sub3(flx__cloth_at(x, v[(k + 2) % 3]), flx__cloth_at(x, vertex), f);
    flx__cross3(e, f, n);
    return atan2(flx__norm3(n), flx__dot3(e, f));
}

/// Normal of a vertex, by the angles around it: the one that tells sides everywhere [Baerentzen05]. Not unit.
static void vertex_normal(const flx_cloth_contact* c, const double* x, int32_t vertex, double n[3])
{
    n[0] = n[1] = n[2] = 0;
    for (int32_t i = c->top.ring_first[vertex]; i < c->top.ring_first[vertex + 1]; ++i)
        add_normal(c, x, c->top.ring[i], angle_at(c, x, c->top.ring[i], vertex), n);
}

static bool share_a_corner(const flx_cloth_contact* c, int32_t t, int32_t r)
{
    const int32_t *v = c->top.corner + 3 * (int64_t)t, *w = c->top.corner + 3 * (int64_t)r;
    for (int i = 0; i < 3; ++i)
        if (v[i] == w[0] || v[i] == w[1] || v[i] == w[2]) return true;
    return false;
}

/// A point of the surface that is nearest to the vertex among its neighbours.
typedef struct near_point
{
    int32_t triangle;
    int     corners; // 3: in the triangle, 2: on an edge, 1: at a vertex
    bool    rim;
    double  weight[3], y[3], distance;
} near_point;

typedef struct passed
{
    int32_t triangle;
    double  time;
} passed;

/// Search of one vertex.
typedef struct vertex_search
{
    const flx_cloth_motion* m;
    int32_t                 vertex;
    const double*           p;
    double                  reach; // m
    bool                    watch; // for what passes
    double                  clear; // m: nothing else is nearer, all the way
    int                     near_count, passed_count;
    double                  way_back; // m: the farthest of what passed, now
    near_point              near[MOST_NEAR];
    passed                  passed[MOST_PASSED];
} vertex_search;

static void watch_passing(vertex_search* s, int32_t t)
{
    const flx_cloth_contact* c = s->m->cloth;
    const double *           from[4], *to[4];
    double                   time[3];
    corners_at(c, s->m->from, t, from);
    corners_at(c, s->m->x, t, to);
    from[3]         = flx__cloth_at(s->m->from, s->vertex);
    to[3]           = s->p;
    const int count = flx__coplanar_times(from, to, time);
    for (int i = 0; i < count && s->passed_count < MOST_PASSED; ++i)
    {
        double        moved[4][3], weight[3];
        const double* corner[3] = {moved[0], moved[1], moved[2]};
        for (int v = 0; v < 4; ++v)
            for (int k = 0; k < 3; ++k) moved[v][k] = from[v][k] + time[i] * (to[v][k] - from[v][k]);
        if (!(flx__triangle_nearest(moved[3], corner, weight) <= THROUGH * c->desc.offset)) continue;
        double y[3];
        mix(to, weight, y);
        s->way_back                  = fmax(s->way_back, flx__distance3(y, s->p));
        s->passed[s->passed_count++] = (passed){t, time[i]};
    }
}

/// Does p lie on this side of the edge from a to b, seen from the triangle's third corner o?
static bool beyond_edge(const double* p, const double* a, const double* b, const double* o)
{
    double e[3], f[3], n[3], inward[3], d[3];
    flx__sub3(b, a, e);
    flx__sub3(o, a, f);
    flx__sub3(p, a, d);
    flx__cross3(e, f, n);
    flx__cross3(n, e, inward);
    return flx__dot3(d, inward) <= 0;
}

/// Is no point of the triangles around nearer than y, and is triangle t the first of those that hold y?
static bool nearest_around(const vertex_search* s, near_point* y)
{
    const flx_cloth_topology* top = &s->m->cloth->top;
    const double*             x   = s->m->x;
    const int32_t             t   = y->triangle;
    const int32_t*            v   = top->corner + 3 * (int64_t)t;
    y->rim                        = false;
    if (y->corners == 3) return true;
    if (y->corners == 2)
    {
        const int     k     = y->weight[2] == 0 ? 0 : y->weight[0] == 0 ? 1 : 2; // from corner k to the next
        const int32_t other = top->across[3 * (int64_t)t + k];
        y->rim              = other < 0;
        if (y->rim) return true;
        if (other < t) return false;
        const int32_t* w = top->corner + 3 * (int64_t)other;
        const int32_t  a = v[k], b = v[(k + 1) % 3];
        const int32_t  o = w[0] != a && w[0] != b ? w[0] : w[1] != a && w[1] != b ? w[1] : w[2];
        return beyond_edge(s->p, flx__cloth_at(x, a), flx__cloth_at(x, b), flx__cloth_at(x, o));
    }
    const int32_t  vertex = v[y->weight[0] > 0 ? 0 : y->weight[1] > 0 ? 1 : 2];
    const int32_t* ring   = top->ring + top->ring_first[vertex];
    const int32_t  count  = top->ring_first[vertex + 1] - top->ring_first[vertex];
    y->rim                = top->rim[vertex];
    if (ring[0] != t) return false;
    double d[3], e[3];
    flx__sub3(s->p, flx__cloth_at(x, vertex), d);
    for (int32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            flx__sub3(flx__cloth_at(x, top->corner[3 * (int64_t)ring[i] + k]), flx__cloth_at(x, vertex), e);
            if (flx__dot3(d, e) > 0) return false;
        }
    return true;
}

static void keep_near(vertex_search* s, const near_point* y)
{
    int place = s->near_count;
    if (place == MOST_NEAR) // the farthest makes room
    {
        place = 0;
        for (int i = 1; i < MOST_NEAR; ++i)
            if (s->near[i].distance > s->near[place].distance) place = i;
        if (!(y->distance < s->near[place].distance)) return;
    }
    else
        ++s->near_count;
    s->near[place] = *y;
}

static void visit_triangle(void* user, int32_t t)
{
    vertex_search*           s = user;
    const flx_cloth_contact* c = s->m->cloth;
    const int32_t*           v = c->top.corner + 3 * (int64_t)t;
    if (v[0] == s->vertex || v[1] == s->vertex || v[2] == s->vertex) return;
    if (s->watch) watch_passing(s, t);
    const double* corner[3];
    near_point    y = {.triangle = t};
    corners_at(c, s->m->x, t, corner);
    y.distance = flx__triangle_nearest(s->p, corner, y.weight);
    if (s->watch) s->clear = fmin(s->clear, y.distance - flx__cloth_way(s->m, 1, &s->vertex, 3, v));
    if (!(y.distance < s->reach)) return;
    y.corners = (y.weight[0] != 0) + (y.weight[1] != 0) + (y.weight[2] != 0);
    mix(corner, y.weight, y.y);
    if (nearest_around(s, &y)) keep_near(s, &y);
}

/// Points of the surface nearer than `reach`; when watching, also what passed, and what is clear up to CLEAR times
/// that.
static void look_around(vertex_search* s, double reach, bool watch)
{
    const double  around = (watch ? FLX_CLOTH_CLEAR : 1) * reach;
    double        lo[3], hi[3];
    const double* p0 = watch ? flx__cloth_at(s->m->from, s->vertex) : s->p;
    for (int k = 0; k < 3; ++k)
    {
        lo[k] = fmin(p0[k], s->p[k]) - around;
        hi[k] = fmax(p0[k], s->p[k]) + around;
    }
    s->reach      = reach;
    s->watch      = watch;
    s->near_count = 0;
    if (watch) s->clear = around;
    flx__deformed_bvh_query(s->m->cloth->triangles, lo, hi, visit_triangle, s);
}

/// Are two triangles of one layer there, and not the two of a fold?
static bool one_layer(const flx_cloth_motion* m, int32_t t, int32_t r)
{
    double n[3] = {0}, o[3] = {0};
    if (t == r) return true;
    if (!share_a_corner(m->cloth, t, r)) return false;
    add_normal(m->cloth, m->x, t, 1, n);
    add_normal(m->cloth, m->x, r, 1, o);
    return flx__dot3(n, o) > 0;
}

/// Did an odd number of the triangles around t pass through the vertex?
static bool changed_sides(const vertex_search* s, int32_t t)
{
    bool odd = false;
    for (int i = 0; i < s->passed_count; ++i)
    {
        if (!one_layer(s->m, t, s->passed[i].triangle)) continue;
        bool counted = false;
        for (int j = 0; j < i; ++j)
            counted = counted || (fabs(s->passed[j].time - s->passed[i].time) < SAME_TIME &&
                                  share_a_corner(s->m->cloth, s->passed[i].triangle, s->passed[j].triangle));
        odd = odd != !counted;
    }
    return odd;
}

/// Normal of the surface at y, not unit, and the side on which the vertex is now or, touching, was.
static double surface_side(const vertex_search* s, const near_point* y, double n[3])
{
    const flx_cloth_contact* c = s->m->cloth;
    const int32_t*           v = c->top.corner + 3 * (int64_t)y->triangle;
    if (y->corners == 1)
        vertex_normal(c, s->m->x, v[y->weight[0] > 0 ? 0 : y->weight[1] > 0 ? 1 : 2], n);
    else
    {
        n[0] = n[1] = n[2] = 0;
        add_normal(c, s->m->x, y->triangle, 1, n);
        const int     k     = y->weight[2] == 0 ? 0 : y->weight[0] == 0 ? 1 : 2;
        const int32_t other = c->top.across[3 * (int64_t)y->triangle + k];
        if (y->corners == 2 && other >= 0) add_normal(c, s->m->x, other, 1, n);
    }
    double d[3];
    flx__sub3(s->p, y->y, d);
    if (y->distance < FLX_CLOTH_TOUCHING * c->desc.offset)
    {
        const double* corner[3];
        double        y0[3], n0[3] = {0};
        corners_at(c, s->m->from, y->triangle, corner);
        mix(corner, y->weight, y0);
        flx__sub3(flx__cloth_at(s->m->from, s->vertex), y0, d);
        add_normal(c, s->m->from, y->triangle, 1, n0);
        return flx__dot3(d, n0) < 0 ? -1 : 1;
    }
    return flx__dot3(d, n) < 0 ? -1 : 1;
}

/// The side that is remembered of surface around triangle t; 0 = none.
static double remembered(const flx_cloth_contact* c, const double* memory, int32_t t)
{
    for (int i = 0; i < FLX_CLOTH_PARTNERS; ++i)
        if (memory[i] != 0 && share_a_corner(c, t, (int32_t)fabs(memory[i]) - 1)) return memory[i] < 0 ? -1 : 1;
    return 0;
}

static bool make_pair(const vertex_search* s, const near_point* y, const double* memory, flx_cloth_pair* out)
{
    const flx_cloth_contact* c = s->m->cloth;
    const int32_t*           v = c->top.corner + 3 * (int64_t)y->triangle;
    const double*            corner[3];
    double                   weight[3], n[3];
    corners_at(c, c->desc.x_rest, y->triangle, corner);
    const double kept =
        flx__cloth_kept(c, flx__triangle_nearest(flx__cloth_at(c->desc.x_rest, s->vertex), corner, weight));
    if (kept == 0) return false;

    const double now = surface_side(s, y, n), past = y->rim ? 0 : remembered(c, memory, y->triangle);
    const bool   touching = y->distance < FLX_CLOTH_TOUCHING * c->desc.offset;
    const bool   changed  = touching ? false : changed_sides(s, y->triangle);
    const double side     = past != 0 ? past : changed ? -now : now;
    const bool   right    = side == now;
    if (right ? !(y->distance - kept < c->desc.margin) : !(past == 0 || y->distance < c->desc.depth)) return false;

    flx_contact* r = &out->contact;
    if (!touching) flx__sub3(s->p, y->y, n);
    const double length = flx__norm3(n), sign = touching ? side : right ? 1 : -1;
    if (!(length > 0 && length < INFINITY)) return false;
    for (int k = 0; k < 3; ++k) r->normal[k] = sign * n[k] / length;
    r->gap      = (right ? y->distance : -y->distance) - kept;
    r->obstacle = -1;
    r->partner  = y->triangle;
    for (int k = 0; k < 3; ++k) r->target[k] = kept * r->normal[k];
    for (int k = 0; k < FLX_CONTACT_CORNERS; ++k) r->vertex[k] = -1, r->weight[k] = 0;
    r->vertex[0] = s->vertex;
    r->weight[0] = 1;
    for (int k = 0; k < 3; ++k)
    {
        r->vertex[k + 1] = v[k];
        r->weight[k + 1] = -y->weight[k];
    }
    out->memory = right || y->rim ? 0 : side * (y->triangle + 1);
    return true;
}

void flx__cloth_point(const flx_cloth_motion* m, int32_t point, const double* memory,
                      flx_cloth_pair place[FLX_CLOTH_PARTNERS])
{
    const flx_cloth_contact* c     = m->cloth;
    const double             reach = c->desc.margin + c->desc.offset;
    double                   face[3];
    vertex_search            s;
    s.m            = m;
    s.vertex       = c->desc.proxy[(int64_t)FLX_CLOTH_PARTNERS * point].vertex[0];
    s.p            = flx__cloth_at(m->x, s.vertex);
    s.passed_count = 0;
    s.way_back     = 0;
    for (int i = 0; i < FLX_CLOTH_PARTNERS; ++i) place[i].contact.partner = -1;
    double further = 0;
    for (int i = 0; i < FLX_CLOTH_PARTNERS; ++i)
        if (memory[i] != 0) further = c->desc.depth;
    if (further == 0 && flx__cloth_clear(c, point)) return;
    look_around(&s, reach, true);
    flx__cloth_searched(m->cloth, point, s.clear);

    further = fmax(further, s.way_back);
    if (further > reach) look_around(&s, further * (1 + FLX_CLOTH_ROUNDING), false);
    if (s.near_count > 0) vertex_normal(c, m->x, s.vertex, face);
    for (int i = 0; i < s.near_count; ++i)
    {
        flx_cloth_pair new;
        if (!make_pair(&s, &s.near[i], memory, &new)) continue;
        const int half = FLX_CLOTH_PARTNERS / 2, first = flx__dot3(new.contact.normal, face) < 0 ? half : 0;
        for (int k = first; k < first + half; ++k)
        {
            flx_contact* old = &place[k].contact;
            if (old->partner >= 0 &&
                (old->gap < new.contact.gap || (old->gap == new.contact.gap && old->partner < new.contact.partner)))
                continue;
            const flx_cloth_pair moved = place[k];
            place[k]                   = new;
            new                        = moved;
            if (new.contact.partner < 0) break;
        }
    }
}
