// Inside self contact: the object, and the step from "this tet holds the point" to a contact.
#ifndef FLX_CONTACT_SELF_CONTACT_INTERNAL_H
#define FLX_CONTACT_SELF_CONTACT_INTERNAL_H

#include "contact/contact.h"
#include "contact/deformed_bvh.h"
#include "contact/skin.h"
#include "math/mat3.h"

struct flx_self_contact
{
    flx_context*          ctx;
    flx_self_contact_desc desc;
    flx_deformed_bvh*     bvh;
    flx_skin*             skin;         // surface over the search tets
    int32_t*              neighbour;    // [search_count][4] slot behind the face opposite each corner, -1 = none
    double*               proxy_normal; // [proxy_count][3] unit outward normal at rest
    uint8_t*              outcome;      // [proxy_count] of the last find
    double*               overlap;      // [proxy_count] scratch of rest_overlaps
    int32_t               skipped;      // of the last find
};

/// A tet made ready for barycentric weights: w_i(p) = slope_i . (p - origin).
typedef struct flx_tet_frame
{
    double origin[3];
    double slope[3][3]; // of corners 1, 2, 3
    bool   inverted;    // its volume is negative
} flx_tet_frame;

/// False when the tet is flat to rounding or not finite.
static inline bool flx__tet_frame(const double* x, const int32_t tet[4], flx_tet_frame* f)
{
    double        e[3][3];
    const double* o = x + 3 * (int64_t)tet[0];
    for (int i = 0; i < 3; ++i) flx__sub3(x + 3 * (int64_t)tet[i + 1], o, e[i]);
    flx__cross3(e[1], e[2], f->slope[0]);
    flx__cross3(e[2], e[0], f->slope[1]);
    flx__cross3(e[0], e[1], f->slope[2]);
    const double det   = flx__dot3(e[0], f->slope[0]);
    const double scale = flx__dot3(e[0], e[0]) * flx__dot3(e[1], e[1]) * flx__dot3(e[2], e[2]);
    if (!(det * det > 1e-20 * scale)) return false; // volume to edges cubed: 1e-10

    const double inverse = 1.0 / det;
    for (int k = 0; k < 3; ++k)
    {
        f->origin[k] = o[k];
        for (int i = 0; i < 3; ++i) f->slope[i][k] *= inverse;
    }
    f->inverted = det < 0;
    return true;
}

static inline void flx__tet_frame_weights(const flx_tet_frame* f, const double p[3], double w[4])
{
    double d[3];
    flx__sub3(p, f->origin, d);
    for (int i = 0; i < 3; ++i) w[i + 1] = flx__dot3(f->slope[i], d);
    w[0] = 1.0 - w[1] - w[2] - w[3];
}

/// Deformed direction of the rest covector g (a normal) carried by a tet: cof(F) g, unit. It points outward as long as
/// the tet is not inverted, and exists for flat tets as well. *stretch: det F. False when there is no direction.
bool flx__carry_normal(const double* x_rest, const double* x, const int32_t tet[4], const double g[3], double out[3],
                       double* stretch);

/// What one proxy brings to its partners.
typedef struct flx_prober
{
    int32_t proxy;
    double  p[3];      // m, now
    double  normal[3]; // deformed outward normal; 0 when its tet has none
} flx_prober;

typedef enum flx_partner_outcome
{
    FLX_PARTNER_NONE = 0,
    FLX_PARTNER_FOUND,
    FLX_PARTNER_NOT_PRONE // found, but the row would act on vertices that contacts may not touch
} flx_partner_outcome;

/// The rest point that the tet in `slot` holds with `weight`, when it is material and not the proxy's own
/// neighbourhood.
bool flx__partner_possible(const flx_self_contact* self, int32_t proxy, int32_t slot, const double weight[4],
                           double X[3]);
/// The contact of the prober with the surface nearest to the rest point X, which lies in the tet in `slot`.
flx_partner_outcome flx__partner_contact(const flx_self_contact* self, const double* x, const flx_prober* prober,
                                         int32_t slot, const double X[3], flx_contact* out);

#endif
