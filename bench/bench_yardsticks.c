// Ours against the solvers others would use, on one body, in one run, by turns: what counts are ratios within a race.
//
//   bench_yardsticks [--workers N] [--rounds N] [--length CELLS] [--races LIST] [--csv FILE] [--markdown FILE]
//
// Races, all unless listed (comma-separated): setup, solve, inner, eigen (minutes: Eigen's Cholesky has one thread).
// A round runs every yardstick once or a few times, each after a pause in which the others' threads fall asleep.
#include "inner.h"
#include "matrices.h"
#include "report.h"
#include "yards.h"

#include <cblas.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MOST_YARDS 16
#define SETUP_ROUNDS 3
#define SOLVES 5      // timed solves of a yardstick in a round,
#define WARM_MS 100.0 // after at least one and at least this long untimed: clocks and threads have to wake up
#define PCG_TOLERANCE 1e-6
#define ACTIVE 500

typedef struct options
{
    int32_t     workers, rounds, length;
    const char *races, *csv, *markdown;
} options;

typedef struct bench
{
    options      want;
    flx_context* ctx;
    body         arm;
    report       out;
    int          count; // yardsticks; the first is ours
    yard         yard[MOST_YARDS];
    float*       inverse; // Sigma^-1, [n2][n2], for the partial ones
    double*      b;       // [3][n] right-hand sides in our order
    double*      x;       // [3][n] scratch in the yardstick's order
    double*      ours;    // [3][n] answer in our order
    double*      answer;  // [3][n] a yardstick's
} bench;

// --- the contestants -------------------------------------------------------------------------------------------

static void missing(const bench* b, const char* what, const char* package)
{
    report_line(&b->out, "%s: not installed (%s).", what, package);
}

static void add_pardiso(bench* b)
{
    static const struct
    {
        bool single, partial, helped;
    } kind[] = {{1, 1, 0}, {1, 1, 1}, {0, 1, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; ++i)
        if (yard_pardiso(b->want.workers, kind[i].single, kind[i].partial, kind[i].helped, &b->yard[b->count]))
            ++b->count;
        else if (i == 0)
        {
            missing(b, "MKL PARDISO", "libmkl-dev");
            return;
        }
}

static void add_yards(bench* b, bool eigen)
{
    for (int i = 0; i < b->count; ++i) b->yard[i].destroy(b->yard[i].state);
    b->count = yard_flexor(b->ctx, &b->arm, &b->yard[0]);
    if (eigen)
    {
#ifdef FLX_HAVE_EIGEN
        b->count += yard_eigen(b->want.workers, &b->yard[b->count]);
#else
        missing(b, "Eigen", "libeigen3-dev, a C++ compiler");
#endif
        return;
    }
    if (yard_cholmod(b->want.workers, true, &b->yard[b->count]))
    {
        ++b->count;
        b->count += yard_cholmod(b->want.workers, false, &b->yard[b->count]);
    }
    else
        missing(b, "CHOLMOD", "libsuitesparse-dev");
    add_pardiso(b);
    b->count += yard_pcg(b->ctx, PCG_TOLERANCE, &b->yard[b->count]);
}

static void report_versions(const bench* b)
{
    const char* last = "";
    for (int i = 0; i < b->count; ++i)
    {
        if (b->yard[i].version[0] && strcmp(last, b->yard[i].version) != 0)
            report_line(&b->out, "%s.", b->yard[i].version);
        last = b->yard[i].version;
    }
}

static int find(const bench* b, const char* name)
{
    for (int i = 0; i < b->count; ++i)
        if (strcmp(b->yard[i].name, name) == 0) return i;
    return -1;
}

// --- setup -------------------------------------------------------------------------------------------------------

static bool setup_once(bench* b, int i, report_row* row)
{
    yard*             y     = &b->yard[i];
    const flx_csc*    m     = y->own_order ? &b->arm.in_mesh_order : &b->arm.a;
    const yard_matrix a     = {m->n, b->arm.free_count, m->first, m->row, m->value};
    double            ms[2] = {0, 0};
    settle();
    if (!y->setup(y, &a, ms))
    {
        fprintf(stderr, "%s: setup failed\n", y->name);
        return false;
    }
    sample_add(&row->first, ms[0]);
    sample_add(&row->second, ms[1]);
    sample_add(&row->together, ms[0] + ms[1]);
    memcpy(row->note, y->note, sizeof row->note);
    return true;
}

/// All set up, `rounds` times by turns; the last ones stay.
static bool setup_all(bench* b, int rounds, report_row* rows)
{
    for (int i = 0; i < b->count; ++i) rows[i] = (report_row){.who = b->yard[i].name, .residual = -1, .difference = -1};
    for (int k = 0; k < rounds; ++k)
        for (int i = 0; i < b->count; ++i)
            if (!setup_once(b, i, &rows[i])) return false;
    return true;
}

static bool invert_schur(bench* b)
{
    const int32_t n2    = b->arm.a.n - b->arm.free_count;
    const int64_t nn    = (int64_t)n2 * n2;
    const double* sigma = flx__factor_schur(yard_flexor_factor(&b->yard[0]));
    double*       work  = flx__alloc(b->ctx, nn, sizeof *work);
    if (!b->inverse) b->inverse = flx__alloc(b->ctx, nn, sizeof *b->inverse);
    if (!work || !b->inverse) return false;
    memcpy(work, sigma, (size_t)nn * sizeof *work);
    if (flx__dense_inverse_f64(b->ctx, n2, work, n2, NULL) != FLX_OK) return false;
    for (int64_t i = 0; i < nn; ++i) b->inverse[i] = (float)work[i];
    flx__free(b->ctx, work);
    return true;
}

static double ratio(const report_row* theirs, const report_row* ours)
{
    const double m = median(&ours->together);
    return m > 0 ? median(&theirs->together) / m : 0;
}

static double ratio_to(const bench* b, const report_row* rows, const char* name)
{
    const int i = find(b, name);
    return i < 0 ? 0 : ratio(&rows[i], &rows[0]);
}

static void report_setup(const bench* b, const report_row* rows)
{
    const int    i    = find(b, "CHOLMOD double, its METIS order");
    const double ours = median(&rows[0].together);
    report_race(&b->out, "setup", "Setup: ordering, analysis, factorization", "analysis", "numeric", rows, b->count);
    const report_target target[] = {
        {"setup: PARDISO single, Schur / ours", 1, ratio_to(b, rows, "PARDISO single, Schur")},
        {"setup: PARDISO single, Schur, helped / ours", 1, ratio_to(b, rows, "PARDISO single, Schur, helped")},
        {"setup: CHOLMOD with analysis, its METIS order / ours", 2, i < 0 ? 0 : ratio(&rows[i], &rows[0])},
        {"setup: CHOLMOD numeric alone, its METIS order / ours with ordering and analysis", 2,
         i < 0 ? 0 : median(&rows[i].second) / ours},
        {"setup: CHOLMOD numeric alone, our order / ours with ordering and analysis", 2,
         i < 0 ? 0 : median(&rows[find(b, "CHOLMOD double, our order")].second) / ours},
    };
    report_targets(&b->out, target, (int)(sizeof target / sizeof target[0]));
}

// --- forward and backward ----------------------------------------------------------------------------------------

/// |b - A x| / |b|, the worst of three columns.
static double residual(const bench* b, const double* x)
{
    const int32_t n     = b->arm.a.n;
    double*       ax    = b->x;
    double        worst = 0;
    for (int c = 0; c < 3; ++c)
    {
        double r = 0, s = 0;
        csc_multiply(&b->arm.a, x + c * (int64_t)n, ax);
        for (int32_t i = 0; i < n; ++i)
        {
            const double e = b->b[c * (int64_t)n + i] - ax[i];
            r += e * e;
            s += b->b[c * (int64_t)n + i] * b->b[c * (int64_t)n + i];
        }
        worst = fmax(worst, sqrt(r / s));
    }
    return worst;
}

static double difference(const double* x, const double* from, int64_t count)
{
    double d = 0, s = 0;
    for (int64_t i = 0; i < count; ++i)
    {
        d += (x[i] - from[i]) * (x[i] - from[i]);
        s += from[i] * from[i];
    }
    return sqrt(d / s);
}

/// x_2 = Sigma^-1 x_2, ms. What lies between the two passes of a partial factor.
static double middle(bench* b, double* x)
{
    const int32_t n = b->arm.a.n, n1 = b->arm.free_count, n2 = n - n1;
    float*        in = malloc(6 * (size_t)n2 * sizeof *in);
    if (!in) abort();
    float* const from[3] = {in, in + n2, in + 2 * (int64_t)n2};
    float* const to[3]   = {in + 3 * (int64_t)n2, in + 4 * (int64_t)n2, in + 5 * (int64_t)n2};
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < n2; ++i) from[c][i] = (float)x[c * (int64_t)n + n1 + i];
    const double start = now_ms();
    flx__dense_multiply3_f32(b->ctx, n2, b->inverse, n2, from, to);
    const double ms = now_ms() - start;
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < n2; ++i) x[c * (int64_t)n + n1 + i] = (double)to[c][i];
    free(in);
    return ms;
}

/// A whole solve of A x = b by yardstick i; its answer in b->answer, in our order.
static double solve_once(bench* b, int i, report_row* row, samples* dense)
{
    const int32_t n = b->arm.a.n;
    yard*         y = &b->yard[i];
    double        ms[3];
    for (int c = 0; c < 3; ++c)
        for (int32_t k = 0; k < n; ++k)
            b->x[c * (int64_t)n + k] = b->b[c * (int64_t)n + (y->own_order ? b->arm.mesh_place[k] : k)];
    ms[0] = y->forward(y->state, b->x);
    ms[1] = y->partial ? middle(b, b->x) : 0;
    ms[2] = y->backward ? y->backward(y->state, b->x) : 0;
    for (int c = 0; c < 3; ++c)
        for (int32_t k = 0; k < n; ++k)
            b->answer[c * (int64_t)n + (y->own_order ? b->arm.mesh_place[k] : k)] = b->x[c * (int64_t)n + k];
    if (!row) return ms[0] + ms[1] + ms[2];
    if (y->backward)
    {
        sample_add(&row->first, ms[0]);
        sample_add(&row->second, ms[2]);
    }
    sample_add(&row->together, ms[0] + ms[2]);
    if (dense) sample_add(dense, ms[1]);
    return ms[0] + ms[1] + ms[2];
}

static void solve_all(bench* b, int rounds, report_row* rows, samples* dense, samples* reading)
{
    const int64_t count = 3 * (int64_t)b->arm.a.n;
    for (int i = 0; i < b->count; ++i) rows[i] = (report_row){.who = b->yard[i].name, .residual = -1, .difference = -1};
    for (int k = 0; k < rounds; ++k)
    {
        settle();
        sample_add(reading, 1e-9 * flx_context_read_bandwidth(b->ctx));
        for (int i = 0; i < b->count; ++i)
        {
            settle();
            for (double spent = 0; spent < WARM_MS;) spent += solve_once(b, i, NULL, NULL);
            for (int s = 0; s < SOLVES; ++s) solve_once(b, i, &rows[i], i == 0 ? dense : NULL);
            if (i == 0) memcpy(b->ours, b->answer, (size_t)count * sizeof(double));
            rows[i].difference = difference(b->answer, b->ours, count);
            rows[i].residual   = residual(b, b->answer);
        }
    }
}

static void report_solve(const bench* b, report_row* rows, const samples* dense, const samples* reading)
{
    const flx_factor_info info  = flx__factor_get_info(yard_flexor_factor(&b->yard[0]));
    const double          bytes = 4.0 * (double)(info.forward_entries + info.backward_entries);
    const double          rate  = 1e-6 * bytes / median(&rows[0].together);
    const int             i     = find(b, "Jacobi-PCG (ours) to 1e-6");
    snprintf(rows[0].note, sizeof rows[0].note, "%.0f MB read at %.1f GB/s", 1e-6 * bytes, rate);
    if (i > 0) snprintf(rows[i].note, sizeof rows[i].note, "%d iterations", (int)yard_pcg_iterations(&b->yard[i]));
    report_race(&b->out, "solve", "Forward and backward substitution, three right-hand sides", "forward", "backward",
                rows, b->count);
    report_line(
        &b->out,
        "Plain reading %.1f GB/s (%.1f-%.1f). Sigma^-1 times three columns %.2f ms (%.2f-%.2f), not counted above: "
        "yardsticks without a second part solve all of A. With it ours takes %.2f ms.",
        median(reading), quantile(reading, 0), quantile(reading, 1), median(dense), quantile(dense, 0),
        quantile(dense, 1), median(&rows[0].together) + median(dense));
    const report_target target[] = {
        {"solve: PARDISO single, Schur (331 + 333) / ours", 6, ratio_to(b, rows, "PARDISO single, Schur")},
        {"solve: PARDISO single, Schur, helped / ours", 6, ratio_to(b, rows, "PARDISO single, Schur, helped")},
        {"solve: PARDISO single, plain (33) / ours", 3, ratio_to(b, rows, "PARDISO single, plain")},
        {"solve: PARDISO single, plain, helped / ours", 3, ratio_to(b, rows, "PARDISO single, plain, helped")},
        {"solve: CHOLMOD, its METIS order / ours", 6, ratio_to(b, rows, "CHOLMOD double, its METIS order")},
        {"solve: CHOLMOD, our order / ours", 6, ratio_to(b, rows, "CHOLMOD double, our order")},
        {"solve: share of plain reading", 0.5, rate / median(reading)},
    };
    report_targets(&b->out, target, (int)(sizeof target / sizeof target[0]));
}

static bool race_systems(bench* b, bool setup, bool solve)
{
    report_row rows[MOST_YARDS];
    add_yards(b, false);
    report_versions(b);
    if (!setup_all(b, setup ? SETUP_ROUNDS : 1, rows)) return false;
    if (setup) report_setup(b, rows);
    if (!solve) return true;
    samples dense = {0}, reading = {0};
    if (!invert_schur(b)) return false;
    solve_all(b, b->want.rounds, rows, &dense, &reading);
    report_solve(b, rows, &dense, &reading);
    return true;
}

static bool race_eigen(bench* b)
{
    report_row rows[MOST_YARDS];
    samples    dense = {0}, reading = {0};
    add_yards(b, true);
    if (b->count < 2) return true;
    report_versions(b);
    if (!setup_all(b, 1, rows) || !invert_schur(b)) return false;
    report_race(&b->out, "eigen setup", "Eigen: setup, once", "analysis", "numeric", rows, b->count);
    solve_all(b, 3, rows, &dense, &reading);
    report_race(&b->out, "eigen solve", "Eigen: solve of three right-hand sides", "forward", "backward", rows,
                b->count);
    return true;
}

// --- inner contact solve -----------------------------------------------------------------------------------------

enum
{
    INNER_UNILATERAL,
    INNER_SPRING,
    INNER_OPENBLAS,
    INNER_REFACTOR,
    INNER_COUNT
};

static double inner_once(inner* in, int which, int32_t workers, float* dense, double* delta, double* factor)
{
    *factor = 0;
    if (which == INNER_OPENBLAS) return inner_refactor(in, workers, dense, delta, factor);
    const double ms = inner_solve(in, which == INNER_UNILATERAL ? FLX_LAW_UNILATERAL : FLX_LAW_SPRING,
                                  which == INNER_REFACTOR ? FLX_STRATEGY_REFACTOR : FLX_STRATEGY_COMPLIANCE);
    for (int c = 0; c < 3; ++c)
        memcpy(delta + c * (int64_t)in->n2, in->solver.delta[c], (size_t)in->n2 * sizeof(double));
    return ms;
}

static void inner_round(inner* in, int32_t workers, float* dense, double* delta, double* spring, report_row* rows)
{
    double factor;
    for (int i = 0; i < INNER_COUNT; ++i)
    {
        double* const to = i == INNER_SPRING ? spring : delta;
        settle();
        for (double spent = 0; spent < WARM_MS;) spent += inner_once(in, i, workers, dense, to, &factor);
        for (int s = 0; s < SOLVES; ++s)
        {
            sample_add(&rows[i].together, inner_once(in, i, workers, dense, to, &factor));
            if (factor > 0) sample_add(&rows[i].first, factor);
        }
        if (i == INNER_UNILATERAL)
            rows[i].difference = inner_lambda_error(in);
        else if (i != INNER_SPRING)
            rows[i].difference = difference(delta, spring, 3 * (int64_t)in->n2);
        if (i != INNER_OPENBLAS)
            snprintf(rows[i].note, sizeof rows[i].note, "%d contacts act%s", (int)in->solver.contact.pushing_count,
                     i == INNER_UNILATERAL ? "; difference: of lambda, from the known answer" : "");
    }
}

static bool race_inner(bench* b)
{
    report_row rows[INNER_COUNT] = {
        {.who = "Flexor, compliance, unilateral", .residual = -1, .difference = -1},
        {.who = "Flexor, compliance, spring law", .residual = -1, .difference = -1},
        {.who = "refactor: OpenBLAS spotrf + spotrs, all threads", .residual = -1, .difference = -1},
        {.who = "Flexor, strategy refactor", .residual = -1, .difference = -1},
    };
    const flx_factor_options single = {.single = true};
    const int64_t            n2     = b->arm.a.n - b->arm.free_count;
    flx_factor*              f      = NULL;
    inner                    in     = {0};
    if (flx__factor_create(b->ctx, &b->arm.a, b->arm.free_count, &single, NULL, &f) != FLX_OK) return false;
    double* schur = flx__factor_take_schur(f);
    float*  dense = flx__alloc_zero(b->ctx, n2 * (n2 + 3), sizeof *dense);
    double* delta = flx__alloc(b->ctx, 6 * n2, sizeof *delta);
    flx__factor_destroy(f);
    if (!dense || !delta || inner_create(b->ctx, &b->arm, ACTIVE, ACTIVE, schur, &in) != FLX_OK) return false;
    for (int k = 0; k < b->want.rounds; ++k) inner_round(&in, b->want.workers, dense, delta, delta + 3 * n2, rows);
    report_line(&b->out, "%s.", openblas_get_config());
    report_race(&b->out, "inner", "Inner contact solve: 500 active contacts, 500 candidates, no warm start", "factor",
                "", rows, INNER_COUNT);
    const report_target target[] = {
        {"inner: OpenBLAS refactorization / ours, unilateral", 20, ratio(&rows[INNER_OPENBLAS], &rows[0])},
        {"inner: OpenBLAS refactorization / ours, the same spring law", 20,
         ratio(&rows[INNER_OPENBLAS], &rows[INNER_SPRING])},
    };
    report_targets(&b->out, target, (int)(sizeof target / sizeof target[0]));
    inner_release(&in);
    flx__free(b->ctx, schur);
    flx__free(b->ctx, dense);
    flx__free(b->ctx, delta);
    return true;
}

// --- the program -------------------------------------------------------------------------------------------------

static bool races(const bench* b, const char* name)
{
    const char*  list = b->want.races;
    const size_t size = strlen(name);
    while (list && *list)
    {
        const size_t end = strcspn(list, ",");
        if (end == size && strncmp(list, name, size) == 0) return true;
        list += end + (list[end] == ',');
    }
    return b->want.races == NULL;
}

static bool read_options(int count, char** argument, options* o)
{
    *o = (options){.workers = (int32_t)sysconf(_SC_NPROCESSORS_ONLN), .rounds = 7, .length = BODY_LENGTH};
    for (int i = 1; i + 1 < count; i += 2)
    {
        const char *key = argument[i], *value = argument[i + 1];
        if (strcmp(key, "--workers") == 0)
            o->workers = atoi(value);
        else if (strcmp(key, "--rounds") == 0)
            o->rounds = atoi(value);
        else if (strcmp(key, "--length") == 0)
            o->length = atoi(value);
        else if (strcmp(key, "--races") == 0)
            o->races = value;
        else if (strcmp(key, "--csv") == 0)
            o->csv = value;
        else if (strcmp(key, "--markdown") == 0)
            o->markdown = value;
        else
            return false;
    }
    return count % 2 == 1 && o->workers > 0 && o->length > 24 && o->rounds > 0 && o->rounds * SOLVES <= MOST_SAMPLES;
}

static bool start(bench* b)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = b->want.workers;
    if (flx_context_create(&desc, &b->ctx) != FLX_OK) return false;
    if (report_open(&b->out, b->want.csv, b->want.markdown) != 0) return false;
    b->arm          = body_make(b->ctx, b->want.length);
    const int64_t n = b->arm.a.n;
    b->b            = flx__alloc(b->ctx, 12 * n, sizeof(double));
    if (!b->b) return false;
    b->x      = b->b + 3 * n;
    b->ours   = b->x + 3 * n;
    b->answer = b->ours + 3 * n;
    for (int64_t c = 0; c < 3; ++c) // smooth along the arm, like gravity: what is easy for no iteration
        for (int64_t k = 0; k < n; ++k)
            b->b[c * n + b->arm.mesh_place[k]] = c == 0 ? 1.0 : sin((c == 1 ? 2.0 : 40.0) * (double)k / (double)n);
    report_machine(&b->out);
    report_line(&b->out, "Cylinder arm: %d unknowns, %d of them prone; %d workers, %s.", (int)n,
                (int)n - b->arm.free_count, flx_context_worker_count(b->ctx), flx_context_isa(b->ctx));
    return true;
}

static void finish(bench* b)
{
    for (int i = 0; i < b->count; ++i) b->yard[i].destroy(b->yard[i].state);
    body_free(&b->arm);
    flx__free(b->ctx, b->inverse);
    flx__free(b->ctx, b->b);
    flx_context_destroy(b->ctx);
    report_close(&b->out);
}

int main(int count, char** argument)
{
    static bench b;
    if (!read_options(count, argument, &b.want))
    {
        fprintf(
            stderr,
            "usage: bench_yardsticks [--workers N] [--rounds N] [--length CELLS] [--races setup,solve,inner,eigen]\n"
            "                        [--csv FILE] [--markdown FILE]\n"
            "at most %d rounds, at least 25 cells\n",
            MOST_SAMPLES / SOLVES);
        return 2;
    }
    if (!start(&b))
    {
        fprintf(stderr, "cannot start: %s\n", b.ctx ? flx_context_error(b.ctx) : "no context");
        return 1;
    }
    bool fine = true;
    if (races(&b, "setup") || races(&b, "solve")) fine = race_systems(&b, races(&b, "setup"), races(&b, "solve"));
    if (fine && races(&b, "inner")) fine = race_inner(&b);
    if (fine && races(&b, "eigen")) fine = race_eigen(&b);
    if (!fine) fprintf(stderr, "stopped: %s\n", flx_context_error(b.ctx));
    finish(&b);
    return fine ? 0 : 1;
}
