// Reduced models against the full order: error and time of a frame, by method and size.
//
//   bench_reduced train EXPERIMENT FOLDER [options]   models of every method and size into FOLDER; takes its time
//   bench_reduced race EXPERIMENT FOLDER [options]    runs each of them beside the full order, by turns
//   bench_reduced engine EXPERIMENT FOLDER [options]  steps of flx_solver, the same mesh as a scene, as many rounds
//     --methods a,b,...   --modes r,r,... or r:k,r:k,... with a subspace's k   --elements m (0: five a mode, fits two)
//     --side N (cloth)   --cells N (box)   --workers N   --precision double,single (of subspaces)   --csv FILE
//
// Models are trained on the training run and race on it. The full order is the laboratory's, in double precision with
// wide kernels (reduce/system.c). Both work on the same workers. They take turns of BLOCK reduced frames and
// FULL_FRAMES full ones. A reduced frame is timed twice: alone, as when nobody asks for its positions, and with reading
// them.
#include "reduced_engine.h"

#include "reduce/model_file.h"
#include "reduce/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 10
#define FULL_FRAMES 3
#define MOST_FRAMES 128

typedef struct options
{
    const char *        verb, *id, *folder, *methods, *modes, *precision, *csv;
    flx_experiment_size size;
    int32_t             workers, elements;
} options;

typedef struct times
{
    int    count;
    double ms[MOST_FRAMES];
} times;

typedef struct race
{
    options         want;
    flx_context*    ctx;
    flx_trial_bench bench;
    FILE*           csv;
    flx_pd_state    full; // where the full order's turns have come to
} race;

static int compare(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double middle(times* t)
{
    if (t->count == 0) return NAN;
    qsort(t->ms, (size_t)t->count, sizeof *t->ms, compare);
    return 0.5 * (t->ms[(t->count - 1) / 2] + t->ms[t->count / 2]);
}

static void add(times* t, double seconds)
{
    if (t->count < MOST_FRAMES) t->ms[t->count++] = 1e3 * seconds;
}

/// A method's modes r and subspace k (0: as many as modes, or none).
typedef struct entrant
{
    const char*   method;
    int32_t       modes, subspace;
    flx_precision precision;
} entrant;

static void model_path(const race* r, const entrant* e, char* path, size_t size)
{
    snprintf(path, size, "%s/%s-%d-%d-%s-%d-%d-%d.h5", r->want.folder, r->want.id, r->want.size.cloth_side,
             r->want.size.box_cells, e->method, e->modes, e->subspace, r->want.elements);
}

// --- train ---------------------------------------------------------------------------------------------------

static flx_status train(race* r, const entrant* e)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* model  = NULL;
    flx_reduction      which;
    char               path[1024];
    if (!flx__reduction_find(e->method, &which))
        return flx__fail(r->ctx, FLX_ERR_ARGUMENT, "there is no method '%s'", e->method);
    flx_reduction_options o = flx__reduction_options_default(which, e->modes);
    o.subspace              = e->subspace;
    o.elements              = r->want.elements;
    o.force                 = true; // a refused one has its place in the table too, and is named there
    FLX_TRY(flx__trial_train(&r->bench, &o, &model));
    model_path(r, e, path, sizeof path);
    FLX_TRY(flx__model_file_write(model, path, true));
    printf("%s %s %d:%d: %.1f s\n", r->want.id, e->method, e->modes, e->subspace, model->seconds);

done:
    flx__reduced_model_destroy(model);
    return status;
}

// --- race ----------------------------------------------------------------------------------------------------

/// FULL_FRAMES frames of the full order; after the end of the run it starts anew.
static flx_status full_turn(race* r, times* full)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = r->bench.experiment;
    const flx_pd_drive    drive  = flx__experiment_drive(e, FLX_RUN_TRAIN);
    for (int k = 0; k < FULL_FRAMES; ++k)
    {
        if (!r->full.q || r->full.frame == e->frames)
        {
            flx__pd_state_release(r->ctx, &r->full);
            FLX_TRY(flx__experiment_start(e, FLX_RUN_TRAIN, &r->full));
        }
        const double start = flx__now();
        FLX_TRY(flx__pd_frame(e->system, &drive, FLX_LAB_ROUNDS, &r->full, NULL, NULL));
        add(full, flx__now() - start);
    }
done:
    return status;
}

typedef struct outcome
{
    times       full, frame, read; // read: the frame and giving out its positions
    double      mean;              // of e(t) over the frames
    flx_verdict verdict;
} outcome;

static flx_status run(race* r, flx_reduced_solver* solver, flx_run_record* record, flx_pd_state* state, outcome* out)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = r->bench.experiment;
    const flx_pd_drive    drive  = flx__experiment_drive(e, FLX_RUN_TRAIN);
    const int64_t         length = 3 * (int64_t)e->system->n;
    flx__reduced_start(solver, state);
    flx__record_put(record, state);
    for (int32_t f = 1; f <= e->frames && status == FLX_OK; ++f)
    {
        if (f % BLOCK == 1) FLX_TRY(full_turn(r, &out->full));
        flx_pd_state positions = {.q = state->q};
        const double start     = flx__now();
        status                 = flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, NULL, NULL);
        const double done      = flx__now();
        flx__reduced_read(solver, &positions);
        add(&out->read, flx__now() - start);
        add(&out->frame, done - start);
        flx__reduced_read(solver, state); // the record wants velocities too
        if (status == FLX_OK) flx__record_put(record, state);
    }
    if (status == FLX_ERR_NONFINITE) status = FLX_OK; // a verdict
    out->verdict = flx__judge(&r->bench.full[FLX_RUN_TRAIN], record, e->frames);
    for (int32_t f = 1; f < record->count; ++f)
        out->mean +=
            flx__pose_distance(e->system, record->q + f * length, r->bench.full[FLX_RUN_TRAIN].q + f * length) /
            e->frames;
    if (record->count <= e->frames || !isfinite(out->mean)) out->mean = INFINITY;

done:
    return status;
}

static void print_result(const race* r, const flx_reduced_model* m, const entrant* e, outcome* o)
{
    const flx_reduction_options limits = flx__reduction_options_default(m->method, e->modes);
    int32_t                     count = 0, used = m->subspace;
    bool                        refused = false;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        count += m->batch[b].element_count;
        used += m->batch[b].modes;
        refused = refused || m->batch[b].norm > limits.amplify ||
                  (m->batch[b].weight && m->batch[b].least > 0.0 && m->batch[b].least < limits.least);
    }
    const double full = middle(&o->full), frame = middle(&o->frame), read = middle(&o->read);
    const char*  precision = e->precision == FLX_PRECISION_SINGLE ? "single" : "double";
    printf("%-4s %-12s %3d %3d %6d%s %s  e %.2e mean %.2e max  E %8.3g  full %7.3f  frame %7.3f (%5.1f x)  read %7.3f "
           "(%5.1f "
           "x)\n",
           r->want.id, e->method, e->modes, m->subspace, count, refused ? "*" : " ", precision, o->mean,
           o->verdict.error, o->verdict.energy, full, frame, full / frame, read, full / read);
    if (r->csv)
        fprintf(r->csv, "%s,%d,%s,%d,%d,%d,%d,%s,%d,%.3e,%.3e,%.4g,%.4f,%.4f,%.4f,%.2f,%.2f\n", r->want.id,
                r->bench.experiment->system->n, e->method, e->modes, m->subspace, used, count, precision, refused,
                o->mean, o->verdict.error, o->verdict.energy, full, frame, read, full / frame, full / read);
}

static flx_status race_one(race* r, const entrant* e)
{
    flx_status          status = FLX_OK;
    flx_pd_system*      system = r->bench.experiment->system;
    flx_reduced_model*  model  = NULL;
    flx_reduced_solver* solver = NULL;
    flx_run_record      record = {0};
    flx_pd_state        state  = {0};
    static outcome      out;
    char                path[1024];
    out = (outcome){0};
    model_path(r, e, path, sizeof path);
    FLX_TRY(flx__model_file_read(r->ctx, path, system, &model));
    FLX_TRY(flx__reduced_solver_create_in(system, model, e->precision, &solver));
    FLX_TRY(flx__record_create(system, r->bench.experiment->frames, &record));
    FLX_TRY(flx__experiment_start(r->bench.experiment, FLX_RUN_TRAIN, &state));
    FLX_TRY(run(r, solver, &record, &state, &out));
    print_result(r, model, e, &out);

done:
    flx__pd_state_release(r->ctx, &state);
    flx__record_release(&record);
    flx__reduced_solver_destroy(solver);
    flx__reduced_model_destroy(model);
    return status;
}

// --- the program ---------------------------------------------------------------------------------------------

static flx_status race_engine(race* r)
{
    flx_status status = FLX_OK;
    double     ms[2];
    FLX_TRY(flx__experiment_create(r->ctx, r->want.id, &r->want.size, &r->bench.experiment));
    FLX_TRY(engine_steps(r->ctx, r->bench.experiment, r->want.folder, r->bench.experiment->frames, ms));
    printf("%-4s flx_solver: single %.3f ms, double %.3f ms\n", r->want.id, ms[0], ms[1]);
done:
    return status;
}

/// The training run only: that is what models learn from and race on.
static flx_status record_full(race* r)
{
    flx_status   status = FLX_OK;
    flx_pd_state state  = {0};
    FLX_TRY(flx__experiment_create(r->ctx, r->want.id, &r->want.size, &r->bench.experiment));
    const flx_experiment* e     = r->bench.experiment;
    const flx_pd_drive    drive = flx__experiment_drive(e, FLX_RUN_TRAIN);
    FLX_TRY(flx__record_create(e->system, e->frames, &r->bench.full[FLX_RUN_TRAIN]));
    FLX_TRY(flx__experiment_start(e, FLX_RUN_TRAIN, &state));
    FLX_TRY(flx__record_run(&r->bench.full[FLX_RUN_TRAIN], &drive, FLX_LAB_ROUNDS, &state));
done:
    flx__pd_state_release(r->ctx, &state);
    return status;
}

static bool in_subspace(const char* method)
{
    flx_reduction which;
    return flx__reduction_find(method, &which) && flx__reduction_in_subspace(which);
}

static flx_status each(race* r, flx_status (*one)(race*, const entrant*))
{
    char methods[256], *next = NULL;
    snprintf(methods, sizeof methods, "%s", r->want.methods);
    flx_status status = FLX_OK;
    for (const char* method = strtok_r(methods, ",", &next); method; method = strtok_r(NULL, ",", &next))
        for (const char* at = r->want.modes; at && status == FLX_OK; at = strchr(at, ','), at = at ? at + 1 : NULL)
        {
            char*   colon = NULL;
            entrant e     = {.method = method, .modes = (int32_t)strtol(at, &colon, 10)};
            if (*colon == ':') e.subspace = (int32_t)strtol(colon + 1, NULL, 10);
            e.precision = FLX_PRECISION_DOUBLE;
            if (one == train || strstr(r->want.precision, "double")) status = one(r, &e);
            e.precision = FLX_PRECISION_SINGLE;
            if (status == FLX_OK && one == race_one && in_subspace(method) && strstr(r->want.precision, "single"))
                status = one(r, &e);
            fflush(stdout);
            if (status == FLX_ERR_ARGUMENT || status == FLX_ERR_UNHELD || status == FLX_ERR_IO)
            {
                printf("%s %s %d:%d: %s\n", r->want.id, method, e.modes, e.subspace, flx_context_error(r->ctx));
                status = FLX_OK;
            }
        }
    return status;
}

static bool read_options(int count, char** argument, options* o)
{
    *o = (options){.methods   = "secs,w_ecsw,w_mixed,gpd,w,pou,block_deim,deim",
                   .modes     = "6,10,20,40",
                   .size      = {.cloth_side = 100, .box_cells = 11},
                   .workers   = 2,
                   .precision = "double,single"};
    if (count < 4) return false;
    o->verb   = argument[1];
    o->id     = argument[2];
    o->folder = argument[3];
    for (int i = 4; i + 1 < count; i += 2)
    {
        const char *key = argument[i], *value = argument[i + 1];
        if (strcmp(key, "--methods") == 0)
            o->methods = value;
        else if (strcmp(key, "--modes") == 0)
            o->modes = value;
        else if (strcmp(key, "--side") == 0)
            o->size.cloth_side = atoi(value);
        else if (strcmp(key, "--cells") == 0)
            o->size.box_cells = atoi(value);
        else if (strcmp(key, "--elements") == 0)
            o->elements = atoi(value);
        else if (strcmp(key, "--workers") == 0)
            o->workers = atoi(value);
        else if (strcmp(key, "--precision") == 0)
            o->precision = value;
        else if (strcmp(key, "--csv") == 0)
            o->csv = value;
        else
            return false;
    }
    return count % 2 == 0 &&
           (strcmp(o->verb, "train") == 0 || strcmp(o->verb, "race") == 0 || strcmp(o->verb, "engine") == 0);
}

int main(int count, char** argument)
{
    static race r;
    if (!read_options(count, argument, &r.want))
    {
        fprintf(stderr,
                "usage: bench_reduced train|race|engine EXPERIMENT FOLDER [--methods a,b] [--modes r,r] [--elements m] "
                "[--side N] [--cells N] [--workers N] [--precision double,single] [--csv FILE]\n");
        return 2;
    }
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = r.want.workers;
    if (flx_context_create(&desc, &r.ctx) != FLX_OK) return 1;
    if (r.want.csv && !(r.csv = fopen(r.want.csv, "w"))) return 1;
    if (r.csv)
        fprintf(r.csv,
                "experiment,vertices,method,r,k,modes,m,precision,refused,mean_error,max_error,E,full_ms,frame_ms,"
                "frame_read_ms,ratio,ratio_read\n");

    const bool engine = strcmp(r.want.verb, "engine") == 0;
    flx_status status = engine ? race_engine(&r) : record_full(&r);
    if (status == FLX_OK && !engine) status = each(&r, strcmp(r.want.verb, "train") == 0 ? train : race_one);
    if (status != FLX_OK) fprintf(stderr, "bench_reduced: %s\n", flx_context_error(r.ctx));
    flx__pd_state_release(r.ctx, &r.full);
    flx__trial_bench_release(r.ctx, &r.bench);
    if (r.csv) fclose(r.csv);
    flx_context_destroy(r.ctx);
    return status == FLX_OK ? 0 : 1;
}
