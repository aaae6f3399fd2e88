// Triangle strain: keeps the stretches of a triangle, in its plane, within limits.
//
//   S q = Dm^-T [q1 - q0; q2 - q0] = Z (2x3): rows are the derivatives of q along two rest axes
//   Z = sum_k sigma_k u_k v_k^T,   p = sum_k clamp(sigma_k) u_k v_k^T,   w_j = weight x area
//
// The rows of Z are turned until they are perpendicular; then they are sigma_k v_k^T. A second turn cleans what
// rounding of the first leaves of the longer in the shorter one, so that the shorter keeps its digits. [Hestenes58]
// [Bouaziz14] section 5; [MPB] section 3.
#include "constraints/constraints_internal.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define LEAST_TURN 1e-30 // of the larger row's square: they are perpendicular, and as long
#define TURNS 4
#define PERPENDICULAR 1e-31 // squared cosine
#define NO_DIRECTION 1e-150 // a row this much shorter than the other has none of its own

/// Rows a and b by the angle (c, s) to a' = c a + s b, b' = c b - s a, perpendicular and a' the longer one.
static void turn(double a[3], double b[3], double* c, double* s)
{
    const double d = flx__dot3(a, a) - flx__dot3(b, b), pq = flx__dot3(a, b), r = sqrt(d * d + 4 * pq * pq);
    *c = 1, *s = 0;
    if (r > LEAST_TURN)
    {
        const double large = sqrt((1 + fabs(d) / r) / 2), small = pq / (r * large);
        *c = d < 0 ? fabs(small) : large;
        *s = d < 0 ? copysign(large, pq) : small;
    }
    for (int i = 0; i < 3; ++i)
    {
        const double x = a[i], y = b[i];
        a[i] = *c * x + *s * y, b[i] = *c * y - *s * x;
    }
}

/// Turns until rounding leaves no more of a in b than it must; (c, s) is the whole angle, and a the longer row.
static void make_perpendicular(double a[3], double b[3], double* c, double* s)
{
    turn(a, b, c, s);
    for (int k = 0; k < TURNS; ++k)
    {
        const double pq = flx__dot3(a, b), c1 = *c, s1 = *s;
        double       c2, s2;
        if (!(pq * pq > PERPENDICULAR * flx__dot3(a, a) * flx__dot3(b, b))) return;
        turn(a, b, &c2, &s2);
        *c = c1 * c2 - s1 * s2, *s = s1 * c2 + c1 * s2;
    }
}

/// b = some unit vector perpendicular to the unit vector a.
static void perpendicular_to(const double a[3], double b[3])
{
    const bool   along_x = fabs(a[0]) > 0.9;
    const double axis[3] = {!along_x, along_x, 0};
    flx__cross3(a, axis, b);
    const double size = flx__norm3(b);
    for (int i = 0; i < 3; ++i) b[i] /= size;
}

static double clamp(double s, double least, double most)
{
    return s < least ? least : s > most ? most : s;
}

static double largest_entry(const double* z, int count)
{
    double largest = 0;
    for (int i = 0; i < count; ++i)
    {
        if (!isfinite(z[i])) return 0;
        largest = fmax(largest, fabs(z[i]));
    }
    return largest;
}

static void project_one(const double z[6], double least, double most, double p[6])
{
    const double scale = largest_entry(z, 6);
    double       a[3] = {1, 0, 0}, b[3] = {0, 1, 0}, c = 1, s = 0, long_one = 0, short_one = 0;
    if (scale > 1e-300)
    {
        for (int i = 0; i < 3; ++i) a[i] = z[i] / scale, b[i] = z[3 + i] / scale;
        make_perpendicular(a, b, &c, &s);
        long_one = flx__norm3(a), short_one = flx__norm3(b);
        for (int i = 0; i < 3; ++i) a[i] /= long_one;
        if (short_one > NO_DIRECTION * long_one)
            for (int i = 0; i < 3; ++i) b[i] /= short_one;
        else
            perpendicular_to(a, b);
        long_one *= scale, short_one *= scale;
    }
    if (short_one >= least && long_one <= most)
    {
        memmove(p, z, 6 * sizeof *p);
        return;
    }
    long_one = clamp(long_one, least, most), short_one = clamp(short_one, least, most);
    for (int i = 0; i < 3; ++i)
    {
        p[i]     = c * long_one * a[i] - s * short_one * b[i];
        p[3 + i] = s * long_one * a[i] + c * short_one * b[i];
    }
}

static void project(int32_t count, const double* z, const double* param, double* p)
{
    for (int64_t j = 0; j < count; ++j) project_one(z + 6 * j, param[2 * j], param[2 * j + 1], p + 6 * j);
}

const flx_constraint_type flx__triangle_strain = {.name = "strain", .rows = 2, .params = 2, .project = project};

/// The triangle's own axes: along its first edge, and in its plane across.
static void own_axes(const double e1[3], const double e2[3], double axis[6])
{
    const double size = flx__norm3(e1);
    for (int i = 0; i < 3; ++i) axis[i] = e1[i] / size;
    const double along = flx__dot3(e2, axis);
    for (int i = 0; i < 3; ++i) axis[3 + i] = e2[i] - along * axis[i];
    const double across = flx__norm3(axis + 3);
    for (int i = 0; i < 3; ++i) axis[3 + i] /= across;
}

/// c [3][2] = Dm^-T in columns 1 and 2, minus their sum in column 0. False when the triangle is not in the axes' plane.
static bool gradients(const double e1[3], const double e2[3], const double axis[6], double area, double c[6])
{
    const double a = flx__dot3(e1, axis), b = flx__dot3(e1, axis + 3);
    const double d = flx__dot3(e2, axis), e = flx__dot3(e2, axis + 3), det = a * e - b * d;
    if (!(fabs(fabs(det) / 2 - area) <= 1e-6 * area)) return false;
    c[2] = e / det, c[3] = -d / det;
    c[4] = -b / det, c[5] = a / det;
    c[0] = -(c[2] + c[4]), c[1] = -(c[3] + c[5]);
    return true;
}

flx_status flx__triangle_strains(flx_context* ctx, const double* x, int32_t count, const int32_t* triangle,
                                 const double* weight, double least, double most, const double axis[6],
                                 flx_constraint_batch* out)
{
    flx_status           status = FLX_OK;
    flx_constraint_batch b      = {0};
    *out                        = (flx_constraint_batch){0};
    FLX_TRY(flx__constraint_limits(ctx, "triangle stretch", true, least, most));
    FLX_TRY(flx__constraint_batch_create(ctx, &flx__triangle_strain, count, 3, "triangle", &b));
    for (int32_t j = 0; j < count; ++j)
    {
        const int32_t* corner = triangle + 3 * (int64_t)j;
        const double*  x0     = x + 3 * (int64_t)corner[0];
        double         e1[3], e2[3], own[6], area, stiffness;
        FLX_TRY(flx__triangle_area(ctx, x, corner, j + 1, &area));
        FLX_TRY(flx__constraint_stiffness(ctx, weight, j, "triangle", &stiffness));
        flx__sub3(x + 3 * (int64_t)corner[1], x0, e1);
        flx__sub3(x + 3 * (int64_t)corner[2], x0, e2);
        if (!axis) own_axes(e1, e2, own);
        if (!gradients(e1, e2, axis ? axis : own, area, b.coefficient + 6 * (int64_t)j))
            FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "triangle %d does not lie in the plane of the sheet's axes", j + 1));
        memcpy(b.vertex + 3 * (int64_t)j, corner, 3 * sizeof *corner);
        b.weight[j]                 = stiffness * area;
        b.param[2 * (int64_t)j]     = least;
        b.param[2 * (int64_t)j + 1] = most;
    }
    *out = b;
    b    = (flx_constraint_batch){0};
done:
    flx__constraint_batch_release(ctx, &b);
    return status;
}
