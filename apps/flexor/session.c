// Context, scene and file names, as every verb needs them.
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cli_code(flx_status status)
{
    switch (status)
    {
    case FLX_OK:
        return CODE_FINE;
    case FLX_ERR_FORMAT:
    case FLX_ERR_MESH:
    case FLX_ERR_SCENE:
    case FLX_ERR_SETTING:
    case FLX_ERR_UNHELD:
    case FLX_ERR_UNSUPPORTED:
        return CODE_SCENE;
    case FLX_ERR_ARGUMENT:
        return CODE_USAGE;
    case FLX_ERR_NONFINITE:
        return CODE_DIVERGED;
    default:
        return CODE_INTERNAL;
    }
}

int cli_fail(cli* c, flx_status status)
{
    const int code = cli_code(status);
    if (status == FLX_ERR_EXISTS)
        cli_error(c, code, "%s (-f overwrites)", flx_context_error(c->ctx));
    else if (*flx_context_error(c->ctx))
        cli_error(c, code, "%s", flx_context_error(c->ctx));
    else
        cli_error(c, code, "%s", flx_status_name(status));
    return code;
}

static int create_context(cli* c, int32_t workers, const char* isa, const char* cache_dir, int64_t cache_bytes,
                          flx_context** out)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = workers;
    desc.cache_dir        = cache_dir;
    desc.cache_bytes      = cache_bytes;
    desc.isa              = isa;
    desc.log              = cli_log;
    desc.log_user         = c;

    const flx_status status = flx_context_create(&desc, out);
    if (status == FLX_OK) return -1;
    if (status == FLX_ERR_UNSUPPORTED)
        cli_error(c, CODE_USAGE, "--isa %s: this processor or this build does not have it", isa);
    else
        cli_error(c, CODE_INTERNAL, "no context: %s", flx_status_name(status));
    return status == FLX_ERR_UNSUPPORTED ? CODE_USAGE : CODE_INTERNAL;
}

int cli_context_as(cli* c, int32_t workers, const char* isa, flx_context** out)
{
    return create_context(c, workers, isa, NULL, 0, out);
}

/// malloc'ed, by the XDG base directory specification; NULL when there is no place. A relative $XDG_CACHE_HOME does not
/// count.
static char* cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return text_of("%s/flexor", cache);
    return home && home[0] == '/' ? text_of("%s/.cache/flexor", home) : NULL;
}

/// $FLEXOR_CACHE_GB, or the library's default; false after having said what is wrong.
static bool cache_limit(cli* c, int64_t* bytes)
{
    const char* text = getenv("FLEXOR_CACHE_GB");
    double      gb   = 0;
    *bytes           = flx_context_desc_default().cache_bytes;
    if (!text || !*text) return true;
    if (!parse_real(text, &gb) || !(gb >= 0 && gb <= 1e6))
    {
        cli_error(c, CODE_USAGE, "FLEXOR_CACHE_GB=%s: not a number between 0 and 1e6", text);
        return false;
    }
    *bytes = (int64_t)(gb * 1e9);
    return true;
}

int cli_context(cli* c)
{
    int32_t workers = 0;
    int64_t limit   = 0;
    if (!cli_integer(c, "threads", 0, 256, &workers) || !cache_limit(c, &limit)) return CODE_USAGE;
    char*     folder = cli_flag(c, "no-cache") || limit == 0 ? NULL : cache_folder();
    const int code   = create_context(c, workers, cli_text(c, "isa", "auto"), folder, limit, &c->ctx);
    free(folder);
    return code;
}

int cli_scene(cli* c, const char* path, flx_scene** out)
{
    const char** overrides = calloc((size_t)c->found_count + 1, sizeof *overrides);
    if (!overrides) return CODE_INTERNAL;
    flx_scene_options options = flx_scene_options_default();
    options.data_path         = cli_text(c, "data", NULL);
    options.overrides         = overrides;
    for (int i = 0; i < c->found_count; ++i)
        if (strcmp(c->found[i].name, "set") == 0) overrides[options.override_count++] = c->found[i].value;

    const flx_status status = flx_scene_read(c->ctx, path, &options, out);
    free(overrides);
    return status == FLX_OK ? -1 : cli_fail(c, status);
}

char* text_of(const char* format, ...)
{
    char*   text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort(); // out of memory in a few bytes
    va_end(args);
    return text;
}

static bool ends_with(const char* text, const char* ending)
{
    const size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

bool is_scene_path(const char* path)
{
    return ends_with(path, ".yaml") || ends_with(path, ".yml") || ends_with(path, ".json");
}

char* stem_of(const char* path, const char* const* endings)
{
    char* stem = text_of("%s", path);
    for (int i = 0; endings[i]; ++i)
        if (ends_with(stem, endings[i]))
        {
            stem[strlen(stem) - strlen(endings[i])] = 0;
            break;
        }
    return stem;
}

bool cli_taken(cli* c, const char* path)
{
    struct stat info;
    if (cli_flag(c, "force") || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    cli_error(c, CODE_INTERNAL, "%s exists already (-f overwrites)", path);
    return true;
}

bool make_parent_folders(cli* c, const char* path)
{
    char* folder = text_of("%s", path);
    bool  good   = true;
    for (char* at = strchr(folder + 1, '/'); at && good; at = strchr(at + 1, '/'))
    {
        *at  = 0;
        good = mkdir(folder, 0777) == 0 || errno == EEXIST;
        if (!good) cli_error(c, CODE_INTERNAL, "%s: cannot make this folder: %s", folder, strerror(errno));
        *at = '/';
    }
    free(folder);
    return good;
}

void print_shell_word(FILE* out, const char* word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
    if (*word && strspn(word, plain) == strlen(word))
    {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; ++word)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}
