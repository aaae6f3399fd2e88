#include "reduced_engine.h"

#include "flexor/flexor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 1000

static const char twisted[] =
    "bones:\n"
    "  - {name: left, capsule: {from: [0, 0, 0], to: [0, 0, 1], radius: 5 mm}}\n"
    "  - {name: right, capsule: {from: [1, 0, 0], to: [1, 0, 1], radius: 5 mm}}\n"
    "fix:\n"
    "  - {region: {box: {min: [-0.001, -9, -9], max: [0.001, 9, 9]}}, bone: left, stiffness: 1e8 N/m}\n"
    "  - {region: {box: {min: [0.999, -9, -9], max: [1.001, 9, 9]}}, bone: right, stiffness: 1e8 N/m}\n"
    "motion:\n"
    "  - {bone: left, about: [0, 0, 0.5], axis: [1, 0, 0], keys: [{time: 0}, {time: 1.667 s, angle: -90}]}\n"
    "  - {bone: right, about: [0, 0, 0.5], axis: [1, 0, 0], keys: [{time: 0}, {time: 1.667 s, angle: 90}]}\n";

static const struct
{
    const char *id, *body, *rest;
} scenes[] = {
    {"S2", "constraints: [{spring: 1e6 N/m}], material: {area_density:", twisted},
    {"T3", "constraints: [{strain: 1e6 N/m}], material: {area_density:", twisted},
    {"T2", "constraints: [{strain: 1e6 N/m}], material: {area_density:",
     "bones:\n"
     "  - {name: right, capsule: {from: [1, 0, 0], to: [1, 0, 1], radius: 5 mm}}\n"
     "fix:\n"
     "  - {region: {box: {min: [-0.001, -9, -9], max: [0.001, 9, 9]}}, stiffness: 1e8 N/m}\n"
     "  - {region: {box: {min: [0.999, -9, -9], max: [1.001, 9, 9]}}, bone: right, stiffness: 1e8 N/m}\n"
     "motion:\n"
     "  - {bone: right, axis: [1, 0, 0], keys: [{time: 0}, {time: 0.5 s, translate: [0.1, 0, 0]}]}\n"
     "loads: {region: {sphere: {center: [0.5, 0, 0.5], radius: 0.2}}, force: [0, 5e4 N, 0]}\n"},
    {"C1", "constraints: [{bending: 0.1 N m}, {spring: 1e6 N/m}, {strain: 1e-2 N/m}], material: {area_density:",
     "gravity: [0, -9.81, 0]\n"
     "fix:\n"
     "  - {region: {box: {min: [-0.001, -9, -0.001], max: [0.001, 9, 0.001]}}, stiffness: 1e8 N/m}\n"
     "  - {region: {box: {min: [-0.001, -9, 0.999], max: [0.001, 9, 1.001]}}, stiffness: 1e8 N/m}\n"},
    {"V1", "material: {young: 2 MPa, poisson: 0, density:", twisted}, // w = 2 mu = E
    {"V2", "material: {young: 0.3 MPa, poisson: 0, density:",
     "gravity: [0, -9.81, 0]\n"
     "fix: {region: {box: {min: [-0.001, -9, -9], max: [0.001, 9, 9]}}, stiffness: 1e8 N/m}\n"},
};

static void write_mesh(const flx_experiment* e, bool tets, FILE* out)
{
    const flx_pd_system* s = e->system;
    fprintf(out, tets ? "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n" : "# %d vertices\n", s->n);
    for (int32_t v = 0; v < s->n; ++v)
        fprintf(out, tets ? "%.17g %.17g %.17g 0\n" : "v %.17g %.17g %.17g\n", s->x_rest[3 * v], s->x_rest[3 * v + 1],
                s->x_rest[3 * v + 2]);
    if (tets) fprintf(out, "Tetrahedra\n%d\n", s->batch[0].count);
    for (int32_t j = 0; tets && j < s->batch[0].count; ++j)
    {
        const int32_t* v = s->batch[0].vertex + 4 * j;
        fprintf(out, "%d %d %d %d 1\n", v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
    }
    for (int32_t t = 0; !tets && t < e->triangle_count; ++t)
        fprintf(out, "f %d %d %d\n", e->triangle[3 * t] + 1, e->triangle[3 * t + 1] + 1, e->triangle[3 * t + 2] + 1);
    if (tets) fprintf(out, "End\n");
}

/// Mean mass 1 kg: so much for each m2 of the sheet, or m3 of the box, whose sides across are the extent of y and z.
static double density_of(const flx_experiment* e, bool tets)
{
    double high = 0.0;
    for (int32_t v = 0; v < e->system->n; ++v)
        if (e->system->x_rest[3 * v + 1] > high) high = e->system->x_rest[3 * v + 1];
    return e->system->n / (tets ? high * high : 1.0);
}

static flx_status write_files(flx_context* ctx, const flx_experiment* e, const char* folder, char* scene, size_t size)
{
    char   path[1024];
    size_t k = 0;
    while (k < sizeof scenes / sizeof *scenes && strcmp(scenes[k].id, e->id) != 0) ++k;
    if (k == sizeof scenes / sizeof *scenes) return flx__fail(ctx, FLX_ERR_UNSUPPORTED, "%s has no scene", e->id);
    const bool tets = scenes[k].id[0] == 'V';
    snprintf(path, sizeof path, "%s/%s.%s", folder, e->id, tets ? "mesh" : "obj");
    FILE* out = fopen(path, "w");
    if (!out) return flx__fail(ctx, FLX_ERR_IO, "cannot write %s", path);
    write_mesh(e, tets, out);
    fclose(out);
    snprintf(scene, size, "%s/%s.yaml", folder, e->id);
    out = fopen(scene, "w");
    if (!out) return flx__fail(ctx, FLX_ERR_IO, "cannot write %s", scene);
    fprintf(out, "flexor: 1\nbodies:\n  - {%s: %s.%s, %s %g %s}}\n", tets ? "tets" : "cloth", e->id,
            tets ? "mesh" : "obj", scenes[k].body, density_of(e, tets), tets ? "kg/m3" : "kg/m2");
    fprintf(out, "%ssolver: {mode: dynamic, outer: %d, damping: 0}\nrun: {frames: %d, fps: 60}\n", scenes[k].rest,
            FLX_LAB_ROUNDS, e->frames);
    fclose(out);
    return FLX_OK;
}

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static flx_status run(flx_context* ctx, const char* path, const char* precision, int32_t frames, double* ms)
{
    static double     each[MOST_STEPS];
    flx_status        status  = FLX_OK;
    const char* const set[]   = {precision};
    flx_scene_options options = flx_scene_options_default();
    flx_scene*        scene   = NULL;
    flx_model*        model   = NULL;
    flx_solver*       solver  = NULL;
    flx_state*        state   = NULL;
    options.override_count    = 1;
    options.overrides         = set;
    frames                    = frames < MOST_STEPS ? frames : MOST_STEPS;
    FLX_TRY(flx_scene_read(ctx, path, &options, &scene));
    FLX_TRY(flx_model_compile(ctx, scene, NULL, NULL, &model));
    FLX_TRY(flx_solver_create(ctx, model, NULL, NULL, NULL, &solver));
    FLX_TRY(flx_state_create(ctx, model, &state));
    for (int32_t k = 0; k < frames; ++k)
    {
        const double start = flx__now();
        FLX_TRY(flx_solver_step(solver, state, NULL));
        each[k] = 1e3 * (flx__now() - start);
    }
    qsort(each, (size_t)frames, sizeof *each, ascending);
    *ms = each[frames / 2];
done:
    flx_state_destroy(state);
    flx_solver_destroy(solver);
    flx_model_destroy(model);
    flx_scene_destroy(ctx, scene);
    return status;
}

flx_status engine_steps(flx_context* ctx, const flx_experiment* e, const char* folder, int32_t frames, double ms[2])
{
    flx_status status = FLX_OK;
    char       path[1024];
    FLX_TRY(write_files(ctx, e, folder, path, sizeof path));
    FLX_TRY(run(ctx, path, "solver.precision=single", frames, &ms[0]));
    FLX_TRY(run(ctx, path, "solver.precision=double", frames, &ms[1]));
done:
    return status;
}
