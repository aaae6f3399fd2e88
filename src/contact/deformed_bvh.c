// Boxes over deformed tets.
//
// A complete tree without pointers. Leaf j of 2^k holds the sorted tets [j m / 2^k, (j+1) m / 2^k), at most 8. Sorting
// splits the rest centroids at the leaf boundary nearest the middle, along the longer side, again and again. Since a
// body moves continuously, tets near each other at rest stay near each other: the order is never touched again, only
// the boxes are. Two binary levels make one quad: quad i of level l has the children 4i..4i+3 of level l - 1; below
// level 0 are the leaves. An odd k leaves two quads at the top.
//
// Boxes are single precision, grown by an ulp so that they never lose a point. The boxes of a quad's children and of a
// leaf's tets lie lane by lane, so that one sweep of vector compares tests them all.
#include "contact/deformed_bvh.h"

#include <float.h>
#include <math.h>

#define LANES 8
#define TASK_QUADS 3 // quad levels of one task: 64 leaves, so a task also fits the boxes above its leaves
#define QUAD_LEVELS 16

typedef struct quad_boxes
{
    float lo[3][4], hi[3][4];
} quad_boxes;

typedef struct leaf_boxes
{
    float lo[3][LANES], hi[3][LANES]; // unused lanes are empty boxes
} leaf_boxes;

struct flx_deformed_bvh
{
    flx_context*   ctx;
    const int32_t* tet;
    const int32_t* search;
    int32_t        search_count;
    int32_t        levels;             // k: there are 2^k leaves
    int32_t        leaf_count;         // 0 when there is nothing to search
    int32_t        quad_levels;        // k / 2
    int32_t        first[QUAD_LEVELS]; // of each quad level in `quad`
    int32_t*       order;              // [search_count] slots, sorted by place
    quad_boxes*    quad;
    leaf_boxes*    leaf; // [leaf_count]
};

// --- sorting, once -----------------------------------------------------------------------------------------

static int32_t leaf_begin(const flx_deformed_bvh* b, int32_t leaf)
{
    return (int32_t)(((int64_t)leaf * b->search_count) >> b->levels);
}

static bool before(const double* centroid, int axis, int32_t a, int32_t b)
{
    const double ca = centroid[3 * (int64_t)a + axis], cb = centroid[3 * (int64_t)b + axis];
    return ca < cb || (ca == cb && a < b); // a total order: the tree does not depend on how the selection works
}

static void swap(int32_t* a, int32_t* b)
{
    const int32_t t = *a;
    *a              = *b;
    *b              = t;
}

/// Quickselect: order[begin, middle) comes before order[middle, end) along the axis.
static void split(int32_t* order, const double* centroid, int axis, int32_t begin, int32_t middle, int32_t end)
{
    while (end - begin > 1)
    {
        // median of three to the front, then partition around it
        const int32_t half = begin + (end - begin) / 2, last = end - 1;
        if (before(centroid, axis, order[half], order[begin])) swap(&order[half], &order[begin]);
        if (before(centroid, axis, order[last], order[half]))
        {
            swap(&order[last], &order[half]);
            if (before(centroid, axis, order[half], order[begin])) swap(&order[half], &order[begin]);
        }
        swap(&order[half], &order[begin]);

        const int32_t pivot = order[begin];
        int32_t       place = begin;
        for (int32_t i = begin + 1; i < end; ++i)
            if (before(centroid, axis, order[i], pivot)) swap(&order[++place], &order[i]);
        swap(&order[begin], &order[place]);

        if (place == middle) return;
        if (place < middle)
            begin = place + 1;
        else
            end = place;
    }
}

static int widest_axis(const int32_t* order, const double* centroid, int32_t begin, int32_t end)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = begin; i < end; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const double c = centroid[3 * (int64_t)order[i] + k];
            if (c < lo[k]) lo[k] = c;
            if (c > hi[k]) hi[k] = c;
        }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
        if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
    return axis;
}

static void sort_leaves(flx_deformed_bvh* b, const double* centroid, int32_t first_leaf, int32_t leaf_count)
{
    if (leaf_count < 2) return;
    const int32_t half  = leaf_count / 2;
    const int32_t begin = leaf_begin(b, first_leaf), middle = leaf_begin(b, first_leaf + half),
                  end = leaf_begin(b, first_leaf + leaf_count);
    split(b->order, centroid, widest_axis(b->order, centroid, begin, end), begin, middle, end);
    sort_leaves(b, centroid, first_leaf, half);
    sort_leaves(b, centroid, first_leaf + half, half);
}

flx_status flx__deformed_bvh_create(flx_context* ctx, const double* x_rest, const int32_t* tet, int32_t search_count,
                                    const int32_t* search, flx_deformed_bvh** out)
{
    flx_status        status   = FLX_OK;
    flx_deformed_bvh* b        = NULL;
    double*           centroid = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, b, 1);
    b->ctx          = ctx;
    b->tet          = tet;
    b->search       = search;
    b->search_count = search_count;
    while (((int64_t)LANES << b->levels) < search_count) ++b->levels;
    b->leaf_count      = search_count > 0 ? (int32_t)1 << b->levels : 0;
    b->quad_levels     = b->levels / 2;
    int32_t quad_count = 0;
    for (int32_t l = 0; l < b->quad_levels; ++l)
    {
        b->first[l] = quad_count;
        quad_count += b->leaf_count >> (2 * l + 2);
    }

    FLX_NEW(ctx, b->order, search_count);
    FLX_NEW(ctx, b->quad, quad_count);
    FLX_NEW(ctx, b->leaf, b->leaf_count);
    FLX_NEW(ctx, centroid, 3 * (int64_t)search_count);

    for (int32_t s = 0; s < search_count; ++s)
    {
        const int32_t* corner = tet + 4 * (int64_t)search[s];
        b->order[s]           = s;
        for (int k = 0; k < 3; ++k)
        {
            double sum = 0;
            for (int i = 0; i < 4; ++i) sum += x_rest[3 * (int64_t)corner[i] + k];
            centroid[3 * (int64_t)s + k] = sum;
        }
    }
    sort_leaves(b, centroid, 0, b->leaf_count);
    flx__deformed_bvh_refit(b, x_rest);

    *out = b;
    b    = NULL;

done:
    flx__free(ctx, centroid);
    flx__deformed_bvh_destroy(b);
    return status;
}

void flx__deformed_bvh_destroy(flx_deformed_bvh* b)
{
    if (!b) return;
    flx__free(b->ctx, b->order);
    flx__free(b->ctx, b->quad);
    flx__free(b->ctx, b->leaf);
    flx__free(b->ctx, b);
}

// --- boxes, each call --------------------------------------------------------------------------------------

static float below(double v)
{
    const float f = (float)v;
    return fabsf(f) <= FLT_MAX ? f - fabsf(f) * FLT_EPSILON : f;
}

static float above(double v)
{
    const float f = (float)v;
    return fabsf(f) <= FLT_MAX ? f + fabsf(f) * FLT_EPSILON : f;
}

/// Grows a box by the corners of a tet; written so that NaN changes nothing.
static void fit_tet(const double* x, const int32_t* corner, double box_lo[3], double box_hi[3])
{
    const double *p0 = x + 3 * (int64_t)corner[0], *p1 = x + 3 * (int64_t)corner[1], *p2 = x + 3 * (int64_t)corner[2],
                 *p3 = x + 3 * (int64_t)corner[3];
    for (int k = 0; k < 3; ++k)
    {
        double lo = box_lo[k], hi = box_hi[k];
        lo = p0[k] < lo ? p0[k] : lo, hi = p0[k] > hi ? p0[k] : hi;
        lo = p1[k] < lo ? p1[k] : lo, hi = p1[k] > hi ? p1[k] : hi;
        lo = p2[k] < lo ? p2[k] : lo, hi = p2[k] > hi ? p2[k] : hi;
        lo = p3[k] < lo ? p3[k] : lo, hi = p3[k] > hi ? p3[k] : hi;
        box_lo[k] = lo, box_hi[k] = hi;
    }
}

/// Fits a leaf and the lane of the quad above it; from: NULL, or where the ways to x begin.
static void fit_leaf(flx_deformed_bvh* b, const double* from, const double* x, int32_t leaf)
{
    const int32_t begin = leaf_begin(b, leaf), end = leaf_begin(b, leaf + 1);
    leaf_boxes*   boxes     = &b->leaf[leaf];
    float         all_lo[3] = {INFINITY, INFINITY, INFINITY}, all_hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k)
        for (int lane = 0; lane < LANES; ++lane)
        {
            boxes->lo[k][lane] = INFINITY;
            boxes->hi[k][lane] = -INFINITY;
        }
    for (int32_t i = begin; i < end; ++i)
    {
        const int32_t* corner = b->tet + 4 * (int64_t)b->search[b->order[i]];
        double         lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
        fit_tet(x, corner, lo, hi);
        if (from) fit_tet(from, corner, lo, hi);
        for (int k = 0; k < 3; ++k)
        {
            const float flo = below(lo[k]), fhi = above(hi[k]);
            boxes->lo[k][i - begin] = flo;
            boxes->hi[k][i - begin] = fhi;
            if (flo < all_lo[k]) all_lo[k] = flo;
            if (fhi > all_hi[k]) all_hi[k] = fhi;
        }
    }
    if (b->quad_levels == 0) return;
    quad_boxes* above_it = &b->quad[b->first[0] + leaf / 4];
    for (int k = 0; k < 3; ++k)
    {
        above_it->lo[k][leaf % 4] = all_lo[k];
        above_it->hi[k][leaf % 4] = all_hi[k];
    }
}

/// Fits the lane above quad i of a level from its four lanes.
static void fit_above(flx_deformed_bvh* b, int32_t level, int32_t i)
{
    const quad_boxes* from = &b->quad[b->first[level] + i];
    quad_boxes*       to   = &b->quad[b->first[level + 1] + i / 4];
    for (int k = 0; k < 3; ++k)
    {
        float lo = from->lo[k][0], hi = from->hi[k][0];
        for (int lane = 1; lane < 4; ++lane)
        {
            if (from->lo[k][lane] < lo) lo = from->lo[k][lane];
            if (from->hi[k][lane] > hi) hi = from->hi[k][lane];
        }
        to->lo[k][i % 4] = lo;
        to->hi[k][i % 4] = hi;
    }
}

typedef struct refit_args
{
    flx_deformed_bvh* bvh;
    const double *    from, *x;
} refit_args;

static int32_t task_quads(const flx_deformed_bvh* b)
{
    return b->quad_levels < TASK_QUADS ? b->quad_levels : TASK_QUADS;
}

/// One task fits its leaves and the quads over them; the lane above its topmost quad is fitted afterwards.
static void refit_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const refit_args* args  = user;
    flx_deformed_bvh* b     = args->bvh;
    const int32_t     quads = task_quads(b);
    for (int64_t task = begin; task < end; ++task)
    {
        const int32_t leaves = 1 << (2 * quads);
        for (int32_t j = 0; j < leaves; ++j) fit_leaf(b, args->from, args->x, (int32_t)task * leaves + j);
        for (int32_t l = 0; l + 1 < quads; ++l)
        {
            const int32_t count = leaves >> (2 * l + 2);
            for (int32_t i = 0; i < count; ++i) fit_above(b, l, (int32_t)task * count + i);
        }
    }
}

void flx__deformed_bvh_refit_swept(flx_deformed_bvh* b, const double* from, const double* x)
{
    if (b->leaf_count == 0) return;
    refit_args    args  = {b, from, x};
    const int32_t quads = task_quads(b);
    flx__parallel_for(b->ctx, b->leaf_count >> (2 * quads), 1, refit_range, &args);
    for (int32_t l = quads > 0 ? quads - 1 : 0; l + 1 < b->quad_levels; ++l)
        for (int32_t i = 0; i < b->leaf_count >> (2 * l + 2); ++i) fit_above(b, l, i);
}

void flx__deformed_bvh_refit(flx_deformed_bvh* b, const double* x)
{
    flx__deformed_bvh_refit_swept(b, NULL, x);
}

// --- query -------------------------------------------------------------------------------------------------

static void query_leaf(const flx_deformed_bvh* b, int32_t leaf, const float lo[3], const float hi[3], flx_slot_fn visit,
                       void* user)
{
    const leaf_boxes* boxes = &b->leaf[leaf];
    int32_t           hit[LANES];
    for (int lane = 0; lane < LANES; ++lane)
        hit[lane] = (boxes->lo[0][lane] <= hi[0]) & (boxes->hi[0][lane] >= lo[0]) & (boxes->lo[1][lane] <= hi[1]) &
                    (boxes->hi[1][lane] >= lo[1]) & (boxes->lo[2][lane] <= hi[2]) & (boxes->hi[2][lane] >= lo[2]);
    const int32_t begin = leaf_begin(b, leaf), count = leaf_begin(b, leaf + 1) - begin;
    for (int32_t lane = 0; lane < count; ++lane)
        if (hit[lane]) visit(user, b->order[begin + lane]);
}

void flx__deformed_bvh_query(const flx_deformed_bvh* b, const double lo[3], const double hi[3], flx_slot_fn visit,
                             void* user)
{
    if (b->leaf_count == 0) return;
    const float qlo[3] = {below(lo[0]), below(lo[1]), below(lo[2])};
    const float qhi[3] = {above(hi[0]), above(hi[1]), above(hi[2])};

    struct
    {
        int32_t level, index; // level -1: a leaf
    } stack[64];              // at most three wait on each of 14 levels
    int32_t depth = 0;
    for (int32_t i = (b->leaf_count >> (2 * b->quad_levels)) - 1; i >= 0; --i)
    {
        stack[depth].level   = b->quad_levels - 1;
        stack[depth++].index = i;
    }
    while (depth > 0)
    {
        const int32_t level = stack[--depth].level, index = stack[depth].index;
        if (level < 0)
        {
            query_leaf(b, index, qlo, qhi, visit, user);
            continue;
        }
        const quad_boxes* boxes = &b->quad[b->first[level] + index];
        int32_t           hit[4];
        for (int lane = 0; lane < 4; ++lane)
            hit[lane] = (boxes->lo[0][lane] <= qhi[0]) & (boxes->hi[0][lane] >= qlo[0]) &
                        (boxes->lo[1][lane] <= qhi[1]) & (boxes->hi[1][lane] >= qlo[1]) &
                        (boxes->lo[2][lane] <= qhi[2]) & (boxes->hi[2][lane] >= qlo[2]);
        for (int lane = 3; lane >= 0; --lane)
        {
            stack[depth].level = level - 1;
            stack[depth].index = 4 * index + lane;
            depth += hit[lane];
        }
    }
}
