// flexor export: a recording for other programs.
#include "cli.h"

#include <string.h>

static int export_recording(cli* c)
{
    flx_recording*     recording = NULL;
    flx_export_options options   = flx_export_options_default();
    const char*        path      = cli_text(c, "output", NULL);
    const char*        up        = cli_text(c, "up", NULL);
    if (!path)
    {
        cli_error(c, CODE_USAGE, "where to? -o x.pc2, x.mdd, x.pvd, x_%%04d.ply or x_%%04d.obj");
        return CODE_USAGE;
    }
    if (!cli_integer(c, "first", 0, INT32_MAX, &options.first) ||
        !cli_integer(c, "last", -1, INT32_MAX, &options.last) ||
        !cli_integer(c, "every", 1, INT32_MAX, &options.every) || !cli_real(c, "scale", 1e-9, 1e9, &options.scale))
        return CODE_USAGE;
    options.overwrite = cli_flag(c, "force");

    int code = cli_context(c);
    if (code >= 0) return code;
    flx_status status = flx_recording_open(c->ctx, c->operand[0], &recording);
    if (status == FLX_OK)
    {
        // Blender's own defaults expect y up in these
        const char* ending = strrchr(path, '.');
        options.y_up       = ending && (strcmp(ending, ".pc2") == 0 || strcmp(ending, ".mdd") == 0);
        if (up) options.y_up = strcmp(up, "y") == 0;
        if (!make_parent_folders(c, path))
        {
            flx_recording_close(recording);
            return CODE_INTERNAL;
        }
        status = flx_export(c->ctx, recording, path, &options);
    }
    code = status == FLX_OK ? CODE_FINE : cli_fail(c, status);
    if (code == CODE_FINE) cli_say(c, "wrote %s", path);
    flx_recording_close(recording);
    return code;
}

static const cli_option options[] = {
    {'o', "output", "PATH", "x.pc2 (with x.obj), x.mdd, x.pvd (with x_NNNN.vtu), x_%04d.ply, x_%04d.obj"},
    {'f', "force", NULL, "overwrite"},
    {0, "first", "FRAME", "default 0"},
    {0, "last", "FRAME", "default: the last one"},
    {0, "every", "N", "each N-th frame"},
    {0, "up", "y|z", "axis that is up in what is written; default: y for PC2 and MDD, else the scene's"},
    {0, "scale", "FACTOR", "coordinates are multiplied by this"},
    {0, NULL, NULL, NULL},
};

const cli_verb cli_export = {
    .name         = "export",
    .operands     = "RECORDING -o PATH",
    .summary      = "Write a recording for other programs.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = export_recording,
};
