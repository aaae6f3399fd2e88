#include "study.h"

void study_check(flx_context* ctx, flx_status status)
{
    if (status == FLX_OK) return;
    fprintf(stderr, "%s: %s\n", flx_status_name(status), ctx ? flx_context_error(ctx) : "no context");
    exit(1);
}

void* study_alloc(size_t count, size_t size)
{
    void* memory = calloc(count ? count : 1, size);
    if (memory) return memory;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

static void say(void* user, flx_log_level level, const char* text)
{
    (void)user;
    if (level <= FLX_LOG_NOTICE) fprintf(stderr, "%s\n", text);
}

flx_context* study_context(void)
{
    flx_context*     ctx  = NULL;
    flx_context_desc desc = flx_context_desc_default();
    desc.log              = say;
    study_check(NULL, flx_context_create(&desc, &ctx));
    return ctx;
}

flx_scene* study_scene(flx_context* ctx, const char* path, int override_count, char** overrides)
{
    flx_scene*        scene   = NULL;
    flx_scene_options options = flx_scene_options_default();
    options.override_count    = override_count;
    options.overrides         = (const char* const*)overrides;
    study_check(ctx, flx_scene_read(ctx, path, &options, &scene));
    return scene;
}

flx_model* study_model(flx_context* ctx, const flx_scene* scene)
{
    flx_model* model = NULL;
    study_check(ctx, flx_model_compile(ctx, scene, NULL, NULL, &model));
    return model;
}

flx_solver* study_solver(flx_context* ctx, const flx_model* model, const flx_settings* settings)
{
    flx_solver* solver = NULL;
    study_check(ctx, flx_solver_create(ctx, model, settings, NULL, NULL, &solver));
    return solver;
}

flx_state* study_state(flx_context* ctx, const flx_model* model)
{
    flx_state* state = NULL;
    study_check(ctx, flx_state_create(ctx, model, &state));
    return state;
}
