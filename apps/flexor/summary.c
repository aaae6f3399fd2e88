#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* const phase_names[PHASE_COUNT] = {"local", "forward", "inner", "detect", "backward", "total"};

bool summary_create(summary* s, int32_t frames)
{
    memset(s, 0, sizeof *s);
    s->capacity  = frames > 0 ? frames : 1;
    s->crossings = -1;
    s->passes    = calloc((size_t)s->capacity, sizeof *s->passes);
    s->switched  = calloc((size_t)s->capacity, sizeof *s->switched);
    bool good    = s->passes && s->switched;
    for (int p = 0; p < PHASE_COUNT; ++p)
    {
        s->ms[p] = calloc((size_t)s->capacity, sizeof *s->ms[p]);
        good     = good && s->ms[p];
    }
    return good;
}

void summary_release(summary* s)
{
    free(s->passes);
    free(s->switched);
    for (int p = 0; p < PHASE_COUNT; ++p) free(s->ms[p]);
}

/// A frame of several steps: times add up, counts are the worst or the last.
void add_stats(flx_step_stats* frame, const flx_step_stats* step, bool first)
{
    if (first)
    {
        *frame = *step;
        return;
    }
    const flx_step_stats before = *frame;
    *frame                      = *step;
    frame->ms_total += before.ms_total;
    frame->ms_local += before.ms_local;
    frame->ms_forward += before.ms_forward;
    frame->ms_inner += before.ms_inner;
    frame->ms_detect += before.ms_detect;
    frame->ms_backward += before.ms_backward;
    frame->outer += before.outer;
    frame->inner += before.inner;
    frame->switched += before.switched;
    frame->lost += before.lost;
    frame->unsolved += before.unsolved;
    if (before.penetration > frame->penetration) frame->penetration = before.penetration;
}

void summary_add(summary* s, const flx_step_stats* f)
{
    const double ms[PHASE_COUNT] = {f->ms_local, f->ms_forward, f->ms_inner, f->ms_detect, f->ms_backward, f->ms_total};
    if (s->frames < s->capacity)
    {
        for (int p = 0; p < PHASE_COUNT; ++p) s->ms[p][s->frames] = ms[p];
        s->passes[s->frames]     = f->outer;
        s->switched[s->frames++] = f->switched;
    }
    s->step_seconds += 1e-3 * f->ms_total;
    if (f->candidates > s->max_candidates) s->max_candidates = f->candidates;
    if (f->active > s->max_active) s->max_active = f->active;
    if (f->inverted > s->max_inverted) s->max_inverted = f->inverted;
    s->lost += f->lost;
    s->unsolved += f->unsolved;
    if (f->penetration > s->max_penetration) s->max_penetration = f->penetration;
    s->last = *f;
}

static int by_size(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double quantile_of(const double* values, int32_t count, double share)
{
    if (count < 1) return NAN;
    double* sorted = malloc(sizeof *sorted * (size_t)count);
    if (!sorted) return NAN;
    memcpy(sorted, values, sizeof *sorted * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    const double  place = share * (count - 1);
    const int32_t below = (int32_t)place, above = below + 1 < count ? below + 1 : below;
    const double  q = sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    free(sorted);
    return q;
}

double median_of(const double* values, int32_t count)
{
    return quantile_of(values, count, 0.5);
}

double mean_of(const double* values, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; ++i) sum += values[i];
    return count > 0 ? sum / count : NAN;
}

double pass_rate(const summary* s, int phase)
{
    const int64_t bytes = phase == PHASE_FORWARD ? s->solver.forward_bytes : s->solver.backward_bytes;
    double*       rate  = malloc(sizeof *rate * (size_t)s->capacity);
    if (!rate || bytes == 0) return free(rate), NAN;
    for (int32_t i = 0; i < s->frames; ++i) rate[i] = 1e3 * (double)bytes * s->passes[i] / s->ms[phase][i];
    const double median = median_of(rate, s->frames);
    free(rate);
    return median;
}

static int32_t switched_at_the_end(const summary* s)
{
    int32_t sum = 0;
    for (int32_t i = s->frames > SETTLED_FRAMES ? s->frames - SETTLED_FRAMES : 0; i < s->frames; ++i)
        sum += s->switched[i];
    return sum;
}

static double in_cells(const summary* s, double metres)
{
    return s->model.cell > 0 ? metres / s->model.cell : 0;
}

/// The two phases that do nothing but read the factor, beside what reading alone reaches.
static void print_passes(const summary* s)
{
    const double forward = pass_rate(s, PHASE_FORWARD), backward = pass_rate(s, PHASE_BACKWARD);
    if (!isfinite(forward) || !isfinite(backward)) return;
    fprintf(stderr, "  passes       forward %.1f GB/s, backward %.1f GB/s", 1e-9 * forward, 1e-9 * backward);
    if (s->read_bandwidth > 0)
        fprintf(stderr, "; plain reading %.1f GB/s (%.0f %%, %.0f %%)", 1e-9 * s->read_bandwidth,
                100 * forward / s->read_bandwidth, 100 * backward / s->read_bandwidth);
    fprintf(stderr, "; %.1f + %.1f MB\n", 1e-6 * (double)s->solver.forward_bytes,
            1e-6 * (double)s->solver.backward_bytes);
}

static void print_setup(const cli* c, const summary* s)
{
    fprintf(stderr, "  body         %d tets, %d vertices, %d of them collision-prone%s\n", s->model.tet_count,
            s->model.vertex_count, s->model.prone_count,
            s->model.region_proposed ? " (region proposed by the engine)" : "");
    fprintf(stderr, "  setup        %.2f s:", s->setup_seconds);
    for (int i = 0, told = 0; i < c->phase_count; ++i)
        if (c->phase_seconds[i] >= 0.0005)
            fprintf(stderr, "%s %s %.0f ms", told++ ? "," : "", c->phase[i], 1e3 * c->phase_seconds[i]);
    fprintf(stderr, "\n  factor       %.1f M entries, %.1f GFlop%s\n", 1e-6 * (double)s->solver.factor_nonzeros,
            1e-9 * s->solver.factor_flops, s->solver.factor_found ? "; found in the cache" : "");
}

static void print_times(const cli* c, const summary* s)
{
    fprintf(stderr, "  speed        %.2f frames/s stepping, %.2f with recording; %d worker%s, %s\n",
            s->step_seconds > 0 ? s->frames / s->step_seconds : 0,
            s->wall_seconds > 0 ? s->frames / s->wall_seconds : 0, flx_context_worker_count(c->ctx),
            flx_context_worker_count(c->ctx) == 1 ? "" : "s", flx_context_isa(c->ctx));
    fprintf(stderr, "  ms a frame   ");
    for (int p = 0; p < PHASE_COUNT; ++p) fprintf(stderr, "%10s", phase_names[p]);
    fprintf(stderr, "\n    median     ");
    for (int p = 0; p < PHASE_COUNT; ++p) fprintf(stderr, "%10.2f", median_of(s->ms[p], s->frames));
    fprintf(stderr, "\n    mean       ");
    for (int p = 0; p < PHASE_COUNT; ++p) fprintf(stderr, "%10.2f", mean_of(s->ms[p], s->frames));
    fprintf(stderr, "\n");
    print_passes(s);
}

static void print_contacts(const summary* s)
{
    fprintf(stderr, "  contacts     %d candidates, %d active at most; %d switched in the last %d frames\n",
            s->max_candidates, s->max_active, switched_at_the_end(s),
            s->frames < SETTLED_FRAMES ? s->frames : SETTLED_FRAMES);
    if (s->lost > 0)
        fprintf(stderr,
                "               %lld left out over the run: name a larger region, or fewer proxies by `spacing`\n",
                (long long)s->lost);
    if (s->unsolved > 0)
        fprintf(stderr,
                "               %lld contact solves did not finish: raise contact_sweeps (cloth: contact_iterations)\n",
                (long long)s->unsolved);
    fprintf(stderr, "  penetration  %.4g mm at most (%.4f cells); at the end %.4g mm (%.4f cells)\n",
            1e3 * s->max_penetration, in_cells(s, s->max_penetration), 1e3 * s->last.penetration,
            in_cells(s, s->last.penetration));
    fprintf(stderr, "  force        (%.4g, %.4g, %.4g) N from obstacles\n", s->last.contact_force[0],
            s->last.contact_force[1], s->last.contact_force[2]);
}

void summary_print(cli* c, const summary* s, const flx_scene* scene)
{
    if (c->quiet) return;
    char held[32], whole[32];
    format_bytes(held, (double)s->bytes_peak);
    format_bytes(whole, (double)s->rss_peak);

    cli_clear_bar(c);
    fprintf(stderr, "\n%s: %d frames%s\n", scene->name, s->frames,
            s->diverged      ? ", then it diverged"
            : s->interrupted ? ", then it was stopped"
                             : "");
    print_setup(c, s);
    if (s->frames > 0)
    {
        print_times(c, s);
        print_contacts(s);
        fprintf(stderr, "  at the end   residual %.3g N, motion %.3g cells, %d inverted (%d at most), energy %.4g J\n",
                s->last.residual, in_cells(s, s->last.motion), s->last.inverted, s->max_inverted, s->last.energy);
    }
    if (s->crossings >= 0) fprintf(stderr, "  surface      %lld pairs of triangles cross\n", (long long)s->crossings);
    fprintf(stderr, "  memory       %s by the engine, %s by the program at most\n", held, whole);
    fprintf(stderr, "  state        %016llx\n", (unsigned long long)s->state_hash);
}

void stats_json(json* j, const flx_step_stats* f)
{
    json_open(j, "ms", '{');
    json_real(j, "local", f->ms_local);
    json_real(j, "forward", f->ms_forward);
    json_real(j, "inner", f->ms_inner);
    json_real(j, "detect", f->ms_detect);
    json_real(j, "backward", f->ms_backward);
    json_real(j, "total", f->ms_total);
    json_close(j, '}');
    json_integer(j, "outer", f->outer);
    json_integer(j, "inner", f->inner);
    json_integer(j, "candidates", f->candidates);
    json_integer(j, "active", f->active);
    json_integer(j, "switched", f->switched);
    json_real(j, "penetration_m", f->penetration);
    json_open(j, "contact_force_N", '[');
    for (int i = 0; i < 3; ++i) json_real(j, NULL, f->contact_force[i]);
    json_close(j, ']');
    json_real(j, "residual_N", f->residual);
    json_real(j, "motion_m", f->motion);
    json_integer(j, "inverted", f->inverted);
    json_real(j, "energy_J", f->energy);
}

void summary_json(json* j, const cli* c, const summary* s)
{
    char hash[24];
    json_integer(j, "frames", s->frames);
    json_bool(j, "diverged", s->diverged);
    json_bool(j, "interrupted", s->interrupted);
    json_integer(j, "tets", s->model.tet_count);
    json_integer(j, "vertices", s->model.vertex_count);
    json_integer(j, "prone_vertices", s->model.prone_count);
    json_integer(j, "proxies", s->model.proxy_count);
    json_integer(j, "attachments", s->model.attachment_count);
    json_bool(j, "region_proposed", s->model.region_proposed);
    json_real(j, "cell_m", s->model.cell);
    json_open(j, "setup_ms", '{');
    for (int i = 0; i < c->phase_count; ++i) json_real(j, c->phase[i], 1e3 * c->phase_seconds[i]);
    json_real(j, "total", 1e3 * s->setup_seconds);
    json_close(j, '}');
    json_integer(j, "factor_nonzeros", s->solver.factor_nonzeros);
    json_real(j, "factor_flops", s->solver.factor_flops);
    json_real(j, "ms_order", s->solver.ms_order);
    json_real(j, "ms_factor", s->solver.ms_factor);
    json_real(j, "ms_schur_inverse", s->solver.ms_schur_inverse);
    json_bool(j, "factor_found", s->solver.factor_found);
    for (int k = 0; k < 2; ++k)
    {
        json_open(j, k ? "ms_mean" : "ms_median", '{');
        for (int p = 0; p < PHASE_COUNT; ++p)
            json_real(j, phase_names[p], k ? mean_of(s->ms[p], s->frames) : median_of(s->ms[p], s->frames));
        json_close(j, '}');
    }
    json_integer(j, "forward_bytes", s->solver.forward_bytes);
    json_integer(j, "backward_bytes", s->solver.backward_bytes);
    json_real(j, "forward_GB_per_s", 1e-9 * pass_rate(s, PHASE_FORWARD));
    json_real(j, "backward_GB_per_s", 1e-9 * pass_rate(s, PHASE_BACKWARD));
    json_real(j, "read_GB_per_s", s->read_bandwidth > 0 ? 1e-9 * s->read_bandwidth : NAN);
    json_real(j, "frames_per_second", s->step_seconds > 0 ? s->frames / s->step_seconds : 0);
    json_real(j, "frames_per_second_with_recording", s->wall_seconds > 0 ? s->frames / s->wall_seconds : 0);
    json_integer(j, "max_candidates", s->max_candidates);
    json_integer(j, "max_active", s->max_active);
    json_integer(j, "switched_last_10", switched_at_the_end(s));
    json_real(j, "max_penetration_m", s->max_penetration);
    json_real(j, "max_penetration_cells", in_cells(s, s->max_penetration));
    json_real(j, "penetration_m", s->last.penetration);
    json_real(j, "penetration_cells", in_cells(s, s->last.penetration));
    json_integer(j, "lost_contacts", s->lost);
    json_integer(j, "unsolved_contact_solves", s->unsolved);
    json_integer(j, "max_inverted", s->max_inverted);
    json_integer(j, "inverted", s->last.inverted);
    json_real(j, "residual_N", s->last.residual);
    json_real(j, "motion_cells", in_cells(s, s->last.motion));
    json_open(j, "contact_force_N", '[');
    for (int i = 0; i < 3; ++i) json_real(j, NULL, s->last.contact_force[i]);
    json_close(j, ']');
    json_real(j, "energy_J", s->last.energy);
    if (s->crossings >= 0)
        json_integer(j, "surface_crossings", s->crossings);
    else
        json_text(j, "surface_crossings", NULL);
    json_integer(j, "bytes_peak", s->bytes_peak);
    json_integer(j, "rss_peak", s->rss_peak);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->model.hash);
    json_text(j, "model_hash", hash);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->state_hash);
    json_text(j, "state_hash", hash);
}
