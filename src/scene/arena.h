// One owner for many small pieces: everything a scene holds is released with one call.
#ifndef FLX_SCENE_ARENA_H
#define FLX_SCENE_ARENA_H

#include "base/base.h"

typedef struct flx__arena flx__arena;

/// NULL when memory is out.
flx__arena* flx__arena_create(flx_context* ctx);
void        flx__arena_destroy(flx__arena* arena); // NULL is welcome

/// Zeroed, 16-byte aligned. NULL on failure, which the arena remembers: callers may go on and ask once at the end.
void* flx__arena_take(flx__arena* arena, int64_t count, size_t size);
char* flx__arena_text(flx__arena* arena, const char* text, size_t length); // copy, NUL added
bool  flx__arena_failed(const flx__arena* arena);

#endif
