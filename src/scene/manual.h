// Text that grows, and the list of all sections: shared by the two descriptions of the scene format.
#ifndef FLX_SCENE_MANUAL_H
#define FLX_SCENE_MANUAL_H

#include "scene/schema.h"

#define FLX__SECTIONS_MAX 40

typedef struct flx__text
{
    flx_context* ctx;
    char*        data;
    int64_t      length, capacity;
    bool         failed; // out of memory: later additions do nothing
} flx__text;

void flx__text_add(flx__text* text, const char* piece, size_t length);
FLX_PRINTF(2, 3)
void flx__text_print(flx__text* text, const char* format, ...); // at most 1 kB each, no numbers with a point

/// Sections that have a chapter of their own, in the order of the manual: the scene, then each section before those it
/// holds. Returns how many.
int32_t flx__sections_list(const flx__section** list);

void flx__write_json_schema(flx__text* text);
void flx__write_markdown(flx__text* text);

#endif
