// Solids as triangles, for pictures and exports.
#include "contact/solid_internal.h"

#include <math.h>
#include <string.h>

#define RINGS 16  // of vertices on each half of a ball
#define AROUND 48 // vertices of a ring
#define PI 3.14159265358979323846

static flx_status new_surface(flx_context* ctx, int32_t vertices, int32_t triangles, double** x, int32_t** triangle)
{
    flx_status status = FLX_OK;
    FLX_NEW(ctx, *x, 3 * (int64_t)vertices);
    FLX_NEW(ctx, *triangle, 3 * (int64_t)triangles);

done:
    if (status != FLX_OK)
    {
        flx__free(ctx, *x);
        *x = NULL;
    }
    return status;
}

static void put_triangle(int32_t** at, int32_t a, int32_t b, int32_t c)
{
    (*at)[0] = a;
    (*at)[1] = b;
    (*at)[2] = c;
    *at += 3;
}

static void across_axes(const double axis[3], double u[3], double v[3])
{
    flx__solid_sideways(axis, u);
    for (int k = 0; k < 3; ++k) v[k] = axis[(k + 1) % 3] * u[(k + 2) % 3] - axis[(k + 2) % 3] * u[(k + 1) % 3];
}

static void square(const flx_solid* s, double size, double* x, int32_t* triangle)
{
    double u[3], v[3];
    across_axes(s->shape.b, u, v);
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k)
            x[3 * i + k] = s->shape.a[k] + 0.5 * size * ((i & 1 ? 1 : -1) * u[k] + (i & 2 ? 1 : -1) * v[k]);
    put_triangle(&triangle, 0, 1, 3);
    put_triangle(&triangle, 0, 3, 2);
}

static void cuboid(const flx_solid* s, double* x, int32_t* triangle)
{
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 3; ++k) x[3 * i + k] = (i >> k) & 1 ? s->shape.b[k] : s->shape.a[k];
    for (int k = 0; k < 3; ++k)
    {
        const int b = 1 << (k + 1) % 3, c = 1 << (k + 2) % 3, top = 1 << k;
        put_triangle(&triangle, 0, b + c, b); // looking down axis k, from outside
        put_triangle(&triangle, 0, c, b + c);
        put_triangle(&triangle, top, top + b, top + b + c);
        put_triangle(&triangle, top, top + b + c, top + c);
    }
}

/// A capsule has an equator at either end of its cylinder, a ball only one.
static int32_t ring_count(const flx_solid* s)
{
    return s->length > 0 ? 2 * RINGS : 2 * RINGS - 1;
}

/// Rings from pole to pole, RINGS to a half ball.
static void rounded(const flx_solid* s, double* x, int32_t* triangle)
{
    double        u[3], v[3];
    const int32_t rings = ring_count(s), south = rings * AROUND, north = south + 1;
    across_axes(s->axis, u, v);
    for (int32_t i = 0; i < rings; ++i)
    {
        const bool    upper    = i >= RINGS;
        const int32_t step     = i - RINGS + (upper && s->length > 0 ? 0 : 1);
        const double  latitude = step * (PI / 2) / RINGS;
        const double  height   = s->shape.radius * sin(latitude) + (upper ? s->length : 0),
                     r         = s->shape.radius * cos(latitude);
        for (int32_t j = 0; j < AROUND; ++j)
            for (int k = 0; k < 3; ++k)
                x[3 * (i * AROUND + j) + k] = s->shape.a[k] + height * s->axis[k] +
                                              r * (cos(2 * PI * j / AROUND) * u[k] + sin(2 * PI * j / AROUND) * v[k]);
    }
    for (int k = 0; k < 3; ++k)
    {
        x[3 * south + k] = s->shape.a[k] - s->shape.radius * s->axis[k];
        x[3 * north + k] = s->shape.a[k] + (s->length + s->shape.radius) * s->axis[k];
    }
    for (int32_t j = 0; j < AROUND; ++j)
    {
        const int32_t n = (j + 1) % AROUND, last = (rings - 1) * AROUND;
        put_triangle(&triangle, south, n, j);
        put_triangle(&triangle, north, last + j, last + n);
        for (int32_t i = 0; i + 1 < rings; ++i)
        {
            const int32_t a = i * AROUND + j, b = i * AROUND + n;
            put_triangle(&triangle, a, b, b + AROUND);
            put_triangle(&triangle, a, b + AROUND, a + AROUND);
        }
    }
}

flx_status flx__solid_surface(flx_context* ctx, const flx_solid* solid, double size, int32_t* vertex_count, double** x,
                              int32_t* triangle_count, int32_t** triangle)
{
    flx_status status = FLX_OK;
    int32_t    vertices, triangles;
    *vertex_count = *triangle_count = 0;
    *x                              = NULL;
    *triangle                       = NULL;
    switch (solid->shape.kind)
    {
    case FLX_SHAPE_PLANE:
        vertices  = 4;
        triangles = 2;
        break;
    case FLX_SHAPE_BOX:
        vertices  = 8;
        triangles = 12;
        break;
    case FLX_SHAPE_MESH:
        vertices  = solid->vertex_count;
        triangles = solid->triangle_count;
        break;
    default:
        vertices  = ring_count(solid) * AROUND + 2;
        triangles = 2 * ring_count(solid) * AROUND;
    }
    FLX_TRY(new_surface(ctx, vertices, triangles, x, triangle));
    *vertex_count   = vertices;
    *triangle_count = triangles;
    switch (solid->shape.kind)
    {
    case FLX_SHAPE_PLANE:
        square(solid, size, *x, *triangle);
        break;
    case FLX_SHAPE_BOX:
        cuboid(solid, *x, *triangle);
        break;
    case FLX_SHAPE_MESH:
        memcpy(*x, solid->x, 3 * (size_t)vertices * sizeof **x);
        memcpy(*triangle, solid->triangle, 3 * (size_t)triangles * sizeof **triangle);
        break;
    default:
        rounded(solid, *x, *triangle);
    }

done:
    return status;
}
