// Why it fails, and what accuracy costs.
#include "study/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DOTS 512

typedef struct dots
{
    flx_plot_curve curve[FLX_PLOT_COLORS];
    int32_t        count;
    double         x[FLX_PLOT_COLORS][MOST_DOTS], y[FLX_PLOT_COLORS][MOST_DOTS];
} dots;

typedef double (*dot_fn)(const flx_study* s, const flx_study_trial* t);

/// A colour for each method, its trials as points; those whose x is not positive are left out.
static void collect(const flx_study* s, dot_fn x, dot_fn y, dots* d)
{
    d->count = 0;
    for (int32_t m = 0; m < s->method_count && d->count < FLX_PLOT_COLORS; ++m)
    {
        const int k = d->count;
        int32_t   n = 0;
        for (int64_t i = 0; i < s->trial_count && n < MOST_DOTS; ++i)
        {
            const flx_study_trial* t = &s->trial[i];
            if (t->method != s->method[m]->method || t->part != FLX_STUDY_ALL || !(x(s, t) > 0)) continue;
            d->x[k][n]   = x(s, t);
            d->y[k][n++] = y(s, t);
        }
        if (n == 0) continue;
        d->curve[k] = (flx_plot_curve){
            .label = s->method[m]->label, .color = m, .points = true, .count = n, .x = d->x[k], .y = d->y[k]};
        ++d->count;
    }
}

static double norm_of(const flx_study* s, const flx_study_trial* t)
{
    (void)s;
    return isfinite(t->numbers.norm) ? fmin(t->numbers.norm, 1e20) : 1e20;
}

static double error_of(const flx_study* s, const flx_study_trial* t)
{
    (void)s;
    return t->verdict[FLX_STUDY_TRAIN].error;
}

static double fewer_projections(const flx_study* s, const flx_study_trial* t)
{
    (void)s;
    return t->numbers.all / t->numbers.projections;
}

static double faster(const flx_study* s, const flx_study_trial* t)
{
    return s->experiment[t->experiment].full_ms / t->numbers.frame_ms;
}

// --- cause ---------------------------------------------------------------------------------------------------

/// Norms of (P^T V_d)^-1 at the middle number of modes or the rank.
static const double* axis_norms(const flx_study* s, int32_t experiment)
{
    const double* out  = NULL;
    double        most = -1.0;
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        const flx_study_basis* b = &s->basis[i];
        if (b->experiment != experiment) continue;
        for (int32_t k = 0; k < b->count; ++k)
        {
            const double norm = fmax(b->norm[k][0], fmax(b->norm[k][1], b->norm[k][2]));
            if (b->r[k] > s->middle || (k + 1 < b->count && b->r[k + 1] <= s->middle) || norm <= most) continue;
            most = norm;
            out  = b->norm[k];
        }
    }
    return out;
}

/// "growth / radius", coloured by the growth beside the full order's.
static void growth_cell(flx_page* page, const flx_study_stability* st, const flx_study_stability* full)
{
    char text[32], radius[32];
    if (!st || !st->known)
    {
        flx__page_text(page, "<td>-");
        return;
    }
    flx__print_c(text, sizeof text, isfinite(st->growth) ? "%.3g" : "inf", st->growth);
    flx__print_c(radius, sizeof radius, isnan(st->radius) ? "-" : isfinite(st->radius) ? "%.3g" : "inf", st->radius);
    const double excess = st->growth / fmax(1.0, full->growth);
    flx__page_text(page, "<td class='%s'>%s / %s", excess > 1.5 ? "x" : excess > 1.1 ? "d" : "o", text, radius);
    if (st->slack > 0) flx__page_text(page, " (%d)", st->slack);
}

static const flx_study_stability* stability_of(const flx_study* s, const char* id, flx_reduction method)
{
    const flx_study_trial* t = flx__study_find(s, id, method, s->middle, FLX_STUDY_ALL);
    return t ? &t->stability : NULL;
}

static void cause_row(flx_page* page, int32_t i)
{
    const flx_study*            s    = page->s;
    const flx_study_experiment* e    = &s->experiment[i];
    const double*               norm = axis_norms(s, i);
    const flx_study_trial*      t    = flx__study_find(s, e->id, FLX_REDUCTION_BLOCK_DEIM, s->middle, FLX_STUDY_ALL);
    char                        text[32];
    flx__page_text(page, "<tr><td>%s", e->id);
    for (int d = 0; d < 3; ++d)
    {
        flx__page_format(norm ? norm[d] : NAN, text);
        flx__page_text(page, "<td>%s", text);
    }
    flx__page_format(t ? t->verdict[0].error : NAN, text);
    flx__page_text(page, "<td>%s", text);
    growth_cell(page, &e->stability, &e->stability);
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->main) growth_cell(page, stability_of(s, e->id, s->method[m]->method), &e->stability);
    if (t && t->stability.known && isfinite(t->stability.growth))
        flx__page_text(page, "<td>%.0f / %.0f / %.0f %%", 100 * t->stability.share[0], 100 * t->stability.share[1],
                       100 * t->stability.share[2]);
    else
        flx__page_text(page, "<td>-");
    flx__page_text(page, "</tr>\n");
}

typedef struct range
{
    double least, most;
    int    unstable, expanding, count; // growth above 1.1 times the full order's or 1; a round's radius above 1
} range;

static range norms_of(const flx_study* s, flx_reduction method)
{
    range out = {INFINITY, 0.0, 0, 0, 0};
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method != method || t->part != FLX_STUDY_ALL) continue;
        out.least = fmin(out.least, t->numbers.norm);
        out.most  = fmax(out.most, t->numbers.norm);
        if (!t->stability.known) continue;
        ++out.count;
        out.unstable += t->stability.growth > 1.1 * fmax(1.0, s->experiment[t->experiment].stability.growth);
        out.expanding += t->stability.radius > 1.05;
    }
    return out;
}

static void state_cause(flx_page* page, const flx_study_method* method)
{
    const range r    = norms_of(page->s, method->method);
    const char* name = flx__reduction_name(method->method);
    flx__page_text(page, "%s: ", method->label);
    if (r.most > 0)
        flx__page_sentence(page, name, (double[]){r.least, r.most}, "norms from {least norm} to {most norm}, ");
    flx__page_sentence(page, name, (double[]){r.expanding, r.unstable}, "{expanding} expand, {unstable} grow. ");
}

static void state_full(flx_page* page)
{
    const flx_study* s    = page->s;
    double           most = 0.0;
    for (int32_t i = 0; i < s->experiment_count; ++i) most = fmax(most, s->experiment[i].stability.growth);
    flx__page_sentence(page, NULL, &most,
                       "For the full order itself, which buckles, the largest growth is {full growth} a frame. ");
}

void flx__page_cause(flx_page* page)
{
    const flx_study* s = page->s;
    dots*            d = flx__alloc(s->ctx, 1, sizeof *d);
    if (!d)
    {
        page->status = FLX_ERR_MEMORY;
        return;
    }
    flx__page_section(page, "cause", "Why block DEIM fails");
    flx__page_text(
        page,
        "<p>The parts V<sub>x</sub>, V<sub>y</sub>, V<sub>z</sub> of an orthonormal basis are not bases "
        "themselves, and the norm of (P<sup>T</sup>V<sub>d</sub>)<sup>-1</sup>, by which everything "
        "outside of the basis is amplified, has no bound. Of %d experiments at mid-training and %d modes, in how "
        "many does a round expand (spectral radius above 1.05), and in how many does a disturbance of the "
        "state grow, by a tenth in a frame and a tenth faster than in the full order? ",
        s->experiment_count, s->middle);
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->main) state_cause(page, s->method[m]);
    state_full(page);
    flx__page_text(page, "</p>\n");
    collect(s, norm_of, error_of, d);
    const flx_plot plot = {
        "Norm of the fit and error", "norm of the fit", "e, training load", true, 1e-10, 1e4, d->count, d->curve};
    flx__plot_legend(page->file, &plot);
    flx__page_text(page, "<div class='grid'>\n");
    flx__plot_write(page->file, &plot);
    for (int64_t i = 0; i < s->picture_count && page->status == FLX_OK; ++i)
        if (s->picture[i].group < 0) page->status = flx__page_picture(page, &s->picture[i]);
    flx__free(s->ctx, d);
    flx__page_text(page,
                   "</div>\n<div class='wide'><table><tr><th>r = %d<th>norm x<th>norm y<th>norm z<th>e, block"
                   "<th>full order",
                   s->middle);
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->main) flx__page_text(page, "<th>%s", s->method[m]->label);
    flx__page_text(page, "<th>block: along x / y / z</tr>\n");
    for (int32_t i = 0; i < s->experiment_count; ++i) cause_row(page, i);
    flx__page_text(page,
                   "</table></div>\n<p class='dim'>Norms of block DEIM's three inverses. Then, for each method, growth "
                   "/ radius. Growth: the factor by "
                   "which a small disturbance of the full order's state at mid-training grows in a frame of each "
                   "method, with the state held there (power iteration on central differences); below 1 it dies "
                   "out. Radius: of the derivative of one local/global round there; above 1 more rounds lead away "
                   "from the answer. In brackets: directions in which the stiffness, inertia included, is "
                   "negative. The last column says in which directions the one that grows most moves.</p>\n");
}

// --- speed ---------------------------------------------------------------------------------------------------

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median_of_trials(const flx_study* s, flx_reduction method, int32_t r, dot_fn value)
{
    double  all[MOST_DOTS];
    int32_t n = 0;
    for (int64_t i = 0; i < s->trial_count && n < MOST_DOTS; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method == method && t->asked == r && t->part == FLX_STUDY_ALL) all[n++] = value(s, t);
    }
    if (n == 0) return NAN;
    qsort(all, (size_t)n, sizeof *all, ascending);
    return n % 2 ? all[n / 2] : 0.5 * (all[n / 2 - 1] + all[n / 2]);
}

static void speed_table(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_text(page, "<div class='wide'><table><tr><th>medians over experiments<th>r<th>projections, full / "
                         "reduced<th>frame time, full / reduced<th>e, training load</tr>\n");
    for (int32_t m = 0; m < s->method_count; ++m)
        for (int32_t k = 0; k < s->mode_count; ++k)
        {
            const flx_reduction method = s->method[m]->method;
            char                text[3][32];
            flx__page_format(median_of_trials(s, method, s->modes[k], fewer_projections), text[0]);
            flx__page_format(median_of_trials(s, method, s->modes[k], faster), text[1]);
            flx__page_format(median_of_trials(s, method, s->modes[k], error_of), text[2]);
            flx__page_text(page, "<tr><td>%s<td>%d<td>%s<td>%s<td>%s</tr>\n", s->method[m]->label, s->modes[k], text[0],
                           text[1], text[2]);
        }
    flx__page_text(page, "</table></div>\n");
}

void flx__page_speed(flx_page* page)
{
    const flx_study* s     = page->s;
    dots*            count = flx__alloc(s->ctx, 2, sizeof *count);
    if (!count)
    {
        page->status = FLX_ERR_MEMORY;
        return;
    }
    dots* time = count + 1;
    flx__page_section(page, "speed", "Error against speed");
    flx__page_text(page, "<p>Medians over experiments at %d modes: ", s->middle);
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        const flx_study_method* method = s->method[m];
        flx__page_text(page, m ? "; %s " : "%s ", method->label);
        flx__page_sentence(page, flx__reduction_name(method->method),
                           (double[]){median_of_trials(s, method->method, s->middle, fewer_projections),
                                      median_of_trials(s, method->method, s->middle, faster)},
                           "computes 1 of {projections} projections and is {speed-up} times as fast");
    }
    flx__page_text(page, ".</p>\n");
    collect(s, fewer_projections, error_of, count);
    collect(s, faster, error_of, time);
    const flx_plot plots[2] = {
        {"Projections a round", "full order / reduced", "e, training load", true, 1e-10, 1e2, count->count,
         count->curve},
        {"Time of a frame", "full order / reduced", "e, training load", true, 1e-10, 1e2, time->count, time->curve}};
    flx__plot_legend(page->file, &plots[0]);
    flx__page_text(page, "<div class='grid'>\n");
    for (int k = 0; k < 2; ++k) flx__plot_write(page->file, &plots[k]);
    flx__page_text(page, "</div>\n");
    speed_table(page);
    flx__page_text(page,
                   "<p class='dim'>A frame's time includes giving out all positions and, in positions, one sparse "
                   "solve; on a mesh this small those are most of it. Timed where the study ran, beside whatever "
                   "else ran there.</p>\n");
    flx__free(s->ctx, count);
}
