// The public interface of snapshots: a scene's full-order run, streamed to files.
#include "flexor/reduce.h"
#include "reduce/full_run.h"
#include "reduce/snapshots.h"

#include <math.h>
#include <string.h>

flx_snapshot_desc flx_snapshot_desc_default(void)
{
    return (flx_snapshot_desc){
        .struct_size = sizeof(flx_snapshot_desc), .set = "train", .kind = "frames", .every = 1, .rounds = 20};
}

static flx_status read_desc(flx_context* ctx, const flx_snapshot_desc* d, const char* stem, flx_snapshot_options* out)
{
    static const char* const kinds[] = {"frames", "last", "all"}; // as flx_snapshot_kind
    if (d->struct_size != sizeof *d) return flx__fail(ctx, FLX_ERR_ARGUMENT, "a description of another size");
    int kind = 0;
    while (kind < 3 && (!d->kind || strcmp(d->kind, kinds[kind]) != 0)) ++kind;
    if (kind == 3)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "snapshots of kind '%s': it must be frames, last or all",
                         d->kind ? d->kind : "");
    if (d->every < 1 || d->rounds < 1 || d->rounds > 10000 || d->frames < 0)
        return flx__fail(ctx, FLX_ERR_ARGUMENT,
                         "snapshots: every = %d must be positive, rounds = %d in [1, 10000], frames = %d not negative",
                         d->every, d->rounds, d->frames);
    *out           = flx__snapshot_options_default(d->set);
    out->kind      = (flx_snapshot_kind)kind;
    out->every     = d->every;
    out->rounds    = d->rounds;
    out->stem      = stem;
    out->overwrite = d->overwrite;
    return FLX_OK;
}

/// The laboratory's rounds, which can be watched.
static flx_status add_rounds(flx_snapshots* set, flx_scene_system* scene, int32_t steps, flx_progress_fn progress,
                             void* user)
{
    flx_status         status = FLX_OK;
    flx_context*       ctx    = scene->system->ctx;
    const flx_pd_drive drive  = flx__scene_system_drive(scene);
    const size_t       bytes  = 3 * sizeof(double) * (size_t)scene->system->n;
    flx_state*         start  = NULL;
    flx_pd_state       state  = {0};
    FLX_TRY(flx_state_create(ctx, scene->model, &start));
    FLX_TRY(flx__pd_state_create(scene->system, &state));
    memcpy(state.q, start->x, bytes);
    memcpy(state.v, start->v, bytes);
    FLX_TRY(flx__snapshots_add_run(set, &drive, steps, &state, progress, user));
done:
    flx__pd_state_release(ctx, &state);
    flx_state_destroy(start);
    return status;
}

/// The engine's steps, of which only ends are seen.
static flx_status add_steps(flx_snapshots* set, flx_scene_system* scene, int32_t steps, flx_progress_fn progress,
                            void* user)
{
    flx_status   status = FLX_OK;
    flx_full_run run    = {0};
    FLX_TRY(flx__full_run_create(scene, set->options.rounds, &run));
    for (int32_t step = 0; step <= steps; ++step)
    {
        if (step > 0) FLX_TRY(flx__full_run_step(&run));
        if (step % set->options.every == 0) FLX_TRY(flx__snapshots_add_pose(set, step, run.state->x));
        if (progress && !progress(user, "full-order run", step / fmax(steps, 1)))
            FLX_TRY(flx__fail(scene->system->ctx, FLX_ERR_CANCELLED, "cancelled"));
    }
    ++set->runs;
done:
    flx__full_run_release(&run);
    return status;
}

flx_status flx_reduction_snapshots(flx_context* ctx, const flx_model* model, const flx_snapshot_desc* desc,
                                   const char* stem, flx_progress_fn progress, void* user, int32_t* files)
{
    FLX_ASSERT(ctx && model && stem);
    flx_status              status   = FLX_OK;
    const flx_snapshot_desc standard = flx_snapshot_desc_default();
    const flx_snapshot_desc d        = desc ? *desc : standard;
    flx_scene_system        scene    = {0};
    flx_snapshots*          set      = NULL;
    flx_snapshot_options    options;

    FLX_TRY(read_desc(ctx, &d, stem, &options));
    FLX_TRY(flx__scene_system_create(ctx, model, &scene));
    if (scene.by_engine && options.kind != FLX_SNAPSHOT_FRAMES)
        FLX_TRY(flx__fail(ctx, FLX_ERR_UNSUPPORTED,
                          "snapshots of kind '%s': this scene's full order is the engine's, whose local steps are not "
                          "seen; take kind 'frames'",
                          d.kind));
    const int32_t steps = flx__scene_system_steps(&scene, d.frames);
    options.keep        = scene.keep;
    FLX_TRY(flx__snapshots_create(scene.system, &options, &set));
    FLX_TRY(flx__snapshots_claim(set, steps));
    FLX_TRY((scene.by_engine ? add_steps : add_rounds)(set, &scene, steps, progress, user));
    FLX_TRY(flx__snapshots_flush(set));
    if (files) *files = set->parts;

done:
    flx__snapshots_destroy(set);
    flx__scene_system_release(&scene);
    return status;
}
