// What further training runs are worth on loads that were not seen: those they were chosen with, and those apart.
#include "study/page.h"

#include <string.h>

#define PART 1.25 // a fifth off, or a quarter more

static const char* const chosen[] = {"B2", "T2", "S2", "V2", "C1"};
static const char* const apart[]  = {"B1w", "S1", "T1", "T3", "V1"};
#define GROUP ((int)(sizeof chosen / sizeof *chosen))

static const flx_study_trial* trial_of(const flx_study* s, const char* id, flx_reduction method, int32_t part)
{
    return flx__study_find(s, id, method, s->wide, part);
}

static double motion_of(const flx_study* s, const char* id)
{
    for (int32_t i = 0; i < s->experiment_count; ++i)
        if (strcmp(s->experiment[i].id, id) == 0) return s->experiment[i].unseen_motion;
    return 0.0;
}

static double unseen(const flx_study_trial* t)
{
    return t->verdict[FLX_STUDY_UNSEEN].error;
}

static double most_energy(const flx_study_trial* t)
{
    double most = 0.0;
    for (int k = 0; k < FLX_STUDY_LOADS; ++k) most = t->verdict[k].energy > most ? t->verdict[k].energy : most;
    return most;
}

static void error_cell(flx_page* page, double error, double motion)
{
    char text[32];
    flx__page_format(error, text);
    flx__page_text(page, "<td>%s", text);
    if (motion > 0.0) flx__page_text(page, " (%.1f %%)", 100.0 * error / motion);
}

static void row(flx_page* page, const char* id, const flx_study_method* method)
{
    const flx_study*       s      = page->s;
    const flx_study_trial *own    = trial_of(s, id, method->method, FLX_STUDY_WIDE),
                          *varied = trial_of(s, id, method->method, FLX_STUDY_VARIED);
    if (!own || !varied) return;
    flx__page_text(page, "<tr><td>%s, %s", id, method->label);
    error_cell(page, unseen(own), motion_of(s, id));
    error_cell(page, unseen(varied), motion_of(s, id));
    flx__page_text(page, "<td>%.3g<td>%.3g", most_energy(own), most_energy(varied));
    error_cell(page, own->verdict[FLX_STUDY_TRAIN].error, 0.0);
    error_cell(page, varied->verdict[FLX_STUDY_TRAIN].error, 0.0);
    flx__page_text(page, "</tr>\n");
}

static void rows(flx_page* page, const char* const* ids, const char* title)
{
    const flx_study* s = page->s;
    flx__page_text(page, "<tr><td class='dim'>%s</tr>\n", title);
    for (int32_t m = 0; m < s->method_count; ++m)
        for (int i = 0; s->method[m]->varied && i < GROUP; ++i) row(page, ids[i], s->method[m]);
}

/// Experiments of a group that were run; better and worse are of them.
static int count(const flx_study* s, const char* const* ids, flx_reduction method, int* better, int* worse)
{
    int run = 0;
    *better = *worse = 0;
    for (int i = 0; i < GROUP; ++i)
    {
        const flx_study_trial *own    = trial_of(s, ids[i], method, FLX_STUDY_WIDE),
                              *varied = trial_of(s, ids[i], method, FLX_STUDY_VARIED);
        if (!own || !varied) continue;
        ++run;
        *better += PART * unseen(varied) <= unseen(own);
        *worse += unseen(varied) >= PART * unseen(own);
    }
    return run;
}

static void state_method(flx_page* page, const flx_study_method* method)
{
    int       better[2], worse[2];
    const int with    = count(page->s, chosen, method->method, &better[0], &worse[0]);
    const int without = count(page->s, apart, method->method, &better[1], &worse[1]);
    if (with + without == 0) return;
    flx__page_text(page, "%s: ", method->label);
    flx__page_sentence(page, flx__reduction_name(method->method),
                       (double[]){better[0], worse[0], with, better[1], worse[1], without},
                       "better by a fifth or more in {better where chosen}, worse by a quarter or more in {worse where "
                       "chosen} of {runs where chosen} experiments that were looked at while such runs were designed; "
                       "in {better apart} and {worse apart} of the {runs apart} others. ");
}

static void state_experiments(flx_page* page, const char* const* ids)
{
    for (int i = 0; i < GROUP; ++i)
    {
        const flx_study_trial *own    = trial_of(page->s, ids[i], FLX_REDUCTION_SECS, FLX_STUDY_WIDE),
                              *varied = trial_of(page->s, ids[i], FLX_REDUCTION_SECS, FLX_STUDY_VARIED);
        if (!own || !varied) continue;
        flx__page_text(page, "%s ", ids[i]);
        flx__page_sentence(page, ids[i], (double[]){unseen(own), unseen(varied)}, "from {own} to {varied}; ");
    }
}

void flx__page_unseen(flx_page* page)
{
    const flx_study* s = page->s;
    flx__page_section(page, "unseen", "Varied training");
    flx__page_text(page,
                   "<p>The own training run alone, and with %d more that nobody designed: the same run pushed about by "
                   "smooth random accelerations. e on the unseen load over three horizons, at %d modes. ",
                   FLX_STUDY_RUNS, s->wide);
    for (int32_t m = 0; m < s->method_count; ++m)
        if (s->method[m]->varied) state_method(page, s->method[m]);
    flx__page_text(page, "SECS: ");
    state_experiments(page, chosen);
    state_experiments(page, apart);
    flx__page_text(page,
                   "in brackets: of the largest motion without its rigid part.</p>\n<div class='wide'><table><tr><th>"
                   "<th>unseen: own<th>varied<th>E: own<th>varied<th>training run: own<th>varied</tr>\n");
    rows(page, chosen, "chosen with");
    rows(page, apart, "apart");
    flx__page_text(page, "</table></div>\n");
}
