// One value of the scene: words, points, references, shapes, lists. See read_section.c for what surrounds it.
#include "scene/reader.h"

#include "base/file.h"
#include "scene/units.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char* kind_of(const flx__node* node)
{
    return node->kind == FLX__NODE_LIST ? "a list" : node->kind == FLX__NODE_MAP ? "a section" : "a word";
}

static void wants(flx__reader* r, const flx__node* node, const char* what)
{
    if (node->kind == FLX__NODE_WORD)
        flx__mistake(r->mistakes, node->at, "%s is '%.60s'; wanted is %s", r->path, node->text, what);
    else
        flx__mistake(r->mistakes, node->at, "%s is %s; wanted is %s", r->path, kind_of(node), what);
}

static const char* wanted_word(const flx__field* field)
{
    switch (field->kind)
    {
    case FLX__NUMBER:
        return field->unit && field->unit[0] ? flx__dimension_find(field->unit)->what : "a number";
    case FLX__COUNT:
        return "a whole number";
    case FLX__FLAG:
        return "true or false";
    case FLX__NAME:
        return "a name";
    case FLX__PATH:
        return "a path";
    default:
        return "a word";
    }
}

bool flx__read_word(flx__reader* r, const flx__field* field, const flx__node* node, void* target)
{
    if (node->kind != FLX__NODE_WORD)
    {
        wants(r, node, wanted_word(field));
        return false;
    }
    char problem[400];
    bool out_of_range = false;
    if (flx__field_parse(field, r->path, node->text, target, &out_of_range, problem, sizeof problem)) return true;
    if (out_of_range)
        flx__mistake_range(r->mistakes, node->at, "%s", problem);
    else
        flx__mistake(r->mistakes, node->at, "%s", problem);
    return false;
}

// --- text -----------------------------------------------------------------------------------------------

#define NAME_BYTES 64

static void read_name(flx__reader* r, const flx__node* node, char** target)
{
    if (node->kind != FLX__NODE_WORD || node->length == 0)
    {
        wants(r, node, "a name");
        return;
    }
    if (node->length > NAME_BYTES)
    {
        flx__mistake(r->mistakes, node->at, "%s has %zu bytes; allowed is 1 to %d", r->path, node->length, NAME_BYTES);
        return;
    }
    for (size_t i = 0; i < node->length; ++i)
    {
        if ((unsigned char)node->text[i] >= 0x20 && node->text[i] != 0x7F) continue;
        flx__mistake(r->mistakes, node->at, "%s '%s' has a control character in it", r->path, node->text);
        return;
    }
    *target = flx__arena_text(r->arena, node->text, node->length);
}

static char* join(flx__arena* arena, const char* folder, const char* rest)
{
    const size_t a     = strlen(folder);
    const size_t b     = strlen(rest);
    const bool   slash = a > 0 && folder[a - 1] != '/';
    char*        path  = flx__arena_take(arena, (int64_t)(a + slash + b + 1), 1);
    if (!path) return NULL;
    memcpy(path, folder, a);
    if (slash) path[a] = '/';
    memcpy(path + a + slash, rest, b);
    return path;
}

/// Does the file exist, also with '\' taken as '/' (paths written on another system)? Readers do the same.
static bool file_exists(const char* path, int* reason, bool* is_folder)
{
    struct stat info;
    char        other[4096];
    *is_folder = false;
    if (stat(path, &info) == 0)
    {
        *is_folder = S_ISDIR(info.st_mode);
        return true;
    }
    *reason = errno;
    if (!strchr(path, '\\') || strlen(path) >= sizeof other) return false;
    strcpy(other, path);
    for (char* p = other; *p; ++p)
        if (*p == '\\') *p = '/';
    return stat(other, &info) == 0 && !S_ISDIR(info.st_mode);
}

char* flx__read_path(flx__reader* r, const flx__node* node)
{
    if (node->kind != FLX__NODE_WORD || node->length == 0)
    {
        wants(r, node, "a path");
        return NULL;
    }
    char*       path    = NULL;
    const char* written = node->text;
    if (strncmp(written, "data:", 5) == 0)
    {
        const char* data = r->options->data_path;
        if (!data)
        {
            if (!r->data_reported)
                flx__mistake(r->mistakes, node->at,
                             "%s '%.100s' lies in the data folder; say where that is with --data FOLDER", r->path,
                             written);
            r->data_reported = true;
            r->doubts += 1;
            return NULL;
        }
        path = join(r->arena, data, written + 5);
    }
    else
        path =
            written[0] == '/' ? flx__arena_text(r->arena, written, node->length) : join(r->arena, r->folder, written);
    if (!path || r->options->skip_files) return path;

    int  reason    = 0;
    bool is_folder = false;
    if (!file_exists(path, &reason, &is_folder))
    {
        const char* why      = reason == ENOENT || reason == ENOTDIR ? "there is no such file" : strerror(reason);
        const bool  resolved = strcmp(path, written) != 0;
        flx__mistake(r->mistakes, node->at, "%s '%.100s': %s%s%.120s%s", r->path, written, why,
                     resolved ? " (looked for " : "", resolved ? path : "", resolved ? ")" : "");
        return NULL;
    }
    if (is_folder)
    {
        flx__mistake(r->mistakes, node->at, "%s '%.100s' is a folder; wanted is a file", r->path, written);
        return NULL;
    }
    return path;
}

// --- three numbers --------------------------------------------------------------------------------------

static bool read_vector(flx__reader* r, const flx__field* field, const flx__node* node, const char* what,
                        double* target)
{
    if (node->kind != FLX__NODE_LIST)
    {
        wants(r, node, what);
        return false;
    }
    if (node->count != 3)
    {
        flx__mistake(r->mistakes, node->at, "%s has %d number%s; wanted is %s", r->path, node->count,
                     node->count == 1 ? "" : "s", what);
        return false;
    }
    const flx__field number = {.kind = FLX__NUMBER, .unit = field->unit, .low = field->low, .high = field->high};
    double           value[3];
    bool             good = true;
    const flx__node* item = node->first;
    for (int32_t i = 0; i < 3; ++i, item = item->next)
    {
        const size_t before = flx__path_enter_item(r, i);
        if (item->kind == FLX__NODE_BAD)
            good = false;
        else if (!flx__read_word(r, &number, item, &value[i]))
            good = false;
        flx__path_leave(r, before);
    }
    if (good) memcpy(target, value, sizeof value);
    return good;
}

static void read_point(flx__reader* r, const flx__field* field, const flx__node* node, double* target)
{
    const char* what = r->names[FLX__JOINTS].count > 0 ? "[x, y, z] or the name of a joint" : "[x, y, z]";
    if (node->kind == FLX__NODE_WORD && !node->quoted && flx__names_find(r, FLX__JOINTS, node->text) < 0)
    {
        char   why[240];
        double number;
        if (flx__quantity_parse(node->text, "m", &number, why, sizeof why))
        {
            wants(r, node, what); // a single number, not a misspelt joint
            return;
        }
    }
    if (node->kind != FLX__NODE_WORD)
    {
        (void)read_vector(r, field, node, what, target);
        return;
    }
    const int32_t joint = flx__names_resolve(r, FLX__JOINTS, node);
    if (joint < 0) return;
    if (joint < r->text->joint_count && r->text->joint[joint].known)
        memcpy(target, r->text->joint[joint].at, 3 * sizeof(double));
    else
        r->doubts += 1;
}

static void read_direction(flx__reader* r, const flx__field* field, const flx__node* node, double* target)
{
    double v[3];
    if (!read_vector(r, field, node, "a direction [x, y, z]", v)) return;
    const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0.0))
    {
        flx__mistake(r->mistakes, node->at, "%s is [0, 0, 0], which is no direction", r->path);
        return;
    }
    for (int32_t i = 0; i < 3; ++i) v[i] /= largest; // so that the squares neither vanish nor overflow
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int32_t i = 0; i < 3; ++i) target[i] = v[i] / length;
}

static void read_gravity(flx__reader* r, const flx__field* field, const flx__node* node, double* target)
{
    if (node->kind != FLX__NODE_WORD)
    {
        (void)read_vector(r, field, node, "one number, meaning straight down, or [x, y, z]", target);
        return;
    }
    const flx__field number = {.kind = FLX__NUMBER, .unit = field->unit, .low = 0.0, .high = field->high};
    double           down   = 0.0;
    if (flx__read_word(r, &number, node, &down) && down > 0.0) target[r->text->scene.up_axis] = -down;
}

// --- references and shapes --------------------------------------------------------------------------------

static void read_ref(flx__reader* r, const flx__field* field, const flx__node* node, int32_t* target)
{
    if (node->kind == FLX__NODE_WORD)
        *target = flx__names_resolve(r, field->names, node);
    else
    {
        char what[64];
        flx__print_c(what, sizeof what, "the name of %s", flx__names_one(field->names));
        wants(r, node, what);
    }
}

static void read_refs(flx__reader* r, const flx__field* field, const flx__node* node, int32_t** target, int32_t* count)
{
    if (node->kind == FLX__NODE_MAP)
    {
        wants(r, node, "a list of names");
        return;
    }
    const bool       alone = node->kind == FLX__NODE_WORD;
    const int32_t    wish  = alone ? 1 : node->count;
    const flx__node* item  = alone ? node : node->first;
    int32_t*         index = flx__arena_take(r->arena, wish, sizeof *index);
    if (!index) return;
    int32_t found = 0;
    for (int32_t i = 0; i < wish; ++i, item = item->next)
    {
        const size_t before = flx__path_enter_item(r, i);
        int32_t      one    = -1;
        if (item->kind != FLX__NODE_BAD) read_ref(r, field, item, &one);
        for (int32_t j = 0; j < found && one >= 0; ++j)
        {
            if (index[j] != one) continue;
            flx__mistake(r->mistakes, item->at, "%s '%.60s' stands in this list already", r->path, item->text);
            one = -1;
        }
        if (one >= 0) index[found++] = one;
        flx__path_leave(r, before);
    }
    *target = index;
    *count  = found;
}

static void read_shape(flx__reader* r, const flx__field* field, const flx__node* node, flx_shape* shape)
{
    if (node->kind == FLX__NODE_WORD)
    {
        if (!field->words)
        {
            wants(r, node, "a shape: {sphere: ...}, {capsule: ...} or {box: ...}");
            return;
        }
        const flx__field word  = {.kind = FLX__WORD, .words = field->words};
        int32_t          which = 0;
        char             problem[400];
        bool             range = false;
        if (!flx__field_parse(&word, r->path, node->text, &which, &range, problem, sizeof problem))
        {
            flx__mistake(r->mistakes, node->at, "%s, or a shape such as {sphere: {center: [x, y, z], radius: r}}",
                         problem);
            return;
        }
        const char* first = NULL;
        (void)flx__word_at(field->words, which, &first);
        shape->kind = strncmp(first, "auto", 4) == 0 ? FLX_SHAPE_AUTO : FLX_SHAPE_ALL;
    }
    else if (node->kind == FLX__NODE_LIST)
        wants(r, node, "one shape");
    else
        flx__read_section(r, field->section, node, shape);
}

static void read_many(flx__reader* r, const flx__field* field, const flx__node* node, char** target, int32_t* count)
{
    if (node->kind == FLX__NODE_WORD)
    {
        wants(r, node, "a list of sections");
        return;
    }
    const bool    alone = node->kind == FLX__NODE_MAP;
    const int32_t n     = alone ? 1 : node->count;
    const size_t  size  = field->section->size;
    char*         items = flx__arena_take(r->arena, n, size);
    if (!items) return;
    *target = items; // before the items are read: joints are looked up while later ones are being read

    const flx__node* item = alone ? node : node->first;
    for (int32_t i = 0; i < n; ++i, item = item->next)
    {
        const size_t before = flx__path_enter_item(r, i);
        *count              = i + 1;
        if (flx__tree_is_empty(item))
            flx__mistake(r->mistakes, item->at, "%s is empty; wanted is a section", r->path);
        else if (item->kind == FLX__NODE_MAP)
            flx__read_section(r, field->section, item, items + (size_t)i * size);
        else if (item->kind != FLX__NODE_BAD)
            wants(r, item, "a section, {key: value, ...}");
        flx__path_leave(r, before);
    }
}

void flx__read_value(flx__reader* r, const flx__field* field, const flx__node* node, char* target)
{
    double         nowhere;
    void* const    at    = field->flags & FLX__CHECKED_ONLY ? (void*)&nowhere : target + field->offset;
    int32_t* const count = (int32_t*)(void*)(target + field->count_offset);
    switch (field->kind)
    {
    case FLX__NUMBER:
    case FLX__COUNT:
    case FLX__FLAG:
    case FLX__WORD:
        (void)flx__read_word(r, field, node, at);
        break;
    case FLX__NAME:
    case FLX__TEXT:
        read_name(r, node, at);
        break;
    case FLX__PATH:
        *(char**)at = flx__read_path(r, node);
        break;
    case FLX__POINT:
        read_point(r, field, node, at);
        break;
    case FLX__VECTOR:
        (void)read_vector(r, field, node, "three numbers [x, y, z]", at);
        break;
    case FLX__DIRECTION:
        read_direction(r, field, node, at);
        break;
    case FLX__GRAVITY:
        read_gravity(r, field, node, at);
        break;
    case FLX__REF:
        read_ref(r, field, node, at);
        break;
    case FLX__REFS:
        read_refs(r, field, node, at, count);
        break;
    case FLX__SHAPE:
        read_shape(r, field, node, at);
        break;
    case FLX__MANY:
        read_many(r, field, node, at, count);
        break;
    case FLX__ONE:
        if (node->kind == FLX__NODE_MAP)
            flx__read_section(r, field->section, node, at);
        else
            wants(r, node, "a section, {key: value, ...}");
        break;
    }
}
