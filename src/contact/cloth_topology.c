// Which triangles of a cloth lie next to which.
#include "contact/cloth_topology.h"

static int32_t corner_of(const flx_cloth_topology* t, int64_t side, int end)
{
    return t->corner[side / 3 * 3 + (side + end) % 3];
}

/// Twin of each side (3 triangle + corner), -1 = none. Sides meet in the list of their lower vertex.
static flx_status pair_sides(flx_context* ctx, const flx_cloth_topology* t, int32_t vertex_count, const char* who,
                             int32_t first_vertex, int32_t* twin)
{
    flx_status    status = FLX_OK;
    const int32_t sides  = 3 * t->triangle_count;
    int32_t *     key = NULL, *first = NULL, *entry = NULL;
    FLX_NEW(ctx, key, sides);
    for (int32_t s = 0; s < sides; ++s)
    {
        const int32_t a = corner_of(t, s, 0), b = corner_of(t, s, 1);
        key[s]  = a < b ? a : b;
        twin[s] = -1;
    }
    FLX_TRY(flx__group(ctx, sides, key, vertex_count, &first, &entry));
    for (int32_t v = 0; v < vertex_count; ++v)
        for (int32_t i = first[v]; i < first[v + 1]; ++i)
            for (int32_t j = i + 1; j < first[v + 1]; ++j)
            {
                const int32_t s = entry[i], r = entry[j];
                const int32_t end = corner_of(t, s, 0) + corner_of(t, s, 1) - v;
                if (end != corner_of(t, r, 0) + corner_of(t, r, 1) - v) continue;
                if (twin[s] >= 0 || twin[r] >= 0)
                {
                    status = flx__fail(ctx, FLX_ERR_MESH,
                                       "%s: three triangles meet at the edge between vertices %d and %d; cloth that "
                                       "touches itself must have at most two there",
                                       who, v - first_vertex + 1, end - first_vertex + 1);
                    goto done;
                }
                twin[s] = r;
                twin[r] = s;
            }
done:
    flx__free(ctx, key);
    flx__free(ctx, first);
    flx__free(ctx, entry);
    return status;
}

/// Turns triangle k over: its sides then come in the opposite order.
static void turn(flx_cloth_topology* t, int32_t k, int32_t* twin)
{
    int32_t*      c  = t->corner + 3 * (int64_t)k;
    int32_t*      w  = twin + 3 * (int64_t)k;
    const int32_t c1 = c[1], w0 = w[0];
    c[1] = c[2];
    c[2] = c1;
    w[0] = w[2];
    w[2] = w0;
    for (int i = 0; i < 3; ++i)
        if (w[i] >= 0) twin[w[i]] = 3 * k + i;
}

/// From triangle to triangle, so that each side runs against its twin.
static flx_status orient(flx_context* ctx, flx_cloth_topology* t, const char* who, int32_t first_vertex, int32_t* twin)
{
    flx_status status = FLX_OK;
    int32_t*   queue  = NULL;
    uint8_t*   seen   = NULL;
    FLX_NEW(ctx, queue, t->triangle_count);
    FLX_NEW_ZERO(ctx, seen, t->triangle_count);
    for (int32_t start = 0; start < t->triangle_count; ++start)
    {
        int32_t from = 0, to = 0;
        if (seen[start]) continue;
        seen[start] = 1;
        queue[to++] = start;
        while (from < to)
        {
            const int32_t k = queue[from++];
            for (int i = 0; i < 3; ++i)
            {
                const int64_t side = 3 * (int64_t)k + i;
                if (twin[side] < 0) continue;
                const int32_t other   = twin[side] / 3;
                const bool    against = corner_of(t, side, 0) == corner_of(t, twin[side], 1);
                if (seen[other] && !against)
                {
                    status = flx__fail(ctx, FLX_ERR_MESH,
                                       "%s: the surface through the edge between vertices %d and %d has one side only; "
                                       "cloth that touches itself must have two",
                                       who, corner_of(t, side, 0) - first_vertex + 1,
                                       corner_of(t, side, 1) - first_vertex + 1);
                    goto done;
                }
                if (seen[other]) continue;
                if (!against) turn(t, other, twin);
                seen[other] = 1;
                queue[to++] = other;
            }
        }
    }
done:
    flx__free(ctx, queue);
    flx__free(ctx, seen);
    return status;
}

static flx_status list_edges(flx_context* ctx, flx_cloth_topology* t, const int32_t* twin)
{
    flx_status status = FLX_OK;
    for (int32_t s = 0; s < 3 * t->triangle_count; ++s)
    {
        t->across[s] = twin[s] < 0 ? -1 : twin[s] / 3;
        t->edge_count += twin[s] < s; // -1 as well: a side that has a twin counts once
    }
    FLX_NEW(ctx, t->edge, 2 * (int64_t)t->edge_count);
    FLX_NEW(ctx, t->flap, 2 * (int64_t)t->edge_count);
    int64_t at = 0;
    for (int32_t s = 0; s < 3 * t->triangle_count; ++s)
    {
        if (twin[s] >= s) continue;
        for (int end = 0; end < 2; ++end)
        {
            t->edge[2 * at + end] = corner_of(t, s, end);
            if (twin[s] < 0) t->rim[corner_of(t, s, end)] = 1;
        }
        t->flap[2 * at]     = corner_of(t, s, 2);
        t->flap[2 * at + 1] = twin[s] < 0 ? -1 : corner_of(t, twin[s], 2);
        ++at;
    }
done:
    return status;
}

flx_status flx__cloth_topology_create(flx_context* ctx, int32_t vertex_count, int32_t triangle_count,
                                      const int32_t* triangle, const char* who, int32_t first, flx_cloth_topology* out)
{
    flx_status status = FLX_OK;
    int32_t*   twin   = NULL;
    *out              = (flx_cloth_topology){.triangle_count = triangle_count};
    FLX_NEW(ctx, out->corner, 3 * (int64_t)triangle_count);
    FLX_NEW(ctx, out->across, 3 * (int64_t)triangle_count);
    FLX_NEW_ZERO(ctx, out->rim, vertex_count);
    FLX_NEW(ctx, twin, 3 * (int64_t)triangle_count);
    for (int64_t k = 0; k < 3 * (int64_t)triangle_count; ++k) out->corner[k] = triangle[k];
    FLX_TRY(pair_sides(ctx, out, vertex_count, who, first, twin));
    FLX_TRY(orient(ctx, out, who, first, twin));
    FLX_TRY(list_edges(ctx, out, twin));
    FLX_TRY(flx__group(ctx, 3 * triangle_count, out->corner, vertex_count, &out->ring_first, &out->ring));
    for (int64_t k = 0; k < 3 * (int64_t)triangle_count; ++k) out->ring[k] /= 3;
done:
    flx__free(ctx, twin);
    return status;
}

void flx__cloth_topology_release(flx_context* ctx, flx_cloth_topology* t)
{
    void* const array[] = {t->corner, t->across, t->edge, t->flap, t->ring_first, t->ring, t->rim};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(ctx, array[i]);
    *t = (flx_cloth_topology){0};
}
