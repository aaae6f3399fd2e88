// YAML text as a tree of nodes that know where they were written.
//
// A scene is a small dialect: mappings, lists and words. Anchors, aliases, tags and further documents are refused where
// they stand, nesting stops at FLX__TREE_DEPTH, and nothing is interpreted: what "30 kPa" means is the schema's
// business. JSON is YAML and comes through the same way.
#ifndef FLX_SCENE_TREE_H
#define FLX_SCENE_TREE_H

#include "scene/arena.h"
#include "scene/mistakes.h"

#define FLX__TREE_DEPTH 32

typedef enum flx__node_kind
{
    FLX__NODE_WORD = 0,
    FLX__NODE_LIST,
    FLX__NODE_MAP,
    FLX__NODE_BAD // reported already (an alias, a complex key): say nothing more about it
} flx__node_kind;

typedef struct flx__node
{
    flx__node_kind    kind;
    flx__place        at;
    bool              quoted;
    char*             text;   // word
    size_t            length; // bytes of text
    int32_t           count;  // list: items; map: keys
    struct flx__node* first;  // list: first item; map: first key
    struct flx__node* last;
    struct flx__node* next;  // the following item or key
    struct flx__node* value; // of a key
} flx__node;

/// The whole text as one tree, in `arena`. NULL when there is none: the mistakes say why, or the arena failed.
/// `column` is added to columns of the first line (a value that starts inside a --set).
flx__node* flx__tree_parse(flx__arena* arena, flx__mistakes* mistakes, const flx__source* source, const char* text,
                           size_t length, int32_t column);

/// The key of this name in a map, or NULL (also when `map` is no map).
flx__node* flx__tree_key(const flx__node* map, const char* name);
/// Item by position in a list, or NULL.
flx__node* flx__tree_item(const flx__node* list, int32_t index);
void       flx__tree_append(flx__node* parent, flx__node* child); // an item to a list, a key to a map
/// A word that stands for nothing: absent, or an unquoted ~ or null.
bool flx__tree_is_empty(const flx__node* node);

#endif
