// Poses through the recording's rasteriser, and pictures as data URIs.
#include "base/file.h"
#include "recording/raster.h"
#include "study/page.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/// A camera that sees the rest pose with room around: the same for all pictures of an experiment.
static void aim(const flx_pd_system* system, bool cloth, flx_picture_desc* d)
{
    static const double from[2][3] = {{1.1, 0.9, 1.7}, {0.7, 0.6, 2.0}}; // box, cloth
    for (int c = 0; c < 3; ++c)
    {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = 0; i < system->n; ++i)
        {
            low  = fmin(low, system->x_rest[3 * i + c]);
            high = fmax(high, system->x_rest[3 * i + c]);
        }
        d->at[c]   = 0.5 * (low + high);
        d->from[c] = d->at[c] + from[cloth][c];
    }
    d->up[1]      = 1.0;
    d->view_width = 1.3 * system->size;
}

flx_status flx__study_draw(flx_study* s, const flx_trial_bench* bench, const double* q, const double* value,
                           int32_t group, const char* caption)
{
    flx_status            status  = FLX_OK;
    const flx_experiment* e       = bench->experiment;
    const int32_t         n       = e->system->n;
    flx_study_picture     picture = {.group = group};
    float *               x = NULL, *shade = NULL;
    double                middle = 0.0;
    snprintf(picture.caption, sizeof picture.caption, "%s", caption);
    FLX_NEW(s->ctx, x, 3 * (int64_t)n);
    FLX_NEW(s->ctx, shade, n);
    FLX_NEW_ZERO(s->ctx, picture.rgb, 3 * FLX_STUDY_PICTURE_WIDTH * FLX_STUDY_PICTURE_HEIGHT);
    for (int32_t i = 0; i < n; ++i)
    {
        shade[i] = value ? (float)value[i] : 0.0f;
        middle += q[3 * (int64_t)i + 1] / n;
    }
    flx_picture_desc d = {.vertex_count   = n,
                          .triangle_count = e->triangle_count,
                          .x              = x,
                          .triangle       = e->triangle,
                          .value          = value ? shade : NULL,
                          .width          = FLX_STUDY_PICTURE_WIDTH,
                          .height         = FLX_STUDY_PICTURE_HEIGHT,
                          .samples        = 2,
                          .wireframe      = true,
                          .vertical       = 1};
    aim(e->system, e->triangle_count > 0 && strcmp(e->system->batch[0].type->name, "tet_strain") != 0, &d);
    // bodies that fall are followed
    const double fall = isfinite(middle) && e->system->held_count == 0 ? middle - d.at[1] : 0.0;
    for (int64_t i = 0; i < 3 * (int64_t)n; ++i) x[i] = (float)fmin(fmax(q[i] - (i % 3 == 1 ? fall : 0.0), -1e3), 1e3);
    FLX_TRY(flx__picture_draw(s->ctx, &d, picture.rgb, 3 * FLX_STUDY_PICTURE_WIDTH));
    FLX_RESERVE(s->ctx, s->picture, s->picture_capacity, s->picture_count + 1);
    s->picture[s->picture_count++] = picture;
    picture.rgb                    = NULL;
done:
    flx__free(s->ctx, x);
    flx__free(s->ctx, shade);
    flx__free(s->ctx, picture.rgb);
    return status;
}

static void write_base64(flx_file* file, const unsigned char* data, int64_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t i = 0; i < bytes; i += 3)
    {
        const int      left = bytes - i < 3 ? (int)(bytes - i) : 3;
        const unsigned word = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)data[i + 2] : 0);
        const char four[4] = {digit[word >> 18], digit[word >> 12 & 63], left > 1 ? digit[word >> 6 & 63] : '=',
                              left > 2 ? digit[word & 63] : '='};
        flx__file_write(file, four, 4);
    }
}

/// The encoder writes files only: the picture takes the way over a neighbour of the page.
flx_status flx__page_picture(flx_page* page, const flx_study_picture* picture)
{
    flx_status status = FLX_OK;
    char*      data   = NULL;
    int64_t    bytes  = 0;
    char*      path   = flx__format(page->s->ctx, "%s.picture.png", page->path);
    if (!path) return FLX_ERR_MEMORY;
    FLX_TRY(flx__png_write(page->s->ctx, path, FLX_STUDY_PICTURE_WIDTH, FLX_STUDY_PICTURE_HEIGHT, picture->rgb, true));
    status = flx__file_read_all(page->s->ctx, path, &data, &bytes);
    unlink(path);
    FLX_TRY(status);
    flx__file_printf(page->file, "<figure><img alt='%s' src='data:image/png;base64,", picture->caption);
    write_base64(page->file, (const unsigned char*)data, bytes);
    flx__file_printf(page->file, "'><figcaption>%s</figcaption></figure>\n", picture->caption);
done:
    flx__free(page->s->ctx, data);
    flx__free(page->s->ctx, path);
    return status;
}
