// Read a scene, compile it, take ten steps, say where the first vertex went.
#include <flexor/flexor.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    flx_context* ctx    = NULL;
    flx_scene*   scene  = NULL;
    flx_model*   model  = NULL;
    flx_solver*  solver = NULL;
    flx_state*   state  = NULL;
    if (argc != 2 || flx_context_create(NULL, &ctx) != FLX_OK) return 2;

    flx_status status = flx_scene_read(ctx, argv[1], NULL, &scene);
    if (status == FLX_OK) status = flx_model_compile(ctx, scene, NULL, NULL, &model);
    if (status == FLX_OK) status = flx_solver_create(ctx, model, NULL, NULL, NULL, &solver);
    if (status == FLX_OK) status = flx_state_create(ctx, model, &state);
    for (int i = 0; i < 10 && status == FLX_OK; ++i)
    {
        flx_step_stats stats;
        status = flx_solver_step(solver, state, &stats);
        if (status == FLX_OK) printf("t = %.3f s, energy %.3g J\n", flx_state_time(state), stats.energy);
    }
    if (status != FLX_OK) fprintf(stderr, "%s\n", flx_context_error(ctx));

    flx_state_destroy(state);
    flx_solver_destroy(solver);
    flx_model_destroy(model);
    flx_scene_destroy(ctx, scene);
    flx_context_destroy(ctx);
    return status == FLX_OK ? 0 : 1;
}
