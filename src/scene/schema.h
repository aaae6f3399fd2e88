// The scene format as tables. One table drives reading, defaults, ranges, 'did you mean', the JSON Schema and the
// manual.
#ifndef FLX_SCENE_SCHEMA_H
#define FLX_SCENE_SCHEMA_H

#include "base/base.h"
#include "flexor/scene.h"
#include "scene/tree.h"

typedef struct flx__reader  flx__reader;
typedef struct flx__section flx__section;

typedef enum flx__field_kind
{
    FLX__NUMBER,    // double, in `unit`
    FLX__COUNT,     // int32_t
    FLX__FLAG,      // bool: true | false
    FLX__NAME,      // char*: what others refer to
    FLX__TEXT,      // char*
    FLX__PATH,      // char*: resolved against the scene's folder or, after data:, the data folder
    FLX__WORD,      // int32_t: position in `words` + first_word
    FLX__POINT,     // double[3], m: [x, y, z] or the name of a joint
    FLX__VECTOR,    // double[3], in `unit`
    FLX__DIRECTION, // double[3]: made unit length
    FLX__GRAVITY,   // double[3]: one number means straight down
    FLX__REF,       // int32_t: position in the list `names`, -1 when absent
    FLX__REFS,      // int32_t*, int32_t count: one name or a list
    FLX__SHAPE,     // flx_shape: {sphere: ...} and so on, or one of `words`
    FLX__ONE,       // a section inside this one's struct
    FLX__MANY       // pointer to structs, int32_t count: a list, or one section alone
} flx__field_kind;

typedef enum flx__names_kind
{
    FLX__JOINTS,
    FLX__BODIES,
    FLX__BONES,
    FLX__OBSTACLES,
    FLX__CAMERAS,
    FLX__NAMES_COUNT,
    FLX__NO_NAMES = FLX__NAMES_COUNT
} flx__names_kind;

#define FLX__REQUIRED 1u
#define FLX__ABOVE 2u        // the lower end of the range is not allowed itself
#define FLX__AUTO 4u         // the word `auto` is 0: chosen by the engine
#define FLX__CHECKED_ONLY 8u // a number that is checked but has no place in the structs

typedef struct flx__field
{
    const char*         key;
    flx__field_kind     kind;
    uint32_t            flags;
    size_t              offset;
    size_t              count_offset; // of lists
    const char*         unit;         // as in structs; NULL is ""
    double              low, high;    // range of a number, or of each component
    const char*         fallback;     // default, as a user would write it; NULL = zero, or none
    const char*         shown;        // default as the manual shows it, when `fallback` does not say it
    const char*         words;        // "one|two": words allowed
    int32_t             first_word;   // value of the first
    flx__names_kind     names;        // of REF and REFS; of MANY: the list that declares them
    const flx__section* section;      // of ONE, MANY
    const char*         reason;       // why the range is what it is, added when a number is outside; may be NULL
    const char*         help;
} flx__field;

/// A key that people try, and what they should do instead.
typedef struct flx__advice
{
    const char* key;
    const char* say;
} flx__advice;

/// A section that was just read, for the checks between its keys.
typedef struct flx__finish
{
    flx__reader*        reader;
    const flx__section* section;
    const flx__node*    map;
    uint64_t            given; // bit i: field i was written
    bool                clean; // nothing in this section was wrong so far
} flx__finish;

/// What must hold between the keys of a section, and what follows from them.
typedef void (*flx__finish_fn)(const flx__finish* f, void* target);

struct flx__section
{
    const char*        name;  // of the manual's chapter
    const flx__field*  field; // at most 64
    int32_t            field_count;
    size_t             size; // of the struct
    flx__finish_fn     finish;
    const flx__advice* advice; // ends with a NULL key; may be NULL
    const char*        help;
    const char*        example; // YAML, for the manual; may be NULL
};

/// The whole scene; its struct is flx__scene_text.
extern const flx__section flx__section_scene;
/// `solver:`, from solver/settings.def; its struct is flx_settings.
extern const flx__section flx__section_solver;

int32_t flx__field_index(const flx__section* section, const char* key); // -1 when there is none
bool    flx__field_is_list(const flx__field* field);                    // MANY and REFS

// --- structs that exist only while reading --------------------------------------------------------------

typedef struct flx__joint
{
    char*  name;
    double at[3];
    char*  mesh;
    char*  group;
    double scale;
    double rotate_deg[3];
    double translate[3];
    bool   known; // `at` is right; otherwise the joint was reported, and what uses it need not be
} flx__joint;

typedef enum flx__then
{
    FLX__THEN_HOLD = 0,
    FLX__THEN_RETURN
} flx__then;

/// A motion as written; becomes flx_motion_desc when the frame rate is known.
typedef struct flx__motion_text
{
    flx_motion_desc motion;
    double          rate_deg; // degrees a frame; 0 = keys are given
    double          to_deg;
    int32_t         start; // frame
    flx__then       then;
} flx__motion_text;

typedef struct flx__scene_text
{
    flx_scene         scene;
    int32_t           format;
    int32_t           joint_count;
    flx__joint*       joint;
    int32_t           motion_count;
    flx__motion_text* motion;
} flx__scene_text;

// --- one word as one value; used by the reader and by flx_settings_set() --------------------------------------

/// Read the text of a NUMBER, COUNT, FLAG or WORD into `target`. On failure returns false and leaves the whole
/// complaint in `problem`, starting with `path`; *out_of_range says whether it is only the range.
bool flx__field_parse(const flx__field* field, const char* path, const char* text, void* target, bool* out_of_range,
                      char* problem, size_t capacity);
/// "above 0 and at most 1e+12 Pa", "1 to 10000"
void flx__field_range(const flx__field* field, char* out, size_t capacity);
bool flx__field_in_range(const flx__field* field, double value); // false for NaN

/// Word number `index` of "one|two|three"; returns its length, 0 after the last.
size_t flx__word_at(const char* words, int32_t index, const char** start);

#endif
