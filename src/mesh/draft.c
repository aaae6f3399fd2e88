#include "mesh/draft.h"

#include <string.h>

void flx__draft_begin(flx_draft* d, flx_context* ctx, const char* path)
{
    *d = (flx_draft){.ctx = ctx, .path = path};
}

void flx__draft_end(flx_draft* d)
{
    flx_context* ctx = d->ctx;
    flx__free(ctx, d->x);
    flx__free(ctx, d->triangle);
    flx__free(ctx, d->triangle_number);
    flx__free(ctx, d->tet);
    flx__free(ctx, d->tet_number);
    for (int64_t i = 0; i < d->group_count; ++i)
    {
        flx__free(ctx, d->group[i].name);
        flx__free(ctx, d->group[i].triangle);
        flx__free(ctx, d->group[i].tet);
    }
    flx__free(ctx, d->group);
    flx__free(ctx, d->name_slot);
    flx__polygon_scratch_end(ctx, &d->polygon);
    *d = (flx_draft){.ctx = ctx, .path = d->path};
}

// --- vertices and elements ------------------------------------------------------------------------

static flx_status check_limit(flx_draft* d, int64_t count, const char* what)
{
    if (count <= INT32_MAX) return FLX_OK;
    return flx__fail(d->ctx, FLX_ERR_FORMAT, "%s: more than %d %s", d->path, INT32_MAX, what);
}

flx_status flx__draft_reserve_vertices(flx_draft* d, int64_t more)
{
    flx_status status = FLX_OK;
    FLX_TRY(check_limit(d, d->vertex_count + more, "vertices"));
    FLX_RESERVE(d->ctx, d->x, d->vertex_capacity, 3 * (d->vertex_count + more));
done:
    return status;
}

flx_status flx__draft_reserve_triangles(flx_draft* d, int64_t more)
{
    flx_status status = FLX_OK;
    FLX_TRY(check_limit(d, d->triangle_count + more, "triangles"));
    FLX_RESERVE(d->ctx, d->triangle, d->triangle_capacity, 3 * (d->triangle_count + more));
    FLX_RESERVE(d->ctx, d->triangle_number, d->triangle_number_capacity, d->triangle_count + more);
done:
    return status;
}

flx_status flx__draft_reserve_tets(flx_draft* d, int64_t more)
{
    flx_status status = FLX_OK;
    FLX_TRY(check_limit(d, 4 * (d->tet_count + more), "tetrahedron faces"));
    FLX_RESERVE(d->ctx, d->tet, d->tet_capacity, 4 * (d->tet_count + more));
    FLX_RESERVE(d->ctx, d->tet_number, d->tet_number_capacity, d->tet_count + more);
done:
    return status;
}

flx_status flx__draft_vertex(flx_draft* d, double x, double y, double z)
{
    const flx_status status = flx__draft_reserve_vertices(d, 1);
    if (status != FLX_OK) return status;
    double* p = d->x + 3 * d->vertex_count++;
    p[0]      = x;
    p[1]      = y;
    p[2]      = z;
    return FLX_OK;
}

flx_status flx__draft_triangle(flx_draft* d, const int32_t corner[3], int64_t number)
{
    const flx_status status = flx__draft_reserve_triangles(d, 1);
    if (status != FLX_OK) return status;
    memcpy(d->triangle + 3 * d->triangle_count, corner, 3 * sizeof *corner);
    d->triangle_number[d->triangle_count++] = number;
    return FLX_OK;
}

flx_status flx__draft_tet(flx_draft* d, const int32_t corner[4], int64_t number)
{
    const flx_status status = flx__draft_reserve_tets(d, 1);
    if (status != FLX_OK) return status;
    memcpy(d->tet + 4 * d->tet_count, corner, 4 * sizeof *corner);
    d->tet_number[d->tet_count++] = number;
    return FLX_OK;
}

flx_status flx__draft_polygon(flx_draft* d, int64_t corner_count, const int32_t* corner, int64_t number)
{
    flx_status status = FLX_OK;
    int64_t    made   = 0;
    FLX_TRY(flx__draft_reserve_triangles(d, corner_count - 2));
    FLX_TRY(flx__polygon_split(d->ctx, &d->polygon, d->x, corner_count, corner, number,
                               d->triangle + 3 * d->triangle_count, &made, &d->notes));
    for (int64_t i = 0; i < made; ++i) d->triangle_number[d->triangle_count++] = number;
done:
    return status;
}

// --- groups ---------------------------------------------------------------------------------------

static int32_t* name_slot(const flx_draft* d, int32_t kind, const char* name, int64_t length)
{
    const uint64_t mask = (uint64_t)d->name_slot_count - 1;
    uint64_t       i    = flx__hash(flx__hash(FLX_HASH_START, &kind, sizeof kind), name, length);
    for (i ^= i >> 32;; ++i)
    {
        int32_t* slot = d->name_slot + (i & mask);
        if (*slot == 0) return slot;
        const flx_draft_group* g = d->group + (*slot - 1);
        if (g->kind == kind && (int64_t)strlen(g->name) == length && memcmp(g->name, name, (size_t)length) == 0)
            return slot;
    }
}

static flx_status grow_names(flx_draft* d)
{
    flx_status status = FLX_OK;
    int32_t*   slots  = NULL;
    if (2 * (d->group_count + 1) <= d->name_slot_count) return FLX_OK;
    const int64_t count = d->name_slot_count ? 2 * d->name_slot_count : 64;
    FLX_NEW_ZERO(d->ctx, slots, count);
    flx__free(d->ctx, d->name_slot);
    d->name_slot       = slots;
    d->name_slot_count = count;
    for (int64_t i = 0; i < d->group_count; ++i)
        *name_slot(d, d->group[i].kind, d->group[i].name, (int64_t)strlen(d->group[i].name)) = (int32_t)(i + 1);
done:
    return status;
}

flx_status flx__draft_group_named(flx_draft* d, int32_t kind, const char* name, int64_t length, int32_t* group)
{
    flx_status status = FLX_OK;
    char*      copy   = NULL;

    FLX_TRY(check_limit(d, d->group_count + 1, "groups"));
    FLX_TRY(grow_names(d));
    int32_t* slot = name_slot(d, kind, name, length);
    if (*slot == 0)
    {
        FLX_RESERVE(d->ctx, d->group, d->group_capacity, d->group_count + 1);
        FLX_NEW(d->ctx, copy, length + 1);
        memcpy(copy, name, (size_t)length);
        copy[length]             = '\0';
        d->group[d->group_count] = (flx_draft_group){.name = copy, .kind = kind};
        *slot                    = (int32_t)++d->group_count;
    }
    *group = *slot - 1;

done:
    return status;
}

flx_status flx__draft_join_triangles(flx_draft* d, int32_t group, int64_t first, int64_t count)
{
    flx_status       status = FLX_OK;
    flx_draft_group* g      = d->group + group;
    if (g->triangle_count && g->triangle[g->triangle_count - 1] >= first) return FLX_OK; // named twice
    FLX_RESERVE(d->ctx, g->triangle, g->triangle_capacity, g->triangle_count + count);
    for (int64_t i = 0; i < count; ++i) g->triangle[g->triangle_count++] = (int32_t)(first + i);
done:
    return status;
}

flx_status flx__draft_join_tets(flx_draft* d, int32_t group, int64_t first, int64_t count)
{
    flx_status       status = FLX_OK;
    flx_draft_group* g      = d->group + group;
    if (g->tet_count && g->tet[g->tet_count - 1] >= first) return FLX_OK;
    FLX_RESERVE(d->ctx, g->tet, g->tet_capacity, g->tet_count + count);
    for (int64_t i = 0; i < count; ++i) g->tet[g->tet_count++] = (int32_t)(first + i);
done:
    return status;
}

// --- finish ---------------------------------------------------------------------------------------

static void say_notes(const flx_draft* d)
{
    const flx_polygon_notes* n = &d->notes;
    if (n->repeated_corners)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld repeated corners of faces were left out", d->path,
                 (long long)n->repeated_corners);
    if (n->vanished)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld faces without area were left out, the first is face %lld", d->path,
                 (long long)n->vanished, (long long)n->first_vanished);
    if (n->flat_parts)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: zero-area parts of %lld polygons were left out", d->path,
                 (long long)n->flat_parts);
    if (n->crossing)
        flx__log(d->ctx, FLX_LOG_NOTICE,
                 "%s: %lld polygons are far from flat or cross themselves; how they are split is a guess, the first is "
                 "face %lld",
                 d->path, (long long)n->crossing, (long long)n->first_crossing);
}

static bool wanted(const flx_draft_group* g)
{
    return g->keep_empty || g->triangle_count > 0 || g->tet_count > 0;
}

// An array the reader never began becomes an allocated empty one, so that a mesh's arrays are never NULL.
static flx_status give(flx_context* ctx, void* from, size_t item, void** to)
{
    if (!from) from = flx__alloc(ctx, 0, item);
    *to = from;
    return from ? FLX_OK : FLX_ERR_MEMORY;
}

static flx_status give_groups(flx_draft* d, flx_mesh* mesh)
{
    flx_status status = FLX_OK;
    int64_t    count  = 0;
    for (int64_t i = 0; i < d->group_count; ++i) count += wanted(d->group + i);
    FLX_NEW_ZERO(d->ctx, mesh->group, count);
    for (int32_t kind = 0; kind < 3; ++kind)
        for (int64_t i = 0; i < d->group_count; ++i)
        {
            flx_draft_group* g = d->group + i;
            if (g->kind != kind || !wanted(g)) continue;
            flx_mesh_group* to = mesh->group + mesh->group_count++; // from here on the mesh owns it, also half done
            to->name           = g->name;
            to->triangle_count = (int32_t)g->triangle_count;
            to->tet_count      = (int32_t)g->tet_count;
            to->triangle       = g->triangle;
            to->tet            = g->tet;
            g->name            = NULL;
            g->triangle = g->tet = NULL;
            FLX_TRY(give(d->ctx, to->triangle, sizeof *to->triangle, (void**)&to->triangle));
            FLX_TRY(give(d->ctx, to->tet, sizeof *to->tet, (void**)&to->tet));
        }
done:
    return status;
}

flx_status flx__draft_finish(flx_draft* d, flx_mesh** out)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = d->ctx;
    flx_mesh*    mesh   = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, mesh, 1);
    mesh->vertex_count   = (int32_t)d->vertex_count;
    mesh->triangle_count = (int32_t)d->triangle_count;
    mesh->tet_count      = (int32_t)d->tet_count;
    FLX_TRY(give(ctx, d->x, sizeof *d->x, (void**)&mesh->x));
    d->x = NULL;
    FLX_TRY(give(ctx, d->triangle, sizeof *d->triangle, (void**)&mesh->triangle));
    d->triangle = NULL;
    FLX_TRY(give(ctx, d->triangle_number, sizeof *d->triangle_number, (void**)&mesh->triangle_number));
    d->triangle_number = NULL;
    FLX_TRY(give(ctx, d->tet, sizeof *d->tet, (void**)&mesh->tet));
    d->tet = NULL;
    FLX_TRY(give(ctx, d->tet_number, sizeof *d->tet_number, (void**)&mesh->tet_number));
    d->tet_number = NULL;
    FLX_TRY(give_groups(d, mesh));
    mesh->path = flx__strdup(ctx, d->path);
    if (!mesh->path)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    say_notes(d);
    *out = mesh;
    mesh = NULL;

done:
    flx_mesh_destroy(ctx, mesh);
    flx__draft_end(d);
    return status;
}
