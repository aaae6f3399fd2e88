// What the parts of the scene reader share while one scene is being read.
#ifndef FLX_SCENE_READER_H
#define FLX_SCENE_READER_H

#include "scene/mistakes.h"
#include "scene/schema.h"
#include "scene/tree.h"

typedef struct flx__names
{
    int32_t           count;
    const flx__node** word; // [count] the node that holds the name; NULL where an item has none
} flx__names;

struct flx__reader
{
    flx_context*             ctx;
    flx__arena*              arena;   // becomes the scene's memory
    flx__arena*              scratch; // tree, names, mistakes: gone after the read
    flx__mistakes*           mistakes;
    const flx_scene_options* options;
    const char*              folder; // of the scene file: "" or ending with '/'
    flx__scene_text*         text;
    flx__names               names[FLX__NAMES_COUNT];
    int64_t                  doubts; // values taken from things that were reported: no more complaints about those
    bool                     data_reported; // that --data is needed is said once
    char                     path[160];     // of the key at hand: "bodies[0].material.young"
    struct flx_mesh*         mesh;          // read last for a joint, kept because rigs take many joints from one file
    char*                    mesh_path;
};

/// Read a map into `target` (a struct of section->size bytes, zeroed) by the section's table. NULL map: defaults only.
void flx__read_section(flx__reader* r, const flx__section* section, const flx__node* map, void* target);
/// Read one value; `node` is not empty and not bad.
void flx__read_value(flx__reader* r, const flx__field* field, const flx__node* node, char* target);
/// One word as one value, mistakes reported; false when it was wrong.
bool flx__read_word(flx__reader* r, const flx__field* field, const flx__node* node, void* target);
/// A path as written, made absolute or relative to the working folder; NULL after reporting.
char* flx__read_path(flx__reader* r, const flx__node* node);

/// The names that the lists of a scene declare, and what is wrong with them.
void    flx__names_collect(flx__reader* r, const flx__node* root);
int32_t flx__names_find(const flx__reader* r, flx__names_kind kind, const char* name); // -1 when there is none
/// Find a name or report it with the nearest one.
int32_t     flx__names_resolve(flx__reader* r, flx__names_kind kind, const flx__node* word);
const char* flx__names_one(flx__names_kind kind); // "a bone"

/// Put the --set values into the tree, making sections as needed.
void flx__overrides_apply(flx__reader* r, flx__node* root);

/// Fill joint->at from a mesh group.
void flx__joint_from_mesh(flx__reader* r, const flx__node* map, flx__joint* joint);

/// Path helpers: append to r->path, and cut back to an earlier length.
size_t flx__path_enter(flx__reader* r, const char* key);
size_t flx__path_enter_item(flx__reader* r, int32_t index);
void   flx__path_leave(flx__reader* r, size_t length);

flx__place flx__place_of_key(const flx__node* map, const char* key); // of the value, else of the map

#endif
