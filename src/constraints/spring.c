// Edge spring: keeps the length of an edge.
//
//   S q = q_a - q_b,   p = L0 S q / |S q|,   w_j = weight
//
// [Liu13]; [MPB] section 3.
#include "constraints/constraints_internal.h"

#include "math/mat3.h"

#include <math.h>

#define LEAST_LENGTH 1e-300 // shorter has no direction

void flx__project_to_length(const double* z, double size, double* p)
{
    const double largest = fmax(fabs(z[0]), fmax(fabs(z[1]), fabs(z[2])));
    double       unit[3] = {1, 0, 0};
    if (largest > LEAST_LENGTH && isfinite(z[0]) && isfinite(z[1]) && isfinite(z[2]))
    {
        for (int i = 0; i < 3; ++i) unit[i] = z[i] / largest; // squares of z itself may overflow
        const double norm = flx__norm3(unit);
        for (int i = 0; i < 3; ++i) unit[i] /= norm;
    }
    for (int i = 0; i < 3; ++i) p[i] = size * unit[i];
}

static void project(int32_t count, const double* z, const double* param, double* p)
{
    for (int64_t j = 0; j < count; ++j) flx__project_to_length(z + 3 * j, param[j], p + 3 * j);
}

const flx_constraint_type flx__edge_spring = {.name = "spring", .rows = 1, .params = 1, .project = project};

/// first_of[e]: corner e of the triangles starts an edge (to the triangle's next corner) that no earlier one did.
static flx_status mark_first_edges(flx_context* ctx, int32_t corner_count, const int32_t* triangle, uint8_t* first_of)
{
    flx_status status = FLX_OK;
    int32_t *  low = NULL, *high = NULL, *first = NULL, *entry = NULL, *seen = NULL, n = 0;
    FLX_NEW(ctx, low, corner_count);
    FLX_NEW(ctx, high, corner_count);
    for (int32_t e = 0; e < corner_count; ++e)
    {
        const int32_t a = triangle[e], b = triangle[e % 3 == 2 ? e - 2 : e + 1];
        low[e]  = a < b ? a : b;
        high[e] = a < b ? b : a;
        n       = high[e] >= n ? high[e] + 1 : n;
    }
    FLX_TRY(flx__group(ctx, corner_count, low, n, &first, &entry));
    FLX_NEW(ctx, seen, n); // the last lower vertex that had an edge to this one
    for (int32_t v = 0; v < n; ++v) seen[v] = -1;
    for (int32_t v = 0; v < n; ++v)
        for (int32_t i = first[v]; i < first[v + 1]; ++i)
        {
            const int32_t e = entry[i];
            first_of[e]     = seen[high[e]] != v;
            seen[high[e]]   = v;
        }
done:
    flx__free(ctx, low);
    flx__free(ctx, high);
    flx__free(ctx, first);
    flx__free(ctx, entry);
    flx__free(ctx, seen);
    return status;
}

flx_status flx__triangle_edges(flx_context* ctx, int32_t triangle_count, const int32_t* triangle, int32_t* count,
                               int32_t** edge)
{
    flx_status status   = FLX_OK;
    uint8_t*   first_of = NULL;
    int32_t    found    = 0;
    *count              = 0;
    *edge               = NULL;
    if (triangle_count > INT32_MAX / 3)
        FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "%d triangles are too many: at most %d", triangle_count, INT32_MAX / 3));
    const int32_t corner_count = 3 * triangle_count;
    FLX_NEW(ctx, first_of, corner_count);
    FLX_TRY(mark_first_edges(ctx, corner_count, triangle, first_of));
    for (int32_t e = 0; e < corner_count; ++e) found += first_of[e];
    FLX_NEW(ctx, *edge, 2 * (int64_t)found);
    *count = found;
    found  = 0;
    for (int32_t e = 0; e < corner_count; ++e)
    {
        if (!first_of[e]) continue;
        (*edge)[2 * (int64_t)found]     = triangle[e];
        (*edge)[2 * (int64_t)found + 1] = triangle[e % 3 == 2 ? e - 2 : e + 1];
        ++found;
    }
done:
    flx__free(ctx, first_of);
    return status;
}

flx_status flx__edge_springs(flx_context* ctx, const double* x, int32_t count, const int32_t* edge,
                             const double* weight, flx_constraint_batch* out)
{
    flx_status           status = FLX_OK;
    flx_constraint_batch b      = {0};
    *out                        = (flx_constraint_batch){0};
    FLX_TRY(flx__constraint_batch_create(ctx, &flx__edge_spring, count, 2, "edge", &b));
    for (int32_t j = 0; j < count; ++j)
    {
        const int32_t* ends   = edge + 2 * (int64_t)j;
        const double   length = flx__distance3(x + 3 * (int64_t)ends[0], x + 3 * (int64_t)ends[1]);
        if (!(length > 0 && isfinite(length)))
            FLX_TRY(flx__fail(ctx, FLX_ERR_MESH,
                              "edge %d between vertices %d and %d has length %g m; it must be positive", j + 1,
                              ends[0] + 1, ends[1] + 1, length));
        FLX_TRY(flx__constraint_stiffness(ctx, weight, j, "edge", &b.weight[j]));
        b.param[j] = length;
        for (int c = 0; c < 2; ++c)
        {
            b.vertex[2 * (int64_t)j + c]      = ends[c];
            b.coefficient[2 * (int64_t)j + c] = c == 0 ? 1 : -1;
        }
    }
    *out = b;
    b    = (flx_constraint_batch){0};
done:
    flx__constraint_batch_release(ctx, &b);
    return status;
}
