// flexor render: frames of a recording as one picture.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_FRAMES 12

static const char* const recording_endings[] = {".xdmf", ".frames", ".frames/", NULL};

/// A text out of a recording's run.json; malloc'ed, or NULL.
static char* manifest_text(const char* recording, const char* key)
{
    char* stem = stem_of(recording, recording_endings);
    char* path = text_of("%s.run.json", stem);
    char* mark = text_of("\"%s\": \"", key);
    FILE* file = fopen(path, "r");
    char  line[4096];
    char* found = NULL;
    while (file && !found && fgets(line, sizeof line, file))
    {
        char* at = strstr(line, mark);
        if (!at) continue;
        at += strlen(mark);
        char* out = line;
        for (; *at && *at != '"'; ++at)
        {
            if (*at == '\\' && at[1]) ++at;
            *out++ = *at;
        }
        *out  = 0;
        found = text_of("%s", line);
    }
    if (file) fclose(file);
    free(mark);
    free(path);
    free(stem);
    return found;
}

/// A camera by name out of the scene. -1 to go on.
static int camera_named(cli* c, const char* name, flx_render_options* o)
{
    flx_scene*  scene = NULL;
    const char* given = cli_text(c, "scene", NULL);
    char*       path  = given ? text_of("%s", given) : manifest_text(c->operand[0], "scene_path");
    char*       data  = manifest_text(c->operand[0], "data_path");
    if (!path)
    {
        free(data);
        cli_error(c, CODE_USAGE, "--camera %s: the recording does not say which scene it is from; give --scene", name);
        return CODE_USAGE;
    }
    flx_scene_options options = flx_scene_options_default();
    options.data_path         = cli_text(c, "data", data);
    options.skip_files        = true; // a recording is drawn without the meshes it came from
    const flx_status status   = flx_scene_read(c->ctx, path, &options, &scene);
    free(path);
    free(data);
    if (status != FLX_OK) return cli_fail(c, status);

    int  code       = CODE_USAGE;
    char names[512] = "";
    for (int32_t i = 0; i < scene->camera_count; ++i)
    {
        const flx_camera_desc* camera = &scene->camera[i];
        if (!camera->name) continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", camera->name);
        if (strcmp(camera->name, name) != 0) continue;
        memcpy(o->from, camera->from, sizeof o->from);
        memcpy(o->at, camera->at, sizeof o->at);
        memcpy(o->up, camera->up, sizeof o->up);
        if (camera->width > 0) o->view_width = camera->width;
        code = -1;
    }
    if (code > 0) cli_error(c, code, "--camera %s: no such camera; the scene has %s", name, *names ? names : "none");
    flx_scene_destroy(c->ctx, scene);
    return code;
}

/// "X:Y:Z,X:Y:Z" or a camera's name. -1 to go on.
static int choose_camera(cli* c, flx_render_options* o)
{
    const char* text = cli_text(c, "camera", NULL);
    if (!text) return -1;
    char*  copy  = text_of("%s", text);
    char*  comma = strchr(copy, ',');
    double from[3], at[3];
    bool   points = comma != NULL;
    if (points)
    {
        *comma = 0;
        points = cli_triple(copy, from) && cli_triple(comma + 1, at);
    }
    free(copy);
    if (!points) return camera_named(c, text, o);
    memcpy(o->from, from, sizeof from);
    memcpy(o->at, at, sizeof at);
    return -1;
}

static int choose_size(cli* c, flx_render_options* o)
{
    const char* text = cli_text(c, "size", NULL);
    int         used = 0, width = 0, height = 0;
    if (!text) return -1;
    if (sscanf(text, "%dx%d%n", &width, &height, &used) != 2 || text[used] || width < 1 || height < 1 ||
        width > 16384 || height > 16384)
    {
        cli_error(c, CODE_USAGE, "--size %s: must be WIDTHxHEIGHT, each 1 to 16384", text);
        return CODE_USAGE;
    }
    // what was fitted into 4:3 must fit into the new shape too
    const double fitted = (double)o->width / o->height, now = (double)width / height;
    if (now > fitted) o->view_width *= now / fitted;
    o->width  = width;
    o->height = height;
    return -1;
}

static int choose_frames(cli* c, const flx_recording_info* info, int32_t** frames, int32_t* count)
{
    const char* text = cli_text(c, "frames", NULL);
    if (text) return cli_integers(c, "frames", text, frames, count) ? -1 : CODE_USAGE;
    *count  = info->frame_count < DEFAULT_FRAMES ? info->frame_count : DEFAULT_FRAMES;
    *frames = calloc((size_t)*count + 1, sizeof **frames);
    for (int32_t i = 0; i < *count; ++i)
        (*frames)[i] = *count > 1 ? (int32_t)((int64_t)i * (info->frame_count - 1) / (*count - 1)) : 0;
    return -1;
}

static int render(cli* c)
{
    flx_recording*     recording = NULL;
    flx_render_options o;
    int32_t            columns = 0, count = 0;
    int32_t*           frames = NULL;
    char*              stem   = stem_of(c->operand[0], recording_endings);
    char* path = cli_text(c, "output", NULL) ? text_of("%s", cli_text(c, "output", NULL)) : text_of("%s.png", stem);
    const char* field  = cli_text(c, "field", "skin");
    flx_status  status = FLX_OK;
    int         code   = CODE_USAGE;

    if (!cli_integer(c, "columns", 1, 1000, &columns)) goto done;
    code = cli_context(c);
    if (code >= 0) goto done;
    status = flx_recording_open(c->ctx, c->operand[0], &recording);
    if (status == FLX_OK) status = flx_render_options_fit(c->ctx, recording, &o);
    if (status != FLX_OK)
    {
        code = cli_fail(c, status);
        goto done;
    }
    const flx_recording_info info = flx_recording_get_info(recording);
    if ((code = choose_size(c, &o)) >= 0 || (code = choose_camera(c, &o)) >= 0 ||
        (code = choose_frames(c, &info, &frames, &count)) >= 0)
        goto done;
    code = CODE_USAGE;
    if (!cli_real(c, "width", 1e-9, 1e9, &o.view_width) || !cli_real(c, "max", 0, 1e30, &o.color_max)) goto done;
    o.color     = strcmp(field, "displacement") == 0 ? FLX_COLOR_DISPLACEMENT
                  : strcmp(field, "contact") == 0    ? FLX_COLOR_CONTACT
                                                     : FLX_COLOR_SKIN;
    o.wireframe = cli_flag(c, "wire");
    if (cli_flag(c, "no-ground")) o.ground = NAN;
    o.obstacles = !cli_flag(c, "no-obstacles");
    o.bones     = cli_flag(c, "bones");

    if (!make_parent_folders(c, path))
    {
        code = CODE_INTERNAL;
        goto done;
    }
    status = flx_render_sheet(c->ctx, recording, count, frames, columns, &o, path, cli_flag(c, "force"));
    code   = status == FLX_OK ? CODE_FINE : cli_fail(c, status);
    if (code == CODE_FINE) cli_say(c, "wrote %s: %d frames of %d x %d pixels", path, count, o.width, o.height);

done:
    flx_recording_close(recording);
    free(frames);
    free(path);
    free(stem);
    return code;
}

static const cli_option options[] = {
    {'o', "output", "FILE.png", "the picture; default: the recording's name"},
    {'f', "force", NULL, "overwrite"},
    {0, "frames", "LIST", "such as 0,22,44,73; default: twelve of them, evenly"},
    {0, "columns", "N", "pictures in a row; default: as square as it gets"},
    {0, "size", "WxH", "pixels of one picture; default 640x480"},
    {0, "camera", "CAMERA", "a name out of the scene, or FROM,AT as X:Y:Z,X:Y:Z in m"},
    {0, "scene", "SCENE", "where to look for cameras; default: what the recording was made from"},
    {0, "data", "DIR", "folder that the scene's `data:` paths are relative to"},
    {0, "width", "METRES", "shown across, where the camera looks"},
    {0, "field", "skin|displacement|contact", "what the colours show"},
    {0, "max", "VALUE", "end of the colour scale, m or N; default: from the recording"},
    {0, "wire", NULL, "draw the triangles' edges"},
    {0, "bones", NULL, "draw the bones too, through the skin"},
    {0, "no-obstacles", NULL, "leave obstacles out"},
    {0, "no-ground", NULL, "no shadow on a floor"},
    {0, NULL, NULL, NULL},
};

const cli_verb cli_render = {
    .name         = "render",
    .operands     = "RECORDING",
    .summary      = "Draw frames of a recording as one sheet.",
    .options      = options,
    .operands_min = 1,
    .operands_max = 1,
    .run          = render,
};
