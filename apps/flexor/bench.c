// flexor bench: the same frames again for each thread count and instruction set.
#include "summary.h"

#include <stdlib.h>
#include <string.h>

typedef struct result
{
    int32_t  threads;
    char     isa[16];
    double   setup_seconds, median[PHASE_COUNT];
    uint64_t hash;
} result;

/// One context, one model, `frames` frames. -1 = fine, 0 = this machine lacks the instruction set, else an exit code.
static int measure(cli* c, int32_t threads, const char* isa, int32_t frames, result* out)
{
    flx_context* outer  = c->ctx;
    flx_context* ctx    = NULL;
    flx_scene*   scene  = NULL;
    flx_model*   model  = NULL;
    flx_solver*  solver = NULL;
    flx_state*   state  = NULL;
    summary      sum    = {0};
    int          code   = cli_context_as(c, threads, isa, &ctx);
    if (code >= 0) return code;

    c->ctx = ctx;
    code   = cli_scene(c, c->operand[0], &scene);
    if (code >= 0) goto done;
    const double before = cli_now();
    flx_status   status = flx_model_compile(ctx, scene, cli_setup_progress, c, &model);
    if (status == FLX_OK) status = flx_solver_create(ctx, model, NULL, cli_setup_progress, c, &solver);
    if (status == FLX_OK) status = flx_state_create(ctx, model, &state);
    if (status == FLX_OK && !summary_create(&sum, frames)) status = FLX_ERR_MEMORY;
    out->setup_seconds     = cli_now() - before;
    const double  since    = cli_now();
    const int32_t substeps = scene->settings.mode == FLX_MODE_DYNAMIC ? scene->settings.substeps : 1;
    for (int32_t f = 0; f < frames && status == FLX_OK && !cli_signal_seen(); ++f)
    {
        flx_step_stats frame = {0}, step;
        for (int32_t k = 0; k < substeps && status == FLX_OK; ++k)
        {
            status = flx_solver_step(solver, state, &step);
            if (status == FLX_OK) add_stats(&frame, &step, k == 0);
        }
        if (status == FLX_OK) summary_add(&sum, &frame);
        cli_frame_progress(c, f + 1, frames, 0, since, frame.ms_total / substeps);
    }
    cli_clear_bar(c);
    if (status != FLX_OK)
    {
        code = cli_fail(c, status);
        goto done;
    }
    out->threads = flx_context_worker_count(ctx);
    snprintf(out->isa, sizeof out->isa, "%s", flx_context_isa(ctx));
    for (int p = 0; p < PHASE_COUNT; ++p) out->median[p] = median_of(sum.ms[p], sum.frames);
    out->hash = flx_state_hash(state);
    code      = -1;
done:
    summary_release(&sum);
    flx_state_destroy(state);
    flx_solver_destroy(solver);
    flx_model_destroy(model);
    flx_scene_destroy(ctx, scene);
    flx_context_destroy(ctx);
    c->ctx = outer;
    return code;
}

static bool machine_has(const char* isa)
{
    flx_context_desc desc = flx_context_desc_default();
    flx_context*     ctx  = NULL;
    desc.isa              = isa;
    desc.worker_count     = 1;
    const bool has        = flx_context_create(&desc, &ctx) == FLX_OK;
    flx_context_destroy(ctx);
    return has;
}

static void print_header(FILE* out, bool csv)
{
    fprintf(out, csv ? "threads,isa,setup_s" : "%8s %-8s %9s", "threads", "isa", "setup s");
    for (int p = 0; p < PHASE_COUNT; ++p)
        if (csv)
            fprintf(out, ",%s_ms", phase_names[p]);
        else
            fprintf(out, " %9s", phase_names[p]);
    fprintf(out, csv ? ",frames_per_second,state_hash\n" : " %9s  %s\n", "frames/s", "state");
}

static void print_result(FILE* out, bool csv, const result* r)
{
    fprintf(out, csv ? "%d,%s,%.3f" : "%8d %-8s %9.2f", r->threads, r->isa, r->setup_seconds);
    for (int p = 0; p < PHASE_COUNT; ++p) fprintf(out, csv ? ",%.4f" : " %9.2f", r->median[p]);
    fprintf(out, csv ? ",%.3f,%016llx\n" : " %9.2f  %016llx\n",
            r->median[PHASE_TOTAL] > 0 ? 1e3 / r->median[PHASE_TOTAL] : 0, (unsigned long long)r->hash);
    fflush(out);
}

static int bench(cli* c)
{
    static const char* const every[] = {"scalar", "sse2", "avx2", "avx512", "neon", NULL};
    const char*              path    = cli_text(c, "output", NULL);
    const char*              list    = cli_text(c, "sweep-threads", NULL);
    int32_t                  frames = 20, threads = 0, thread_count = 1;
    int32_t*                 sweep = NULL;
    FILE*                    csv   = NULL;
    if (!cli_integer(c, "frames", 1, 1000000, &frames) || !cli_integer(c, "threads", 0, 256, &threads))
        return CODE_USAGE;
    if (list && !cli_integers(c, "sweep-threads", list, &sweep, &thread_count)) return CODE_USAGE;
    for (int32_t i = 0; sweep && i < thread_count; ++i)
        if (sweep[i] < 1 || sweep[i] > 256)
        {
            cli_error(c, CODE_USAGE, "--sweep-threads %s: each must be 1 to 256", list);
            free(sweep);
            return CODE_USAGE;
        }
    cli_signals_watch();
    if (path)
    {
        csv = make_parent_folders(c, path) ? fopen(path, cli_flag(c, "force") ? "w" : "wx") : NULL;
        if (!csv)
        {
            cli_error(c, CODE_INTERNAL, "%s: cannot be written, or is there already (-f overwrites)", path);
            free(sweep);
            return CODE_INTERNAL;
        }
        print_header(csv, true);
    }

    int code = -1;
    print_header(stdout, false);
    for (int32_t i = 0; i < thread_count && code < 0; ++i)
        for (int k = 0; (k == 0 || (cli_flag(c, "sweep-isa") && every[k])) && code < 0 && !cli_signal_seen(); ++k)
        {
            const char* isa = cli_flag(c, "sweep-isa") ? every[k] : cli_text(c, "isa", "auto");
            result      r;
            if (cli_flag(c, "sweep-isa") && !machine_has(isa)) continue;
            code = measure(c, sweep ? sweep[i] : threads, isa, frames, &r);
            if (code >= 0) break;
            print_result(stdout, false, &r);
            if (csv) print_result(csv, true, &r);
        }
    if (csv && fclose(csv) != 0) cli_error(c, code = CODE_INTERNAL, "%s: cannot be written", path);
    free(sweep);
    if (cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    return code < 0 ? CODE_FINE : code;
}

static const cli_option options[] = {
    {0, "frames", "N", "default 20"},
    {0, "sweep-threads", "LIST", "such as 1,2,4; default: --threads, or all cores"},
    {0, "sweep-isa", NULL, "every instruction set of this machine"},
    {'o', "output", "FILE.csv", "write the table as CSV too"},
    {'f', "force", NULL, "overwrite"},
    CLI_SCENE_OPTIONS,
    {0, NULL, NULL, NULL},
};

const cli_verb cli_bench = {
    .name     = "bench",
    .operands = "SCENE",
    .summary  = "Time a scene's frames, for several thread counts and instruction sets.",
    .details = "Medians in ms. States that differ between instruction sets are rounding; between thread counts, a bug.",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = bench,
};
