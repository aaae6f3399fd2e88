// Reduced scenes against the engine: error, how deep things sink, and time of a frame, seen and unseen.
//
//   bench_reduced_scenes SCENE [--method M] [--modes r,r,...] [--rounds N] [--frames N] [--workers N]
//                        [--runs N] [--set KEY=VALUE]... [--unseen KEY=VALUE]...
//
// Models learn from the scene with the values of --set, and from --runs varied ones, and are then run beside the
// engine, step by step, on that scene and, when there is an --unseen, on the scene with those values too. Depth is
// exact: every proxy against its obstacle at the end of each step, below the distance that is kept. Times are medians
// of frames, the two by turns.
#include "reduce/full_run.h"
#include "reduce/judge.h"

#include "flexor/flexor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

typedef struct options
{
    const char *path, *method, *modes;
    int32_t     rounds, frames, workers, runs;
    int32_t     set_count, unseen_count;
    const char *set[MOST], *unseen[MOST];
} options;

typedef struct scene
{
    flx_scene*       scene;
    flx_model*       model;
    flx_scene_system system;
    flx_contact*     found;
    int32_t*         scratch;
} scene;

static flx_context* ctx;

static void fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, ctx ? flx_context_error(ctx) : "");
    exit(1);
}

static void* must(void* memory)
{
    if (!memory) fail("memory");
    return memory;
}

static void open_scene(const options* o, bool unseen, scene* s)
{
    const char*       values[2 * MOST];
    flx_scene_options wanted = flx_scene_options_default();
    wanted.overrides         = values;
    for (int32_t i = 0; i < o->set_count; ++i) values[wanted.override_count++] = o->set[i];
    for (int32_t i = 0; i < o->unseen_count && unseen; ++i) values[wanted.override_count++] = o->unseen[i];
    if (flx_scene_read(ctx, o->path, &wanted, &s->scene) != FLX_OK ||
        flx_model_compile(ctx, s->scene, NULL, NULL, &s->model) != FLX_OK ||
        flx__scene_system_create(ctx, s->model, &s->system) != FLX_OK)
        fail(o->path);
    s->found   = must(calloc((size_t)s->model->proxy_count + 1, sizeof *s->found));
    s->scratch = must(calloc((size_t)s->model->proxy_count + 1, sizeof *s->scratch));
}

static void close_scene(scene* s)
{
    free(s->found);
    free(s->scratch);
    flx__scene_system_release(&s->system);
    flx_model_destroy(s->model);
    flx_scene_destroy(ctx, s->scene);
}

static double depth(const scene* s, const flx_state* state)
{
    const flx_model* m       = s->model;
    double           deepest = 0;
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g = &m->group[i];
        flx_obstacle_pose        pose;
        flx_scene_obstacle_pose(m->scene, g->obstacle, flx_state_time(state), pose.R, pose.t);
        const int32_t count =
            flx__obstacle_contacts(ctx, m->solid[g->obstacle], &pose, g->obstacle, g->proxy_count,
                                   m->proxy + g->proxy_first, state->x, 0, g->offset, s->scratch, s->found);
        for (int32_t k = 0; k < count; ++k) deepest = fmax(deepest, -s->found[k].gap);
    }
    return deepest;
}

static int compare(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* value, int count)
{
    qsort(value, (size_t)count, sizeof *value, compare);
    return count > 0 ? 0.5 * (value[(count - 1) / 2] + value[count / 2]) : 0;
}

static void race(const options* o, scene* s, const flx_reduced_model* model, const char* which)
{
    const int32_t frames  = o->frames > 0 ? o->frames : s->scene->run.frames;
    const int32_t each    = flx__scene_system_steps(&s->system, 1);
    flx_reduced*  reduced = NULL;
    flx_state*    state   = NULL;
    flx_full_run  full;
    double *      ms = must(calloc((size_t)frames, sizeof *ms)), *full_ms = must(calloc((size_t)frames, sizeof *ms));
    double        error = 0, mean = 0, sunk = 0, full_sunk = 0;
    int32_t       unsolved = 0, most = 0;
    if (flx_reduced_create(ctx, s->model, model, &reduced) != FLX_OK ||
        flx_state_create(ctx, s->model, &state) != FLX_OK ||
        flx__full_run_create(&s->system, o->rounds, &full) != FLX_OK)
        fail(which);
    for (int32_t f = 0; f < frames; ++f)
    {
        double before = flx__now();
        for (int32_t k = 0; k < each; ++k)
            if (flx__full_run_step(&full) != FLX_OK)
                fail("full order");
            else
                full_sunk = fmax(full_sunk, depth(s, full.state));
        full_ms[f] = 1e3 * (flx__now() - before);
        before     = flx__now();
        for (int32_t k = 0; k < each; ++k)
        {
            flx_step_stats stats;
            if (flx_reduced_step(reduced, state, &stats) != FLX_OK) fail("reduced");
            unsolved += stats.unsolved;
            most = stats.active > most ? stats.active : most;
        }
        ms[f]          = 1e3 * (flx__now() - before);
        sunk           = fmax(sunk, depth(s, state));
        const double e = flx__pose_distance(s->system.system, state->x, full.state->x);
        error          = fmax(error, e);
        mean += e / frames;
    }
    const double frame = median(ms, frames), full_frame = median(full_ms, frames);
    printf("| %s | %s | %d | %.1e | %.1e | %.3g | %.3g | %d | %d | %.3g | %.3g | %.0f |\n",
           flx_reduced_model_get_info(model).method, which, flx_reduced_model_get_info(model).subspace, mean, error,
           1e3 * sunk, 1e3 * full_sunk, most, unsolved, frame, full_frame, full_frame / frame);
    fflush(stdout);
    flx__full_run_release(&full);
    flx_state_destroy(state);
    flx_reduced_destroy(reduced);
    free(ms);
    free(full_ms);
}

static options read_options(int argc, char** argv)
{
    options o = {.method = "w_ecsw", .modes = "20,40,80", .rounds = 20, .workers = 2};
    for (int i = 1; i < argc; ++i)
    {
        const char* next = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-')
        {
            o.path = argv[i];
            continue;
        }
        ++i;
        if (strcmp(argv[i - 1], "--method") == 0) o.method = next;
        if (strcmp(argv[i - 1], "--modes") == 0) o.modes = next;
        if (strcmp(argv[i - 1], "--rounds") == 0) o.rounds = atoi(next);
        if (strcmp(argv[i - 1], "--runs") == 0) o.runs = atoi(next);
        if (strcmp(argv[i - 1], "--frames") == 0) o.frames = atoi(next);
        if (strcmp(argv[i - 1], "--workers") == 0) o.workers = atoi(next);
        if (strcmp(argv[i - 1], "--set") == 0 && o.set_count < MOST) o.set[o.set_count++] = next;
        if (strcmp(argv[i - 1], "--unseen") == 0 && o.unseen_count < MOST) o.unseen[o.unseen_count++] = next;
    }
    return o;
}

int main(int argc, char** argv)
{
    const options    o    = read_options(argc, argv);
    flx_context_desc desc = flx_context_desc_default();
    scene            seen = {0}, other = {0};
    desc.worker_count = o.workers;
    if (!o.path || flx_context_create(&desc, &ctx) != FLX_OK) fail("bench_reduced_scenes SCENE [options]");
    open_scene(&o, false, &seen);
    if (o.unseen_count > 0) open_scene(&o, true, &other);
    printf("| method | run | k | mean error | largest | depth mm | engine's | push at most | unsettled | frame ms | "
           "engine ms | ratio |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const char* at = o.modes; *at; at += strcspn(at, ","), at += *at == ',')
    {
        flx_reduction_desc d     = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        d.method                 = o.method;
        d.modes                  = atoi(at);
        d.rounds                 = o.rounds;
        d.frames                 = o.frames;
        d.runs                   = o.runs;
        d.force                  = true;
        if (flx_reduced_model_train(ctx, seen.model, &d, NULL, NULL, &model) != FLX_OK) fail("training");
        race(&o, &seen, model, "training");
        if (o.unseen_count > 0) race(&o, &other, model, "unseen");
        flx_reduced_model_destroy(model);
    }
    if (o.unseen_count > 0) close_scene(&other);
    close_scene(&seen);
    flx_context_destroy(ctx);
    return 0;
}
