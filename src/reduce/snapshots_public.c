// The public interface of snapshots: a scene's full-order run, streamed to files.
#include "flexor/reduce.h"
#include "reduce/scene_system.h"
#include "reduce/snapshots.h"
#include "solver/state.h"

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

flx_status flx_reduction_snapshots(flx_context* ctx, const flx_model* model, const flx_snapshot_desc* desc,
                                   const char* stem, flx_progress_fn progress, void* user, int32_t* files)
{
    FLX_ASSERT(ctx && model && stem);
    flx_status              status   = FLX_OK;
    const flx_snapshot_desc standard = flx_snapshot_desc_default();
    const flx_snapshot_desc d        = desc ? *desc : standard;
    flx_scene_system        scene    = {0};
    flx_snapshots*          set      = NULL;
    flx_state*              start    = NULL;
    flx_pd_state            state    = {0};
    flx_snapshot_options    options;

    FLX_TRY(read_desc(ctx, &d, stem, &options));
    FLX_TRY(flx__scene_system_create(ctx, model, &scene));
    FLX_TRY(flx_state_create(ctx, model, &start));
    FLX_TRY(flx__pd_state_create(scene.system, &state));
    memcpy(state.q, start->x, 3 * sizeof(double) * (size_t)scene.system->n);
    memcpy(state.v, start->v, 3 * sizeof(double) * (size_t)scene.system->n);
    options.keep = scene.keep;
    FLX_TRY(flx__snapshots_create(scene.system, &options, &set));
    const flx_pd_drive drive = flx__scene_system_drive(&scene);
    const int32_t      steps = (d.frames > 0 ? d.frames : model->scene->run.frames) * model->scene->settings.substeps;
    FLX_TRY(flx__snapshots_add_run(set, &drive, steps, &state, progress, user));
    FLX_TRY(flx__snapshots_flush(set));
    if (files) *files = set->parts;

done:
    flx__snapshots_destroy(set);
    flx__pd_state_release(ctx, &state);
    flx_state_destroy(start);
    flx__scene_system_release(&scene);
    return status;
}
