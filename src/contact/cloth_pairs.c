// Points near triangles, edges near edges, and whether they pass through each other on the way.
//
// The volume of four points on straight ways is a cubic in time,
//   6 V(t) = det(e_1, e_2, e_3),   e_i(t) = x_i(t) - x_0(t) = (1 - t) e_i(0) + t e_i(1),
// whose Bernstein coefficients mix the two ends; all of one sign, as nearly always, means no root [Provot97].
#include "contact/cloth_pairs.h"

#include "math/mat3.h"

#define PARALLEL 1e-12 // squared sine of the angle between lines below which they have no nearest points
#define HALVINGS 50    // leaves a root exact to rounding

/// Squared distance of p to the segment ab, and where on it the nearest point lies.
static double on_segment(const double p[3], const double* a, const double* b, double* t)
{
    double e[3], d[3], sum = 0;
    flx__sub3(b, a, e);
    flx__sub3(p, a, d);
    const double ee = flx__dot3(e, e), at = ee > 0 ? flx__dot3(d, e) / ee : 0;
    *t = at > 0 ? (at < 1 ? at : 1) : 0;
    for (int k = 0; k < 3; ++k) sum += (d[k] - *t * e[k]) * (d[k] - *t * e[k]);
    return sum;
}

double flx__triangle_nearest(const double p[3], const double* const c[3], double weight[3])
{
    double e[3], f[3], n[3], d[3], m[3];
    flx__sub3(c[1], c[0], e);
    flx__sub3(c[2], c[0], f);
    flx__sub3(p, c[0], d);
    flx__cross3(e, f, n);
    const double nn = flx__dot3(n, n);
    if (nn > 0)
    {
        flx__cross3(d, f, m);
        weight[1] = flx__dot3(m, n) / nn;
        flx__cross3(e, d, m);
        weight[2] = flx__dot3(m, n) / nn;
        weight[0] = 1 - weight[1] - weight[2];
        if (weight[0] > 0 && weight[1] > 0 && weight[2] > 0) return fabs(flx__dot3(n, d)) / sqrt(nn);
    }
    double best = INFINITY;
    for (int k = 0; k < 3; ++k)
    {
        double       t;
        const double d2 = on_segment(p, c[k], c[(k + 1) % 3], &t);
        if (!(d2 < best)) continue;
        best                = d2;
        weight[k]           = 1 - t;
        weight[(k + 1) % 3] = t;
        weight[(k + 2) % 3] = 0;
    }
    return sqrt(best);
}

bool flx__edges_nearest(const double* a, const double* b, const double* c, const double* d, double* s, double* t)
{
    double e[3], f[3], r[3];
    flx__sub3(b, a, e);
    flx__sub3(d, c, f);
    flx__sub3(a, c, r);
    const double ee = flx__dot3(e, e), ff = flx__dot3(f, f), ef = flx__dot3(e, f), er = flx__dot3(e, r),
                 fr = flx__dot3(f, r), det = ee * ff - ef * ef;
    if (!(det > PARALLEL * ee * ff)) return false;
    *s = (ef * fr - ff * er) / det;
    *t = (ee * fr - ef * er) / det;
    return *s > 0 && *s < 1 && *t > 0 && *t < 1;
}

double flx__edges_distance(const double* a, const double* b, const double* c, const double* d)
{
    double s, t, sum = 0;
    if (flx__edges_nearest(a, b, c, d, &s, &t))
    {
        for (int k = 0; k < 3; ++k)
        {
            const double way = a[k] + s * (b[k] - a[k]) - c[k] - t * (d[k] - c[k]);
            sum += way * way;
        }
        return sqrt(sum);
    }
    sum = fmin(on_segment(a, c, d, &t), on_segment(b, c, d, &t)); // an end is part of the answer
    return sqrt(fmin(sum, fmin(on_segment(c, a, b, &t), on_segment(d, a, b, &t))));
}

static double det3(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    flx__cross3(b, c, n);
    return flx__dot3(a, n);
}

static double cubic(const double c[4], double t)
{
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/// Between l and r the cubic is monotonous and changes its sign.
static double root_between(const double c[4], double l, double r)
{
    const bool below = cubic(c, l) < 0;
    for (int i = 0; i < HALVINGS; ++i)
    {
        const double m = 0.5 * (l + r);
        if ((cubic(c, m) < 0) == below)
            l = m;
        else
            r = m;
    }
    return r;
}

int flx__coplanar_times(const double* const from[4], const double* const to[4], double time[3])
{
    double u[3][3], v[3][3];
    for (int i = 0; i < 3; ++i)
    {
        flx__sub3(from[i + 1], from[0], u[i]);
        flx__sub3(to[i + 1], to[0], v[i]);
    }
    const double b0 = det3(u[0], u[1], u[2]), b3 = det3(v[0], v[1], v[2]);
    const double b1 = (det3(v[0], u[1], u[2]) + det3(u[0], v[1], u[2]) + det3(u[0], u[1], v[2])) / 3;
    const double b2 = (det3(u[0], v[1], v[2]) + det3(v[0], u[1], v[2]) + det3(v[0], v[1], u[2])) / 3;
    if ((b0 >= 0 && b1 >= 0 && b2 >= 0 && b3 >= 0) || (b0 < 0 && b1 < 0 && b2 < 0 && b3 < 0)) return 0;

    const double c[4]  = {b0, 3 * (b1 - b0), 3 * (b2 - 2 * b1 + b0), b3 - 3 * b2 + 3 * b1 - b0};
    double       at[4] = {0, 1, 1, 1}; // where monotonous pieces begin and end
    int          count = 1;
    const double half = c[2], under = half * half - 3 * c[3] * c[1]; // slope: c1 + 2 c2 t + 3 c3 t^2
    if (under > 0)
    {
        const double q   = -(half + copysign(sqrt(under), half)); // without cancellation
        double       low = c[1] / q, high = q / (3 * c[3]);
        if (!(low <= high)) // also when one is not finite
        {
            const double t = low;
            low            = high;
            high           = t;
        }
        if (low > 0 && low < 1) at[count++] = low;
        if (high > 0 && high < 1) at[count++] = high;
    }
    at[count] = 1;

    int found = 0;
    for (int i = 0; i < count; ++i)
        if ((cubic(c, at[i]) < 0) != (cubic(c, at[i + 1]) < 0)) time[found++] = root_between(c, at[i], at[i + 1]);
    return found;
}
