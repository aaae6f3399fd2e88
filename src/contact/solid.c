// Shapes made ready for distance queries.
//
//   plane    n.(p - a)                          sphere  |p - c| - r
//   capsule  distance to the segment - r        box     |max(q, 0)| + min(max_k q_k, 0), q = |p - middle| - half
//   mesh     sampled distance field
// Where the nearest surface point is not unique the gradient is that of one of them: always of unit length, never NaN.
#include "contact/solid_internal.h"

#include "mesh/mesh_internal.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define BAND_CELLS 4
#define CELLS_ACROSS 96 // of a mesh's diagonal, when the shape names no cell

// --- create ------------------------------------------------------------------------------------------------

static flx_status make_plane(flx_context* ctx, flx_solid* s)
{
    const double size = sqrt(flx__dot3(s->shape.b, s->shape.b));
    if (!(size > 0 && size < INFINITY))
        return flx__fail(ctx, FLX_ERR_SETTING, "plane: its normal (%g, %g, %g) has no direction", s->shape.b[0],
                         s->shape.b[1], s->shape.b[2]);
    for (int k = 0; k < 3; ++k) s->shape.b[k] /= size;
    s->area = INFINITY;
    return FLX_OK;
}

static flx_status make_round(flx_context* ctx, flx_solid* s)
{
    const bool   capsule = s->shape.kind == FLX_SHAPE_CAPSULE;
    const double r       = s->shape.radius;
    if (!(r > 0 && r < INFINITY))
        return flx__fail(ctx, FLX_ERR_SETTING, "%s: its radius is %g m; it must be above 0",
                         capsule ? "capsule" : "sphere", r);
    const double e[3] = {s->shape.b[0] - s->shape.a[0], s->shape.b[1] - s->shape.a[1], s->shape.b[2] - s->shape.a[2]};
    s->length         = capsule ? sqrt(flx__dot3(e, e)) : 0;
    for (int k = 0; k < 3; ++k) s->axis[k] = s->length > 0 ? e[k] / s->length : k == 2;
    s->area = 4 * PI * r * r + 2 * PI * r * s->length;
    return FLX_OK;
}

static flx_status make_box(flx_context* ctx, flx_solid* s)
{
    double e[3];
    for (int k = 0; k < 3; ++k)
    {
        e[k] = s->shape.b[k] - s->shape.a[k];
        if (!(e[k] > 0 && e[k] < INFINITY))
            return flx__fail(ctx, FLX_ERR_SETTING, "box: it is empty along %c: from %g to %g m", "xyz"[k],
                             s -> shape.a[k], s->shape.b[k]);
    }
    s->area = 2 * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]);
    return FLX_OK;
}

static double triangle_area(const double* x, const int32_t* t)
{
    const double *a = &x[3 * (int64_t)t[0]], *b = &x[3 * (int64_t)t[1]], *c = &x[3 * (int64_t)t[2]];
    const double  e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double  n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    return 0.5 * sqrt(flx__dot3(n, n));
}

/// The mesh's triangles: those of the file, or the boundary of its tets. The solid takes x and triangle over.
static flx_status take_surface(flx_context* ctx, flx_solid* s, flx_mesh* mesh)
{
    flx_status status = FLX_OK;
    if (mesh->triangle_count == 0 && mesh->tet_count > 0)
        FLX_TRY(flx__tet_boundary(ctx, mesh->tet_count, mesh->tet, &s->triangle_count, &s->triangle));
    else
    {
        FLX_NEW(ctx, s->triangle, 3 * (int64_t)mesh->triangle_count);
        s->triangle_count = mesh->triangle_count;
        if (mesh->triangle_count > 0)
            memcpy(s->triangle, mesh->triangle, 3 * (size_t)mesh->triangle_count * sizeof *s->triangle);
    }
    FLX_NEW(ctx, s->x, 3 * (int64_t)mesh->vertex_count);
    s->vertex_count = mesh->vertex_count;
    if (mesh->vertex_count > 0) memcpy(s->x, mesh->x, 3 * (size_t)mesh->vertex_count * sizeof *s->x);

done:
    return status;
}

static flx_status make_mesh(flx_context* ctx, flx_solid* s)
{
    flx_status        status  = FLX_OK;
    flx_mesh*         mesh    = NULL;
    flx_triangle_bvh* bvh     = NULL;
    flx_mesh_options  options = flx_mesh_options_default();
    if (s->shape.scale > 0) options.scale = s->shape.scale;
    options.group = s->group;

    FLX_TRY(flx_mesh_read(ctx, s->path, &options, &mesh));
    FLX_TRY(take_surface(ctx, s, mesh));
    if (s->triangle_count == 0)
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "%s: no triangles: a solid needs a closed surface", s->path);
        goto done;
    }
    FLX_TRY(flx__triangle_bvh_create(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &bvh));

    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, diagonal2 = 0;
    for (int32_t t = 0; t < s->triangle_count; ++t)
    {
        s->area += triangle_area(s->x, &s->triangle[3 * (int64_t)t]);
        for (int i = 0; i < 9; ++i)
        {
            const double x = s->x[3 * (int64_t)s->triangle[3 * (int64_t)t + i / 3] + i % 3];
            lo[i % 3]      = fmin(lo[i % 3], x);
            hi[i % 3]      = fmax(hi[i % 3], x);
        }
    }
    for (int k = 0; k < 3; ++k) diagonal2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
    if (!(diagonal2 > 0))
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "%s: flat: its %d triangles have no area", s->path, s->triangle_count);
        goto done;
    }
    const double cell = s->shape.cell > 0 ? s->shape.cell : sqrt(diagonal2) / CELLS_ACROSS;
    FLX_TRY(flx__distance_field_create(ctx, s->path, bvh, lo, hi, cell, BAND_CELLS * cell, &s->field));

done:
    flx__triangle_bvh_destroy(bvh);
    flx_mesh_destroy(ctx, mesh);
    return status;
}

flx_status flx__solid_create(flx_context* ctx, const flx_shape* shape, flx_solid** out)
{
    flx_status status = FLX_OK;
    flx_solid* solid  = NULL;
    *out              = NULL;

    FLX_NEW_ZERO(ctx, solid, 1);
    solid->ctx         = ctx;
    solid->shape       = *shape;
    solid->shape.path  = NULL; // the caller's; copies are kept beside
    solid->shape.group = NULL;
    switch (shape->kind)
    {
    case FLX_SHAPE_PLANE:
        FLX_TRY(make_plane(ctx, solid));
        break;
    case FLX_SHAPE_SPHERE:
    case FLX_SHAPE_CAPSULE:
        FLX_TRY(make_round(ctx, solid));
        break;
    case FLX_SHAPE_BOX:
        FLX_TRY(make_box(ctx, solid));
        break;
    case FLX_SHAPE_MESH:
        solid->path  = shape->path; // lent while making
        solid->group = shape->group;
        if (!solid->path)
            status = flx__fail(ctx, FLX_ERR_ARGUMENT, "a mesh shape without a path");
        else
            status = make_mesh(ctx, solid);
        solid->path = solid->group = NULL;
        break;
    case FLX_SHAPE_NONE:
    case FLX_SHAPE_ALL:
    case FLX_SHAPE_AUTO:
        status = flx__fail(ctx, FLX_ERR_ARGUMENT,
                           "this shape is a region, not a solid: plane, sphere, capsule, box or mesh");
        break;
    }
    if (status != FLX_OK) goto done;
    *out  = solid;
    solid = NULL;

done:
    flx__solid_destroy(solid);
    return status;
}

void flx__solid_destroy(flx_solid* solid)
{
    if (!solid) return;
    flx__distance_field_destroy(solid->field);
    flx__free(solid->ctx, solid->x);
    flx__free(solid->ctx, solid->triangle);
    flx__free(solid->ctx, solid);
}

double flx__solid_area(const flx_solid* solid)
{
    return solid->area;
}

// --- distance ----------------------------------------------------------------------------------------------

/// A unit vector at right angles to the unit vector `axis`.
void flx__solid_sideways(const double axis[3], double out[3])
{
    int least = 0;
    for (int k = 1; k < 3; ++k)
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    double size = 0;
    for (int k = 0; k < 3; ++k)
    {
        out[k] = (k == least) - axis[least] * axis[k];
        size += out[k] * out[k];
    }
    for (int k = 0; k < 3; ++k) out[k] /= sqrt(size);
}

static double round_distance(const flx_solid* s, const double p[3], double gradient[3])
{
    double       r[3] = {p[0] - s->shape.a[0], p[1] - s->shape.a[1], p[2] - s->shape.a[2]};
    const double t    = fmin(fmax(flx__dot3(r, s->axis), 0), s->length);
    for (int k = 0; k < 3; ++k) r[k] -= t * s->axis[k];
    const double size = sqrt(flx__dot3(r, r));
    if (gradient)
    {
        double side[3];
        flx__solid_sideways(s->axis, side); // on the axis any direction across it will do
        for (int k = 0; k < 3; ++k) gradient[k] = size > 0 ? r[k] / size : side[k];
    }
    return size - s->shape.radius;
}

static double box_distance(const flx_solid* s, const double p[3], double gradient[3])
{
    double q[3], sign[3], outside2 = 0;
    int    deepest = 0;
    for (int k = 0; k < 3; ++k)
    {
        const double r = p[k] - 0.5 * (s->shape.a[k] + s->shape.b[k]);
        sign[k]        = r < 0 ? -1 : 1;
        // each side from its own face: exact at the faces
        q[k] = r < 0 ? s->shape.a[k] - p[k] : p[k] - s->shape.b[k];
        if (q[k] > q[deepest]) deepest = k;
        if (q[k] > 0) outside2 += q[k] * q[k];
    }
    const bool   outside  = outside2 > 0;
    const double distance = outside ? sqrt(outside2) : q[deepest];
    if (gradient)
        for (int k = 0; k < 3; ++k)
            gradient[k] = outside ? (q[k] > 0 ? sign[k] * q[k] / distance : 0) : k == deepest ? sign[k] : 0;
    return distance;
}

static double mesh_distance(const flx_solid* s, const double p[3], double gradient[3])
{
    const double d = flx__distance_field_sample(s->field, p, gradient);
    if (gradient && !(flx__dot3(gradient, gradient) > 1e-12)) // on a ridge the slopes of both sides cancel
    {
        gradient[0] = gradient[1] = 0;
        gradient[2]               = 1;
    }
    return d;
}

double flx__solid_distance(const flx_solid* solid, const double p[3], double gradient[3])
{
    switch (solid->shape.kind)
    {
    case FLX_SHAPE_PLANE:
        if (gradient) memcpy(gradient, solid->shape.b, 3 * sizeof *gradient);
        return flx__dot3(solid->shape.b, (const double[3]){p[0] - solid->shape.a[0], p[1] - solid->shape.a[1],
                                                           p[2] - solid->shape.a[2]});
    case FLX_SHAPE_BOX:
        return box_distance(solid, p, gradient);
    case FLX_SHAPE_MESH:
        return mesh_distance(solid, p, gradient);
    default:
        return round_distance(solid, p, gradient);
    }
}
