// Elements in the solver's numbering: rest inverses, stiffness, lumped masses, and patches for the kernels.
#include "model/model.h"

#include "math/mat3.h"

#include <stdlib.h>
#include <string.h>

#define PATCH_BLOCKS 32 // 512 tets and some 180 vertices: local arrays stay in the first-level cache

static flx_status shape_functions(flx_model* m)
{
    flx_status status = FLX_OK;
    FLX_NEW(m->ctx, m->rest_inv, 9 * (int64_t)m->tet_count);
    FLX_NEW(m->ctx, m->stiffness, m->tet_count);
    FLX_NEW_ZERO(m->ctx, m->mass, m->vertex_count);
    for (int32_t e = 0; e < m->tet_count; ++e)
    {
        const int32_t*  v = m->tet + 4 * (int64_t)e;
        const flx_body* b = &m->body[m->tet_body[e]];
        double          dm[9];
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i)
                dm[3 * i + j] = m->x_rest[3 * (int64_t)v[j + 1] + i] - m->x_rest[3 * (int64_t)v[0] + i];
        const double volume = flx__det3(dm) / 6;
        if (!(volume > 0) || !flx__invert3(dm, m->rest_inv + 9 * (int64_t)e))
        {
            status = flx__fail(m->ctx, FLX_ERR_MESH, "body '%s': element %d has volume %g m^3; it must be positive",
                               m->scene->body[m->tet_body[e]].name, e - b->tet_first + 1, volume);
            goto done;
        }
        m->stiffness[e] = (b->young ? b->young[e - b->tet_first] : 2 * b->mu) * volume;
        for (int c = 0; c < 4; ++c) m->mass[v[c]] += 0.25 * volume * b->density * (double)m->fill[e];
    }
done:
    return status;
}

/// A third of each triangle's mass to each corner.
static void cloth_masses(flx_model* m)
{
    for (int32_t i = 0; i < m->body_count; ++i)
        for (int32_t t = m->body[i].cloth_first; t < m->body[i].cloth_first + m->body[i].cloth_count; ++t)
        {
            const int32_t* v = m->cloth + 3 * (int64_t)t;
            double         e[3], f[3], n[3];
            flx__sub3(m->x_rest + 3 * (int64_t)v[1], m->x_rest + 3 * (int64_t)v[0], e);
            flx__sub3(m->x_rest + 3 * (int64_t)v[2], m->x_rest + 3 * (int64_t)v[0], f);
            flx__cross3(e, f, n);
            for (int c = 0; c < 3; ++c) m->mass[v[c]] += flx__norm3(n) / 6 * m->body[i].area_density;
        }
}

typedef struct keyed
{
    uint64_t key;
    int32_t  tet;
} keyed;

static int by_key(const void* a, const void* b)
{
    const keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->tet < q->tet ? -1 : p->tet > q->tet;
}

static uint64_t spread_bits(uint64_t v) // 21 bits, two zeros between neighbours
{
    v &= 0x1fffff;
    v = (v | v << 32) & UINT64_C(0x1f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    v = (v | v << 2) & UINT64_C(0x1249249249249249);
    return v;
}

/// Order of good locality: Morton code of the tet's middle.
static void locality_order(const flx_model* m, int32_t count, keyed* list)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY};
    for (int32_t i = 0; i < m->vertex_count; ++i)
        for (int c = 0; c < 3; ++c) lo[c] = fmin(lo[c], m->x_rest[3 * (int64_t)i + c]);
    const double scale = 2097151.0 / (m->size > 0 ? m->size : 1);
    for (int32_t k = 0; k < count; ++k)
    {
        const int32_t* v   = m->tet + 4 * (int64_t)list[k].tet;
        uint64_t       key = 0;
        for (int c = 0; c < 3; ++c)
        {
            double p = 0;
            for (int j = 0; j < 4; ++j) p += 0.25 * m->x_rest[3 * (int64_t)v[j] + c];
            key |= spread_bits((uint64_t)((p - lo[c]) * scale)) << c;
        }
        list[k].key = key;
    }
    qsort(list, (size_t)count, sizeof *list, by_key);
}

void flx__patches_release(flx_context* ctx, flx_patches* p)
{
    flx__free(ctx, p->first_block);
    flx__free(ctx, p->first_local);
    flx__free(ctx, p->vertex);
    flx__free(ctx, p->corner);
    flx__free(ctx, p->tet);
    flx__free(ctx, p->rest_inv_f32);
    flx__free(ctx, p->stiffness_f32);
    *p = (flx_patches){0};
}

/// A patch's tets go down its blocks lane by lane: the lanes of a block are then far apart and seldom add to the same
/// local vertex, which would make each addition wait for the one before.
static flx_status build_patches(flx_model* m, int32_t count, keyed* list, flx_patches* p)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = m->ctx;
    int32_t*     local  = NULL; // [vertex_count] local index in the current patch, -1 = not there
    int64_t      room   = 0;

    locality_order(m, count, list);
    p->tet_count   = count;
    p->block_count = 0;
    p->patch_count = (count + PATCH_BLOCKS * FLX_LANES - 1) / (PATCH_BLOCKS * FLX_LANES);
    p->block_count = p->patch_count == 0
                         ? 0
                         : (p->patch_count - 1) * PATCH_BLOCKS +
                               (count - (p->patch_count - 1) * PATCH_BLOCKS * FLX_LANES + FLX_LANES - 1) / FLX_LANES;
    FLX_NEW(ctx, p->first_block, p->patch_count + 1);
    FLX_NEW(ctx, p->first_local, p->patch_count + 1);
    FLX_NEW(ctx, p->corner, (int64_t)p->block_count * 4 * FLX_LANES);
    FLX_NEW(ctx, p->tet, (int64_t)p->block_count * FLX_LANES);
    FLX_NEW(ctx, p->rest_inv_f32, (int64_t)p->block_count * 9 * FLX_LANES);
    FLX_NEW(ctx, p->stiffness_f32, (int64_t)p->block_count * FLX_LANES);
    p->rest_inv_f64  = m->rest_inv;
    p->stiffness_f64 = m->stiffness;
    FLX_NEW(ctx, local, m->vertex_count);
    for (int32_t i = 0; i < m->vertex_count; ++i) local[i] = -1;

    for (int32_t patch = 0; patch < p->patch_count; ++patch)
    {
        const int32_t begin   = patch * PATCH_BLOCKS * FLX_LANES;
        const int32_t end     = begin + PATCH_BLOCKS * FLX_LANES < count ? begin + PATCH_BLOCKS * FLX_LANES : count;
        const int32_t blocks  = (end - begin + FLX_LANES - 1) / FLX_LANES;
        const int32_t first   = p->local_count;
        p->first_block[patch] = patch * PATCH_BLOCKS;
        p->first_local[patch] = first;
        FLX_RESERVE(ctx, p->vertex, room, first + 4 * PATCH_BLOCKS * FLX_LANES);
        for (int32_t k = begin; k < begin + blocks * FLX_LANES; ++k)
        {
            const bool     used  = k < end;
            const int32_t  e     = list[used ? k : end - 1].tet;
            const int32_t  block = patch * PATCH_BLOCKS + (k - begin) % blocks, lane = (k - begin) / blocks;
            const int32_t* v = m->tet + 4 * (int64_t)e;
            for (int c = 0; c < 4; ++c)
            {
                if (local[v[c]] < 0)
                {
                    local[v[c]]                 = p->local_count - first;
                    p->vertex[p->local_count++] = v[c];
                }
                p->corner[((int64_t)block * 4 + c) * FLX_LANES + lane] = (uint16_t)local[v[c]];
            }
            p->tet[(int64_t)block * FLX_LANES + lane] = used ? e : -1;
            for (int c = 0; c < 9; ++c)
            {
                const int64_t at    = ((int64_t)block * 9 + c) * FLX_LANES + lane;
                p->rest_inv_f32[at] = (float)m->rest_inv[9 * (int64_t)e + c];
            }
            const double k_e                                    = used ? m->stiffness[e] : 0;
            p->stiffness_f32[(int64_t)block * FLX_LANES + lane] = (float)k_e;
        }
        for (int32_t i = first; i < p->local_count; ++i) local[p->vertex[i]] = -1;
        if (p->local_count - first > p->local_max) p->local_max = p->local_count - first;
    }
    p->first_block[p->patch_count] = p->block_count;
    p->first_local[p->patch_count] = p->local_count;

done:
    flx__free(ctx, local);
    return status;
}

/// Which local entries are vertex first_vertex + i, ascending: the order in which their forces are added.
static flx_status gather_lists(flx_model* m, const flx_patches* p, int32_t first_vertex, int32_t count,
                               int32_t** out_first, int32_t** out_slot)
{
    flx_status status = FLX_OK;
    int32_t*   key    = NULL;
    FLX_NEW(m->ctx, key, p->local_count);
    for (int32_t i = 0; i < p->local_count; ++i) key[i] = p->vertex[i] - first_vertex;
    FLX_TRY(flx__group(m->ctx, p->local_count, key, count, out_first, out_slot));
done:
    flx__free(m->ctx, key);
    return status;
}

static flx_status spring_lists(flx_model* m)
{
    flx_status status = FLX_OK;
    int32_t*   key    = NULL;
    FLX_NEW(m->ctx, key, 4 * (int64_t)m->spring_count);
    for (int32_t s = 0; s < m->spring_count; ++s)
        for (int c = 0; c < 4; ++c) key[4 * s + c] = m->spring[s].weight[c] != 0 ? m->spring[s].vertex[c] : -1;
    FLX_TRY(flx__group(m->ctx, 4 * m->spring_count, key, m->vertex_count, &m->spring_first, &m->spring_entry));
done:
    flx__free(m->ctx, key);
    return status;
}

flx_status flx__build_elements(flx_build* build)
{
    flx_status   status = FLX_OK;
    flx_model*   m      = build->model;
    flx_context* ctx    = m->ctx;
    keyed *      alpha = NULL, *beta = NULL;
    int32_t      alpha_count = 0, beta_count = 0;

    FLX_TRY(shape_functions(m));
    cloth_masses(m);
    FLX_NEW(ctx, alpha, m->tet_count);
    FLX_NEW(ctx, beta, m->tet_count);
    for (int32_t e = 0; e < m->tet_count; ++e)
    {
        bool prone = true;
        for (int c = 0; c < 4; ++c) prone = prone && m->tet[4 * (int64_t)e + c] >= m->free_count;
        if (prone)
            beta[beta_count++].tet = e;
        else
            alpha[alpha_count++].tet = e;
    }
    FLX_NEW(ctx, m->beta_tet, beta_count);
    for (int32_t k = 0; k < beta_count; ++k) m->beta_tet[k] = beta[k].tet;
    FLX_TRY(build_patches(m, alpha_count, alpha, &m->alpha));
    FLX_TRY(build_patches(m, beta_count, beta, &m->beta));
    FLX_TRY(gather_lists(m, &m->alpha, 0, m->vertex_count, &m->alpha_first, &m->alpha_slot));
    FLX_TRY(gather_lists(m, &m->beta, m->free_count, m->prone_count, &m->beta_first, &m->beta_slot));
    FLX_TRY(spring_lists(m));
done:
    flx__free(ctx, alpha);
    flx__free(ctx, beta);
    return status;
}
