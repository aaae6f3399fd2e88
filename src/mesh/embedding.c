// Barycentric weights of a point in a tet, and distances to tets and triangles.
//
//   p = sum w_i x_i,  sum w_i = 1;   w_i = vol(p in place of corner i) / vol
//
// Weights 1..3 come from the edges at corner 0 (Cramer), weight 0 is what is left, so the sum is 1 by construction and
// the point that comes back differs from p only by the rounding of three products.
#include "mesh/embedding.h"

#include <math.h>

static void sub(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void flx__tet_weights(const double* x, const int32_t tet[4], const double p[3], double weight[4])
{
    const double* origin = x + 3 * (int64_t)tet[0];
    double        e1[3], e2[3], e3[3], q[3], n23[3], n31[3], n12[3];
    sub(x + 3 * (int64_t)tet[1], origin, e1);
    sub(x + 3 * (int64_t)tet[2], origin, e2);
    sub(x + 3 * (int64_t)tet[3], origin, e3);
    sub(p, origin, q);
    cross(e2, e3, n23);
    cross(e3, e1, n31);
    cross(e1, e2, n12);
    const double six_volumes = dot(e1, n23);

    weight[1] = dot(q, n23) / six_volumes;
    weight[2] = dot(q, n31) / six_volumes;
    weight[3] = dot(q, n12) / six_volumes;
    weight[0] = 1.0 - weight[1] - weight[2] - weight[3];
}

// --- distances --------------------------------------------------------------------------------------

static double segment_distance2(const double a[3], const double b[3], const double p[3])
{
    double u[3], q[3];
    sub(b, a, u);
    sub(p, a, q);
    const double length2 = dot(u, u);
    const double t       = length2 > 0.0 ? fmin(fmax(dot(q, u) / length2, 0.0), 1.0) : 0.0;
    for (int k = 0; k < 3; ++k) q[k] -= t * u[k];
    return dot(q, q);
}

double flx__triangle_distance2(const double a[3], const double b[3], const double c[3], const double p[3])
{
    double u[3], v[3], q[3], n[3], along[3];
    sub(b, a, u);
    sub(c, a, v);
    sub(p, a, q);
    cross(u, v, n);
    const double n2 = dot(n, n);
    if (n2 > 0.0)
    {
        // barycentric coordinates of the foot point: (q x v) . n and (u x q) . n over n . n
        cross(q, v, along);
        const double at_b = dot(along, n);
        cross(u, q, along);
        const double at_c = dot(along, n);
        if (at_b >= 0.0 && at_c >= 0.0 && at_b + at_c <= n2)
        {
            const double height = dot(q, n);
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
