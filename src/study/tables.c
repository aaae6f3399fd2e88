// Tables of the page: the scoreboard, what was aimed at, and every trial.
#include "study/page.h"

#include <math.h>
#include <string.h>

static void number_cell(flx_page* page, double value, const char* mark)
{
    char text[32];
    flx__page_format(value, text);
    flx__page_text(page, "<td class='%s'>%s</td>", mark, text);
}

// --- scoreboard ---------------------------------------------------------------------------------------------------

typedef struct score
{
    int runs, close, fine, distorted, exploded;
} score;

static score score_of(const flx_study* s, flx_reduction method)
{
    score out = {0};
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        if (t->method != method || t->part != FLX_STUDY_ALL) continue;
        bool exploded = false, distorted = false;
        for (int k = 0; k < FLX_STUDY_LOADS; ++k)
        {
            exploded  = exploded || t->verdict[k].exploded;
            distorted = distorted || t->verdict[k].distorted;
        }
        ++out.runs;
        out.close += t->verdict[FLX_STUDY_TRAIN].error <= FLX_STUDY_OK_ERROR;
        out.fine += flx__study_fine(t);
        out.exploded += exploded;
        out.distorted += distorted && !exploded;
    }
    return out;
}

static void state_score(flx_page* page, const flx_study_method* method)
{
    const score c = score_of(page->s, method->method);
    flx__page_text(page, "%s: ", method->label);
    flx__page_sentence(page, flx__reduction_name(method->method), (double[]){c.runs, c.fine, c.exploded},
                       "of {runs} runs {fine} are fine on all loads and {exploded} explode. ");
}

/// SECS was made with some experiments in sight; the others say what that is worth.
static void state_choice(flx_page* page)
{
    static const char* const apart[] = {"B1", "B1w", "T1", "V1"};
    const flx_study*         s       = page->s;
    int                      fine[2] = {0}, runs[2] = {0};
    for (int64_t i = 0; i < s->trial_count; ++i)
    {
        const flx_study_trial* t = &s->trial[i];
        int                    k = 0;
        if (t->method != FLX_REDUCTION_SECS || t->part != FLX_STUDY_ALL) continue;
        for (size_t a = 0; a < sizeof apart / sizeof *apart; ++a)
            if (strcmp(s->experiment[t->experiment].id, apart[a]) == 0) k = 1;
        ++runs[k];
        fine[k] += flx__study_fine(t);
    }
    if (runs[0] + runs[1] == 0) return;
    flx__page_sentence(page, "secs", (double[]){fine[0], runs[0], fine[1], runs[1]},
                       "<p>SECS and its m = 5r were chosen while looking at S1, S2, T2, T3, B2, V2 and C1, all three "
                       "loads: there {fine where chosen} of {runs where chosen} are fine. B1, B1w, T1 and V1 had no "
                       "part in the choice: there it is {fine apart} of {runs apart}. The unseen loads are held out "
                       "from training, not from the choice.</p>\n");
}

void flx__page_scoreboard(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "scoreboard", "What came out");
    flx__page_text(page, "<p>");
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->main) state_score(page, s->method[m]);
    flx__page_text(page, "</p>\n<div class='wide'><table><tr><th>method<th>runs<th>train e &le; 5 %%<th>fine on all "
                         "loads<th>distorted<th>exploded</tr>\n");
    for (int32_t m = 0; m < s->method_count; ++m)
    {
        const score c = score_of(s, s->method[m]->method);
        flx__page_text(page, "<tr><td>%s<td>%d<td>%d<td>%d<td>%d<td>%d</tr>\n", s->method[m]->label, c.runs, c.close,
                       c.fine, c.distorted, c.exploded);
    }
    flx__page_text(page, "</table></div>\n<p class='dim'>A run is one experiment at one number of modes, all "
                         "constraints reduced; its verdict is the worst of its loads.</p>\n");
    state_choice(page);
}

// --- targets --------------------------------------------------------------------------------------------------------

typedef enum aim_kind
{
    AIM_TRAIN,  // e on the training load
    AIM_BEYOND, // e on the other two
    AIM_ENERGY, // E on all three
    AIM_NORM
} aim_kind;

typedef struct aim
{
    flx_reduction method;
    int32_t       r;
    aim_kind      kind;
    double        limit;
    const char*   experiments;
} aim;

// for 30 x 30 vertices, 20 rounds, one training run; from a prototype of the same definitions
static const aim aims[] = {
    {FLX_REDUCTION_GPD, 20, AIM_TRAIN, 3e-2, "S1,S2,T3"},
    {FLX_REDUCTION_GPD, 20, AIM_TRAIN, 1e-2, "T2"},
    {FLX_REDUCTION_GPD, 20, AIM_TRAIN, 1e-3, "V2"},
    {FLX_REDUCTION_GPD, 20, AIM_TRAIN, 1e-4, "T1,V1,B1,B1w,B2"},
    {FLX_REDUCTION_GPD, 20, AIM_NORM, 20, "S1,S2,T1,T2,T3,V1,V2,B1,B1w,B2"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 4e-3, "S1,V1"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 2.5e-2, "S2,T3"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 2e-3, "T1,V2"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 8e-3, "T2"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 1e-3, "B2,B1w"},
    {FLX_REDUCTION_SECS, 10, AIM_TRAIN, 6e-2, "C1"},
    {FLX_REDUCTION_SECS, 10, AIM_ENERGY, 1.6, "B1,B1w,B2,S1,S2,T1,T2,T3,V1,V2"},
    {FLX_REDUCTION_SECS, 10, AIM_ENERGY, 2.5, "C1"},
    {FLX_REDUCTION_SECS, 40, AIM_TRAIN, 3e-3, "T2"},
    {FLX_REDUCTION_SECS, 40, AIM_TRAIN, 1.5e-2, "S2,T3"},
    {FLX_REDUCTION_SECS, 40, AIM_BEYOND, 3e-2, "S2,T3"},
    {FLX_REDUCTION_SECS, 40, AIM_TRAIN, 1e-4, "V1,V2"},
    {FLX_REDUCTION_SECS, 40, AIM_TRAIN, 5e-2, "C1"},
    {FLX_REDUCTION_SECS, 40, AIM_ENERGY, 1.2, "B1,B1w,B2,S1,S2,T1,T2,T3,V1,V2,C1"},
};
static const char* const aim_words[] = {"e on the training load", "e on 3x and unseen", "E on all loads",
                                        "norm of the fit"};

static double reached(const flx_study_trial* t, aim_kind kind)
{
    double most = 0.0;
    if (kind == AIM_TRAIN) return t->verdict[FLX_STUDY_TRAIN].error;
    if (kind == AIM_NORM) return t->numbers.norm;
    for (int k = 0; k < FLX_STUDY_LOADS; ++k)
    {
        if (kind == AIM_BEYOND && k != FLX_STUDY_TRAIN) most = fmax(most, t->verdict[k].error);
        if (kind == AIM_ENERGY) most = fmax(most, t->verdict[k].exploded ? INFINITY : t->verdict[k].energy);
    }
    return most;
}

/// The trial of the k-th experiment in the aim's list; NULL at the end of the list or when it was not run.
static const flx_study_trial* trial_of(const flx_study* s, const aim* a, const char** list, char id[8])
{
    const size_t length = strcspn(*list, ",");
    snprintf(id, 8, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return flx__study_find(s, id, a->method, a->r, FLX_STUDY_ALL);
}

static void aim_line(flx_page* page, const aim* a, int* met, int* all)
{
    char        id[8], text[32];
    const char* list = a->experiments;
    flx__page_format(a->limit, text);
    flx__page_text(page, "<tr><td>%s, r = %d: %s<td>%s<td style='text-align:left'>",
                   flx__study_method_of(a->method)->label, a->r, aim_words[a->kind], text);
    while (*list)
    {
        const flx_study_trial* t = trial_of(page->s, a, &list, id);
        if (!t) continue;
        const double value = reached(t, a->kind);
        const bool   good  = value <= a->limit;
        flx__page_format(value, text);
        flx__page_text(page, good ? "%s %s &nbsp; " : "<b class='miss'>%s %s</b> (missed) &nbsp; ", id, text);
        ++*all;
        *met += good;
    }
    flx__page_text(page, "</tr>\n");
}

/// Numbers of modes at which block DEIM both amplifies and fails.
static int failures_of(const flx_study* s, const char* id, int* tried)
{
    int count = 0;
    for (int32_t k = 0; k < s->mode_count; ++k)
    {
        const flx_study_trial* t = flx__study_find(s, id, FLX_REDUCTION_BLOCK_DEIM, s->modes[k], FLX_STUDY_ALL);
        if (!t) continue;
        ++*tried;
        count += t->numbers.norm > 1e3 && !(t->verdict[FLX_STUDY_TRAIN].error <= 0.1);
    }
    return count;
}

static void failure_line(flx_page* page, int* met, int* all)
{
    static const char* const ids[] = {"B2", "S1", "S2", "T1", "T2", "T3", "C1", "V1"};
    flx__page_text(page, "<tr><td>block DEIM fails as published: norm &gt; 1000 and e &gt; 0.1<td>3 of 4 r<td "
                         "style='text-align:left'>");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i)
    {
        int       tried  = 0;
        const int failed = failures_of(page->s, ids[i], &tried);
        if (tried < 4) continue;
        flx__page_text(page, failed >= 3 ? "%s %d of %d &nbsp; " : "<b class='miss'>%s %d of %d</b> (missed) &nbsp; ",
                       ids[i], failed, tried);
        ++*all;
        *met += failed >= 3;
    }
    flx__page_text(page, "</tr>\n");
}

static void offline_line(flx_page* page, int* met, int* all)
{
    const flx_study* s    = page->s;
    double           most = 0.0;
    char             text[32];
    for (int64_t i = 0; i < s->trial_count; ++i)
        if (s->trial[i].method == FLX_REDUCTION_SECS && s->trial[i].part == FLX_STUDY_ALL)
            most = fmax(most, s->trial[i].numbers.offline_s);
    flx__page_format(most, text);
    flx__page_text(page, "<tr><td>SECS, all r: offline, s<td>10<td style='text-align:left'>%s at most</tr>\n", text);
    ++*all;
    *met += most <= 10.0;
}

void flx__page_targets(flx_page* page)
{
    int met = 0, all = 0;
    if (page->s->side != 30) return; // the figures aimed at are those of 30 x 30 vertices
    flx__page_section(page, "targets", "What was aimed at");
    flx__page_text(page, "<div class='wide'><table><tr><th>aim<th>limit<th style='text-align:left'>measured</tr>\n");
    failure_line(page, &met, &all);
    for (size_t i = 0; i < sizeof aims / sizeof *aims; ++i) aim_line(page, &aims[i], &met, &all);
    offline_line(page, &met, &all);
    flx__page_sentence(
        page, NULL, (double[]){met, all},
        "</table></div>\n<p>{met} of {all} are met. The aims were set by a prototype in another language "
        "with the same definitions; they are not in the paper.</p>\n");
}

// --- every trial ----------------------------------------------------------------------------------------------------

static void trial_cell(flx_page* page, const flx_study_trial* t)
{
    bool exploded = false, distorted = false;
    char text[FLX_STUDY_LOADS][32];
    for (int k = 0; k < FLX_STUDY_LOADS; ++k)
    {
        exploded       = exploded || t->verdict[k].exploded;
        distorted      = distorted || t->verdict[k].distorted;
        const double e = t->verdict[k].error;
        if (isfinite(e) && e < 1e4)
            flx__print_c(text[k], sizeof text[k], "%.0e", e);
        else
            snprintf(text[k], sizeof text[k], isfinite(e) ? "&gt;1e4" : "inf");
    }
    flx__page_text(page, "<td class='%s'>%s / %s / %s",
                   exploded    ? "x"
                   : distorted ? "d"
                               : "o",
                   text[0], text[1], text[2]);
}

static void table_row(flx_page* page, const flx_study_method* method, int32_t r, int32_t part)
{
    const flx_study* s = page->s;
    flx__page_text(page, "<tr><td>%s, r = %d%s", method->label, r,
                   part == FLX_STUDY_RICH ? ", from all training runs" : "");
    for (int32_t i = 0; i < s->experiment_count; ++i)
    {
        const flx_study_trial* t = flx__study_find(s, s->experiment[i].id, method->method, r, part);
        if (t)
            trial_cell(page, t);
        else
            flx__page_text(page, "<td>");
    }
    flx__page_text(page, "</tr>\n");
}

void flx__page_table(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "table", "Every method on every experiment");
    flx__page_text(page, "<p class='dim'>e on the training load / 3x / unseen. Green: fine or merely inaccurate; "
                         "amber: distorted; red: exploded.</p>\n<div class='wide'><table><tr><th>");
    for (int32_t i = 0; i < s->experiment_count; ++i) flx__page_text(page, "<th>%s", s->experiment[i].id);
    flx__page_text(page, "</tr>\n");
    for (int32_t m = 0; m < s->method_count; ++m)
        for (int32_t k = 0; k < s->mode_count; ++k) table_row(page, s->method[m], s->modes[k], FLX_STUDY_ALL);
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->rich) table_row(page, s->method[m], s->modes[s->mode_count - 1], FLX_STUDY_RICH);
    flx__page_text(page, "<tr><td class='dim'>motion in training");
    for (int32_t i = 0; i < s->experiment_count; ++i) number_cell(page, s->experiment[i].motion, "dim");
    flx__page_text(page, "</tr></table></div>\n<p class='dim'>An error says little until it is held against the motion "
                         "(last row: the largest distance from the start, in the same unit).</p>\n");
}
