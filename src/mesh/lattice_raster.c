// Which triangles meet which lattice tets, and how: lattice edges through triangles, triangle sides through lattice
// faces, vertices in tets. Exact.
//
// Three signs decide everything, each an integer determinant; where it is zero, the first non-zero component of its
// gradient with respect to a shift of the lattice is taken instead (the shift is (e, e^2, e^3), e > 0 infinitesimal):
//
//   node p against triangle abc     N . (p - a)                 gradient  N = (b - a) x (c - a)
//   vertex v against lattice face   n . (v - p)                 gradient -n
//   side ab against lattice edge pq (b - a) . ((p - a) x d)     gradient  d x (b - a),  d = q - p
//
// A lattice edge passes through a triangle when its ends are on different sides and the three side/edge signs agree; a
// triangle side passes through a lattice face likewise. Parallel cases have no sign, but their ends are on one side.
//
// Two passes: the cheap part of the test counts, for memory; the second does the rest and fills.
#include "mesh/lattice_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide_int;

#define HALF FLX_LATTICE_HALF_STEPS

typedef struct prepared
{
    const int64_t* v[3]; // steps
    int64_t        low[3], high[3];
    wide_int       n[3];
    double         nd[3]; // n, rounded
    bool           flat;  // no area: no plane either, but its sides still connect
} prepared;

typedef struct raster_args
{
    const lattice_grid*    grid;
    const lattice_surface* surface;
    int64_t*               room; // [triangle_count + 1] counts, then where each triangle's meets begin
    lattice_meet*          meet; // NULL in the first pass
} raster_args;

// --- signs ------------------------------------------------------------------------------------------------------

static int first_sign(int64_t x, int64_t y, int64_t z)
{
    const int64_t first = x ? x : y ? y : z;
    return (first > 0) - (first < 0);
}

static int plane_sign(const prepared* t, const int64_t node[3])
{
    const int64_t d[3] = {node[0] - t->v[0][0], node[1] - t->v[0][1], node[2] - t->v[0][2]};
    const double  a = t->nd[0] * (double)d[0], b = t->nd[1] * (double)d[1], c = t->nd[2] * (double)d[2];
    const double  sum = a + b + c;
    if (fabs(sum) > (fabs(a) + fabs(b) + fabs(c)) * 0x1p-48) return sum > 0.0 ? 1 : -1; // rounding cannot change it
    const wide_int exact = t->n[0] * d[0] + t->n[1] * d[1] + t->n[2] * d[2];
    if (exact != 0) return exact > 0 ? 1 : -1;
    const wide_int first = t->n[0] ? t->n[0] : t->n[1] ? t->n[1] : t->n[2];
    return (first > 0) - (first < 0);
}

static int face_sign(const int32_t n[3], const int64_t on_face[3], const int64_t v[3])
{
    const int64_t value = n[0] * (v[0] - on_face[0]) + n[1] * (v[1] - on_face[1]) + n[2] * (v[2] - on_face[2]);
    if (value != 0) return value > 0 ? 1 : -1;
    return -first_sign(n[0], n[1], n[2]);
}

static int side_sign(const int64_t a[3], const int64_t b[3], const int64_t p[3], const int32_t d[3])
{
    const int64_t  s[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, r[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    const int64_t  c[3]  = {r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]};
    const wide_int value = (wide_int)s[0] * c[0] + (wide_int)s[1] * c[1] + (wide_int)s[2] * c[2];
    if (value != 0) return value > 0 ? 1 : -1;
    return first_sign(d[1] * s[2] - d[2] * s[1], d[2] * s[0] - d[0] * s[2], d[0] * s[1] - d[1] * s[0]);
}

// --- one triangle against one lattice tet ---------------------------------------------------------------------------

// The lattice edges around the face opposite corner f, in order; the third is walked from its second end.
static const int8_t face_edge[4][3] = {{3, 5, 4}, {1, 5, 2}, {0, 4, 2}, {0, 3, 1}};

typedef struct cheap_signs
{
    int64_t node[4][3];
    int8_t  plane[4];   // of the nodes, against the triangle
    int8_t  face[3][4]; // of the vertices, against the faces: +1 is towards the tet
} cheap_signs;

// Nodes all on one side of the triangle's plane, or vertices all beyond one face: no meeting. Else perhaps.
static bool may_meet(const prepared* t, const lattice_tet_shape* s, const int64_t low_corner[3], cheap_signs* q)
{
    for (int c = 0; c < 4; ++c)
        for (int k = 0; k < 3; ++k) q->node[c][k] = low_corner[k] + HALF * s->corner[c][k];
    int sum = 0;
    for (int c = 0; c < 4; ++c) sum += q->plane[c] = (int8_t)(t->flat ? 0 : plane_sign(t, q->node[c]));
    if (sum == 4 || sum == -4) return false;
    for (int f = 0; f < 4; ++f)
    {
        for (int v = 0; v < 3; ++v) q->face[v][f] = (int8_t)face_sign(s->normal[f], q->node[(f + 1) % 4], t->v[v]);
        if (q->face[0][f] < 0 && q->face[1][f] < 0 && q->face[2][f] < 0) return false;
    }
    return true;
}

static uint32_t meeting(const prepared* t, const lattice_tet_shape* s, const cheap_signs* q)
{
    int8_t   side[3][6]; // triangle side against lattice edge
    uint32_t bits = 0;

    for (int l = 0; l < 6; ++l)
    {
        const int p = flx__lattice_edge[l][0], r = flx__lattice_edge[l][1];
        int32_t   d[3];
        for (int k = 0; k < 3; ++k) d[k] = s->corner[r][k] - s->corner[p][k];
        for (int i = 0; i < 3; ++i) side[i][l] = (int8_t)side_sign(t->v[i], t->v[(i + 1) % 3], q->node[p], d);
        if (q->plane[p] != q->plane[r] && side[0][l] == side[1][l] && side[0][l] == side[2][l])
            bits |= FLX_MEET_EDGE(l);
    }
    for (int f = 0; f < 4; ++f)
    {
        const int8_t* e = face_edge[f];
        for (int i = 0; i < 3; ++i)
        {
            if (q->face[i][f] == q->face[(i + 1) % 3][f]) continue;
            if (side[i][e[0]] == side[i][e[1]] && side[i][e[0]] == -side[i][e[2]])
                bits |= FLX_MEET_FACE(f) | FLX_MEET_SIDE(i);
        }
        if (bits & (FLX_MEET_EDGE(e[0]) | FLX_MEET_EDGE(e[1]) | FLX_MEET_EDGE(e[2]))) bits |= FLX_MEET_FACE(f);
    }
    for (int v = 0; v < 3; ++v)
        if (q->face[v][0] > 0 && q->face[v][1] > 0 && q->face[v][2] > 0 && q->face[v][3] > 0)
            bits |= FLX_MEET_VERTEX(v) | FLX_MEET_SIDE(v) | FLX_MEET_SIDE((v + 2) % 3);
    if (!bits) return 0;
    for (int c = 0; c < 4; ++c)
        if (q->plane[c] > 0) bits |= FLX_MEET_ABOVE(c);
    return bits;
}

// --- one triangle against the grid -----------------------------------------------------------------------------------

static void prepare(const lattice_surface* s, int64_t triangle, prepared* t)
{
    int64_t u[3], v[3];
    for (int c = 0; c < 3; ++c) t->v[c] = s->p + 3 * (int64_t)s->triangle[3 * triangle + c];
    for (int k = 0; k < 3; ++k)
    {
        u[k]       = t->v[1][k] - t->v[0][k];
        v[k]       = t->v[2][k] - t->v[0][k];
        t->low[k]  = t->v[0][k] < t->v[1][k] ? t->v[0][k] : t->v[1][k];
        t->high[k] = t->v[0][k] > t->v[1][k] ? t->v[0][k] : t->v[1][k];
        if (t->v[2][k] < t->low[k]) t->low[k] = t->v[2][k];
        if (t->v[2][k] > t->high[k]) t->high[k] = t->v[2][k];
    }
    for (int k = 0; k < 3; ++k)
    {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        t->n[k]  = (wide_int)u[a] * v[b] - (wide_int)u[b] * v[a];
        t->nd[k] = (double)t->n[k];
    }
    t->flat = t->n[0] == 0 && t->n[1] == 0 && t->n[2] == 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

// The cells of row (., j, k) whose tets can meet the triangle's plane. A large triangle crosses few cells of a row.
static void clip_row(const prepared* t, int64_t j, int64_t k, int64_t* from, int64_t* to)
{
    const double cell = (double)FLX_LATTICE_CELL_STEPS, n = t->nd[0];
    if (t->flat || fabs(n) < 1e-6 * (fabs(t->nd[1]) + fabs(t->nd[2]))) return;
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < 4; ++c) // tets of a cell reach from its low corner one and a half cells
    {
        const double y = ((double)j + (c & 1 ? 1.51 : -0.01)) * cell - (double)t->v[0][1];
        const double z = ((double)k + (c & 2 ? 1.51 : -0.01)) * cell - (double)t->v[0][2];
        const double x = ((double)t->v[0][0] - (t->nd[1] * y + t->nd[2] * z) / n) / cell;
        low            = fmin(low, x);
        high           = fmax(high, x);
    }
    if (low - 1.6 > (double)*from) *from = low - 1.6 > (double)*to ? *to + 1 : (int64_t)floor(low - 1.6);
    if (high + 0.1 < (double)*to) *to = high + 0.1 < (double)*from ? *from - 1 : (int64_t)ceil(high + 0.1);
}

static int64_t raster_triangle(const raster_args* a, int64_t triangle, lattice_meet* out)
{
    const lattice_grid* g     = a->grid;
    int64_t             count = 0, from[3], to[3];
    prepared            t;
    prepare(a->surface, triangle, &t);
    for (int k = 0; k < 3; ++k)
    {
        from[k] = floor_div(t.low[k], FLX_LATTICE_CELL_STEPS) - 2;
        to[k]   = floor_div(t.high[k], FLX_LATTICE_CELL_STEPS);
        if (from[k] < 0) from[k] = 0;
        if (to[k] > g->cells[k] - 2) to[k] = g->cells[k] - 2;
    }
    for (int64_t k = from[2]; k <= to[2]; ++k)
        for (int64_t j = from[1]; j <= to[1]; ++j)
        {
            int64_t begin = from[0], end = to[0];
            clip_row(&t, j, k, &begin, &end);
            for (int64_t i = begin; i <= end; ++i)
                for (int type = 0; type < 12; ++type)
                {
                    const lattice_tet_shape* s      = &g->shape[type];
                    const int64_t            low[3] = {i * FLX_LATTICE_CELL_STEPS, j * FLX_LATTICE_CELL_STEPS,
                                                       k * FLX_LATTICE_CELL_STEPS};
                    bool                     apart  = false;
                    for (int x = 0; x < 3; ++x)
                        apart |= low[x] + HALF * s->low[x] > t.high[x] || low[x] + HALF * s->high[x] < t.low[x];
                    cheap_signs q;
                    if (apart || !may_meet(&t, s, low, &q)) continue;
                    if (out)
                    {
                        const int64_t  site = i + g->sites[0] * (j + g->sites[1] * k);
                        const uint32_t bits = meeting(&t, s, &q);
                        if (!bits) continue;
                        out[count] = (lattice_meet){(int32_t)(12 * site + type), (int32_t)triangle, bits};
                    }
                    ++count;
                }
        }
    return count;
}

static void count_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const raster_args* a = user;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) a->room[t] = raster_triangle(a, t, NULL);
}

static void fill_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const raster_args* a = user;
    (void)worker;
    for (int64_t t = begin; t < end; ++t)
    {
        const int64_t n = raster_triangle(a, t, a->meet + a->room[t]);
        for (int64_t i = a->room[t] + n; i < a->room[t + 1]; ++i) a->meet[i].tet = -1;
    }
}

// --- by tet ----------------------------------------------------------------------------------------------------------

static int by_tet(const void* a, const void* b)
{
    const lattice_meet *p = a, *q = b;
    if (p->tet != q->tet) return p->tet < q->tet ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static void sort_sites(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const lattice_raster* r = user;
    (void)worker;
    for (int64_t site = begin; site < end; ++site)
    {
        lattice_meet* m = r->meet + r->first[site];
        const int64_t n = r->first[site + 1] - r->first[site];
        if (n > 64)
        {
            qsort(m, (size_t)n, sizeof *m, by_tet);
            continue;
        }
        for (int64_t i = 1; i < n; ++i)
        {
            const lattice_meet moved = m[i];
            int64_t            j     = i;
            for (; j > 0 && by_tet(&m[j - 1], &moved) > 0; --j) m[j] = m[j - 1];
            m[j] = moved;
        }
    }
}

static flx_status gather_by_site(flx_context* ctx, const lattice_grid* grid, const lattice_meet* loose, int64_t count,
                                 lattice_raster* r)
{
    flx_status status = FLX_OK;
    FLX_NEW_ZERO(ctx, r->first, grid->site_count + 1);
    for (int64_t i = 0; i < count; ++i)
        if (loose[i].tet >= 0)
        {
            ++r->first[loose[i].tet / 12];
            ++r->meet_count;
        }
    FLX_NEW(ctx, r->meet, r->meet_count);
    for (int64_t site = 1; site <= grid->site_count; ++site) r->first[site] += r->first[site - 1];
    for (int64_t i = count - 1; i >= 0; --i)
        if (loose[i].tet >= 0) r->meet[--r->first[loose[i].tet / 12]] = loose[i];
    flx__parallel_for(ctx, grid->site_count, 4096, sort_sites, r);
done:
    return status;
}

flx_status flx__lattice_raster_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    lattice_raster* raster)
{
    flx_status    status = FLX_OK;
    raster_args   a      = {grid, surface, NULL, NULL};
    const int64_t n      = surface->triangle_count;
    const int64_t grain  = n < 256 ? 1 : n < 16384 ? n / 256 : 64;

    *raster = (lattice_raster){0};
    FLX_NEW(ctx, a.room, n + 1);
    flx__parallel_for(ctx, n, grain, count_range, &a);
    int64_t total = 0;
    for (int64_t t = 0; t < n; ++t)
    {
        const int64_t room = a.room[t];
        a.room[t]          = total;
        total += room;
    }
    a.room[n] = total;
    FLX_NEW(ctx, a.meet, total);
    flx__parallel_for(ctx, n, grain, fill_range, &a);
    FLX_TRY(gather_by_site(ctx, grid, a.meet, total, raster));

done:
    flx__free(ctx, a.room);
    flx__free(ctx, a.meet);
    if (status != FLX_OK) flx__lattice_raster_release(ctx, raster);
    return status;
}

void flx__lattice_raster_release(flx_context* ctx, lattice_raster* raster)
{
    flx__free(ctx, raster->meet);
    flx__free(ctx, raster->first);
    *raster = (lattice_raster){0};
}
