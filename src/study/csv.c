// Every trial, a line for each load, and every number the page states.
#include "base/file.h"
#include "study/study.h"

#include <math.h>

/// Numbers that are not finite stand as "inf": they are results here, not gaps.
static void number(flx_file* file, double value)
{
    if (isnan(value))
        flx__file_printf(file, ",");
    else if (isfinite(value))
        flx__file_printf(file, ",%.6g", value);
    else
        flx__file_printf(file, ",inf");
}

static void trial_line(flx_file* file, const flx_study* s, const flx_study_trial* t, int load)
{
    const flx_study_experiment* e = &s->experiment[t->experiment];
    flx__file_printf(file, "%s,%s,%d,%s,%s,%d,%d,%d", e->id, flx__reduction_name(t->method), t->asked,
                     t->part == FLX_STUDY_RICH     ? "all_from_all_runs"
                     : t->part == FLX_STUDY_VARIED ? "all_from_varied_runs"
                     : t->part == FLX_STUDY_WIDE   ? "all_from_own_run"
                     : t->part == FLX_STUDY_ALL    ? "all"
                                                   : e->type[t->part],
                     flx__study_load_name[load], t->numbers.modes, t->numbers.elements, t->numbers.all);
    number(file, t->verdict[load].error);
    number(file, t->verdict[load].energy);
    flx__file_printf(file, ",%s",
                     t->verdict[load].exploded    ? "exploded"
                     : t->verdict[load].distorted ? "distorted"
                                                  : "fine");
    number(file, t->numbers.norm);
    number(file, t->numbers.least);
    number(file, t->numbers.projections);
    number(file, t->numbers.frame_ms);
    number(file, e->full_ms);
    number(file, t->numbers.offline_s);
    if (t->stability.known)
    {
        number(file, t->stability.growth);
        number(file, t->stability.radius);
        flx__file_printf(file, ",%d,%d\n", t->stability.unstable, t->stability.slack);
    }
    else
        flx__file_printf(file, ",,,,\n");
}

flx_status flx__study_write_csv(const flx_study* s, const char* path, bool overwrite)
{
    flx_file*        file   = NULL;
    const flx_status status = flx__file_begin(s->ctx, path, overwrite, &file);
    if (status != FLX_OK) return status;
    flx__file_printf(file,
                     "experiment,method,r,reduced,load,modes,elements,all_elements,error,energy,verdict,norm,least,"
                     "projections,frame_ms,full_ms,offline_s,growth,radius,unstable,slack\n");
    for (int64_t i = 0; i < s->trial_count; ++i)
        for (int load = 0; load < FLX_STUDY_LOADS; ++load)
            if (s->trial[i].judged[load]) trial_line(file, s, &s->trial[i], load);
    return flx__file_commit(file);
}

flx_status flx__study_write_claims(const flx_study* s, const char* path, bool overwrite)
{
    flx_file*        file   = NULL;
    const flx_status status = flx__file_begin(s->ctx, path, overwrite, &file);
    if (status != FLX_OK) return status;
    flx__file_printf(file, "{\"schema\": \"flexor.study/1\", \"cloth_side\": %d, \"claims\": [\n", s->side);
    for (int64_t i = 0; i < s->claim_count; ++i)
    {
        const flx_study_claim* c = &s->claim[i];
        flx__file_printf(file, "{\"figure\": \"%s\", \"key\": \"%s\", \"value\": ", c->figure, c->key);
        if (isfinite(c->value))
            flx__file_printf(file, "%.9g", c->value);
        else
            flx__file_printf(file, "null");
        flx__file_printf(file, ", \"text\": \"%s\"}%s\n", c->text, i + 1 < s->claim_count ? "," : "");
    }
    flx__file_printf(file, "]}\n");
    return flx__file_commit(file);
}
