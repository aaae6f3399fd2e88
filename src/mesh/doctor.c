// The doctor: examine a mesh, repair what can be repaired without guessing, say the rest. One notice a finding.
#include "mesh/doctor.h"

#include "mesh/mesh_internal.h"
#include "mesh/weld.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CROSSING_LIMIT 200000 // triangles, above which crossings are not counted

void flx__doctor_note(flx_doctor_list* list, int64_t number)
{
    if (list->count < FLX_DOCTOR_LIST) list->number[list->count] = number;
    list->count += 1;
}

int64_t flx__tet_number(const flx_mesh* mesh, int32_t tet)
{
    return mesh->tet_number ? mesh->tet_number[tet] : tet + 1;
}

int64_t flx__triangle_number(const flx_mesh* mesh, int32_t triangle)
{
    return mesh->triangle_number ? mesh->triangle_number[triangle] : triangle + 1;
}

// --- messages -------------------------------------------------------------------------------------

#define LIST_ROOM 128
static const char* show_list(const flx_doctor_list* list, char text[LIST_ROOM])
{
    const int64_t shown = list->count < 6 ? list->count : 6;
    int           used  = 0;
    for (int64_t i = 0; i < shown; ++i)
        used += snprintf(text + used, (size_t)(LIST_ROOM - used), "%s%lld", i ? ", " : "", (long long)list->number[i]);
    if (list->count > shown) snprintf(text + used, (size_t)(LIST_ROOM - used), ", ...");
    return text;
}

// "%lld <what>: 3, 7, ..."
static void say(flx_doctor* d, const flx_doctor_list* list, const char* what)
{
    char text[LIST_ROOM];
    if (list->count > 0)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld %s: %s", d->name, (long long)list->count, what,
                 show_list(list, text));
}

static void say_count(flx_doctor* d, int64_t count, const char* what)
{
    if (count > 0) flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld %s", d->name, (long long)count, what);
}

static void say_tets(flx_doctor* d)
{
    const flx_doctor_report* r = d->report;
    char                     what[96];
    snprintf(what, sizeof what, "of %d tetrahedra had negative volume and were turned", d->mesh->tet_count);
    say(d, &r->reoriented, what);
    say(d, &r->flat, "tetrahedra without volume");
    say(d, &r->sliver, "tetrahedra are slivers (a dihedral angle below 1 degree)");
    say(d, &r->repeated_tet, "tetrahedra repeat an earlier one");
    say(d, &r->shared_face, "tetrahedra are on a face that three or more share");
    say_count(d, r->inner_boundary_faces,
              "boundary faces lie inside, back to back with others: neighbours that do not conform or are not welded");
    flx__log(d->ctx, FLX_LOG_INFO,
             "%s: volume %g m3, smallest tetrahedron %g m3, smallest dihedral angle %g degrees (tetrahedron %lld)",
             d->name, r->volume, r->min_volume, r->min_dihedral_deg, (long long)r->worst_tet);
}

static void say_surface(flx_doctor* d)
{
    const flx_doctor_report* r = d->report;
    say(d, &r->degenerate, "triangles without area");
    say(d, &r->repeated_triangle, "triangles repeat an earlier one, or its mirror image");
    if (!d->may_be_open) say_count(d, r->boundary_edges, "boundary edges: the surface is open");
    say_count(d, r->nonmanifold_edges, "edges have three or more triangles");
    say_count(d, r->flipped_edges, "edges have two triangles of opposite winding");
    say_count(d, r->bowtie_vertices, "vertices join separate fans of triangles");
    say_count(d, r->self_crossings, "pairs of triangles cross each other");
    if (r->closed && r->flipped_edges == 0 && r->enclosed_volume < 0.0)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: the surface is inside out: it encloses %g m3", d->name,
                 r->enclosed_volume);
}

// --- vertices -------------------------------------------------------------------------------------

static flx_status check_arguments(flx_context* ctx, const flx_mesh* mesh, const flx_mesh_options* options)
{
    if (options->struct_size != sizeof *options)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "flx_mesh_options.struct_size is %zu, not %zu", options->struct_size,
                         sizeof *options);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->vertex_count; ++i)
        if (!isfinite(mesh->x[i]))
            return flx__fail(ctx, FLX_ERR_MESH, "vertex %lld is not finite", (long long)(i / 3 + 1));
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; ++i)
        if (mesh->triangle[i] < 0 || mesh->triangle[i] >= mesh->vertex_count)
            return flx__fail(ctx, FLX_ERR_MESH, "triangle %lld names vertex %d of %d", (long long)(i / 3 + 1),
                             mesh->triangle[i] + 1, mesh->vertex_count);
    for (int64_t i = 0; i < 4 * (int64_t)mesh->tet_count; ++i)
        if (mesh->tet[i] < 0 || mesh->tet[i] >= mesh->vertex_count)
            return flx__fail(ctx, FLX_ERR_MESH, "tetrahedron %lld names vertex %d of %d", (long long)(i / 4 + 1),
                             mesh->tet[i] + 1, mesh->vertex_count);
    return FLX_OK;
}

static void take_into_box(flx_doctor* d, const int32_t* corner, int64_t count)
{
    flx_doctor_report* r = d->report;
    for (int64_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            r->box_min[k] = fmin(r->box_min[k], d->mesh->x[3 * (int64_t)corner[i] + k]);
            r->box_max[k] = fmax(r->box_max[k], d->mesh->x[3 * (int64_t)corner[i] + k]);
        }
}

static void measure_box(flx_doctor* d)
{
    flx_doctor_report* r = d->report;
    const flx_mesh*    m = d->mesh;
    for (int64_t i = 0; i < 3 * (int64_t)m->vertex_count; ++i) d->largest = fmax(d->largest, fabs(m->x[i]));
    if (m->triangle_count + m->tet_count == 0) return;
    for (int k = 0; k < 3; ++k) r->box_min[k] = INFINITY, r->box_max[k] = -INFINITY;
    take_into_box(d, m->triangle, 3 * (int64_t)m->triangle_count);
    take_into_box(d, m->tet, 4 * (int64_t)m->tet_count);
}

static flx_status examine_vertices(flx_doctor* d)
{
    flx_status         status = FLX_OK;
    flx_mesh*          mesh   = d->mesh;
    flx_doctor_report* r      = d->report;
    int32_t*           first  = NULL;
    int32_t*           label  = NULL;
    bool*              used   = NULL;

    FLX_NEW(d->ctx, first, mesh->vertex_count);
    FLX_NEW(d->ctx, label, mesh->vertex_count);
    FLX_NEW_ZERO(d->ctx, used, mesh->vertex_count);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; ++i) used[mesh->triangle[i]] = true;
    for (int64_t i = 0; i < 4 * (int64_t)mesh->tet_count; ++i) used[mesh->tet[i]] = true;
    FLX_TRY(flx__first_at_place(d->ctx, mesh->vertex_count, mesh->x, first));
    for (int32_t v = 0; v < mesh->vertex_count; ++v)
    {
        if (!used[v]) flx__doctor_note(&r->unreferenced, v + 1);
        if (first[v] != v) flx__doctor_note(&r->duplicate, v + 1);
    }
    if (mesh->tet_count > 0)
        FLX_TRY(flx__mesh_components(d->ctx, mesh->vertex_count, mesh->tet_count, 4, mesh->tet, label,
                                     &r->component_count));
    else
        FLX_TRY(flx__mesh_components(d->ctx, mesh->vertex_count, mesh->triangle_count, 3, mesh->triangle, label,
                                     &r->component_count));

done:
    flx__free(d->ctx, first);
    flx__free(d->ctx, label);
    flx__free(d->ctx, used);
    return status;
}

static void say_vertices(flx_doctor* d)
{
    char what[96];
    if (!d->is_group) say(d, &d->report->unreferenced, "vertices are used by no element; they keep their place");
    snprintf(what, sizeof what, "of %d vertices coincide with an earlier one; weld joins them", d->mesh->vertex_count);
    say(d, &d->report->duplicate, what);
    if (d->report->component_count > 1) say_count(d, d->report->component_count, "components that no element connects");
}

// --- the flow -------------------------------------------------------------------------------------

static flx_status examine_surface(flx_doctor* d)
{
    flx_status     status   = FLX_OK;
    int32_t*       boundary = NULL;
    int32_t        count    = d->mesh->triangle_count;
    const int32_t* triangle = d->mesh->triangle;

    if (d->mesh->tet_count > 0)
    {
        FLX_TRY(flx__tet_boundary(d->ctx, d->mesh->tet_count, d->mesh->tet, &count, &boundary));
        triangle = boundary;
        FLX_TRY(flx__doctor_inner_faces(d, count, triangle));
    }
    FLX_TRY(flx__doctor_surface(d, count, triangle));
    if (d->mesh->tet_count == 0) FLX_TRY(flx__doctor_vertices_on_edges(d, count, triangle));
    d->report->self_crossings = -1;
    if (count <= CROSSING_LIMIT)
        FLX_TRY(flx__surface_crossings(d->ctx, d->mesh->vertex_count, d->mesh->x, count, triangle,
                                       &d->report->self_crossings, NULL, 0));
done:
    flx__free(d->ctx, boundary);
    return status;
}

// Flat and repeated elements go with `repair`; the rest of the examination is then of what is left.
static flx_status drop_marked(flx_doctor* d)
{
    flx_status         status = FLX_OK;
    flx_doctor_report* r      = d->report;
    bool*              keep   = NULL;
    const int32_t      count  = d->drop_tet ? d->mesh->tet_count : d->mesh->triangle_count;
    const bool*        drop   = d->drop_tet ? d->drop_tet : d->drop_triangle;
    if (r->flat.count + r->repeated_tet.count + r->degenerate.count + r->repeated_triangle.count == 0) return FLX_OK;
    FLX_NEW(d->ctx, keep, count);
    for (int32_t i = 0; i < count; ++i) keep[i] = !drop[i];
    FLX_TRY(flx__mesh_filter(d->ctx, d->mesh, d->drop_tet ? NULL : keep, d->drop_tet ? keep : NULL));
    flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %d flat or repeated elements were dropped", d->name,
             count - (d->drop_tet ? d->mesh->tet_count : d->mesh->triangle_count));
done:
    flx__free(d->ctx, keep);
    return status;
}

static flx_status verdict(flx_doctor* d, bool repaired)
{
    const flx_doctor_report* r = d->report;
    char                     list[LIST_ROOM];
    if (d->mesh->tet_count == 0 && d->mesh->triangle_count == 0)
        return flx__fail(d->ctx, FLX_ERR_MESH, "%s: the mesh has neither triangles nor tetrahedra", d->name);
    if (repaired) return FLX_OK;
    if (r->flat.count)
        return flx__fail(d->ctx, FLX_ERR_MESH, "%s: %lld tetrahedra without volume: %s; repair drops them", d->name,
                         (long long)r->flat.count, show_list(&r->flat, list));
    if (r->repeated_tet.count)
        return flx__fail(d->ctx, FLX_ERR_MESH, "%s: %lld tetrahedra repeat an earlier one: %s; repair drops them",
                         d->name, (long long)r->repeated_tet.count, show_list(&r->repeated_tet, list));
    if (r->degenerate.count)
        return flx__fail(d->ctx, FLX_ERR_MESH, "%s: %lld triangles without area: %s; repair drops them", d->name,
                         (long long)r->degenerate.count, show_list(&r->degenerate, list));
    return FLX_OK;
}

flx_status flx_mesh_doctor(flx_context* ctx, flx_mesh* mesh, const flx_mesh_options* options, flx_doctor_report* report)
{
    FLX_ASSERT(ctx && mesh);
    flx_status             status = FLX_OK;
    const flx_mesh_options o      = options ? *options : flx_mesh_options_default();
    flx_doctor_report      r;
    flx_doctor             d = {.ctx         = ctx,
                                .mesh        = mesh,
                                .report      = &r,
                                .is_group    = o.group != NULL,
                                .may_be_open = o.may_be_open,
                                .name        = mesh->path ? mesh->path : "mesh"};

    memset(&r, 0, sizeof r);
    r.self_crossings = -1;
    FLX_TRY(check_arguments(ctx, mesh, &o));
    r.vertex_count   = mesh->vertex_count;
    r.triangle_count = mesh->triangle_count;
    r.tet_count      = mesh->tet_count;
    measure_box(&d);
    FLX_TRY(mesh->tet_count > 0 ? flx__doctor_tets(&d) : flx__doctor_triangles(&d));
    if (o.repair) FLX_TRY(drop_marked(&d));
    FLX_TRY(examine_vertices(&d));
    FLX_TRY(examine_surface(&d));
    say_vertices(&d);
    if (mesh->tet_count > 0) say_tets(&d);
    say_surface(&d);
    FLX_TRY(verdict(&d, o.repair));

done:
    if (report) *report = r;
    flx__free(ctx, d.drop_tet);
    flx__free(ctx, d.drop_triangle);
    return status;
}
