// A section is a map of known keys. Fields are read in the order of the table, not of the file, so that what others
// refer to (joints) comes first.
#include "scene/reader.h"

#include "base/file.h"
#include "scene/units.h"

#include <stdio.h>
#include <string.h>

#define MAX_FIELDS 64
#define MISTAKES_EXPLAINED 1000 // more are not shown anyway: a file of a million must not take hours

// --- where we are -----------------------------------------------------------------------------------------

size_t flx__path_enter(flx__reader* r, const char* key)
{
    const size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "%s%s", length > 0 ? "." : "", key);
    return length;
}

size_t flx__path_enter_item(flx__reader* r, int32_t index)
{
    const size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "[%d]", index);
    return length;
}

void flx__path_leave(flx__reader* r, size_t length)
{
    r->path[length] = '\0';
}

flx__place flx__place_of_key(const flx__node* map, const char* key)
{
    const flx__node* node = flx__tree_key(map, key);
    return node && node->value ? node->value->at : node ? node->at : map->at;
}

// --- defaults ---------------------------------------------------------------------------------------------

static void apply_default(flx__reader* r, const flx__field* field, char* target)
{
    if (field->flags & FLX__CHECKED_ONLY) return;
    void* const at = target + field->offset;
    char        ignored[240];
    double      value = 0.0;
    bool        range;
    switch (field->kind)
    {
    case FLX__REF:
        *(int32_t*)at = -1;
        break;
    case FLX__ONE:
        flx__read_section(r, field->section, NULL, at);
        break;
    case FLX__WORD:
        *(int32_t*)at = field->first_word; // and then:
                                           /* fall through */
    case FLX__FLAG:
        if (field->fallback) (void)flx__field_parse(field, "", field->fallback, at, &range, ignored, sizeof ignored);
        break;
    case FLX__NUMBER:
    case FLX__COUNT: // not through the range check: -1 may stand for 'never', which nobody can write
        if (!field->fallback) break;
        (void)flx__quantity_parse(field->fallback, field->unit ? field->unit : "", &value, ignored, sizeof ignored);
        if (field->kind == FLX__NUMBER)
            *(double*)at = value;
        else
            *(int32_t*)at = (int32_t)value;
        break;
    default:
        break; // zeroed memory: no text, no items, the origin
    }
}

// --- unknown keys -----------------------------------------------------------------------------------------

static const char* find_advice(const flx__section* section, const char* key)
{
    for (const flx__advice* a = section->advice; a && a->key; ++a)
        if (strcmp(a->key, key) == 0) return a->say;
    return NULL;
}

/// The key of a section inside this one, which people tend to write one level too high.
static const flx__field* find_below(const flx__section* section, const char* key)
{
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const flx__field* field = &section->field[i];
        if (field->kind == FLX__ONE && flx__field_index(field->section, key) >= 0) return field;
    }
    return NULL;
}

static void list_keys(const flx__section* section, char* out, size_t capacity)
{
    size_t used = 0;
    out[0]      = '\0';
    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const int wrote = snprintf(out + used, capacity - used, "%s%s", i > 0 ? ", " : "", section->field[i].key);
        if (wrote < 0 || (size_t)wrote >= capacity - used) return;
        used += (size_t)wrote;
    }
}

/// Returns the field that was probably meant, or -1.
static int32_t complain_unknown(flx__reader* r, const flx__section* section, const flx__node* key)
{
    flx__guess guess = flx__guess_start(key->text);
    for (int32_t i = 0; i < section->field_count; ++i) flx__guess_offer(&guess, section->field[i].key);
    const char* const       advice = find_advice(section, key->text);
    const flx__field* const below  = find_below(section, key->text);

    char where[200];
    if (r->path[0])
        snprintf(where, sizeof where, " in %s", r->path);
    else
        snprintf(where, sizeof where, " at the top of the scene");

    if (advice)
        flx__mistake(r->mistakes, key->at, "unknown key '%.60s'%s: %s", key->text, where, advice);
    else if (below)
        flx__mistake(r->mistakes, key->at, "unknown key '%.60s'%s; it belongs one level down: %s: {%s: ...}", key->text,
                     where, below->key, key->text);
    else if (guess.best)
    {
        flx__mistake(r->mistakes, key->at, "unknown key '%.60s'%s; did you mean '%s'?", key->text, where, guess.best);
        return flx__field_index(section, guess.best);
    }
    else if (key->text[0] >= '0' && key->text[0] <= '9' && !key->quoted)
        flx__mistake(r->mistakes, key->at,
                     "unknown key '%.60s'%s; the decimal point is written '.', a comma starts a new key", key->text,
                     where);
    else
    {
        char keys[260];
        list_keys(section, keys, sizeof keys);
        flx__mistake(r->mistakes, key->at, "unknown key '%.60s'%s; the keys there are %s", key->text, where, keys);
    }
    return -1;
}

// --- the section ------------------------------------------------------------------------------------------

/// Sort the map's keys into the table's fields; complain about strangers and repetitions.
static void match_keys(flx__reader* r, const flx__section* section, const flx__node* map, const flx__node** of_field,
                       uint64_t* misspelt)
{
    for (const flx__node* key = map->first; key; key = key->next)
    {
        if (key->kind != FLX__NODE_WORD) continue;
        const int32_t index = flx__field_index(section, key->text);
        if (index < 0 && flx__mistakes_count(r->mistakes) > MISTAKES_EXPLAINED)
            flx__mistake(r->mistakes, key->at, "unknown key");
        else if (index < 0)
        {
            const int32_t meant = complain_unknown(r, section, key);
            if (meant >= 0) *misspelt |= UINT64_C(1) << meant;
        }
        else if (of_field[index])
            flx__mistake(r->mistakes, key->at, "key '%s' stands twice in %s; the first is at line %d", key->text,
                         r->path[0] ? r->path : "the scene", of_field[index]->at.line);
        else
            of_field[index] = key;
    }
}

static void complain_missing(flx__reader* r, const flx__field* field, const flx__node* map)
{
    flx__mistake(r->mistakes, map->at, "%s%s'%s' is missing: %s", r->path, r->path[0] ? ": " : "", field->key,
                 field->help);
}

void flx__read_section(flx__reader* r, const flx__section* section, const flx__node* map, void* target)
{
    FLX_ASSERT(section->field_count <= MAX_FIELDS);
    // all defaults first: `self` and `body` of a contact, say, share a place
    for (int32_t i = 0; i < section->field_count; ++i) apply_default(r, &section->field[i], target);
    if (!map) return;

    const int64_t    wrong_before         = flx__mistakes_count(r->mistakes) + r->doubts;
    const flx__node* of_field[MAX_FIELDS] = {NULL};
    uint64_t         given                = 0; // a misspelt key counts: it is reported once, not also as missing
    match_keys(r, section, map, of_field, &given);

    for (int32_t i = 0; i < section->field_count; ++i)
    {
        const flx__field* field = &section->field[i];
        const flx__node*  key   = of_field[i];
        if (!key)
        {
            if ((field->flags & FLX__REQUIRED) && !(given & (UINT64_C(1) << i))) complain_missing(r, field, map);
            continue;
        }
        given |= UINT64_C(1) << i;
        const size_t before = flx__path_enter(r, field->key);
        if (flx__tree_is_empty(key->value))
            flx__mistake(r->mistakes, key->at, "%s has no value; give one, or remove the key", r->path);
        else if (key->value->kind != FLX__NODE_BAD)
            flx__read_value(r, field, key->value, target);
        flx__path_leave(r, before);
    }
    if (!section->finish || flx__arena_failed(r->arena) || flx__arena_failed(r->scratch)) return;
    const flx__finish f = {.reader  = r,
                           .section = section,
                           .map     = map,
                           .given   = given,
                           .clean   = flx__mistakes_count(r->mistakes) + r->doubts == wrong_before};
    section->finish(&f, target);
}
