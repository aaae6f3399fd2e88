// flexor study: experiments that are run, judged and written down as a page.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/// The bar by the share of trials that are done.
static bool show(void* user, const char* what, double done)
{
    cli_share_progress(user, what, done);
    return cli_signal_seen() == 0;
}

static bool read_options(cli* c, flx_study_options* o, int32_t** modes)
{
    const char* text = cli_text(c, "modes", NULL);
    if (!cli_integer(c, "size", 5, 60, &o->cloth_side)) return false;
    if (text && !cli_integers(c, "modes", text, modes, &o->mode_count)) return false;
    o->modes       = *modes;
    o->experiments = cli_text(c, "experiments", NULL);
    o->methods     = cli_text(c, "methods", NULL);
    o->quick       = cli_flag(c, "quick");
    o->overwrite   = cli_flag(c, "force");
    return true;
}

static int study(cli* c)
{
    const char*       path  = cli_text(c, "output", "study-deim.html");
    flx_study_options o     = flx_study_options_default();
    int32_t*          modes = NULL;
    int               code  = CODE_USAGE;
    if (strcmp(c->operand[0], "deim") != 0)
    {
        cli_error(c, code, "'%s' is no study; there is deim", c->operand[0]);
        return code;
    }
    if (!read_options(c, &o, &modes)) goto done;
    code = cli_context(c);
    if (code >= 0) goto done;
    if (!make_parent_folders(c, path))
    {
        code = CODE_INTERNAL;
        goto done;
    }
    cli_signals_watch();
    const flx_status status = flx_study_deim(c->ctx, &o, path, show, c);
    cli_clear_bar(c);
    if (status == FLX_ERR_CANCELLED && cli_signal_seen()) cli_signal_raise(cli_signal_seen());
    code = status == FLX_OK ? CODE_FINE : cli_fail(c, status);
    if (code == CODE_FINE) cli_say(c, "wrote %s, and .csv and .json beside it", path);
done:
    free(modes);
    return code;
}

static const cli_option options[] = {
    {'o', "output", "FILE.html", "the page; default: study-deim.html. Beside it come FILE.csv and FILE.json"},
    {'f', "force", NULL, "overwrite"},
    {0, "size", "N", "vertices along a side of the cloth; default 30"},
    {0, "experiments", "LIST", "of C1,B1,B1w,B2,S1,S2,T1,T2,T3,V1,V2; default: all"},
    {0, "methods", "LIST", "of block_deim,deim,gpd,secs,qdeim,gpds,pou,w_ecsw,w_block_deim,w_gpd,w_secs; default: all"},
    {0, "modes", "LIST", "numbers of modes of each constraint, ascending; default 6,10,20,40"},
    {0, "quick", NULL, "a small cloth, two experiments, few modes: seconds instead of minutes"},
    {0, NULL, NULL, NULL},
};

const cli_verb cli_study = {
    .name     = "study",
    .operands = "deim",
    .summary  = "Experiments on reduced constraints, as one page with figures.",
    .details  = "deim: every figure of the feasibility study on DEIM for Projective Dynamics, derived again, and the\n"
                "same for methods that work; see docs/reduction.md.",
    .options  = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = study,
};
