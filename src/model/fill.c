// How much of each lattice tet is material: a lattice covers more than the body, but must not weigh more.
//
// The signed distance at a tet's corners, taken as linear inside, cuts it with a plane; the share on the negative side
// is
//   one corner inside:   prod_{b outside} phi_a / (phi_a - phi_b)
//   three inside:        1 - the same of the corner outside
//   two inside (a, b; c, d outside), with f_ij = phi_i / (phi_i - phi_j):
//                        f_ac f_ad + f_bd f_bc + ... = f_ac f_ad (1 - f_bd) + f_bd f_bc (1 - f_ac) + f_ac f_bd
// Corners farther from the surface than a cell are inside: what lies outside of the material touches it within a cell.
// Stiffness is left whole: a thin share of a cell would make the matrix worse and the skin soft.
#include "model/model.h"

#include <math.h>
#include <string.h>

#define FAR_CELLS 1.05

typedef struct fill_args
{
    const flx_model* m;
    const flx_body*  b;
    double*          phi;  // [vertex_count of the body] m, negative inside
    float*           fill; // [tet_count of the body]
} fill_args;

static void distance_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const fill_args* a     = user;
    const double     reach = FAR_CELLS * a->b->cell;
    for (int64_t i = begin; i < end; ++i)
    {
        const double* p = a->m->user_rest + 3 * (a->b->vertex_first + i);
        flx_closest   closest;
        a->phi[i] = -reach;
        if (!flx__triangle_bvh_closest(a->b->whole_bvh, p, reach, &closest)) continue;
        a->phi[i] = flx__triangle_bvh_winding(a->b->whole_bvh, p) > 0.5 ? -closest.distance : closest.distance;
    }
}

/// Share of a tet where a linear function with these corner values is negative.
double flx__negative_share(const double phi[4])
{
    int in[4], out[4], n = 0, o = 0;
    for (int i = 0; i < 4; ++i)
    {
        if (phi[i] < 0)
            in[n++] = i;
        else
            out[o++] = i;
    }
    if (n == 0) return 0;
    if (n == 4) return 1;
    if (n == 2)
    {
        const double a = phi[in[0]], b = phi[in[1]], c = phi[out[0]], d = phi[out[1]];
        const double ac = a / (a - c), ad = a / (a - d), bc = b / (b - c), bd = b / (b - d);
        return ac * ad * (1 - bd) + bd * bc * (1 - ac) + ac * bd;
    }
    const int lone  = n == 1 ? in[0] : out[0];
    double    share = 1;
    for (int i = 0; i < 4; ++i)
        if (i != lone) share *= phi[lone] / (phi[lone] - phi[i]);
    return n == 1 ? share : 1 - share;
}

static void share_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const fill_args* a = user;
    for (int64_t e = begin; e < end; ++e)
    {
        double phi[4];
        for (int c = 0; c < 4; ++c) phi[c] = a->phi[a->m->user_tet[4 * (a->b->tet_first + e) + c] - a->b->vertex_first];
        a->fill[e] = (float)flx__negative_share(phi);
    }
}

flx_status flx__build_fill(flx_build* build)
{
    flx_status status = FLX_OK;
    flx_model* m      = build->model;
    fill_args  a      = {.m = m};
    FLX_NEW(m->ctx, m->fill, m->tet_count);
    for (int32_t e = 0; e < m->tet_count; ++e) m->fill[e] = 1;
    for (int32_t i = 0; i < m->body_count; ++i)
    {
        a.b = &m->body[i];
        if (!a.b->lattice) continue;
        a.fill = m->fill + a.b->tet_first;
        flx__free(m->ctx, a.phi);
        FLX_NEW(m->ctx, a.phi, a.b->vertex_count);
        flx__parallel_for(m->ctx, a.b->vertex_count, 512, distance_range, &a);
        flx__parallel_for(m->ctx, a.b->tet_count, 8192, share_range, &a);
    }
done:
    flx__free(m->ctx, a.phi);
    return status;
}
