// From models and states to the plain arrays that recorder.c and checkpoint.c take.
#include "recording/frame_source.h"

#include "recording/solid_surfaces.h"
#include "solver/state.h"

#include <stdio.h>
#include <string.h>

// --- recorder -------------------------------------------------------------------------------------

/// Room for the arrays of a frame. It lives as long as its recorder.
typedef struct gatherer
{
    flx_context*         ctx;
    double*              scratch;
    flx__solid_surfaces* solids;
} gatherer;

static void gatherer_destroy(void* user)
{
    gatherer* g = user;
    if (!g) return;
    flx__solid_surfaces_destroy(g->solids);
    flx__free(g->ctx, g->scratch);
    flx__free(g->ctx, g);
}

static flx_status gatherer_create(flx_context* ctx, const flx_model* model, gatherer** out)
{
    const flx_model_info info   = flx_model_get_info(model);
    flx_status           status = FLX_OK;
    gatherer*            g      = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, g, 1);
    g->ctx = ctx;
    FLX_NEW(ctx, g->scratch,
            3 * (int64_t)info.vertex_count + 6 * (int64_t)info.surface_vertex_count + 2 * (int64_t)info.tet_count);
    FLX_TRY(flx__solid_surfaces_create(ctx, model, &g->solids));
    *out = g;
    g    = NULL;

done:
    gatherer_destroy(g);
    return status;
}

flx_status flx_recorder_create(flx_context* ctx, const char* path, const flx_model* model, bool overwrite, bool append,
                               flx_recorder** out)
{
    FLX_ASSERT(ctx && path && model && out);
    flx_status    status   = FLX_OK;
    flx_state*    rest     = NULL;
    double*       surface  = NULL;
    gatherer*     g        = NULL;
    flx_recorder* recorder = NULL;

    *out                         = NULL;
    const flx_model_info   info  = flx_model_get_info(model);
    const flx_scene* const scene = flx_model_scene(model);

    FLX_NEW(ctx, surface, 3 * (int64_t)info.surface_vertex_count);
    FLX_TRY(gatherer_create(ctx, model, &g));
    FLX_TRY(flx_state_create(ctx, model, &rest));
    flx_state_surface_positions(rest, surface);

    flx__topology topology = {.scene_name             = scene->name,
                              .fps                    = scene->run.fps,
                              .up_axis                = scene->up_axis,
                              .model_hash             = info.hash,
                              .body_count             = info.body_count,
                              .vertex_count           = info.vertex_count,
                              .tet_count              = info.tet_count,
                              .surface_vertex_count   = info.surface_vertex_count,
                              .surface_triangle_count = info.surface_triangle_count,
                              .tets                   = flx_model_tets(model),
                              .tet_body               = flx_model_tet_body(model),
                              .surface_triangles      = flx_model_surface_triangles(model),
                              .rest                   = flx_model_rest_positions(model),
                              .surface_rest           = surface};
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        topology.solids[k] = flx__solid_surfaces_get(g->solids, (flx_solid_kind)k);
    FLX_TRY(flx__recorder_create(ctx, path, &topology, overwrite, append, &recorder));
    flx__recorder_set_gatherer(recorder, g, gatherer_destroy);
    g    = NULL;
    *out = recorder;

done:
    flx_state_destroy(rest);
    gatherer_destroy(g);
    flx__free(ctx, surface);
    return status;
}

flx_status flx_recorder_frame(flx_recorder* recorder, const flx_state* state, const flx_step_stats* stats)
{
    FLX_ASSERT(recorder && state);
    const flx__topology* shape         = flx__recorder_shape(recorder);
    gatherer*            g             = flx__recorder_gatherer(recorder);
    double*              x             = g->scratch;
    double*              surface_x     = x + 3 * (int64_t)shape->vertex_count;
    double*              contact_force = surface_x + 3 * (int64_t)shape->surface_vertex_count;
    double*              strain        = contact_force + 3 * (int64_t)shape->surface_vertex_count;
    double*              volume_ratio  = strain + shape->tet_count;

    flx_state_positions(state, x);
    flx_state_surface_positions(state, surface_x);
    flx_state_surface_contact_force(state, contact_force);
    flx_state_tet_strain(state, strain, volume_ratio);

    flx__frame_source frame = {.time          = flx_state_time(state),
                               .step          = flx_state_step_count(state),
                               .x             = x,
                               .surface_x     = surface_x,
                               .contact_force = contact_force,
                               .strain        = strain,
                               .volume_ratio  = volume_ratio,
                               .stats         = stats ? *stats : (flx_step_stats){0}};
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        frame.solid_x[k] = flx__solid_surfaces_at(g->solids, state->model->scene, (flx_solid_kind)k, frame.time);
    return flx__recorder_frame(recorder, &frame);
}

// --- checkpoints ----------------------------------------------------------------------------------

flx_status flx_checkpoint_write(flx_context* ctx, const char* path, const flx_state* state)
{
    FLX_ASSERT(ctx && path && state);
    flx_status    status  = FLX_OK;
    char*         payload = NULL;
    const int64_t bytes   = flx_state_bytes(state);

    FLX_NEW(ctx, payload, bytes);
    flx_state_write(state, payload);
    FLX_TRY(flx__checkpoint_save(ctx, path, flx_state_time(state), flx_state_step_count(state), payload, bytes));

done:
    flx__free(ctx, payload);
    return status;
}

flx_status flx_checkpoint_read(flx_context* ctx, const char* path, flx_state* state)
{
    FLX_ASSERT(ctx && path && state);
    flx_status  status  = FLX_OK;
    char*       block   = NULL;
    const void* payload = NULL;
    int64_t     bytes   = 0;

    FLX_TRY(flx__checkpoint_load(ctx, path, &block, &payload, &bytes));
    status = flx_state_read(ctx, state, payload, bytes);
    if (status != FLX_OK) // say which file it was
    {
        char why[512];
        snprintf(why, sizeof why, "%s", flx_context_error(ctx));
        status = flx__fail(ctx, status, "%s: %s", path, why);
    }

done:
    flx__free(ctx, block);
    return status;
}
