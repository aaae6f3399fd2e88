#include "reduce/trial.h"

#include "reduce/varied.h"

#include <math.h>
#include <string.h>

flx_status flx__trial_bench_create(flx_context* ctx, const char* id, const flx_experiment_size* size, int32_t horizon,
                                   flx_trial_bench* out)
{
    flx_status   status = FLX_OK;
    flx_pd_state state  = {0};
    *out                = (flx_trial_bench){0};
    FLX_TRY(flx__experiment_create(ctx, id, size, &out->experiment));
    const int32_t frames = horizon * out->experiment->frames;
    const double  start  = flx__now();
    for (int32_t run = 0; run < FLX_TRIAL_RUNS; ++run)
    {
        const flx_pd_drive drive = flx__experiment_drive(out->experiment, run);
        FLX_TRY(flx__record_create(out->experiment->system, frames, &out->full[run]));
        FLX_TRY(flx__experiment_start(out->experiment, run, &state));
        FLX_TRY(flx__record_run(&out->full[run], &drive, FLX_LAB_ROUNDS, &state));
        flx__pd_state_release(ctx, &state);
    }
    out->full_ms = 1e3 * (flx__now() - start) / (FLX_TRIAL_RUNS * frames);

done:
    flx__pd_state_release(ctx, &state);
    if (status != FLX_OK) flx__trial_bench_release(ctx, out);
    return status;
}

void flx__trial_bench_release(flx_context* ctx, flx_trial_bench* bench)
{
    (void)ctx;
    for (int32_t run = 0; run < FLX_TRIAL_RUNS; ++run)
        if (bench->full[run].system) flx__record_release(&bench->full[run]);
    flx__experiment_destroy(bench->experiment);
    *bench = (flx_trial_bench){0};
}

flx_status flx__trial_train(const flx_trial_bench* bench, const flx_reduction_options* options, flx_reduced_model** out)
{
    const flx_experiment* e = bench->experiment;
    int32_t               limit[FLX_EXPERIMENT_BATCHES];
    for (int32_t b = 0; b < e->system->batch_count; ++b) limit[b] = e->batch_frames[b] + 1; // frame 0 counts too
    const flx_training training = {.frame_count = e->frames + 1, .q = bench->full[0].q, .batch_limit = limit};
    return flx__reduce_train(e->system, &training, options, out);
}

/// Append every FLX_LAB_STRIDE-th frame of a run to q [count ..][n][3].
static flx_status learn_run(const flx_experiment* e, int32_t run, double* q, int32_t* count)
{
    flx_status         status = FLX_OK;
    const size_t       length = 3 * (size_t)e->system->n;
    const flx_pd_drive drive  = flx__experiment_drive(e, run);
    flx_pd_state       state  = {0};
    FLX_TRY(flx__experiment_start(e, run, &state));
    for (int32_t f = 0; f <= e->frames; ++f)
    {
        if (f > 0) FLX_TRY(flx__pd_frame(e->system, &drive, FLX_LAB_ROUNDS, &state, NULL, NULL));
        if (f % FLX_LAB_STRIDE == 0) memcpy(q + length * (size_t)(*count)++, state.q, length * sizeof *q);
    }
done:
    flx__pd_state_release(e->system->ctx, &state);
    return status;
}

flx_status flx__trial_train_on_all(const flx_trial_bench* bench, const flx_reduction_options* options,
                                   flx_reduced_model** out)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    const int64_t         each   = e->frames / FLX_LAB_STRIDE + 1;
    int32_t               count  = 0;
    double*               q      = NULL;
    *out                         = NULL;
    FLX_NEW(e->system->ctx, q, each * e->run_count * 3 * e->system->n);
    for (int32_t run = 0; run < e->run_count; ++run)
        if (run != FLX_RUN_UNSEEN) FLX_TRY(learn_run(e, run, q, &count));
    const flx_training training = {.frame_count = count, .q = q};
    FLX_TRY(flx__reduce_train(e->system, &training, options, out));
done:
    flx__free(e->system->ctx, q);
    return status;
}

/// Append every FLX_LAB_STRIDE-th frame of a varied run to q.
static flx_status learn_varied(const flx_trial_bench* bench, int32_t run, double* q, int32_t* count)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    const size_t          length = 3 * (size_t)e->system->n;
    const flx_pd_drive    drive  = flx__experiment_drive(e, FLX_RUN_TRAIN);
    flx_pd_state          state  = {0};
    flx_varied            varied = {0};
    FLX_TRY(flx__varied_create(e->system, e->frames, 1, bench->full[FLX_RUN_TRAIN].q, run, &varied));
    FLX_TRY(flx__experiment_start(e, FLX_RUN_TRAIN, &state));
    for (int32_t f = 1; f <= e->frames; ++f)
    {
        flx__varied_push(&varied, f, state.v);
        FLX_TRY(flx__pd_frame(e->system, &drive, FLX_LAB_ROUNDS, &state, NULL, NULL));
        flx__varied_watch(&varied, f, state.q);
        if (f % FLX_LAB_STRIDE == 0) memcpy(q + length * (size_t)(*count)++, state.q, length * sizeof *q);
    }
done:
    flx__varied_release(&varied);
    flx__pd_state_release(e->system->ctx, &state);
    return status;
}

flx_status flx__trial_train_varied(const flx_trial_bench* bench, const flx_reduction_options* options, int32_t runs,
                                   flx_reduced_model** out)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    const int64_t         length = 3 * (int64_t)e->system->n, each = e->frames / FLX_LAB_STRIDE;
    int32_t               count = e->frames + 1;
    double*               q     = NULL;
    *out                        = NULL;
    FLX_NEW(e->system->ctx, q, (count + runs * each) * length);
    memcpy(q, bench->full[FLX_RUN_TRAIN].q, (size_t)(count * length) * sizeof *q);
    for (int32_t run = 0; run < runs; ++run) FLX_TRY(learn_varied(bench, run, q, &count));
    const flx_training training = {.frame_count = count, .q = q};
    FLX_TRY(flx__reduce_train(e->system, &training, options, out));
done:
    flx__free(e->system->ctx, q);
    return status;
}

static void describe(const flx_reduced_model* model, flx_trial* out)
{
    out->least     = 1.0;
    out->modes     = model->subspace > 0 && model->modes == 0 ? model->subspace : model->modes;
    out->offline_s = model->seconds;
    for (int32_t b = 0; b < model->batch_count; ++b)
    {
        out->norm = fmax(out->norm, model->batch[b].norm);
        if (model->batch[b].weight && model->batch[b].least > 0.0) out->least = fmin(out->least, model->batch[b].least);
        out->elements += model->batch[b].element_count;
    }
}

flx_status flx__trial_run(const flx_trial_bench* bench, const flx_reduced_model* model, int32_t run, int32_t frames,
                          flx_trial* out)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    flx_context*          ctx    = e->system->ctx;
    const flx_pd_drive    drive  = flx__experiment_drive(e, run);
    flx_reduced_solver*   solver = NULL;
    flx_pd_state          state  = {0};
    flx_run_record        record = {0};
    double                busy   = 0.0;

    *out = (flx_trial){0};
    describe(model, out);
    for (int32_t b = 0; b < e->system->batch_count; ++b) out->all += e->system->batch[b].count;
    FLX_TRY(flx__reduced_solver_create(e->system, model, &solver));
    FLX_TRY(flx__record_create(e->system, frames, &record));
    FLX_TRY(flx__experiment_start(e, run, &state));
    flx__reduced_start(solver, &state);
    flx__record_put(&record, &state);
    for (int32_t f = 0; f < frames && status == FLX_OK; ++f)
    {
        const double start = flx__now();
        status             = flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, NULL, NULL);
        flx__reduced_read(solver, &state);
        busy += flx__now() - start;
        if (status == FLX_OK) flx__record_put(&record, &state);
    }
    if (status == FLX_ERR_NONFINITE) status = FLX_OK;
    const flx_reduced_counts counts = flx__reduced_counts_of(solver);
    out->frame_ms                   = 1e3 * busy / (double)counts.frames;
    out->projections                = (double)counts.projections / (double)counts.rounds;
    out->verdict                    = flx__judge(&bench->full[run], &record, frames);

done:
    flx__record_release(&record);
    flx__pd_state_release(ctx, &state);
    flx__reduced_solver_destroy(solver);
    return status;
}
