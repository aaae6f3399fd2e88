// Generalized winding number: how often a surface wraps around a point, for surfaces with holes a number in between.
//
//   w(q) = 1/(4 pi) sum_t Omega_t(q),   tan(Omega/2) = a.(b x c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|)
// with a, b, c from q to the corners. Triangles far away count as the Taylor series of n.d/|d|^3 about their middle:
//   N = int n,  M = int n y^T,  T = int n y y   ->  N.d/|d|^3 + Q(d)/|d|^5 + C(d)/|d|^7.
//
// Based on [Jacobson13] eq. 5-6 and [Barill18] section 3. Differs: three terms, folded into one linear, one quadratic
// and one cubic form of d; the angles of near triangles are added as a product of complex numbers, so that one arc
// tangent serves several triangles; triangles are read in the facing that agrees with their neighbours.
#include "mesh/triangle_bvh_internal.h"

#include "math/mat3.h"

#include <math.h>

#define FOUR_PI 12.566370614359172954
#define BETA 3.0 // the series is used beyond this many radii; its error is measured in test_winding.c

// --- far field -------------------------------------------------------------------------------------------

typedef struct moments
{
    double n[3];
    double m[3][3]; // int n_i y_j
    double t[3][6]; // int n_i y_j y_k: xx yy zz xy xz yz
} moments;

static void area_vector(const flx_triangle_bvh* bvh, int32_t slot, double out[3])
{
    const double* c    = &bvh->corner[9 * (int64_t)slot];
    const double  e[3] = {c[3] - c[0], c[4] - c[1], c[5] - c[2]}, f[3] = {c[6] - c[0], c[7] - c[1], c[8] - c[2]};
    out[0] = 0.5 * (e[1] * f[2] - e[2] * f[1]);
    out[1] = 0.5 * (e[2] * f[0] - e[0] * f[2]);
    out[2] = 0.5 * (e[0] * f[1] - e[1] * f[0]);
}

static void add_triangle(const flx_triangle_bvh* bvh, int32_t slot, const double middle[3], moments* s)
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double*    c          = &bvh->corner[9 * (int64_t)slot];
    double           n[3], y[3][3], sum[3];
    area_vector(bvh, slot, n);
    for (int k = 0; k < 3; ++k)
    {
        n[k] *= bvh->facing[slot];
        for (int i = 0; i < 3; ++i) y[i][k] = c[3 * i + k] - middle[k];
        sum[k] = y[0][k] + y[1][k] + y[2][k];
    }
    for (int i = 0; i < 3; ++i)
    {
        s->n[i] += n[i];
        for (int j = 0; j < 3; ++j) s->m[i][j] += n[i] * sum[j] / 3;
        for (int p = 0; p < 6; ++p)
        {
            const int j = pair[p][0], k = pair[p][1];
            s->t[i][p] += n[i] / 12 * (sum[j] * sum[k] + y[0][j] * y[0][k] + y[1][j] * y[1][k] + y[2][j] * y[2][k]);
        }
    }
}

static void fold(const moments* s, flx_bvh_far* far)
{
    enum
    {
        XX,
        YY,
        ZZ,
        XY,
        XZ,
        YZ
    };
    const double trace = s->m[0][0] + s->m[1][1] + s->m[2][2];
    for (int k = 0; k < 3; ++k)
    {
        far->dipole[k] = s->n[k];
        far->quad[k]   = trace - 3 * s->m[k][k];
    }
    far->quad[XY] = -3 * (s->m[0][1] + s->m[1][0]);
    far->quad[XZ] = -3 * (s->m[0][2] + s->m[2][0]);
    far->quad[YZ] = -3 * (s->m[1][2] + s->m[2][1]);

    const double(*t)[6] = s->t;
    double u[3]         = {2 * (t[0][XX] + t[1][XY] + t[2][XZ]), 2 * (t[0][XY] + t[1][YY] + t[2][YZ]),
                           2 * (t[0][XZ] + t[1][YZ] + t[2][ZZ])};
    for (int k = 0; k < 3; ++k) u[k] = 1.5 * (u[k] + t[k][XX] + t[k][YY] + t[k][ZZ]);

    far->cubic[0] = 7.5 * t[0][XX] - u[0];
    far->cubic[1] = 7.5 * t[1][YY] - u[1];
    far->cubic[2] = 7.5 * t[2][ZZ] - u[2];
    far->cubic[3] = 7.5 * (t[1][XX] + 2 * t[0][XY]) - u[1];
    far->cubic[4] = 7.5 * (t[2][XX] + 2 * t[0][XZ]) - u[2];
    far->cubic[5] = 7.5 * (t[0][YY] + 2 * t[1][XY]) - u[0];
    far->cubic[6] = 7.5 * (t[2][YY] + 2 * t[1][YZ]) - u[2];
    far->cubic[7] = 7.5 * (t[0][ZZ] + 2 * t[2][XZ]) - u[0];
    far->cubic[8] = 7.5 * (t[1][ZZ] + 2 * t[2][YZ]) - u[1];
    far->cubic[9] = 15 * (t[0][YZ] + t[1][XZ] + t[2][XY]);
}

static void slot_range(const flx_triangle_bvh* bvh, int32_t node, int32_t* begin, int32_t* end)
{
    // children lie one after the other: walk down the left side, then down the right
    int32_t n = node;
    while (bvh->node[n].count == 0) n = bvh->node[n].first;
    *begin = bvh->node[n].first;
    n      = node;
    while (bvh->node[n].count == 0) n = bvh->node[n].first + 1;
    *end = bvh->node[n].first + bvh->node[n].count;
}

static void node_far(flx_triangle_bvh* bvh, int32_t node)
{
    flx_bvh_far* far = &bvh->far[node];
    int32_t      begin, end;
    slot_range(bvh, node, &begin, &end);

    double middle[3] = {0}, area = 0;
    for (int32_t i = begin; i < end; ++i)
    {
        const double* c = &bvh->corner[9 * (int64_t)i];
        double        n[3];
        area_vector(bvh, i, n);
        const double a = sqrt(flx__dot3(n, n));
        area += a;
        for (int k = 0; k < 3; ++k) middle[k] += a * (c[k] + c[3 + k] + c[6 + k]) / 3;
    }
    for (int k = 0; k < 3; ++k)
        far->middle[k] =
            area > 0 ? middle[k] / area : 0.5 * ((double)bvh->node[node].lo[k] + (double)bvh->node[node].hi[k]);

    double  radius2 = 0;
    moments s       = {0};
    for (int32_t i = begin; i < end; ++i)
    {
        for (int j = 0; j < 3; ++j)
        {
            const double* c    = &bvh->corner[9 * (int64_t)i + 3 * j];
            const double  y[3] = {c[0] - far->middle[0], c[1] - far->middle[1], c[2] - far->middle[2]};
            radius2            = fmax(radius2, flx__dot3(y, y));
        }
        add_triangle(bvh, i, far->middle, &s);
    }
    far->accept = BETA * BETA * radius2;
    fold(&s, far);
}

static void far_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    for (int64_t n = begin; n < end; ++n) node_far(user, (int32_t)n);
}

flx_status flx__bvh_far_field(flx_triangle_bvh* bvh)
{
    flx_status status = FLX_OK;
    FLX_NEW(bvh->ctx, bvh->far, bvh->node_count);
    if (bvh->triangle_count > 0) flx__parallel_for(bvh->ctx, bvh->node_count, 64, far_range, bvh);

done:
    return status;
}

static double far_value(const flx_bvh_far* f, const double d[3], double d2)
{
    const double  x = d[0], y = d[1], z = d[2], xx = x * x, yy = y * y, zz = z * z;
    const double *q = f->quad, *c = f->cubic;
    const double  r2        = 1 / d2;
    const double  quadratic = q[0] * xx + q[1] * yy + q[2] * zz + q[3] * x * y + q[4] * x * z + q[5] * y * z;
    const double  cubic     = xx * (c[0] * x + c[3] * y + c[4] * z) + yy * (c[5] * x + c[1] * y + c[6] * z) +
                         zz * (c[7] * x + c[8] * y + c[2] * z) + c[9] * x * y * z;
    return (flx__dot3(f->dipole, d) + (quadratic + cubic * r2) * r2) * r2 * sqrt(r2);
}

// --- near field ------------------------------------------------------------------------------------------

/// Sum of half angles, most of it still as a unit complex number in the right half plane.
typedef struct angle_sum
{
    double re, im, total;
} angle_sum;

static void angle_add(angle_sum* s, double re, double im)
{
    const double scale = 1 / (fabs(re) + fabs(im));
    if (!(scale < 1e300)) return; // lost to underflow
    if (!(re > 0))                // a right angle or more: its own arc tangent
    {
        s->total += atan2(im, re);
        return;
    }
    re *= scale;
    im *= scale;
    const double product = s->re * re - s->im * im;
    s->im                = s->re * im + s->im * re;
    s->re                = product;
    const double size    = fabs(s->re) + fabs(s->im);
    if (s->re > 0.1 * size && size > 1e-100) return; // two below 90 degrees: the sum is below 180, no turn is lost
    s->total += atan2(s->im, s->re);
    s->re = 1;
    s->im = 0;
}

static void add_leaf(const flx_triangle_bvh* bvh, const flx_bvh_node* node, const double q[3], angle_sum* sum)
{
    for (int32_t i = node->first; i < node->first + node->count; ++i)
    {
        const double* v    = &bvh->corner[9 * (int64_t)i];
        const double  a[3] = {v[0] - q[0], v[1] - q[1], v[2] - q[2]};
        const double  b[3] = {v[3] - q[0], v[4] - q[1], v[5] - q[2]};
        const double  c[3] = {v[6] - q[0], v[7] - q[1], v[8] - q[2]};
        const double  det  = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                           a[2] * (b[0] * c[1] - b[1] * c[0]);
        if (det == 0) continue; // seen edge-on, or q lies in it: half of each side's value is 0
        const double la = sqrt(flx__dot3(a, a)), lb = sqrt(flx__dot3(b, b)), lc = sqrt(flx__dot3(c, c));
        angle_add(sum, la * lb * lc + flx__dot3(a, b) * lc + flx__dot3(b, c) * la + flx__dot3(c, a) * lb,
                  det * bvh->facing[i]);
    }
}

double flx__triangle_bvh_winding(const flx_triangle_bvh* bvh, const double p[3])
{
    FLX_ASSERT(bvh->far != NULL);
    if (bvh->triangle_count == 0) return 0;
    int32_t   stack[FLX_BVH_STACK];
    int       depth = 0;
    angle_sum near  = {1, 0, 0};
    double    far   = 0;
    stack[depth++]  = 0;
    while (depth > 0)
    {
        const int32_t      n    = stack[--depth];
        const flx_bvh_far* f    = &bvh->far[n];
        const double       d[3] = {f->middle[0] - p[0], f->middle[1] - p[1], f->middle[2] - p[2]};
        const double       d2   = flx__dot3(d, d);
        if (d2 > f->accept)
            far += far_value(f, d, d2);
        else if (bvh->node[n].count > 0)
            add_leaf(bvh, &bvh->node[n], p, &near);
        else
        {
            stack[depth++] = bvh->node[n].first + 1;
            stack[depth++] = bvh->node[n].first;
        }
    }
    return (2 * (near.total + atan2(near.im, near.re)) + far) / FOUR_PI;
}
