// The deformed skin. See skin.h.
//
// Normals are sums of the triangles' unit normals around a vertex, weighted by angle (which does not depend on how a
// face is cut into triangles), and are interpolated inside triangles, so that the contact direction turns continuously
// while a point slides; a normal carried by one tet's F jumps from tet to tet, and a contact that jumps never comes to
// rest.
#include "contact/skin.h"

#include "math/mat3.h"

#include <string.h>

#define STEPS 64  // triangles crossed on the way down
#define SHARP 0.9 // cosine, 26 degrees: a corner's normal farther from its triangle's is not used in it

void flx__skin_destroy(flx_skin* s)
{
    if (!s) return;
    void* const array[] = {s->vertex,   s->triangle, s->neighbour,   s->of_surface, s->incident_first,
                           s->incident, s->x,        s->area_normal, s->normal};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(s->ctx, array[i]);
    flx__free(s->ctx, s);
}

static bool has_corner(const int32_t* triangle, int32_t v)
{
    return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

/// The other triangle on each edge; on an edge of three or more, the first other one.
static void link_neighbours(flx_skin* s)
{
    for (int32_t t = 0; t < s->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
        {
            const int32_t a = s->triangle[3 * t + (k + 1) % 3], b = s->triangle[3 * t + (k + 2) % 3];
            s->neighbour[3 * t + k] = -1;
            for (int32_t i = s->incident_first[a]; i < s->incident_first[a + 1]; ++i)
            {
                const int32_t other = s->incident[i] / 3;
                if (other == t || !has_corner(s->triangle + 3 * (int64_t)other, b)) continue;
                s->neighbour[3 * t + k] = other;
                break;
            }
        }
}

flx_status flx__skin_create(flx_context* ctx, int32_t triangle_total, const int32_t* surface_triangle,
                            const flx_embedded* surface, const int32_t* tet, const uint8_t* near, flx_skin** out)
{
    flx_status status = FLX_OK;
    flx_skin*  s      = NULL;
    int32_t*   local  = NULL;
    int32_t    most   = -1;

    *out = NULL;
    FLX_NEW_ZERO(ctx, s, 1);
    s->ctx     = ctx;
    s->surface = surface;
    s->tet     = tet;
    for (int64_t k = 0; k < 3 * (int64_t)triangle_total; ++k)
        if (surface_triangle[k] > most) most = surface_triangle[k];
    FLX_NEW(ctx, local, (int64_t)most + 1);
    for (int32_t i = 0; i <= most; ++i) local[i] = -1;
    FLX_NEW(ctx, s->of_surface, triangle_total);
    for (int32_t t = 0; t < triangle_total; ++t)
    {
        const int32_t* v    = surface_triangle + 3 * (int64_t)t;
        const bool     keep = near[surface[v[0]].tet] && near[surface[v[1]].tet] && near[surface[v[2]].tet];
        s->of_surface[t]    = keep ? s->triangle_count++ : -1;
        for (int k = 0; keep && k < 3; ++k)
            if (local[v[k]] < 0) local[v[k]] = s->vertex_count++;
    }
    FLX_NEW(ctx, s->vertex, s->vertex_count);
    FLX_NEW(ctx, s->triangle, 3 * (int64_t)s->triangle_count);
    FLX_NEW(ctx, s->neighbour, 3 * (int64_t)s->triangle_count);
    FLX_NEW_ZERO(ctx, s->x, 3 * (int64_t)s->vertex_count);
    FLX_NEW_ZERO(ctx, s->area_normal, 3 * (int64_t)s->triangle_count);
    FLX_NEW_ZERO(ctx, s->normal, 3 * (int64_t)s->vertex_count);
    for (int32_t i = 0; i <= most; ++i)
        if (local[i] >= 0) s->vertex[local[i]] = i;
    for (int32_t t = 0; t < triangle_total; ++t)
        for (int k = 0; s->of_surface[t] >= 0 && k < 3; ++k)
            s->triangle[3 * (int64_t)s->of_surface[t] + k] = local[surface_triangle[3 * (int64_t)t + k]];
    FLX_TRY(flx__group(ctx, 3 * s->triangle_count, s->triangle, s->vertex_count, &s->incident_first, &s->incident));
    link_neighbours(s);
    *out = s;
    s    = NULL;

done:
    flx__free(ctx, local);
    flx__skin_destroy(s);
    return status;
}

typedef struct update_args
{
    flx_skin*     s;
    const double* x;
} update_args;

static void place_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const update_args* a = user;
    for (int64_t i = begin; i < end; ++i)
    {
        const flx_embedded* e = &a->s->surface[a->s->vertex[i]];
        const int32_t*      v = a->s->tet + 4 * (int64_t)e->tet;
        for (int c = 0; c < 3; ++c)
        {
            double sum = 0;
            for (int k = 0; k < 4; ++k) sum += e->weight[k] * a->x[3 * (int64_t)v[k] + c];
            a->s->x[3 * i + c] = sum;
        }
    }
}

static void area_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_skin* s = ((const update_args*)user)->s;
    for (int64_t t = begin; t < end; ++t)
    {
        const int32_t* v = s->triangle + 3 * t;
        double         e[3], f[3];
        flx__sub3(s->x + 3 * (int64_t)v[1], s->x + 3 * (int64_t)v[0], e);
        flx__sub3(s->x + 3 * (int64_t)v[2], s->x + 3 * (int64_t)v[0], f);
        flx__cross3(e, f, s->area_normal + 3 * t);
    }
}

static void normalise(double n[3])
{
    const double size = flx__norm3(n);
    for (int c = 0; c < 3; ++c) n[c] = size > 1e-150 && size < 1e150 ? n[c] / size : 0;
}

/// n += the triangle's unit normal times its angle at corner `k % 3` of triangle `k / 3`.
static void add_corner(const flx_skin* s, int32_t k, double n[3])
{
    const int32_t* v   = s->triangle + k / 3 * 3;
    const double*  own = s->x + 3 * (int64_t)v[k % 3];
    double         e[3], f[3], unit[3];
    flx__sub3(s->x + 3 * (int64_t)v[(k + 1) % 3], own, e);
    flx__sub3(s->x + 3 * (int64_t)v[(k + 2) % 3], own, f);
    memcpy(unit, s->area_normal + 3 * (int64_t)(k / 3), sizeof unit);
    const double angle = atan2(flx__norm3(unit), flx__dot3(e, f));
    normalise(unit);
    for (int c = 0; c < 3; ++c) n[c] += angle * unit[c];
}

static void normal_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_skin* s = ((const update_args*)user)->s;
    for (int64_t i = begin; i < end; ++i)
    {
        double* n = s->normal + 3 * i;
        n[0] = n[1] = n[2] = 0;
        for (int32_t k = s->incident_first[i]; k < s->incident_first[i + 1]; ++k) add_corner(s, s->incident[k], n);
        normalise(n);
    }
}

void flx__skin_update(flx_skin* s, const double* x)
{
    update_args a = {s, x};
    flx__parallel_for(s->ctx, s->vertex_count, 1024, place_range, &a);
    flx__parallel_for(s->ctx, s->triangle_count, 1024, area_range, &a);
    flx__parallel_for(s->ctx, s->vertex_count, 1024, normal_range, &a);
}

/// Nearest point of triangle t to p: weights and squared distance. [Ericson05] section 5.1.5, by regions.
static double nearest_of_triangle(const flx_skin* s, int32_t t, const double p[3], double w[3])
{
    const int32_t* v = s->triangle + 3 * (int64_t)t;
    const double * a = s->x + 3 * (int64_t)v[0], *b = s->x + 3 * (int64_t)v[1], *c = s->x + 3 * (int64_t)v[2];
    double         ab[3], ac[3], ap[3], bp[3], cp[3];
    flx__sub3(b, a, ab), flx__sub3(c, a, ac), flx__sub3(p, a, ap), flx__sub3(p, b, bp), flx__sub3(p, c, cp);
    const double d1 = flx__dot3(ab, ap), d2 = flx__dot3(ac, ap), d3 = flx__dot3(ab, bp), d4 = flx__dot3(ac, bp);
    const double d5 = flx__dot3(ab, cp), d6 = flx__dot3(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0)
        w[0] = 1;
    else if (d3 >= 0 && d4 <= d3)
        w[1] = 1;
    else if (d6 >= 0 && d5 <= d6)
        w[2] = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0)
        w[1] = d1 / (d1 - d3), w[0] = 1 - w[1];
    else if (vb <= 0 && d2 >= 0 && d6 <= 0)
        w[2] = d2 / (d2 - d6), w[0] = 1 - w[2];
    else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6)), w[1] = 1 - w[2];
    else
    {
        const double sum = va + vb + vc;
        w[1] = vb / sum, w[2] = vc / sum, w[0] = 1 - w[1] - w[2];
    }
    double squared = 0;
    for (int k = 0; k < 3; ++k)
    {
        const double d = p[k] - (w[0] * a[k] + w[1] * b[k] + w[2] * c[k]);
        squared += d * d;
    }
    return squared;
}

/// Take the triangle when it is nearer than what is held.
static bool take_nearer(const flx_skin* s, int32_t t, const double p[3], flx_skin_point* best, double* squared)
{
    double       w[3];
    const double d = nearest_of_triangle(s, t, p, w);
    if (!(d < *squared * (1 - 1e-12))) return false;
    *squared       = d;
    best->triangle = t;
    memcpy(best->weight, w, sizeof w);
    return true;
}

void flx__skin_nearest(const flx_skin* s, int32_t triangle, const double p[3], flx_skin_point* out)
{
    out->triangle  = triangle;
    double squared = nearest_of_triangle(s, triangle, p, out->weight);
    for (int step = 0; step < STEPS; ++step)
    {
        const int32_t at    = out->triangle;
        const double  w[3]  = {out->weight[0], out->weight[1], out->weight[2]};
        const int     zeros = (w[0] == 0) + (w[1] == 0) + (w[2] == 0);
        bool          moved = false;
        if (zeros == 1) // on an edge: look across
        {
            const int32_t next = s->neighbour[3 * (int64_t)at + (w[0] == 0 ? 0 : w[1] == 0 ? 1 : 2)];
            moved              = next >= 0 && take_nearer(s, next, p, out, &squared);
        }
        else if (zeros == 2) // at a corner: look all around
        {
            const int32_t v = s->triangle[3 * (int64_t)at + (w[0] > 0 ? 0 : w[1] > 0 ? 1 : 2)];
            for (int32_t k = s->incident_first[v]; k < s->incident_first[v + 1]; ++k)
                moved = take_nearer(s, s->incident[k] / 3, p, out, &squared) || moved;
        }
        if (!moved) break;
    }
    const int32_t* v = s->triangle + 3 * (int64_t)out->triangle;
    double         flat[3];
    memcpy(flat, s->area_normal + 3 * (int64_t)out->triangle, sizeof flat);
    normalise(flat);
    for (int c = 0; c < 3; ++c) out->point[c] = out->normal[c] = 0;
    for (int k = 0; k < 3; ++k)
    {
        const double* n     = s->normal + 3 * (int64_t)v[k];
        const bool    sharp = flx__dot3(n, flat) < SHARP; // the corner of a box is no smooth skin
        for (int c = 0; c < 3; ++c)
        {
            out->point[c] += out->weight[k] * s->x[3 * (int64_t)v[k] + c];
            out->normal[c] += out->weight[k] * (sharp ? flat[c] : n[c]);
        }
    }
    normalise(out->normal);
    out->distance = sqrt(squared);
}
