// Which triangles meet a box.
//
// Node boxes lead the way, the triangles' own exact boxes decide. Lists that must come out in order, and no longer than
// asked, are kept in a heap with the largest on top.
#include "mesh/triangle_bvh_internal.h"

#include <math.h>

static bool triangle_meets_box(const double* c, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; ++k)
    {
        const double min = fmin(c[k], fmin(c[3 + k], c[6 + k])), max = fmax(c[k], fmax(c[3 + k], c[6 + k]));
        if (min > hi[k] || max < lo[k]) return false;
    }
    return true;
}

void flx__triangle_bvh_visit(const flx_triangle_bvh* bvh, const double box_min[3], const double box_max[3],
                             flx_bvh_visit_fn visit, void* user)
{
    if (bvh->triangle_count == 0) return;
    int32_t stack[FLX_BVH_STACK];
    int     depth  = 0;
    stack[depth++] = 0;
    while (depth > 0)
    {
        const flx_bvh_node* node = &bvh->node[stack[--depth]];
        if (node->lo[0] > box_max[0] || node->hi[0] < box_min[0] || node->lo[1] > box_max[1] ||
            node->hi[1] < box_min[1] || node->lo[2] > box_max[2] || node->hi[2] < box_min[2])
            continue;
        if (node->count == 0)
        {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; ++i)
            if (triangle_meets_box(&bvh->corner[9 * (int64_t)i], box_min, box_max)) visit(user, i);
    }
}

void flx__keep_least_offer(int32_t* kept, int32_t* count, int32_t capacity, int32_t offered)
{
    int32_t i;
    if (*count < capacity) // sift up
    {
        for (i = (*count)++; i > 0 && kept[(i - 1) / 2] < offered; i = (i - 1) / 2) kept[i] = kept[(i - 1) / 2];
        kept[i] = offered;
        return;
    }
    if (capacity == 0 || offered >= kept[0]) return;
    for (i = 0;;) // replace the largest, sift down
    {
        int32_t child = 2 * i + 1;
        if (child >= capacity) break;
        if (child + 1 < capacity && kept[child + 1] > kept[child]) ++child;
        if (kept[child] <= offered) break;
        kept[i] = kept[child];
        i       = child;
    }
    kept[i] = offered;
}

void flx__keep_least_sort(int32_t* kept, int32_t count)
{
    for (int32_t n = count - 1; n > 0; --n)
    {
        const int32_t largest = kept[0], last = kept[n];
        int32_t       i = 0;
        for (;;)
        {
            int32_t child = 2 * i + 1;
            if (child >= n) break;
            if (child + 1 < n && kept[child + 1] > kept[child]) ++child;
            if (kept[child] <= last) break;
            kept[i] = kept[child];
            i       = child;
        }
        kept[i] = last;
        kept[n] = largest;
    }
}

typedef struct box_hits
{
    const flx_triangle_bvh* bvh;
    int32_t*                out;
    int32_t                 kept, capacity, count;
} box_hits;

static void keep_hit(void* user, int32_t slot)
{
    box_hits* h = user;
    ++h->count;
    flx__keep_least_offer(h->out, &h->kept, h->capacity, h->bvh->triangle[slot]);
}

int32_t flx__triangle_bvh_in_box(const flx_triangle_bvh* bvh, const double box_min[3], const double box_max[3],
                                 int32_t* out, int32_t capacity)
{
    box_hits hits = {bvh, out, 0, out ? capacity : 0, 0};
    flx__triangle_bvh_visit(bvh, box_min, box_max, keep_hit, &hits);
    flx__keep_least_sort(out, hits.kept);
    return hits.count;
}
