#include "reduce/lab_shapes.h"

#include <math.h>

void flx__lab_shape_release(flx_context* ctx, flx_lab_shape* shape)
{
    flx__free(ctx, shape->x);
    flx__free(ctx, shape->mass);
    flx__free(ctx, shape->triangle);
    flx__free(ctx, shape->tet);
    *shape = (flx_lab_shape){0};
}

/// Masses in proportion to how much lies at each vertex (all simplices of a shape have the same measure), of mean 1.
static void equal_shares(flx_lab_shape* s, int32_t entry_count, const int32_t* entry)
{
    for (int32_t i = 0; i < s->n; ++i) s->mass[i] = 0.0;
    for (int32_t k = 0; k < entry_count; ++k) s->mass[entry[k]] += (double)s->n / entry_count;
}

flx_status flx__lab_cloth(flx_context* ctx, int32_t side, flx_lab_shape* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_lab_shape){.n = side * side, .triangle_count = 2 * (side - 1) * (side - 1)};
    FLX_NEW(ctx, out->x, 3 * (int64_t)out->n);
    FLX_NEW(ctx, out->mass, out->n);
    FLX_NEW(ctx, out->triangle, 3 * (int64_t)out->triangle_count);

    int32_t* t = out->triangle;
    for (int32_t i = 0; i < side; ++i)
        for (int32_t j = 0; j < side; ++j)
        {
            const int32_t a = i * side + j, b = a + side, c = b + 1, d = a + 1;
            double* const x = out->x + 3 * (int64_t)a;
            x[0]            = (double)i / (side - 1);
            x[1]            = 0.0;
            x[2]            = (double)j / (side - 1);
            if (i == side - 1 || j == side - 1) continue;
            const int32_t cell[6] = {a, c, b, a, d, c};
            for (int k = 0; k < 6; ++k) *t++ = cell[k];
        }
    equal_shares(out, 3 * out->triangle_count, out->triangle);

done:
    if (status != FLX_OK) flx__lab_shape_release(ctx, out);
    return status;
}

// Along every path from corner 0 to corner 7 of a cell that takes each axis once. [Kuhn60]
static const int8_t axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

static void cell_tets(const int32_t corner[8], int32_t tet[24])
{
    for (int k = 0; k < 6; ++k)
    {
        const int  first = 1 << axes[k][0], second = first + (1 << axes[k][1]);
        const bool even = k < 3; // the others would have negative volume
        tet[4 * k]      = corner[0];
        tet[4 * k + 1]  = corner[even ? first : second];
        tet[4 * k + 2]  = corner[even ? second : first];
        tet[4 * k + 3]  = corner[7];
    }
}

/// The side of a cell that looks along -+axis, split as the tets split it: by the diagonal through the corner nearest
/// to corner 0.
static int32_t* side_triangles(const int32_t corner[8], int axis, bool far, int32_t* t)
{
    const int     at = far ? 1 << axis : 0, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
    const int32_t o = corner[at], p = corner[at + u], q = corner[at + v], r = corner[at + u + v];
    const int32_t two[6] = {o, far ? p : r, far ? r : p, o, far ? r : q, far ? q : r};
    for (int k = 0; k < 6; ++k) *t++ = two[k];
    return t;
}

flx_status flx__lab_box(flx_context* ctx, int32_t cells, flx_lab_shape* out)
{
    flx_status    status    = FLX_OK;
    const int32_t size[3]   = {(int32_t)lround(8.0 * cells / 3.0), cells, cells};
    const int32_t plane     = (cells + 1) * (cells + 1);
    const int32_t stride[3] = {plane, cells + 1, 1};
    *out                    = (flx_lab_shape){.n = (size[0] + 1) * plane, .tet_count = 6 * size[0] * cells * cells};
    out->triangle_count     = 4 * cells * cells + 8 * size[0] * cells;
    FLX_NEW(ctx, out->x, 3 * (int64_t)out->n);
    FLX_NEW(ctx, out->mass, out->n);
    FLX_NEW(ctx, out->tet, 4 * (int64_t)out->tet_count);
    FLX_NEW(ctx, out->triangle, 3 * (int64_t)out->triangle_count);

    int32_t *tet = out->tet, *triangle = out->triangle;
    for (int32_t v = 0; v < out->n; ++v)
    {
        const int32_t at[3] = {v / plane, v % plane / (cells + 1), v % (cells + 1)};
        for (int c = 0; c < 3; ++c) out->x[3 * (int64_t)v + c] = (double)at[c] / size[0];
        if (at[0] == size[0] || at[1] == cells || at[2] == cells) continue;
        int32_t corner[8];
        for (int k = 0; k < 8; ++k)
            corner[k] = v + (k & 1) * stride[0] + (k >> 1 & 1) * stride[1] + (k >> 2) * stride[2];
        cell_tets(corner, tet);
        tet += 24;
        for (int c = 0; c < 3; ++c)
        {
            if (at[c] == 0) triangle = side_triangles(corner, c, false, triangle);
            if (at[c] == size[c] - 1) triangle = side_triangles(corner, c, true, triangle);
        }
    }
    equal_shares(out, 4 * out->tet_count, out->tet);

done:
    if (status != FLX_OK) flx__lab_shape_release(ctx, out);
    return status;
}
