// Which tet holds a point, or which is nearest: a tree of boxes over tets in Morton order.
//
// The tree is implicit: leaf i holds the LEAF tets i * LEAF ... of the Morton order, inner node k has the children 2k
// and 2k + 1, so building is a sort and one sweep, and a query needs no more than a stack as deep as the tree.
// Containing: all boxes around p are visited, because the lowest tet number wins on shared faces.
// Nearest: depth first, nearer child first, cut off by the best distance; distance to the tet itself, not to its
// planes.
#include "mesh/embedding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAF 4
#define STACK 80

// A point counts as contained when no weight is below this: on a shared face rounding must not push it out of both
// tets.
#define CONTAINED (-1e-11)

typedef struct box
{
    double low[3], high[3];
} box;

struct flx_tet_locator
{
    flx_context*   ctx;
    const double*  x;   // [vertices][3] the caller's
    const int32_t* tet; // [tet_count][4] the caller's
    int32_t        tet_count;
    int32_t        leaf_count; // a power of two; leaves past the last tet have empty boxes
    double         slack;      // m: boxes are tested this much larger, for points on their faces
    int32_t*       order;      // [tet_count] tets in Morton order
    box*           node;       // [2 leaf_count] node 1 is the root
};

typedef struct morton_entry
{
    uint64_t code;
    int32_t  tet;
} morton_entry;

static uint64_t spread_bits(uint64_t v) // 21 bits, two zeros between each
{
    v &= 0x1FFFFF;
    v = (v | v << 32) & UINT64_C(0x1F00000000FFFF);
    v = (v | v << 16) & UINT64_C(0x1F0000FF0000FF);
    v = (v | v << 8) & UINT64_C(0x100F00F00F00F00F);
    v = (v | v << 4) & UINT64_C(0x10C30C30C30C30C3);
    v = (v | v << 2) & UINT64_C(0x1249249249249249);
    return v;
}

static int by_code(const void* a, const void* b)
{
    const morton_entry* p = a;
    const morton_entry* q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    return p->tet < q->tet ? -1 : p->tet > q->tet;
}

static box empty_box(void)
{
    return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void grow(box* b, const double p[3])
{
    for (int k = 0; k < 3; ++k)
    {
        b->low[k]  = fmin(b->low[k], p[k]);
        b->high[k] = fmax(b->high[k], p[k]);
    }
}

static void sort_by_morton(const flx_tet_locator* l, const box* all, morton_entry* entry)
{
    double scale[3];
    for (int k = 0; k < 3; ++k) scale[k] = all->high[k] > all->low[k] ? 0x1FFFFF / (all->high[k] - all->low[k]) : 0.0;

    for (int32_t t = 0; t < l->tet_count; ++t)
    {
        const int32_t* c = l->tet + 4 * (int64_t)t;
        entry[t]         = (morton_entry){0, t};
        for (int k = 0; k < 3; ++k)
        {
            const double mid = 0.25 * (l->x[3 * (int64_t)c[0] + k] + l->x[3 * (int64_t)c[1] + k] +
                                       l->x[3 * (int64_t)c[2] + k] + l->x[3 * (int64_t)c[3] + k]);
            entry[t].code |= spread_bits((uint64_t)((mid - all->low[k]) * scale[k])) << k;
        }
    }
    qsort(entry, (size_t)l->tet_count, sizeof *entry, by_code);
    for (int32_t i = 0; i < l->tet_count; ++i) l->order[i] = entry[i].tet;
}

static void fill_boxes(flx_tet_locator* l)
{
    for (int32_t leaf = 0; leaf < l->leaf_count; ++leaf)
    {
        box b = empty_box();
        for (int64_t i = (int64_t)leaf * LEAF; i < (int64_t)(leaf + 1) * LEAF && i < l->tet_count; ++i)
            for (int c = 0; c < 4; ++c) grow(&b, l->x + 3 * (int64_t)l->tet[4 * (int64_t)l->order[i] + c]);
        l->node[l->leaf_count + leaf] = b;
    }
    for (int32_t k = l->leaf_count - 1; k >= 1; --k)
    {
        box b = l->node[2 * k];
        grow(&b, l->node[2 * k + 1].low);
        grow(&b, l->node[2 * k + 1].high);
        l->node[k] = b;
    }
}

flx_status flx__tet_locator_create(flx_context* ctx, int32_t vertex_count, const double* x, int32_t tet_count,
                                   const int32_t* tet, flx_tet_locator** out)
{
    flx_status       status = FLX_OK;
    flx_tet_locator* l      = NULL;
    morton_entry*    entry  = NULL;

    *out = NULL;
    if (tet_count < 1) return flx__fail(ctx, FLX_ERR_MESH, "no tets to look for points in");
    FLX_NEW_ZERO(ctx, l, 1);
    l->ctx        = ctx;
    l->x          = x;
    l->tet        = tet;
    l->tet_count  = tet_count;
    l->leaf_count = 1;
    while ((int64_t)l->leaf_count * LEAF < tet_count) l->leaf_count *= 2;
    FLX_NEW(ctx, l->order, tet_count);
    FLX_NEW(ctx, l->node, 2 * (int64_t)l->leaf_count);
    FLX_NEW(ctx, entry, tet_count);

    box all = empty_box();
    for (int64_t i = 0; i < 4 * (int64_t)tet_count; ++i)
    {
        FLX_ASSERT(tet[i] >= 0 && tet[i] < vertex_count);
        grow(&all, x + 3 * (int64_t)tet[i]);
    }
    (void)vertex_count;
    for (int k = 0; k < 3; ++k) l->slack = fmax(l->slack, 1e-11 * fmax(fabs(all.low[k]), fabs(all.high[k])));
    sort_by_morton(l, &all, entry);
    fill_boxes(l);

    *out = l;
    l    = NULL;

done:
    flx__free(ctx, entry);
    flx__tet_locator_destroy(l);
    return status;
}

void flx__tet_locator_destroy(flx_tet_locator* l)
{
    if (!l) return;
    flx__free(l->ctx, l->order);
    flx__free(l->ctx, l->node);
    flx__free(l->ctx, l);
}

// --- distances --------------------------------------------------------------------------------------

static double box_distance2(const box* b, const double p[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        const double d = fmax(fmax(b->low[k] - p[k], p[k] - b->high[k]), 0.0);
        sum += d * d; // an empty box is infinitely far
    }
    return sum;
}

// --- queries ----------------------------------------------------------------------------------------

static bool find_containing(const flx_tet_locator* l, const double p[3], flx_embedded* out)
{
    int32_t      stack[STACK], depth = 0;
    const double slack2 = l->slack * l->slack;

    out->tet       = -1;
    stack[depth++] = 1;
    while (depth > 0)
    {
        const int32_t k = stack[--depth];
        if (!(box_distance2(&l->node[k], p) <= slack2)) continue;
        if (k < l->leaf_count)
        {
            stack[depth++] = 2 * k;
            stack[depth++] = 2 * k + 1;
            continue;
        }
        const int64_t begin = (int64_t)(k - l->leaf_count) * LEAF;
        for (int64_t i = begin; i < begin + LEAF && i < l->tet_count; ++i)
        {
            const int32_t t = l->order[i];
            double        w[4];
            if (out->tet >= 0 && t > out->tet) continue;
            flx__tet_weights(l->x, l->tet + 4 * (int64_t)t, p, w);
            if (!(fmin(fmin(w[0], w[1]), fmin(w[2], w[3])) >= CONTAINED)) continue;
            out->tet = t;
            memcpy(out->weight, w, sizeof w);
        }
    }
    return out->tet >= 0;
}

static double find_nearest(const flx_tet_locator* l, const double p[3], flx_embedded* out)
{
    int32_t stack[STACK], depth = 0;
    double  best2 = INFINITY;

    out->tet       = -1;
    stack[depth++] = 1;
    while (depth > 0)
    {
        const int32_t k = stack[--depth];
        if (box_distance2(&l->node[k], p) > best2) continue;
        if (k < l->leaf_count)
        {
            const bool left_first = box_distance2(&l->node[2 * k], p) <= box_distance2(&l->node[2 * k + 1], p);
            stack[depth++]        = left_first ? 2 * k + 1 : 2 * k;
            stack[depth++]        = left_first ? 2 * k : 2 * k + 1;
            continue;
        }
        const int64_t begin = (int64_t)(k - l->leaf_count) * LEAF;
        for (int64_t i = begin; i < begin + LEAF && i < l->tet_count; ++i)
        {
            const int32_t t = l->order[i];
            double        w[4];
            const double  d2 = flx__tet_distance2(l->x, l->tet + 4 * (int64_t)t, p, w);
            if (d2 > best2 || (d2 == best2 && out->tet >= 0 && t > out->tet)) continue;
            best2    = d2;
            out->tet = t;
            memcpy(out->weight, w, sizeof w);
        }
    }
    return sqrt(best2);
}

double flx__tet_locator_find(const flx_tet_locator* locator, const double p[3], flx_embedded* out)
{
    *out = (flx_embedded){.tet = -1};
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) return INFINITY;
    if (find_containing(locator, p, out)) return 0.0;
    return find_nearest(locator, p, out);
}
