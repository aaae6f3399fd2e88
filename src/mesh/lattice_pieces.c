// The connected pieces of material inside each lattice tet that the surface cuts: each becomes a copy of the tet, as in
// [Molino04].
//
// Union-find over the triangles that meet the tet (meaning their inner sides there) and its four corners:
//   1. triangles that share a side which enters the tet;
//   2. along each of the six lattice edges, what bounds the same stretch of material: two crossings, or a crossing and
//   an
//      inside corner, or two inside corners;
//   3. where more than one class is left, sight lines: from a point of a triangle in the tet to the corners on its
//   inner
//      side. What a sight line hits first, it shares the material with (tets are convex). This joins what touches no
//      lattice edge: the wall of a tunnel through two faces, a dent, a tip.
// A class with no triangle and no corner cannot be; a class that none of the rules joins is a piece of its own: a
// finger that pokes through one face next to another finger.
#include "mesh/lattice_internal.h"

#include "base/sets.h"
#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct crossing
{
    double  t;    // along the lattice edge, from its lower node
    int32_t item; // triangle, within the tet
    int32_t step; // +1 into the body
} crossing;

typedef struct pieces_args
{
    const lattice_grid*     grid;
    const lattice_surface*  surface;
    const flx_triangle_bvh* bvh;
    const lattice_raster*   raster;
    const lattice_material* material;
    lattice_pieces*         pieces;
    int64_t                 capacity; // most triangles in one tet
    int32_t*                parent;   // [workers][capacity + 4]
    int32_t*                label;    // [workers][capacity + 4]
    crossing*               crossing; // [workers][capacity]
} pieces_args;

// One tet's view of the above.
typedef struct cut_tet
{
    const pieces_args*       a;
    const lattice_tet_shape* shape;
    const lattice_meet*      meet; // [count]
    int32_t                  count;
    int64_t                  tet, node; // node: 2 site
    int32_t*                 parent;    // [count] triangles, [4] corners
    crossing*                crossing;
    bool                     inside[4];
} cut_tet;

// --- 1: across shared sides ---------------------------------------------------------------------------------------

static int32_t item_of(const cut_tet* c, int32_t triangle)
{
    int32_t low = 0, high = c->count;
    while (low < high)
    {
        const int32_t mid = (low + high) / 2;
        if (c->meet[mid].triangle < triangle)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->count && c->meet[low].triangle == triangle ? low : -1;
}

static void join_neighbours(cut_tet* c)
{
    for (int32_t i = 0; i < c->count; ++i)
        for (int s = 0; s < 3; ++s)
        {
            if (!(c->meet[i].bits & FLX_MEET_SIDE(s))) continue;
            const int32_t across = c->a->surface->beyond[3 * (int64_t)c->meet[i].triangle + s];
            const int32_t j      = across < 0 ? -1 : item_of(c, across);
            if (j >= 0) flx__set_join(c->parent, i, j);
        }
}

// --- 2: along lattice edges -----------------------------------------------------------------------------------------

static int by_t(const void* a, const void* b)
{
    const crossing *p = a, *q = b;
    if (p->t != q->t) return p->t < q->t ? -1 : 1;
    return p->item < q->item ? -1 : p->item > q->item;
}

// Height of a tet's corner over a triangle's plane, any scale.
static double height(const cut_tet* c, int32_t item, int corner)
{
    const lattice_surface* s = c->a->surface;
    const int64_t          t = c->meet[item].triangle;
    const int64_t*         p = s->p + 3 * (int64_t)s->triangle[3 * t];
    int32_t                ijk[3];
    double                 sum = 0.0;
    flx__lattice_site_ijk(c->a->grid, c->node / 2, ijk);
    for (int k = 0; k < 3; ++k)
    {
        const int64_t x = ijk[k] * FLX_LATTICE_CELL_STEPS + c->shape->corner[corner][k] * FLX_LATTICE_HALF_STEPS;
        sum += s->normal[3 * t + k] * (double)(x - p[k]);
    }
    return sum;
}

static int32_t collect_crossings(cut_tet* c, int edge, int from, int to)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->count; ++i)
        if (c->meet[i].bits & FLX_MEET_EDGE(edge))
        {
            const bool above    = (c->meet[i].bits & FLX_MEET_ABOVE(from)) != 0;
            c->crossing[n].item = i;
            c->crossing[n].step = (above ? 1 : -1) * (c->a->surface->sign > 0 ? 1 : -1);
            c->crossing[n++].t  = 0.0;
        }
    if (n < 2) return n;
    for (int32_t i = 0; i < n; ++i)
    {
        const double a = height(c, c->crossing[i].item, from), b = height(c, c->crossing[i].item, to);
        c->crossing[i].t = a != b ? fmin(fmax(a / (a - b), 0.0), 1.0) : 0.5;
    }
    qsort(c->crossing, (size_t)n, sizeof *c->crossing, by_t);
    return n;
}

// Crossings at the same place (touching walls, a lattice edge along a crease) are taken in the order that keeps in and
// out alternating.
static void settle_tie(crossing* list, int32_t at, int32_t n, bool inside)
{
    const int32_t wanted = inside ? -1 : 1;
    for (int32_t j = at; j < n && list[j].t - list[at].t <= 1e-12; ++j)
    {
        if (list[j].step != wanted) continue;
        const crossing chosen = list[j];
        memmove(list + at + 1, list + at, (size_t)(j - at) * sizeof *list);
        list[at]   = chosen;
        list[at].t = list[at + (j > at)].t;
        return;
    }
}

static bool asks_inside(const cut_tet* c, const double p[3]) // for surfaces that do not count whole
{
    return c->a->surface->sign * flx__triangle_bvh_winding(c->a->bvh, p) > c->a->surface->threshold;
}

static void edge_point(const cut_tet* c, int from, int to, double t, double out[3])
{
    double a[3], b[3];
    flx__lattice_node_position(c->a->grid, c->node + c->shape->node[from], a);
    flx__lattice_node_position(c->a->grid, c->node + c->shape->node[to], b);
    for (int k = 0; k < 3; ++k) out[k] = a[k] + t * (b[k] - a[k]);
}

static void join_along_edge(cut_tet* c, int edge)
{
    int from = flx__lattice_edge[edge][0], to = flx__lattice_edge[edge][1];
    if (c->shape->node[from] > c->shape->node[to]) // every tet around the edge walks it the same way
    {
        const int swap = from;
        from           = to;
        to             = swap;
    }
    const int32_t n = collect_crossings(c, edge, from, to);
    if (n == 0)
    {
        if (c->inside[from] && c->inside[to]) flx__set_join(c->parent, c->count + from, c->count + to);
        return;
    }
    const bool balanced = c->a->surface->balanced;
    float      winding  = c->a->material->winding[c->node + c->shape->node[from]];
    bool       inside   = c->inside[from];
    int32_t    previous = inside ? c->count + from : -1; // the other bound of this stretch of material
    for (int32_t i = 0; i < n; ++i)
    {
        if (balanced) settle_tie(c->crossing, i, n, inside);
        const int32_t item = c->crossing[i].item;
        if (inside && previous >= 0) flx__set_join(c->parent, previous, item);
        winding += (float)c->crossing[i].step;
        if (balanced)
            inside = winding > c->a->material->threshold;
        else if (i + 1 < n)
        {
            double p[3];
            edge_point(c, from, to, 0.5 * (c->crossing[i].t + c->crossing[i + 1].t), p);
            inside = asks_inside(c, p);
        }
        else
            inside = c->inside[to];
        previous = item;
    }
    if (inside && c->inside[to]) flx__set_join(c->parent, previous, c->count + to);
}

// --- 3: sight lines ------------------------------------------------------------------------------------------

typedef struct triangle3
{
    double p[3][3], n[3]; // half cells, from the cell's low corner
} triangle3;

static void local_triangle(const cut_tet* c, int32_t item, triangle3* t)
{
    const lattice_surface* s = c->a->surface;
    int32_t                ijk[3];
    flx__lattice_site_ijk(c->a->grid, c->node / 2, ijk);
    for (int v = 0; v < 3; ++v)
    {
        const int64_t* p = s->p + 3 * (int64_t)s->triangle[3 * (int64_t)c->meet[item].triangle + v];
        for (int k = 0; k < 3; ++k)
            t->p[v][k] = (double)(p[k] - ijk[k] * FLX_LATTICE_CELL_STEPS) / (double)FLX_LATTICE_HALF_STEPS;
    }
    double u[3], v[3];
    for (int k = 0; k < 3; ++k)
    {
        u[k] = t->p[1][k] - t->p[0][k];
        v[k] = t->p[2][k] - t->p[0][k];
    }
    for (int k = 0; k < 3; ++k) t->n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

// Middle of what the tet's four faces leave of the triangle. False when rounding leaves nothing.
static bool point_within(const cut_tet* c, const triangle3* t, double out[3])
{
    double polygon[8][3], next[8][3];
    int    n = 3;
    memcpy(polygon, t->p, sizeof t->p);
    for (int f = 0; f < 4; ++f)
    {
        const int32_t* normal = c->shape->normal[f];
        const int32_t* on     = c->shape->corner[(f + 1) % 4];
        double         h[8];
        int            m = 0;
        for (int i = 0; i < n; ++i)
            h[i] = normal[0] * (polygon[i][0] - on[0]) + normal[1] * (polygon[i][1] - on[1]) +
                   normal[2] * (polygon[i][2] - on[2]);
        for (int i = 0; i < n; ++i)
        {
            const int j = (i + 1) % n;
            if (h[i] >= 0.0 && m < 8) memcpy(next[m++], polygon[i], sizeof next[0]);
            if ((h[i] >= 0.0) == (h[j] >= 0.0) || m >= 8) continue;
            for (int k = 0; k < 3; ++k)
                next[m][k] = polygon[i][k] + h[i] / (h[i] - h[j]) * (polygon[j][k] - polygon[i][k]);
            ++m;
        }
        n = m;
        memcpy(polygon, next, sizeof next);
    }
    if (n == 0) return false;
    for (int k = 0; k < 3; ++k)
    {
        out[k] = 0.0;
        for (int i = 0; i < n; ++i) out[k] += polygon[i][k] / n;
    }
    return true;
}

// Where along from + s d, s in (0, 1], the triangle is hit; 2 = nowhere. A little generous, so that no line slips
// through between two triangles.
static double hit(const triangle3* t, const double from[3], const double d[3])
{
    const double facing = flx__dot3(t->n, d), area2 = flx__dot3(t->n, t->n);
    if (fabs(facing) <= 1e-12 * sqrt(area2 * flx__dot3(d, d))) return 2.0;
    const double a[3] = {t->p[0][0] - from[0], t->p[0][1] - from[1], t->p[0][2] - from[2]};
    const double s    = flx__dot3(t->n, a) / facing;
    if (!(s > 1e-9 && s <= 1.0)) return 2.0;
    for (int e = 0; e < 3; ++e)
    {
        const double *p = t->p[e], *q = t->p[(e + 1) % 3];
        double        side[3], w[3];
        for (int k = 0; k < 3; ++k)
        {
            side[k] = q[k] - p[k];
            w[k]    = from[k] + s * d[k] - p[k];
        }
        const double turn = t->n[0] * (side[1] * w[2] - side[2] * w[1]) + t->n[1] * (side[2] * w[0] - side[0] * w[2]) +
                            t->n[2] * (side[0] * w[1] - side[1] * w[0]);
        if (turn < -1e-9 * area2) return 2.0;
    }
    return s;
}

static void look_from(cut_tet* c, int32_t item)
{
    const double sign = c->a->surface->sign;
    triangle3    own;
    double       from[3];
    local_triangle(c, item, &own);
    if (flx__dot3(own.n, own.n) == 0.0 || !point_within(c, &own, from)) return;

    for (int corner = 0; corner < 4; ++corner)
    {
        double d[3], nearest = 2.0;
        for (int k = 0; k < 3; ++k) d[k] = c->shape->corner[corner][k] - from[k];
        if (c->a->surface->balanced && sign * flx__dot3(own.n, d) >= 0.0) continue; // would leave the body

        int32_t first   = -1;
        bool    leaving = true;
        for (int32_t j = 0; j < c->count; ++j)
        {
            triangle3 other;
            if (j == item) continue;
            local_triangle(c, j, &other);
            const double s = hit(&other, from, d);
            if (s >= nearest) continue;
            nearest = s;
            first   = j;
            leaving = sign * flx__dot3(other.n, d) > 0.0;
        }
        if (!c->a->surface->balanced) // sides cannot be trusted: ask half way
        {
            int32_t      ijk[3];
            double       p[3];
            const double half = 0.5 * (first >= 0 ? nearest : 1.0);
            flx__lattice_site_ijk(c->a->grid, c->node / 2, ijk);
            for (int k = 0; k < 3; ++k)
                p[k] = c->a->grid->origin[k] + c->a->grid->cell * (ijk[k] + 0.5 * (from[k] + half * d[k]));
            leaving = asks_inside(c, p);
        }
        if (first >= 0 && leaving) flx__set_join(c->parent, item, first);
        if (first < 0 && leaving && c->inside[corner]) flx__set_join(c->parent, item, c->count + corner);
    }
}

static int32_t class_count(const cut_tet* c)
{
    int32_t classes = 0;
    for (int32_t i = 0; i < c->count; ++i) classes += flx__set_root(c->parent, i) == i;
    for (int32_t k = 0; k < 4; ++k) classes += c->inside[k] && flx__set_root(c->parent, c->count + k) == c->count + k;
    return classes;
}

static void join_by_sight(cut_tet* c)
{
    const int32_t stride = 1 + c->count / 64; // enough viewpoints, whatever the number of triangles
    for (int32_t i = 0; i < c->count; i += stride) look_from(c, i);
    if (stride == 1) return;
    for (int32_t i = 0; i < c->count; ++i) // at least one viewpoint for each class
        if (flx__set_root(c->parent, i) == i) look_from(c, i);
}

// --- all cut tets --------------------------------------------------------------------------------------------

static void cut_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const pieces_args* a     = user;
    int32_t*           label = a->label + worker * (a->capacity + 4);
    for (int64_t i = begin; i < end; ++i)
    {
        const int64_t first = a->material->cut_meet[i];
        const int64_t tet   = a->material->cut_tet[i];
        cut_tet       c     = {.a        = a,
                               .shape    = &a->grid->shape[tet % 12],
                               .meet     = a->raster->meet + first,
                               .count    = (int32_t)(a->material->cut_meet[i + 1] - first),
                               .tet      = tet,
                               .node     = 2 * (tet / 12),
                               .parent   = a->parent + worker * (a->capacity + 4),
                               .crossing = a->crossing + worker * a->capacity};
        for (int32_t k = 0; k < c.count + 4; ++k) c.parent[k] = k;
        for (int k = 0; k < 4; ++k) c.inside[k] = flx__lattice_inside(a->material, c.node + c.shape->node[k]);
        join_neighbours(&c);
        for (int l = 0; l < 6; ++l) join_along_edge(&c, l);
        if (class_count(&c) > 1 && c.count > 0) join_by_sight(&c);

        int32_t classes = 0;
        for (int32_t k = 0; k < c.count + 4; ++k) // roots come first: they are the lowest of their class
        {
            const bool    corner = k >= c.count;
            const int32_t root   = flx__set_root(c.parent, k);
            int32_t       piece  = -1;
            if (!corner || c.inside[k - c.count])
            {
                if (root == k) label[k] = classes++;
                piece = label[root];
            }
            if (corner)
                a->pieces->of_corner[4 * i + k - c.count] = piece;
            else
                a->pieces->of_meet[first + k] = piece;
        }
        a->pieces->first[i] = classes;
    }
}

flx_status flx__lattice_pieces_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    const flx_triangle_bvh* bvh, const lattice_raster* raster,
                                    const lattice_material* material, lattice_pieces* pieces)
{
    flx_status    status  = FLX_OK;
    const int64_t workers = flx_context_worker_count(ctx);
    pieces_args   a       = {grid, surface, bvh, raster, material, pieces, 1, NULL, NULL, NULL};

    *pieces = (lattice_pieces){0};
    for (int64_t i = 0; i < material->cut_count; ++i)
        if (material->cut_meet[i + 1] - material->cut_meet[i] > a.capacity)
            a.capacity = material->cut_meet[i + 1] - material->cut_meet[i];
    FLX_NEW(ctx, pieces->of_meet, raster->meet_count);
    FLX_NEW(ctx, pieces->of_corner, 4 * material->cut_count);
    FLX_NEW(ctx, pieces->first, material->cut_count + 1);
    FLX_NEW(ctx, a.parent, workers * (a.capacity + 4));
    FLX_NEW(ctx, a.label, workers * (a.capacity + 4));
    FLX_NEW(ctx, a.crossing, workers * a.capacity);
    flx__parallel_for(ctx, material->cut_count, 256, cut_range, &a);

    int64_t copies = 0;
    for (int64_t i = 0; i < material->cut_count; ++i)
    {
        const int64_t here = pieces->first[i];
        pieces->first[i]   = copies;
        copies += here;
    }
    pieces->first[material->cut_count] = copies;

done:
    flx__free(ctx, a.parent);
    flx__free(ctx, a.label);
    flx__free(ctx, a.crossing);
    if (status != FLX_OK) flx__lattice_pieces_release(ctx, pieces);
    return status;
}

void flx__lattice_pieces_release(flx_context* ctx, lattice_pieces* pieces)
{
    flx__free(ctx, pieces->of_meet);
    flx__free(ctx, pieces->of_corner);
    flx__free(ctx, pieces->first);
    *pieces = (lattice_pieces){0};
}
