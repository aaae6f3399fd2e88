// What "inside" means for a surface: which triangles agree with their neighbours, where the surface is open, and
// whether its winding number tells an inside at all.
//
// Topology: vertices of equal position are one. Where two triangles share an edge and run along it in the same
// direction, one of them is turned (for the winding number only); the facing of most of a part's area is kept. An edge
// whose triangles then do not cancel is open: away from open edges the winding number of [Jacobson13] is a whole
// number.
//
// Orientation: the winding number is read on both sides of points spread over the area; w_in on the side the facing
// calls inside. w_in + w_out is 1 for a closed outward surface, -1 for one turned inside out, 2 for a doubled one, 0
// for a sheet.
#include "mesh/triangle_bvh_internal.h"

#include "base/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- vertices of equal position ----------------------------------------------------------------------------

static uint64_t position_hash(const double p[3])
{
    const double key[3] = {p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}; // -0 becomes 0
    uint64_t     bits[3];
    memcpy(bits, key, sizeof bits);
    uint64_t h = bits[0];
    for (int k = 1; k < 3; ++k)
    {
        h ^= h >> 29;
        h = h * UINT64_C(0x9E3779B97F4A7C15) + bits[k];
    }
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ (h >> 32);
}

/// out same [vertex_count]: the first vertex at the same place.
static flx_status find_same(flx_context* ctx, int32_t vertex_count, const double* x, int32_t* same)
{
    flx_status status = FLX_OK;
    int32_t*   table  = NULL;
    int64_t    size   = 16;
    while (size < 2 * (int64_t)vertex_count) size *= 2;
    FLX_NEW(ctx, table, size);
    memset(table, 0xFF, (size_t)size * sizeof *table);
    for (int32_t v = 0; v < vertex_count; ++v)
    {
        const double* p = &x[3 * (int64_t)v];
        int64_t       i = (int64_t)(position_hash(p) & (uint64_t)(size - 1));
        for (; table[i] >= 0; i = (i + 1) & (size - 1))
        {
            const double* o = &x[3 * (int64_t)table[i]];
            if (o[0] == p[0] && o[1] == p[1] && o[2] == p[2]) break;
        }
        if (table[i] < 0) table[i] = v;
        same[v] = table[i];
    }

done:
    flx__free(ctx, table);
    return status;
}

// --- edges -------------------------------------------------------------------------------------------------

typedef struct edge
{
    int32_t other; // the larger of its two vertices; the smaller one owns the bucket
    int32_t half;  // 3 triangle + side
} edge;

typedef struct topology_work
{
    int32_t        vertex_count, triangle_count;
    const double*  x;
    const int32_t* triangle;
    int32_t*       same;   // [vertex]
    int64_t*       first;  // [vertex + 1] bucket of edges
    edge*          edge;   // [3 triangle_count]
    int32_t*       across; // [3 triangle] half edge across, where exactly two meet; -1 = none
    int32_t*       queue;  // [triangle]
    int32_t*       set;    // [vertex] union-find over open edges; -1 = not on one
} topology_work;

static int32_t corner_of(const topology_work* w, int64_t triangle, int side)
{
    return w->same[w->triangle[3 * triangle + side % 3]];
}

static bool is_flat(const topology_work* w, int64_t t)
{
    const int32_t a = corner_of(w, t, 0), b = corner_of(w, t, 1), c = corner_of(w, t, 2);
    return a == b || b == c || c == a;
}

/// Does the half edge run from its smaller to its larger vertex?
static bool runs_up(const topology_work* w, int32_t half)
{
    return corner_of(w, half / 3, half % 3) < corner_of(w, half / 3, half % 3 + 1);
}

static int compare_edges(const void* a, const void* b)
{
    const edge *e = a, *f = b;
    if (e->other != f->other) return e->other < f->other ? -1 : 1;
    return (e->half > f->half) - (e->half < f->half);
}

static void sort_bucket(edge* e, int64_t n)
{
    if (n > 24)
    {
        qsort(e, (size_t)n, sizeof *e, compare_edges);
        return;
    }
    for (int64_t i = 1; i < n; ++i)
    {
        const edge moved = e[i];
        int64_t    j     = i;
        for (; j > 0 && compare_edges(&e[j - 1], &moved) > 0; --j) e[j] = e[j - 1];
        e[j] = moved;
    }
}

static void collect_edges(topology_work* w)
{
    memset(w->first, 0, ((size_t)w->vertex_count + 1) * sizeof *w->first);
    for (int pass = 0; pass < 2; ++pass) // count, then place
    {
        for (int64_t t = 0; t < w->triangle_count; ++t)
        {
            if (is_flat(w, t)) continue;
            for (int side = 0; side < 3; ++side)
            {
                const int32_t a = corner_of(w, t, side), b = corner_of(w, t, side + 1), low = a < b ? a : b;
                if (pass == 0)
                    ++w->first[low];
                else
                    w->edge[--w->first[low]] = (edge){a < b ? b : a, (int32_t)(3 * t + side)};
            }
        }
        if (pass == 0) // running sums: first[v] is the end of bucket v until the second pass has filled it
        {
            for (int32_t v = 1; v <= w->vertex_count; ++v) w->first[v] += w->first[v - 1];
        }
    }
    for (int32_t v = 0; v < w->vertex_count; ++v) sort_bucket(&w->edge[w->first[v]], w->first[v + 1] - w->first[v]);
}

typedef void (*edge_fn)(topology_work* w, int32_t low, const edge* group, int64_t size, const int8_t* facing,
                        flx_surface_topology* topology);

static void each_edge(topology_work* w, edge_fn fn, const int8_t* facing, flx_surface_topology* topology)
{
    for (int32_t v = 0; v < w->vertex_count; ++v)
        for (int64_t i = w->first[v], j; i < w->first[v + 1]; i = j)
        {
            for (j = i + 1; j < w->first[v + 1] && w->edge[j].other == w->edge[i].other;) ++j;
            fn(w, v, &w->edge[i], j - i, facing, topology);
        }
}

static void link_two(topology_work* w, int32_t low, const edge* group, int64_t size, const int8_t* facing,
                     flx_surface_topology* topology)
{
    (void)low, (void)facing, (void)topology;
    if (size != 2) return;
    w->across[group[0].half] = group[1].half;
    w->across[group[1].half] = group[0].half;
}

// --- facing ------------------------------------------------------------------------------------------------

static double area_of(const topology_work* w, int64_t t)
{
    const double *a = &w->x[3 * (int64_t)w->triangle[3 * t]], *b = &w->x[3 * (int64_t)w->triangle[3 * t + 1]],
                 *c   = &w->x[3 * (int64_t)w->triangle[3 * t + 2]];
    const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/// Make one part agree with itself, starting at a triangle not yet reached.
static void face_part(topology_work* w, int32_t start, int8_t* facing, flx_surface_topology* topology)
{
    int32_t head = 0, tail = 0;
    double  area[2]  = {0, 0}; // kept, turned
    bool    clash    = false;
    facing[start]    = 1;
    w->queue[tail++] = start;
    while (head < tail)
    {
        const int32_t t = w->queue[head++];
        area[facing[t] < 0] += area_of(w, t);
        for (int side = 0; side < 3; ++side)
        {
            const int32_t half = 3 * t + side, other = w->across[half];
            if (other < 0) continue;
            const bool   agree = runs_up(w, half) != runs_up(w, other);
            const int8_t want  = (int8_t)(agree ? facing[t] : -facing[t]);
            if (facing[other / 3] == 0)
            {
                facing[other / 3] = want;
                w->queue[tail++]  = other / 3;
            }
            else if (facing[other / 3] != want)
                clash = true;
        }
    }
    topology->one_sided |= clash;
    const bool turn_all = area[1] > area[0];
    for (int32_t i = 0; i < tail; ++i)
    {
        int8_t* f = &facing[w->queue[i]];
        *f        = (int8_t)(clash ? 1 : turn_all ? -*f : *f);
        if (*f > 0) continue;
        ++topology->turned;
        if (topology->first_turned < 0 || w->queue[i] < topology->first_turned) topology->first_turned = w->queue[i];
    }
}

// --- open edges --------------------------------------------------------------------------------------------

static void join_open(topology_work* w, int32_t low, const edge* group, int64_t size, const int8_t* facing,
                      flx_surface_topology* topology)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += (runs_up(w, group[i].half) ? 1 : -1) * facing[group[i].half / 3];
    if (sum == 0) return;
    ++topology->open_edges;
    const int32_t high = group[0].other;
    if (w->set[low] < 0) w->set[low] = low;
    if (w->set[high] < 0) w->set[high] = high;
    flx__set_join(w->set, low, high);
}

static flx_status find_loops(flx_context* ctx, topology_work* w, flx_surface_topology* topology)
{
    flx_status status = FLX_OK;
    int32_t*   loop   = w->same; // no longer needed
    for (int32_t v = 0; v < w->vertex_count; ++v)
        if (w->set[v] == v) loop[v] = topology->loop_count++;
    FLX_NEW(ctx, topology->loop_box, 6 * (int64_t)topology->loop_count);
    for (int32_t i = 0; i < topology->loop_count; ++i)
        for (int k = 0; k < 6; ++k) topology->loop_box[6 * (int64_t)i + k] = k < 3 ? INFINITY : -INFINITY;
    for (int32_t v = 0; v < w->vertex_count; ++v)
    {
        if (w->set[v] < 0) continue;
        double* box = &topology->loop_box[6 * (int64_t)loop[flx__set_root(w->set, v)]];
        for (int k = 0; k < 3; ++k)
        {
            box[k]     = fmin(box[k], w->x[3 * (int64_t)v + k]);
            box[3 + k] = fmax(box[3 + k], w->x[3 * (int64_t)v + k]);
        }
    }

done:
    return status;
}

flx_status flx__surface_topology_find(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                      const int32_t* triangle, int8_t* facing, flx_surface_topology* topology)
{
    flx_status    status = FLX_OK;
    topology_work w      = {vertex_count, triangle_count, x, triangle, NULL, NULL, NULL, NULL, NULL, NULL};
    *topology            = (flx_surface_topology){.first_turned = -1};

    FLX_NEW(ctx, w.same, vertex_count);
    FLX_NEW(ctx, w.first, (int64_t)vertex_count + 1);
    FLX_NEW(ctx, w.edge, 3 * (int64_t)triangle_count);
    FLX_NEW(ctx, w.across, 3 * (int64_t)triangle_count);
    FLX_NEW(ctx, w.queue, triangle_count);
    FLX_NEW(ctx, w.set, vertex_count);
    FLX_TRY(find_same(ctx, vertex_count, x, w.same));

    collect_edges(&w);
    memset(w.across, 0xFF, 3 * (size_t)triangle_count * sizeof *w.across);
    each_edge(&w, link_two, NULL, NULL);
    for (int32_t t = 0; t < triangle_count; ++t) facing[t] = 0;
    for (int32_t t = 0; t < triangle_count; ++t)
        if (facing[t] == 0) face_part(&w, t, facing, topology);
    memset(w.set, 0xFF, (size_t)vertex_count * sizeof *w.set);
    each_edge(&w, join_open, facing, topology);
    FLX_TRY(find_loops(ctx, &w, topology));

done:
    flx__free(ctx, w.same);
    flx__free(ctx, w.first);
    flx__free(ctx, w.edge);
    flx__free(ctx, w.across);
    flx__free(ctx, w.queue);
    flx__free(ctx, w.set);
    return status;
}

// --- orientation -------------------------------------------------------------------------------------------

#define SAMPLES 1024
#define CLEAR 0.6       // |w_in + w_out| above which a side is clearly inside: 0.8 against -0.2 at worst
#define CLEAR_SHARE 0.9 // of the area must be clear and of one sign
#define ODD_SHARE 0.05  // of the area may be clear with the other sign: small folds turned inside out

typedef struct sample_job
{
    const flx_triangle_bvh* bvh;
    const int32_t*          slot; // [SAMPLES]
    double*                 side; // [SAMPLES][2] w on the inner and the outer side
} sample_job;

static double slot_normal(const flx_triangle_bvh* bvh, int32_t slot, double n[3])
{
    const double* c    = &bvh->corner[9 * (int64_t)slot];
    const double  e[3] = {c[3] - c[0], c[4] - c[1], c[5] - c[2]}, f[3] = {c[6] - c[0], c[7] - c[1], c[8] - c[2]};
    const double  m[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    const double  size = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    for (int k = 0; k < 3; ++k) n[k] = size > 0 ? m[k] / size * bvh->facing[slot] : 0;
    return 0.5 * size;
}

static void sample_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const sample_job* job = user;
    (void)worker;
    double size = 0;
    for (int k = 0; k < 3; ++k) size = fmax(size, job->bvh->box[3 + k] - job->bvh->box[k]);
    for (int64_t i = begin; i < end; ++i)
    {
        // a low-discrepancy point, kept off the edges: a small step to the side must not leave through a neighbour
        double u = fmod(0.5 + 0.7548776662466927 * (double)i, 1), v = fmod(0.5 + 0.5698402909980532 * (double)i, 1);
        if (u + v > 1)
        {
            u = 1 - u;
            v = 1 - v;
        }
        u = 0.1 + 0.7 * u;
        v = 0.1 + 0.7 * v;
        double        n[3];
        const double* c    = &job->bvh->corner[9 * (int64_t)job->slot[i]];
        const double  area = slot_normal(job->bvh, job->slot[i], n);
        const double  step = fmax(1e-3 * sqrt(area), 1e-7 * size);
        for (int side = 0; side < 2; ++side)
        {
            double p[3];
            for (int k = 0; k < 3; ++k)
                p[k] = (1 - u - v) * c[k] + u * c[3 + k] + v * c[6 + k] + (side == 0 ? -step : step) * n[k];
            job->side[2 * i + side] = flx__triangle_bvh_winding(job->bvh, p);
        }
    }
}

/// The slots that hold SAMPLES equal shares of the area; false when there is no area.
static bool spread_samples(const flx_triangle_bvh* bvh, int32_t* slot)
{
    double n[3], total = 0, sum = 0;
    for (int32_t i = 0; i < bvh->triangle_count; ++i) total += slot_normal(bvh, i, n);
    double size = 0;
    for (int k = 0; k < 3; ++k) size = fmax(size, bvh->box[3 + k] - bvh->box[k]);
    if (!(total > 1e-12 * size * size)) return false;
    int32_t done = 0;
    for (int32_t i = 0; i < bvh->triangle_count; ++i)
    {
        const double area = slot_normal(bvh, i, n);
        sum += area;
        while (done < SAMPLES && area > 0 && sum >= total * (done + 0.5) / SAMPLES) slot[done++] = i;
    }
    while (done > 0 && done < SAMPLES)
    {
        slot[done] = slot[done - 1]; // the sum fell short of the total by rounding
        ++done;
    }
    return done == SAMPLES;
}

static int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// Half of what the inside counts: 0.5, or 1 for a surface given twice.
static double find_threshold(double* side, double sign)
{
    // inner values where the outer side is empty space; nested parts may count higher and do not matter
    double* inner = side; // compacted in place: reads are ahead of writes
    int32_t count = 0;
    for (int32_t i = 0; i < SAMPLES; ++i)
    {
        const double in = side[2 * i + (sign < 0)] * sign, out = side[2 * i + (sign > 0)] * sign;
        if (in > 0.6 && fabs(out) < 0.4) inner[count++] = in;
    }
    if (count == 0) return 0.5;
    qsort(inner, (size_t)count, sizeof *inner, compare_doubles);
    return 0.5 * fmax(1, floor(inner[count / 10] + 0.3));
}

/// How the area reads; walls inside the body, which have the inside on both sides, do not count.
typedef struct reading
{
    double outward, inward; // clear, with the facing's sign or the other
    double unclear;
    double sheet; // empty space on both sides
} reading;

static reading read_sides(const double* side)
{
    double count[4] = {0}, all = 0;
    for (int32_t i = 0; i < SAMPLES; ++i)
    {
        const double in = side[2 * i], out = side[2 * i + 1];
        const bool   jumps = fabs(in - out) > 0.5;
        if (!jumps && fabs(in) > 0.5 && fabs(out) > 0.5) continue;
        ++count[!jumps ? 3 : in + out > CLEAR ? 0 : in + out < -CLEAR ? 1 : 2];
        ++all;
    }
    if (all == 0) return (reading){.sheet = 1};
    return (reading){count[0] / all, count[1] / all, count[2] / all, count[3] / all};
}

static flx_status refuse(const flx_triangle_bvh* bvh, const char* path, const reading* r)
{
    const flx_surface_topology* topo      = &bvh->topology;
    double                      middle[3] = {0};
    for (int k = 0; k < 3; ++k) middle[k] = 0.5 * (bvh->box[k] + bvh->box[3 + k]);
    const double w = flx__triangle_bvh_winding(bvh, middle);

    if (r->outward > ODD_SHARE && r->inward > ODD_SHARE)
        return flx__fail(bvh->ctx, FLX_ERR_MESH,
                         "%s: parts are turned inside out: %.0f %% of the area faces outwards, %.0f %% inwards; turn "
                         "one of them",
                         path, 100 * r->outward, 100 * r->inward);
    if (topo->one_sided)
        return flx__fail(bvh->ctx, FLX_ERR_MESH, "%s: one-sided: its triangles cannot be made to face the same way",
                         path);
    if (r->sheet > 1 - CLEAR_SHARE)
        return flx__fail(bvh->ctx, FLX_ERR_MESH,
                         "%s: flat: %.0f %% of the area is covered twice, facing both ways; there is no inside", path,
                         100 * r->sheet);
    return flx__fail(bvh->ctx, FLX_ERR_MESH,
                     "%s: open: %lld boundary edges in %d holes; no inside can be told on %.0f %% of the area (at most "
                     "%.0f %% is allowed); the winding number at its middle is %.2f",
                     path, (long long)topo->open_edges, topo->loop_count, 100 * (1 - fmax(r->outward, r->inward)),
                     100 * (1 - CLEAR_SHARE), w);
}

static void tell_repairs(const flx_triangle_bvh* bvh, const char* path, const reading* r)
{
    const flx_surface_topology* topo = &bvh->topology;
    if (topo->turned > 0)
        flx__log(bvh->ctx, FLX_LOG_NOTICE,
                 "%s: %d triangles face the other way than their neighbours (first: %d); read as turned", path,
                 topo->turned, topo->first_turned + 1);
    if (topo->open_edges > 0)
        flx__log(bvh->ctx, FLX_LOG_NOTICE, "%s: open: %lld boundary edges in %d holes; closed by the winding number",
                 path, (long long)topo->open_edges, topo->loop_count);
    if (fmin(r->outward, r->inward) > 0)
        flx__log(bvh->ctx, FLX_LOG_NOTICE, "%s: about %.1f %% of the area is folded inside out", path,
                 100 * fmin(r->outward, r->inward));
}

flx_status flx__surface_orientation(flx_context* ctx, const flx_triangle_bvh* bvh, const char* path, double* sign,
                                    double* inside_threshold)
{
    flx_status status = FLX_OK;
    int32_t*   slot   = NULL;
    double*    side   = NULL;
    *sign             = 1;
    *inside_threshold = 0.5;

    FLX_NEW(ctx, slot, SAMPLES);
    FLX_NEW(ctx, side, 2 * SAMPLES);
    if (bvh->triangle_count == 0 || !spread_samples(bvh, slot))
    {
        status = flx__fail(ctx, FLX_ERR_MESH, "%s: flat: its %d triangles have no area", path, bvh->triangle_count);
        goto done;
    }
    sample_job job = {bvh, slot, side};
    flx__parallel_for(ctx, SAMPLES, 32, sample_range, &job);

    const reading r = read_sides(side);
    if (fmax(r.outward, r.inward) < CLEAR_SHARE || fmin(r.outward, r.inward) > ODD_SHARE)
    {
        status = refuse(bvh, path, &r);
        goto done;
    }
    *sign             = r.outward > r.inward ? 1 : -1;
    *inside_threshold = find_threshold(side, *sign);
    tell_repairs(bvh, path, &r);

done:
    flx__free(ctx, slot);
    flx__free(ctx, side);
    return status;
}
