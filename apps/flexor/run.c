// flexor run: scene -> model -> solver <-> state -> recording, with a way back in after every stop.
#include "frames.h"
#include "geometry.h"
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const recording_endings[] = {".xdmf", ".frames", ".frames/", NULL};

typedef struct run
{
    cli*          c;
    flx_scene*    scene;
    flx_model*    model;
    flx_solver*   solver;
    flx_state *   state, *good; // `good`: at the last frame's end
    flx_recorder* recorder;
    bool          record;
    bool          checkpointed; // this run has written one
    char *        stem, *checkpoint;
    int32_t       substeps;
    summary       sum;
    double        since; // when stepping began
} run;

// --- names and files --------------------------------------------------------------------------------------------

static bool exists(const char* stem, const char* suffix)
{
    struct stat info;
    char*       path = text_of("%s%s", stem, suffix);
    const bool  yes  = stat(path, &info) == 0;
    free(path);
    return yes;
}

/// -1 to go on. Refuses before the setup has cost anything.
static int choose_output(run* r)
{
    cli*        c      = r->c;
    const char* output = cli_text(c, "output", NULL);
    char*       own    = NULL;
    if (!output)
    {
        const char* slash = strrchr(c->operand[0], '/');
        own               = r->scene->name && *r->scene->name && !strchr(r->scene->name, '/')
                                ? text_of("%s", r->scene->name)
                                : text_of("%s", slash ? slash + 1 : c->operand[0]);
        output = own;
    }
    r->stem       = stem_of(output, recording_endings);
    r->checkpoint = text_of("%s.checkpoint", r->stem);
    free(own);
    if (!r->record) return -1;
    if (!cli_flag(c, "force") && !cli_text(c, "resume", NULL) &&
        (exists(r->stem, ".xdmf") || exists(r->stem, ".frames")))
    {
        cli_error(c, CODE_INTERNAL, "%s.xdmf: a recording is there already (-f overwrites, -o names another)", r->stem);
        return CODE_INTERNAL;
    }
    return make_parent_folders(c, r->stem) ? -1 : CODE_INTERNAL;
}

static void manifest_settings(json* j, const flx_settings* s)
{
    json_open(j, "settings", '{');
    json_text(j, "mode", s->mode == FLX_MODE_DYNAMIC ? "dynamic" : "quasistatic");
    static const char* const strategies[] = {"compliance", "refactor", "full", "pcg"};
    json_text(j, "strategy", (unsigned)s->strategy < 4 ? strategies[s->strategy] : "");
    json_text(j, "precision", s->precision == FLX_PRECISION_DOUBLE ? "double" : "single");
    json_integer(j, "outer", s->outer);
    json_integer(j, "inner", s->inner);
    json_integer(j, "substeps", s->substeps);
    json_integer(j, "pcg_iterations", s->pcg_iterations);
    json_integer(j, "contact_sweeps", s->contact_sweeps);
    json_integer(j, "contact_iterations", s->contact_iterations);
    json_real(j, "damping", s->damping);
    json_real(j, "tolerance", s->tolerance);
    json_real(j, "pcg_tolerance", s->pcg_tolerance);
    json_real(j, "contact_tolerance", s->contact_tolerance);
    json_real(j, "divergence", s->divergence);
    json_close(j, '}');
}

static void json_real_path(json* j, const char* key, const char* path)
{
    char* whole = path ? realpath(path, NULL) : NULL;
    json_text(j, key, whole ? whole : path);
    free(whole);
}

/// STEM.run.json: what was run, with what, and what came out. Whole or not at all.
static bool write_manifest(run* r)
{
    cli* c = r->c;
    json j = json_memory(true);
    json_open(&j, NULL, '{');
    json_text(&j, "schema", "flexor.manifest/1");
    json_text(&j, "version", flx_version());
    json_text(&j, "compiler", FLX_CLI_COMPILER);
    json_open(&j, "command", '[');
    for (int i = 0; i < c->argc; ++i) json_text(&j, NULL, c->argv[i]);
    json_close(&j, ']');
    json_real_path(&j, "scene_path", c->operand[0]);
    json_real_path(&j, "data_path", cli_text(c, "data", NULL));
    json_integer(&j, "threads", flx_context_worker_count(c->ctx));
    json_text(&j, "isa", flx_context_isa(c->ctx));
    json_open(&j, "bodies", '[');
    for (int32_t b = 0; b < r->scene->body_count; ++b)
    {
        const flx_body_desc* body = &r->scene->body[b];
        json_open(&j, NULL, '{');
        json_text(&j, "name", body->name);
        json_text(&j, "path", geometry_path(body));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    manifest_settings(&j, &r->scene->settings);
    json_open(&j, "summary", '{');
    summary_json(&j, c, &r->sum);
    json_close(&j, '}');
    json_close(&j, '}');
    char* text = json_end(&j);

    char* path      = text_of("%s.run.json", r->stem);
    char* temporary = text_of("%s.tmp", path);
    FILE* file      = fopen(temporary, "w");
    bool  good      = file && fputs(text, file) != EOF;
    good            = file && fclose(file) == 0 && good;
    good            = good && rename(temporary, path) == 0;
    if (!good)
    {
        cli_error(c, CODE_INTERNAL, "%s: %s", path, strerror(errno));
        unlink(temporary);
    }
    free(temporary);
    free(path);
    free(text);
    return good;
}

static void print_resume_command(run* r)
{
    cli* c = r->c;
    cli_clear_bar(c);
    fputs("to go on:\n  ", stderr);
    print_shell_word(stderr, c->program);
    fputs(" run ", stderr);
    print_shell_word(stderr, c->operand[0]);
    for (int i = 0; i < c->found_count; ++i)
    {
        const cli_found* o = &c->found[i];
        if (strcmp(o->name, "resume") == 0 || strcmp(o->name, "output") == 0 || strcmp(o->name, "force") == 0) continue;
        fprintf(stderr, " --%s", o->name);
        if (!o->value) continue;
        fputc(' ', stderr);
        print_shell_word(stderr, o->value);
    }
    fputs(" -o ", stderr);
    print_shell_word(stderr, r->stem);
    fputs(" --resume ", stderr);
    print_shell_word(stderr, r->checkpoint);
    fputc('\n', stderr);
}

// --- stages -----------------------------------------------------------------------------------------------------

static void send_start(run* r)
{
    cli* c = r->c;
    if (!c->json) return;
    json j = json_event("start");
    json_text(&j, "version", flx_version());
    json_text(&j, "scene", r->scene->name);
    json_text(&j, "path", c->operand[0]);
    json_text(&j, "output", r->record ? r->stem : NULL);
    json_integer(&j, "frames", r->scene->run.frames);
    json_real(&j, "fps", r->scene->run.fps);
    json_integer(&j, "threads", flx_context_worker_count(c->ctx));
    json_text(&j, "isa", flx_context_isa(c->ctx));
    json_send(c, &j);
}

static void send_frame(run* r, int32_t frame, const flx_step_stats* stats)
{
    cli* c = r->c;
    if (!c->json) return;
    json j = json_event("frame");
    json_integer(&j, "frame", frame);
    json_real(&j, "time", flx_state_time(r->state));
    stats_json(&j, stats);
    json_send(c, &j);
}

static flx_status set_up(run* r)
{
    cli*         c      = r->c;
    const double before = cli_now();
    const char*  resume = cli_text(c, "resume", NULL);
    flx_status   status = flx_model_compile(c->ctx, r->scene, cli_setup_progress, c, &r->model);
    if (status == FLX_OK) status = flx_solver_create(c->ctx, r->model, NULL, cli_setup_progress, c, &r->solver);
    cli_setup_end(c);
    cli_clear_bar(c);
    if (status == FLX_OK) status = flx_state_create(c->ctx, r->model, &r->state);
    if (status == FLX_OK) status = flx_state_create(c->ctx, r->model, &r->good);
    if (status == FLX_OK && resume) status = flx_checkpoint_read(c->ctx, resume, r->state);
    if (status == FLX_OK && r->record)
        status = flx_recorder_create(c->ctx, r->stem, r->model, cli_flag(c, "force"), resume != NULL, &r->recorder);
    if (status == FLX_OK)
    {
        r->sum.setup_seconds = cli_now() - before;
        r->sum.model         = flx_model_get_info(r->model);
        r->sum.solver        = flx_solver_get_info(r->solver);
    }
    return status;
}

static void remember_frame(void* user)
{
    run* r = user;
    flx_state_copy(r->good, r->state);
}

static ending step_once(void* user, flx_step_stats* step)
{
    run*             r      = user;
    cli*             c      = r->c;
    const flx_status status = flx_solver_step(r->solver, r->state, step);
    if (status == FLX_ERR_NONFINITE)
    {
        cli_error(c, CODE_DIVERGED, "diverged: %s", flx_context_error(c->ctx));
        return ENDING_DIVERGED;
    }
    if (status != FLX_OK)
    {
        cli_fail(c, status);
        return ENDING_FAILED;
    }
    if (step->motion > r->scene->settings.divergence * r->sum.model.size)
    {
        cli_error(c, CODE_DIVERGED,
                  "diverged: a vertex moved %.3g m in one iteration at t = %.4g s, more than %g body sizes",
                  step->motion, flx_state_time(r->state), r->scene->settings.divergence);
        flx_state_copy(r->state, r->good);
        return ENDING_DIVERGED;
    }
    return ENDING_DONE;
}

static flx_status end_frame(void* user, int32_t frame, const flx_step_stats* stats)
{
    run*          r      = user;
    const int32_t every  = r->scene->run.checkpoint_every;
    flx_status    status = FLX_OK;
    summary_add(&r->sum, stats);
    if (r->record && every > 0 && frame < r->scene->run.frames && frame % every == 0)
    {
        status = flx_checkpoint_write(r->c->ctx, r->checkpoint, r->state);
        r->checkpointed |= status == FLX_OK;
    }
    if (status == FLX_OK) send_frame(r, frame, stats);
    return status;
}

static ending step_all(run* r)
{
    frame_loop    loop = {.c        = r->c,
                          .user     = r,
                          .state    = r->state,
                          .recorder = r->recorder,
                          .frames   = r->scene->run.frames,
                          .substeps = r->substeps,
                          .step     = step_once,
                          .begin    = remember_frame,
                          .end      = end_frame};
    const int32_t done = (int32_t)(flx_state_step_count(r->state) / r->substeps);
    if (done >= loop.frames)
        cli_say(r->c, "the checkpoint is at frame %d of %d: nothing is left to do", done, loop.frames);
    const ending end = step_frames(&loop);
    r->since         = loop.since;
    return end;
}

static void count_crossings(run* r)
{
    const flx_model_info info = r->sum.model;
    double*              x    = malloc(sizeof *x * 3 * ((size_t)info.surface_vertex_count + 1));
    if (!x) return;
    flx_state_surface_positions(r->state, x);
    int64_t count = -1;
    if (flx_surface_crossings(r->c->ctx, info.surface_vertex_count, x, info.surface_triangle_count,
                              flx_model_surface_triangles(r->model), &count) == FLX_OK)
        r->sum.crossings = count;
    free(x);
}

/// The disk is full, or memory: what was computed before the frame that failed shall not be lost. A checkpoint is
/// smaller than a frame and may still find room; otherwise the last one that was written is there.
static void save_after_failure(run* r)
{
    if (!r->record || flx_state_step_count(r->good) == 0) return;
    const bool saved = flx_checkpoint_write(r->c->ctx, r->checkpoint, r->good) == FLX_OK;
    if (saved || r->checkpointed) print_resume_command(r);
}

static int finish(run* r, ending end)
{
    cli* c              = r->c;
    r->sum.wall_seconds = cli_now() - r->since;
    r->sum.interrupted  = end == ENDING_STOPPED;
    r->sum.diverged     = end == ENDING_DIVERGED;
    r->sum.state_hash   = flx_state_hash(r->state);
    int code            = end == ENDING_DIVERGED ? CODE_DIVERGED : end == ENDING_FAILED ? CODE_INTERNAL : CODE_FINE;
    cli_clear_bar(c);
    if (end == ENDING_FAILED)
    {
        save_after_failure(r);
        return code;
    }

    flx_status status = FLX_OK;
    if (r->record)
    {
        status      = flx_recorder_close(r->recorder);
        r->recorder = NULL;
        if (status == FLX_OK) status = flx_checkpoint_write(c->ctx, r->checkpoint, r->state);
        if (status != FLX_OK) return cli_fail(c, status);
    }
    if (end == ENDING_DONE) count_crossings(r);

    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    r->sum.bytes_peak = flx_context_bytes_peak(c->ctx);
    r->sum.rss_peak   = 1024 * (int64_t)usage.ru_maxrss;
    if ((c->json || r->record || !c->quiet) && r->sum.solver.forward_bytes > 0) // somebody will see it
        r->sum.read_bandwidth = flx_context_read_bandwidth(c->ctx);
    summary_print(c, &r->sum, r->scene);
    if (c->json)
    {
        json j = json_event("summary");
        summary_json(&j, c, &r->sum);
        json_send(c, &j);
    }
    if (r->record && !write_manifest(r)) code = CODE_INTERNAL;

    if (!r->record && end == ENDING_DIVERGED) cli_say(c, "the last good state was not saved: --no-record");
    if (r->record && end == ENDING_DIVERGED) cli_say(c, "the last good state is in %s", r->checkpoint);
    if (r->record && end == ENDING_DONE) cli_say(c, "wrote %s.xdmf", r->stem);
    if (r->record && end == ENDING_STOPPED) print_resume_command(r);
    return code;
}

static int run_scene(cli* c)
{
    run r = {.c = c, .record = !cli_flag(c, "no-record")};
    if (!r.record && cli_text(c, "output", NULL))
    {
        cli_error(c, CODE_USAGE, "--no-record and --output: one of the two");
        return CODE_USAGE;
    }
    int code = cli_context(c);
    if (code >= 0) return code;
    cli_signals_watch();
    code = cli_scene(c, c->operand[0], &r.scene);
    if (code >= 0) return code;
    r.substeps = r.scene->settings.mode == FLX_MODE_DYNAMIC ? r.scene->settings.substeps : 1;
    code       = choose_output(&r);
    if (code >= 0) goto done;
    if (!summary_create(&r.sum, r.scene->run.frames))
    {
        cli_error(c, CODE_INTERNAL, "out of memory for %d frames", r.scene->run.frames);
        code = CODE_INTERNAL;
        goto done;
    }

    send_start(&r);
    const flx_status status = set_up(&r);
    if (status == FLX_ERR_CANCELLED)
    {
        cli_say(c, "stopped during setup: nothing to save");
        code = CODE_FINE;
    }
    else
        code = status == FLX_OK ? finish(&r, step_all(&r)) : cli_fail(c, status);

done:
    if (r.recorder)
    {
        const flx_status closed = flx_recorder_close(r.recorder);
        if (closed != FLX_OK && code == CODE_FINE) code = cli_fail(c, closed);
    }
    summary_release(&r.sum);
    flx_state_destroy(r.good);
    flx_state_destroy(r.state);
    flx_solver_destroy(r.solver);
    flx_model_destroy(r.model);
    flx_scene_destroy(c->ctx, r.scene);
    free(r.stem);
    free(r.checkpoint);
    if (cli_signal_seen()) cli_signal_raise(cli_signal_seen()); // 130 or 143, as a shell expects it
    return code;
}

static const cli_option options[] = {
    {'o', "output", "PATH", "recording, without ending; default: the scene's name, here"},
    {'f', "force", NULL, "overwrite"},
    {0, "resume", "CHECKPOINT", "go on from there, appending to the recording"},
    {0, "no-record", NULL, "write no files"},
    CLI_CACHE_OPTION,
    CLI_SCENE_OPTIONS,
    {0, NULL, NULL, NULL},
};

const cli_verb cli_run = {
    .name         = "run",
    .operands     = "SCENE",
    .summary      = "Simulate a scene and record every frame.",
    .details      = "Writes PATH.xdmf and PATH.frames/ (ParaView opens the first), PATH.checkpoint and PATH.run.json.\n"
                    "Ctrl-C finishes the step, saves, and prints the command that goes on; a second one quits at once.\n"
                    "Exit code 4: it diverged, and the last good state was saved. SIGUSR1 prints a line of status.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = run_scene,
};
