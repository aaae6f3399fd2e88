// flx_scene_schema: what both descriptions of the format need.
#include "scene/manual.h"

#include <stdio.h>
#include <string.h>

void flx__text_add(flx__text* text, const char* piece, size_t length)
{
    if (text->failed) return;
    if (text->length + (int64_t)length + 1 > text->capacity)
    {
        const int64_t wanted = 2 * (text->length + (int64_t)length) + 4096;
        char*         grown  = flx__realloc(text->ctx, text->data, wanted, 1);
        if (!grown)
        {
            text->failed = true;
            return;
        }
        text->data     = grown;
        text->capacity = wanted;
    }
    memcpy(text->data + text->length, piece, length);
    text->length += (int64_t)length;
    text->data[text->length] = '\0';
}

void flx__text_print(flx__text* text, const char* format, ...)
{
    char    piece[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(piece, sizeof piece, format, args); // texts only: numbers come as text already
    va_end(args);
    FLX_ASSERT(length >= 0 && (size_t)length < sizeof piece);
    flx__text_add(text, piece, (size_t)length);
}

static bool listed(const flx__section** list, int32_t count, const flx__section* section)
{
    for (int32_t i = 0; i < count; ++i)
        if (list[i] == section) return true;
    return false;
}

static int32_t add_section(const flx__section** list, int32_t count, const flx__section* section)
{
    if (listed(list, count, section)) return count;
    FLX_ASSERT(count < FLX__SECTIONS_MAX);
    list[count++] = section;
    for (int32_t i = 0; i < section->field_count; ++i)
        if (section->field[i].section) count = add_section(list, count, section->field[i].section);
    return count;
}

int32_t flx__sections_list(const flx__section** list)
{
    return add_section(list, 0, &flx__section_scene);
}

flx_status flx_scene_schema(flx_context* ctx, bool markdown, char** out)
{
    FLX_ASSERT(ctx && out);
    flx__text text = {.ctx = ctx};
    *out           = NULL;
    if (markdown)
        flx__write_markdown(&text);
    else
        flx__write_json_schema(&text);
    if (text.failed)
    {
        flx__free(ctx, text.data);
        return flx__fail(ctx, FLX_ERR_MEMORY, "out of memory while writing the scene schema");
    }
    *out = text.data;
    return FLX_OK;
}

void flx_text_free(flx_context* ctx, char* text)
{
    flx__free(ctx, text);
}
