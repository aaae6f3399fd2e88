// --set path=value: the value is put into the tree before the table reads it, so that it is checked like the rest, and
// remembers that it came from the command line.
//
//   solver.outer=3    outer=3    run.frames=10    bodies[0].material.young=50 kPa    bodies[arm].repair=true
#include "scene/reader.h"

#include <stdlib.h>
#include <string.h>

/// One step of a path: a key, and perhaps an item of the list it holds.
typedef struct step
{
    flx__place at;
    char*      key;
    char*      item; // between brackets: a position or a name; NULL = none
} step;

typedef struct path_cursor
{
    flx__reader* r;
    flx__source* source;
    const char*  p;
    const char*  end; // the '='
} path_cursor;

static flx__place place_in(const path_cursor* c, const char* start, const char* end)
{
    int32_t column = 1;
    for (const char* q = c->source->text; q < start; ++q) column += ((unsigned char)*q & 0xC0) != 0x80;
    return (flx__place){.source = c->source, .line = 1, .column = column, .width = (int32_t)(end - start)};
}

static bool next_step(path_cursor* c, step* s)
{
    const char* start = c->p;
    while (c->p < c->end && *c->p != '.' && *c->p != '[') ++c->p;
    *s     = (step){.at = place_in(c, start, c->p)};
    s->key = flx__arena_text(c->r->scratch, start, (size_t)(c->p - start));
    if (!s->key) return false;
    bool good = c->p > start;
    if (c->p < c->end && *c->p == '[')
    {
        const char* open = ++c->p;
        while (c->p < c->end && *c->p != ']') ++c->p;
        s->item = flx__arena_text(c->r->scratch, open, (size_t)(c->p - open));
        if (!s->item) return false;
        good = good && c->p < c->end && c->p > open;
        if (c->p < c->end) ++c->p;
    }
    if (c->p < c->end)
    {
        good = good && *c->p == '.' && c->p + 1 < c->end;
        ++c->p;
    }
    if (!good)
        flx__mistake(c->r->mistakes, place_in(c, start, c->p > start ? c->p : start + 1),
                     "this is no path to a value; wanted is key.key=value or key[0].key=value");
    return good;
}

static flx__node* new_node(flx__reader* r, flx__node_kind kind, flx__place at, const char* text)
{
    flx__node* node = flx__arena_take(r->scratch, 1, sizeof *node);
    if (!node) return NULL;
    node->kind   = kind;
    node->at     = at;
    node->length = strlen(text);
    node->text   = flx__arena_text(r->scratch, text, node->length);
    return node->text ? node : NULL;
}

static flx__node* find_or_add_key(flx__reader* r, flx__node* map, const step* s)
{
    flx__node* key = flx__tree_key(map, s->key);
    if (key) return key;
    key = new_node(r, FLX__NODE_WORD, s->at, s->key);
    if (key) flx__tree_append(map, key);
    return key;
}

/// Item `s->item` of what key holds: a position, or the name of an item.
static flx__node* pick_item(flx__reader* r, const flx__node* key, const step* s)
{
    flx__node* value = key->value;
    char*      stop;
    const long position = strtol(s->item, &stop, 10);
    const bool by_name  = *stop != '\0';
    if (value && value->kind == FLX__NODE_MAP) // one section where a list may stand
    {
        const flx__node* name = flx__tree_key(value, "name");
        if (by_name ? name && name->value && name->value->text && strcmp(name->value->text, s->item) == 0
                    : position == 0)
            return value;
        flx__mistake(r->mistakes, s->at, "there is no %s[%.40s]; the scene has only one, %s[0]", s->key, s->item,
                     s->key);
        return NULL;
    }
    if (!value || value->kind != FLX__NODE_LIST)
    {
        flx__mistake(r->mistakes, s->at, "there is no %s[%.40s]: the scene has no list '%s'", s->key, s->item, s->key);
        return NULL;
    }
    flx__node* found = NULL;
    if (!by_name) found = position >= 0 && position < value->count ? flx__tree_item(value, (int32_t)position) : NULL;
    for (flx__node* item = value->first; by_name && item && !found; item = item->next)
    {
        const flx__node* name = flx__tree_key(item, "name");
        if (name && name->value && name->value->kind == FLX__NODE_WORD && strcmp(name->value->text, s->item) == 0)
            found = item;
    }
    if (!found && by_name)
        flx__mistake(r->mistakes, s->at, "nothing in %s is named '%.40s'", s->key, s->item);
    else if (!found)
        flx__mistake(r->mistakes, s->at, "there is no %s[%.40s]; the scene has %s[0] to %s[%d]", s->key, s->item,
                     s->key, s->key, value->count - 1);
    return found;
}

/// Put `value` in the place of `old`, which a list may link.
static void replace_item(flx__node* old, const flx__node* value)
{
    flx__node* const next = old->next;
    *old                  = *value;
    old->next             = next;
}

/// A bare key belongs to the solver, unless it is one of the scene's own words (name, gravity, up).
static bool is_solver_key(const char* key, const char* end)
{
    char word[64];
    if (memchr(key, '.', (size_t)(end - key)) || memchr(key, '[', (size_t)(end - key))) return false;
    if ((size_t)(end - key) >= sizeof word) return true;
    memcpy(word, key, (size_t)(end - key));
    word[end - key] = '\0';
    return flx__field_index(&flx__section_scene, word) < 0;
}

static void apply(flx__reader* r, flx__node* root, flx__source* source)
{
    const char* equals = memchr(source->text, '=', source->length);
    if (!equals || equals == source->text)
    {
        const flx__place at = {.source = source, .line = 1, .column = 1, .width = (int32_t)source->length};
        flx__mistake(r->mistakes, at, "this sets nothing; wanted is key=value");
        return;
    }
    path_cursor c    = {.r = r, .source = source, .p = source->text, .end = equals};
    flx__node*  here = root;
    if (is_solver_key(source->text, equals))
    {
        const step solver = {.at = place_in(&c, c.p, c.p), .key = "solver"};
        flx__node* key    = find_or_add_key(r, root, &solver);
        if (!key) return;
        if (!key->value) key->value = new_node(r, FLX__NODE_MAP, solver.at, "");
        if (!key->value) return;
        here = key->value;
    }

    const int64_t     mistakes   = flx__mistakes_count(r->mistakes);
    const char* const value_text = equals + 1;
    const size_t      length     = source->length - (size_t)(value_text - source->text);
    const flx__place  key_place  = place_in(&c, source->text, equals);
    const int32_t     column     = place_in(&c, value_text, value_text).column - 1;
    flx__node*        value      = flx__tree_parse(r->scratch, r->mistakes, source, value_text, length, column);
    if (flx__arena_failed(r->scratch) || flx__mistakes_count(r->mistakes) > mistakes) return;
    if (!value && !(value = new_node(r, FLX__NODE_WORD, key_place, ""))) return;

    const char* before = "solver"; // the key that led to `here`
    while (c.p < c.end)
    {
        step s;
        if (!next_step(&c, &s)) return;
        if (here->kind != FLX__NODE_MAP)
        {
            if (here->kind == FLX__NODE_LIST)
                flx__mistake(r->mistakes, s.at, "%.60s is a list; say which item, as in %.60s[0].%.60s", before, before,
                             s.key);
            else
                flx__mistake(r->mistakes, s.at, "'%.60s' cannot be set: %.60s is a value, not a section", s.key,
                             before);
            return;
        }
        flx__node* key = s.item ? flx__tree_key(here, s.key) : find_or_add_key(r, here, &s);
        if (!key)
        {
            if (s.item)
                flx__mistake(r->mistakes, s.at, "there is no %s[%.40s]: the scene has no list '%s'", s.key, s.item,
                             s.key);
            return;
        }
        const bool last = c.p >= c.end;
        before          = key->text;
        if (s.item)
        {
            flx__node* item = pick_item(r, key, &s);
            if (!item) return;
            if (last) replace_item(item, value);
            here = item;
        }
        else if (last)
        {
            key->at    = s.at; // so that a wrong key is shown on the command line, where it was written
            key->value = value;
        }
        else
        {
            if (flx__tree_is_empty(key->value)) key->value = new_node(r, FLX__NODE_MAP, s.at, "");
            if (!key->value) return;
            here = key->value;
            if (here->kind == FLX__NODE_LIST && here->count == 1) here = here->first;
        }
    }
}

void flx__overrides_apply(flx__reader* r, flx__node* root)
{
    for (int32_t i = 0; i < r->options->override_count; ++i)
    {
        const char*  text   = r->options->overrides[i];
        const size_t length = strlen(text);
        flx__source* source = flx__arena_take(r->scratch, 1, sizeof *source);
        char*        name   = flx__arena_take(r->scratch, (int64_t)length + 7, 1);
        if (!source || !name) return;
        memcpy(name, "--set ", 6);
        memcpy(name + 6, text, length);
        *source = (flx__source){.name = name, .text = text, .length = length, .is_override = true, .order = i + 1};
        apply(r, root, source);
        if (flx__arena_failed(r->scratch)) return;
    }
}
