// The doctor on surfaces: area, enclosed volume, edges by how many triangles share them, fans at vertices, T-junctions.
//
//   area = sum |n_t| / 2      volume = sum (x_t - o) . n_t / 6      n_t = (b - a) x (c - a), o any fixed point
#include "mesh/doctor.h"

#include "base/sets.h"
#include "mesh/point_tree.h"
#include "mesh/tuple_table.h"
#include "mesh/weld.h"

#include <float.h>
#include <math.h>

static void normal_of(const double* x, const int32_t* t, double n[3])
{
    const double *a = x + 3 * (int64_t)t[0], *b = x + 3 * (int64_t)t[1], *c = x + 3 * (int64_t)t[2];
    const double  u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double  v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    n[0]               = u[1] * v[2] - u[2] * v[1];
    n[1]               = u[2] * v[0] - u[0] * v[2];
    n[2]               = u[0] * v[1] - u[1] * v[0];
}

static double distance(const double* a, const double* b)
{
    const double e[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
}

// --- triangles ------------------------------------------------------------------------------------

static bool is_flat(const flx_doctor* d, const int32_t* t)
{
    const double* x = d->mesh->x;
    double        n[3];
    double        longest = 0.0;
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, distance(x + 3 * (int64_t)t[k], x + 3 * (int64_t)t[(k + 1) % 3]));
    normal_of(x, t, n);
    const double twice = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]); // height = twice / longest
    return !(twice > longest * fmax(FLX_FLAT * longest, 16.0 * DBL_EPSILON * d->largest));
}

flx_status flx__doctor_triangles(flx_doctor* d)
{
    flx_status      status = FLX_OK;
    flx_mesh*       mesh   = d->mesh;
    flx_tuple_table seen;
    flx__tuple_table_begin(&seen, d->ctx, 3);
    FLX_NEW_ZERO(d->ctx, d->drop_triangle, mesh->triangle_count);
    for (int32_t i = 0; i < mesh->triangle_count; ++i)
    {
        const int32_t* t      = mesh->triangle + 3 * (int64_t)i;
        int32_t        key[3] = {t[0], t[1], t[2]};
        int32_t*       first  = NULL;
        if (is_flat(d, t))
        {
            flx__doctor_note(&d->report->degenerate, flx__triangle_number(mesh, i));
            d->drop_triangle[i] = true;
            continue;
        }
        flx__tuple_sort(key, 3);
        FLX_TRY(flx__tuple_add(&seen, key, i, &first));
        if (*first == i) continue;
        flx__doctor_note(&d->report->repeated_triangle, flx__triangle_number(mesh, i));
        d->drop_triangle[i] = true;
    }
done:
    flx__tuple_table_end(&seen);
    return status;
}

// --- edges and fans -------------------------------------------------------------------------------

typedef struct edge_use
{
    int32_t uses;      // triangles that have the edge
    int32_t forward;   // of them in the direction of ascending vertices
    int32_t corner[2]; // of the first: position in `triangle` of its lower and higher vertex
} edge_use;

typedef struct edge_list
{
    flx_tuple_table table; // (low, high) -> index in use
    int64_t         count, capacity;
    edge_use*       use;
} edge_list;

// fan: [3 triangle_count] union-find over corners, joined across edges; NULL: not wanted
static flx_status collect_edges(flx_context* ctx, int32_t triangle_count, const int32_t* triangle, edge_list* edges,
                                int32_t* fan)
{
    flx_status status = FLX_OK;
    flx__tuple_table_begin(&edges->table, ctx, 2);
    for (int32_t i = 0; i < 3 * triangle_count; ++i)
    {
        const int32_t j      = i % 3 == 2 ? i - 2 : i + 1;
        const bool    up     = triangle[i] < triangle[j];
        const int32_t low    = up ? i : j;
        const int32_t high   = up ? j : i;
        const int32_t key[2] = {triangle[low], triangle[high]};
        int32_t*      index  = NULL;
        if (key[0] == key[1]) continue;
        FLX_TRY(flx__tuple_add(&edges->table, key, (int32_t)edges->count, &index));
        const int32_t e = *index;
        if (e == edges->count)
        {
            FLX_RESERVE(ctx, edges->use, edges->capacity, edges->count + 1);
            edges->use[edges->count++] = (edge_use){.corner = {low, high}};
        }
        edges->use[e].uses += 1;
        edges->use[e].forward += up;
        if (fan && edges->use[e].uses > 1)
        {
            flx__set_join(fan, edges->use[e].corner[0], low);
            flx__set_join(fan, edges->use[e].corner[1], high);
        }
    }
done:
    return status;
}

static void release_edges(flx_context* ctx, edge_list* edges)
{
    flx__tuple_table_end(&edges->table);
    flx__free(ctx, edges->use);
}

static void measure(flx_doctor* d, int32_t triangle_count, const int32_t* triangle)
{
    flx_doctor_report* r = d->report;
    double             o[3];
    for (int k = 0; k < 3; ++k) o[k] = 0.5 * (r->box_min[k] + r->box_max[k]); // small numbers, little rounding
    for (int64_t i = 0; i < triangle_count; ++i)
    {
        const int32_t* t = triangle + 3 * i;
        const double*  a = d->mesh->x + 3 * (int64_t)t[0];
        double         n[3];
        normal_of(d->mesh->x, t, n);
        r->area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        r->enclosed_volume += ((a[0] - o[0]) * n[0] + (a[1] - o[1]) * n[1] + (a[2] - o[2]) * n[2]) / 6.0;
    }
}

flx_status flx__doctor_surface(flx_doctor* d, int32_t triangle_count, const int32_t* triangle)
{
    flx_status         status = FLX_OK;
    flx_doctor_report* r      = d->report;
    edge_list          edges  = {0};
    int32_t *          fan = NULL, *fans = NULL;

    if (triangle_count > INT32_MAX / 3)
        FLX_TRY(flx__fail(d->ctx, FLX_ERR_MESH, "%s: %d triangles are too many", d->name, triangle_count));
    measure(d, triangle_count, triangle);
    FLX_NEW(d->ctx, fan, 3 * (int64_t)triangle_count);
    FLX_NEW_ZERO(d->ctx, fans, d->mesh->vertex_count);
    for (int32_t i = 0; i < 3 * triangle_count; ++i) fan[i] = i;
    FLX_TRY(collect_edges(d->ctx, triangle_count, triangle, &edges, fan));
    for (int64_t e = 0; e < edges.count; ++e)
    {
        const edge_use* u = edges.use + e;
        r->boundary_edges += u->uses == 1;
        r->nonmanifold_edges += u->uses > 2;
        r->flipped_edges += u->uses == 2 && u->forward != 1;
    }
    r->closed = triangle_count > 0 && r->boundary_edges == 0 && r->nonmanifold_edges == 0;
    for (int32_t i = 0; i < 3 * triangle_count; ++i)
        if (flx__set_root(fan, i) == i && ++fans[triangle[i]] == 2) r->bowtie_vertices += 1;

done:
    release_edges(d->ctx, &edges);
    flx__free(d->ctx, fan);
    flx__free(d->ctx, fans);
    return status;
}

// --- T-junctions ----------------------------------------------------------------------------------

typedef struct junctions
{
    const double* x;
    int32_t       a, b; // the edge
    double        length, reach;
    bool*         found;    // [vertex_count]
    int32_t       first[3]; // vertex and its edge
    int64_t       budget;
} junctions;

static bool note_if_on_edge(void* user, int32_t v)
{
    junctions*    j = user;
    const double *p = j->x + 3 * (int64_t)v, *a = j->x + 3 * (int64_t)j->a, *b = j->x + 3 * (int64_t)j->b;
    double        along = 0.0, off = 0.0;
    j->budget -= 1;
    for (int d = 0; d < 3; ++d) along += (p[d] - a[d]) * (b[d] - a[d]);
    along /= j->length * j->length;
    for (int d = 0; d < 3; ++d)
    {
        const double e = p[d] - a[d] - along * (b[d] - a[d]);
        off += e * e;
    }
    const double margin =
        j->reach / j->length; // an end of the edge, or what should be welded to it, is not on the edge
    if (v != j->a && v != j->b && along > margin && along < 1.0 - margin && off <= j->reach * j->reach)
    {
        if (j->first[0] < 0)
        {
            j->first[0] = v;
            j->first[1] = j->a;
            j->first[2] = j->b;
        }
        j->found[v] = true;
    }
    return j->budget > 0;
}

static void search_edge(const flx_doctor* d, const flx_point_tree* tree, junctions* j)
{
    const double *a = j->x + 3 * (int64_t)j->a, *b = j->x + 3 * (int64_t)j->b;
    double        low[3], high[3];
    j->length = distance(a, b);
    j->reach  = FLX_TOUCH * j->length + 16.0 * DBL_EPSILON * d->largest;
    if (j->length <= 4.0 * j->reach) return;
    for (int k = 0; k < 3; ++k)
    {
        low[k]  = fmin(a[k], b[k]) - j->reach;
        high[k] = fmax(a[k], b[k]) + j->reach;
    }
    flx__point_tree_box(tree, low, high, note_if_on_edge, j);
}

flx_status flx__doctor_vertices_on_edges(flx_doctor* d, int32_t triangle_count, const int32_t* triangle)
{
    flx_status     status = FLX_OK;
    const int32_t  n      = d->mesh->vertex_count;
    edge_list      edges  = {0};
    flx_point_tree tree   = {0};
    int32_t *      first = NULL, *used = NULL;
    int32_t        used_count = 0;
    junctions      j          = {.x = d->mesh->x, .first = {-1, -1, -1}, .budget = 200000000};

    if (d->report->boundary_edges == 0) return FLX_OK;
    FLX_TRY(collect_edges(d->ctx, triangle_count, triangle, &edges, NULL));
    FLX_NEW(d->ctx, first, n);
    FLX_NEW(d->ctx, used, n);
    FLX_NEW_ZERO(d->ctx, j.found, n);
    FLX_TRY(flx__first_at_place(d->ctx, n, d->mesh->x, first));
    for (int64_t i = 0; i < 3 * (int64_t)triangle_count; ++i) j.found[first[triangle[i]]] = true;
    for (int32_t v = 0; v < n; ++v) // one of each place, so that a heap of equal ones costs nothing
    {
        if (j.found[v]) used[used_count++] = v;
        j.found[v] = false;
    }
    FLX_TRY(flx__point_tree_begin(d->ctx, &tree, used_count, used, d->mesh->x));
    for (int64_t e = 0; e < edges.count && j.budget > 0; ++e)
    {
        if (edges.use[e].uses != 1) continue;
        j.a = triangle[edges.use[e].corner[0]];
        j.b = triangle[edges.use[e].corner[1]];
        search_edge(d, &tree, &j);
    }
    for (int32_t v = 0; v < n; ++v)
        if (j.found[v]) flx__doctor_note(&d->report->vertex_on_edge, v + 1);
    if (j.first[0] >= 0)
        flx__log(d->ctx, FLX_LOG_NOTICE,
                 "%s: %lld vertices lie on an edge that they do not belong to: vertex %d lies on edge %d-%d", d->name,
                 (long long)d->report->vertex_on_edge.count, j.first[0] + 1, j.first[1] + 1, j.first[2] + 1);
    if (j.budget <= 0) flx__log(d->ctx, FLX_LOG_NOTICE, "%s: the search for vertices on edges was given up", d->name);

done:
    release_edges(d->ctx, &edges);
    flx__point_tree_end(d->ctx, &tree);
    flx__free(d->ctx, first);
    flx__free(d->ctx, used);
    flx__free(d->ctx, j.found);
    return status;
}
