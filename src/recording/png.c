// RGB pixels to a PNG file by libpng, through the atomic writer. No time stamps: same pixels, same bytes.
#include "recording/raster.h"

#include "base/file.h"

#include <png.h>
#include <setjmp.h>

typedef struct png_sink
{
    flx_context* ctx;
    flx_file*    file;
    char         problem[128];
} png_sink;

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    png_sink* sink = png_get_io_ptr(png);
    if (flx__file_write(sink->file, data, (int64_t)bytes) != FLX_OK) png_error(png, "write failed");
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp text)
{
    png_sink* sink = png_get_error_ptr(png);
    snprintf(sink->problem, sizeof sink->problem, "%s", text);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    png_sink* sink = png_get_error_ptr(png);
    flx__log(sink->ctx, FLX_LOG_INFO, "png: %s", text);
}

static png_voidp on_allocate(png_structp png, png_alloc_size_t bytes)
{
    return flx__alloc(png_get_mem_ptr(png), (int64_t)bytes, 1);
}

static void on_release(png_structp png, png_voidp memory)
{
    flx__free(png_get_mem_ptr(png), memory);
}

flx_status flx__png_write(flx_context* ctx, const char* path, int32_t width, int32_t height, const uint8_t* rgb,
                          bool overwrite)
{
    png_sink   sink   = {.ctx = ctx};
    flx_status status = flx__file_begin(ctx, path, overwrite, &sink.file);
    if (status != FLX_OK) return status;

    png_structp png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &sink, on_error, on_warning, ctx, on_allocate, on_release);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info)
    {
        png_destroy_write_struct(&png, NULL);
        flx__file_abort(sink.file);
        return FLX_ERR_MEMORY;
    }
    if (setjmp(png_jmpbuf(png)))
    {
        png_destroy_write_struct(&png, &info);
        const bool wrote = sink.problem[0] == 'w'; // the file's own failure has the better text
        if (wrote) return flx__file_commit(sink.file);
        flx__file_abort(sink.file);
        return flx__fail(ctx, FLX_ERR_IO, "%s: png: %s", path, sink.problem);
    }
    png_set_write_fn(png, &sink, on_write, on_flush);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    for (int32_t y = 0; y < height; ++y) png_write_row(png, rgb + 3 * (int64_t)width * y);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return flx__file_commit(sink.file);
}
