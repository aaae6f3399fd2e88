// From pieces to vertices: which copies share their nodes, and the numbering of vertices and tets.
//
// Every copy starts with four nodes of its own (slots). Across a lattice face, two copies are glued at the face's three
// nodes when they share material in that face: a triangle that meets the face and bounds both pieces, or an inside
// corner that lies in both. An inside node's material is one thing wherever it is seen from, so it has one slot for
// all. Whole tets (no surface, all corners inside) take those.
//
// Two copies of a lattice tet that end with the same four nodes are one tet: the gap between them ends inside.
//
// Numbering: tets go through the grid in bricks of 8 x 8 x 8 cells, vertices are numbered as tets first use them.
#include "mesh/lattice_internal.h"

#include "base/sets.h"

#include <string.h>

#define BRICK 8

typedef struct glue
{
    flx_context*               ctx;
    const lattice_grid*        grid;
    const lattice_raster*      raster;
    const lattice_material*    material;
    const lattice_pieces*      pieces;
    const flx_lattice_options* options;
    flx_lattice*               lattice;

    int64_t  copy_count;
    int32_t* node_slot; // [2 site_count] of inside nodes at cut tets; -1 = none; -2 - vertex where only whole tets meet
    int32_t* parent;    // [4 copy_count + node slots]
    int64_t  slot_count;
    int32_t* vertex_of;   // [slot_count] -1 = not numbered yet
    int32_t* lattice_tet; // [tets]
    int32_t* copy_tet;    // [copy_count]
    int64_t* vertex_node; // [vertices]
    int64_t  tet_capacity, vertex_capacity;
} glue;

// --- gluing -------------------------------------------------------------------------------------------------------

static void number_inside_nodes(glue* g)
{
    g->slot_count = 4 * g->copy_count;
    for (int64_t i = 0; i < g->material->cut_count; ++i)
    {
        const int64_t tet = g->material->cut_tet[i];
        for (int c = 0; c < 4; ++c)
        {
            const int64_t node = 2 * (tet / 12) + g->grid->shape[tet % 12].node[c];
            if (g->pieces->of_corner[4 * i + c] >= 0 && g->node_slot[node] < 0)
                g->node_slot[node] = (int32_t)g->slot_count++;
        }
    }
}

static void glue_inside_nodes(glue* g)
{
    for (int64_t i = 0; i < g->material->cut_count; ++i)
    {
        const int64_t tet = g->material->cut_tet[i];
        for (int c = 0; c < 4; ++c)
        {
            const int32_t piece = g->pieces->of_corner[4 * i + c];
            if (piece < 0) continue;
            const int64_t node = 2 * (tet / 12) + g->grid->shape[tet % 12].node[c];
            flx__set_join(g->parent, (int32_t)(4 * (g->pieces->first[i] + piece) + c), g->node_slot[node]);
        }
    }
}

static void glue_copies(glue* g, int64_t copy, int64_t other, const int8_t corner[4])
{
    for (int c = 0; c < 4; ++c)
        if (corner[c] >= 0) flx__set_join(g->parent, (int32_t)(4 * copy + c), (int32_t)(4 * other + corner[c]));
}

static void glue_across(glue* g, int64_t i, int64_t j, int face)
{
    const lattice_tet_shape* s      = &g->grid->shape[g->material->cut_tet[i] % 12];
    const int8_t*            corner = s->across[face].corner;
    const lattice_pieces*    p      = g->pieces;
    int64_t                  a = g->material->cut_meet[i], b = g->material->cut_meet[j];
    const int64_t            a_end = g->material->cut_meet[i + 1], b_end = g->material->cut_meet[j + 1];
    int32_t                  last_a = -1, last_b = -1;

    for (int c = 0; c < 4; ++c)
    {
        if (corner[c] < 0) continue;
        const int32_t own = p->of_corner[4 * i + c], theirs = p->of_corner[4 * j + corner[c]];
        if (own >= 0 && theirs >= 0) glue_copies(g, p->first[i] + own, p->first[j] + theirs, corner);
    }
    for (; a < a_end; ++a) // both lists ascend by triangle
    {
        const lattice_meet* m = &g->raster->meet[a];
        if (!(m->bits & FLX_MEET_FACE(face))) continue;
        while (b < b_end && g->raster->meet[b].triangle < m->triangle) ++b;
        if (b == b_end) break;
        if (g->raster->meet[b].triangle != m->triangle) continue;
        if (p->of_meet[a] == last_a && p->of_meet[b] == last_b) continue; // done with these two
        last_a = p->of_meet[a];
        last_b = p->of_meet[b];
        glue_copies(g, p->first[i] + last_a, p->first[j] + last_b, corner);
    }
}

static void glue_faces(glue* g)
{
    for (int64_t i = 0; i < g->material->cut_count; ++i)
    {
        const int64_t tet = g->material->cut_tet[i];
        for (int f = 0; f < 4; ++f)
        {
            const int64_t beyond = tet + g->grid->shape[tet % 12].across[f].tet;
            if (beyond < tet) continue; // seen from the other side already
            const int64_t j = flx__lattice_cut_of(g->material, beyond);
            if (j >= 0) glue_across(g, i, j, f);
        }
    }
}

// --- numbering ------------------------------------------------------------------------------------------------------

static flx_status new_vertex(glue* g, int64_t node, int32_t* vertex)
{
    flx_status status = FLX_OK;
    FLX_RESERVE(g->ctx, g->vertex_node, g->vertex_capacity, g->lattice->vertex_count + 1);
    *vertex                 = g->lattice->vertex_count++;
    g->vertex_node[*vertex] = node;
done:
    return status;
}

static flx_status new_tet(glue* g, int64_t tet, const int32_t corner[4])
{
    flx_status   status = FLX_OK;
    flx_lattice* l      = g->lattice;
    if (l->tet_count == g->tet_capacity)
    {
        int64_t capacity = g->tet_capacity;
        FLX_RESERVE(g->ctx, g->lattice_tet, capacity, l->tet_count + 1);
        int32_t* grown = flx__realloc(g->ctx, l->tet, 4 * capacity, sizeof *grown);
        if (!grown) return FLX_ERR_MEMORY; // tet_capacity still says what both arrays can hold
        l->tet          = grown;
        g->tet_capacity = capacity;
    }
    memcpy(l->tet + 4 * (int64_t)l->tet_count, corner, 4 * sizeof *corner);
    g->lattice_tet[l->tet_count++] = (int32_t)tet;
done:
    return status;
}

static flx_status number_whole(glue* g, int64_t tet)
{
    flx_status               status = FLX_OK;
    const lattice_tet_shape* s      = &g->grid->shape[tet % 12];
    int32_t                  corner[4];
    for (int c = 0; c < 4; ++c)
    {
        const int64_t node = 2 * (tet / 12) + s->node[c];
        const int32_t slot = g->node_slot[node];
        if (slot <= -2)
        {
            corner[c] = -2 - slot;
            continue;
        }
        int32_t* vertex = slot >= 0 ? &g->vertex_of[flx__set_root(g->parent, slot)] : &corner[c];
        if (slot < 0 || *vertex < 0) FLX_TRY(new_vertex(g, node, vertex));
        corner[c] = *vertex;
        if (slot == -1) g->node_slot[node] = -2 - corner[c];
    }
    FLX_TRY(new_tet(g, tet, corner));
done:
    return status;
}

static flx_status number_cut(glue* g, int64_t cut)
{
    flx_status               status = FLX_OK;
    const int64_t            tet    = g->material->cut_tet[cut];
    const lattice_tet_shape* s      = &g->grid->shape[tet % 12];
    const int32_t            before = g->lattice->tet_count;
    for (int64_t copy = g->pieces->first[cut]; copy < g->pieces->first[cut + 1]; ++copy)
    {
        int32_t corner[4];
        for (int c = 0; c < 4; ++c)
        {
            int32_t* vertex = &g->vertex_of[flx__set_root(g->parent, (int32_t)(4 * copy + c))];
            if (*vertex < 0) FLX_TRY(new_vertex(g, 2 * (tet / 12) + s->node[c], vertex));
            corner[c] = *vertex;
        }
        for (int32_t t = before; t < g->lattice->tet_count && g->copy_tet[copy] < 0; ++t)
            if (!memcmp(g->lattice->tet + 4 * (int64_t)t, corner, sizeof corner)) g->copy_tet[copy] = t;
        if (g->copy_tet[copy] >= 0) continue; // same four nodes as an earlier copy
        g->copy_tet[copy] = g->lattice->tet_count;
        FLX_TRY(new_tet(g, tet, corner));
    }
done:
    return status;
}

static flx_status number_site(glue* g, int64_t site)
{
    flx_status    status = FLX_OK;
    int64_t       cut    = g->material->cut_first[site];
    const int64_t end    = g->material->cut_first[site + 1];
    if (cut == end && !flx__lattice_inside(g->material, 2 * site + 1)) return FLX_OK; // no tet without its own centre
    for (int type = 0; type < 12; ++type)
    {
        const int64_t tet    = 12 * site + type;
        const bool    is_cut = cut < end && g->material->cut_tet[cut] == tet;
        if (is_cut || flx__lattice_tet_inside(g->grid, g->material, tet))
            if (flx__lattice_tet_wanted(g->grid, g->options, tet))
                FLX_TRY(is_cut ? number_cut(g, cut) : number_whole(g, tet));
        cut += is_cut;
    }
done:
    return status;
}

static flx_status number_all(glue* g)
{
    flx_status     status = FLX_OK;
    const int32_t* cells  = g->grid->cells;
    for (int32_t bk = 0; bk < cells[2]; bk += BRICK)
        for (int32_t bj = 0; bj < cells[1]; bj += BRICK)
            for (int32_t bi = 0; bi < cells[0]; bi += BRICK)
                for (int32_t k = bk; k < bk + BRICK && k < cells[2] - 1; ++k)
                    for (int32_t j = bj; j < bj + BRICK && j < cells[1] - 1; ++j)
                        for (int32_t i = bi; i < bi + BRICK && i < cells[0] - 1; ++i)
                            FLX_TRY(number_site(g, i + g->grid->sites[0] * (j + (int64_t)g->grid->sites[1] * k)));
done:
    return status;
}

static flx_status place_vertices(glue* g)
{
    flx_status status = FLX_OK;
    uint8_t*   seen   = NULL; // copies of each cell: 0, 1, 2 = more
    FLX_NEW(g->ctx, g->lattice->x, 3 * (int64_t)g->lattice->vertex_count);
    FLX_NEW_ZERO(g->ctx, seen, g->grid->site_count);
    for (int64_t v = 0; v < g->lattice->vertex_count; ++v)
    {
        const int64_t node = g->vertex_node[v];
        flx__lattice_node_position(g->grid, node, g->lattice->x + 3 * v);
        if (node % 2 == 0) continue;
        ++g->lattice->cell_count;
        if (seen[node / 2] == 1) ++g->lattice->copied_cells;
        if (seen[node / 2] < 2) ++seen[node / 2];
    }
done:
    flx__free(g->ctx, seen);
    return status;
}

flx_status flx__lattice_glue(flx_context* ctx, const lattice_grid* grid, const lattice_raster* raster,
                             const lattice_material* material, const lattice_pieces* pieces,
                             const flx_lattice_options* options, flx_lattice* lattice, int32_t** lattice_tet,
                             int32_t** copy_tet)
{
    flx_status status = FLX_OK;
    glue       g      = {.ctx        = ctx,
                         .grid       = grid,
                         .raster     = raster,
                         .material   = material,
                         .pieces     = pieces,
                         .options    = options,
                         .lattice    = lattice,
                         .copy_count = pieces->first[material->cut_count]};

    *lattice_tet = NULL;
    *copy_tet    = NULL;
    if (8 * g.copy_count > INT32_MAX)
        return flx__fail(ctx, FLX_ERR_SETTING, "the surface cuts %lld lattice tets: too many; use a larger cell",
                         (long long)g.copy_count);

    FLX_NEW(ctx, g.node_slot, 2 * grid->site_count);
    memset(g.node_slot, 0xFF, 2 * (size_t)grid->site_count * sizeof *g.node_slot);
    number_inside_nodes(&g);
    FLX_NEW(ctx, g.parent, g.slot_count);
    FLX_NEW(ctx, g.vertex_of, g.slot_count);
    FLX_NEW(ctx, g.copy_tet, g.copy_count);
    for (int64_t i = 0; i < g.slot_count; ++i)
    {
        g.parent[i]    = (int32_t)i;
        g.vertex_of[i] = -1;
    }
    memset(g.copy_tet, 0xFF, (size_t)g.copy_count * sizeof *g.copy_tet);
    glue_inside_nodes(&g);
    glue_faces(&g);

    g.tet_capacity = material->kept_count + material->kept_count / 64 + 16;
    FLX_NEW(ctx, lattice->tet, 4 * g.tet_capacity);
    FLX_NEW(ctx, g.lattice_tet, g.tet_capacity);
    FLX_TRY(number_all(&g));
    FLX_TRY(place_vertices(&g));
    *lattice_tet  = g.lattice_tet;
    *copy_tet     = g.copy_tet;
    g.lattice_tet = NULL;
    g.copy_tet    = NULL;

done:
    flx__free(ctx, g.node_slot);
    flx__free(ctx, g.parent);
    flx__free(ctx, g.vertex_of);
    flx__free(ctx, g.vertex_node);
    flx__free(ctx, g.lattice_tet);
    flx__free(ctx, g.copy_tet);
    return status;
}
