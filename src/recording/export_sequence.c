// One mesh file a frame: binary PLY or OBJ. The user's pattern is parsed here and never reaches printf as a format.
#include "recording/export.h"

#include "recording/recording_reader.h"

#include <string.h>

// --- the pattern ----------------------------------------------------------------------------------

// dir/head%04dtail.ply. The folder is taken as it stands; in the name %% is a percent sign.
typedef struct pattern
{
    char*   head; // folder and what comes before the number
    char*   tail;
    int32_t width;
    bool    zeros;
    int32_t numbers; // 0 or 1
} pattern;

static void pattern_release(flx_context* ctx, pattern* p)
{
    flx__free(ctx, p->head);
    flx__free(ctx, p->tail);
}

// After a '%': the rest of a number's conversion; NULL when it is none.
static const char* parse_number(const char* p, pattern* out)
{
    out->zeros = *p == '0';
    out->width = 0;
    while (*p >= '0' && *p <= '9' && out->width < 100) out->width = 10 * out->width + (*p++ - '0');
    return out->width <= 20 && (*p == 'd' || *p == 'i' || *p == 'u') ? p + 1 : NULL;
}

static flx_status pattern_parse(flx__export* e, pattern* out)
{
    flx_status  status = FLX_OK;
    const char* path   = e->path;
    const char* slash  = strrchr(path, '/');
    const char* p      = slash ? slash + 1 : path;
    size_t      used   = (size_t)(p - path);

    FLX_NEW_ZERO(e->ctx, out->head, (int64_t)strlen(path) + 1);
    FLX_NEW_ZERO(e->ctx, out->tail, (int64_t)strlen(path) + 1);
    memcpy(out->head, path, used);
    char* text = out->head;
    while (*p)
    {
        if (p[0] != '%')
            text[used++] = *p++;
        else if (p[1] == '%')
        {
            text[used++] = '%';
            p += 2;
        }
        else
        {
            const char* after = out->numbers == 0 ? parse_number(p + 1, out) : NULL;
            if (!after)
                FLX_TRY(flx__fail(e->ctx, FLX_ERR_ARGUMENT,
                                  "%s: the name may hold one number such as %%04d (and %%%% for a percent sign)",
                                  path));
            out->numbers = 1;
            text         = out->tail;
            used         = 0;
            p            = after;
        }
    }

done:
    return status;
}

static char* pattern_fill(flx_context* ctx, const pattern* p, int32_t frame)
{
    if (p->numbers == 0) return flx__strdup(ctx, p->head);
    return flx__format(ctx, p->zeros ? "%s%0*d%s" : "%s%*d%s", p->head, p->width, frame, p->tail);
}

flx_status flx__export_claim_sequence(flx__export* e)
{
    flx_status status = FLX_OK;
    pattern    p      = {0};

    if (e->info.surface_triangle_count == 0)
        return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "%s: the recording has no surface", e->path);
    FLX_TRY(pattern_parse(e, &p));
    if (p.numbers == 0 && e->frame_count > 1)
        FLX_TRY(flx__fail(e->ctx, FLX_ERR_ARGUMENT,
                          "%s: is one file for %d frames; put a number such as %%04d in the name, or choose one frame",
                          e->path, e->frame_count));
    for (int32_t k = 0; k < e->frame_count; ++k)
        FLX_TRY(flx__export_claim(e, pattern_fill(e->ctx, &p, flx__export_frame(e, k))));

done:
    pattern_release(e->ctx, &p);
    return status;
}

// --- PLY ------------------------------------------------------------------------------------------

static void ply_header(const flx__export* e, flx_file* file, double time)
{
    flx__file_printf(file,
                     "ply\nformat binary_little_endian 1.0\n"
                     "comment Flexor %s, metres times %.9g, %s up, time %.9g s\n"
                     "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
                     "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
                     FLX_VERSION, e->options.scale, e->info.up_axis == 1 ? "y" : "z", time, e->point_count,
                     e->info.surface_triangle_count);
}

static void ply_faces(const flx__export* e, flx_file* file)
{
    for (int64_t t = 0; t < e->info.surface_triangle_count; ++t)
    {
        flx__file_write(file, "\3", 1);
        flx__export_words(e, file, e->triangle + 3 * t, 3, false);
    }
}

flx_status flx__export_ply(flx__export* e)
{
    flx_status status = FLX_OK;
    flx_file*  file   = NULL;
    double     time   = 0;

    FLX_TRY(flx__export_claim_sequence(e));
    for (int32_t k = 0; k < e->frame_count; ++k)
    {
        FLX_TRY(flx__export_read_surface(e, k, &time));
        FLX_TRY(flx__export_open(e, k, &file));
        ply_header(e, file, time);
        flx__export_points(e, file, false);
        ply_faces(e, file);
        status = flx__file_commit(file);
        file   = NULL;
        FLX_TRY(status);
    }

done:
    flx__file_abort(file);
    return status;
}

// --- OBJ ------------------------------------------------------------------------------------------

// An object's name is one word in OBJ.
static void obj_name(const flx__export* e, flx_file* file)
{
    const char* name = flx_recording_scene_name(e->recording);
    flx__file_printf(file, "o ");
    if (!*name) name = "flexor";
    for (; *name; ++name) flx__file_write(file, (unsigned char)*name <= 0x20 ? "_" : name, 1);
    flx__file_printf(file, "\n");
}

flx_status flx__export_obj_mesh(flx__export* e, int32_t output, const float* points, double time)
{
    flx_status    status = FLX_OK;
    flx_file*     file   = NULL;
    const bool    y_up   = e->turn || e->info.up_axis == 1;
    const double* rest   = flx_recording_surface_rest(e->recording);

    FLX_TRY(flx__export_open(e, output, &file));
    flx__file_printf(file, "# Flexor %s, metres times %.9g, %s up, ", FLX_VERSION, e->options.scale, y_up ? "y" : "z");
    if (points)
        flx__file_printf(file, "time %.9g s\n", time);
    else
        flx__file_printf(file, "rest pose\n");
    obj_name(e, file);
    for (int32_t i = 0; i < e->point_count; ++i)
    {
        const int64_t v    = 3 * (int64_t)e->point[i];
        const float   r[3] = {(float)rest[v], (float)rest[v + 1], (float)rest[v + 2]};
        float         x[3];
        flx__export_point(e, points ? points + v : r, x);
        flx__file_printf(file, "v %.9g %.9g %.9g\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int64_t t = 0; t < e->info.surface_triangle_count; ++t)
    {
        const int32_t* c = e->triangle + 3 * t;
        flx__file_printf(file, "f %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1);
    }
    status = flx__file_commit(file);
    file   = NULL;

done:
    flx__file_abort(file);
    return status;
}

flx_status flx__export_obj(flx__export* e)
{
    flx_status status = FLX_OK;
    double     time   = 0;

    e->turn = e->options.y_up && e->info.up_axis == 2;
    FLX_TRY(flx__export_claim_sequence(e));
    for (int32_t k = 0; k < e->frame_count; ++k)
    {
        FLX_TRY(flx__export_read_surface(e, k, &time));
        FLX_TRY(flx__export_obj_mesh(e, k, e->surface, time));
    }

done:
    return status;
}
