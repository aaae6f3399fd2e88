// Which nodes of the lattice lie inside the body, which tets the surface cuts, and how many will be kept.
//
// For a surface whose edges are all balanced the winding number is a whole number everywhere and changes by one at each
// crossing, so it is summed along x from the outside, exactly: corners along corner edges, centres along centre edges.
// For any other surface (open, partly turned) it is the generalized winding number of [Jacobson13], node by node.
#include "mesh/lattice_internal.h"
#include "mesh/shape.h"

#include <string.h>

typedef struct material_args
{
    const lattice_grid*        grid;
    const lattice_surface*     surface;
    const flx_triangle_bvh*    bvh;
    const lattice_raster*      raster;
    const flx_lattice_options* options;
    lattice_material*          m;
    bool                       fill;     // second pass over cut tets
    int64_t*                   row_cut;  // [rows + 1] cut tets of each row of sites, then where they begin
    int64_t*                   row_kept; // [rows]
} material_args;

// --- winding numbers ----------------------------------------------------------------------------------------------

// Steps of the winding number along +x, stored at the node after the crossing. Two of a cell's twelve tets hold its two
// x edges: tet 0 from centre to centre, tet 7 (the face towards +y) from corner (0, 1, 0) to (1, 1, 0), its edge 3
// to 2.
static void mark_crossings(const material_args* a)
{
    const lattice_grid* g = a->grid;
    for (int64_t i = 0; i < a->raster->meet_count; ++i)
    {
        const lattice_meet* meet = &a->raster->meet[i];
        const int           type = meet->tet % 12;
        int                 from, to;
        if (type == 0 && (meet->bits & FLX_MEET_EDGE(0)))
        {
            from = 0;
            to   = 1;
        }
        else if (type == 7 && (meet->bits & FLX_MEET_EDGE(5)))
        {
            from = 3;
            to   = 2;
        }
        else
            continue;
        const int64_t node = 2 * (int64_t)(meet->tet / 12) + g->shape[type].node[to];
        a->m->winding[node] += meet->bits & FLX_MEET_ABOVE(from) ? 1.0f : -1.0f;
    }
}

static void sum_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const material_args* a    = user;
    const float          sign = (float)a->surface->sign;
    (void)worker;
    for (int64_t row = begin; row < end; ++row)
    {
        float* w      = a->m->winding + 2 * row * a->grid->sites[0];
        float  sum[2] = {0.0f, 0.0f};
        for (int32_t i = 0; i < 2 * a->grid->sites[0]; ++i)
        {
            sum[i & 1] += w[i];
            w[i] = sign * sum[i & 1];
        }
    }
}

static void ask_winding(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const material_args* a = user;
    (void)worker;
    for (int64_t node = begin; node < end; ++node)
    {
        double p[3];
        flx__lattice_node_position(a->grid, node, p);
        bool outside = false;
        for (int k = 0; k < 3; ++k) outside |= p[k] < a->surface->box_min[k] || p[k] > a->surface->box_max[k];
        a->m->winding[node] = outside ? 0.0f : (float)(a->surface->sign * flx__triangle_bvh_winding(a->bvh, p));
    }
}

// --- cut and whole tets -------------------------------------------------------------------------------------------

static int corners_inside(const material_args* a, int64_t site, int type)
{
    const lattice_tet_shape* s     = &a->grid->shape[type];
    int                      count = 0;
    for (int c = 0; c < 4; ++c) count += flx__lattice_inside(a->m, 2 * site + s->node[c]);
    return count;
}

static bool last_layer(const lattice_grid* g,
                       int64_t             site) // has no tets: its cells are outside the grid, or at its rim
{
    int32_t ijk[3];
    flx__lattice_site_ijk(g, site, ijk);
    return ijk[0] > g->cells[0] - 2 || ijk[1] > g->cells[1] - 2 || ijk[2] > g->cells[2] - 2;
}

static void scan_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const material_args* a = user;
    const lattice_grid*  g = a->grid;
    (void)worker;
    for (int64_t row = begin; row < end; ++row)
    {
        int64_t cut = a->fill ? a->row_cut[row] : 0, kept = 0;
        for (int64_t site = row * g->sites[0]; site < (row + 1) * g->sites[0]; ++site)
        {
            int64_t meet = a->raster->first[site];
            if (a->fill) a->m->cut_first[site] = (int32_t)cut;
            if (last_layer(g, site)) continue;
            for (int type = 0; type < 12; ++type)
            {
                const int64_t tet   = 12 * site + type;
                const int64_t first = meet;
                while (meet < a->raster->first[site + 1] && a->raster->meet[meet].tet == tet) ++meet;
                const int  inside = corners_inside(a, site, type);
                const bool is_cut = meet > first || (inside > 0 && inside < 4); // the latter at holes of the surface
                if (is_cut && a->fill)
                {
                    a->m->cut_tet[cut]  = (int32_t)tet;
                    a->m->cut_meet[cut] = first;
                }
                cut += is_cut;
                if (!a->fill && (is_cut || inside == 4)) kept += flx__lattice_tet_wanted(g, a->options, tet);
            }
        }
        if (!a->fill)
        {
            a->row_cut[row]  = cut;
            a->row_kept[row] = kept;
        }
    }
}

flx_status flx__lattice_material_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                      const flx_triangle_bvh* bvh, const lattice_raster* raster,
                                      const flx_lattice_options* options, lattice_material* m)
{
    flx_status    status = FLX_OK;
    const int64_t rows   = (int64_t)grid->sites[1] * grid->sites[2];
    material_args a      = {grid, surface, bvh, raster, options, m, false, NULL, NULL};

    *m           = (lattice_material){0};
    m->threshold = (float)surface->threshold;
    FLX_NEW_ZERO(ctx, m->winding, 2 * grid->site_count);
    FLX_NEW(ctx, a.row_cut, rows + 1);
    FLX_NEW(ctx, a.row_kept, rows);
    if (surface->balanced)
    {
        mark_crossings(&a);
        flx__parallel_for(ctx, rows, 64, sum_rows, &a);
    }
    else
        flx__parallel_for(ctx, 2 * grid->site_count, 1024, ask_winding, &a);

    flx__parallel_for(ctx, rows, 16, scan_rows, &a);
    for (int64_t row = 0; row < rows; ++row)
    {
        const int64_t cut = a.row_cut[row];
        a.row_cut[row]    = m->cut_count;
        m->cut_count += cut;
        m->kept_count += a.row_kept[row];
    }
    FLX_NEW(ctx, m->cut_tet, m->cut_count);
    FLX_NEW(ctx, m->cut_meet, m->cut_count + 1);
    FLX_NEW(ctx, m->cut_first, grid->site_count + 1);
    a.fill = true;
    flx__parallel_for(ctx, rows, 16, scan_rows, &a);
    m->cut_meet[m->cut_count]      = raster->meet_count;
    m->cut_first[grid->site_count] = (int32_t)m->cut_count;

done:
    flx__free(ctx, a.row_cut);
    flx__free(ctx, a.row_kept);
    if (status != FLX_OK) flx__lattice_material_release(ctx, m);
    return status;
}

void flx__lattice_material_release(flx_context* ctx, lattice_material* m)
{
    flx__free(ctx, m->winding);
    flx__free(ctx, m->cut_tet);
    flx__free(ctx, m->cut_meet);
    flx__free(ctx, m->cut_first);
    *m = (lattice_material){0};
}

// --- questions ------------------------------------------------------------------------------------------------------

bool flx__lattice_tet_inside(const lattice_grid* grid, const lattice_material* material, int64_t tet)
{
    const lattice_tet_shape* s    = &grid->shape[tet % 12];
    const int64_t            node = 2 * (tet / 12);
    return flx__lattice_inside(material, node + s->node[0]) && flx__lattice_inside(material, node + s->node[1]) &&
           flx__lattice_inside(material, node + s->node[2]) && flx__lattice_inside(material, node + s->node[3]);
}

bool flx__lattice_tet_wanted(const lattice_grid* grid, const flx_lattice_options* options, int64_t tet)
{
    if (options->crop_count == 0) return true;
    const lattice_tet_shape* s = &grid->shape[tet % 12];
    double                   middle[3];
    flx__lattice_node_position(grid, 2 * (tet / 12), middle);
    for (int k = 0; k < 3; ++k)
        middle[k] += 0.125 * grid->cell * (s->corner[0][k] + s->corner[1][k] + s->corner[2][k] + s->corner[3][k]);
    for (int32_t i = 0; i < options->crop_count; ++i)
        if (flx__shape_contains(&options->crop[i], middle)) return true;
    return false;
}

int64_t flx__lattice_cut_of(const lattice_material* m, int64_t tet)
{
    const int64_t site = tet / 12;
    for (int64_t i = m->cut_first[site]; i < m->cut_first[site + 1]; ++i)
        if (m->cut_tet[i] == tet) return i;
    return -1;
}
