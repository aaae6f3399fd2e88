// The plan of a study and the order in which it is carried out.
#include "study/study.h"

#include "reduce/varied.h"
#include "study/plot.h"

#include <stdio.h>
#include <string.h>

const char* const flx__study_load_name[FLX_STUDY_LOADS] = {"train", "3x", "unseen"};

const flx_study_method flx__study_methods[] = {
    {FLX_REDUCTION_BLOCK_DEIM, 0, 0, true, false, true, "block DEIM (as published)"},
    {FLX_REDUCTION_DEIM, 0, 0, true, false, false, "scalar DEIM"},
    {FLX_REDUCTION_GPD, 2, 0, true, true, true, "GPD, m = 2r"},
    {FLX_REDUCTION_SECS, 5, 0, true, true, true, "SECS, m = 5r"},
    {FLX_REDUCTION_QDEIM, 0, 0, false, false, false, "Q-DEIM"},
    {FLX_REDUCTION_GPDS, 3, 0, false, false, false, "GPDS, m = 3r"},
    {FLX_REDUCTION_POU, 2, 0, false, false, false, "partition of unity, m = 2r"},
    {FLX_REDUCTION_W_ECSW, 5, 0, false, false, false, "subspace + ECSW, m = 5k"},
    {FLX_REDUCTION_W_BLOCK_DEIM, 0, 0, false, false, false, "subspace + block DEIM"},
    {FLX_REDUCTION_W_GPD, 2, 2, false, false, false, "subspace + GPD, m = k = 2r"},
    {FLX_REDUCTION_W_SECS, 5, 2, false, false, false, "subspace + SECS, m = 5r, k = 2r"},
};
const int32_t flx__study_method_count = sizeof flx__study_methods / sizeof *flx__study_methods;
_Static_assert(sizeof flx__study_methods / sizeof *flx__study_methods <= FLX_PLOT_COLORS, "a colour for each method");

const flx_study_method* flx__study_method_of(flx_reduction method)
{
    for (int32_t i = 0; i < flx__study_method_count; ++i)
        if (flx__study_methods[i].method == method) return &flx__study_methods[i];
    return NULL;
}

flx_study_options flx_study_options_default(void)
{
    return (flx_study_options){.struct_size = sizeof(flx_study_options), .cloth_side = 30};
}

// --- plan -----------------------------------------------------------------------------------------------------

/// The next word of a list with commas; false at its end.
static bool next_word(const char** list, char word[32])
{
    if (!**list) return false;
    const size_t length = strcspn(*list, ",");
    snprintf(word, 32, "%.*s", (int)(length < 31 ? length : 31), *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static flx_status add_experiment(flx_study* s, const char* id)
{
    bool known = false;
    for (int32_t i = 0; i < FLX_EXPERIMENT_COUNT; ++i) known = known || strcmp(id, flx__experiment_id(i)) == 0;
    if (!known)
        return flx__fail(s->ctx, FLX_ERR_ARGUMENT,
                         "'%s' is no experiment; there are C1, B1, B1w, B2, S1, S2, T1, T2, T3, V1, V2", id);
    for (int32_t i = 0; i < s->experiment_count; ++i)
        if (strcmp(s->experiment[i].id, id) == 0) return FLX_OK;
    snprintf(s->experiment[s->experiment_count++].id, sizeof s->experiment[0].id, "%s", id);
    return FLX_OK;
}

static flx_status choose_experiments(flx_study* s, const flx_study_options* o)
{
    flx_status  status = FLX_OK;
    const char* list   = o->experiments ? o->experiments : o->quick ? "S2,T2" : NULL;
    char        word[32];
    if (!list)
        for (int32_t i = 0; i < FLX_EXPERIMENT_COUNT; ++i) FLX_TRY(add_experiment(s, flx__experiment_id(i)));
    else
        while (next_word(&list, word)) FLX_TRY(add_experiment(s, word));
    if (s->experiment_count == 0) return flx__fail(s->ctx, FLX_ERR_ARGUMENT, "no experiment to study");
done:
    return status;
}

static flx_status choose_methods(flx_study* s, const flx_study_options* o)
{
    const char* list = o->methods;
    char        word[32];
    if (!list)
        for (int32_t i = 0; i < flx__study_method_count; ++i)
        {
            if (!o->quick || flx__study_methods[i].main) s->method[s->method_count++] = &flx__study_methods[i];
        }
    while (list && next_word(&list, word))
    {
        flx_reduction                 found  = FLX_REDUCTION_COUNT;
        const flx_study_method* const method = flx__reduction_find(word, &found) ? flx__study_method_of(found) : NULL;
        if (!method)
            return flx__fail(s->ctx, FLX_ERR_ARGUMENT,
                             "'%s' is no method of the study; there are block_deim, deim, gpd, secs, qdeim, gpds, pou, "
                             "w_ecsw, w_block_deim, w_gpd, w_secs",
                             word);
        bool there = false;
        for (int32_t i = 0; i < s->method_count; ++i) there = there || s->method[i] == method;
        if (!there) s->method[s->method_count++] = method;
    }
    return s->method_count > 0 ? FLX_OK : flx__fail(s->ctx, FLX_ERR_ARGUMENT, "no method to study");
}

static flx_status choose_modes(flx_study* s, const flx_study_options* o)
{
    static const int32_t usual[] = {6, 10, 20, 40}, few[] = {6, 10};
    const int32_t*       modes = o->modes ? o->modes : o->quick ? few : usual;
    s->mode_count              = o->modes ? o->mode_count : o->quick ? 2 : 4;
    if (s->mode_count < 1 || s->mode_count > FLX_STUDY_MODES)
        return flx__fail(s->ctx, FLX_ERR_ARGUMENT, "%d numbers of modes: 1 to %d", s->mode_count, FLX_STUDY_MODES);
    for (int32_t i = 0; i < s->mode_count; ++i)
    {
        if (modes[i] < 1 || modes[i] > 200 || (i > 0 && modes[i] <= modes[i - 1]))
            return flx__fail(s->ctx, FLX_ERR_ARGUMENT, "%d modes: numbers from 1 to 200, ascending", modes[i]);
        s->modes[i] = modes[i];
        if (i == 0 || modes[i] <= 20) s->middle = modes[i];
    }
    s->wide = modes[s->mode_count - 1] + modes[s->mode_count - 1] / 2;
    return FLX_OK;
}

flx_status flx__study_create(flx_context* ctx, const flx_study_options* o, flx_study** out)
{
    flx_status status = FLX_OK;
    flx_study* s      = NULL;
    *out              = NULL;
    if (o->struct_size != sizeof *o)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "flx_study_options of another size; use flx_study_options_default()");
    if (o->cloth_side < 5 || o->cloth_side > 60)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "a cloth of %d x %d vertices: 5 to 60", o->cloth_side, o->cloth_side);
    FLX_NEW_ZERO(ctx, s, 1);
    s->ctx  = ctx;
    s->side = o->quick && o->cloth_side == 30 ? 10 : o->cloth_side;
    FLX_TRY(choose_experiments(s, o));
    FLX_TRY(choose_methods(s, o));
    FLX_TRY(choose_modes(s, o));
    *out = s;
    s    = NULL;
done:
    flx__study_destroy(s);
    return status;
}

void flx__study_destroy(flx_study* s)
{
    if (!s) return;
    flx_context* ctx = s->ctx;
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        flx__free(ctx, s->trial[i].error);
        flx__free(ctx, s->trial[i].energy);
    }
    for (int32_t i = 0; i < s->basis_count; ++i) flx__free(ctx, s->basis[i].sigma);
    for (int64_t i = 0; i < s->picture_count; ++i) flx__free(ctx, s->picture[i].rgb);
    flx__free(ctx, s->trial);
    flx__free(ctx, s->picture);
    flx__free(ctx, s->claim);
    flx__free(ctx, s);
}

// --- run ------------------------------------------------------------------------------------------------------

bool flx__study_step(flx_study* s, const char* what)
{
    const bool on = !s->progress || s->progress(s->user, what, (double)s->done / (double)s->steps);
    ++s->done;
    return on;
}

static int64_t count_steps(const flx_study* s)
{
    int64_t each = 2;
    for (int32_t m = 0; m < s->method_count; ++m) each += s->mode_count + s->method[m]->rich + 2 * s->method[m]->varied;
    return each * s->experiment_count;
}

static void describe(flx_study_experiment* e, const flx_trial_bench* bench)
{
    const flx_pd_system* system = bench->experiment->system;
    const int64_t        length = 3 * (int64_t)system->n;
    snprintf(e->title, sizeof e->title, "%s", bench->experiment->title);
    e->frames      = bench->experiment->frames;
    e->vertices    = system->n;
    e->batch_count = system->batch_count;
    for (int32_t b = 0; b < system->batch_count; ++b)
    {
        e->type[b] = system->batch[b].type->name;
        e->elements += system->batch[b].count;
    }
    for (int32_t t = 0; t <= e->frames; ++t)
    {
        const double moved = flx__pose_distance(system, bench->full[0].q + t * length, bench->full[0].q);
        e->motion          = moved > e->motion ? moved : e->motion;
    }
    for (int32_t t = 0; t <= FLX_STUDY_HORIZON * e->frames; ++t)
    {
        const double moved = flx__shape_distance(system, bench->full[1].q + t * length, bench->full[1].q);
        e->unseen_motion   = moved > e->unseen_motion ? moved : e->unseen_motion;
    }
}

/// A full-order frame without what is recorded of it.
static flx_status time_full(flx_study_experiment* e, const flx_trial_bench* bench)
{
    flx_status         status = FLX_OK;
    const flx_pd_drive drive  = flx__experiment_drive(bench->experiment, FLX_RUN_TRAIN);
    flx_pd_state       state  = {0};
    FLX_TRY(flx__experiment_start(bench->experiment, FLX_RUN_TRAIN, &state));
    const double start = flx__now();
    for (int32_t f = 0; f < e->frames; ++f)
        FLX_TRY(flx__pd_frame(bench->experiment->system, &drive, FLX_LAB_ROUNDS, &state, NULL, NULL));
    e->full_ms = 1e3 * (flx__now() - start) / e->frames;
done:
    flx__pd_state_release(bench->experiment->system->ctx, &state);
    return status;
}

static flx_status run_experiment(flx_study* s, int32_t i)
{
    flx_status                status = FLX_OK;
    flx_study_experiment*     e      = &s->experiment[i];
    flx_trial_bench           bench  = {0};
    const flx_experiment_size size   = {.cloth_side = s->side, .box_cells = flx__experiment_size_default().box_cells};
    if (!flx__study_step(s, e->id)) return flx__fail(s->ctx, FLX_ERR_CANCELLED, "stopped");
    FLX_TRY(flx__trial_bench_create(s->ctx, e->id, &size, FLX_STUDY_HORIZON, &bench));
    describe(e, &bench);
    FLX_TRY(time_full(e, &bench));
    FLX_TRY(flx__study_steady(s, &bench, NULL, &e->stability, NULL));
    FLX_TRY(flx__study_round(s, &bench, NULL, &e->stability));
    if (!flx__study_step(s, e->id)) return flx__fail(s->ctx, FLX_ERR_CANCELLED, "stopped");
    FLX_TRY(flx__study_bases(s, i, &bench));
    FLX_TRY(flx__study_trials(s, i, &bench));
done:
    flx__trial_bench_release(s->ctx, &bench);
    return status;
}

flx_status flx__study_run(flx_study* s, flx_progress_fn progress, void* user)
{
    flx_status status = FLX_OK;
    s->progress       = progress;
    s->user           = user;
    s->steps          = count_steps(s);
    s->begin          = flx__now();
    for (int32_t i = 0; i < s->experiment_count; ++i) FLX_TRY(run_experiment(s, i));
    s->seconds = flx__now() - s->begin;
done:
    return status;
}

const flx_study_trial* flx__study_find(const flx_study* s, const char* experiment, flx_reduction method, int32_t asked,
                                       int32_t part)
{
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method == method && t->asked == asked && t->part == part &&
            strcmp(s->experiment[t->experiment].id, experiment) == 0)
            return t;
    }
    return NULL;
}

bool flx__study_fine(const flx_study_trial* t)
{
    for (int k = 0; k < FLX_STUDY_LOADS; ++k)
        if (t->judged[k] && (t->verdict[k].exploded || t->verdict[k].distorted)) return false;
    return t->verdict[FLX_STUDY_TRAIN].error <= FLX_STUDY_OK_ERROR;
}

// --- public ---------------------------------------------------------------------------------------------------

/// `path` with another ending, by the caller to be freed.
static char* beside(flx_context* ctx, const char* path, const char* ending)
{
    const size_t length = strlen(path), html = length > 5 && strcmp(path + length - 5, ".html") == 0 ? 5 : 0;
    return flx__format(ctx, "%.*s%s", (int)(length - html), path, ending);
}

flx_status flx_study_deim(flx_context* ctx, const flx_study_options* options, const char* path,
                          flx_progress_fn progress, void* user)
{
    FLX_ASSERT(ctx && options && path);
    flx_status status = FLX_OK;
    flx_study* study  = NULL;
    char*      csv    = beside(ctx, path, ".csv");
    char*      json   = beside(ctx, path, ".json");
    if (!csv || !json)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    FLX_TRY(flx__study_create(ctx, options, &study));
    FLX_TRY(flx__study_run(study, progress, user));
    FLX_TRY(flx__study_write_csv(study, csv, options->overwrite));
    FLX_TRY(flx__study_write_page(study, path, options->overwrite));
    FLX_TRY(flx__study_write_claims(study, json, options->overwrite));
done:
    flx__free(ctx, csv);
    flx__free(ctx, json);
    flx__study_destroy(study);
    return status;
}
