// From a point inside deformed flesh to its partner on the body's own surface.
//
// A deformed tet with corners x_i holds a point q with weights w. At rest the same material point is
//   X = sum_i w_i X_i,                           X_i: rest corners
// and the rest-pose distance field says whether there is material at X: phi(X) < 0. Its nearest surface point
//   Y = argmin |X - Y| on the rest surface
// is the partner. Y lies in a tet of its own; carried forward by that tet's weights v it is the row
//   y = sum_i v_i x_i,    n = F^-T grad phi(Y) / |.|,    gap = n . (p - y) - offset.
// With e_i, E_i the tet's edges now and at rest, F = Ds Dm^-1 and cof(F) = det(F) F^-T give, without dividing,
//   F^-T g ~ m_1 (e_2 x e_3) + m_2 (e_3 x e_1) + m_3 (e_1 x e_2),   m = Dm^T g,
// up to the sign of det F.
//
// From Y on, the partner slides to the point of the deformed skin nearest to p (skin.h), with the skin's smooth normal:
// gap and normal are then continuous in the positions, which a tet's F^-T is not, and contacts come to rest.
//
// Based on [MZS*11] section 5. Differs: Y is the exact nearest point of the triangles (the field only decides on which
// side X is), and the tet that holds Y is found by walking from X's tet through shared faces, so that cells which lie
// at one place but belong to parts that can separate are never confused.
//
// Own neighbourhood. Pairs nearer than `exclude` at rest are the same piece of skin, with one exception: surfaces that
// face each other already at rest (closed lips, fingers side by side) are real partners however near. Where two parts
// touch or overlap at rest, the nearest surface to a point that goes deeper is the proxy's own, at the place where it
// was at rest: the gap then counts from the rest pose, so such parts rest as they are and resist going deeper.
#include "contact/self_contact_internal.h"

#include "math/mat3.h"

#define WALK_STEPS 64  // faces crossed on the way from X's tet to Y's
#define OWN_POINT 1e-3 // of exclude: nearer than this at rest is the same point
// Cosine of the two outward normals above which they look the same way: no contact. One bound for points that are
// inside and points that are about to be, or a contact would come and go with its own push.
#define SAME_SIDE 0.3
#define FACING -0.5         // cosine below which two surfaces face each other
#define GRADIENT_MIN 0.5    // below: the field's gradient at the surface is spoilt by another sheet nearby
#define STRETCH_MIN 1e-3    // det F below which a tet's own normal is not trusted
#define WEIGHT_MIN 1e-9     // smaller ones are dropped from rows
#define BESIDE 0.3          // cosine to the skin's normal below which a point is beside the skin
#define EXTRAPOLATE_MAX 1.0 // how far outside its tet a partner point may lie, in barycentric weight

static bool unit(double v[3])
{
    const double length = flx__norm3(v);
    if (!(length > 1e-150 && length < 1e150)) return false; // NaN fails too
    for (int k = 0; k < 3; ++k) v[k] /= length;
    return true;
}

static void combine(const double* x, const int32_t tet[4], const double w[4], double out[3])
{
    for (int k = 0; k < 3; ++k)
    {
        out[k] = 0;
        for (int i = 0; i < 4; ++i) out[k] += w[i] * x[3 * (int64_t)tet[i] + k];
    }
}

static void edges(const double* x, const int32_t tet[4], double e[3][3])
{
    for (int i = 0; i < 3; ++i) flx__sub3(x + 3 * (int64_t)tet[i + 1], x + 3 * (int64_t)tet[0], e[i]);
}

bool flx__carry_normal(const double* x_rest, const double* x, const int32_t tet[4], const double g[3], double out[3],
                       double* stretch)
{
    double E[3][3], e[3][3], c[3][3], rest_c[3];
    edges(x_rest, tet, E);
    edges(x, tet, e);
    flx__cross3(e[1], e[2], c[0]);
    flx__cross3(e[2], e[0], c[1]);
    flx__cross3(e[0], e[1], c[2]);
    flx__cross3(E[1], E[2], rest_c);
    const double rest_det = flx__dot3(E[0], rest_c);
    const double sign     = rest_det < 0 ? -1.0 : 1.0;

    for (int k = 0; k < 3; ++k) out[k] = 0;
    for (int i = 0; i < 3; ++i)
    {
        const double m = sign * flx__dot3(E[i], g);
        for (int k = 0; k < 3; ++k) out[k] += m * c[i][k];
    }
    *stretch = flx__dot3(e[0], c[0]) / rest_det;
    return unit(out);
}

// --- the surface at Y --------------------------------------------------------------------------------------

static void surface_corners(const flx_self_contact* self, const double* x, int32_t triangle, double corner[3][3])
{
    const flx_self_contact_desc* d = &self->desc;
    for (int i = 0; i < 3; ++i)
    {
        const flx_embedded* e = &d->surface[d->surface_triangle[3 * (int64_t)triangle + i]];
        combine(x, d->tet + 4 * (int64_t)e->tet, e->weight, corner[i]);
    }
}

static bool triangle_normal(const flx_self_contact* self, const double* x, int32_t triangle, double out[3])
{
    double c[3][3], a[3], b[3];
    surface_corners(self, x, triangle, c);
    flx__sub3(c[1], c[0], a);
    flx__sub3(c[2], c[0], b);
    flx__cross3(a, b, out);
    return unit(out);
}

/// Outward normal at rest: the field's gradient, or the triangle's normal where another sheet is so near that the
/// gradient is meaningless; there the nearest triangle may be the other sheet's, so it is turned away from X, which is
/// inside.
static bool rest_normal(const flx_self_contact* self, const double X[3], const flx_closest* Y, double out[3])
{
    flx__distance_field_sample(self->desc.field, Y->point, out);
    if (flx__norm3(out) > GRADIENT_MIN) return unit(out);
    if (!triangle_normal(self, self->desc.x_rest, Y->triangle, out)) return false;
    double outward[3];
    flx__sub3(Y->point, X, outward);
    if (flx__dot3(outward, out) < 0)
        for (int k = 0; k < 3; ++k) out[k] = -out[k];
    return true;
}

// --- the tet that holds Y ----------------------------------------------------------------------------------

typedef struct partner_row
{
    const int32_t* tet;
    double         weight[4];
    double         low; // smallest weight: >= 0 when the tet holds the point
} partner_row;

/// Keep the tet if it holds Y better than the best so far. Returns the corner whose face hides Y most, -1 for a flat
/// tet.
static int offer(const flx_self_contact* self, int32_t tet, const double Y[3], partner_row* best)
{
    const int32_t* corner = self->desc.tet + 4 * (int64_t)tet;
    flx_tet_frame  frame;
    double         w[4];
    if (!flx__tet_frame(self->desc.x_rest, corner, &frame)) return -1;
    flx__tet_frame_weights(&frame, Y, w);
    int low = 0;
    for (int i = 1; i < 4; ++i)
        if (w[i] < w[low]) low = i;
    if (!(w[low] > best->low)) return low;
    best->tet = corner;
    best->low = w[low];
    for (int i = 0; i < 4; ++i) best->weight[i] = w[i];
    return low;
}

/// Walk from X's tet through the face that hides Y most; then try the tets that the surface triangle is embedded in.
/// False when Y lies far outside all of them (a surface much coarser than the tets, at the rim of what is searched).
static bool find_row(const flx_self_contact* self, int32_t slot, const flx_closest* Y, partner_row* best)
{
    const flx_self_contact_desc* d = &self->desc;
    best->tet                      = NULL;
    best->low                      = -EXTRAPOLATE_MAX;

    for (int step = 0; step < WALK_STEPS && slot >= 0; ++step)
    {
        const int through = offer(self, d->search[slot], Y->point, best);
        if (best->low >= -1e-12) return true; // on the surface of a conforming mesh rounding decides
        if (through < 0) break;
        slot = self->neighbour[4 * (int64_t)slot + through];
    }
    for (int i = 0; i < 3; ++i)
        offer(self, d->surface[d->surface_triangle[3 * (int64_t)Y->triangle + i]].tet, Y->point, best);
    return best->tet != NULL;
}

/// Add a partner corner, or to it when it is there already.
static void add_corner(flx_contact* out, int32_t vertex, double weight)
{
    int at = 4;
    while (at < FLX_CONTACT_CORNERS && out->vertex[at] >= 0 && out->vertex[at] != vertex) ++at;
    if (out->vertex[at] < 0) out->weight[at] = 0;
    out->vertex[at] = vertex;
    out->weight[at] += weight;
}

/// The row of a point inside a skin triangle: its corners' embeddings. False as below.
static bool write_skin_row(const flx_self_contact* self, const flx_skin_point* y, flx_contact* out)
{
    const flx_skin* skin = self->skin;
    for (int i = 4; i < FLX_CONTACT_CORNERS; ++i) out->vertex[i] = -1, out->weight[i] = 0;
    for (int k = 0; k < 3; ++k)
    {
        const int32_t       v      = skin->vertex[skin->triangle[3 * (int64_t)y->triangle + k]];
        const flx_embedded* e      = &self->desc.surface[v];
        const int32_t*      corner = self->desc.tet + 4 * (int64_t)e->tet;
        for (int i = 0; i < 4; ++i)
            if (y->weight[k] * e->weight[i] != 0) add_corner(out, corner[i], -y->weight[k] * e->weight[i]);
    }
    for (int i = 4; self->desc.prone && i < FLX_CONTACT_CORNERS; ++i)
        if (out->vertex[i] >= 0 && fabs(out->weight[i]) > WEIGHT_MIN && !self->desc.prone[out->vertex[i]]) return false;
    return true;
}

/// Partner corners of the contact, with negative weights that sum to -1. False when one of them may not be acted on.
static bool write_row(const flx_self_contact* self, const partner_row* row, flx_contact* out)
{
    const uint8_t* prone   = self->desc.prone;
    int            largest = 0;
    double         dropped = 0;
    for (int i = 8; i < FLX_CONTACT_CORNERS; ++i) out->vertex[i] = -1, out->weight[i] = 0;
    for (int i = 1; i < 4; ++i)
        if (row->weight[i] > row->weight[largest]) largest = i;
    for (int i = 0; i < 4; ++i)
    {
        const bool keep    = fabs(row->weight[i]) > WEIGHT_MIN;
        out->vertex[4 + i] = keep ? row->tet[i] : -1;
        out->weight[4 + i] = keep ? -row->weight[i] : 0.0;
        if (!keep) dropped += row->weight[i];
        if (keep && prone && !prone[row->tet[i]]) return false;
    }
    out->weight[4 + largest] -= dropped;
    return true;
}

// --- own neighbourhood ---------------------------------------------------------------------------------------

/// How far the rest point q lies ahead of the proxy's skin.
static double ahead_of(const flx_self_contact* self, int32_t proxy, const double q[3])
{
    double d[3];
    flx__sub3(q, self->desc.proxy[proxy].rest, d);
    return flx__dot3(d, self->proxy_normal + 3 * (int64_t)proxy);
}

static bool share_corner(const int32_t a[4], const int32_t b[4])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (a[i] == b[j]) return true;
    return false;
}

/// Is the partner point Y, with rest normal N, in the tet `corner`, the proxy's own piece of skin?
static bool own_skin(const flx_self_contact* self, int32_t proxy, const double Y[3], const double N[3],
                     const int32_t corner[4])
{
    const flx_proxy* own  = &self->desc.proxy[proxy];
    const double     tiny = OWN_POINT * self->desc.exclude;
    if (flx__distance3(Y, own->rest) >= self->desc.exclude) return false;
    if (flx__dot3(self->proxy_normal + 3 * (int64_t)proxy, N) >= FACING) return true;
    const double ahead = ahead_of(self, proxy, Y);
    return ahead < -tiny || (ahead < tiny && share_corner(own->vertex, corner));
}

// --- together ----------------------------------------------------------------------------------------------

bool flx__partner_possible(const flx_self_contact* self, int32_t proxy, int32_t slot, const double weight[4],
                           double X[3])
{
    const flx_self_contact_desc* d   = &self->desc;
    const flx_proxy*             own = &d->proxy[proxy];

    combine(d->x_rest, d->tet + 4 * (int64_t)d->search[slot], weight, X);
    const double distance = flx__distance3(X, own->rest);
    if (distance < OWN_POINT * d->exclude) return false; // the proxy itself, in its own tets: most hits end here
    if (distance < d->exclude && ahead_of(self, proxy, X) < 0) return false;

    const double phi = flx__distance_field_sample(d->field, X, NULL);
    return phi < 0 && -phi <= d->depth;
}

/// Normal and place of the partner point by the tet that holds it. A tet that is flat or turned inside out has no
/// trustworthy F^-T: there the deformed triangle speaks for the skin.
static bool tet_partner(const flx_self_contact* self, const double* x, const partner_row* row, int32_t triangle,
                        const double N[3], double n[3], double y[3])
{
    double     stretch, t[3];
    const bool carried = flx__carry_normal(self->desc.x_rest, x, row->tet, N, n, &stretch);
    combine(x, row->tet, row->weight, y);
    if (carried && stretch > STRETCH_MIN) return true;
    if (!triangle_normal(self, x, triangle, t)) return carried;
    for (int k = 0; k < 3; ++k) n[k] = t[k];
    return true;
}

/// Contact direction at the nearest skin point. Near the skin it is the skin's interpolated normal, which turns
/// continuously; the way from the point to p does not where the skin is hollow, since the nearest point then jumps from
/// facet to facet. Farther out than `smooth` that way is all that counts. False when p lies beside the skin rather than
/// over or under it.
static bool skin_direction(const flx_skin_point* y, const double p[3], double smooth, double n[3])
{
    double apart[3];
    flx__sub3(p, y->point, apart);
    const double length = flx__norm3(apart), over = flx__dot3(apart, y->normal);
    const double near = length < smooth ? length / smooth : length > 0 ? 1 : 0, share = near * near;
    if (share == 1 && !(fabs(over) > BESIDE * length)) return false;
    for (int k = 0; k < 3; ++k)
        n[k] = (1 - share) * y->normal[k] + (length > 0 ? share * (over < 0 ? -1 : 1) * apart[k] / length : 0);
    return unit(n);
}

/// How far a skin point lies from q in the rest pose.
static double rest_distance(const flx_self_contact* self, const flx_skin_point* y, const double q[3])
{
    const flx_self_contact_desc* d       = &self->desc;
    double                       rest[3] = {0};
    for (int k = 0; k < 3; ++k)
    {
        const flx_embedded* e = &d->surface[self->skin->vertex[self->skin->triangle[3 * (int64_t)y->triangle + k]]];
        double              corner[3];
        combine(d->x_rest, d->tet + 4 * (int64_t)e->tet, e->weight, corner);
        for (int c = 0; c < 3; ++c) rest[c] += y->weight[k] * corner[c];
    }
    return flx__distance3(rest, q);
}

flx_partner_outcome flx__partner_contact(const flx_self_contact* self, const double* x, const flx_prober* prober,
                                         int32_t slot, const double X[3], flx_contact* out)
{
    const flx_self_contact_desc* d   = &self->desc;
    const flx_proxy*             own = &d->proxy[prober->proxy];

    flx_closest Y;
    double      N[3];
    if (!flx__triangle_bvh_closest(d->bvh, X, d->depth, &Y)) return FLX_PARTNER_NONE;
    if (!rest_normal(self, X, &Y, N)) return FLX_PARTNER_NONE;

    partner_row row;
    if (!find_row(self, slot, &Y, &row)) return FLX_PARTNER_NONE;
    if (own_skin(self, prober->proxy, Y.point, N, row.tet)) return FLX_PARTNER_NONE;

    // Where the partner really is another piece of skin, slide to the point of the deformed skin that is nearest to the
    // proxy: it does not depend on which tet or which probe led there. Where parts touch or overlap at rest the nearest
    // skin would be the proxy's own, and the tet's row stands.
    const int32_t  start = self->skin->of_surface[Y.triangle];
    const bool     slide = start >= 0 && flx__distance3(Y.point, own->rest) >= d->exclude;
    flx_skin_point near;
    double         n[3], y[3], apart[3];
    if (slide)
    {
        flx__skin_nearest(self->skin, start, prober->p, &near);
        if (rest_distance(self, &near, own->rest) < d->exclude) return FLX_PARTNER_NONE; // slid into the crease
        for (int k = 0; k < 3; ++k) y[k] = near.point[k];
        if (!skin_direction(&near, prober->p, d->margin + d->offset, n)) return FLX_PARTNER_NONE;
    }
    else if (!tet_partner(self, x, &row, Y.triangle, N, n, y))
        return FLX_PARTNER_NONE;

    flx__sub3(prober->p, y, apart);
    const double distance = flx__dot3(n, apart);
    const double gap      = distance - d->offset;
    if (!(distance >= -d->depth && gap <= 1.5 * d->margin)) return FLX_PARTNER_NONE; // NaN fails too
    if (!(flx__dot3(n, prober->normal) <= SAME_SIDE)) return FLX_PARTNER_NONE;

    out->proxy    = prober->proxy;
    out->obstacle = -1;
    out->partner  = Y.triangle;
    out->gap      = gap;
    for (int k = 0; k < 3; ++k)
    {
        out->normal[k] = n[k];
        out->target[k] = d->offset * n[k];
    }
    for (int i = 0; i < 4; ++i)
    {
        out->vertex[i] = own->vertex[i];
        out->weight[i] = own->weight[i];
    }
    const bool prone = slide ? write_skin_row(self, &near, out) : write_row(self, &row, out);
    return prone ? FLX_PARTNER_FOUND : FLX_PARTNER_NOT_PRONE;
}
