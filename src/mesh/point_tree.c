#include "mesh/point_tree.h"

// Coordinates first, then the index: a total order, so the tree is the same on every run.
static bool before(const double* x, int32_t a, int32_t b, int axis)
{
    const double p = x[3 * (int64_t)a + axis];
    const double q = x[3 * (int64_t)b + axis];
    return p != q ? p < q : a < b;
}

static int32_t median_of(const double* x, const int32_t pick[3], int axis)
{
    const bool ab = before(x, pick[0], pick[1], axis);
    const bool bc = before(x, pick[1], pick[2], axis);
    const bool ac = before(x, pick[0], pick[2], axis);
    return ab == bc ? pick[1] : ab == ac ? pick[2] : pick[0];
}

// Hoare's selection with the median of three from places that a fixed generator picks: order[middle] is then the
// median.
static void select_median(const double* x, int32_t* order, int64_t begin, int64_t end, int64_t middle, int axis)
{
    uint64_t seed = (uint64_t)(begin + end);
    while (end - begin > 1)
    {
        int32_t pick[3];
        for (int k = 0; k < 3; ++k)
        {
            seed    = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            pick[k] = order[begin + (int64_t)((seed >> 33) % (uint64_t)(end - begin))];
        }
        const int32_t pivot = median_of(x, pick, axis);

        int64_t i = begin;
        int64_t j = end - 1;
        while (i <= j)
        {
            while (before(x, order[i], pivot, axis)) ++i;
            while (before(x, pivot, order[j], axis)) --j;
            if (i > j) break;
            const int32_t t = order[i];
            order[i++]      = order[j];
            order[j--]      = t;
        }
        if (middle <= j)
            end = j + 1;
        else if (middle >= i)
            begin = i;
        else
            return;
    }
}

typedef struct range
{
    int64_t begin, end;
    int     axis;
} range;

#define STACK 64 // two a level, at most 31 levels

flx_status flx__point_tree_begin(flx_context* ctx, flx_point_tree* tree, int32_t count, const int32_t* point,
                                 const double* x)
{
    flx_status status = FLX_OK;
    *tree             = (flx_point_tree){.count = count, .x = x};
    FLX_NEW(ctx, tree->order, count);
    for (int32_t i = 0; i < count; ++i) tree->order[i] = point ? point[i] : i;

    range stack[STACK];
    int   top    = 0;
    stack[top++] = (range){0, count, 0};
    while (top > 0)
    {
        const range   r      = stack[--top];
        const int64_t middle = r.begin + (r.end - r.begin) / 2;
        if (r.end - r.begin < 2) continue;
        select_median(x, tree->order, r.begin, r.end, middle, r.axis);
        stack[top++] = (range){r.begin, middle, (r.axis + 1) % 3};
        stack[top++] = (range){middle + 1, r.end, (r.axis + 1) % 3};
    }
done:
    return status;
}

void flx__point_tree_end(flx_context* ctx, flx_point_tree* tree)
{
    flx__free(ctx, tree->order);
    tree->order = NULL;
}

void flx__point_tree_box(const flx_point_tree* tree, const double low[3], const double high[3], flx_point_fn visit,
                         void* user)
{
    range stack[STACK];
    int   top    = 0;
    stack[top++] = (range){0, tree->count, 0};
    while (top > 0)
    {
        const range r = stack[--top];
        if (r.begin >= r.end) continue;
        const int64_t middle = r.begin + (r.end - r.begin) / 2;
        const double* p      = tree->x + 3 * (int64_t)tree->order[middle];
        bool          inside = true;
        for (int d = 0; d < 3; ++d) inside &= p[d] >= low[d] && p[d] <= high[d];
        if (inside && !visit(user, tree->order[middle])) return;
        const int next = (r.axis + 1) % 3;
        if (p[r.axis] <= high[r.axis]) stack[top++] = (range){middle + 1, r.end, next};
        if (p[r.axis] >= low[r.axis]) stack[top++] = (range){r.begin, middle, next};
    }
}
