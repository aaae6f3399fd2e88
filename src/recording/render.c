// Pictures of a recording: which frames, from where, in which colours. Drawing itself is picture.c's.
#include "flexor/recording.h"

#include "base/file.h"
#include "flexor/scene.h"
#include "math/mat3.h"
#include "recording/raster.h"

#include <string.h>

#define LOOKED_AT 24 // frames that decide the view and the colour range
#define GAP 2        // pixels between the pictures of a sheet
#define PERSPECTIVE 2.6

static int32_t looked_at_count(const flx_recording_info* info)
{
    return info->frame_count < LOOKED_AT ? info->frame_count : LOOKED_AT;
}

/// Evenly spread, first and last included.
static int32_t looked_at(const flx_recording_info* info, int32_t k)
{
    const int32_t count = looked_at_count(info);
    return count > 1 ? (int32_t)((int64_t)k * (info->frame_count - 1) / (count - 1)) : 0;
}

static bool is_finite3(const float x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/// Extent of all frames along the camera's axes: low and high of right, up, forward, and the lowest point of the world.
static flx_status extent_of(flx_context* ctx, flx_recording* recording, const flx_raster_view* view, int32_t vertical,
                            double low[3], double high[3], double* floor_height)
{
    flx_status               status  = FLX_OK;
    const flx_recording_info info    = flx_recording_get_info(recording);
    float*                   x       = NULL;
    const double*            axis[3] = {view->right, view->up, view->forward};

    for (int i = 0; i < 3; ++i) low[i] = INFINITY, high[i] = -INFINITY;
    *floor_height = INFINITY;
    FLX_NEW(ctx, x, 3 * (int64_t)info.surface_vertex_count);
    for (int32_t k = 0; k < looked_at_count(&info); ++k)
    {
        flx_frame frame = {.surface_x = x};
        FLX_TRY(flx_recording_frame(recording, looked_at(&info, k), &frame));
        for (int64_t v = 0; v < info.surface_vertex_count; ++v)
        {
            const double p[3] = {x[3 * v], x[3 * v + 1], x[3 * v + 2]};
            if (!is_finite3(x + 3 * v)) continue;
            for (int i = 0; i < 3; ++i)
            {
                const double d = flx__dot3(p, axis[i]);
                low[i]         = d < low[i] ? d : low[i];
                high[i]        = d > high[i] ? d : high[i];
            }
            *floor_height = p[vertical] < *floor_height ? p[vertical] : *floor_height;
        }
    }
    if (!(low[0] <= high[0])) // nothing to see: any place will do
    {
        for (int i = 0; i < 3; ++i) low[i] = high[i] = 0;
        *floor_height = 0;
    }
done:
    flx__free(ctx, x);
    return status;
}

flx_status flx_render_options_fit(flx_context* ctx, flx_recording* recording, flx_render_options* out)
{
    flx_status         status   = FLX_OK;
    const int32_t      vertical = flx_recording_get_info(recording).up_axis == 1 ? 1 : 2;
    flx_render_options o        = {.struct_size = sizeof o, .width = 640, .height = 480, .obstacles = true};
    const double       side[3]  = {1, vertical == 1 ? 0.7 : -1.2, vertical == 1 ? 1.2 : 0.7};
    const double       zero[3]  = {0, 0, 0};
    double             low[3], high[3];

    o.up[vertical]       = 1;
    flx_raster_view view = flx__raster_look(side, zero, o.up, 1, true, o.width, o.height);
    FLX_TRY(extent_of(ctx, recording, &view, vertical, low, high, &o.ground));

    const double across = high[0] - low[0], tall = high[1] - low[1], deep = high[2] - low[2];
    double       size = sqrt(across * across + tall * tall + deep * deep);
    if (!(size > 0)) size = 1;
    // perspective enlarges what is near: half the depth in front of `at`, seen from PERSPECTIVE sizes away
    const double nearer = 1 + 0.5 * deep / (PERSPECTIVE * size);
    const double wanted = fmax(across, tall * o.width / o.height) * nearer * 1.12;
    o.view_width        = wanted > 0 ? wanted : size;
    for (int i = 0; i < 3; ++i)
    {
        o.at[i] = 0.5 * (low[0] + high[0]) * view.right[i] + 0.5 * (low[1] + high[1]) * view.up[i] +
                  0.5 * (low[2] + high[2]) * view.forward[i];
        o.from[i] = o.at[i] - PERSPECTIVE * size * view.forward[i];
    }
    const flx_recording_solids obstacles = flx_recording_get_solids(recording, FLX_SOLID_OBSTACLE);
    for (int32_t i = 0; i < obstacles.count; ++i)
        if (obstacles.shape[i] == FLX_SHAPE_PLANE) o.ground = NAN;
    *out = o;
done:
    return status;
}

// --- colours ---------------------------------------------------------------------------------------------------

typedef struct renderer
{
    flx_context*              ctx;
    flx_recording*            recording;
    flx_recording_info        info;
    flx_recording_solids      obstacles, bones; // none when they are not to be drawn
    const flx_render_options* options;
    double                    color_max;
    float*                    x;              // [vertices of bodies, obstacles, bones][3] m
    float *                   vector, *value; // [surface_vertex_count][3], [..]
    int32_t*                  triangle;       // [of bodies, obstacles with an end, planes, bones][3]
    int32_t                   plane_count;    // triangles
    int32_t                   squares;        // planes
} renderer;

/// Positions of everything, and the length of the field's vector at each surface vertex.
static flx_status read_frame(renderer* r, int32_t index)
{
    const int64_t         n     = r->info.surface_vertex_count;
    const flx_color_field field = r->options->color;
    flx_frame             frame = {.surface_x  = r->x,
                                   .obstacle_x = r->obstacles.vertex_count > 0 ? r->x + 3 * n : NULL,
                                   .bone_x = r->bones.vertex_count > 0 ? r->x + 3 * (n + r->obstacles.vertex_count) : NULL};
    if (field == FLX_COLOR_DISPLACEMENT) frame.displacement = r->vector;
    if (field == FLX_COLOR_CONTACT) frame.contact_force = r->vector;
    const flx_status status = flx_recording_frame(r->recording, index, &frame);
    if (status != FLX_OK || field == FLX_COLOR_SKIN) return status;
    for (int64_t v = 0; v < n; ++v)
    {
        const float* f = r->vector + 3 * v;
        r->value[v]    = sqrtf(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }
    return FLX_OK;
}

/// Triangles of solids whose being a plane is `planes`, behind those that are there. Returns how many are there then.
static int32_t append_solids(renderer* r, int32_t count, const flx_recording_solids* s, int32_t first_vertex,
                             bool planes)
{
    for (int32_t t = 0; t < s->triangle_count; ++t)
    {
        if ((s->shape[s->triangle_solid[t]] == FLX_SHAPE_PLANE) != planes) continue;
        for (int k = 0; k < 3; ++k)
            r->triangle[3 * (int64_t)count + k] = first_vertex + s->triangles[3 * (int64_t)t + k];
        ++count;
    }
    return count;
}

static flx_status gather_triangles(renderer* r)
{
    flx_context* ctx    = r->ctx;
    flx_status   status = FLX_OK;
    if (r->options->obstacles) r->obstacles = flx_recording_get_solids(r->recording, FLX_SOLID_OBSTACLE);
    if (r->options->bones) r->bones = flx_recording_get_solids(r->recording, FLX_SOLID_BONE);
    const int64_t vertices = (int64_t)r->info.surface_vertex_count + r->obstacles.vertex_count + r->bones.vertex_count;
    const int64_t triangles =
        (int64_t)r->info.surface_triangle_count + r->obstacles.triangle_count + r->bones.triangle_count;
    if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "a picture of %lld triangles is too large", (long long)triangles);

    FLX_NEW(ctx, r->x, 3 * vertices);
    FLX_NEW(ctx, r->triangle, 3 * triangles);
    memcpy(r->triangle, flx_recording_surface_triangles(r->recording),
           3 * sizeof(int32_t) * (size_t)r->info.surface_triangle_count);
    int32_t count             = r->info.surface_triangle_count;
    count                     = append_solids(r, count, &r->obstacles, r->info.surface_vertex_count, false);
    const int32_t first_plane = count;
    count                     = append_solids(r, count, &r->obstacles, r->info.surface_vertex_count, true);
    r->plane_count            = count - first_plane;
    for (int32_t i = 0; i < r->obstacles.count; ++i) r->squares += r->obstacles.shape[i] == FLX_SHAPE_PLANE;
    append_solids(r, count, &r->bones, r->info.surface_vertex_count + r->obstacles.vertex_count, false);

done:
    return status;
}

static flx_status renderer_open(renderer* r)
{
    flx_status                status = FLX_OK;
    const flx_render_options* o      = r->options;
    flx_context*              ctx    = r->ctx;
    if (o->struct_size != sizeof *o)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "flx_render_options: get them from flx_render_options_fit()");
    if (o->width < 1 || o->height < 1 || o->width > 16384 || o->height > 16384)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "picture of %d x %d pixels: each side must be 1 to 16384", o->width,
                         o->height);
    for (int i = 0; i < 3; ++i)
        if (!isfinite(o->from[i]) || !isfinite(o->at[i]) || !isfinite(o->up[i]))
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "the camera's place must be finite numbers");
    if (!(o->view_width > 0 && isfinite(o->view_width)))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "view_width = %g m must be above 0", o->view_width);

    const int64_t n = r->info.surface_vertex_count;
    FLX_TRY(gather_triangles(r));
    FLX_NEW(ctx, r->vector, 3 * n);
    FLX_NEW(ctx, r->value, n);
    r->color_max = o->color_max;
    if (o->color != FLX_COLOR_SKIN && !(r->color_max > 0))
    {
        r->color_max = 0;
        for (int32_t k = 0; k < looked_at_count(&r->info); ++k)
        {
            FLX_TRY(read_frame(r, looked_at(&r->info, k)));
            for (int64_t v = 0; v < n; ++v)
                if (isfinite(r->value[v]) && r->value[v] > r->color_max) r->color_max = r->value[v];
        }
    }
done:
    return status;
}

static void renderer_close(renderer* r)
{
    flx__free(r->ctx, r->x);
    flx__free(r->ctx, r->vector);
    flx__free(r->ctx, r->value);
    flx__free(r->ctx, r->triangle);
}

/// A bar of the colours with its two ends written beside it.
static void draw_legend(const renderer* r, uint8_t* rgb, int64_t stride)
{
    static const uint8_t ink[3] = {70, 72, 80};
    const int32_t        width = r->options->width, height = r->options->height;
    const int32_t        bar = width / 5, left = width - bar - 12, top = height - 14;
    if (bar < 40 || height < 60) return;

    for (int32_t i = 0; i < bar; ++i)
    {
        float color[3];
        flx__color_map((double)i / (bar - 1), color);
        for (int32_t y = 0; y < 6; ++y)
            for (int k = 0; k < 3; ++k) rgb[(top + y) * stride + 3 * (int64_t)(left + i) + k] = flx__to_srgb(color[k]);
    }
    char         text[32];
    const bool   force = r->options->color == FLX_COLOR_CONTACT;
    const double most  = force ? r->color_max : 1e3 * r->color_max;
    flx__print_c(text, sizeof text, "%.3g %s", most, force ? "N" : "mm");
    const int32_t wide = 6 * (int32_t)strlen(text) - 1;
    flx__text_draw(rgb, stride, width, height, left, top - 10, 1, "0", ink);
    flx__text_draw(rgb, stride, width, height, left + bar - wide, top - 10, 1, text, ink);
}

static int32_t samples_for(int32_t width, int32_t height)
{
    const int64_t pixels = (int64_t)width * height;
    return pixels <= 4000000 ? 3 : pixels <= 16000000 ? 2 : 1;
}

static flx_status draw_frame(renderer* r, int32_t index, uint8_t* rgb, int64_t stride)
{
    static const uint8_t      ink[3] = {70, 72, 80};
    const flx_render_options* o      = r->options;
    const int32_t             n      = r->info.surface_vertex_count;
    flx_status                status = read_frame(r, index);
    if (status != FLX_OK) return status;

    const float scale = r->color_max > 0 ? (float)(1 / r->color_max) : 0;
    if (o->color != FLX_COLOR_SKIN)
        for (int64_t v = 0; v < n; ++v) r->value[v] *= scale;
    const flx_picture_desc desc = {
        .vertex_count   = n + r->obstacles.vertex_count + r->bones.vertex_count,
        .triangle_count = r->info.surface_triangle_count + r->obstacles.triangle_count + r->bones.triangle_count,
        .x              = r->x,
        .triangle       = r->triangle,
        .obstacle_count = r->obstacles.triangle_count - r->plane_count,
        .plane_count    = r->plane_count,
        .square_count   = r->squares > 0 ? r->plane_count / r->squares : 0,
        .bone_count     = r->bones.triangle_count,
        .value          = o->color == FLX_COLOR_SKIN ? NULL : r->value,
        .over_skin      = o->color == FLX_COLOR_CONTACT,
        .wireframe      = o->wireframe,
        .from           = {o->from[0], o->from[1], o->from[2]},
        .at             = {o->at[0], o->at[1], o->at[2]},
        .up             = {o->up[0], o->up[1], o->up[2]},
        .view_width     = o->view_width,
        .width          = o->width,
        .height         = o->height,
        .samples        = samples_for(o->width, o->height),
        .ground         = isfinite(o->ground),
        .ground_height  = o->ground,
        .vertical       = r->info.up_axis == 1 ? 1 : 2,
    };
    status = flx__picture_draw(r->ctx, &desc, rgb, stride);
    if (status != FLX_OK) return status;

    char label[16];
    flx__print_c(label, sizeof label, "%d", index);
    flx__text_draw(rgb, stride, o->width, o->height, 10, 10, o->width >= 320 ? 2 : 1, label, ink);
    if (o->color != FLX_COLOR_SKIN) draw_legend(r, rgb, stride);
    return FLX_OK;
}

flx_status flx_render_sheet(flx_context* ctx, flx_recording* recording, int32_t frame_count, const int32_t* frames,
                            int32_t columns, const flx_render_options* options, const char* path, bool overwrite)
{
    flx_status status = FLX_OK;
    uint8_t*   rgb    = NULL;
    renderer   r = {.ctx = ctx, .recording = recording, .info = flx_recording_get_info(recording), .options = options};

    if (frame_count < 1) return flx__fail(ctx, FLX_ERR_ARGUMENT, "a sheet of %d frames", frame_count);
    for (int32_t k = 0; k < frame_count; ++k)
        if (frames[k] < 0 || frames[k] >= r.info.frame_count)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "frame %d is not there: the recording has 0 to %d", frames[k],
                             r.info.frame_count - 1);
    if (columns <= 0) columns = (int32_t)ceil(sqrt((double)frame_count));
    if (columns > frame_count) columns = frame_count;
    FLX_TRY(renderer_open(&r));

    const int64_t rows   = (frame_count + columns - 1) / columns;
    const int64_t width  = columns * (int64_t)(options->width + GAP) - GAP,
                  height = rows * (options->height + GAP) - GAP;
    if (width > 65536 || height > 65536 || width * height > INT64_C(1) << 28)
    {
        status =
            flx__fail(ctx, FLX_ERR_ARGUMENT,
                      "a sheet of %lld x %lld pixels is too large: 65536 a side and 268 million in all are allowed",
                      (long long)width, (long long)height);
        goto done;
    }
    FLX_NEW(ctx, rgb, 3 * width * height);
    memset(rgb, 255, (size_t)(3 * width * height));
    for (int32_t k = 0; k < frame_count; ++k)
    {
        const int64_t left = k % columns * (int64_t)(options->width + GAP);
        const int64_t top  = k / columns * (int64_t)(options->height + GAP);
        FLX_TRY(draw_frame(&r, frames[k], rgb + 3 * (top * width + left), 3 * width));
    }
    FLX_TRY(flx__png_write(ctx, path, (int32_t)width, (int32_t)height, rgb, overwrite));

done:
    flx__free(ctx, rgb);
    renderer_close(&r);
    return status;
}

flx_status flx_render_frame(flx_context* ctx, flx_recording* recording, int32_t frame,
                            const flx_render_options* options, const char* path, bool overwrite)
{
    return flx_render_sheet(ctx, recording, 1, &frame, 1, options, path, overwrite);
}
