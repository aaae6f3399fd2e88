// Mistakes in a scene: collected with their places, shown in file order with the source line and a caret.
#ifndef FLX_SCENE_MISTAKES_H
#define FLX_SCENE_MISTAKES_H

#include "scene/arena.h"

#define FLX__MISTAKES_SHOWN 20

/// A text that nodes come from: the scene file, or one --set.
typedef struct flx__source
{
    const char* name;   // path, or "--set a.b=c"
    const char* text;   // UTF-8, not NUL-terminated at `length`
    size_t      length; // bytes
    bool        is_override;
    int32_t     order; // sources are reported in this order
} flx__source;

/// Where something was written; line and column from 1, in characters. source NULL: nowhere (a default).
typedef struct flx__place
{
    const flx__source* source;
    int32_t            line, column, width;
} flx__place;

typedef struct flx__mistakes flx__mistakes;

/// Lives in `arena`; NULL when memory is out.
flx__mistakes* flx__mistakes_create(flx__arena* arena);
/// Add one. Only the first FLX__MISTAKES_SHOWN keep their text; the others are counted.
FLX_PRINTF(3, 4) void flx__mistake(flx__mistakes* mistakes, flx__place at, const char* format, ...);
/// The same for a number outside its range: if there are no mistakes of another kind, the status is FLX_ERR_SETTING.
FLX_PRINTF(3, 4) void flx__mistake_range(flx__mistakes* mistakes, flx__place at, const char* format, ...);
int64_t flx__mistakes_count(const flx__mistakes* mistakes);
/// FLX_OK without mistakes; otherwise writes the context's error text and returns FLX_ERR_SCENE or FLX_ERR_SETTING.
flx_status flx__mistakes_report(flx_context* ctx, flx__mistakes* mistakes);

// --- did you mean ---------------------------------------------------------------------------------------

/// Offer candidates one by one; `best` is the nearest within a third of the word's length (two edits for
/// short words), or one that begins with the word, or NULL.
typedef struct flx__guess
{
    const char* word;
    const char* best;
    int32_t     distance;
} flx__guess;

flx__guess flx__guess_start(const char* word);
void       flx__guess_offer(flx__guess* guess, const char* candidate);

#endif
