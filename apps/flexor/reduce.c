// flexor reduce: learn a small model from a scene's full-order run, run it, look at it; or keep the run's snapshots.
#include "frames.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reduction
{
    cli*               c;
    flx_scene*         scene;
    flx_model*         model;
    flx_reduced_model* reduced;
    flx_reduced*       stepper;
    flx_state*         state;
    flx_recorder*      recorder;
    int                code;    // of a step that failed
    int32_t            frames;  // stepped
    double             deepest; // m, of their contacts
    flx_step_stats     sum;     // of all steps
} reduction;

static void release(reduction* r)
{
    if (flx_recorder_close(r->recorder) != FLX_OK) cli_fail(r->c, FLX_ERR_IO);
    flx_state_destroy(r->state);
    flx_reduced_destroy(r->stepper);
    flx_reduced_model_destroy(r->reduced);
    flx_model_destroy(r->model);
    flx_scene_destroy(r->c->ctx, r->scene);
}

static bool show(void* user, const char* what, double done)
{
    cli_share_progress(user, what, done);
    return cli_signal_seen() == 0;
}

/// Scene and model; -1 to go on, else an exit code.
static int open_scene(reduction* r, const char* path)
{
    cli* c    = r->c;
    int  code = cli_scene(c, path, &r->scene);
    if (code >= 0) return code;
    const flx_status status = flx_model_compile(c->ctx, r->scene, cli_setup_progress, c, &r->model);
    cli_setup_end(c);
    cli_clear_bar(c);
    return status == FLX_OK ? -1 : cli_fail(c, status);
}

// --- report ---------------------------------------------------------------------------------------------------------

static void report_json(cli* c, const flx_reduced_model* m)
{
    const flx_reduction_info info = flx_reduced_model_get_info(m);
    json                     j    = json_memory(true);
    json_open(&j, NULL, '{');
    json_text(&j, "schema", "flexor.reduce/1");
    json_text(&j, "method", info.method);
    json_integer(&j, "vertices", info.vertex_count);
    json_integer(&j, "modes", info.modes);
    json_integer(&j, "subspace", info.subspace);
    json_integer(&j, "runs", info.runs);
    json_integer(&j, "rounds", info.rounds);
    json_real(&j, "error", info.error);
    json_real(&j, "seconds", info.seconds);
    json_open(&j, "constraints", '[');
    for (int32_t b = 0; b < info.batch_count; ++b)
    {
        const flx_reduction_batch_info batch = flx_reduced_model_get_batch(m, b);
        json_open(&j, NULL, '{');
        json_text(&j, "constraint", batch.constraint);
        json_integer(&j, "count", batch.count);
        json_integer(&j, "projected", batch.elements);
        json_integer(&j, "modes", batch.modes);
        json_real(&j, "norm", batch.norm);
        json_real(&j, "least", batch.least);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    char* text = json_end(&j);
    print_data(c, text);
    free(text);
}

static void report_text(const flx_reduced_model* m)
{
    const flx_reduction_info info = flx_reduced_model_get_info(m);
    printf("%s, %d rounds a step, %d vertices\n", info.method, info.rounds, info.vertex_count);
    if (info.subspace > 0) printf("positions in a subspace of %d\n", info.subspace);
    printf("learnt from the scene's run");
    if (info.runs > 0) printf(" and %d varied one%s", info.runs, info.runs == 1 ? "" : "s");
    printf(" in %.2f s; error on the scene's run: %.2e of the box diagonal\n", info.seconds, info.error);
    for (int32_t b = 0; b < info.batch_count; ++b)
    {
        const flx_reduction_batch_info batch = flx_reduced_model_get_batch(m, b);
        printf("  %-12s %d of %d projected", batch.constraint, batch.elements, batch.count);
        if (batch.modes > 0) printf(", %d modes", batch.modes);
        if (batch.norm > 0) printf(", fit amplifies %.3g", batch.norm);
        if (batch.least > 0) printf(", worst mode held by %.3g", batch.least);
        printf("\n");
    }
}

static int report(reduction* r, const char* path)
{
    const flx_status status = flx_reduced_model_read(r->c->ctx, path, &r->reduced);
    if (status != FLX_OK) return cli_fail(r->c, status);
    if (r->c->json)
        report_json(r->c, r->reduced);
    else
        report_text(r->reduced);
    return CODE_FINE;
}

// --- train ---------------------------------------------------------------------------------------------------

static bool read_desc(cli* c, flx_reduction_desc* d)
{
    d->method = cli_text(c, "method", d->method);
    d->force  = cli_flag(c, "accept");
    return cli_integer(c, "modes", 1, 10000, &d->modes) && cli_integer(c, "subspace", 4, 10000, &d->subspace) &&
           cli_integer(c, "handles", 0, 10000, &d->handles) && cli_integer(c, "elements", 0, 1000000, &d->elements) &&
           cli_integer(c, "rounds", 1, 10000, &d->rounds) && cli_integer(c, "frames", 0, 1000000, &d->frames) &&
           cli_integer(c, "runs", 0, 100, &d->runs);
}

static int train(reduction* r, const char* scene)
{
    cli*               c    = r->c;
    const char*        path = cli_text(c, "output", NULL);
    flx_reduction_desc desc = flx_reduction_desc_default();
    if (!read_desc(c, &desc)) return CODE_USAGE;
    if (!path || !*path)
    {
        cli_error(c, CODE_USAGE, "train writes a file: -o MODEL.h5");
        return CODE_USAGE;
    }
    if (cli_taken(c, path) || !make_parent_folders(c, path)) return CODE_INTERNAL;
    const int code = open_scene(r, scene);
    if (code >= 0) return code;
    flx_status status = flx_reduced_model_train(c->ctx, r->model, &desc, show, c, &r->reduced);
    cli_clear_bar(c);
    if (status == FLX_ERR_CANCELLED && cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    if (status == FLX_OK) status = flx_reduced_model_write(r->reduced, path, cli_flag(c, "force"));
    if (status != FLX_OK) return cli_fail(c, status);
    if (c->json)
        report_json(c, r->reduced);
    else if (!c->quiet)
        report_text(r->reduced);
    return CODE_FINE;
}

// --- run -----------------------------------------------------------------------------------------------------

static ending step_once(void* user, flx_step_stats* stats)
{
    reduction*       r      = user;
    const flx_status status = flx_reduced_step(r->stepper, r->state, stats);
    if (status == FLX_OK) return ENDING_DONE;
    r->code = cli_fail(r->c, status);
    return status == FLX_ERR_NONFINITE ? ENDING_DIVERGED : ENDING_FAILED;
}

static flx_status end_frame(void* user, int32_t frame, const flx_step_stats* stats)
{
    reduction* r = user;
    (void)frame;
    add_stats(&r->sum, stats, r->frames++ == 0);
    r->deepest = stats->penetration > r->deepest ? stats->penetration : r->deepest;
    return FLX_OK;
}

static int step_all(reduction* r)
{
    frame_loop   loop = {.c        = r->c,
                         .user     = r,
                         .state    = r->state,
                         .recorder = r->recorder,
                         .frames   = r->scene->run.frames,
                         .substeps = r->scene->settings.mode == FLX_MODE_DYNAMIC ? r->scene->settings.substeps : 1,
                         .step     = step_once,
                         .end      = end_frame};
    const ending end  = step_frames(&loop);
    cli_clear_bar(r->c);
    if (end == ENDING_DIVERGED || end == ENDING_FAILED) return r->code ? r->code : CODE_INTERNAL;
    cli_say(r->c, "%d frames, %.3f ms a step", r->frames,
            r->frames > 0 ? r->sum.ms_total / (r->frames * loop.substeps) : 0.0);
    if (r->scene->contact_count > 0)
        cli_say(r->c, "contact: deepest %.3g mm, at the end %d push with %.3g N", 1e3 * r->deepest, r->sum.active,
                sqrt(r->sum.contact_force[0] * r->sum.contact_force[0] +
                     r->sum.contact_force[1] * r->sum.contact_force[1] +
                     r->sum.contact_force[2] * r->sum.contact_force[2]));
    return CODE_FINE;
}

static int run(reduction* r, const char* path, const char* scene)
{
    static const char* const endings[] = {".xdmf", ".frames", ".frames/", NULL};
    cli*                     c         = r->c;
    const char*              output    = cli_text(c, "output", NULL);
    char*                    stem      = output ? stem_of(output, endings) : NULL;
    flx_status               status    = flx_reduced_model_read(c->ctx, path, &r->reduced);
    int                      code      = status == FLX_OK ? open_scene(r, scene) : cli_fail(c, status);
    if (code >= 0) goto done;
    status = flx_reduced_create(c->ctx, r->model, r->reduced, &r->stepper);
    if (status == FLX_OK) status = flx_state_create(c->ctx, r->model, &r->state);
    if (status == FLX_OK && stem && !make_parent_folders(c, stem)) code = CODE_INTERNAL;
    if (status == FLX_OK && stem && code < 0)
        status = flx_recorder_create(c->ctx, stem, r->model, cli_flag(c, "force"), false, &r->recorder);
    if (status != FLX_OK) code = cli_fail(c, status);
    if (code < 0) code = step_all(r);
done:
    free(stem);
    if (cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    return code;
}

// --- snapshots ------------------------------------------------------------------------------------------------------

static int snapshots(reduction* r, const char* scene)
{
    static const char* const endings[] = {".h5", NULL};
    cli*                     c         = r->c;
    const char*              output    = cli_text(c, "output", NULL);
    flx_snapshot_desc        desc      = flx_snapshot_desc_default();
    int32_t                  files     = 0;
    desc.set                           = cli_text(c, "set-name", desc.set);
    desc.kind                          = cli_text(c, "kind", desc.kind);
    desc.overwrite                     = cli_flag(c, "force");
    if (!cli_integer(c, "every", 1, 1000000, &desc.every) || !cli_integer(c, "rounds", 1, 10000, &desc.rounds) ||
        !cli_integer(c, "frames", 0, 1000000, &desc.frames))
        return CODE_USAGE;
    if (!output || !*output)
    {
        cli_error(c, CODE_USAGE, "snapshots writes files: -o STEM");
        return CODE_USAGE;
    }
    const int code = open_scene(r, scene);
    if (code >= 0) return code;
    if (!make_parent_folders(c, output)) return CODE_INTERNAL;
    char*            stem   = stem_of(output, endings);
    const flx_status status = flx_reduction_snapshots(c->ctx, r->model, &desc, stem, show, c, &files);
    cli_clear_bar(c);
    if (status == FLX_ERR_CANCELLED && cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    if (status == FLX_OK) cli_say(c, "wrote %d file%s, %s_0000.h5 first", files, files == 1 ? "" : "s", stem);
    free(stem);
    return status == FLX_OK ? CODE_FINE : cli_fail(c, status);
}

static int reduce(cli* c)
{
    reduction    r      = {.c = c};
    const char*  what   = c->operand[0];
    const bool   runs   = strcmp(what, "run") == 0;
    const char*  word[] = {"train", "run", "report", "snapshots", NULL};
    const char** at     = word;
    while (*at && strcmp(*at, what) != 0) ++at;
    if (!*at || c->operand_count != (runs ? 3 : 2))
    {
        cli_error(c, CODE_USAGE,
                  "reduce takes: train SCENE -o MODEL.h5; run MODEL.h5 SCENE; report MODEL.h5; "
                  "snapshots SCENE -o STEM");
        return CODE_USAGE;
    }
    int code = cli_context(c);
    if (code >= 0) return code;
    cli_signals_watch();
    code = runs                             ? run(&r, c->operand[1], c->operand[2])
           : strcmp(what, "train") == 0     ? train(&r, c->operand[1])
           : strcmp(what, "snapshots") == 0 ? snapshots(&r, c->operand[1])
                                            : report(&r, c->operand[1]);
    release(&r);
    return code;
}

static const cli_option options[] = {
    {'o', "output", "PATH",
     "train: the model's file; run: a recording, none if left out; snapshots: STEM_0000.h5, ..."},
    {'f', "force", NULL, "overwrite"},
    {0, "method", "secs|block_deim|deim|qdeim|gpd|gpd_map|gpds|pou|w|w_ecsw|w_mixed|w_gpd|w_block_deim|w_secs",
     "train: default secs"},
    {0, "modes", "R", "train: of each kind of constraint; default 20"},
    {0, "subspace", "K", "train: w... methods: dimension of the positions' subspace; default as --modes"},
    {0, "handles", "H", "train: w... methods: skinning weights of so many handles span it instead of learnt positions"},
    {0, "elements", "M", "train: projected, of each kind of constraint; default five for each mode"},
    {0, "rounds", "N", "train, snapshots: local and global rounds of a step; default 20"},
    {0, "frames", "N", "train, snapshots: to learn from; default the scene's"},
    {0, "runs", "N", "train: further ones to learn from, pushed about at random, for loads not seen; default 0"},
    {0, "set-name", "train|test", "snapshots: which set they belong to; default train"},
    {0, "kind", "frames|last|all", "snapshots: where steps end, the last local step of each, or all"},
    {0, "every", "N", "snapshots: steps; default 1"},
    {0, "accept", NULL, "train: keep a model also when it would not hold"},
    CLI_CACHE_OPTION,
    CLI_SCENE_OPTIONS,
    {0, NULL, NULL, NULL},
};

const cli_verb cli_reduce = {
    .name     = "reduce",
    .operands = "train SCENE | run MODEL SCENE | report MODEL | snapshots SCENE",
    .summary  = "Learn a small model from a scene's run, and run that.",
    .details = "For scenes without contact of a body with itself. Contact with obstacles, fixes that begin or end and\n"
               "quasi-static scenes need a method in a subspace: --method w_secs. A model belongs to its scene's\n"
               "meshes, materials and time step; gravity, loads, wind, obstacles and the motion of bones may change.\n",
    .options = options,
    .operands_min = 2,
    .operands_max = 3,
    .run          = reduce,
};
