#include "recording/export.h"

#include "recording/recording_reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

flx_export_options flx_export_options_default(void)
{
    return (flx_export_options){
        .struct_size = sizeof(flx_export_options), .y_up = true, .scale = 1, .first = 0, .last = -1, .every = 1};
}

int32_t flx__export_frame(const flx__export* e, int32_t k)
{
    return e->options.first + k * e->options.every;
}

// --- files that appear together -------------------------------------------------------------------

flx_status flx__export_claim(flx__export* e, char* path)
{
    flx_context* ctx    = e->ctx;
    flx_status   status = FLX_OK;
    struct stat  info;

    if (!path) return FLX_ERR_MEMORY;
    FLX_RESERVE(ctx, e->output, e->output_capacity, e->output_count + 1);
    if (stat(path, &info) == 0)
    {
        if (!S_ISREG(info.st_mode)) // renaming onto a device or folder would lose it
            FLX_TRY(flx__fail(ctx, FLX_ERR_IO, "%s: is there already and is not a plain file", path));
        if (!e->options.overwrite)
            FLX_TRY(flx__fail(ctx, FLX_ERR_EXISTS, "%s exists already; it is not overwritten unless asked", path));
    }
    e->output[e->output_count++] = (flx__output){.path = path};
    path                         = NULL;

done:
    flx__free(ctx, path);
    return status;
}

flx_status flx__export_open(flx__export* e, int32_t index, flx_file** out)
{
    flx__output* o = &e->output[index];
    *out           = NULL;
    o->staged      = flx__format(e->ctx, "%s.%ld.staged", o->path, (long)getpid());
    if (!o->staged) return FLX_ERR_MEMORY;
    return flx__file_begin(e->ctx, o->staged, true, out);
}

// Everything is on the disk: give it the names that were promised.
static flx_status publish(flx__export* e)
{
    for (int32_t i = 0; i < e->output_count; ++i)
    {
        flx__output* o = &e->output[i];
        if (rename(o->staged, o->path) != 0)
            return flx__fail(e->ctx, FLX_ERR_IO, "%s: cannot be written: %s", o->path, strerror(errno));
        flx__free(e->ctx, o->staged);
        o->staged = NULL;
    }
    return FLX_OK;
}

static void release(flx__export* e)
{
    for (int32_t i = 0; i < e->output_count; ++i)
    {
        if (e->output[i].staged) unlink(e->output[i].staged);
        flx__free(e->ctx, e->output[i].staged);
        flx__free(e->ctx, e->output[i].path);
    }
    flx__free(e->ctx, e->output);
    flx__free(e->ctx, e->point);
    flx__free(e->ctx, e->triangle);
    flx__free(e->ctx, e->surface);
    flx__free(e->ctx, e->buffer);
}

// --- surface --------------------------------------------------------------------------------------

static flx_status number_points(flx__export* e)
{
    flx_context*   ctx    = e->ctx;
    flx_status     status = FLX_OK;
    int32_t*       number = NULL;
    const int64_t  corner = 3 * (int64_t)e->info.surface_triangle_count;
    const int32_t  n      = e->info.surface_vertex_count;
    const int32_t* source = flx_recording_surface_triangles(e->recording);

    FLX_NEW_ZERO(ctx, number, n);
    FLX_NEW(ctx, e->point, n);
    FLX_NEW(ctx, e->triangle, corner);
    FLX_NEW(ctx, e->surface, 3 * (int64_t)n);
    FLX_NEW(ctx, e->buffer, FLX__EXPORT_BUFFER);
    for (int64_t i = 0; i < corner; ++i) number[source[i]] = 1;
    for (int32_t v = 0; v < n; ++v)
        if (number[v])
        {
            number[v]                  = e->point_count;
            e->point[e->point_count++] = v;
        }
    for (int64_t i = 0; i < corner; ++i) e->triangle[i] = number[source[i]];

done:
    flx__free(ctx, number);
    return status;
}

flx_status flx__export_read_surface(flx__export* e, int32_t k, double* time)
{
    flx_frame        frame  = {.surface_x = e->surface};
    const flx_status status = flx_recording_frame(e->recording, flx__export_frame(e, k), &frame);
    *time                   = frame.time;
    return status;
}

void flx__export_point(const flx__export* e, const float* x, float out[3])
{
    const float s = (float)e->options.scale;
    out[0]        = s * x[0];
    out[1]        = s * (e->turn ? x[2] : x[1]);
    out[2]        = s * (e->turn ? -x[1] : x[2]);
}

static void put_word(unsigned char* to, const void* word, bool big_endian)
{
    uint32_t v;
    memcpy(&v, word, sizeof v);
    for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(v >> (8 * (big_endian ? 3 - i : i)));
}

void flx__export_words(const flx__export* e, flx_file* file, const void* words, int64_t count, bool big_endian)
{
    const char* p = words;
    while (count > 0)
    {
        const int64_t n = count < FLX__EXPORT_BUFFER / 4 ? count : FLX__EXPORT_BUFFER / 4;
        for (int64_t i = 0; i < n; ++i) put_word(e->buffer + 4 * i, p + 4 * i, big_endian);
        flx__file_write(file, e->buffer, 4 * n);
        p += 4 * n;
        count -= n;
    }
}

void flx__export_points(const flx__export* e, flx_file* file, bool big_endian)
{
    for (int32_t begin = 0; begin < e->point_count;)
    {
        const int32_t room = FLX__EXPORT_BUFFER / 12;
        const int32_t n    = e->point_count - begin < room ? e->point_count - begin : room;
        for (int32_t i = 0; i < n; ++i)
        {
            float x[3];
            flx__export_point(e, e->surface + 3 * (int64_t)e->point[begin + i], x);
            for (int c = 0; c < 3; ++c) put_word(e->buffer + 12 * i + 4 * c, &x[c], big_endian);
        }
        flx__file_write(file, e->buffer, 12 * (int64_t)n);
        begin += n;
    }
}

char* flx__export_sibling(const flx__export* e, const char* ending)
{
    const char* dot = strrchr(e->path, '.');
    return flx__format(e->ctx, "%.*s%s", (int)(dot - e->path), e->path, ending);
}

// --- which format, which frames -------------------------------------------------------------------

static flx__exporter exporter_of(const char* path)
{
    static const struct
    {
        const char*   ending;
        flx__exporter run;
    } table[]         = {{".pc2", flx__export_pc2},
                         {".mdd", flx__export_mdd},
                         {".pvd", flx__export_pvd},
                         {".ply", flx__export_ply},
                         {".obj", flx__export_obj}};
    const char* slash = strrchr(path, '/');
    const char* dot   = strrchr(slash ? slash + 1 : path, '.');
    for (size_t i = 0; dot && i < sizeof table / sizeof *table; ++i)
        if (strcasecmp(dot, table[i].ending) == 0) return table[i].run;
    return NULL;
}

static flx_status select_frames(flx__export* e)
{
    flx_export_options* o     = &e->options;
    const int32_t       count = e->info.frame_count;
    if (count == 0) return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "the recording has no frames yet");
    if (!(o->scale > 0) || !isfinite(o->scale))
        return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "scale = %g is not above 0", o->scale);
    if (o->every < 1) return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "every = %d is not at least 1", o->every);
    if (o->last == -1) o->last = count - 1;
    if (o->first < 0 || o->last >= count || o->first > o->last)
        return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "frames %d to %d: the recording has frames 0 to %d", o->first,
                         o->last, count - 1);
    e->frame_count = (o->last - o->first) / o->every + 1;
    return FLX_OK;
}

flx_status flx_export(flx_context* ctx, flx_recording* recording, const char* path, const flx_export_options* options)
{
    FLX_ASSERT(ctx && recording && path);
    flx_status  status = FLX_OK;
    flx__export e      = {.ctx       = ctx,
                          .recording = recording,
                          .info      = flx_recording_get_info(recording),
                          .options   = options ? *options : flx_export_options_default(),
                          .path      = path};

    if (e.options.struct_size != sizeof e.options)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "export options are not from flx_export_options_default()");
    const flx__exporter run = exporter_of(path);
    if (!run) return flx__fail(ctx, FLX_ERR_ARGUMENT, "%s: exports end in .pc2, .mdd, .pvd, .ply or .obj", path);
    FLX_TRY(select_frames(&e));
    FLX_TRY(number_points(&e));
    FLX_TRY(run(&e));
    FLX_TRY(publish(&e));

done:
    release(&e);
    return status;
}
