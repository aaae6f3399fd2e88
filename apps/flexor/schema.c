// flexor schema: the scene format from the table that checks scenes.
#include "cli.h"

static int schema(cli* c)
{
    char* text = NULL;
    int   code = cli_context(c);
    if (code >= 0) return code;
    const flx_status status = flx_scene_schema(c->ctx, cli_flag(c, "markdown"), &text);
    code                    = status == FLX_OK ? CODE_FINE : cli_fail(c, status);
    if (text) print_data(c, text);
    flx_text_free(c->ctx, text);
    return code;
}

static const cli_option options[] = {
    {0, "markdown", NULL, "a reference to read instead of a JSON Schema"},
    {0, NULL, NULL, NULL},
};

const cli_verb cli_schema = {
    .name     = "schema",
    .operands = "",
    .summary  = "The scene format, as a JSON Schema for editors.",
    .options  = options,
    .run      = schema,
};
