// Finding the tet for a point at rest: by arithmetic, since the lattice is regular.
//
// In the cell's own coordinates the largest component tells the face, the larger of the other two the face's edge: that
// names the lattice tet. Where it was copied, the copy is the one that holds the given triangle, else the one whose
// nearest triangle is nearest: from inside a piece its own wall is the first surface met, and from the gap between two
// pieces the nearer one is wanted. Outside the kept tets, cells are searched in growing shells.
#include "mesh/lattice_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct wall // a triangle in a lattice tet that has copies
{
    int32_t triangle;
    int32_t tet;
    double  p[3][3]; // m
} wall;

typedef struct lattice_lookup
{
    lattice_grid grid;
    int32_t*     site_first;  // [site_count] first tet of the site; -1 = none
    int32_t*     lattice_tet; // [tet_count]
    int64_t      copied_count;
    int32_t*     copied;     // [copied_count] lattice tets that have copies, ascending
    int64_t*     wall_first; // [copied_count + 1]
    wall*        wall;
} lattice_lookup;

// --- build ----------------------------------------------------------------------------------------------------------

static bool has_copies(const lattice_pieces* p, const int32_t* copy_tet, int64_t cut)
{
    for (int64_t copy = p->first[cut] + 1; copy < p->first[cut + 1]; ++copy)
        if (copy_tet[copy] != copy_tet[p->first[cut]]) return true;
    return false;
}

static flx_status keep_walls(flx_context* ctx, const lattice_surface* surface, const lattice_raster* raster,
                             const lattice_material* material, const lattice_pieces* pieces, const int32_t* copy_tet,
                             lattice_lookup* u)
{
    flx_status status = FLX_OK;
    int64_t    walls  = 0;
    for (int64_t cut = 0; cut < material->cut_count; ++cut)
        if (has_copies(pieces, copy_tet, cut))
        {
            ++u->copied_count;
            walls += material->cut_meet[cut + 1] - material->cut_meet[cut];
        }
    FLX_NEW(ctx, u->copied, u->copied_count);
    FLX_NEW(ctx, u->wall_first, u->copied_count + 1);
    FLX_NEW(ctx, u->wall, walls);

    int64_t n = 0, w = 0;
    for (int64_t cut = 0; cut < material->cut_count; ++cut)
    {
        if (!has_copies(pieces, copy_tet, cut)) continue;
        u->copied[n]       = material->cut_tet[cut];
        u->wall_first[n++] = w;
        for (int64_t i = material->cut_meet[cut]; i < material->cut_meet[cut + 1]; ++i, ++w)
        {
            const int64_t t     = raster->meet[i].triangle;
            u->wall[w].triangle = (int32_t)t;
            u->wall[w].tet      = copy_tet[pieces->first[cut] + pieces->of_meet[i]];
            for (int c = 0; c < 3; ++c)
                memcpy(u->wall[w].p[c], surface->x + 3 * (int64_t)surface->triangle[3 * t + c], sizeof u->wall[w].p[c]);
        }
    }
    u->wall_first[n] = w;
done:
    return status;
}

flx_status flx__lattice_lookup_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    const lattice_raster* raster, const lattice_material* material,
                                    const lattice_pieces* pieces, const int32_t* copy_tet, int32_t* lattice_tet,
                                    flx_lattice* lattice)
{
    flx_status      status = FLX_OK;
    lattice_lookup* u      = flx__alloc_zero(ctx, 1, sizeof *u);
    if (!u)
    {
        flx__free(ctx, lattice_tet);
        return FLX_ERR_MEMORY;
    }
    u->grid        = *grid;
    u->lattice_tet = lattice_tet;
    FLX_NEW(ctx, u->site_first, grid->site_count);
    memset(u->site_first, 0xFF, (size_t)grid->site_count * sizeof *u->site_first);
    for (int32_t t = lattice->tet_count - 1; t >= 0; --t) u->site_first[lattice_tet[t] / 12] = t;
    FLX_TRY(keep_walls(ctx, surface, raster, material, pieces, copy_tet, u));
    lattice->lookup = u;
    u               = NULL;

done:
    flx__lattice_lookup_destroy(ctx, u);
    return status;
}

void flx__lattice_lookup_destroy(flx_context* ctx, void* lookup)
{
    lattice_lookup* u = lookup;
    if (!u) return;
    flx__free(ctx, u->site_first);
    flx__free(ctx, u->lattice_tet);
    flx__free(ctx, u->copied);
    flx__free(ctx, u->wall_first);
    flx__free(ctx, u->wall);
    flx__free(ctx, u);
}

// --- query ---------------------------------------------------------------------------------------------------

static int32_t first_copy(const flx_lattice* l, const lattice_lookup* u, int64_t tet)
{
    int32_t t = u->site_first[tet / 12];
    if (t < 0) return -1;
    while (t < l->tet_count && u->lattice_tet[t] < tet && u->lattice_tet[t] / 12 == tet / 12) ++t;
    return t < l->tet_count && u->lattice_tet[t] == tet ? t : -1;
}

// The lattice tet that holds p, or -1 when p is outside the grid.
static int64_t lattice_tet_at(const lattice_grid* g, const double p[3])
{
    int64_t site = 0, stride = 1;
    double  r[3]; // from the cell's centre, cells
    for (int k = 0; k < 3; ++k)
    {
        const double q = (p[k] - g->origin[k]) / g->cell;
        if (!(q >= 1.0 && q < g->cells[k] - 1.0)) return -1;
        r[k] = q - floor(q) - 0.5;
        site += stride * (int64_t)floor(q);
        stride *= g->sites[k];
    }
    int axis = fabs(r[1]) > fabs(r[0]) ? 1 : 0;
    if (fabs(r[2]) > fabs(r[axis])) axis = 2;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const int edge = fabs(r[u]) > fabs(r[v]) ? (r[u] > 0.0 ? 1 : 3) : (r[v] > 0.0 ? 2 : 0);
    if (r[axis] < 0.0) site -= axis == 0 ? 1 : axis == 1 ? g->sites[0] : (int64_t)g->sites[0] * g->sites[1];
    return 12 * site + 4 * axis + edge;
}

static int32_t choose_copy(const lattice_lookup* u, int64_t tet, int32_t fallback, const double p[3], int32_t triangle)
{
    int64_t low = 0, high = u->copied_count;
    while (low < high)
    {
        const int64_t mid = (low + high) / 2;
        if (u->copied[mid] < tet)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == u->copied_count || u->copied[low] != tet) return fallback;

    double  best  = INFINITY;
    int32_t found = fallback;
    for (int64_t i = u->wall_first[low]; i < u->wall_first[low + 1]; ++i)
    {
        const wall* w = &u->wall[i];
        if (w->tet < 0) continue;
        if (w->triangle == triangle) return w->tet;
        const double d2 = flx__triangle_distance2(w->p[0], w->p[1], w->p[2], p);
        if (d2 < best)
        {
            best  = d2;
            found = w->tet;
        }
    }
    return found;
}

typedef struct nearest
{
    const flx_lattice*    lattice;
    const lattice_lookup* lookup;
    const double*         p;
    double                best2;
    int32_t               tet;
} nearest;

static void try_site(nearest* n, const int64_t at[3])
{
    const lattice_grid* g    = &n->lookup->grid;
    const int64_t       site = at[0] + g->sites[0] * (at[1] + g->sites[1] * at[2]);
    int32_t             t    = n->lookup->site_first[site];
    if (t < 0) return;
    double away2 = 0.0; // from the box that the site's tets reach: one and a half cells from its low corner
    for (int k = 0; k < 3; ++k)
    {
        const double q = (n->p[k] - g->origin[k]) / g->cell - (double)at[k];
        const double d = g->cell * fmax(fmax(-q, q - 1.5), 0.0);
        away2 += d * d;
    }
    if (away2 * (1.0 - 1e-12) > n->best2) return;
    for (; t < n->lattice->tet_count && n->lookup->lattice_tet[t] / 12 == site; ++t)
    {
        double       w[4];
        const double d2 = flx__tet_distance2(n->lattice->x, n->lattice->tet + 4 * (int64_t)t, n->p, w);
        if (d2 > n->best2 || (d2 == n->best2 && t > n->tet)) continue;
        n->best2 = d2;
        n->tet   = t;
    }
}

// Shells of cells around the point's own cell, or around the grid's cell nearest to it.
static double find_nearest(const flx_lattice* l, const lattice_lookup* u, const double p[3], int32_t* tet)
{
    const lattice_grid* g = &u->grid;
    nearest             n = {l, u, p, INFINITY, -1};
    int64_t             middle[3], last = 0;
    double              away2 = 0.0; // from the grid's box
    for (int k = 0; k < 3; ++k)
    {
        const double q = p[k] - g->origin[k], in = fmin(fmax(q, 0.0), g->cell * g->cells[k]);
        away2 += (q - in) * (q - in);
        middle[k] = (int64_t)(in / g->cell);
        if (middle[k] > g->cells[k] - 1) middle[k] = g->cells[k] - 1;
        if (g->cells[k] > last) last = g->cells[k];
    }
    for (int64_t r = 0; r <= last; ++r)
    {
        const double reach = r > 2 ? (double)(r - 2) * g->cell : 0.0; // as above, with rounding to spare
        if (away2 + reach * reach > n.best2) break;
        int64_t low[3], high[3], at[3];
        for (int k = 0; k < 3; ++k)
        {
            low[k]  = middle[k] > r ? middle[k] - r : 0;
            high[k] = middle[k] + r < g->cells[k] ? middle[k] + r : g->cells[k] - 1;
        }
        for (at[2] = low[2]; at[2] <= high[2]; ++at[2])
            for (at[1] = low[1]; at[1] <= high[1]; ++at[1])
            {
                const bool whole = llabs(at[2] - middle[2]) == r || llabs(at[1] - middle[1]) == r;
                for (at[0] = whole ? low[0] : middle[0] - r; at[0] <= high[0]; at[0] += whole || r == 0 ? 1 : 2 * r)
                    if (at[0] >= 0) try_site(&n, at);
            }
    }
    *tet = n.tet;
    return sqrt(n.best2);
}

double flx__lattice_embed(const flx_lattice* lattice, const double p[3], int32_t triangle, flx_embedded* out)
{
    const lattice_lookup* u        = lattice->lookup;
    double                distance = 0.0;

    *out = (flx_embedded){.tet = -1};
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) return INFINITY;
    const int64_t tet = lattice_tet_at(&u->grid, p);
    int32_t       t   = tet >= 0 ? first_copy(lattice, u, tet) : -1;
    if (t < 0) distance = find_nearest(lattice, u, p, &t);
    out->tet = choose_copy(u, u->lattice_tet[t], t, p, triangle);
    flx__tet_weights(lattice->x, lattice->tet + 4 * (int64_t)out->tet, p, out->weight);
    return distance;
}
