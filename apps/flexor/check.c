// flexor check: the doctor's report on a mesh, or on a scene with all its meshes and what the run will need.
#include "cli.h"
#include "geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- text -------------------------------------------------------------------------------------------------------

static void print_list(const char* what, const flx_doctor_list* list, const char* means)
{
    if (list->count == 0) return;
    printf("  %lld %s:", (long long)list->count, what);
    for (int64_t i = 0; i < list->count && i < FLX_DOCTOR_LIST; ++i) printf(" %lld", (long long)list->number[i]);
    printf("%s  (%s)\n", list->count > FLX_DOCTOR_LIST ? " ..." : "", means);
}

static void print_count(const char* what, int64_t count, const char* means)
{
    if (count > 0) printf("  %lld %s  (%s)\n", (long long)count, what, means);
}

static void print_report(const flx_doctor_report* r, const flx_mesh_options* o)
{
    const int64_t others = o->group ? r->unreferenced.count : 0; // of the file, but not of the group
    printf("  %lld vertices, %d triangles, %d tets, %d component%s\n", (long long)(r->vertex_count - others),
           r->triangle_count, r->tet_count, r->component_count, r->component_count == 1 ? "" : "s");
    printf("  box %.4g x %.4g x %.4g m, from (%.4g, %.4g, %.4g)\n", r->box_max[0] - r->box_min[0],
           r->box_max[1] - r->box_min[1], r->box_max[2] - r->box_min[2], r->box_min[0], r->box_min[1], r->box_min[2]);
    if (!o->group) print_list("vertices that no element uses", &r->unreferenced, "kept; they do not move");
    print_list("vertices at the place of an earlier one", &r->duplicate, "weld merges them");
    if (r->tet_count > 0)
    {
        printf("  volume %.6g m3, smallest tet %.3g, mean %.3g, smallest dihedral angle %.2f degrees (tet %lld)\n",
               r->volume, r->min_volume, r->mean_volume, r->min_dihedral_deg, (long long)r->worst_tet);
        print_list("tets had negative volume", &r->reoriented, "turned");
        print_list("flat tets", &r->flat, "unusable; repair drops them");
        print_list("slivers", &r->sliver, "thin but valid");
        print_list("repeated tets", &r->repeated_tet, "repair drops them");
        print_list("tets on a face that three or more share", &r->shared_face, "overlapping elements");
        print_count("boundary faces inside the body", r->inner_boundary_faces, "neighbours do not conform");
    }
    if (r->triangle_count > 0)
    {
        printf("  surface: %s, area %.6g m2", r->closed ? "closed" : "open", r->area);
        if (r->closed)
            printf(", encloses %.6g m3%s", r->enclosed_volume, r->enclosed_volume < 0 ? " (inside out)" : "");
        printf("\n");
        if (!o->may_be_open) print_count("boundary edges", r->boundary_edges, "one triangle only: holes");
        print_count("edges with three or more triangles", r->nonmanifold_edges, "non-manifold");
        print_count("edges whose two triangles disagree", r->flipped_edges, "orientation flips");
        print_count("bow-tie vertices", r->bowtie_vertices, "two fans meet in one point");
        print_list("triangles without area", &r->degenerate, "repair drops them");
        print_list("repeated triangles", &r->repeated_triangle, "repair drops them");
        print_list("vertices on an edge they do not belong to", &r->vertex_on_edge, "T-junctions");
        if (r->self_crossings > 0)
            printf("  %lld pairs of triangles cross  (the surface overlaps itself before the run)\n",
                   (long long)r->self_crossings);
        if (r->self_crossings < 0) printf("  crossings: not counted, too large\n");
    }
}

// --- JSON -------------------------------------------------------------------------------------------------------

static void json_list(json* j, const char* key, const flx_doctor_list* list)
{
    json_open(j, key, '{');
    json_integer(j, "count", list->count);
    json_open(j, "numbers", '[');
    for (int64_t i = 0; i < list->count && i < FLX_DOCTOR_LIST; ++i) json_integer(j, NULL, list->number[i]);
    json_close(j, ']');
    json_close(j, '}');
}

static void json_report(json* j, const flx_doctor_report* r)
{
    json_integer(j, "vertices", r->vertex_count);
    json_integer(j, "triangles", r->triangle_count);
    json_integer(j, "tets", r->tet_count);
    json_integer(j, "components", r->component_count);
    json_open(j, "box", '[');
    for (int i = 0; i < 6; ++i) json_real(j, NULL, i < 3 ? r->box_min[i] : r->box_max[i - 3]);
    json_close(j, ']');
    json_list(j, "unreferenced", &r->unreferenced);
    json_list(j, "duplicate", &r->duplicate);
    json_real(j, "volume", r->volume);
    json_list(j, "reoriented", &r->reoriented);
    json_list(j, "flat", &r->flat);
    json_list(j, "sliver", &r->sliver);
    json_list(j, "repeated_tet", &r->repeated_tet);
    json_list(j, "shared_face", &r->shared_face);
    json_integer(j, "inner_boundary_faces", r->inner_boundary_faces);
    json_real(j, "min_volume", r->min_volume);
    json_real(j, "mean_volume", r->mean_volume);
    json_real(j, "min_dihedral_deg", r->min_dihedral_deg);
    json_integer(j, "worst_tet", r->worst_tet);
    json_real(j, "area", r->area);
    json_real(j, "enclosed_volume", r->enclosed_volume);
    json_bool(j, "closed", r->closed);
    json_integer(j, "boundary_edges", r->boundary_edges);
    json_integer(j, "nonmanifold_edges", r->nonmanifold_edges);
    json_integer(j, "flipped_edges", r->flipped_edges);
    json_integer(j, "bowtie_vertices", r->bowtie_vertices);
    json_list(j, "degenerate", &r->degenerate);
    json_list(j, "repeated_triangle", &r->repeated_triangle);
    json_list(j, "vertex_on_edge", &r->vertex_on_edge);
    json_integer(j, "self_crossings", r->self_crossings);
}

// --- one mesh ---------------------------------------------------------------------------------------------------

/// Reads and examines. The report is filled as far as the doctor came. -1 = usable.
static int examine(cli* c, const char* path, const flx_mesh_options* options, flx_mesh** mesh,
                   flx_doctor_report* report)
{
    flx_status status = flx_mesh_read(c->ctx, path, options, mesh);
    if (status != FLX_OK) return cli_fail(c, status);
    const bool quiet = c->quiet;
    c->quiet         = true; // what the doctor would note stands in the report
    status           = flx_mesh_doctor(c->ctx, *mesh, options, report);
    c->quiet         = quiet;
    return status == FLX_OK ? -1 : cli_fail(c, status);
}

static int check_mesh(cli* c, const char* path)
{
    flx_mesh*         mesh    = NULL;
    flx_doctor_report report  = {0};
    flx_mesh_options  options = flx_mesh_options_default();
    if (!cli_real(c, "scale", 1e-12, 1e12, &options.scale)) return CODE_USAGE;
    options.weld   = cli_flag(c, "weld");
    options.repair = cli_flag(c, "repair");

    int code = examine(c, path, &options, &mesh, &report);
    if (code < 0 && report.tet_count == 0 && report.triangle_count == 0)
    {
        cli_error(c, CODE_SCENE, "%s: neither triangles nor tets: nothing to simulate", path);
        code = CODE_SCENE;
    }
    // a surface without an inside can still be the skin of a tet mesh
    const bool surface = code < 0 && report.tet_count == 0;
    const bool inside  = surface && flx_surface_has_inside(c->ctx, mesh) == FLX_OK;
    if (c->json)
    {
        json j = json_memory(true);
        json_open(&j, NULL, '{');
        json_text(&j, "schema", "flexor.check/1");
        json_text(&j, "path", path);
        json_bool(&j, "usable", code < 0);
        if (surface) json_bool(&j, "has_inside", inside);
        if (mesh) json_report(&j, &report);
        json_close(&j, '}');
        char* text = json_end(&j);
        print_data(c, text);
        free(text);
    }
    else if (mesh)
    {
        printf("%s\n", path);
        print_report(&report, &options);
        if (surface && !inside)
            printf("  usable as cloth or the skin of a tet mesh, not for a lattice, an obstacle or a bone:\n    %s\n",
                   flx_context_error(c->ctx));
        else
            printf("  %s\n", code < 0 ? "usable" : "unusable");
    }
    flx_mesh_destroy(c->ctx, mesh);
    return code < 0 ? CODE_FINE : code;
}

// --- a scene ----------------------------------------------------------------------------------------------------

/// What holds each part of a body. Quasi-static bodies must be held; in dynamics their mass does it.
static bool check_held(cli* c, const flx_scene* scene, int32_t body, const flx_mesh* mesh, json* j)
{
    int32_t    count = 0, free_count = 0;
    component* all     = geometry_components(scene, body, mesh, &count);
    bool       touched = false;
    const bool dynamic = scene->settings.mode == FLX_MODE_DYNAMIC;
    for (int32_t k = 0; k < scene->contact_count; ++k) touched |= scene->contact[k].body == body;
    if (j) json_open(j, "components_free", '[');
    for (int32_t k = 0; all && k < count; ++k)
    {
        if (dynamic || all[k].fixed || all[k].attached) continue;
        ++free_count;
        const component* p = &all[k];
        if (j)
        {
            json_open(j, NULL, '{');
            json_integer(j, "vertices", p->vertex_count);
            json_open(j, "middle", '[');
            for (int i = 0; i < 3; ++i) json_real(j, NULL, 0.5 * (p->low[i] + p->high[i]));
            json_close(j, ']');
            json_close(j, '}');
        }
        else if (free_count <= FLX_DOCTOR_LIST)
            printf("  component of %d vertices around (%.4g, %.4g, %.4g): nothing holds it\n", p->vertex_count,
                   0.5 * (p->low[0] + p->high[0]), 0.5 * (p->low[1] + p->high[1]), 0.5 * (p->low[2] + p->high[2]));
    }
    if (j) json_close(j, ']');
    free(all);
    // parts of a surface may join in the lattice, and contact can hold a body up: only a whole body alone is sure to
    // fail
    const bool sure =
        free_count > 0 && !touched && (mesh->tet_count > 0 || scene->body[body].cloth || free_count == count);
    if (sure)
        cli_error(c, CODE_SCENE,
                  "%s: quasi-static, and nothing holds %s of body '%s': fix or attach it, or use mode dynamic",
                  c->operand[0], free_count == count ? "any part" : "some parts", scene->body[body].name);
    return !sure;
}

static int check_body(cli* c, const flx_scene* scene, int32_t body, estimate* e, json* j)
{
    const flx_body_desc* b       = &scene->body[body];
    const char*          path    = geometry_path(b);
    flx_mesh*            mesh    = NULL;
    flx_doctor_report    report  = {0};
    flx_mesh_options     options = flx_mesh_options_default();
    options.scale                = b->scale;
    options.weld                 = b->weld;
    options.weld_tolerance       = b->weld_tolerance;
    options.repair               = b->repair;
    options.may_be_open          = b->cloth != NULL;
    options.group                = b->group;

    int code = examine(c, path, &options, &mesh, &report);
    if (j)
    {
        json_open(j, NULL, '{');
        json_text(j, "name", b->name);
        json_text(j, "path", path);
        json_bool(j, "usable", code < 0);
        if (mesh) json_report(j, &report);
    }
    else
    {
        printf("body '%s': %s%s%s\n", b->name, path, b->group ? ", group " : "", b->group ? b->group : "");
        if (mesh) print_report(&report, &options);
    }
    if (code < 0 && !b->tets && !b->cloth) // a lattice is to be made
    {
        const flx_status status = flx_surface_has_inside(c->ctx, mesh);
        if (status != FLX_OK) code = cli_fail(c, status);
    }
    if (code < 0)
    {
        geometry_place(mesh, b);
        if (!check_held(c, scene, body, mesh, j)) code = CODE_SCENE;
        estimate_body(e, scene, body, mesh, &report);
    }
    if (j) json_close(j, '}');
    flx_mesh_destroy(c->ctx, mesh);
    return code;
}

/// Meshes that are not the body's own: bones, obstacles, a skin in a tet mesh. Nothing is printed of those that are
/// fine.
static int check_other(cli* c, const char* path, const char* group, double scale, bool solid)
{
    flx_mesh*         mesh    = NULL;
    flx_doctor_report report  = {0};
    flx_mesh_options  options = flx_mesh_options_default();
    options.scale             = scale;
    options.group             = group;
    int code                  = examine(c, path, &options, &mesh, &report);
    if (code < 0 && solid && report.tet_count == 0)
    {
        const flx_status status = flx_surface_has_inside(c->ctx, mesh);
        if (status != FLX_OK) code = cli_fail(c, status);
    }
    flx_mesh_destroy(c->ctx, mesh);
    return code;
}

static int check_others(cli* c, const flx_scene* scene)
{
    int worst = -1;
    for (int32_t i = 0; i < scene->body_count + scene->bone_count + scene->obstacle_count; ++i)
    {
        const int32_t        bone = i - scene->body_count, obstacle = bone - scene->bone_count;
        const flx_body_desc* body  = bone < 0 ? &scene->body[i] : NULL;
        const flx_shape*     shape = body           ? NULL
                                     : obstacle < 0 ? &scene->bone[bone].shape
                                                    : &scene->obstacle[obstacle].shape;
        int                  code  = -1;
        if (body && body->tets && body->surface) code = check_other(c, body->surface, body->group, body->scale, false);
        if (shape && shape->kind == FLX_SHAPE_MESH)
            code = check_other(c, shape->path, shape->group, shape->scale, true);
        if (code > worst) worst = code;
    }
    return worst;
}

static void print_estimate(const flx_scene* scene, const estimate* e)
{
    char memory[32];
    format_bytes(memory, e->bytes);
    printf("run: %d frames at %g per second, %s\n", scene->run.frames, scene->run.fps,
           scene->settings.mode == FLX_MODE_DYNAMIC ? "dynamic" : "quasi-static");
    printf("  about ");
    if (e->tets > 0) printf("%.3g tets, ", e->tets);
    if (e->triangles > 0) printf("%.3g triangles of cloth, ", e->triangles);
    printf("%.3g vertices, %.2g of them collision-prone, %.3g factor entries\n", e->vertices, e->prone,
           e->factor_nonzeros);
    printf("  about %s of memory, %.2g s of setup, %.2g ms a frame: %.2g s in all (estimates, two cores)\n", memory,
           e->setup_seconds, e->frame_ms, e->setup_seconds + 1e-3 * e->frame_ms * scene->run.frames);
}

static int check_scene(cli* c, const char* path)
{
    flx_scene* scene = NULL;
    estimate   e     = {0};
    json       j     = json_memory(true);
    int        code  = cli_scene(c, path, &scene);
    if (code >= 0) return code;

    code = CODE_FINE;
    if (c->json)
    {
        json_open(&j, NULL, '{');
        json_text(&j, "schema", "flexor.check/1");
        json_text(&j, "path", path);
        json_open(&j, "bodies", '[');
    }
    for (int32_t b = 0; b < scene->body_count; ++b)
    {
        const int found = check_body(c, scene, b, &e, c->json ? &j : NULL);
        if (found > code) code = found;
    }
    const int others = check_others(c, scene);
    if (others > code) code = others;
    estimate_finish(&e, scene);
    if (c->json)
    {
        json_close(&j, ']');
        json_open(&j, "estimate", '{');
        json_real(&j, "tets", e.tets);
        json_real(&j, "cloth_triangles", e.triangles);
        json_real(&j, "vertices", e.vertices);
        json_real(&j, "prone", e.prone);
        json_real(&j, "factor_nonzeros", e.factor_nonzeros);
        json_real(&j, "bytes", e.bytes);
        json_real(&j, "setup_seconds", e.setup_seconds);
        json_real(&j, "frame_ms", e.frame_ms);
        json_close(&j, '}');
        json_bool(&j, "usable", code == CODE_FINE);
        json_close(&j, '}');
        char* text = json_end(&j);
        print_data(c, text);
        free(text);
    }
    else if (code == CODE_FINE)
    {
        print_estimate(scene, &e);
        printf("%s: fine\n", path);
    }
    flx_scene_destroy(c->ctx, scene);
    return code;
}

static int check(cli* c)
{
    const int code = cli_context(c);
    if (code >= 0) return code;
    return is_scene_path(c->operand[0]) ? check_scene(c, c->operand[0]) : check_mesh(c, c->operand[0]);
}

static const cli_option options[] = {
    {0, "scale", "FACTOR", "of a mesh: file unit to m (0.001 for mm)"},
    {0, "weld", NULL, "of a mesh: merge vertices at the same place"},
    {0, "repair", NULL, "of a mesh: drop flat and repeated elements"},
    CLI_SCENE_OPTIONS,
    {0, NULL, NULL, NULL},
};

const cli_verb cli_check = {
    .name         = "check",
    .operands     = "SCENE|MESH",
    .summary      = "Examine a mesh, or a scene with all its meshes.",
    .details      = "Says what is wrong, by number, and what a run will need, before anything large is allocated.\n"
                    "Exit code 3 when it cannot be simulated.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = check,
};
