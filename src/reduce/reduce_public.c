// The public interface: a scene's full-order run, training on it, and steps of a flx_state.
#include "flexor/reduce.h"

#include "reduce/full_run.h"
#include "reduce/judge.h"
#include "reduce/model_file.h"
#include "reduce/reduced_contact.h"
#include "reduce/reduced_follow.h"
#include "reduce/varied.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SNAPSHOTS 200 // of a run; more teach little and cost n each
#define VARIED_STRIDE 4    // of a varied run's snapshots every 4th, as in the study

struct flx_reduced
{
    flx_context*         ctx;
    flx_scene_system     own; // what `scene` is, unless it is somebody else's
    flx_scene_system*    scene;
    flx_reduced_solver*  solver;
    flx_reduced_contact* contact; // NULL: the scene has none
    flx_reduced_follow*  follow;  // NULL: steps do not begin so
    flx_pd_state         state;
    int32_t              rounds;
};

flx_reduction_desc flx_reduction_desc_default(void)
{
    return (flx_reduction_desc){.struct_size = sizeof(flx_reduction_desc),
                                .method      = "secs",
                                .modes       = 20,
                                .rounds      = 20,
                                .least       = 0.03,
                                .amplify     = 200.0};
}

static void act(void* user, int32_t frame, int32_t round, double* a)
{
    const flx_reduced* r = user;
    if (r->follow && round < 0) flx__reduced_follow(r->follow, frame, a);
    if (r->contact) flx__reduced_contact_act(r->contact, r->solver, frame, round, a);
}

/// Ready to step a scene that outlives it.
static flx_status create_stepper(flx_scene_system* scene, const flx_reduced_model* reduction, flx_reduced** out)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = scene->system->ctx;
    flx_reduced* r      = NULL;
    *out                = NULL;
    FLX_NEW_ZERO(ctx, r, 1);
    r->ctx    = ctx;
    r->scene  = scene;
    r->rounds = reduction->rounds > 0 ? reduction->rounds : flx_reduction_desc_default().rounds;
    FLX_TRY(flx__pd_state_create(scene->system, &r->state));
    FLX_TRY(
        flx__reduced_solver_create_in(scene->system, reduction, scene->model->scene->settings.precision, &r->solver));
    FLX_TRY(flx__scene_system_check(scene, reduction->method));
    if (scene->has_contact) FLX_TRY(flx__reduced_contact_create(ctx, scene->model, reduction, scene->h, &r->contact));
    FLX_TRY(flx__reduced_follow_create(scene, reduction, &r->follow));
    if (r->contact || r->follow) flx__reduced_set_action(r->solver, act, r);
    *out = r;
    r    = NULL;
done:
    flx_reduced_destroy(r);
    return status;
}

// --- training -----------------------------------------------------------------------------------------------------

typedef struct course
{
    flx_context*      ctx;
    flx_scene_system* scene;
    flx_full_run      run;
    int32_t           steps, stride;
    double*           q; // [snapshots][n][3] the scene's own run, then varied ones
    int32_t           snapshots;
    flx_progress_fn   progress;
    void*             user;
} course;

static flx_status report(const course* c, const char* what, double done)
{
    if (!c->progress || c->progress(c->user, what, done)) return FLX_OK;
    return flx__fail(c->ctx, FLX_ERR_CANCELLED, "cancelled");
}

static void keep_snapshot(course* c)
{
    const size_t length = 3 * (size_t)c->scene->system->n;
    memcpy(c->q + length * (size_t)c->snapshots++, c->run.state->x, length * sizeof(double));
}

static flx_status run_full_order(course* c)
{
    flx_status status = FLX_OK;
    for (int32_t step = 0; step <= c->steps; ++step)
    {
        if (step > 0) FLX_TRY(flx__full_run_step(&c->run));
        if (step % c->stride == 0) keep_snapshot(c);
        FLX_TRY(report(c, "full-order run", step / fmax(c->steps, 1)));
    }
done:
    return status;
}

static flx_status run_varied(course* c, int32_t number, int32_t count)
{
    flx_status status = FLX_OK;
    flx_varied varied = {0};
    char       what[48];
    snprintf(what, sizeof what, "varied run %d of %d", number + 1, count);
    FLX_TRY(flx__varied_create(c->scene->system, c->steps, c->stride, c->q, number, &varied));
    FLX_TRY(flx__full_run_restart(&c->run));
    for (int32_t step = 1; step <= c->steps; ++step)
    {
        flx__varied_push(&varied, step, flx__full_run_velocity(&c->run));
        FLX_TRY(flx__full_run_step(&c->run));
        flx__varied_watch(&varied, step, c->run.state->x);
        if (step % (VARIED_STRIDE * c->stride) == 0) keep_snapshot(c);
        FLX_TRY(report(c, what, step / fmax(c->steps, 1)));
    }
done:
    flx__varied_release(&varied);
    return status;
}

/// The scene's own run, then varied ones.
static flx_status learn_runs(course* c, int32_t rounds, int32_t varied)
{
    flx_status    status = FLX_OK;
    const int64_t own = c->steps / c->stride + 1, more = c->steps / (VARIED_STRIDE * c->stride);
    FLX_NEW(c->ctx, c->q, (own + varied * more) * 3 * c->scene->system->n);
    FLX_TRY(flx__full_run_create(c->scene, rounds, &c->run));
    FLX_TRY(run_full_order(c));
    for (int32_t k = 0; k < varied; ++k) FLX_TRY(run_varied(c, k, varied));
done:
    flx__full_run_release(&c->run);
    return status;
}

/// The training run by the reduced model: largest distance to the snapshots; infinite when it does not last.
static flx_status measure_error(course* c, const flx_reduced_model* model, double* error)
{
    flx_status   status = FLX_OK;
    const size_t length = 3 * (size_t)c->scene->system->n;
    flx_reduced* r      = NULL;
    flx_state*   state  = NULL;
    *error              = 0.0;
    FLX_TRY(create_stepper(c->scene, model, &r));
    FLX_TRY(flx_state_create(c->ctx, c->scene->model, &state));
    for (int32_t step = 1; step <= c->steps; ++step)
    {
        status = flx_reduced_step(r, state, NULL);
        if (status == FLX_ERR_NONFINITE) *error = INFINITY;
        if (status != FLX_OK) break;
        if (step % c->stride == 0)
            *error = fmax(*error,
                          flx__pose_distance(c->scene->system, state->x, c->q + length * (size_t)(step / c->stride)));
        FLX_TRY(report(c, "reduced run", step / fmax(c->steps, 1)));
    }
    if (status == FLX_ERR_NONFINITE) status = FLX_OK;
done:
    flx_state_destroy(state);
    flx_reduced_destroy(r);
    return status;
}

static flx_status read_desc(flx_context* ctx, const flx_reduction_desc* d, flx_reduction_options* out)
{
    flx_reduction method = FLX_REDUCTION_SECS;
    if (d->struct_size != sizeof *d) return flx__fail(ctx, FLX_ERR_ARGUMENT, "a description of another size");
    if (!d->method || !flx__reduction_find(d->method, &method))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "there is no reduction method '%s'", d->method ? d->method : "");
    if (d->rounds < 1 || d->rounds > 10000)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "rounds = %d is outside [1, 10000]", d->rounds);
    if (d->frames < 0) return flx__fail(ctx, FLX_ERR_ARGUMENT, "frames = %d is negative", d->frames);
    if (d->runs < 0 || d->runs > FLX_REDUCTION_RUNS)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "runs = %d is outside [0, %d]", d->runs, FLX_REDUCTION_RUNS);
    *out          = flx__reduction_options_default(method, d->modes);
    out->subspace = d->subspace;
    out->handles  = d->handles;
    out->elements = d->elements;
    out->least    = d->least;
    out->amplify  = d->amplify;
    out->force    = d->force;
    if (d->runs > 0) out->match = FLX_VARIED_MATCH;
    return FLX_OK;
}

static flx_status check_runs(flx_context* ctx, const flx_model* model, int32_t runs)
{
    if (runs == 0 || model->scene->settings.mode == FLX_MODE_DYNAMIC) return FLX_OK;
    return flx__fail(ctx, FLX_ERR_UNSUPPORTED,
                     "runs = %d: varied runs are pushed by their velocities, and a quasistatic "
                     "scene has none",
                     runs);
}

flx_status flx_reduced_model_train(flx_context* ctx, const flx_model* model, const flx_reduction_desc* desc,
                                   flx_progress_fn progress, void* user, flx_reduced_model** out)
{
    FLX_ASSERT(ctx && model && out);
    flx_status               status   = FLX_OK;
    const flx_reduction_desc standard = flx_reduction_desc_default();
    const flx_reduction_desc d        = desc ? *desc : standard;
    flx_scene_system         scene    = {0};
    flx_reduced_model*       r        = NULL;
    course                   c        = {.ctx = ctx, .scene = &scene, .progress = progress, .user = user};
    flx_reduction_options    options;

    *out = NULL;
    FLX_TRY(read_desc(ctx, &d, &options));
    FLX_TRY(flx__scene_system_create(ctx, model, &scene));
    FLX_TRY(flx__scene_system_check(&scene, options.method));
    FLX_TRY(flx__reduced_contact_check(ctx, model));
    FLX_TRY(check_runs(ctx, model, d.runs));
    c.steps  = flx__scene_system_steps(&scene, d.frames);
    c.stride = (c.steps + MOST_SNAPSHOTS - 1) / MOST_SNAPSHOTS;
    if (c.stride < 1) c.stride = 1;
    FLX_TRY(learn_runs(&c, d.rounds, d.runs));
    const flx_training training = {.frame_count = c.snapshots, .q = c.q};
    FLX_TRY(flx__reduce_train(scene.system, &training, &options, &r));
    r->rounds = d.rounds;
    r->runs   = d.runs;
    FLX_TRY(measure_error(&c, r, &r->error));
    *out = r;
    r    = NULL;

done:
    flx_reduced_model_destroy(r);
    flx__free(ctx, c.q);
    flx__scene_system_release(&scene);
    return status;
}

void flx_reduced_model_destroy(flx_reduced_model* model)
{
    flx__reduced_model_destroy(model);
}

// --- files and facts ------------------------------------------------------------------------------------------------

flx_status flx_reduced_model_write(const flx_reduced_model* m, const char* path, bool overwrite)
{
    return flx__model_file_write(m, path, overwrite);
}

flx_status flx_reduced_model_read(flx_context* ctx, const char* path, flx_reduced_model** out)
{
    return flx__model_file_read(ctx, path, NULL, out);
}

flx_reduction_info flx_reduced_model_get_info(const flx_reduced_model* m)
{
    return (flx_reduction_info){.method       = flx__reduction_name(m->method),
                                .vertex_count = m->n,
                                .batch_count  = m->batch_count,
                                .modes        = m->modes,
                                .subspace     = m->subspace,
                                .runs         = m->runs,
                                .rounds       = m->rounds,
                                .error        = m->error,
                                .seconds      = m->seconds};
}

flx_reduction_batch_info flx_reduced_model_get_batch(const flx_reduced_model* m, int32_t batch)
{
    FLX_ASSERT(batch >= 0 && batch < m->batch_count);
    const flx_reduced_batch* b = &m->batch[batch];
    return (flx_reduction_batch_info){.constraint = b->type,
                                      .count      = b->count,
                                      .elements   = b->reduced ? b->element_count : b->count,
                                      .modes      = b->modes,
                                      .norm       = b->norm,
                                      .least      = b->least};
}

// --- steps --------------------------------------------------------------------------------------------------------

flx_status flx_reduced_create(flx_context* ctx, const flx_model* model, const flx_reduced_model* reduction,
                              flx_reduced** out)
{
    flx_status       status = FLX_OK;
    flx_scene_system scene  = {0};
    *out                    = NULL;
    FLX_TRY(flx__scene_system_create(ctx, model, &scene));
    FLX_TRY(create_stepper(&scene, reduction, out));
    (*out)->own   = scene;
    (*out)->scene = &(*out)->own;
    scene         = (flx_scene_system){0};
done:
    flx__scene_system_release(&scene);
    return status;
}

void flx_reduced_destroy(flx_reduced* r)
{
    if (!r) return;
    flx__reduced_solver_destroy(r->solver);
    flx__reduced_contact_destroy(r->contact);
    flx__reduced_follow_destroy(r->follow);
    flx__pd_state_release(r->ctx, &r->state);
    flx__scene_system_release(&r->own);
    flx__free(r->ctx, r);
}

flx_status flx_reduced_step(flx_reduced* r, flx_state* state, flx_step_stats* stats)
{
    FLX_ASSERT(state->model == r->scene->model);
    const size_t       bytes = 3 * (size_t)r->scene->system->n * sizeof(double);
    const flx_pd_drive drive = flx__scene_system_drive(r->scene);
    const double       begin = flx__now();
    memcpy(r->state.q, state->x, bytes);
    memcpy(r->state.v, state->v, bytes);
    r->state.frame = (int32_t)*state->step;
    r->scene->x    = r->state.q;
    r->scene->v    = r->state.v;
    flx__reduced_start(r->solver, &r->state);
    const flx_status status = flx__reduced_frame(r->solver, &drive, r->rounds, NULL, NULL);
    if (status != FLX_OK) return status;
    flx__reduced_read(r->solver, &r->state);
    flx__scene_system_keep(r->scene, &r->state, state);
    flx_reduced_contact_stats touched = {0};
    if (r->contact) touched = flx__reduced_contact_end(r->contact, state);
    if (!stats) return FLX_OK;
    *stats = (flx_step_stats){.ms_total    = 1e3 * (flx__now() - begin),
                              .outer       = r->rounds,
                              .candidates  = touched.candidates,
                              .active      = touched.active,
                              .switched    = touched.switched,
                              .unsolved    = touched.unsolved,
                              .penetration = touched.penetration};
    memcpy(stats->contact_force, touched.force, sizeof touched.force);
    return FLX_OK;
}
