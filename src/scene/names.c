// Names that one part of a scene declares and another refers to. They are collected before anything is read, so that
// the order of sections does not matter.
#include "scene/reader.h"

#include <stdio.h>
#include <string.h>

#define PAIRS_UP_TO 4096 // names that are compared with all before them; a file of a million names must not take hours

static const struct
{
    const char* list; // key at the top of the scene
    const char* what;
    const char* one;
    const char* many;
} kinds[FLX__NAMES_COUNT] = {
    [FLX__JOINTS]    = {"joints", "joint", "a joint", "joints"},
    [FLX__BODIES]    = {"bodies", "body", "a body", "bodies"},
    [FLX__BONES]     = {"bones", "bone", "a bone", "bones"},
    [FLX__OBSTACLES] = {"obstacles", "obstacle", "an obstacle", "obstacles"},
    [FLX__CAMERAS]   = {"cameras", "camera", "a camera", "cameras"},
};

const char* flx__names_one(flx__names_kind kind)
{
    return kinds[kind].one;
}

/// Bodies without a name are called body0, body1, ...
static const flx__node* default_name(flx__reader* r, const flx__node* item, int32_t index)
{
    char       text[32];
    flx__node* node = flx__arena_take(r->scratch, 1, sizeof *node);
    if (!node) return NULL;
    node->at     = item->at;
    node->length = (size_t)snprintf(text, sizeof text, "body%d", index);
    node->text   = flx__arena_text(r->scratch, text, node->length);
    return node->text ? node : NULL;
}

static void collect(flx__reader* r, flx__names_kind kind, const flx__node* list)
{
    flx__names* const names = &r->names[kind];
    const bool        alone = list->kind == FLX__NODE_MAP; // one section instead of a list
    if (!alone && list->kind != FLX__NODE_LIST) return;
    const int32_t count = alone ? 1 : list->count;
    names->word         = flx__arena_take(r->scratch, count, sizeof *names->word);
    if (!names->word) return;

    const flx__node* item = alone ? list : list->first;
    for (int32_t i = 0; i < count; ++i, item = item->next)
    {
        const flx__node* key  = flx__tree_key(item, "name");
        const flx__node* word = key && key->value && key->value->kind == FLX__NODE_WORD ? key->value : NULL;
        if (!word && kind == FLX__BODIES) word = default_name(r, item, i);
        names->word[i] = word;
        names->count   = i + 1;
        if (!word || alone || i >= PAIRS_UP_TO) continue;
        for (int32_t j = 0; j < i; ++j)
        {
            if (!names->word[j] || strcmp(names->word[j]->text, word->text) != 0) continue;
            flx__mistake(r->mistakes, word->at, "a second %s named '%.60s'; the first is at line %d", kinds[kind].what,
                         word->text, names->word[j]->at.line);
            break;
        }
    }
}

void flx__names_collect(flx__reader* r, const flx__node* root)
{
    for (int32_t k = 0; k < FLX__NAMES_COUNT; ++k)
    {
        const flx__node* key = flx__tree_key(root, kinds[k].list);
        if (key && key->value) collect(r, (flx__names_kind)k, key->value);
    }
}

int32_t flx__names_find(const flx__reader* r, flx__names_kind kind, const char* name)
{
    const flx__names* names = &r->names[kind];
    for (int32_t i = 0; i < names->count; ++i)
        if (names->word[i] && strcmp(names->word[i]->text, name) == 0) return i;
    return -1;
}

int32_t flx__names_resolve(flx__reader* r, flx__names_kind kind, const flx__node* word)
{
    const int32_t found = flx__names_find(r, kind, word->text);
    if (found >= 0) return found;

    const flx__names* names = &r->names[kind];
    flx__guess        guess = flx__guess_start(word->text);
    int32_t           named = 0;
    char              list[200];
    size_t            used = 0;
    for (int32_t i = 0; i < names->count; ++i)
    {
        if (!names->word[i]) continue;
        flx__guess_offer(&guess, names->word[i]->text);
        const int wrote = used < sizeof list ? snprintf(list + used, sizeof list - used, "%s%s", named > 0 ? ", " : "",
                                                        names->word[i]->text)
                                             : 0;
        used += (size_t)wrote; // beyond the end: the list is too long to be shown
        ++named;
    }
    const char* what = kinds[kind].what;
    if (guess.best)
        flx__mistake(r->mistakes, word->at, "unknown %s '%.60s' in %s; did you mean '%.60s'?", what, word->text,
                     r->path, guess.best);
    else if (named == 0)
        flx__mistake(r->mistakes, word->at, "unknown %s '%.60s' in %s: this scene names no %s", what, word->text,
                     r->path, kinds[kind].many);
    else if (used < sizeof list)
        flx__mistake(r->mistakes, word->at, "unknown %s '%.60s' in %s; the %s are: %s", what, word->text, r->path,
                     kinds[kind].many, list);
    else
        flx__mistake(r->mistakes, word->at, "unknown %s '%.60s' in %s: none of the %d %s has that name", what,
                     word->text, r->path, named, kinds[kind].many);
    return -1;
}
