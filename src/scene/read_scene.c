// flx_scene_read: file -> tree -> overrides -> table -> structs. Mistakes are collected on the way and reported at
// once.
#include "scene/reader.h"

#include "base/file.h"
#include "flexor/mesh.h"

#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES (16 << 20)

flx_scene_options flx_scene_options_default(void)
{
    return (flx_scene_options){.struct_size = sizeof(flx_scene_options)};
}

void flx_scene_destroy(flx_context* ctx, flx_scene* scene)
{
    (void)ctx;
    if (scene) flx__arena_destroy(scene->memory); // the scene itself lies in there; made by hand: NULL, not ours
}

/// The text without a byte order mark, in a source. Refuses what is no scene before the parser sees it.
static flx_status open_source(flx_context* ctx, const char* path, char** data, flx__source* source)
{
    flx_status  status = FLX_OK;
    struct stat info;
    int64_t     bytes = 0;
    if (stat(path, &info) == 0 && info.st_size > MAX_BYTES)
        return flx__fail(ctx, FLX_ERR_SCENE, "%s: %lld bytes are too many for a scene; allowed are %d (16 MiB)", path,
                         (long long)info.st_size, MAX_BYTES);
    FLX_TRY(flx__file_read_all(ctx, path, data, &bytes));
    if (bytes > MAX_BYTES) // a pipe has no size beforehand
        return flx__fail(ctx, FLX_ERR_SCENE, "%s: %lld bytes are too many for a scene; allowed are %d (16 MiB)", path,
                         (long long)bytes, MAX_BYTES);

    const unsigned char* mark = (const unsigned char*)*data;
    if (bytes >= 2 && ((mark[0] == 0xFF && mark[1] == 0xFE) || (mark[0] == 0xFE && mark[1] == 0xFF)))
        return flx__fail(ctx, FLX_ERR_SCENE, "%s: this is UTF-16 text; save it as UTF-8", path);
    const int64_t skip = bytes >= 3 && mark[0] == 0xEF && mark[1] == 0xBB && mark[2] == 0xBF ? 3 : 0;
    *source            = (flx__source){.name = path, .text = *data + skip, .length = (size_t)(bytes - skip)};

done:
    return status == FLX_ERR_FORMAT ? FLX_ERR_SCENE : status; // an empty file
}

static char* folder_of(flx__arena* arena, const char* path)
{
    const char* slash = strrchr(path, '/');
    return flx__arena_text(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

static flx_status out_of_memory(flx_context* ctx, const char* path)
{
    return flx__fail(ctx, FLX_ERR_MEMORY, "%s: out of memory while reading the scene", path);
}

static void read_root(flx__reader* r, const flx__source* source)
{
    flx__node* root = flx__tree_parse(r->scratch, r->mistakes, source, source->text, source->length, 0);
    if (!root)
    {
        const flx__place nowhere = {.source = source};
        if (!flx__arena_failed(r->scratch) && flx__mistakes_count(r->mistakes) == 0)
            flx__mistake(r->mistakes, nowhere, "there is no scene in this file");
        return;
    }
    if (root->kind != FLX__NODE_MAP)
    {
        flx__mistake(r->mistakes, root->at, "a scene is a map of keys and starts with 'flexor: 1'");
        return;
    }
    flx__overrides_apply(r, root);
    if (flx__arena_failed(r->scratch)) return;
    flx__names_collect(r, root);
    if (flx__arena_failed(r->scratch)) return;
    flx__read_section(r, &flx__section_scene, root, r->text);
}

flx_status flx_scene_read(flx_context* ctx, const char* path, const flx_scene_options* options, flx_scene** out)
{
    FLX_ASSERT(ctx && path && out);
    flx_status              status   = FLX_OK;
    char*                   data     = NULL;
    flx__source             source   = {0};
    const flx_scene_options defaults = flx_scene_options_default();
    flx__reader             r        = {.ctx = ctx, .options = options ? options : &defaults};

    *out = NULL;
    if (r.options->struct_size != sizeof *r.options)
        return flx__fail(
            ctx, FLX_ERR_ARGUMENT,
            "flx_scene_options has %zu bytes here and %zu in the caller: start from flx_scene_options_default()",
            sizeof *r.options, r.options->struct_size);
    FLX_TRY(open_source(ctx, path, &data, &source));

    r.arena   = flx__arena_create(ctx);
    r.scratch = flx__arena_create(ctx);
    if (r.arena && r.scratch) r.text = flx__arena_take(r.arena, 1, sizeof *r.text);
    if (r.text) r.mistakes = flx__mistakes_create(r.scratch);
    if (r.mistakes) r.folder = folder_of(r.scratch, path);
    if (!r.folder)
    {
        status = out_of_memory(ctx, path);
        goto done;
    }
    r.text->scene.path   = flx__arena_text(r.arena, path, strlen(path));
    r.text->scene.memory = r.arena;
    if (r.options->data_path)
        r.text->scene.data_path = flx__arena_text(r.arena, r.options->data_path, strlen(r.options->data_path));

    read_root(&r, &source);
    if (flx__arena_failed(r.arena) || flx__arena_failed(r.scratch))
    {
        status = out_of_memory(ctx, path);
        goto done;
    }
    FLX_TRY(flx__mistakes_report(ctx, r.mistakes));
    *out    = &r.text->scene; // the first member of what lies in the arena
    r.arena = NULL;

done:
    flx_mesh_destroy(ctx, r.mesh);
    flx__arena_destroy(r.arena);
    flx__arena_destroy(r.scratch);
    flx__free(ctx, data);
    return status;
}
