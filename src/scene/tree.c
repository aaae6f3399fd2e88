// Built from libyaml's events rather than its documents: only the events still know about anchors, aliases and tags,
// and a deep or endless text can be refused before it costs memory. (libyaml's own buffers come from the C library; all
// that outlives this call is the context's.)
#include "scene/tree.h"

#include <string.h>
#include <yaml.h>

typedef struct builder
{
    flx__arena*        arena;
    flx__mistakes*     mistakes;
    const flx__source* source;
    int32_t            column; // added on the first line

    flx__node* open[FLX__TREE_DEPTH]; // containers, outermost first
    flx__node* key[FLX__TREE_DEPTH];  // in a map: the key that waits for its value
    int32_t    depth;
    int32_t    too_deep; // levels open beyond the limit, skipped
    flx__node* root;
    int32_t    documents;
} builder;

static flx__place place_of(const builder* b, yaml_mark_t start, yaml_mark_t end)
{
    flx__place at = {.source = b->source, .line = (int32_t)start.line + 1, .column = (int32_t)start.column + 1};
    at.width      = end.line == start.line && end.column > start.column ? (int32_t)(end.column - start.column) : 1;
    if (start.line == 0)
        at.column += b->column;
    else if (b->source->is_override) // the end of a --set counts as a line of its own
    {
        at.line   = 1;
        at.column = b->column + 1;
        for (const char* p = strchr(b->source->text, '=') + 1; *p; ++p) at.column += ((unsigned char)*p & 0xC0) != 0x80;
    }
    return at;
}

/// Hang a finished word or a just opened container where it belongs.
static void attach(builder* b, flx__node* node)
{
    if (b->depth == 0)
    {
        b->root = node;
        return;
    }
    flx__node* parent = b->open[b->depth - 1];
    if (parent->kind != FLX__NODE_MAP)
        flx__tree_append(parent, node);
    else if (b->key[b->depth - 1])
    {
        b->key[b->depth - 1]->value = node;
        b->key[b->depth - 1]        = NULL;
    }
    else
    {
        if (node->kind == FLX__NODE_LIST || node->kind == FLX__NODE_MAP)
        {
            flx__mistake(b->mistakes, node->at, "a key must be a single word");
            node->kind = FLX__NODE_BAD;
        }
        flx__tree_append(parent, node);
        b->key[b->depth - 1] = node;
    }
}

static void refuse_decoration(builder* b, flx__place at, const yaml_char_t* anchor, const yaml_char_t* tag)
{
    if (anchor)
        flx__mistake(b->mistakes, at,
                     "anchor '&%.40s': anchors and aliases are not used in scenes; write the value where it is needed",
                     (const char*)anchor);
    if (tag) flx__mistake(b->mistakes, at, "tag '%.40s': tags are not used in scenes; remove it", (const char*)tag);
}

static bool add_word(builder* b, const yaml_event_t* event)
{
    flx__node* node = flx__arena_take(b->arena, 1, sizeof *node);
    if (!node) return false;
    node->kind   = FLX__NODE_WORD;
    node->at     = place_of(b, event->start_mark, event->end_mark);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->length = event->data.scalar.length;
    node->text   = flx__arena_text(b->arena, (const char*)event->data.scalar.value, node->length);
    if (!node->text) return false;
    if (memchr(node->text, '\0', node->length))
    {
        flx__mistake(b->mistakes, node->at, "a NUL character inside a word");
        node->kind = FLX__NODE_BAD;
    }
    refuse_decoration(b, node->at, event->data.scalar.anchor, event->data.scalar.tag);
    attach(b, node);
    return true;
}

static bool add_alias(builder* b, const yaml_event_t* event)
{
    flx__node* node = flx__arena_take(b->arena, 1, sizeof *node);
    if (!node) return false;
    node->kind = FLX__NODE_BAD;
    node->at   = place_of(b, event->start_mark, event->end_mark);
    node->text = flx__arena_text(b->arena, "", 0);
    if (!node->text) return false;
    flx__mistake(b->mistakes, node->at,
                 "alias '*%.40s': anchors and aliases are not used in scenes; write the value where it is needed",
                 (const char*)event->data.alias.anchor);
    attach(b, node);
    return true;
}

static bool open_container(builder* b, const yaml_event_t* event, flx__node_kind kind, const yaml_char_t* anchor,
                           const yaml_char_t* tag)
{
    const flx__place at = place_of(b, event->start_mark, event->end_mark);
    if (b->depth == FLX__TREE_DEPTH)
    {
        if (b->too_deep++ == 0) flx__mistake(b->mistakes, at, "nested more than %d levels deep", FLX__TREE_DEPTH);
        return true;
    }
    flx__node* node = flx__arena_take(b->arena, 1, sizeof *node);
    if (!node) return false;
    node->kind = kind;
    node->at   = at;
    node->text = flx__arena_text(b->arena, "", 0);
    if (!node->text) return false;
    refuse_decoration(b, at, anchor, tag);
    attach(b, node);
    b->open[b->depth]  = node;
    b->key[b->depth++] = NULL;
    return true;
}

static void close_container(builder* b)
{
    if (b->too_deep > 0)
    {
        if (--b->too_deep > 0) return;
        if (b->depth > 0) b->key[b->depth - 1] = NULL; // the value that was too deep
        return;
    }
    b->depth -= 1;
}

/// Returns false when there is no point in going on.
static bool take_event(builder* b, const yaml_event_t* event)
{
    switch (event->type)
    {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++ == 0) return true;
        flx__mistake(b->mistakes, place_of(b, event->start_mark, event->end_mark),
                     "a second document; a scene file holds one");
        return false;
    case YAML_ALIAS_EVENT:
        return b->too_deep > 0 || add_alias(b, event);
    case YAML_SCALAR_EVENT:
        return b->too_deep > 0 || add_word(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(b, event, FLX__NODE_LIST, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_container(b, event, FLX__NODE_MAP, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_container(b);
        return true;
    default:
        return true;
    }
}

/// libyaml reports bad bytes by offset only.
static flx__place place_of_offset(const builder* b, const char* text, size_t length, size_t offset)
{
    flx__place at = {.source = b->source, .line = 1, .column = 1 + b->column, .width = 1};
    for (size_t i = 0; i < offset && i < length; ++i)
    {
        if (text[i] == '\n')
        {
            at.line += 1;
            at.column = 1;
        }
        else if (((unsigned char)text[i] & 0xC0) != 0x80)
            at.column += 1;
    }
    return at;
}

static void report_syntax(builder* b, const yaml_parser_t* parser, const char* text, size_t length)
{
    const char* problem = parser->problem ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR)
    {
        flx__mistake(b->mistakes, place_of_offset(b, text, length, parser->problem_offset),
                     "%s; a scene is plain UTF-8 text", problem);
        return;
    }
    const flx__place  at   = place_of(b, parser->problem_mark, parser->problem_mark);
    const bool        tab  = memchr(text, '\t', length) && strstr(problem, "cannot start any token");
    const char* const hint = tab ? "; a tab? indent with spaces" : "";
    if (parser->context && parser->context_mark.line != parser->problem_mark.line)
        flx__mistake(b->mistakes, at, "%s %s that starts at line %d%s", problem, parser->context,
                     (int)parser->context_mark.line + 1, hint);
    else if (parser->context)
        flx__mistake(b->mistakes, at, "%s %s%s", problem, parser->context, hint);
    else
        flx__mistake(b->mistakes, at, "%s%s", problem, hint);
}

flx__node* flx__tree_parse(flx__arena* arena, flx__mistakes* mistakes, const flx__source* source, const char* text,
                           size_t length, int32_t column)
{
    builder       b = {.arena = arena, .mistakes = mistakes, .source = source, .column = column};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
    {
        (void)flx__arena_take(arena, INT64_MAX, 1); // remembered as out of memory
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char*)text, length);

    bool whole = false;
    for (bool more = true; more;)
    {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event))
        {
            if (parser.error == YAML_MEMORY_ERROR)
                (void)flx__arena_take(arena, INT64_MAX, 1);
            else
                report_syntax(&b, &parser, text, length);
            break;
        }
        whole = event.type == YAML_STREAM_END_EVENT;
        more  = take_event(&b, &event) && !whole;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return whole && !flx__arena_failed(arena) ? b.root : NULL;
}

flx__node* flx__tree_key(const flx__node* map, const char* name)
{
    if (!map || map->kind != FLX__NODE_MAP) return NULL;
    for (flx__node* key = map->first; key; key = key->next)
        if (key->kind == FLX__NODE_WORD && strcmp(key->text, name) == 0) return key;
    return NULL;
}

flx__node* flx__tree_item(const flx__node* list, int32_t index)
{
    if (!list || list->kind != FLX__NODE_LIST || index < 0) return NULL;
    flx__node* item = list->first;
    while (item && index-- > 0) item = item->next;
    return item;
}

void flx__tree_append(flx__node* parent, flx__node* child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count += 1;
}

bool flx__tree_is_empty(const flx__node* node)
{
    if (!node) return true;
    if (node->kind != FLX__NODE_WORD || node->quoted) return false;
    return node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}
