// The body-centred-cubic grid: its twelve tet shapes per cell, what lies across each face, where nodes are.
#include "mesh/lattice_internal.h"

#include <math.h>

// Free cells on each side of the body: one for tets that straddle the outermost cell's face, one so that every cut tet
// has neighbours in range.
#define MARGIN 2

double flx__lattice_site_estimate(double cell, const double box_min[3], const double box_max[3])
{
    double sites = 1.0;
    for (int k = 0; k < 3; ++k) sites *= ceil((box_max[k] - box_min[k]) / cell) + 2 * MARGIN + 1;
    return sites;
}

static void corners_of_shape(int axis, int edge, int32_t corner[4][3])
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int k = 0; k < 3; ++k)
    {
        corner[0][k] = 1;
        corner[1][k] = k == axis ? 3 : 1;
    }
    for (int c = 0; c < 2; ++c) // the face's corners, counter-clockwise seen from +axis
    {
        const int turn      = (edge + c) % 4;
        corner[2 + c][axis] = 2;
        corner[2 + c][u]    = turn == 1 || turn == 2 ? 2 : 0;
        corner[2 + c][v]    = turn >= 2 ? 2 : 0;
    }
}

static void face_normals(lattice_tet_shape* s)
{
    static const int8_t face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    for (int f = 0; f < 4; ++f)
    {
        const int32_t *a = s->corner[face[f][0]], *b = s->corner[face[f][1]], *c = s->corner[face[f][2]];
        int32_t        u[3], v[3], height                                        = 0;
        for (int k = 0; k < 3; ++k)
        {
            u[k] = b[k] - a[k];
            v[k] = c[k] - a[k];
        }
        for (int k = 0; k < 3; ++k)
        {
            s->normal[f][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            height += s->normal[f][k] * (s->corner[f][k] - a[k]);
        }
        if (height < 0)
            for (int k = 0; k < 3; ++k) s->normal[f][k] = -s->normal[f][k];
    }
}

static bool same_point(const int32_t a[3], const int32_t b[3], const int32_t shift[3])
{
    return a[0] == b[0] + 2 * shift[0] && a[1] == b[1] + 2 * shift[1] && a[2] == b[2] + 2 * shift[2];
}

// Try the tets of the cells around: the one that has the three corners of the face is across.
static void find_across(lattice_grid* g, int type, int f)
{
    lattice_tet_shape* s = &g->shape[type];
    for (int32_t n = 0; n < 27 * 12; ++n)
    {
        const int32_t            shift[3] = {n / 12 % 3 - 1, n / 36 % 3 - 1, n / 108 - 1};
        const int                other    = n % 12;
        const lattice_tet_shape* o        = &g->shape[other];
        int8_t                   map[4] = {-1, -1, -1, -1}, matched = 0, free_corner = 6; // 0 + 1 + 2 + 3
        for (int8_t c = 0; c < 4; ++c)
            for (int8_t d = 0; d < 4 && c != f; ++d)
                if (same_point(s->corner[c], o->corner[d], shift))
                {
                    map[c] = d;
                    ++matched;
                    free_corner = (int8_t)(free_corner - d);
                }
        if (matched != 3 || (other == type && !shift[0] && !shift[1] && !shift[2])) continue;
        const int64_t site = shift[0] + (int64_t)g->sites[0] * (shift[1] + (int64_t)g->sites[1] * shift[2]);
        s->across[f].tet   = 12 * site + other - type;
        s->across[f].face  = free_corner;
        for (int c = 0; c < 4; ++c) s->across[f].corner[c] = map[c];
        return;
    }
    FLX_ASSERT(false);
}

void flx__lattice_grid_make(double cell, const double box_min[3], const double box_max[3], const double* shift,
                            lattice_grid* g)
{
    g->cell       = cell;
    g->site_count = 1;
    for (int k = 0; k < 3; ++k)
    {
        // the box's middle falls on a corner or a centre: a symmetric body gets a symmetric lattice
        g->cells[k]  = (int32_t)ceil((box_max[k] - box_min[k]) / cell) + 2 * MARGIN;
        g->origin[k] = 0.5 * (box_min[k] + box_max[k]) - cell * (0.5 * g->cells[k] + (shift ? shift[k] : 0.0));
        g->cells[k] += shift != NULL;
        g->sites[k] = g->cells[k] + 1;
        g->site_count *= g->sites[k];
    }
    for (int type = 0; type < 12; ++type)
    {
        lattice_tet_shape* s = &g->shape[type];
        corners_of_shape(type / 4, type % 4, s->corner);
        face_normals(s);
        for (int k = 0; k < 3; ++k)
        {
            s->low[k] = s->high[k] = s->corner[0][k];
            for (int c = 1; c < 4; ++c)
            {
                if (s->corner[c][k] < s->low[k]) s->low[k] = s->corner[c][k];
                if (s->corner[c][k] > s->high[k]) s->high[k] = s->corner[c][k];
            }
        }
        for (int c = 0; c < 4; ++c)
        {
            const int32_t* p = s->corner[c];
            s->node[c] =
                2 * (p[0] / 2 + (int64_t)g->sites[0] * (p[1] / 2 + (int64_t)g->sites[1] * (p[2] / 2))) + p[0] % 2;
            FLX_ASSERT(p[0] % 2 == p[1] % 2 && p[0] % 2 == p[2] % 2);
        }
    }
    for (int type = 0; type < 12; ++type)
        for (int f = 0; f < 4; ++f) find_across(g, type, f);
}

void flx__lattice_node_position(const lattice_grid* g, int64_t node, double out[3])
{
    int32_t ijk[3];
    flx__lattice_site_ijk(g, node / 2, ijk);
    for (int k = 0; k < 3; ++k) out[k] = g->origin[k] + g->cell * (ijk[k] + 0.5 * (double)(node & 1));
}
