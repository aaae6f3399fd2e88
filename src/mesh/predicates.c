// Signs that rounding cannot change.
//
// The determinant is first taken in plain floating point; when it is larger than what rounding can have done,
//   |det| > (7 + 56 e) e sum |products|,  e = 2^-53,
// its sign is certain. Otherwise it is computed without any rounding, as an expansion: a sum of doubles in order of
// size whose bits do not overlap, so that the last one has the sign of the whole. Sums and products of two doubles give
// two doubles exactly.
//
// Based on [Shewchuk97] sections 2 and 4. Differs: two stages instead of four; differences of coordinates enter as
// exact pairs; zeros are left out of expansions as they are made, so that the frequent flat cases are short.
#include "mesh/predicates.h"

#include <math.h>

#define TERMS 192 // 3 minors x 16 terms x 2 terms x 2

static void two_sum(double a, double b, double* high, double* low)
{
    const double s = a + b, bb = s - a;
    *high = s;
    *low  = (a - (s - bb)) + (b - bb);
}

static void two_product(double a, double b, double* high, double* low)
{
    const double split = 134217729; // 2^27 + 1
    const double ca = split * a, cb = split * b;
    const double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
    *high = a * b;
    *low  = al * bl - (((*high - ah * bh) - al * bh) - ah * bl);
}

/// out = e + f; out must not be e or f. Returns the number of terms, zeros left out.
static int expansion_sum(int e_count, const double* e, int f_count, const double* f, double* out)
{
    int    n = 0, i = 0, j = 0;
    double q = 0;
    while (i < e_count || j < f_count) // merged by size, smallest first
    {
        const double next = j >= f_count || (i < e_count && fabs(e[i]) < fabs(f[j])) ? e[i++] : f[j++];
        double       low;
        two_sum(q, next, &q, &low);
        if (low != 0) out[n++] = low;
    }
    if (q != 0) out[n++] = q;
    return n;
}

/// out = e times b; at most 2 e_count terms.
static int expansion_scale(int e_count, const double* e, double b, double* out)
{
    int    n = 0;
    double q = 0;
    for (int i = 0; i < e_count; ++i)
    {
        double high, low, rest;
        two_product(e[i], b, &high, &low);
        two_sum(q, low, &q, &rest);
        if (rest != 0) out[n++] = rest;
        two_sum(high, q, &q, &rest);
        if (rest != 0) out[n++] = rest;
    }
    if (q != 0) out[n++] = q;
    return n;
}

/// A difference of coordinates, exactly; smaller term first, zeros left out.
typedef struct difference
{
    int    count;
    double term[2];
} difference;

static difference subtract(double a, double b)
{
    difference d = {0};
    double     high, low;
    two_sum(a, -b, &high, &low);
    if (low != 0) d.term[d.count++] = low;
    if (high != 0) d.term[d.count++] = high;
    return d;
}

/// out = e times d, at most 4 e_count terms.
static int expansion_times(int e_count, const double* e, const difference* d, double* out)
{
    double part[2][TERMS];
    int    count[2] = {0, 0};
    for (int i = 0; i < d->count; ++i) count[i] = expansion_scale(e_count, e, d->term[i], part[i]);
    return expansion_sum(count[0], part[0], count[1], part[1], out);
}

static int minor(const difference* a, const difference* b, const difference* c, const difference* d, double* out)
{
    double    ad[8], bc[8];
    const int m = expansion_times(a->count, a->term, d, ad), n = expansion_times(b->count, b->term, c, bc);
    for (int i = 0; i < n; ++i) bc[i] = -bc[i];
    return expansion_sum(m, ad, n, bc, out); // a d - b c
}

static int orient_exact(const double a[3], const double b[3], const double c[3], const double d[3])
{
    difference u[3], v[3], w[3];
    for (int k = 0; k < 3; ++k)
    {
        u[k] = subtract(b[k], a[k]);
        v[k] = subtract(c[k], a[k]);
        w[k] = subtract(d[k], a[k]);
    }
    double sum[2][TERMS];
    int    count = 0, now = 0;
    for (int k = 0; k < 3; ++k)
    {
        double    m[16], product[64];
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const int m_count = minor(&u[i], &u[j], &v[i], &v[j], m); // (u x v)_k
        const int p_count = expansion_times(m_count, m, &w[k], product);
        count             = expansion_sum(count, sum[now], p_count, product, sum[!now]);
        now               = !now;
    }
    if (count == 0) return 0;
    return sum[now][count - 1] > 0 ? 1 : -1;
}

int flx__orient(const double a[3], const double b[3], const double c[3], const double d[3])
{
    const double ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
    const double vx = c[0] - a[0], vy = c[1] - a[1], vz = c[2] - a[2];
    const double wx = d[0] - a[0], wy = d[1] - a[1], wz = d[2] - a[2];
    const double yz = uy * vz, zy = uz * vy, zx = uz * vx, xz = ux * vz, xy = ux * vy, yx = uy * vx;
    const double det = wx * (yz - zy) + wy * (zx - xz) + wz * (xy - yx);
    const double sizes =
        fabs(wx) * (fabs(yz) + fabs(zy)) + fabs(wy) * (fabs(zx) + fabs(xz)) + fabs(wz) * (fabs(xy) + fabs(yx));
    const double bound = 7.8e-16 * sizes;
    if (det > bound) return 1;
    if (det < -bound) return -1;
    if (sizes == 0) return 0; // every product has an exact zero in it
    return orient_exact(a, b, c, d);
}
