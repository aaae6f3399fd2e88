// Figures of the page: curves, and the sentence each of them comes to.
#include "study/page.h"

#include <math.h>
#include <string.h>

#define MOST_CURVES 8
#define MOST_POINTS 110 // of a curve: more cannot be told apart on 300 pixels

// --- helpers -------------------------------------------------------------------------------------------------

/// A curve over frames, thinned; room [2][MOST_POINTS + 1].
static flx_plot_curve over_frames(const double* value, int32_t frames, const char* label, int32_t color, double* room)
{
    const int32_t step  = 1 + frames / MOST_POINTS;
    int32_t       count = 0;
    for (int32_t f = 0; f <= frames; f += step)
    {
        room[count]                     = f;
        room[MOST_POINTS + 1 + count++] = value[f];
    }
    return (flx_plot_curve){.label = label, .color = color, .count = count, .x = room, .y = room + MOST_POINTS + 1};
}

typedef struct panel
{
    int            count;
    flx_plot_curve curve[MOST_CURVES];
    double         room[MOST_CURVES][2 * (MOST_POINTS + 1)];
    char           label[MOST_CURVES][48];
} panel;

static void add_trial(panel* p, const flx_study_trial* t, bool energy, bool dashed, const char* label)
{
    if (!t || p->count == MOST_CURVES) return;
    const int k = p->count++;
    snprintf(p->label[k], sizeof p->label[k], "%s", label);
    p->curve[k]        = over_frames(energy ? t->energy : t->error, t->frames, p->label[k], k, p->room[k]);
    p->curve[k].dashed = dashed;
}

static void draw_panel(flx_page* page, const panel* p, const char* title, const char* y_label, double floor, double top)
{
    const flx_plot plot = {title, "frame", y_label, false, floor, top, p->count, p->curve};
    flx__plot_write(page->file, &plot);
}

static void legend_of(flx_page* page, const panel* p)
{
    const flx_plot plot = {"", "", "", false, 1, 10, p->count, p->curve};
    flx__plot_legend(page->file, &plot);
}

static const flx_study_experiment* experiment_named(const flx_study* s, const char* id)
{
    for (int32_t i = 0; i < s->experiment_count; ++i)
        if (strcmp(s->experiment[i].id, id) == 0) return &s->experiment[i];
    return NULL;
}

/// Place of the largest rank of a basis that is at most `r`; -1: none.
static int32_t rank_at_most(const flx_study_basis* b, int32_t r)
{
    int32_t k = b->count - 1;
    while (k >= 0 && b->r[k] > r) --k;
    return k;
}

static void basis_name(const flx_study* s, const flx_study_basis* b, char text[48])
{
    const flx_study_experiment* e = &s->experiment[b->experiment];
    if (e->batch_count > 1)
        snprintf(text, 48, "%s %s", e->id, b->type);
    else
        snprintf(text, 48, "%s", e->id);
}

// --- poses --------------------------------------------------------------------------------------------------------

flx_status flx__page_poses(flx_page* page)
{
    flx_status       status = FLX_OK;
    const flx_study* s      = page->s;
    flx__page_section(page, "poses", "How it looks");
    flx__page_text(page, "<div class='grid four'>\n");
    for (int64_t i = 0; i < s->picture_count; ++i)
        if (s->picture[i].group >= 0) FLX_TRY(flx__page_picture(page, &s->picture[i]));
    flx__page_text(page, "</div>\n");
done:
    return status;
}

// --- singular values -----------------------------------------------------------------------------------------

static void decay_panel(flx_page* page, const char* type)
{
    const flx_study* s = page->s;
    panel            p = {0};
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        const flx_study_basis* b = &s->basis[i];
        if (strcmp(b->type, type) != 0 || p.count == MOST_CURVES) continue;
        const int     k     = p.count++;
        const int32_t count = b->sigma_count < MOST_POINTS ? b->sigma_count : MOST_POINTS;
        basis_name(s, b, p.label[k]);
        for (int32_t j = 0; j < count; ++j)
        {
            p.room[k][j]                   = j + 1;
            p.room[k][MOST_POINTS + 1 + j] = b->sigma[j] / b->sigma[0];
        }
        p.curve[k] = (flx_plot_curve){
            .label = p.label[k], .color = k, .count = count, .x = p.room[k], .y = p.room[k] + MOST_POINTS + 1};
    }
    if (p.count == 0) return;
    const flx_plot plot = {type, "mode", "&#963; / &#963;&#8321;", false, 1e-16, 1, p.count, p.curve};
    flx__page_text(page, "<figure>");
    flx__plot_write(page->file, &plot);
    flx__plot_legend(page->file, &plot);
    flx__page_text(page, "</figure>\n");
}

void flx__page_decay(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "decay", "Singular values of the projections");
    flx__page_text(page, "<p>");
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        char name[48];
        basis_name(s, &s->basis[i], name);
        flx__page_text(page, i == 0 ? "The snapshots have ranks " : ", ");
        flx__page_number(page, s->basis[i].rank, "%s rank", name);
        flx__page_text(page, " (%s)", name);
    }
    flx__page_text(page, ", counting modes above 1e-11 of the largest. ");
    const flx_study_basis* slow = NULL;
    double                 most = 0.0;
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        const flx_study_basis* b = &s->basis[i];
        if (b->sigma_count < s->middle || b->sigma[s->middle - 1] / b->sigma[0] <= most) continue;
        most = b->sigma[s->middle - 1] / b->sigma[0];
        slow = b;
    }
    if (slow)
    {
        char name[48];
        basis_name(s, slow, name);
        flx__page_text(page, "They decay fast enough for reduction: mode %d has at ", s->middle);
        flx__page_sentence(page, NULL, &most, "most {largest sigma} of the first ");
        flx__page_text(page, "(%s).", name);
    }
    flx__page_text(page, "</p>\n<div class='grid'>\n");
    static const char* const types[] = {"bending", "spring", "strain", "tet_strain"};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) decay_panel(page, types[i]);
    flx__page_text(page, "</div>\n");
}

// --- reconstruction ------------------------------------------------------------------------------------------

static const char* const scheme_label[FLX_STUDY_SCHEMES] = {"orthogonal projection", "block DEIM", "scalar DEIM",
                                                            "whole elements, m = 2r"};

static flx_plot reconstruction_plot(const flx_study_basis* b, const char* title, double x[FLX_STUDY_RANKS],
                                    flx_plot_curve curve[FLX_STUDY_SCHEMES])
{
    for (int32_t j = 0; j < b->count; ++j) x[j] = b->r[j];
    for (int k = 0; k < FLX_STUDY_SCHEMES; ++k)
        curve[k] = (flx_plot_curve){.label  = scheme_label[k],
                                    .color  = k == FLX_STUDY_POD     ? 7
                                              : k == FLX_STUDY_BLOCK ? 6
                                                                     : k - 2,
                                    .dashed = k == FLX_STUDY_POD,
                                    .count  = b->count,
                                    .x      = x,
                                    .y      = b->error[k]};
    return (flx_plot){title, "modes", "relative error", false, 1e-8, 1e4, FLX_STUDY_SCHEMES, curve};
}

static void state_reconstruction(flx_page* page)
{
    const flx_study* s                        = page->s;
    double           worst[FLX_STUDY_SCHEMES] = {0};
    int              beyond = 0, count = 0;
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        const flx_study_basis* b = &s->basis[i];
        const int32_t          k = rank_at_most(b, s->middle);
        if (k < 0 || b->error[FLX_STUDY_POD][k] <= 0) continue;
        ++count;
        beyond += b->error[FLX_STUDY_BLOCK][k] > 10 * b->error[FLX_STUDY_POD][k];
        for (int j = FLX_STUDY_BLOCK; j < FLX_STUDY_SCHEMES; ++j)
            worst[j] = fmax(worst[j], b->error[j][k] / b->error[FLX_STUDY_POD][k]);
    }
    flx__page_text(page,
                   "<p>At %d modes (or the rank, if less) the error of block DEIM on its own training snapshots is ",
                   s->middle);
    flx__page_sentence(
        page, NULL,
        (double[]){worst[FLX_STUDY_BLOCK], beyond, count, worst[FLX_STUDY_SCALAR], worst[FLX_STUDY_ELEMENTS]},
        "up to {block over pod} times that of orthogonal projection onto the same modes, and above ten times in "
        "{block beyond 10} of {bases} bases; scalar DEIM stays within {scalar over pod} times, whole elements within "
        "{elements over pod}. (Block DEIM has coefficients of their own for x, y and z, so it may also come out "
        "below.) The bases hold the projections; what is lost is lost on the way back from few elements.</p>\n");
}

void flx__page_reconstruction(flx_page* page)
{
    const flx_study* s = page->s;
    double           x[FLX_STUDY_RANKS];
    flx_plot_curve   curve[FLX_STUDY_SCHEMES];
    char             name[48];
    flx__page_section(page, "reconstruction", "Reconstruction of the projections");
    state_reconstruction(page);
    if (s->basis_count > 0)
    {
        const flx_plot plot = reconstruction_plot(&s->basis[0], "", x, curve);
        flx__plot_legend(page->file, &plot);
    }
    flx__page_text(page, "<div class='grid'>\n");
    for (int32_t i = 0; i < s->basis_count; ++i)
    {
        basis_name(s, &s->basis[i], name);
        const flx_plot plot = reconstruction_plot(&s->basis[i], name, x, curve);
        if (s->basis[i].count > 1) flx__plot_write(page->file, &plot);
    }
    flx__page_text(page, "</div>\n");
}

// --- one constraint at a time --------------------------------------------------------------------------------

static void part_row(flx_page* page, const flx_study_experiment* e, int32_t part, double* worst, int* exploded)
{
    const flx_study* s = page->s;
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        char                   text[3][32];
        if (&s->experiment[t->experiment] != e || t->part != part) continue;
        const flx_verdict* v = &t->verdict[FLX_STUDY_TRAIN];
        flx__page_format(v->error, text[0]);
        flx__page_format(v->energy, text[1]);
        flx__page_format(t->numbers.norm > 0 ? t->numbers.norm : NAN, text[2]);
        flx__page_text(page, "<tr><td>%s<td style='text-align:left'>%s<td>%d<td class='%s'>%s<td>%s<td>%s</tr>\n",
                       e->type[part], flx__study_method_of(t->method)->label, t->asked,
                       v->exploded    ? "x"
                       : v->distorted ? "d"
                                      : "o",
                       text[0], text[1], text[2]);
        if (t->method != FLX_REDUCTION_BLOCK_DEIM) continue;
        *worst = fmax(*worst, v->error);
        *exploded += v->exploded || v->distorted;
    }
}

void flx__page_one_at_a_time(flx_page* page)
{
    const flx_study*            s                              = page->s;
    const flx_study_experiment* e                              = experiment_named(s, "C1");
    double                      worst[FLX_EXPERIMENT_BATCHES]  = {0};
    int                         failed[FLX_EXPERIMENT_BATCHES] = {0};
    if (!e) return;
    flx__page_section(page, "figure4", "Three constraints, one of them reduced ([MPB] figure 4)");
    flx__page_text(page, "<div class='wide'><table><tr><th>reduced<th style='text-align:left'>method<th>r<th>e<th>E<th>"
                         "norm of the fit</tr>\n");
    for (int32_t b = 0; b < e->batch_count; ++b) part_row(page, e, b, &worst[b], &failed[b]);
    flx__page_text(page, "</table></div>\n<p>Block DEIM of one constraint, the others evaluated in full: ");
    for (int32_t b = 0; b < e->batch_count; ++b)
    {
        flx__page_text(page, b ? "; %s " : "%s ", e->type[b]);
        flx__page_sentence(page, e->type[b], (double[]){worst[b], failed[b]},
                           "alone gives e of at most {worst} and fails at {failed} numbers of modes");
    }
    flx__page_text(page, ". A reduction that looks right here may only be of a constraint too weak to matter: strain "
                         "has a weight of 1e-2 beside the springs' 1e6.</p>\n");
}

// --- the paper's failures ------------------------------------------------------------------------------------

typedef struct failure
{
    const char *figure, *title, *ids;
} failure;

static const failure failures[] = {
    {"figure5", "Reduced bending ([MPB] figure 5)", "B1,B1w,B2"},
    {"figure6", "Reduced springs ([MPB] figure 6)", "S1,S2"},
    {"figure7", "Reduced triangle strain ([MPB] figure 7)", "T1,T2,T3"},
    {"tets", "Reduced tetrahedra (not in the paper)", "V1,V2"},
};

static bool next_experiment(const flx_study* s, const char** list, const flx_study_experiment** out)
{
    char id[8];
    *out = NULL;
    while (**list && !*out)
    {
        const size_t length = strcspn(*list, ",");
        snprintf(id, sizeof id, "%.*s", (int)length, *list);
        *list += length + ((*list)[length] == ',');
        *out = experiment_named(s, id);
    }
    return *out != NULL;
}

static void modes_panel(flx_page* page, const flx_study_experiment* e, flx_reduction method, bool energy, panel* p)
{
    const flx_study* s = page->s;
    *p                 = (panel){0};
    for (int32_t k = 0; k < s->mode_count; ++k)
    {
        char label[48];
        snprintf(label, sizeof label, "r = %d", s->modes[k]);
        add_trial(p, flx__study_find(s, e->id, method, s->modes[k], FLX_STUDY_ALL), energy, false, label);
    }
}

static void failure_sentence(flx_page* page, const flx_study_experiment* e)
{
    const flx_study* s   = page->s;
    int              bad = 0, tried = 0;
    double           least = INFINITY, most = 0.0, norm = INFINITY;
    for (int32_t k = 0; k < s->mode_count; ++k)
    {
        const flx_study_trial* t = flx__study_find(s, e->id, FLX_REDUCTION_BLOCK_DEIM, s->modes[k], FLX_STUDY_ALL);
        if (!t) continue;
        ++tried;
        bad += t->verdict[0].exploded || t->verdict[0].distorted;
        least = fmin(least, t->verdict[0].error);
        most  = fmax(most, t->verdict[0].error);
        norm  = fmin(norm, t->numbers.norm);
    }
    flx__page_text(page, "%s (%s) ", e->id, e->title);
    flx__page_sentence(page, e->id, (double[]){bad, tried, least, most, norm},
                       "explodes or is distorted at {bad} of {tried} numbers of modes on its own training load, with e "
                       "from {least} to {most} and a norm of the interpolation of at least {norm}. ");
}

static void failure_section(flx_page* page, const failure* f)
{
    const flx_study*            s     = page->s;
    const flx_study_experiment* e     = NULL;
    const char*                 list  = f->ids;
    bool                        first = true;
    panel                       p;
    if (!next_experiment(s, &list, &e)) return;
    flx__page_section(page, f->figure, f->title);
    flx__page_text(page, "<p>Block DEIM: ");
    for (list = f->ids; next_experiment(s, &list, &e);) failure_sentence(page, e);
    flx__page_text(page, "</p>\n");
    for (list = f->ids; next_experiment(s, &list, &e);)
    {
        modes_panel(page, e, FLX_REDUCTION_BLOCK_DEIM, false, &p);
        if (first) legend_of(page, &p);
        if (first) flx__page_text(page, "<div class='grid'>\n");
        first = false;
        char title[64];
        snprintf(title, sizeof title, "%s, block DEIM", e->id);
        draw_panel(page, &p, title, "e", 1e-8, 1e2);
    }
    flx__page_text(page, "</div>\n");
}

void flx__page_failures(flx_page* page)
{
    if (!flx__study_find(page->s, page->s->experiment[0].id, FLX_REDUCTION_BLOCK_DEIM, page->s->modes[0],
                         FLX_STUDY_ALL))
        return;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; ++i) failure_section(page, &failures[i]);
}

// --- energy and other methods --------------------------------------------------------------------------------

static void methods_panel(const flx_study* s, const flx_study_experiment* e, bool energy, panel* p)
{
    *p = (panel){0};
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        if (!s->method[m]->main) continue;
        add_trial(p, flx__study_find(s, e->id, s->method[m]->method, s->middle, FLX_STUDY_ALL), energy, false,
                  s->method[m]->label);
    }
}

static void methods_grid(flx_page* page, bool energy)
{
    const flx_study* s = page->s;
    panel            p;
    for (int32_t i = 0; i < s->experiment_count; ++i)
    {
        char title[64];
        methods_panel(s, &s->experiment[i], energy, &p);
        if (i == 0) legend_of(page, &p);
        if (i == 0) flx__page_text(page, "<div class='grid'>\n");
        snprintf(title, sizeof title, "%s, r = %d", s->experiment[i].id, s->middle);
        draw_panel(page, &p, title, energy ? "energy" : "e", energy ? 1e-3 : 1e-8, energy ? 1e4 : 1e1);
    }
    flx__page_text(page, "</div>\n");
}

/// Largest E over experiments and loads at the middle number of modes.
static double worst_energy(const flx_study* s, flx_reduction method)
{
    double most = 0.0;
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method != method || t->part != FLX_STUDY_ALL || t->asked != s->middle) continue;
        for (int k = 0; k < FLX_STUDY_LOADS; ++k)
            most = fmax(most, isfinite(t->verdict[k].energy) ? t->verdict[k].energy : INFINITY);
    }
    return most;
}

void flx__page_energy(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "energy", "Energy");
    flx__page_text(page,
                   "<p>Elastic and kinetic energy over the full order's largest, on the training load for three "
                   "times as long. The largest E of any experiment and load at %d modes: ",
                   s->middle);
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        flx__page_text(page, m ? ", %s " : "%s ", s->method[m]->label);
        flx__page_number(page, worst_energy(s, s->method[m]->method), "%s E",
                         flx__reduction_name(s->method[m]->method));
    }
    flx__page_text(page, ".</p>\n");
    methods_grid(page, true);
}

static void state_others(flx_page* page, const flx_study_method* method)
{
    const flx_study* s                     = page->s;
    double           most[FLX_STUDY_LOADS] = {0};
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method != method->method || t->part != FLX_STUDY_ALL || t->asked != s->middle) continue;
        for (int k = 0; k < FLX_STUDY_LOADS; ++k) most[k] = fmax(most[k], t->verdict[k].error);
    }
    flx__page_text(page, "%s: largest e ", method->label);
    for (int k = 0; k < FLX_STUDY_LOADS; ++k)
    {
        flx__page_number(page, most[k], "%s %s", flx__reduction_name(method->method), flx__study_load_name[k]);
        flx__page_text(page, " (%s)%s", flx__study_load_name[k], k + 1 < FLX_STUDY_LOADS ? ", " : ". ");
    }
}

/// Learning from more runs at the largest number of modes: what it does to e on the unseen load.
static void state_rich(flx_page* page)
{
    const flx_study* s = page->s;
    const int32_t    r = s->modes[s->mode_count - 1];
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        int better = 0, tried = 0;
        for (int64_t i = 0; i < s->trial_count; ++i)
        {
            const flx_study_trial* t = &s->trial[i];
            if (t->method != s->method[m]->method || t->part != FLX_STUDY_RICH) continue;
            const flx_study_trial* one =
                flx__study_find(s, s->experiment[t->experiment].id, t->method, t->asked, FLX_STUDY_ALL);
            ++tried;
            better += t->verdict[FLX_STUDY_UNSEEN].error < 0.8 * one->verdict[FLX_STUDY_UNSEEN].error;
        }
        if (tried == 0) continue;
        flx__page_text(page,
                       "Learnt from all training runs instead of one, %s at r = %d is better on the unseen load, ",
                       s->method[m]->label, r);
        flx__page_sentence(page, flx__reduction_name(s->method[m]->method), (double[]){better, tried},
                           "by a fifth or more, in {rich better} of {rich} experiments. ");
    }
}

void flx__page_others(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "others", "The same experiments by every method");
    flx__page_text(page, "<p>At %d modes, over all experiments. ", s->middle);
    for (int32_t m = 0; m < s->method_count; ++m) state_others(page, s->method[m]);
    state_rich(page);
    flx__page_text(page, "</p>\n");
    methods_grid(page, false);
}
