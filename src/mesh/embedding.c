// Barycentric weights of a point in a tet, and distances to tets and triangles.
//
//   p = sum w_i x_i,  sum w_i = 1;   w_i = vol(p in place of corner i) / vol
//
// Weights 1..3 come from the edges at corner 0 (Cramer), weight 0 is what is left, so the sum is 1 by construction and
// the point that comes back differs from p only by the rounding of three products.
#include "mesh/embedding.h"

#include "math/mat3.h"

#include <math.h>

void flx__tet_weights(const double* x, const int32_t tet[4], const double p[3], double weight[4])
{
    const double* origin = x + 3 * (int64_t)tet[0];
    double        e1[3], e2[3], e3[3], q[3], n23[3], n31[3], n12[3];
    flx__sub3(x + 3 * (int64_t)tet[1], origin, e1);
    flx__sub3(x + 3 * (int64_t)tet[2], origin, e2);
    flx__sub3(x + 3 * (int64_t)tet[3], origin, e3);
    flx__sub3(p, origin, q);
    flx__cross3(e2, e3, n23);
    flx__cross3(e3, e1, n31);
    flx__cross3(e1, e2, n12);
    const double six_volumes = flx__dot3(e1, n23);

    weight[1] = flx__dot3(q, n23) / six_volumes;
    weight[2] = flx__dot3(q, n31) / six_volumes;
    weight[3] = flx__dot3(q, n12) / six_volumes;
    weight[0] = 1.0 - weight[1] - weight[2] - weight[3];
}

// --- distances --------------------------------------------------------------------------------------

static double segment_distance2(const double a[3], const double b[3], const double p[3])
{
    double u[3], q[3];
    flx__sub3(b, a, u);
    flx__sub3(p, a, q);
    const double length2 = flx__dot3(u, u);
    const double t       = length2 > 0.0 ? fmin(fmax(flx__dot3(q, u) / length2, 0.0), 1.0) : 0.0;
    for (int k = 0; k < 3; ++k) q[k] -= t * u[k];
    return flx__dot3(q, q);
}

double flx__triangle_distance2(const double a[3], const double b[3], const double c[3], const double p[3])
{
    double u[3], v[3], q[3], n[3], along[3];
    flx__sub3(b, a, u);
    flx__sub3(c, a, v);
    flx__sub3(p, a, q);
    flx__cross3(u, v, n);
    const double n2 = flx__dot3(n, n);
    if (n2 > 0.0)
    {
        // barycentric coordinates of the foot point: (q x v) . n and (u x q) . n over n . n
        flx__cross3(q, v, along);
        const double at_b = flx__dot3(along, n);
        flx__cross3(u, q, along);
        const double at_c = flx__dot3(along, n);
        if (at_b >= 0.0 && at_c >= 0.0 && at_b + at_c <= n2)
        {
            const double height = flx__dot3(q, n);
            return height * height / n2;
        }
    }
    return fmin(segment_distance2(a, b, p), fmin(segment_distance2(b, c, p), segment_distance2(c, a, p)));
}

double flx__tet_distance2(const double* x, const int32_t tet[4], const double p[3], double weight[4])
{
    static const int8_t face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    flx__tet_weights(x, tet, p, weight);

    double best = INFINITY;
    for (int f = 0; f < 4; ++f) // only faces that see p from outside can be nearest
        if (weight[f] < 0.0)
            best =
                fmin(best, flx__triangle_distance2(x + 3 * (int64_t)tet[face[f][0]], x + 3 * (int64_t)tet[face[f][1]],
                                                   x + 3 * (int64_t)tet[face[f][2]], p));
    return best == INFINITY ? 0.0 : best;
}
