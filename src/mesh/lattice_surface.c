// The surface as the lattice sees it: vertices on the integer grid, the triangle across each side, area and volume.
#include "mesh/lattice_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void normal_of(const double a[3], const double b[3], const double c[3], double n[3])
{
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    for (int k = 0; k < 3; ++k) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

flx_status flx__lattice_surface_measure(flx_context* ctx, const char* path, lattice_surface* s)
{
    if (s->triangle_count < 1) return flx__fail(ctx, FLX_ERR_MESH, "%s: no triangles to build a lattice around", path);
    for (int k = 0; k < 3; ++k)
    {
        s->box_min[k] = INFINITY;
        s->box_max[k] = -INFINITY;
    }
    for (int32_t t = 0; t < s->triangle_count; ++t)
        for (int c = 0; c < 3; ++c)
        {
            const double* p = s->x + 3 * (int64_t)s->triangle[3 * (int64_t)t + c];
            for (int k = 0; k < 3; ++k)
            {
                if (!isfinite(p[k]))
                    return flx__fail(ctx, FLX_ERR_MESH, "%s: vertex %d is not finite: %g %g %g", path,
                                     s->triangle[3 * (int64_t)t + c] + 1, p[0], p[1], p[2]);
                s->box_min[k] = fmin(s->box_min[k], p[k]);
                s->box_max[k] = fmax(s->box_max[k], p[k]);
            }
        }
    double center[3];
    for (int k = 0; k < 3; ++k) center[k] = 0.5 * (s->box_min[k] + s->box_max[k]);
    s->area = s->volume = 0.0;
    for (int32_t t = 0; t < s->triangle_count; ++t)
    {
        const int32_t* v = s->triangle + 3 * (int64_t)t;
        double         n[3];
        normal_of(s->x + 3 * (int64_t)v[0], s->x + 3 * (int64_t)v[1], s->x + 3 * (int64_t)v[2], n);
        s->area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; ++k) s->volume += n[k] * (s->x[3 * (int64_t)v[0] + k] - center[k]) / 6.0;
    }
    s->volume = fabs(s->volume);
    return FLX_OK;
}

// --- which triangle is across ----------------------------------------------------------------------------------
//
// Sides pair up by position, so that seams and unwelded files are closed; sides with the very same vertices pair first,
// so that two parts that only touch stay apart. Where more than two sides remain on one edge they are linked in a ring:
// all of them count as joined there.

typedef struct half
{
    int32_t low, high; // places, low < high
    int32_t side;      // 3 triangle + s
    bool    up;        // runs from low to high
} half;

static int by_place(const void* a, const void* b)
{
    const half *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->side < q->side ? -1 : p->side > q->side;
}

static uint64_t mix(uint64_t h, double value)
{
    uint64_t bits;
    value += 0.0; // -0 is 0
    memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 31);
}

// place[v]: the lowest vertex at exactly the same position
static flx_status find_places(flx_context* ctx, const lattice_surface* s, int32_t* place)
{
    flx_status status = FLX_OK;
    int32_t*   slot   = NULL;
    int64_t    size   = 64;
    while (size < 2 * (int64_t)s->vertex_count) size *= 2;
    FLX_NEW(ctx, slot, size);
    memset(slot, 0xFF, (size_t)size * sizeof *slot);
    for (int32_t v = 0; v < s->vertex_count; ++v)
    {
        const double* p = s->x + 3 * (int64_t)v;
        uint64_t      h = mix(mix(mix(0, p[0]), p[1]), p[2]);
        place[v]        = v;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue; // unused, or measure would have refused it
        for (;; ++h)
        {
            int32_t* at = &slot[h & (uint64_t)(size - 1)];
            if (*at < 0) *at = v;
            const double* q = s->x + 3 * (int64_t)*at;
            if (q[0] != p[0] || q[1] != p[1] || q[2] != p[2]) continue;
            place[v] = *at;
            break;
        }
    }
done:
    flx__free(ctx, slot);
    return status;
}

static bool same_vertices(const lattice_surface* s, int32_t a, int32_t b) // and run the opposite way
{
    const int32_t ta = 3 * (a / 3), tb = 3 * (b / 3);
    return s->triangle[ta + a % 3] == s->triangle[tb + (b + 1) % 3] &&
           s->triangle[ta + (a + 1) % 3] == s->triangle[tb + b % 3];
}

static void pair_sides(lattice_surface* s, half* h, int32_t count)
{
    int32_t left = 0;
    for (int32_t i = 0; i < count && count <= 64; ++i) // the very same vertices, when that is unambiguous
    {
        int32_t partner = -1, partners = 0;
        for (int32_t j = 0; j < count; ++j)
            if (j != i && same_vertices(s, h[i].side, h[j].side))
            {
                partner = j;
                ++partners;
            }
        int32_t back = 0;
        for (int32_t j = 0; j < count && partners == 1; ++j) back += same_vertices(s, h[partner].side, h[j].side);
        if (partners == 1 && back == 1) s->beyond[h[i].side] = h[partner].side / 3;
    }
    for (int32_t i = 0; i < count; ++i)
        if (s->beyond[h[i].side] < 0) h[left++] = h[i];
    for (int32_t i = 0; i < left && left > 1; ++i) s->beyond[h[i].side] = h[(i + 1) % left].side / 3;
}

flx_status flx__lattice_surface_connect(flx_context* ctx, lattice_surface* s)
{
    flx_status    status = FLX_OK;
    int32_t*      place  = NULL;
    half*         h      = NULL;
    const int64_t sides  = 3 * (int64_t)s->triangle_count;
    int64_t       count  = 0;

    FLX_NEW(ctx, s->p, 3 * (int64_t)s->vertex_count);
    FLX_NEW(ctx, s->normal, sides);
    FLX_NEW(ctx, s->beyond, sides);
    FLX_NEW(ctx, place, s->vertex_count);
    FLX_NEW(ctx, h, sides);
    FLX_TRY(find_places(ctx, s, place));
    for (int64_t i = 0; i < sides; ++i)
    {
        const int32_t a = place[s->triangle[i]], b = place[s->triangle[i - i % 3 + (i + 1) % 3]];
        s->beyond[i] = -1;
        if (a == b) continue; // a side without length has nothing across
        h[count++] = (half){a < b ? a : b, a < b ? b : a, (int32_t)i, a < b};
    }
    qsort(h, (size_t)count, sizeof *h, by_place);

    s->balanced = true;
    for (int64_t i = 0, end; i < count; i = end)
    {
        int32_t turn = 0;
        for (end = i; end < count && h[end].low == h[i].low && h[end].high == h[i].high; ++end)
            turn += h[end].up ? 1 : -1;
        if (turn != 0) s->balanced = false;
        pair_sides(s, h + i, (int32_t)(end - i));
    }

done:
    flx__free(ctx, place);
    flx__free(ctx, h);
    return status;
}

void flx__lattice_surface_release(flx_context* ctx, lattice_surface* s)
{
    flx__free(ctx, s->p);
    flx__free(ctx, s->normal);
    flx__free(ctx, s->beyond);
    s->p      = NULL;
    s->normal = NULL;
    s->beyond = NULL;
}

// --- rounding to steps --------------------------------------------------------------------------------------------

typedef struct snap_args
{
    const lattice_grid*    grid;
    const lattice_surface* surface;
} snap_args;

static void snap_vertices(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const snap_args*    a    = user;
    const lattice_grid* g    = a->grid;
    const double        step = (double)FLX_LATTICE_CELL_STEPS / g->cell;
    (void)worker;
    for (int64_t v = begin; v < end; ++v)
        for (int k = 0; k < 3; ++k)
        {
            const double q = (a->surface->x[3 * v + k] - g->origin[k]) * step;
            // vertices that no triangle uses may be anywhere, and are never looked at
            a->surface->p[3 * v + k] = fabs(q) < 0x1p60 ? llround(q) : 0;
        }
}

static void snap_normals(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const lattice_surface* s = ((const snap_args*)user)->surface;
    (void)worker;
    for (int64_t t = begin; t < end; ++t)
    {
        const int64_t *a = s->p + 3 * (int64_t)s->triangle[3 * t], *b = s->p + 3 * (int64_t)s->triangle[3 * t + 1],
                      *c  = s->p + 3 * (int64_t)s->triangle[3 * t + 2];
        const double u[3] = {(double)(b[0] - a[0]), (double)(b[1] - a[1]), (double)(b[2] - a[2])};
        const double v[3] = {(double)(c[0] - a[0]), (double)(c[1] - a[1]), (double)(c[2] - a[2])};
        for (int k = 0; k < 3; ++k)
            s->normal[3 * t + k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    }
}

void flx__lattice_surface_snap(flx_context* ctx, const lattice_grid* grid, lattice_surface* s)
{
    snap_args args = {grid, s};
    flx__parallel_for(ctx, s->vertex_count, 4096, snap_vertices, &args);
    flx__parallel_for(ctx, s->triangle_count, 4096, snap_normals, &args);
}
