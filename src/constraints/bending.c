// Bending: keeps the size of the mean curvature normal at a vertex.
//
//   S q = 1/A_i sum_k (cot a_k + cot b_k)/2 (q_k - q_i),   p = |S X| S q/|S q|,   w_j = weight x A_i
//
// k runs over the neighbours of i, a_k and b_k are the rest angles opposite edge ik (one at the boundary), A_i a third
// of the incident area. [Bouaziz14] section 5; [Meyer03] for the operator; [MPB] section 3.
#include "constraints/constraints_internal.h"

#include "math/mat3.h"

#include <math.h>

#define FLAT_CURVATURE 1e-9 // 1/m

static void project(int32_t count, const double* z, const double* param, double* p)
{
    for (int64_t j = 0; j < count; ++j) flx__project_to_length(z + 3 * j, param[j], p + 3 * j);
}

const flx_constraint_type flx__bending = {.name = "bending", .rows = 1, .params = 1, .project = project};

typedef struct one_rings
{
    const double*  x;
    const int32_t* triangle;
    int32_t *      first, *corner; // corners of the triangles, by vertex
    int32_t*       slot;           // [n] where a neighbour of the present vertex is; below its begin: not there
    double*        area;           // [triangle_count]
} one_rings;

/// Columns of vertex v from `at` on: itself, then its neighbours. Returns their end. `vertex` may be NULL.
static int32_t ring_pattern(const one_rings* s, int32_t v, int32_t at, int32_t* vertex)
{
    const int32_t begin = at;
    s->slot[v]          = at;
    if (vertex) vertex[at] = v;
    ++at;
    for (int32_t i = s->first[v]; i < s->first[v + 1]; ++i)
        for (int32_t step = 1; step <= 2; ++step)
        {
            const int32_t c = s->corner[i], u = s->triangle[c - c % 3 + (c + step) % 3];
            if (s->slot[u] >= begin) continue;
            s->slot[u] = at;
            if (vertex) vertex[at] = u;
            ++at;
        }
    return at;
}

static double cotangent(const double* apex, const double* a, const double* b)
{
    double ea[3], eb[3], normal[3];
    flx__sub3(a, apex, ea);
    flx__sub3(b, apex, eb);
    flx__cross3(ea, eb, normal);
    return flx__dot3(ea, eb) / flx__norm3(normal);
}

/// Coefficients of vertex v, which has the columns [begin, end); returns A_v.
static double ring_coefficients(const one_rings* s, int32_t v, int32_t begin, int32_t end, double* coefficient)
{
    double area = 0;
    for (int32_t k = begin; k < end; ++k) coefficient[k] = 0;
    for (int32_t i = s->first[v]; i < s->first[v + 1]; ++i)
    {
        const int32_t  c = s->corner[i];
        const int32_t* t = s->triangle + (c - c % 3);
        const int32_t  a = t[(c + 1) % 3], b = t[(c + 2) % 3];
        const double * xv = s->x + 3 * (int64_t)v, *xa = s->x + 3 * (int64_t)a, *xb = s->x + 3 * (int64_t)b;
        area += s->area[c / 3] / 3;
        coefficient[s->slot[a]] += cotangent(xb, xv, xa) / 2;
        coefficient[s->slot[b]] += cotangent(xa, xb, xv) / 2;
    }
    double sum = 0;
    for (int32_t k = begin + 1; k < end; ++k) sum += coefficient[k] /= area;
    coefficient[begin] = -sum;
    return area;
}

static flx_status check_triangles(flx_context* ctx, int32_t n, const double* x, int32_t count, const int32_t* triangle,
                                  double* area)
{
    flx_status status = FLX_OK;
    for (int32_t t = 0; t < count; ++t)
    {
        for (int c = 0; c < 3; ++c)
            if (triangle[3 * (int64_t)t + c] < 0 || triangle[3 * (int64_t)t + c] >= n)
                FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "triangle %d names vertex %d of %d", t + 1,
                                  triangle[3 * (int64_t)t + c] + 1, n));
        FLX_TRY(flx__triangle_area(ctx, x, triangle + 3 * (int64_t)t, t + 1, &area[t]));
    }
done:
    return status;
}

/// |S X| of columns [begin, end)
static double rest_curvature(const flx_constraint_batch* b, const double* x, int32_t begin, int32_t end)
{
    double z[3] = {0};
    for (int32_t k = begin; k < end; ++k)
        for (int i = 0; i < 3; ++i)
            z[i] += b->coefficient[k] * (x[3 * (int64_t)b->vertex[k] + i] - x[3 * (int64_t)b->vertex[begin] + i]);
    const double size = flx__norm3(z);
    return size < FLAT_CURVATURE ? 0 : size;
}

static flx_status build(flx_context* ctx, int32_t n, const one_rings* s, const double* weight, flx_constraint_batch* b)
{
    flx_status status = FLX_OK;
    int32_t    count = 0, columns = 0;
    for (int32_t v = 0; v < n; ++v) count += s->first[v + 1] > s->first[v], s->slot[v] = -1;
    for (int32_t v = 0; v < n; ++v)
        if (s->first[v + 1] > s->first[v]) columns = ring_pattern(s, v, columns, NULL);
    *b = (flx_constraint_batch){.type = &flx__bending, .count = count};
    FLX_NEW_ZERO(ctx, b->first, (int64_t)count + 1);
    FLX_NEW(ctx, b->vertex, columns);
    FLX_NEW(ctx, b->coefficient, columns);
    FLX_NEW(ctx, b->weight, count);
    FLX_NEW(ctx, b->param, count);
    for (int32_t v = 0; v < n; ++v) s->slot[v] = -1;
    for (int32_t v = 0, j = 0; v < n; ++v)
    {
        if (s->first[v + 1] == s->first[v]) continue;
        double        stiffness;
        const int32_t begin = b->first[j], end = ring_pattern(s, v, begin, b->vertex);
        FLX_TRY(flx__constraint_stiffness(ctx, weight, v, "vertex", &stiffness));
        b->weight[j]  = stiffness * ring_coefficients(s, v, begin, end, b->coefficient);
        b->param[j]   = rest_curvature(b, s->x, begin, end);
        b->first[++j] = end;
    }
done:
    return status;
}

flx_status flx__bendings(flx_context* ctx, int32_t n, const double* x, int32_t triangle_count, const int32_t* triangle,
                         const double* vertex_weight, flx_constraint_batch* out)
{
    flx_status           status = FLX_OK;
    flx_constraint_batch b      = {0};
    one_rings            s      = {.x = x, .triangle = triangle};
    *out                        = (flx_constraint_batch){0};
    if (triangle_count > INT32_MAX / 9) // at most nine columns for each triangle
        FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "%d triangles are too many: at most %d", triangle_count, INT32_MAX / 9));
    FLX_NEW(ctx, s.area, triangle_count);
    FLX_NEW(ctx, s.slot, n);
    FLX_TRY(check_triangles(ctx, n, x, triangle_count, triangle, s.area));
    FLX_TRY(flx__group(ctx, 3 * triangle_count, triangle, n, &s.first, &s.corner));
    FLX_TRY(build(ctx, n, &s, vertex_weight, &b));
    *out = b;
    b    = (flx_constraint_batch){0};
done:
    flx__constraint_batch_release(ctx, &b);
    flx__free(ctx, s.area);
    flx__free(ctx, s.slot);
    flx__free(ctx, s.first);
    flx__free(ctx, s.corner);
    return status;
}
