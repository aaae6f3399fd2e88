// A tree of boxes over triangles, and the closest point. Box queries: triangle_bvh_box.c.
//
// Built top down: the split of least sum(area x count) over 16 bins of the widest axis [Wald07], in the middle where
// that does not help. Queries keep their own small stack, visit the nearer child first and touch no heap.
//
// Closest point of a triangle: the foot on its plane when that lies inside; else the nearest point of the edges that
// see p from outside (the closest point of a convex set lies on a face visible from p). A triangle without area is its
// edges.
#include "mesh/triangle_bvh_internal.h"

#include "math/mat3.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LEAF_MAX 8
#define LEAF_MIN 4
#define BINS 16
#define SAH_DEPTH 48

// --- build -----------------------------------------------------------------------------------------------

typedef struct box3
{
    double lo[3], hi[3];
} box3;

typedef struct builder
{
    flx_triangle_bvh* bvh;
    const box3*       box;   // [triangle]
    int32_t*          order; // [slot] triangle
    double            slack; // m, by which boxes are grown beyond rounding
} builder;

typedef struct task
{
    int32_t node, begin, end, depth;
} task;

static box3 box_empty(void)
{
    return (box3){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
}

static void box_add(box3* a, const box3* b)
{
    for (int k = 0; k < 3; ++k)
    {
        if (b->lo[k] < a->lo[k]) a->lo[k] = b->lo[k];
        if (b->hi[k] > a->hi[k]) a->hi[k] = b->hi[k];
    }
}

static double box_half_area(const box3* b)
{
    const double x = b->hi[0] - b->lo[0], y = b->hi[1] - b->lo[1], z = b->hi[2] - b->lo[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static double box_middle(const box3* b, int axis)
{
    return 0.5 * b->lo[axis] + 0.5 * b->hi[axis];
}

static void node_set_box(const builder* s, flx_bvh_node* node, const box3* b)
{
    for (int k = 0; k < 3; ++k)
    {
        node->lo[k] = nextafterf((float)(b->lo[k] - s->slack), -INFINITY);
        node->hi[k] = nextafterf((float)(b->hi[k] + s->slack), INFINITY);
    }
}

static void swap_int(int32_t* a, int32_t* b)
{
    const int32_t t = *a;
    *a              = *b;
    *b              = t;
}

/// Order [begin, end) so that the `nth` by middle along `axis` (ties by index) stands where sorting would put it.
static void select_nth(const builder* s, int32_t begin, int32_t end, int32_t nth, int axis)
{
    int32_t* o  = s->order;
    int32_t  lo = begin, hi = end - 1;
    while (lo < hi)
    {
        const int32_t pivot   = o[lo + (hi - lo) / 2];
        const double  pivot_v = box_middle(&s->box[pivot], axis);
        int32_t       i = lo, j = hi;
        while (i <= j)
        {
            for (;; ++i)
            {
                const double v = box_middle(&s->box[o[i]], axis);
                if (!(v < pivot_v || (v == pivot_v && o[i] < pivot))) break;
            }
            for (;; --j)
            {
                const double v = box_middle(&s->box[o[j]], axis);
                if (!(v > pivot_v || (v == pivot_v && o[j] > pivot))) break;
            }
            if (i <= j) swap_int(&o[i++], &o[j--]);
        }
        if (nth <= j)
            hi = j;
        else if (nth >= i)
            lo = i;
        else
            return;
    }
}

/// Where to cut the bins for the least cost; 0 = nowhere better than a leaf.
static int best_cut(const box3* bin_box, const int32_t* bin_count, int32_t count, double whole, double* cost_out)
{
    double  right_cost[BINS];
    box3    right = box_empty();
    int32_t n     = 0;
    for (int b = BINS - 1; b > 0; --b)
    {
        box_add(&right, &bin_box[b]);
        n += bin_count[b];
        right_cost[b] = box_half_area(&right) * n;
    }
    box3   left = box_empty();
    int    best = 0;
    double cost = (double)count * whole;
    n           = 0;
    for (int b = 1; b < BINS; ++b)
    {
        box_add(&left, &bin_box[b - 1]);
        n += bin_count[b - 1];
        if (n == 0 || n == count) continue;
        const double c = box_half_area(&left) * n + right_cost[b] + 1.0 * whole; // one more box to test
        if (best == 0 || c < cost)
        {
            cost = c;
            best = b;
        }
    }
    *cost_out = cost;
    return best;
}

/// Split [begin, end) and return the border, or `begin` to make a leaf.
static int32_t split(const builder* s, const task* t, const box3* whole)
{
    const int32_t count = t->end - t->begin;
    if (count <= LEAF_MIN) return t->begin;

    box3 middles = box_empty();
    for (int32_t i = t->begin; i < t->end; ++i)
    {
        box3 point;
        for (int k = 0; k < 3; ++k) point.lo[k] = point.hi[k] = box_middle(&s->box[s->order[i]], k);
        box_add(&middles, &point);
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
        if (middles.hi[k] - middles.lo[k] > middles.hi[axis] - middles.lo[axis]) axis = k;
    const double  width = middles.hi[axis] - middles.lo[axis];
    const int32_t half  = t->begin + count / 2;

    if (!(width > 0) || t->depth >= SAH_DEPTH)
    {
        if (count <= LEAF_MAX) return t->begin;
        select_nth(s, t->begin, t->end, half, axis);
        return half;
    }

    box3    bin_box[BINS];
    int32_t bin_count[BINS] = {0};
    for (int b = 0; b < BINS; ++b) bin_box[b] = box_empty();
    const double scale = BINS * (1 - 1e-9) / width;
    for (int32_t i = t->begin; i < t->end; ++i)
    {
        const int32_t triangle = s->order[i];
        const int     b        = (int)((box_middle(&s->box[triangle], axis) - middles.lo[axis]) * scale);
        box_add(&bin_box[b], &s->box[triangle]);
        ++bin_count[b];
    }
    double    cost = 0;
    const int cut  = best_cut(bin_box, bin_count, count, box_half_area(whole), &cost);
    if (count <= LEAF_MAX && cost >= (double)count * box_half_area(whole)) return t->begin;
    if (cut == 0)
    {
        select_nth(s, t->begin, t->end, half, axis);
        return half;
    }
    int32_t border = t->begin;
    for (int32_t i = t->begin; i < t->end; ++i)
        if ((int)((box_middle(&s->box[s->order[i]], axis) - middles.lo[axis]) * scale) < cut)
            swap_int(&s->order[i], &s->order[border++]);
    return border;
}

static void build_nodes(builder* s)
{
    flx_triangle_bvh* bvh = s->bvh;
    task              stack[FLX_BVH_STACK];
    int               depth = 0;
    bvh->node_count         = 1;
    stack[depth++]          = (task){0, 0, bvh->triangle_count, 0};
    while (depth > 0)
    {
        const task t     = stack[--depth];
        box3       whole = box_empty();
        for (int32_t i = t.begin; i < t.end; ++i) box_add(&whole, &s->box[s->order[i]]);
        flx_bvh_node* node = &bvh->node[t.node];
        node_set_box(s, node, &whole);

        const int32_t border = split(s, &t, &whole);
        if (border == t.begin)
        {
            node->first = t.begin;
            node->count = t.end - t.begin;
            continue;
        }
        node->first    = bvh->node_count;
        node->count    = 0;
        stack[depth++] = (task){node->first + 1, border, t.end, t.depth + 1};
        stack[depth++] = (task){node->first, t.begin, border, t.depth + 1};
        bvh->node_count += 2;
    }
}

static void set_ball(const double* corner, double largest, float ball[4])
{
    double radius = 0;
    for (int k = 0; k < 3; ++k) ball[k] = (float)((corner[k] + corner[3 + k] + corner[6 + k]) / 3);
    for (int v = 0; v < 3; ++v)
    {
        const double d[3] = {corner[3 * v] - (double)ball[0], corner[3 * v + 1] - (double)ball[1],
                             corner[3 * v + 2] - (double)ball[2]};
        radius            = fmax(radius, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    ball[3] = nextafterf((float)(radius * (1 + 1e-6) + 1e-12 * largest), INFINITY);
}

static flx_status check_input(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                              const int32_t* triangle)
{
    if (triangle_count < 0 || triangle_count > INT32_MAX / 4)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d triangles: at most %d are allowed", triangle_count, INT32_MAX / 4);
    for (int32_t t = 0; t < triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
        {
            const int32_t v = triangle[3 * (int64_t)t + k];
            if (v < 0 || v >= vertex_count)
                return flx__fail(ctx, FLX_ERR_ARGUMENT, "triangle %d: vertex %d is not in 0..%d", t + 1, v,
                                 vertex_count - 1);
            for (int i = 0; i < 3; ++i)
                if (!(fabs(x[3 * (int64_t)v + i]) < FLT_MAX)) // the boxes are floats
                    return flx__fail(ctx, FLX_ERR_MESH, "triangle %d: coordinate %g of vertex %d is not finite", t + 1,
                                     x[3 * (int64_t)v + i], v + 1);
        }
    return FLX_OK;
}

flx_status flx__triangle_bvh_create_bare(flx_context* ctx, int32_t vertex_count, const double* x,
                                         int32_t triangle_count, const int32_t* triangle, flx_triangle_bvh** out)
{
    flx_status        status = FLX_OK;
    flx_triangle_bvh* bvh    = NULL;
    box3*             box    = NULL;
    *out                     = NULL;

    FLX_TRY(check_input(ctx, vertex_count, x, triangle_count, triangle));
    FLX_NEW_ZERO(ctx, bvh, 1);
    bvh->ctx                   = ctx;
    bvh->triangle_count        = triangle_count;
    bvh->topology.first_turned = -1;
    FLX_NEW(ctx, bvh->node, 2 * (int64_t)triangle_count + 1);
    FLX_NEW(ctx, bvh->triangle, triangle_count);
    FLX_NEW(ctx, bvh->corner, 9 * (int64_t)triangle_count);
    FLX_NEW(ctx, bvh->ball, 4 * (int64_t)triangle_count);
    FLX_NEW(ctx, box, triangle_count);

    box3 all = box_empty();
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        box[t] = box_empty();
        for (int k = 0; k < 3; ++k)
        {
            const double* p     = &x[3 * (int64_t)triangle[3 * (int64_t)t + k]];
            const box3    point = {{p[0], p[1], p[2]}, {p[0], p[1], p[2]}};
            box_add(&box[t], &point);
        }
        box_add(&all, &box[t]);
        bvh->triangle[t] = t;
    }
    double largest = 0;
    for (int k = 0; k < 3; ++k)
    {
        bvh->box[k]     = triangle_count > 0 ? all.lo[k] : 0;
        bvh->box[3 + k] = triangle_count > 0 ? all.hi[k] : 0;
        largest         = fmax(largest, fmax(fabs(bvh->box[k]), fabs(bvh->box[3 + k])));
    }

    builder s = {bvh, box, bvh->triangle, 1e-12 * largest};
    build_nodes(&s);
    for (int32_t i = 0; i < triangle_count; ++i)
    {
        double* corner = &bvh->corner[9 * (int64_t)i];
        for (int k = 0; k < 3; ++k)
            memcpy(&corner[3 * k], &x[3 * (int64_t)triangle[3 * (int64_t)bvh->triangle[i] + k]], 3 * sizeof(double));
        set_ball(corner, largest, &bvh->ball[4 * (int64_t)i]);
    }
    *out = bvh;
    bvh  = NULL;

done:
    flx__free(ctx, box);
    flx__triangle_bvh_destroy(bvh);
    return status;
}

flx_status flx__triangle_bvh_create(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                    const int32_t* triangle, flx_triangle_bvh** out)
{
    flx_status        status = FLX_OK;
    flx_triangle_bvh* bvh    = NULL;
    int8_t*           facing = NULL;
    *out                     = NULL;

    FLX_TRY(flx__triangle_bvh_create_bare(ctx, vertex_count, x, triangle_count, triangle, &bvh));
    FLX_NEW(ctx, facing, triangle_count);
    FLX_NEW(ctx, bvh->facing, triangle_count);
    FLX_TRY(flx__surface_topology_find(ctx, vertex_count, x, triangle_count, triangle, facing, &bvh->topology));
    for (int32_t i = 0; i < triangle_count; ++i) bvh->facing[i] = facing[bvh->triangle[i]];
    FLX_TRY(flx__bvh_far_field(bvh));
    *out = bvh;
    bvh  = NULL;

done:
    flx__free(ctx, facing);
    flx__triangle_bvh_destroy(bvh);
    return status;
}

void flx__triangle_bvh_destroy(flx_triangle_bvh* bvh)
{
    if (!bvh) return;
    flx_context* ctx = bvh->ctx;
    flx__free(ctx, bvh->node);
    flx__free(ctx, bvh->triangle);
    flx__free(ctx, bvh->corner);
    flx__free(ctx, bvh->ball);
    flx__free(ctx, bvh->facing);
    flx__free(ctx, bvh->far);
    flx__free(ctx, bvh->topology.loop_box);
    flx__free(ctx, bvh);
}

const double* flx__triangle_bvh_open_boxes(const flx_triangle_bvh* bvh, int32_t* count)
{
    *count = bvh->topology.loop_count;
    return bvh->topology.loop_box;
}

// --- closest point ---------------------------------------------------------------------------------------

typedef struct nearest
{
    double  d2, d;
    double  weight[3];
    int32_t slot;
    int32_t triangle;
} nearest;

/// Candidate on the segment from corner i to corner j: p = w + s e, w from corner i, s in [0, 1].
static void try_edge(const double w[3], const double e[3], int i, int j, double* d2, double weight[3])
{
    const double ee = flx__dot3(e, e), we = flx__dot3(w, e);
    const double s    = !(we > 0) ? 0 : we >= ee ? 1 : we / ee; // ee = 0 gives 0 or 1: the same point
    const double r[3] = {w[0] - s * e[0], w[1] - s * e[1], w[2] - s * e[2]};
    const double c    = flx__dot3(r, r);
    if (c >= *d2) return;
    *d2       = c;
    weight[0] = weight[1] = weight[2] = 0;
    weight[i]                         = 1 - s;
    weight[j]                         = s;
}

static double triangle_distance2(const double* corner, const double p[3], double weight[3])
{
    const double *a = corner, *b = corner + 3, *c = corner + 6;
    const double  ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double  ac[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double  ap[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    const double  bb = flx__dot3(ab, ab), bc = flx__dot3(ab, ac), cc = flx__dot3(ac, ac);
    const double  pb = flx__dot3(ap, ab), pc = flx__dot3(ap, ac);
    const double  det  = bb * cc - bc * bc;
    const bool    flat = !(det > 1e-14 * bb * cc);
    const double  v    = cc * pb - bc * pc; // det times the weight of b
    const double  w    = bb * pc - bc * pb; // and of c

    if (!flat && v >= 0 && w >= 0 && v + w <= det)
    {
        weight[1]         = v / det;
        weight[2]         = w / det;
        weight[0]         = 1 - weight[1] - weight[2];
        const double r[3] = {ap[0] - weight[1] * ab[0] - weight[2] * ac[0],
                             ap[1] - weight[1] * ab[1] - weight[2] * ac[1],
                             ap[2] - weight[1] * ab[2] - weight[2] * ac[2]};
        return flx__dot3(r, r);
    }
    double d2 = INFINITY;
    if (flat || w < 0) try_edge(ap, ab, 0, 1, &d2, weight);
    if (flat || v < 0) try_edge(ap, ac, 0, 2, &d2, weight);
    if (flat || v + w > det)
    {
        const double e[3]  = {c[0] - b[0], c[1] - b[1], c[2] - b[2]};
        const double bp[3] = {p[0] - b[0], p[1] - b[1], p[2] - b[2]};
        try_edge(bp, e, 1, 2, &d2, weight);
    }
    return d2;
}

static double box_distance2(const flx_bvh_node* n, const double p[3])
{
    double d2 = 0;
    for (int k = 0; k < 3; ++k)
    {
        const double below = (double)n->lo[k] - p[k], above = p[k] - (double)n->hi[k];
        double       d = below > above ? below : above;
        d              = d > 0 ? d : 0;
        d2 += d * d;
    }
    return d2;
}

static void try_slot(const flx_triangle_bvh* bvh, int32_t slot, const double p[3], nearest* best)
{
    double       weight[3];
    const double d2 = triangle_distance2(&bvh->corner[9 * (int64_t)slot], p, weight);
    if (d2 > best->d2 || (d2 == best->d2 && bvh->triangle[slot] > best->triangle)) return;
    best->d2       = d2;
    best->d        = sqrt(d2);
    best->slot     = slot;
    best->triangle = bvh->triangle[slot];
    memcpy(best->weight, weight, sizeof weight);
}

static void try_leaf(const flx_triangle_bvh* bvh, const flx_bvh_node* node, const double p[3], nearest* best)
{
    for (int32_t i = node->first; i < node->first + node->count; ++i)
    {
        const float* ball  = &bvh->ball[4 * (int64_t)i];
        const double r[3]  = {p[0] - (double)ball[0], p[1] - (double)ball[1], p[2] - (double)ball[2]};
        const double reach = best->d + (double)ball[3];
        if (flx__dot3(r, r) * (1 - 1e-12) > reach * reach) continue;
        try_slot(bvh, i, p, best);
    }
}

bool flx__triangle_bvh_closest_near(const flx_triangle_bvh* bvh, const double p[3], double max_distance, int32_t* slot,
                                    flx_closest* out)
{
    if (bvh->triangle_count == 0 || !(max_distance >= 0)) return false;
    struct
    {
        int32_t node;
        double  d2;
    } stack[FLX_BVH_STACK];
    int     depth = 0;
    nearest best  = {.d2 = max_distance * max_distance, .d = max_distance, .slot = -1, .triangle = INT32_MAX};
    if (*slot >= 0) try_slot(bvh, *slot, p, &best);

    stack[depth].node = 0;
    stack[depth++].d2 = box_distance2(&bvh->node[0], p);
    while (depth > 0)
    {
        --depth;
        // a hair more than the best, so that rounding cannot hide a tie from us
        if (stack[depth].d2 * (1 - 1e-12) > best.d2) continue;
        const flx_bvh_node* node = &bvh->node[stack[depth].node];
        while (node->count == 0) // down the nearer side, the other one is kept for later
        {
            const flx_bvh_node* child = &bvh->node[node->first];
            const double        left = box_distance2(&child[0], p), right = box_distance2(&child[1], p);
            const int           near  = left <= right ? 0 : 1;
            const double        later = near ? left : right;
            if (later * (1 - 1e-12) <= best.d2)
            {
                stack[depth].node = node->first + 1 - near;
                stack[depth++].d2 = later;
            }
            if ((near ? right : left) * (1 - 1e-12) > best.d2)
            {
                node = NULL;
                break;
            }
            node = &child[near];
        }
        if (node) try_leaf(bvh, node, p, &best);
    }
    *slot = best.slot;
    if (best.slot < 0) return false;

    const double* c = &bvh->corner[9 * (int64_t)best.slot];
    out->distance   = best.d;
    out->triangle   = best.triangle;
    for (int k = 0; k < 3; ++k)
    {
        out->weight[k] = best.weight[k];
        out->point[k]  = best.weight[0] * c[k] + best.weight[1] * c[3 + k] + best.weight[2] * c[6 + k];
    }
    return true;
}

bool flx__triangle_bvh_closest(const flx_triangle_bvh* bvh, const double p[3], double max_distance, flx_closest* out)
{
    int32_t slot = -1;
    return flx__triangle_bvh_closest_near(bvh, p, max_distance, &slot, out);
}

int32_t flx__triangle_bvh_count(const flx_triangle_bvh* bvh)
{
    return bvh->triangle_count;
}
