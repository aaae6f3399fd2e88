#include "frames.h"

#include "summary.h"

/// The rest of a frame's steps. *whole: the frame was finished (a signal may stop between two steps).
static ending step_frame(frame_loop* l, flx_step_stats* frame, bool* whole)
{
    int32_t sub   = (int32_t)(flx_state_step_count(l->state) % l->substeps);
    bool    first = true;
    *whole        = false;
    if (l->begin) l->begin(l->user);
    for (; sub < l->substeps; ++sub)
    {
        flx_step_stats step = {0};
        const ending   end  = l->step(l->user, &step);
        if (end != ENDING_DONE) return end;
        add_stats(frame, &step, first);
        first = false;
        if (sub + 1 < l->substeps && (cli_signal_seen() || l->c->stdout_gone)) return ENDING_STOPPED;
    }
    *whole = true;
    return ENDING_DONE;
}

static ending fail(cli* c, flx_status status)
{
    cli_fail(c, status);
    return ENDING_FAILED;
}

ending step_frames(frame_loop* l)
{
    cli*          c     = l->c;
    const int32_t first = (int32_t)(flx_state_step_count(l->state) / l->substeps);
    flx_status    status =
        l->recorder && flx_state_step_count(l->state) == 0 ? flx_recorder_frame(l->recorder, l->state, NULL) : FLX_OK;
    if (status != FLX_OK) return fail(c, status);
    l->since     = cli_now();
    c->line_done = 0;
    for (int32_t frame = first + 1; frame <= l->frames; ++frame)
    {
        flx_step_stats stats = {0};
        bool           whole;
        const ending   end = step_frame(l, &stats, &whole);
        if (end == ENDING_DIVERGED || end == ENDING_FAILED) return end;
        if (whole)
        {
            if (l->recorder) status = flx_recorder_frame(l->recorder, l->state, &stats);
            if (status == FLX_OK && l->end) status = l->end(l->user, frame, &stats);
            if (status != FLX_OK) return fail(c, status);
            cli_frame_progress(c, frame, l->frames, first, l->since, stats.ms_total / l->substeps);
            if (cli_status_wanted())
                cli_say(c, "frame %d of %d, %.0f ms a frame, %d active contacts", frame, l->frames, stats.ms_total,
                        stats.active);
        }
        if (end == ENDING_STOPPED || (frame < l->frames && (cli_signal_seen() || c->stdout_gone)))
            return ENDING_STOPPED;
    }
    return ENDING_DONE;
}
