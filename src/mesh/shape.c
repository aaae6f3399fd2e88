// Plain shapes as regions, and rigid poses.
#include "mesh/shape.h"

#include "math/mat3.h"

#include <math.h>

static double distance2_to_segment(const double a[3], const double b[3], const double p[3])
{
    const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, w[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    const double ee = flx__dot3(e, e), we = flx__dot3(w, e);
    const double s    = !(we > 0) ? 0 : we >= ee ? 1 : we / ee;
    const double r[3] = {w[0] - s * e[0], w[1] - s * e[1], w[2] - s * e[2]};
    return flx__dot3(r, r);
}

bool flx__shape_contains(const flx_shape* shape, const double p[3])
{
    const double r[3] = {p[0] - shape->a[0], p[1] - shape->a[1], p[2] - shape->a[2]};
    switch (shape->kind)
    {
    case FLX_SHAPE_NONE:
    case FLX_SHAPE_MESH:
        return false;
    case FLX_SHAPE_ALL:
    case FLX_SHAPE_AUTO:
        return true;
    case FLX_SHAPE_PLANE:
        return flx__dot3(shape->b, r) <= 0;
    case FLX_SHAPE_SPHERE:
        return flx__dot3(r, r) <= shape->radius * shape->radius;
    case FLX_SHAPE_CAPSULE:
        return distance2_to_segment(shape->a, shape->b, p) <= shape->radius * shape->radius;
    case FLX_SHAPE_BOX:
        for (int k = 0; k < 3; ++k)
            if (!(p[k] >= shape->a[k] && p[k] <= shape->b[k])) return false;
        return true;
    }
    return false;
}

void flx__pose_rotate(const double R[9], const double v[3], double out[3])
{
    const double r[3] = {flx__dot3(R, v), flx__dot3(R + 3, v), flx__dot3(R + 6, v)}; // out may be v
    for (int k = 0; k < 3; ++k) out[k] = r[k];
}

void flx__pose_apply(const double R[9], const double t[3], const double x[3], double out[3])
{
    flx__pose_rotate(R, x, out);
    for (int k = 0; k < 3; ++k) out[k] += t[k];
}

void flx__pose_undo(const double R[9], const double t[3], const double x[3], double out[3])
{
    const double r[3] = {x[0] - t[0], x[1] - t[1], x[2] - t[2]};
    for (int k = 0; k < 3; ++k) out[k] = R[k] * r[0] + R[3 + k] * r[1] + R[6 + k] * r[2];
}
