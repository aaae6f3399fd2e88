// Scenes compiled to models, with what was said meanwhile.
#ifndef FLX_TESTS_MODEL_MODEL_FIXTURE_H
#define FLX_TESTS_MODEL_MODEL_FIXTURE_H

#include "solver/fixture.h"

typedef struct model_log
{
    char text[8192];
} model_log;

static inline void model_log_line(void* user, flx_log_level level, const char* text)
{
    model_log*   log  = user;
    const size_t used = strlen(log->text);
    if (level <= FLX_LOG_NOTICE) snprintf(log->text + used, sizeof log->text - used, "%s\n", text);
}

static inline void model_start(fixture* f, model_log* log)
{
    flx_context_desc desc = flx_context_desc_default();
    desc.worker_count     = 2;
    desc.log              = model_log_line;
    desc.log_user         = log;
    *f                    = (fixture){0};
    log->text[0]          = '\0';
    if (flx_context_create(&desc, &f->ctx) != FLX_OK) fail_msg("no context");
    fixture_folder(f);
}

static inline flx_status model_try(fixture* f, const char* yaml)
{
    flx_status status = FLX_OK;
    char       path[128];
    snprintf(path, sizeof path, "%s/scene.yaml", f->folder);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    fputs(yaml, out);
    fclose(out);
    FLX_TRY(flx_scene_read(f->ctx, path, NULL, &f->scene));
    FLX_TRY(flx_model_compile(f->ctx, f->scene, NULL, NULL, &f->model));
done:
    return status;
}

static inline void model_open(fixture* f, const char* yaml)
{
    const flx_status status = model_try(f, yaml);
    if (status != FLX_OK) fail_msg("%s: %s", flx_status_name(status), flx_context_error(f->ctx));
}

static inline void model_close(fixture* f)
{
    flx_model_destroy(f->model);
    flx_scene_destroy(f->ctx, f->scene);
    f->model = NULL, f->scene = NULL;
}

static inline void model_end(fixture* f)
{
    model_close(f);
    assert_int_equal(flx_context_bytes_now(f->ctx), 0);
    flx_context_destroy(f->ctx);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    if (system(command) != 0) print_message("could not remove %s\n", f->folder);
}

/// Closed tube around the x axis, round at both ends: all points within `radius` of a segment from x = from to x = to.
static inline void model_tube(const fixture* f, const char* name, double from, double to, double radius, int around,
                              int along)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    if (!out) fail_msg("cannot write %s", path);
    const int    caps = around / 4, rings = 2 * caps + along - 1;
    const double pi = 3.14159265358979323846;
    fprintf(out, "v %.17g 0 0\n", from - radius);
    for (int r = 1; r <= rings; ++r)
    {
        double x, size;
        if (r <= caps)
            x = from - radius * cos(0.5 * pi * r / caps), size = radius * sin(0.5 * pi * r / caps);
        else if (r < caps + along)
            x = from + (to - from) * (r - caps) / along, size = radius;
        else
            x    = to + radius * sin(0.5 * pi * (r - caps - along) / caps),
            size = radius * cos(0.5 * pi * (r - caps - along) / caps);
        for (int a = 0; a < around; ++a)
            fprintf(out, "v %.17g %.17g %.17g\n", x, size * cos(2 * pi * a / around), size * sin(2 * pi * a / around));
    }
    fprintf(out, "v %.17g 0 0\n", to + radius);
    for (int a = 0; a < around; ++a)
    {
        const int b = (a + 1) % around, last = 2 + (rings - 1) * around;
        fprintf(out, "f 1 %d %d\nf %d %d %d\n", 2 + b, 2 + a, last + a, last + b, last + around);
        for (int r = 0; r + 1 < rings; ++r)
            fprintf(out, "f %d %d %d %d\n", 2 + r * around + a, 2 + r * around + b, 2 + (r + 1) * around + b,
                    2 + (r + 1) * around + a);
    }
    fclose(out);
}

#endif
