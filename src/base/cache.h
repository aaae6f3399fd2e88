// Results kept on disk between runs, in the folder that the context was given. A file is named by the digest of what
// its contents were made from, so nothing ever becomes stale; it is checked on reading, written whole or not at all,
// and may vanish at any time. Nothing here fails: what cannot be read is made anew, what cannot be written is not kept.
#ifndef FLX_BASE_CACHE_H
#define FLX_BASE_CACHE_H

#include "base/base.h"

#define FLX__CACHE_PARTS 4

typedef struct flx__cache_part
{
    void*   data;
    int64_t bytes;
} flx__cache_part;

/// What a file holds: up to FLX__CACHE_PARTS arrays of known sizes.
typedef struct flx__cache_entry
{
    const char*     kind; // "order", ...: at most 15 letters
    flx__digest     key;
    int32_t         part_count;
    flx__cache_part part[FLX__CACHE_PARTS];
    int             descriptor; // of flx__cache_open()
} flx__cache_entry;

/// Whether the context has a folder at all: without one, keys need not be computed.
bool flx__cache_wanted(const flx_context* ctx);

/// Whether there is a file of this kind and key with parts of just these sizes; it is then open, and one of the next
/// two must follow. One that is there but is something else is warned about.
bool flx__cache_open(flx_context* ctx, flx__cache_entry* entry);
/// Fill the parts and close. False, with a warning and the parts undefined, when the file is damaged.
bool flx__cache_read(flx_context* ctx, flx__cache_entry* entry);
void flx__cache_close(flx__cache_entry* entry);

/// Keep the parts, replacing a file of the same kind and key; files that were not used for longest make room.
void flx__cache_write(flx_context* ctx, const flx__cache_entry* entry);

#endif
