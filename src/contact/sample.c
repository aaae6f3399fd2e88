// Points spread evenly over a surface.
//
// Five candidates for each wanted point, one from each of equal shares of the area, are thinned to the wanted number:
// again and again the candidate most crowded by others goes. The crowding of i is
//   sum_j (1 - min(d_ij, 2 r) / 2 r)^8,   r = sqrt(A / (2 sqrt(3) count)), the spacing of the densest packing.
// Based on [Yuksel15]. Differs: ties go to the lower candidate, so that the result is one and the same everywhere; the
// neighbour lists come from a grid.
#include "contact/solid_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 5
#define PI 3.14159265358979323846

// --- thinning ----------------------------------------------------------------------------------------------

typedef struct cell_entry
{
    uint64_t cell;
    int32_t  point;
} cell_entry;

typedef struct thinning
{
    int32_t       count;
    const double* point; // [count][3]
    double        reach; // 2 r, m
    double        lo[3]; // m
    cell_entry*   entry; // [count] sorted by cell
    double*       crowd; // [count]
    int32_t*      heap;  // [count] most crowded first
    int32_t*      at;    // [count] place in the heap, -1 = gone
    int32_t       heap_count;
} thinning;

static uint64_t cell_key(const int64_t c[3])
{
    return ((uint64_t)c[2] << 42) | ((uint64_t)c[1] << 21) | (uint64_t)c[0]; // 2^21 cells an axis, see reach below
}

static void cell_of(const thinning* s, const double* p, int64_t c[3])
{
    for (int k = 0; k < 3; ++k) c[k] = (int64_t)((p[k] - s->lo[k]) / s->reach) + 1; // 0 stays free for neighbours
}

static int compare_entries(const void* a, const void* b)
{
    const cell_entry *e = a, *f = b;
    if (e->cell != f->cell) return e->cell < f->cell ? -1 : 1;
    return (e->point > f->point) - (e->point < f->point);
}

static int32_t first_entry(const thinning* s, uint64_t cell)
{
    int32_t lo = 0, hi = s->count;
    while (lo < hi)
    {
        const int32_t mid = lo + (hi - lo) / 2;
        if (s->entry[mid].cell < cell)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static double crowding(double d, double reach)
{
    const double a = 1 - d / reach, a2 = a * a, a4 = a2 * a2;
    return a4 * a4;
}

typedef void (*pair_fn)(thinning* s, int32_t i, int32_t j, double weight);

static void each_neighbour(thinning* s, int32_t i, pair_fn fn)
{
    const double* p = &s->point[3 * (int64_t)i];
    int64_t       c[3];
    cell_of(s, p, c);
    for (int64_t z = c[2] - 1; z <= c[2] + 1; ++z)
        for (int64_t y = c[1] - 1; y <= c[1] + 1; ++y)
        {
            const uint64_t last = cell_key((const int64_t[3]){c[0] + 1, y, z}); // cells along x follow each other
            for (int32_t e = first_entry(s, last - 2); e < s->count && s->entry[e].cell <= last; ++e)
            {
                const int32_t j = s->entry[e].point;
                if (j == i) continue;
                const double* q = &s->point[3 * (int64_t)j];
                const double  d2 =
                    (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
                if (d2 < s->reach * s->reach) fn(s, i, j, crowding(sqrt(d2), s->reach));
            }
        }
}

static void crowd_one(thinning* s, int32_t i, int32_t j, double weight)
{
    (void)j;
    s->crowd[i] += weight;
}

static void crowd_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    thinning* s = user;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        s->crowd[i] = 0;
        each_neighbour(s, (int32_t)i, crowd_one);
    }
}

static bool goes_before(const thinning* s, int32_t a, int32_t b)
{
    return s->crowd[a] > s->crowd[b] || (s->crowd[a] == s->crowd[b] && a < b);
}

static void heap_put(thinning* s, int32_t place, int32_t point)
{
    s->heap[place] = point;
    s->at[point]   = place;
}

static void heap_sink(thinning* s, int32_t place, int32_t point)
{
    for (;;)
    {
        int32_t child = 2 * place + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count && goes_before(s, s->heap[child + 1], s->heap[child])) ++child;
        if (!goes_before(s, s->heap[child], point)) break;
        heap_put(s, place, s->heap[child]);
        place = child;
    }
    heap_put(s, place, point);
}

static void relieve(thinning* s, int32_t i, int32_t j, double weight)
{
    (void)i;
    if (s->at[j] < 0) return;
    s->crowd[j] -= weight;
    heap_sink(s, s->at[j], j); // less crowded: it can only sink
}

static void thin_to(thinning* s, int32_t wanted)
{
    s->heap_count = s->count;
    for (int32_t i = 0; i < s->count; ++i) heap_put(s, i, i);
    for (int32_t i = s->count / 2 - 1; i >= 0; --i) heap_sink(s, i, s->heap[i]);
    while (s->heap_count > wanted)
    {
        const int32_t gone = s->heap[0], last = s->heap[--s->heap_count];
        s->at[gone] = -1;
        if (gone != last) heap_sink(s, 0, last);
        each_neighbour(s, gone, relieve);
    }
}

/// out keep [wanted]: the candidates that stay, ascending.
static flx_status thin(flx_context* ctx, int32_t count, const double* point, double area, int32_t wanted, int32_t* keep)
{
    flx_status status = FLX_OK;
    thinning   s      = {.count = count, .point = point};
    FLX_NEW(ctx, s.entry, count);
    FLX_NEW(ctx, s.crowd, count);
    FLX_NEW(ctx, s.heap, count);
    FLX_NEW(ctx, s.at, count);

    double size = 0;
    for (int k = 0; k < 3; ++k)
    {
        double hi = -INFINITY;
        s.lo[k]   = INFINITY;
        for (int32_t i = 0; i < count; ++i)
        {
            s.lo[k] = fmin(s.lo[k], point[3 * (int64_t)i + k]);
            hi      = fmax(hi, point[3 * (int64_t)i + k]);
        }
        size = fmax(size, hi - s.lo[k]);
    }
    s.reach = fmax(2 * sqrt(area / (2 * sqrt(3.0) * wanted)), size / 2000000); // keeps cells below 2^21
    if (!(s.reach > 0)) s.reach = 1;
    for (int32_t i = 0; i < count; ++i)
    {
        int64_t c[3];
        cell_of(&s, &point[3 * (int64_t)i], c);
        s.entry[i] = (cell_entry){cell_key(c), i};
    }
    qsort(s.entry, (size_t)count, sizeof *s.entry, compare_entries);
    flx__parallel_for(ctx, count, 256, crowd_range, &s);
    thin_to(&s, wanted);
    for (int32_t i = 0, n = 0; i < count; ++i)
        if (s.at[i] >= 0) keep[n++] = i;

done:
    flx__free(ctx, s.entry);
    flx__free(ctx, s.crowd);
    flx__free(ctx, s.heap);
    flx__free(ctx, s.at);
    return status;
}

// --- candidates --------------------------------------------------------------------------------------------

/// Low-discrepancy numbers in [0, 1): the i-th of a sequence that fills the square evenly (steps from the plastic
/// number).
static void pair_of(int32_t i, double* u, double* v)
{
    *u = fmod(0.5 + 0.7548776662466927 * i, 1);
    *v = fmod(0.5 + 0.5698402909980532 * i, 1);
}

static double area_of(const double* x, const int32_t* t)
{
    const double *a = &x[3 * (int64_t)t[0]], *b = &x[3 * (int64_t)t[1]], *c = &x[3 * (int64_t)t[2]];
    const double  e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double  n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static void point_of(const double* x, const int32_t* t, const double w[3], double out[3])
{
    for (int k = 0; k < 3; ++k)
        out[k] = w[0] * x[3 * (int64_t)t[0] + k] + w[1] * x[3 * (int64_t)t[1] + k] + w[2] * x[3 * (int64_t)t[2] + k];
}

/// `count` candidates, each from its own equal share of the area in the order of the triangles.
static void triangle_candidates(const double* x, int32_t triangle_count, const int32_t* triangle, double area,
                                int32_t count, int32_t* on, double* weight)
{
    double  sum  = 0;
    int32_t done = 0, last = -1;
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        const double a = area_of(x, &triangle[3 * (int64_t)t]);
        if (!(a > 0)) continue;
        sum += a;
        last = t;
        while (done < count && sum >= area * (done + 0.5) / count) on[done++] = t;
    }
    while (done < count) on[done++] = last; // the sum fell short of the area by rounding
    for (int32_t i = 0; i < count; ++i)
    {
        double u, v;
        pair_of(i, &u, &v);
        if (u + v > 1)
        {
            u = 1 - u;
            v = 1 - v;
        }
        weight[3 * (int64_t)i]     = 1 - u - v;
        weight[3 * (int64_t)i + 1] = u;
        weight[3 * (int64_t)i + 2] = v;
    }
}

static flx_status candidate_count(flx_context* ctx, int32_t count, int32_t* out)
{
    if (count < 0 || count > INT32_MAX / (3 * CANDIDATES))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "%d surface points: 0 to %d are allowed", count,
                         INT32_MAX / (3 * CANDIDATES));
    *out = count * CANDIDATES;
    return FLX_OK;
}

flx_status flx__surface_sample(flx_context* ctx, const double* x, int32_t triangle_count, const int32_t* triangle,
                               int32_t count, double* point, int32_t* on_triangle, double* weight)
{
    flx_status status = FLX_OK;
    int32_t *  on = NULL, *keep = NULL, many = 0;
    double *   w = NULL, *p = NULL, area = 0;

    FLX_TRY(candidate_count(ctx, count, &many));
    if (count == 0) goto done;
    for (int32_t t = 0; t < triangle_count; ++t) area += area_of(x, &triangle[3 * (int64_t)t]);
    if (!(area > 0 && area < INFINITY))
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "a surface of %d triangles and %g m^2 cannot hold %d points",
                           triangle_count, area, count);
        goto done;
    }
    FLX_NEW(ctx, on, many);
    FLX_NEW(ctx, keep, count);
    FLX_NEW(ctx, w, 3 * (int64_t)many);
    FLX_NEW(ctx, p, 3 * (int64_t)many);
    triangle_candidates(x, triangle_count, triangle, area, many, on, w);
    for (int64_t i = 0; i < many; ++i) point_of(x, &triangle[3 * (int64_t)on[i]], &w[3 * i], &p[3 * i]);
    FLX_TRY(thin(ctx, many, p, area, count, keep));
    for (int64_t i = 0; i < count; ++i)
    {
        memcpy(&point[3 * i], &p[3 * (int64_t)keep[i]], 3 * sizeof *point);
        if (on_triangle) on_triangle[i] = on[keep[i]];
        if (weight) memcpy(&weight[3 * i], &w[3 * (int64_t)keep[i]], 3 * sizeof *weight);
    }

done:
    flx__free(ctx, on);
    flx__free(ctx, keep);
    flx__free(ctx, w);
    flx__free(ctx, p);
    return status;
}

/// Sphere and capsule: a belt of height dz has area 2 pi r dz on the cylinder and, after Archimedes, on the caps as
/// well.
static void round_candidates(const flx_solid* s, int32_t count, double* p)
{
    const double r = s->shape.radius, height = s->length + 2 * r;
    double       side[3], third[3];
    flx__solid_sideways(s->axis, side);
    for (int k = 0; k < 3; ++k)
        third[k] = s->axis[(k + 1) % 3] * side[(k + 2) % 3] - s->axis[(k + 2) % 3] * side[(k + 1) % 3];
    for (int32_t i = 0; i < count; ++i)
    {
        double u, v;
        pair_of(i, &u, &v);
        const double z     = height * (i + 0.5) / count - r; // each its own belt
        const double foot  = fmin(fmax(z, 0), s->length);    // on the segment
        const double along = z - foot, across = sqrt(fmax(0, r * r - along * along));
        for (int k = 0; k < 3; ++k)
            p[3 * (int64_t)i + k] =
                s->shape.a[k] + z * s->axis[k] + across * (cos(2 * PI * u) * side[k] + sin(2 * PI * u) * third[k]);
    }
}

static flx_status round_sample(flx_context* ctx, const flx_solid* s, int32_t count, double* out)
{
    flx_status status = FLX_OK;
    double*    p      = NULL;
    int32_t *  keep = NULL, many = 0;
    FLX_TRY(candidate_count(ctx, count, &many));
    if (count == 0) goto done;
    FLX_NEW(ctx, p, 3 * (int64_t)many);
    FLX_NEW(ctx, keep, count);
    round_candidates(s, many, p);
    FLX_TRY(thin(ctx, many, p, s->area, count, keep));
    for (int64_t i = 0; i < count; ++i) memcpy(&out[3 * i], &p[3 * (int64_t)keep[i]], 3 * sizeof *out);

done:
    flx__free(ctx, p);
    flx__free(ctx, keep);
    return status;
}

flx_status flx__solid_sample(flx_context* ctx, const flx_solid* solid, int32_t count, double* out)
{
    flx_status status       = FLX_OK;
    int32_t    vertex_count = 0, triangle_count = 0;
    double*    x        = NULL;
    int32_t*   triangle = NULL;
    switch (solid->shape.kind)
    {
    case FLX_SHAPE_PLANE:
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "a plane has no end: points cannot be spread over it");
    case FLX_SHAPE_MESH:
        return flx__surface_sample(ctx, solid->x, solid->triangle_count, solid->triangle, count, out, NULL, NULL);
    case FLX_SHAPE_BOX: // flat faces: its triangles are exact
        FLX_TRY(flx__solid_surface(ctx, solid, 0, &vertex_count, &x, &triangle_count, &triangle));
        FLX_TRY(flx__surface_sample(ctx, x, triangle_count, triangle, count, out, NULL, NULL));
        break;
    default:
        return round_sample(ctx, solid, count, out);
    }

done:
    flx__free(ctx, x);
    flx__free(ctx, triangle);
    return status;
}
