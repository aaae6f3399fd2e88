// Read a scene, compile it, take ten steps, print how they go.
#include <flexor/flexor.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    flx_context* ctx    = NULL;
    flx_scene*   scene  = NULL;
    flx_model*   model  = NULL;
    flx_solver*  solver = NULL;
    flx_state*   state  = NULL;
    if (argc != 2 || flx_context_create(NULL, &ctx)) return 2;
    if (flx_scene_read(ctx, argv[1], NULL, &scene) || flx_model_compile(ctx, scene, NULL, NULL, &model) ||
        flx_solver_create(ctx, model, NULL, NULL, NULL, &solver) || flx_state_create(ctx, model, &state))
        return fprintf(stderr, "%s\n", flx_context_error(ctx)), 1;

    flx_step_stats stats;
    for (int i = 0; i < 10 && flx_solver_step(solver, state, &stats) == FLX_OK; ++i)
        printf("t = %.3f s, energy %.3g J, %d contacts\n", flx_state_time(state), stats.energy, stats.active);

    flx_state_destroy(state), flx_solver_destroy(solver), flx_model_destroy(model);
    flx_scene_destroy(ctx, scene), flx_context_destroy(ctx);
    return 0;
}
