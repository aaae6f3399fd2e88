#include "mesh/weld.h"

#include "mesh/point_tree.h"

#include <math.h>
#include <string.h>

static uint64_t hash_place(const double p[3])
{
    const double   clean[3] = {p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}; // -0.0 + 0.0 is 0.0
    const uint64_t h        = flx__hash(FLX_HASH_START, clean, sizeof clean);
    return h ^ h >> 32;
}

flx_status flx__first_at_place(flx_context* ctx, int32_t vertex_count, const double* x, int32_t* first)
{
    flx_status status = FLX_OK;
    int32_t*   slot   = NULL; // vertex + 1, 0 = free
    int64_t    slots  = 64;
    while (slots < 2 * (int64_t)vertex_count) slots *= 2;
    FLX_NEW_ZERO(ctx, slot, slots);
    for (int32_t v = 0; v < vertex_count; ++v)
    {
        const double* p = x + 3 * (int64_t)v;
        uint64_t      i = hash_place(p);
        for (;; ++i)
        {
            int32_t* s = slot + (i & (uint64_t)(slots - 1));
            if (*s == 0) *s = v + 1;
            const double* q = x + 3 * (int64_t)(*s - 1);
            first[v]        = *s - 1;
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
        }
    }
done:
    flx__free(ctx, slot);
    return status;
}

typedef struct near_search
{
    const double* x;
    int32_t       center;
    double        tolerance;
    int32_t*      first;
} near_search;

static bool join_if_near(void* user, int32_t v)
{
    near_search*  s = user;
    const double* p = s->x + 3 * (int64_t)s->center;
    const double* q = s->x + 3 * (int64_t)v;
    const double  d = (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
    if (v > s->center && s->first[v] == v && d <= s->tolerance * s->tolerance) s->first[v] = s->center;
    return true;
}

// In order of the file each vertex that is still itself takes in all later ones near it. Nothing chains: no vertex
// moves further than the tolerance.
static flx_status join_near(flx_context* ctx, int32_t vertex_count, const double* x, double tolerance, int32_t* first)
{
    flx_status     status = FLX_OK;
    flx_point_tree tree   = {0};
    int32_t*       kept   = NULL;
    int32_t        count  = 0;
    FLX_NEW(ctx, kept, vertex_count);
    for (int32_t v = 0; v < vertex_count; ++v)
        if (first[v] == v) kept[count++] = v;
    FLX_TRY(flx__point_tree_begin(ctx, &tree, count, kept, x));
    for (int32_t i = 0; i < count; ++i)
    {
        const int32_t v = kept[i];
        if (first[v] != v) continue;
        const double* p       = x + 3 * (int64_t)v;
        const double  low[3]  = {p[0] - tolerance, p[1] - tolerance, p[2] - tolerance};
        const double  high[3] = {p[0] + tolerance, p[1] + tolerance, p[2] + tolerance};
        near_search   search  = {.x = x, .center = v, .tolerance = tolerance, .first = first};
        flx__point_tree_box(&tree, low, high, join_if_near, &search);
    }
    for (int32_t v = 0; v < vertex_count; ++v) first[v] = first[first[v]]; // exact copies of one that was taken in
done:
    flx__point_tree_end(ctx, &tree);
    flx__free(ctx, kept);
    return status;
}

static flx_status drop_collapsed(flx_context* ctx, flx_mesh* mesh)
{
    flx_status status  = FLX_OK;
    bool*      keep    = NULL;
    int32_t    dropped = 0;
    int64_t    number  = 0;
    FLX_NEW(ctx, keep, mesh->triangle_count);
    for (int32_t i = 0; i < mesh->triangle_count; ++i)
    {
        const int32_t* t = mesh->triangle + 3 * (int64_t)i;
        keep[i]          = t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        if (!keep[i] && dropped++ == 0) number = mesh->triangle_number ? mesh->triangle_number[i] : i + 1;
    }
    if (dropped == 0) goto done;
    FLX_TRY(flx__mesh_filter(ctx, mesh, keep, NULL));
    flx__log(ctx, FLX_LOG_NOTICE, "%s: %d triangles with coinciding corners were dropped, the first is %lld",
             mesh->path ? mesh->path : "mesh", dropped, (long long)number);
done:
    flx__free(ctx, keep);
    return status;
}

flx_status flx__mesh_weld(flx_context* ctx, flx_mesh* mesh, double tolerance)
{
    flx_status    status = FLX_OK;
    int32_t*      first  = NULL;
    const int32_t before = mesh->vertex_count;
    int32_t       count  = 0;

    FLX_NEW(ctx, first, before);
    FLX_TRY(flx__first_at_place(ctx, before, mesh->x, first));
    if (tolerance > 0.0) FLX_TRY(join_near(ctx, before, mesh->x, tolerance, first));
    for (int32_t v = 0; v < before; ++v) // first[v] <= v: its new number is known by then
    {
        if (first[v] != v)
        {
            first[v] = first[first[v]];
            continue;
        }
        memmove(mesh->x + 3 * (int64_t)count, mesh->x + 3 * (int64_t)v, 3 * sizeof *mesh->x);
        first[v] = count++;
    }
    mesh->vertex_count = count;
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; ++i) mesh->triangle[i] = first[mesh->triangle[i]];
    for (int64_t i = 0; i < 4 * (int64_t)mesh->tet_count; ++i) mesh->tet[i] = first[mesh->tet[i]];
    if (count < before)
        flx__log(ctx, FLX_LOG_NOTICE, "%s: %d vertices welded to %d (tolerance %g m)", mesh->path ? mesh->path : "mesh",
                 before, count, tolerance);
    FLX_TRY(drop_collapsed(ctx, mesh));

done:
    flx__free(ctx, first);
    return status;
}

// --- keeping some of the elements -----------------------------------------------------------------------

// place[i]: new index of element i, or -1
static int32_t number_kept(int32_t count, const bool* keep, int32_t* place)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; ++i) place[i] = keep[i] ? kept++ : -1;
    return kept;
}

static int32_t filter_list(int32_t count, int32_t* list, const int32_t* place)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; ++i)
        if (place[list[i]] >= 0) list[kept++] = place[list[i]];
    return kept;
}

static void filter_elements(int32_t count, const int32_t* place, int32_t corners, int32_t* element, int64_t* number)
{
    for (int32_t i = 0; i < count; ++i)
    {
        if (place[i] < 0) continue;
        memmove(element + (int64_t)corners * place[i], element + (int64_t)corners * i,
                (size_t)corners * sizeof *element);
        if (number) number[place[i]] = number[i];
    }
}

flx_status flx__mesh_filter(flx_context* ctx, flx_mesh* mesh, const bool* keep_triangle, const bool* keep_tet)
{
    flx_status status = FLX_OK;
    int32_t*   place  = NULL;
    FLX_NEW(ctx, place, mesh->triangle_count > mesh->tet_count ? mesh->triangle_count : mesh->tet_count);
    if (keep_triangle)
    {
        const int32_t kept = number_kept(mesh->triangle_count, keep_triangle, place);
        filter_elements(mesh->triangle_count, place, 3, mesh->triangle, mesh->triangle_number);
        for (int32_t g = 0; g < mesh->group_count; ++g)
            mesh->group[g].triangle_count = filter_list(mesh->group[g].triangle_count, mesh->group[g].triangle, place);
        mesh->triangle_count = kept;
    }
    if (keep_tet)
    {
        const int32_t kept = number_kept(mesh->tet_count, keep_tet, place);
        filter_elements(mesh->tet_count, place, 4, mesh->tet, mesh->tet_number);
        for (int32_t g = 0; g < mesh->group_count; ++g)
            mesh->group[g].tet_count = filter_list(mesh->group[g].tet_count, mesh->group[g].tet, place);
        mesh->tet_count = kept;
    }
done:
    flx__free(ctx, place);
    return status;
}
