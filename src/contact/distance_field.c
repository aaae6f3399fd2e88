// Signed distance on a regular grid of floats.
//
// Nodes nearer than the band to the surface get their exact distance from the triangle tree; bricks of 8^3 nodes that a
// single query shows to be farther are skipped. Signs: a segment between neighbouring nodes that meets the surface has
//   d_a + d_b <= cell,
// so nodes with d_a + d_b > cell lie on the same side. That joins the nodes into few sets, and one winding number a set
// settles them all [Jacobson13]. Near holes, where the sign changes without a triangle, each node asks for itself.
// Far values solve |grad phi| = 1 outwards from the band by sweeping the grid in its eight directions [Zhao05].
//
// Between the nodes: cubic convolution [Keys81] (Catmull-Rom) along x, y and z. It passes through the nodes, its
// gradient is continuous across cells, and its error is O(cell^3) where the distance is smooth. Outside the grid the
// distance to the grid is added.
#include "contact/distance_field.h"

#include "base/sets.h"
#include "mesh/triangle_bvh_internal.h"

#include <math.h>
#include <string.h>

#define BRICK 8

struct flx_distance_field
{
    flx_context* ctx;
    int32_t      n[3];         // nodes along x, y, z
    double       origin[3];    // m, node 0; one layer of nodes lies outside [lo, hi]
    double       lo[3], hi[3]; // m, where cells have all their neighbours
    double       cell, band;   // m
    float*       value;        // [z][y][x] m
};

typedef struct build
{
    flx_distance_field*     field;
    const flx_triangle_bvh* bvh;
    int32_t                 bricks[3];
    bool                    beyond; // parts of the surface lie outside the grid
    double                  sign, threshold;
    int32_t*                parent; // [node] union-find; -1 = asks for itself
} build;

static int64_t node_count(const flx_distance_field* f)
{
    return (int64_t)f->n[0] * f->n[1] * f->n[2];
}

static int64_t node_at(const flx_distance_field* f, int64_t i, int64_t j, int64_t k)
{
    return (k * f->n[1] + j) * f->n[0] + i;
}

// --- exact distances near the surface ----------------------------------------------------------------------

/// The outermost nodes count as near when parts of the surface lie beyond the grid: far values spread from there too.
static bool on_rim(const build* b, int32_t i, int32_t j, int32_t k)
{
    const int32_t* n = b->field->n;
    return b->beyond && (i == 0 || j == 0 || k == 0 || i == n[0] - 1 || j == n[1] - 1 || k == n[2] - 1);
}

static void fill_row(const build* b, int32_t from, int32_t to, int32_t j, int32_t k, bool near, int32_t* guess)
{
    const flx_distance_field* f        = b->field;
    double                    p[3]     = {0, f->origin[1] + j * f->cell, f->origin[2] + k * f->cell};
    double                    previous = INFINITY;
    for (int32_t i = from; i < to; ++i)
    {
        flx_closest  hit;
        int32_t      slot  = *guess; // where the node before found its point
        const bool   rim   = on_rim(b, i, j, k);
        const double bound = fmin(rim ? INFINITY : f->band, (previous + f->cell) * (1 + 1e-9)); // at most a cell more
        p[0]               = f->origin[0] + i * f->cell;
        const bool found   = (near || rim) && flx__triangle_bvh_closest_near(b->bvh, p, bound, &slot, &hit);
        previous           = found ? hit.distance : INFINITY;
        if (found) *guess = slot;
        f->value[node_at(f, i, j, k)] = (float)previous;
    }
}

static void fill_brick(const build* b, int64_t brick)
{
    const flx_distance_field* f     = b->field;
    const int64_t             at[3] = {brick % b->bricks[0], brick / b->bricks[0] % b->bricks[1],
                                       brick / b->bricks[0] / b->bricks[1]};
    int32_t                   from[3], to[3];
    double                    middle[3], radius2 = 0;
    for (int a = 0; a < 3; ++a)
    {
        from[a]           = (int32_t)at[a] * BRICK;
        to[a]             = from[a] + BRICK < f->n[a] ? from[a] + BRICK : f->n[a];
        middle[a]         = f->origin[a] + 0.5 * (from[a] + to[a] - 1) * f->cell;
        const double half = 0.5 * (to[a] - 1 - from[a]) * f->cell;
        radius2 += half * half;
    }
    flx_closest  hit;
    int32_t      guess = -1;
    const double reach = (f->band + sqrt(radius2)) * (1 + 1e-9);
    const bool   near  = flx__triangle_bvh_closest_near(b->bvh, middle, reach, &guess, &hit);
    for (int32_t k = from[2]; k < to[2]; ++k)
        for (int32_t j = from[1]; j < to[1]; ++j) fill_row(b, from[0], to[0], j, k, near, &guess);
}

static void fill_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    for (int64_t brick = begin; brick < end; ++brick) fill_brick(user, brick);
}

static void fill_distances(build* b)
{
    int64_t bricks = 1;
    for (int a = 0; a < 3; ++a)
    {
        const flx_distance_field* f = b->field;
        b->bricks[a]                = (f->n[a] + BRICK - 1) / BRICK;
        b->beyond |= b->bvh->box[a] < f->lo[a] || b->bvh->box[3 + a] > f->hi[a];
        bricks *= b->bricks[a];
    }
    flx__parallel_for(b->field->ctx, bricks, 4, fill_range, b);
}

// --- signs -------------------------------------------------------------------------------------------------

/// Nodes near holes: parent -1.
static void mark_open(build* b)
{
    const flx_distance_field* f     = b->field;
    int32_t                   boxes = 0;
    const double*             box   = flx__triangle_bvh_open_boxes(b->bvh, &boxes);
    for (int32_t h = 0; h < boxes; ++h, box += 6)
    {
        double size = 0;
        for (int a = 0; a < 3; ++a) size = fmax(size, box[3 + a] - box[a]);
        const double grow = 0.25 * size + 2 * f->cell;
        int64_t      from[3], to[3];
        for (int a = 0; a < 3; ++a)
        {
            from[a] = (int64_t)fmin(f->n[a], fmax(0, ceil((box[a] - grow - f->origin[a]) / f->cell)));
            to[a]   = (int64_t)fmin(f->n[a], fmax(0, floor((box[3 + a] + grow - f->origin[a]) / f->cell) + 1));
        }
        for (int64_t k = from[2]; k < to[2]; ++k)
            for (int64_t j = from[1]; j < to[1]; ++j)
                for (int64_t i = from[0]; i < to[0]; ++i) b->parent[node_at(f, i, j, k)] = -1;
    }
}

static int32_t find_root(const int32_t* parent, int32_t i)
{
    while (parent[i] != i) i = parent[i];
    return i;
}

static void join_sides(build* b)
{
    const flx_distance_field* f       = b->field;
    const float*              d       = f->value;
    const double              apart   = f->cell * (1 + 1e-5); // floats round by 1e-7 of a few cells
    const int64_t             step[3] = {1, f->n[0], (int64_t)f->n[0] * f->n[1]};
    for (int64_t k = 0; k < f->n[2]; ++k)
        for (int64_t j = 0; j < f->n[1]; ++j)
            for (int64_t i = 0; i < f->n[0]; ++i)
            {
                const int64_t node  = node_at(f, i, j, k);
                const int64_t at[3] = {i, j, k};
                if (b->parent[node] < 0) continue;
                for (int a = 0; a < 3; ++a)
                {
                    const int64_t other = node - step[a];
                    if (at[a] == 0 || b->parent[other] < 0) continue;
                    if ((double)d[node] + (double)d[other] > apart)
                        flx__set_join(b->parent, (int32_t)node, (int32_t)other);
                }
            }
}

static void ask_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const build*              b = user;
    const flx_distance_field* f = b->field;
    (void)worker;
    for (int64_t node = begin; node < end; ++node)
    {
        if (b->parent[node] >= 0 && b->parent[node] != node) continue;
        const int64_t i = node % f->n[0], j = node / f->n[0] % f->n[1], k = node / f->n[0] / f->n[1];
        const double  p[3] = {f->origin[0] + (double)i * f->cell, f->origin[1] + (double)j * f->cell,
                              f->origin[2] + (double)k * f->cell};
        if (b->sign * flx__triangle_bvh_winding(b->bvh, p) > b->threshold) f->value[node] = -f->value[node];
    }
}

static void copy_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const build* b = user;
    (void)worker;
    for (int64_t node = begin; node < end; ++node)
    {
        if (b->parent[node] < 0 || b->parent[node] == node) continue;
        if (signbit(b->field->value[find_root(b->parent, (int32_t)node)]))
            b->field->value[node] = -b->field->value[node];
    }
}

static flx_status fill_signs(build* b)
{
    flx_status    status = FLX_OK;
    flx_context*  ctx    = b->field->ctx;
    const int64_t count  = node_count(b->field);
    FLX_NEW(ctx, b->parent, count);
    for (int64_t i = 0; i < count; ++i) b->parent[i] = (int32_t)i;
    mark_open(b);
    join_sides(b);
    flx__parallel_for(ctx, count, 2048, ask_range, b);
    flx__parallel_for(ctx, count, 16384, copy_range, b);

done:
    flx__free(ctx, b->parent);
    b->parent = NULL;
    return status;
}

// --- far values --------------------------------------------------------------------------------------------

/// Smallest u with sum_k max(u - a_k, 0)^2 = h^2.
static float eikonal(float a, float b, float c, float h)
{
    float lo = fminf(a, b), hi = fmaxf(a, b), mid = c;
    if (mid < lo)
    {
        mid = lo;
        lo  = c;
    }
    if (mid > hi)
    {
        const float t = mid;
        mid           = hi;
        hi            = t;
    }
    float u = lo + h;
    if (u <= mid) return u;
    u = 0.5f * (lo + mid + sqrtf(2 * h * h - (mid - lo) * (mid - lo)));
    if (u <= hi) return u;
    const float sum = lo + mid + hi, square = lo * lo + mid * mid + hi * hi;
    const float root = sum * sum - 3 * (square - h * h);
    return (sum + sqrtf(root > 0 ? root : 0)) / 3;
}

static float lesser_neighbour(const float* v, int64_t node, int64_t step, int64_t at, int64_t n)
{
    const float below = at > 0 ? fabsf(v[node - step]) : INFINITY,
                above = at + 1 < n ? fabsf(v[node + step]) : INFINITY;
    return fminf(below, above);
}

static void sweep(const flx_distance_field* f, int direction)
{
    const bool    down[3] = {direction & 1, (direction >> 1) & 1, (direction >> 2) & 1};
    const int64_t step[3] = {1, f->n[0], (int64_t)f->n[0] * f->n[1]};
    const float   h = (float)f->cell, band = (float)f->band;
    for (int64_t c = 0; c < f->n[2]; ++c)
        for (int64_t b = 0; b < f->n[1]; ++b)
        {
            const int64_t j = down[1] ? f->n[1] - 1 - b : b, k = down[2] ? f->n[2] - 1 - c : c;
            for (int64_t a = 0; a < f->n[0]; ++a)
            {
                const int64_t i = down[0] ? f->n[0] - 1 - a : a, node = node_at(f, i, j, k);
                const float   now = f->value[node];
                if (fabsf(now) < band) continue; // exact
                const float x = lesser_neighbour(f->value, node, step[0], i, f->n[0]),
                            y = lesser_neighbour(f->value, node, step[1], j, f->n[1]),
                            z = lesser_neighbour(f->value, node, step[2], k, f->n[2]);
                if (x == INFINITY && y == INFINITY && z == INFINITY) continue;
                const float u = fmaxf(band, eikonal(x, y, z, h));
                if (u < fabsf(now)) f->value[node] = copysignf(u, now);
            }
        }
}

// --- create ------------------------------------------------------------------------------------------------

static flx_status place_grid(flx_distance_field* f, const char* path, const double box_min[3], const double box_max[3])
{
    double count = 1, volume = 1;
    if (!(f->cell > 0 && f->cell < INFINITY))
        return flx__fail(f->ctx, FLX_ERR_SETTING, "%s: a distance-field cell of %g m; it must be above 0", path,
                         f->cell);
    if (!(f->band >= 0 && f->band < INFINITY))
        return flx__fail(f->ctx, FLX_ERR_SETTING, "%s: a distance-field band of %g m; it must not be negative", path,
                         f->band);
    f->band = fmax(f->band, 2 * f->cell); // signs need two exact layers, and so does a good gradient
    for (int a = 0; a < 3; ++a)
    {
        const double size = box_max[a] - box_min[a] + 2 * f->band;
        if (!(box_max[a] >= box_min[a] && size < INFINITY))
            return flx__fail(f->ctx, FLX_ERR_SETTING, "%s: the distance field's box is empty: %g to %g m along %c",
                             path, box_min[a], box_max[a], "xyz"[a]);
        const double cells = ceil(size / f->cell * (1 - 1e-12));
        f->origin[a]       = box_min[a] - f->band - f->cell;
        f->lo[a]           = f->origin[a] + f->cell;
        f->hi[a]           = f->lo[a] + cells * f->cell;
        f->n[a]            = (int32_t)fmin(cells + 3, INT32_MAX);
        count *= cells + 3;
        volume *= size;
    }
    if (count >= 2147483647.0)
        return flx__fail(f->ctx, FLX_ERR_SETTING,
                         "%s: a distance-field cell of %g m would need %.3g nodes, more than 2^31; %.2g m would do",
                         path, f->cell, count, 1.1 * cbrt(volume / 2147483647.0));
    return FLX_OK;
}

flx_status flx__distance_field_create(flx_context* ctx, const char* path, const flx_triangle_bvh* bvh,
                                      const double box_min[3], const double box_max[3], double cell, double band,
                                      flx_distance_field** out)
{
    flx_status          status = FLX_OK;
    flx_distance_field* field  = NULL;
    *out                       = NULL;

    FLX_NEW_ZERO(ctx, field, 1);
    field->ctx  = ctx;
    field->cell = cell;
    field->band = band;
    build b     = {.field = field, .bvh = bvh};
    FLX_TRY(place_grid(field, path, box_min, box_max));
    FLX_TRY(flx__surface_orientation(ctx, bvh, path, &b.sign, &b.threshold));
    FLX_NEW(ctx, field->value, node_count(field));
    fill_distances(&b);
    FLX_TRY(fill_signs(&b));
    for (int direction = 0; direction < 8; ++direction) sweep(field, direction);
    *out  = field;
    field = NULL;

done:
    flx__distance_field_destroy(field);
    return status;
}

void flx__distance_field_destroy(flx_distance_field* field)
{
    if (!field) return;
    flx__free(field->ctx, field->value);
    flx__free(field->ctx, field);
}

// --- sample ------------------------------------------------------------------------------------------------

static void cubic_weights(double t, double w[4], double dw[4])
{
    const double t2 = t * t, t3 = t2 * t;
    w[0]  = -0.5 * t3 + t2 - 0.5 * t;
    w[1]  = 1.5 * t3 - 2.5 * t2 + 1;
    w[2]  = -1.5 * t3 + 2 * t2 + 0.5 * t;
    w[3]  = 0.5 * t3 - 0.5 * t2;
    dw[0] = -1.5 * t2 + 2 * t - 0.5;
    dw[1] = 4.5 * t2 - 5 * t;
    dw[2] = -4.5 * t2 + 4 * t + 0.5;
    dw[3] = 1.5 * t2 - t;
}

/// Value and gradient at q, which lies in [lo, hi].
static double interpolate(const flx_distance_field* f, const double q[3], double gradient[3])
{
    double  w[3][4], dw[3][4];
    int64_t at[3];
    for (int a = 0; a < 3; ++a)
    {
        const double s = (q[a] - f->origin[a]) / f->cell;
        int64_t      i = s >= 1 ? (int64_t)s : 1; // NaN ends here too
        if (i > f->n[a] - 3) i = f->n[a] - 3;
        at[a] = i - 1;
        cubic_weights(s - (double)i, w[a], dw[a]);
    }
    double value = 0, g[3] = {0};
    for (int k = 0; k < 4; ++k)
    {
        double plane = 0, plane_x = 0, plane_y = 0;
        for (int j = 0; j < 4; ++j)
        {
            const float* v = &f->value[node_at(f, at[0], at[1] + j, at[2] + k)];
            const double row =
                w[0][0] * (double)v[0] + w[0][1] * (double)v[1] + w[0][2] * (double)v[2] + w[0][3] * (double)v[3];
            const double row_x =
                dw[0][0] * (double)v[0] + dw[0][1] * (double)v[1] + dw[0][2] * (double)v[2] + dw[0][3] * (double)v[3];
            plane += w[1][j] * row;
            plane_x += w[1][j] * row_x;
            plane_y += dw[1][j] * row;
        }
        value += w[2][k] * plane;
        g[0] += w[2][k] * plane_x;
        g[1] += w[2][k] * plane_y;
        g[2] += dw[2][k] * plane;
    }
    if (gradient)
        for (int a = 0; a < 3; ++a) gradient[a] = g[a] / f->cell;
    return value;
}

double flx__distance_field_sample(const flx_distance_field* field, const double p[3], double gradient[3])
{
    double q[3], away[3], away2 = 0;
    for (int a = 0; a < 3; ++a)
    {
        q[a]    = p[a] < field->lo[a] ? field->lo[a] : p[a] > field->hi[a] ? field->hi[a] : p[a];
        away[a] = p[a] - q[a];
        away2 += away[a] * away[a];
    }
    const double value = interpolate(field, q, gradient);
    if (!(away2 > 0)) return value;

    const double distance = sqrt(away2);
    if (gradient)
        for (int a = 0; a < 3; ++a) // along a clamped axis the value inside does not change
            gradient[a] = away[a] != 0 ? away[a] / distance : gradient[a];
    return value + distance;
}
