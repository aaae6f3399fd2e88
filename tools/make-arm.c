// flexor-make-arm: the surface of an arm, for the demo scenes.
//
// The arm is the zero set of a smooth union of tapered capsules: upper arm, forearm, muscle bellies, a mitten of a hand
// with a thumb. Its axis runs along +x from the shoulder (x = 0) past the elbow (x = 0.28) and the wrist (x = 0.53) to
// the finger tips (x = 0.66); z is up, which is also the side the forearm bends to. Metres throughout.
//
//   f(p) = smooth min_i d_i(p);   smooth min(a, b) = min(a, b) - k/4 max(0, 1 - |a - b| / k)^2
//
// Meshing: one vertex per grid cell that the surface crosses (mean of the crossings on the cell's edges), one quad per
// crossed grid edge; then rounds of tangential smoothing, each followed by Newton steps back onto f = 0.
#include "base/base.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the shape ----------------------------------------------------------------------------------------

typedef struct part
{
    double from[3], to[3];                // m, axis
    double from_radius, to_radius, belly; // m, across y; the belly swells the middle as 4 t (1 - t)
    double flatness;                      // y extent over z extent
    double blend;                         // m, how far it melts into what comes before
} part;

static const part arm[] = {
    // upper arm: core, biceps above, triceps below
    {{0.0440, 0, 0}, {0.2550, 0, 0}, 0.0440, 0.0350, 0.0, 1.0, 0.0},
    {{0.0600, 0, 0.0080}, {0.2500, 0, 0.0060}, 0.0330, 0.0260, 0.0085, 1.0, 0.012},
    {{0.0500, 0, -0.0080}, {0.2450, 0, -0.0060}, 0.0340, 0.0260, 0.0060, 1.0, 0.012},
    // elbow with a hollow in front and the tip of the ulna behind it
    {{0.2550, 0, -0.0060}, {0.3100, 0, -0.0060}, 0.0310, 0.0310, 0.0, 1.0, 0.012},
    {{0.2720, 0, -0.0140}, {0.2900, 0, -0.0130}, 0.0220, 0.0220, 0.0, 1.0, 0.012},
    // forearm: core, the two bellies on the thumb's and the little finger's side
    {{0.3100, 0, 0}, {0.5300, 0, 0}, 0.0345, 0.0255, 0.0, 1.05, 0.012},
    {{0.2950, 0.0060, 0.0030}, {0.4900, 0.0030, 0.0010}, 0.0260, 0.0200, 0.0090, 1.0, 0.012},
    {{0.3000, -0.0070, -0.0010}, {0.4850, -0.0040, 0.0}, 0.0260, 0.0200, 0.0085, 1.0, 0.012},
    // hand: wrist to palm, palm, fingers; thumb and its ball
    {{0.5150, 0, 0}, {0.5650, 0, 0}, 0.0250, 0.0360, 0.0, 2.1, 0.012},
    {{0.5650, 0, 0}, {0.6020, 0, 0}, 0.0390, 0.0410, 0.0, 2.9, 0.012},
    {{0.6020, 0, 0}, {0.6310, -0.0010, 0}, 0.0405, 0.0290, 0.0, 2.9, 0.008},
    {{0.5480, 0.0220, 0.0030}, {0.5780, 0.0390, 0.0050}, 0.0130, 0.0115, 0.0, 1.0, 0.012},
    {{0.5780, 0.0390, 0.0050}, {0.6080, 0.0530, 0.0070}, 0.0110, 0.0090, 0.0, 1.0, 0.006},
};
#define PARTS ((int)(sizeof arm / sizeof arm[0]))

// Distance to a tapered capsule, flattened in z: scale z about the axis and read the level set k0 = 1 of the scaled
// radius to first order, d = k0 (k0 - 1) / |grad k0|. Exact on the surface, smooth away from the axis.
static double part_distance(const part* c, const double p[3])
{
    double along = 0.0, length2 = 0.0, q[3];
    for (int k = 0; k < 3; ++k)
    {
        along += (p[k] - c->from[k]) * (c->to[k] - c->from[k]);
        length2 += (c->to[k] - c->from[k]) * (c->to[k] - c->from[k]);
    }
    const double t      = fmin(fmax(along / length2, 0.0), 1.0);
    const double radius = c->from_radius + t * (c->to_radius - c->from_radius) + 4.0 * c->belly * t * (1.0 - t);
    for (int k = 0; k < 3; ++k) q[k] = p[k] - (c->from[k] + t * (c->to[k] - c->from[k]));
    if (c->flatness == 1.0) return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - radius;

    const double s  = c->flatness;
    const double k0 = sqrt(q[0] * q[0] + q[1] * q[1] + s * s * q[2] * q[2]) / radius;
    const double k1 = sqrt(q[0] * q[0] + q[1] * q[1] + s * s * s * s * q[2] * q[2]) / (radius * radius);
    return k1 > 0.0 ? k0 * (k0 - 1.0) / k1 : -radius / s;
}

static double arm_distance(const double p[3])
{
    double d = part_distance(&arm[0], p);
    for (int i = 1; i < PARTS; ++i)
    {
        const double e = part_distance(&arm[i], p);
        const double h = fmax(0.0, 1.0 - fabs(d - e) / arm[i].blend);
        d              = fmin(d, e) - 0.25 * arm[i].blend * h * h;
    }
    return d;
}

static void arm_gradient(const double p[3], double g[3])
{
    const double step = 1e-5; // m: far below every radius, far above rounding
    for (int k = 0; k < 3; ++k)
    {
        double a[3] = {p[0], p[1], p[2]}, b[3] = {p[0], p[1], p[2]};
        a[k] -= step;
        b[k] += step;
        g[k] = (arm_distance(b) - arm_distance(a)) / (2.0 * step);
    }
}

static void project(double p[3])
{
    for (int round = 0; round < 4; ++round)
    {
        double       g[3];
        const double f = arm_distance(p);
        arm_gradient(p, g);
        const double g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (fabs(f) < 1e-9 || g2 < 1e-4) return; // a nanometre
        for (int k = 0; k < 3; ++k) p[k] -= f * g[k] / g2;
    }
}

// --- meshing ------------------------------------------------------------------------------------------

typedef struct grid
{
    double  origin[3], cell;
    int32_t n[3]; // nodes
    double* f;    // [nodes] distance
} grid;

typedef struct surface
{
    int64_t  vertex_count, vertex_capacity, quad_count, quad_capacity;
    double*  x;        // [vertex_count][3]
    int32_t* quad;     // [quad_count][4] counter-clockwise seen from outside
    int32_t* triangle; // [2 quad_count][3]
} surface;

static int64_t node_at(const grid* g, int32_t i, int32_t j, int32_t k)
{
    return i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k);
}

static flx_status sample(flx_context* ctx, double cell, grid* g)
{
    flx_status   status  = FLX_OK;
    const double low[3]  = {-0.012, -0.070, -0.070};
    const double high[3] = {0.672, 0.070, 0.070};

    g->cell = cell;
    for (int k = 0; k < 3; ++k)
    {
        // y = 0 and z = 0 fall between nodes: the grid is as symmetric as the arm
        g->n[k]      = 2 * (int32_t)ceil((high[k] - low[k]) / (2.0 * cell)) + 2;
        g->origin[k] = 0.5 * (low[k] + high[k]) - 0.5 * cell * (g->n[k] - 1);
    }
    FLX_NEW(ctx, g->f, (int64_t)g->n[0] * g->n[1] * g->n[2]);
    for (int32_t k = 0; k < g->n[2]; ++k)
        for (int32_t j = 0; j < g->n[1]; ++j)
            for (int32_t i = 0; i < g->n[0]; ++i)
            {
                const double p[3]         = {g->origin[0] + cell * i, g->origin[1] + cell * j, g->origin[2] + cell * k};
                g->f[node_at(g, i, j, k)] = arm_distance(p);
            }
done:
    return status;
}

// Mean of the zero crossings on the twelve edges of a cell; false when there is none.
static bool cell_vertex(const grid* g, int32_t i, int32_t j, int32_t k, double out[3])
{
    double sum[3] = {0};
    int    count  = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 4; ++side)
        {
            int32_t a[3]      = {0, 0, 0};
            a[(axis + 1) % 3] = side & 1;
            a[(axis + 2) % 3] = side >> 1;
            int32_t b[3]      = {a[0], a[1], a[2]};
            b[axis]           = 1;
            const double fa   = g->f[node_at(g, i + a[0], j + a[1], k + a[2])];
            const double fb   = g->f[node_at(g, i + b[0], j + b[1], k + b[2])];
            if ((fa < 0.0) == (fb < 0.0)) continue;
            for (int c = 0; c < 3; ++c) sum[c] += a[c] + (b[c] - a[c]) * fa / (fa - fb);
            ++count;
        }
    if (count == 0) return false;
    const int32_t at[3] = {i, j, k};
    for (int c = 0; c < 3; ++c) out[c] = g->origin[c] + g->cell * (at[c] + sum[c] / count);
    return true;
}

static flx_status place_vertices(flx_context* ctx, const grid* g, int32_t* vertex_of, surface* s)
{
    flx_status status = FLX_OK;
    for (int32_t k = 0; k + 1 < g->n[2]; ++k)
        for (int32_t j = 0; j + 1 < g->n[1]; ++j)
            for (int32_t i = 0; i + 1 < g->n[0]; ++i)
            {
                double p[3];
                vertex_of[node_at(g, i, j, k)] = -1;
                if (!cell_vertex(g, i, j, k, p)) continue;
                FLX_RESERVE(ctx, s->x, s->vertex_capacity, 3 * (s->vertex_count + 1));
                memcpy(s->x + 3 * s->vertex_count, p, sizeof p);
                vertex_of[node_at(g, i, j, k)] = (int32_t)s->vertex_count++;
            }
done:
    return status;
}

static flx_status connect_quads(flx_context* ctx, const grid* g, const int32_t* vertex_of, surface* s)
{
    flx_status    status    = FLX_OK;
    const int64_t stride[3] = {1, g->n[0], (int64_t)g->n[0] * g->n[1]};
    for (int32_t k = 1; k + 1 < g->n[2]; ++k)
        for (int32_t j = 1; j + 1 < g->n[1]; ++j)
            for (int32_t i = 1; i + 1 < g->n[0]; ++i)
                for (int axis = 0; axis < 3; ++axis)
                {
                    const int64_t a      = node_at(g, i, j, k);
                    const bool    inside = g->f[a] < 0.0;
                    if (inside == (g->f[a + stride[axis]] < 0.0)) continue;
                    const int64_t u = stride[(axis + 1) % 3], v = stride[(axis + 2) % 3];
                    const int32_t q[4] = {vertex_of[a - u - v], vertex_of[a - v], vertex_of[a], vertex_of[a - u]};
                    FLX_RESERVE(ctx, s->quad, s->quad_capacity, 4 * (s->quad_count + 1));
                    for (int c = 0; c < 4; ++c) s->quad[4 * s->quad_count + c] = q[inside ? c : 3 - c];
                    ++s->quad_count;
                }
done:
    return status;
}

// Move every vertex towards the mean of its neighbours, then back onto the surface: even spacing, no shrinking.
static flx_status smooth(flx_context* ctx, surface* s, int rounds)
{
    flx_status status = FLX_OK;
    double*    sum    = NULL;
    int32_t*   degree = NULL;
    FLX_NEW(ctx, sum, 3 * s->vertex_count);
    FLX_NEW(ctx, degree, s->vertex_count);
    for (int round = 0; round < rounds; ++round)
    {
        memset(sum, 0, sizeof *sum * 3 * (size_t)s->vertex_count);
        memset(degree, 0, sizeof *degree * (size_t)s->vertex_count);
        for (int64_t q = 0; q < s->quad_count; ++q)
            for (int c = 0; c < 4; ++c)
            {
                const int32_t a = s->quad[4 * q + c], b = s->quad[4 * q + (c + 1) % 4];
                for (int k = 0; k < 3; ++k) sum[3 * (int64_t)a + k] += s->x[3 * (int64_t)b + k];
                ++degree[a]; // each edge is seen from both its quads, once in each direction
            }
        for (int64_t v = 0; v < s->vertex_count; ++v)
        {
            for (int k = 0; k < 3; ++k) s->x[3 * v + k] += 0.6 * (sum[3 * v + k] / degree[v] - s->x[3 * v + k]);
            project(s->x + 3 * v);
        }
    }
done:
    flx__free(ctx, sum);
    flx__free(ctx, degree);
    return status;
}

static double length2(const double* a, const double* b)
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

static flx_status split_quads(flx_context* ctx, surface* s)
{
    flx_status status = FLX_OK;
    FLX_NEW(ctx, s->triangle, 6 * s->quad_count);
    for (int64_t i = 0; i < s->quad_count; ++i)
    {
        const int32_t* q    = s->quad + 4 * i;
        const double   d02  = length2(s->x + 3 * (int64_t)q[0], s->x + 3 * (int64_t)q[2]);
        const double   d13  = length2(s->x + 3 * (int64_t)q[1], s->x + 3 * (int64_t)q[3]);
        const int32_t  a[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
        const int32_t  b[6] = {q[1], q[2], q[3], q[1], q[3], q[0]};
        memcpy(s->triangle + 6 * i, d02 <= d13 ? a : b, sizeof a);
    }
done:
    return status;
}

// --- checks and output ----------------------------------------------------------------------------------

static int by_edge(const void* a, const void* b)
{
    const int64_t p = *(const int64_t*)a, q = *(const int64_t*)b;
    return p < q ? -1 : p > q;
}

// Every directed edge once, and its opposite once: closed, manifold along edges, turned one way.
static flx_status check_closed(flx_context* ctx, const surface* s)
{
    flx_status    status = FLX_OK;
    int64_t*      edge   = NULL;
    const int64_t count  = 6 * s->quad_count;
    FLX_NEW(ctx, edge, count);
    for (int64_t t = 0; t < 2 * s->quad_count; ++t)
        for (int c = 0; c < 3; ++c)
            edge[3 * t + c] = s->triangle[3 * t + c] * s->vertex_count + s->triangle[3 * t + (c + 1) % 3];
    qsort(edge, (size_t)count, sizeof *edge, by_edge);
    for (int64_t i = 0; i < count; ++i)
    {
        const int64_t back = edge[i] % s->vertex_count * s->vertex_count + edge[i] / s->vertex_count;
        if ((i > 0 && edge[i] == edge[i - 1]) || !bsearch(&back, edge, (size_t)count, sizeof *edge, by_edge))
        {
            status =
                flx__fail(ctx, FLX_ERR_MESH, "the cell is too coarse: the surface would not be closed and manifold");
            goto done;
        }
    }
done:
    flx__free(ctx, edge);
    return status;
}

static void measure(const surface* s, double* area, double* volume)
{
    *area = *volume = 0.0;
    for (int64_t t = 0; t < 2 * s->quad_count; ++t)
    {
        const double* a    = s->x + 3 * (int64_t)s->triangle[3 * t];
        const double* b    = s->x + 3 * (int64_t)s->triangle[3 * t + 1];
        const double* c    = s->x + 3 * (int64_t)s->triangle[3 * t + 2];
        const double  u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        const double  n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        *area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        *volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6.0;
    }
}

static flx_status write_obj(flx_context* ctx, const char* path, const surface* s)
{
    flx_file*  file   = NULL;
    flx_status status = flx__file_begin(ctx, path, true, &file);
    if (status != FLX_OK) return status;
    // a failure is remembered and comes back from the commit
    (void)flx__file_printf(file, "# arm, metres: shoulder at x = 0, elbow 0.28, wrist 0.53; z up\no arm\n");
    for (int64_t v = 0; v < s->vertex_count; ++v)
        (void)flx__file_printf(file, "v %.9g %.9g %.9g\n", s->x[3 * v], s->x[3 * v + 1], s->x[3 * v + 2]);
    for (int64_t t = 0; t < 2 * s->quad_count; ++t)
        (void)flx__file_printf(file, "f %d %d %d\n", s->triangle[3 * t] + 1, s->triangle[3 * t + 1] + 1,
                               s->triangle[3 * t + 2] + 1);
    return flx__file_commit(file);
}

static flx_status make_arm(flx_context* ctx, double cell, const char* path)
{
    flx_status status    = FLX_OK;
    grid       g         = {0};
    surface    s         = {0};
    int32_t*   vertex_of = NULL;
    double     area, volume;

    FLX_TRY(sample(ctx, cell, &g));
    FLX_NEW(ctx, vertex_of, (int64_t)g.n[0] * g.n[1] * g.n[2]);
    FLX_TRY(place_vertices(ctx, &g, vertex_of, &s));
    FLX_TRY(connect_quads(ctx, &g, vertex_of, &s));
    FLX_TRY(smooth(ctx, &s, 12));
    FLX_TRY(split_quads(ctx, &s));
    FLX_TRY(check_closed(ctx, &s));
    FLX_TRY(write_obj(ctx, path, &s));
    measure(&s, &area, &volume);
    fprintf(stderr, "%s: %lld vertices, %lld triangles, area %.4g m2, volume %.4g m3\n", path,
            (long long)s.vertex_count, 2 * (long long)s.quad_count, area, volume);

done:
    flx__free(ctx, g.f);
    flx__free(ctx, vertex_of);
    flx__free(ctx, s.x);
    flx__free(ctx, s.quad);
    flx__free(ctx, s.triangle);
    return status;
}

// --- command line -----------------------------------------------------------------------------------------

static const char usage[] = "usage: flexor-make-arm [-o FILE.obj] [--cell LENGTH] [FILE.obj]\n"
                            "  -o FILE        where to write (default arm.obj); replaced when it is there\n"
                            "  --cell LENGTH  mean edge of the triangles, with unit: 3mm (default), 0.2cm, 0.002m;\n"
                            "                 from 0.8 mm to 8 mm\n";

static bool parse_length(const char* text, double* out)
{
    char*        unit  = NULL;
    const double value = strtod(text, &unit);
    while (*unit == ' ') ++unit;
    const double scale = !strcmp(unit, "mm")            ? 1e-3
                         : !strcmp(unit, "cm")          ? 1e-2
                         : !strcmp(unit, "m") || !*unit ? 1.0
                                                        : 0;
    *out               = value * scale;
    return unit != text && *out >= 0.8e-3 && *out <= 8e-3;
}

int main(int argc, char** argv)
{
    const char* path = "arm.obj";
    double      cell = 3e-3;
    for (int i = 1; i < argc; ++i)
    {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
        {
            fputs(usage, stdout);
            return 0;
        }
        if (!strcmp(argv[i], "-o") && i + 1 < argc)
            path = argv[++i];
        else if (!strcmp(argv[i], "--cell") && i + 1 < argc && parse_length(argv[i + 1], &cell))
            ++i;
        else if (argv[i][0] != '-')
            path = argv[i];
        else
        {
            fprintf(stderr, "flexor-make-arm: '%s%s%s' makes no sense here\n%s", argv[i], i + 1 < argc ? " " : "",
                    i + 1 < argc ? argv[i + 1] : "", usage);
            return 2;
        }
    }

    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = 1;
    flx_context* ctx      = NULL;
    if (flx_context_create(&desc, &ctx) != FLX_OK) return 1;
    const flx_status status = make_arm(ctx, cell, path);
    if (status != FLX_OK) fprintf(stderr, "flexor-make-arm: %s\n", flx_context_error(ctx));
    flx_context_destroy(ctx);
    return status == FLX_OK ? 0 : 1;
}
