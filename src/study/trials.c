// Trials: a model is trained, run on both loads for three horizons, and judged.
#include "study/study.h"

#include "reduce/varied.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// As flx__trial_run() runs it, but the record is kept.
static flx_status run(const flx_trial_bench* bench, const flx_reduced_model* model, int32_t load, int32_t frames,
                      flx_trial* numbers, flx_run_record* record)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    const flx_pd_drive    drive  = flx__experiment_drive(e, load);
    flx_reduced_solver*   solver = NULL;
    flx_pd_state          state  = {0};
    double                busy   = 0.0;
    FLX_TRY(flx__reduced_solver_create(e->system, model, &solver));
    FLX_TRY(flx__record_create(e->system, frames, record));
    FLX_TRY(flx__experiment_start(e, load, &state));
    flx__reduced_start(solver, &state);
    flx__record_put(record, &state);
    for (int32_t f = 0; f < frames && status == FLX_OK; ++f)
    {
        const double start = flx__now();
        status             = flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, NULL, NULL);
        flx__reduced_read(solver, &state);
        busy += flx__now() - start;
        if (status == FLX_OK) flx__record_put(record, &state);
    }
    if (status == FLX_ERR_NONFINITE) status = FLX_OK; // a verdict, not an error
    const flx_reduced_counts counts = flx__reduced_counts_of(solver);
    numbers->frame_ms               = 1e3 * busy / (double)counts.frames;
    numbers->projections            = (double)counts.projections / (double)counts.rounds;
done:
    flx__pd_state_release(e->system->ctx, &state);
    flx__reduced_solver_destroy(solver);
    return status;
}

static void describe(const flx_trial_bench* bench, const flx_reduced_model* model, flx_trial* out)
{
    out->least     = 1.0;
    out->modes     = model->modes > 0 ? model->modes : model->subspace;
    out->offline_s = model->seconds;
    for (int32_t b = 0; b < model->batch_count; ++b)
    {
        const flx_reduced_batch* batch = &model->batch[b];
        out->norm                      = fmax(out->norm, batch->norm);
        if (batch->weight) out->least = fmin(out->least, batch->least);
        out->elements += batch->element_count;
        out->all += bench->experiment->system->batch[b].count;
    }
}

static flx_status keep_curves(flx_study* s, const flx_trial_bench* bench, const flx_run_record* record,
                              flx_study_trial* t)
{
    flx_status            status = FLX_OK;
    const flx_run_record* full   = &bench->full[0];
    const int64_t         length = 3 * (int64_t)full->system->n;
    double                most   = 0.0;
    t->frames                    = record->frames;
    FLX_NEW(s->ctx, t->error, t->frames + 1);
    FLX_NEW(s->ctx, t->energy, t->frames + 1);
    for (int32_t f = 0; f <= t->frames; ++f) most = fmax(most, full->elastic[f] + full->kinetic[f]);
    for (int32_t f = 0; f <= t->frames; ++f)
    {
        const bool there = f < record->count;
        t->error[f]      = there ? flx__pose_distance(full->system, record->q + f * length, full->q + f * length) : NAN;
        t->energy[f]     = there ? (record->elastic[f] + record->kinetic[f]) / most : NAN;
    }
done:
    return status;
}

// --- pictures of a few ------------------------------------------------------------------------------------------

static bool is_shown(const char* id)
{
    return strcmp(id, "S2") == 0 || strcmp(id, "T2") == 0 || strcmp(id, "B1w") == 0;
}

static bool is_drawn(const flx_study* s, const char* id, const flx_study_trial* t)
{
    static const flx_reduction methods[] = {FLX_REDUCTION_BLOCK_DEIM, FLX_REDUCTION_DEIM, FLX_REDUCTION_SECS};
    bool                       one       = false;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) one = one || t->method == methods[i];
    return one && t->part == FLX_STUDY_ALL && t->asked == s->middle && is_shown(id);
}

/// The last frame before the pose is beyond twice the body, or the last of training.
static int32_t picture_frame(const flx_study_trial* t, int32_t frames)
{
    int32_t f = 0;
    while (f < frames && t->error[f + 1] < 0.3) ++f;
    return f;
}

static flx_status draw_pose(flx_study* s, int32_t i, const flx_trial_bench* bench, const flx_run_record* record,
                            const flx_study_trial* t)
{
    const flx_study_experiment* e = &s->experiment[i];
    char                        caption[160];
    const int32_t               f = picture_frame(t, e->frames);
    snprintf(caption, sizeof caption, "%s, %s, r = %d, frame %d%s", e->id, flx__study_method_of(t->method)->label,
             t->asked, f, f < e->frames ? ": the last one to look at" : "");
    return flx__study_draw(s, bench, record->q + (int64_t)f * 3 * e->vertices, NULL, i, caption);
}

/// The pose at mid-training moved along the direction in which a disturbance grows most; colours: how far.
static flx_status draw_direction(flx_study* s, const flx_trial_bench* bench, const flx_study_trial* t,
                                 const double* direction)
{
    flx_status                  status = FLX_OK;
    const flx_study_experiment* e      = &s->experiment[t->experiment];
    const double *              q = bench->full[0].q + (int64_t)(e->frames / 2) * 3 * e->vertices, *u = direction;
    double *                    pose = NULL, *far = NULL, most = 1e-300;
    char                        caption[160];
    FLX_NEW(s->ctx, pose, 3 * (int64_t)e->vertices);
    FLX_NEW(s->ctx, far, e->vertices);
    for (int32_t i = 0; i < e->vertices; ++i, u += 3)
    {
        far[i] = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        most   = fmax(most, far[i]);
    }
    for (int32_t i = 0; i < e->vertices; ++i) far[i] /= most;
    for (int64_t i = 0; i < 3 * (int64_t)e->vertices; ++i)
        pose[i] = q[i] + 0.15 * bench->experiment->system->size * direction[i] / most;
    snprintf(caption, sizeof caption, "%s at mid-training: what grows most with block DEIM, r = %d, %.3g times a frame",
             e->id, t->asked, t->stability.growth);
    FLX_TRY(flx__study_draw(s, bench, pose, far, -1, caption));
done:
    flx__free(s->ctx, pose);
    flx__free(s->ctx, far);
    return status;
}

static flx_status probe(flx_study* s, const flx_trial_bench* bench, const flx_reduced_model* model, flx_study_trial* t)
{
    flx_status                  status    = FLX_OK;
    const flx_study_experiment* e         = &s->experiment[t->experiment];
    double*                     direction = NULL;
    FLX_NEW_ZERO(s->ctx, direction, 3 * (int64_t)e->vertices);
    FLX_TRY(flx__study_steady(s, bench, model, &t->stability, direction));
    FLX_TRY(flx__study_round(s, bench, model, &t->stability));
    if (t->method == FLX_REDUCTION_BLOCK_DEIM && isfinite(t->stability.growth) && is_shown(e->id))
        FLX_TRY(draw_direction(s, bench, t, direction));
done:
    flx__free(s->ctx, direction);
    return status;
}

// --- one trial --------------------------------------------------------------------------------------------------

static flx_status run_loads(flx_study* s, int32_t i, const flx_trial_bench* bench, const flx_reduced_model* model,
                            flx_study_trial* t)
{
    flx_status     status  = FLX_OK;
    const int32_t  F       = bench->experiment->frames;
    const bool     brief   = t->part >= 0; // one constraint at a time: figure 4's own horizon
    flx_run_record record  = {0};
    flx_trial      unseen  = {0};
    const int32_t  horizon = brief ? F : FLX_STUDY_HORIZON * F;
    FLX_TRY(run(bench, model, FLX_RUN_TRAIN, horizon, &t->numbers, &record));
    t->verdict[FLX_STUDY_TRAIN] = flx__judge(&bench->full[0], &record, F);
    t->judged[FLX_STUDY_TRAIN]  = true;
    FLX_TRY(keep_curves(s, bench, &record, t));
    if (is_drawn(s, s->experiment[i].id, t)) FLX_TRY(draw_pose(s, i, bench, &record, t));
    if (brief) goto done;
    t->verdict[FLX_STUDY_LONG] = flx__judge(&bench->full[0], &record, horizon);
    t->judged[FLX_STUDY_LONG]  = true;
    flx__record_release(&record);
    FLX_TRY(run(bench, model, FLX_RUN_UNSEEN, horizon, &unseen, &record));
    t->verdict[FLX_STUDY_UNSEEN] = flx__judge(&bench->full[1], &record, horizon);
    t->judged[FLX_STUDY_UNSEEN]  = true;
done:
    flx__record_release(&record);
    return status;
}

static flx_status run_trial(flx_study* s, int32_t i, const flx_trial_bench* bench, const flx_study_method* method,
                            int32_t r, int32_t part)
{
    flx_status            status  = FLX_OK;
    flx_reduction_options options = flx__reduction_options_default(method->method, r);
    flx_reduced_model*    model   = NULL;
    flx_study_trial       t       = {.experiment = i, .method = method->method, .asked = r, .part = part};
    t.batches                     = part < 0 ? UINT32_MAX : 1U << part;
    options.elements              = method->each * r;
    options.subspace              = method->inside * r;
    options.batches               = t.batches;
    options.force                 = true; // what would be refused is what is studied
    if (method->method == FLX_REDUCTION_BLOCK_DEIM) options.truncation = 0.0; // as published: modes of rounding too
    if (part == FLX_STUDY_VARIED) options.match = FLX_VARIED_MATCH;
    FLX_TRY(part == FLX_STUDY_RICH     ? flx__trial_train_on_all(bench, &options, &model)
            : part == FLX_STUDY_VARIED ? flx__trial_train_varied(bench, &options, FLX_STUDY_RUNS, &model)
                                       : flx__trial_train(bench, &options, &model));
    describe(bench, model, &t.numbers);
    FLX_TRY(run_loads(s, i, bench, model, &t));
    if (part == FLX_STUDY_ALL && r == s->middle) FLX_TRY(probe(s, bench, model, &t));
    FLX_RESERVE(s->ctx, s->trial, s->trial_capacity, s->trial_count + 1);
    s->trial[s->trial_count++] = t;
    t.error = t.energy = NULL;
done:
    flx__free(s->ctx, t.error);
    flx__free(s->ctx, t.energy);
    flx__reduced_model_destroy(model);
    return status;
}

/// Of experiments with several constraints, each by itself, as in [MPB] figure 4: block DEIM up to as many modes as
/// there are frames, and the others at the middle number.
static flx_status run_parts(flx_study* s, int32_t i, const flx_trial_bench* bench, const flx_study_method* method)
{
    flx_status status = FLX_OK;
    for (int32_t part = 0; part < s->experiment[i].batch_count; ++part)
        for (int32_t k = 0; k <= s->mode_count; ++k)
        {
            const int32_t r = k < s->mode_count ? s->modes[k] : bench->experiment->frames;
            if (method->method != FLX_REDUCTION_BLOCK_DEIM && r != s->middle) continue;
            if (k == s->mode_count && r <= s->modes[k - 1]) continue;
            FLX_TRY(run_trial(s, i, bench, method, r, part));
        }
done:
    return status;
}

static flx_status draw_full(flx_study* s, int32_t i, const flx_trial_bench* bench)
{
    const flx_study_experiment* e = &s->experiment[i];
    char                        caption[160];
    snprintf(caption, sizeof caption, "%s, full order, frame %d", e->id, e->frames);
    return flx__study_draw(s, bench, bench->full[0].q + (int64_t)e->frames * 3 * e->vertices, NULL, i, caption);
}

flx_status flx__study_trials(flx_study* s, int32_t i, const flx_trial_bench* bench)
{
    flx_status status = FLX_OK;
    char       what[64];
    if (is_shown(s->experiment[i].id)) FLX_TRY(draw_full(s, i, bench));
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        for (int32_t k = 0; k < s->mode_count; ++k)
        {
            snprintf(what, sizeof what, "%s %s r=%d", s->experiment[i].id, flx__reduction_name(s->method[m]->method),
                     s->modes[k]);
            if (!flx__study_step(s, what)) return flx__fail(s->ctx, FLX_ERR_CANCELLED, "stopped");
            FLX_TRY(run_trial(s, i, bench, s->method[m], s->modes[k], FLX_STUDY_ALL));
        }
        if (s->method[m]->rich)
        {
            if (!flx__study_step(s, s->experiment[i].id)) return flx__fail(s->ctx, FLX_ERR_CANCELLED, "stopped");
            FLX_TRY(run_trial(s, i, bench, s->method[m], s->modes[s->mode_count - 1], FLX_STUDY_RICH));
        }
        for (int32_t part = FLX_STUDY_WIDE; s->method[m]->varied && part >= FLX_STUDY_VARIED; --part)
        {
            snprintf(what, sizeof what, "%s %s%s r=%d", s->experiment[i].id, flx__reduction_name(s->method[m]->method),
                     part == FLX_STUDY_VARIED ? " varied" : "", s->wide);
            if (!flx__study_step(s, what)) return flx__fail(s->ctx, FLX_ERR_CANCELLED, "stopped");
            FLX_TRY(run_trial(s, i, bench, s->method[m], s->wide, part));
        }
        if (s->experiment[i].batch_count > 1 && s->method[m]->main) FLX_TRY(run_parts(s, i, bench, s->method[m]));
    }
done:
    return status;
}
