// flexor bench: the same frames again for each thread count and instruction set.
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct result
{
    int32_t  threads;
    char     isa[16];
    double   setup_seconds, median[PHASE_COUNT];
    double   low, high;         // ms, 10th and 90th percentile of a frame
    double   mean;              // ms of a frame
    double   forward, backward; // bytes/s of the passes over the factor; NaN without them
    double   reading;           // bytes/s of plain reading by as many threads
    uint64_t hash;
    bool     whole; // not stopped by a signal
} result;

static void describe(flx_context* ctx, const summary* sum, result* out)
{
    const double* total = sum->ms[PHASE_TOTAL];
    out->threads        = flx_context_worker_count(ctx);
    snprintf(out->isa, sizeof out->isa, "%s", flx_context_isa(ctx));
    for (int p = 0; p < PHASE_COUNT; ++p) out->median[p] = median_of(sum->ms[p], sum->frames);
    out->low      = quantile_of(total, sum->frames, 0.1);
    out->high     = quantile_of(total, sum->frames, 0.9);
    out->mean     = mean_of(total, sum->frames);
    out->forward  = pass_rate(sum, PHASE_FORWARD);
    out->backward = pass_rate(sum, PHASE_BACKWARD);
    out->reading  = flx_context_read_bandwidth(ctx);
    if (out->reading <= 0) out->reading = NAN;
}

/// One context, one model, `frames` frames, 0 = the scene's run. -1 = fine, 0 = this machine lacks the instruction set,
/// else an exit code.
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
    if (frames == 0) frames = scene->run.frames;
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
    sum.solver = flx_solver_get_info(solver);
    describe(ctx, &sum, out);
    out->hash  = flx_state_hash(state);
    out->whole = sum.frames == frames;
    code       = -1;
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

static const char* const columns[][2] = {
    // of CSV, of the table; after the phases
    {"p10_ms", "p10"},
    {"p90_ms", "p90"},
    {"frames_per_second", "fps"},
    {"frames_per_second_mean", "mean fps"},
    {"speedup", "speed-up"},
    {"forward_GB_per_s", "fwd GB/s"},
    {"backward_GB_per_s", "bwd GB/s"},
    {"read_GB_per_s", "reading"},
};

static void print_header(FILE* out, bool csv)
{
    fprintf(out, csv ? "%s,%s,%s" : "%7s %-7s %7s", "threads", "isa", csv ? "setup_s" : "setup s");
    for (int p = 0; p < PHASE_COUNT; ++p) fprintf(out, csv ? ",%s_ms" : " %8s", phase_names[p]);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        fprintf(out, csv ? ",%s" : " %8s", columns[i][csv ? 0 : 1]);
    fprintf(out, csv ? ",%s\n" : "  %s\n", csv ? "state_hash" : "state");
}

static double per_second(double ms)
{
    return ms > 0 ? 1e3 / ms : NAN;
}

/// A number, or an empty cell of a CSV, or a dash where people read.
static void print_cell(FILE* out, bool csv, int decimals, double value)
{
    if (isfinite(value))
        fprintf(out, csv ? ",%.*f" : " %8.*f", csv ? decimals + 2 : decimals, value);
    else
        fprintf(out, csv ? "," : " %8s", "-");
}

/// `first` is the row that speed-up is measured against.
static void print_result(FILE* out, bool csv, const result* r, const result* first)
{
    fprintf(out, csv ? "%d,%s,%.3f" : "%7d %-7s %7.2f", r->threads, r->isa, r->setup_seconds);
    for (int p = 0; p < PHASE_COUNT; ++p) print_cell(out, csv, 2, r->median[p]);
    print_cell(out, csv, 2, r->low);
    print_cell(out, csv, 2, r->high);
    print_cell(out, csv, 2, per_second(r->median[PHASE_TOTAL]));
    print_cell(out, csv, 2, per_second(r->mean));
    print_cell(out, csv, 2, first->median[PHASE_TOTAL] / r->median[PHASE_TOTAL]);
    print_cell(out, csv, 1, 1e-9 * r->forward);
    print_cell(out, csv, 1, 1e-9 * r->backward);
    print_cell(out, csv, 1, 1e-9 * r->reading);
    fprintf(out, csv ? ",%016llx\n" : "  %016llx\n", (unsigned long long)r->hash);
    fflush(out);
}

/// The first row of this instruction set, or NULL.
static const result* same_isa(const result* rows, int32_t count, const char* isa)
{
    for (int32_t i = 0; i < count; ++i)
        if (strcmp(rows[i].isa, isa) == 0) return &rows[i];
    return NULL;
}

/// The promise that a bench puts to the test: the state has the same bits for any number of threads.
static bool check_state(cli* c, const result* r, const result* other)
{
    if (!other || other->hash == r->hash) return true;
    cli_error(c, CODE_INTERNAL, "%s: state %016llx with %d threads, %016llx with %d: a bug, please report it", r->isa,
              (unsigned long long)r->hash, r->threads, (unsigned long long)other->hash, other->threads);
    return false;
}

/// The table, row by row; returns an exit code, or -1 when all went well.
static int measure_all(cli* c, const int32_t* threads, int32_t thread_count, int32_t frames, FILE* csv)
{
    static const char* const every[] = {"scalar", "sse2", "avx2", "avx512", "neon", NULL};
    const bool               sweep   = cli_flag(c, "sweep-isa");
    const int32_t            most    = thread_count * (int32_t)(sizeof every / sizeof every[0]);
    result*                  rows    = calloc((size_t)most, sizeof *rows);
    int32_t                  count   = 0;
    int                      code    = -1;
    bool                     same    = true;
    if (!rows) return CODE_INTERNAL;
    print_header(stdout, false);
    if (csv) print_header(csv, true);
    for (int32_t i = 0; i < thread_count && code < 0; ++i)
        for (int k = 0; (k == 0 || (sweep && every[k])) && code < 0 && !cli_signal_seen(); ++k)
        {
            const char* isa = sweep ? every[k] : cli_text(c, "isa", "auto");
            result*     r   = &rows[count];
            if (sweep && !machine_has(isa)) continue;
            code = measure(c, threads[i], isa, frames, r);
            if (code >= 0 || !r->whole) break;
            const result* alike = same_isa(rows, count++, r->isa);
            const result* first = thread_count > 1 && alike ? alike : thread_count > 1 ? r : rows;
            print_result(stdout, false, r, first);
            if (csv) print_result(csv, true, r, first);
            same = check_state(c, r, alike) && same;
        }
    free(rows);
    return code < 0 && !same ? CODE_INTERNAL : code;
}

static int bench(cli* c)
{
    const char* path   = cli_text(c, "output", NULL);
    const char* list   = cli_text(c, "sweep-threads", NULL);
    int32_t     frames = 0, threads = 0, thread_count = 1;
    int32_t*    sweep = NULL;
    FILE*       csv   = NULL;
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
    }
    int code = measure_all(c, sweep ? sweep : &threads, thread_count, frames, csv);
    if (csv && fclose(csv) != 0) cli_error(c, code = CODE_INTERNAL, "%s: cannot be written", path);
    free(sweep);
    if (cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    return code < 0 ? CODE_FINE : code;
}

static const cli_option options[] = {
    {0, "frames", "N", "default: the scene's run"},
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
    .details =
        "Phases in ms, medians of the frames; p10 and p90 are of `total`; fps of the median frame, `mean fps` of all.\n"
        "Speed-up: of the median frame, against the first row (in a thread sweep, the first of that instruction set).\n"
        "fwd and bwd GB/s: how fast the two substitutions read the factor; `reading`: what as many threads reach by\n"
        "reading memory and nothing else. A factor that stays in a cache is read faster than that.\n"
        "The setup is timed in full: nothing is taken from an earlier run's cache.\n"
        "States differ between instruction sets by rounding. Between thread counts they must not: exit code 1.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = bench,
};
