#include "reduce/full_run.h"

#include <string.h>

flx_status flx__full_run_create(flx_scene_system* scene, int32_t rounds, flx_full_run* out)
{
    flx_status       status   = FLX_OK;
    const flx_model* m        = scene->model;
    flx_context*     ctx      = scene->system->ctx;
    flx_settings     settings = m->scene->settings;

    *out               = (flx_full_run){.scene = scene, .rounds = rounds};
    settings.outer     = rounds;
    settings.precision = FLX_PRECISION_DOUBLE; // the rounding of single precision would be learnt as motion
    if (scene->by_engine)
        FLX_TRY(flx_solver_create(ctx, m, &settings, NULL, NULL, &out->solver));
    else
        FLX_TRY(flx__pd_state_create(scene->system, &out->pd));
    FLX_TRY(flx__full_run_restart(out));

done:
    if (status != FLX_OK) flx__full_run_release(out);
    return status;
}

flx_status flx__full_run_restart(flx_full_run* run)
{
    const flx_model* m     = run->scene->model;
    const size_t     bytes = 3 * (size_t)m->vertex_count * sizeof(double);
    flx_state_destroy(run->state);
    run->state              = NULL;
    const flx_status status = flx_state_create(run->scene->system->ctx, m, &run->state);
    if (status != FLX_OK || run->solver) return status;
    run->pd.frame = 0;
    memcpy(run->pd.q, run->state->x, bytes);
    memcpy(run->pd.v, run->state->v, bytes);
    return FLX_OK;
}

void flx__full_run_release(flx_full_run* run)
{
    if (!run->scene) return;
    flx__pd_state_release(run->scene->system->ctx, &run->pd);
    flx_solver_destroy(run->solver);
    flx_state_destroy(run->state);
    *run = (flx_full_run){0};
}

double* flx__full_run_velocity(flx_full_run* run)
{
    return run->solver ? run->state->v : run->pd.v;
}

flx_status flx__full_run_step(flx_full_run* run)
{
    if (run->solver) return flx_solver_step(run->solver, run->state, NULL);
    const flx_pd_drive drive  = flx__scene_system_drive(run->scene);
    const flx_status   status = flx__pd_frame(run->scene->system, &drive, run->rounds, &run->pd, NULL, NULL);
    if (status == FLX_OK) flx__scene_system_keep(run->scene, &run->pd, run->state);
    return status;
}
