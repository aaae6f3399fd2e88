// What concerns the scene as a whole: names, circles of parents, motions in seconds, things that were forgotten.
#include "scene/finish.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

static const flx__node* item_of(const flx__node* root, const char* list, int32_t index)
{
    const flx__node* key = flx__tree_key(root, list);
    if (!key || !key->value) return root;
    const flx__node* item = key->value->kind == FLX__NODE_MAP ? key->value : flx__tree_item(key->value, index);
    return item ? item : root;
}

/// A parent that is its own descendant: reported once for each circle, at its first bone.
static void check_parents(const flx__finish* f, const flx_scene* scene)
{
    for (int32_t i = 0; i < scene->bone_count; ++i)
    {
        int32_t up    = scene->bone[i].parent;
        int32_t steps = 0;
        while (up >= 0 && up > i && steps < scene->bone_count) // a smaller one would have been reported there
        {
            up = scene->bone[up].parent;
            ++steps;
        }
        if (up != i) continue;
        const flx__place at = flx__place_of_key(item_of(f->map, "bones", i), "parent");
        if (steps == 0)
            flx__mistake(f->reader->mistakes, at, "bones[%d].parent: '%s' is its own parent", i, scene->bone[i].name);
        else
            flx__mistake(f->reader->mistakes, at, "bones[%d].parent: '%s' is below itself: a circle of %d bones", i,
                         scene->bone[i].name, steps + 1);
    }
}

/// degrees_per_frame and to, as keys in seconds.
static void keys_of_rate(flx__reader* r, flx__motion_text* m, double fps)
{
    const double  frames = fabs(m->to_deg) / m->rate_deg;
    const int32_t count  = m->then == FLX__THEN_RETURN ? 3 : 2;
    flx_key*      key    = flx__arena_take(r->arena, count, sizeof *key);
    if (!key) return;
    key[0].time      = m->start / fps;
    key[1].time      = (m->start + frames) / fps;
    key[1].angle_deg = m->to_deg;
    if (count == 3) key[2].time = (m->start + 2.0 * frames) / fps;
    m->motion.key       = key;
    m->motion.key_count = count;
}

static void convert_motions(const flx__finish* f, flx__scene_text* text)
{
    flx_scene*       scene  = &text->scene;
    flx_motion_desc* motion = flx__arena_take(f->reader->arena, text->motion_count, sizeof *motion);
    if (!motion) return;
    for (int32_t i = 0; i < text->motion_count; ++i)
    {
        if (text->motion[i].rate_deg > 0.0) keys_of_rate(f->reader, &text->motion[i], scene->run.fps);
        motion[i] = text->motion[i].motion;
    }
    scene->motion       = motion;
    scene->motion_count = text->motion_count;
}

static char* print_text(flx__arena* arena, const char* stem, int32_t number)
{
    char text[32];
    flx__print_c(text, sizeof text, "%s%d", stem, number);
    return flx__arena_text(arena, text, strlen(text));
}

static void default_names(flx__reader* r, flx_scene* scene)
{
    for (int32_t i = 0; i < scene->body_count; ++i)
        if (!scene->body[i].name) scene->body[i].name = print_text(r->arena, "body", i);
    if (scene->name || !scene->path) return;
    const char* slash = strrchr(scene->path, '/');
    const char* file  = slash ? slash + 1 : scene->path;
    const char* dot   = strrchr(file, '.');
    scene->name       = flx__arena_text(r->arena, file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
}

/// Nothing wrong, but perhaps not what was meant.
static void notices(flx__reader* r, const flx_scene* scene)
{
    for (int32_t o = 0; o < scene->obstacle_count; ++o)
    {
        bool touched = false;
        for (int32_t c = 0; c < scene->contact_count; ++c) touched = touched || scene->contact[c].obstacle == o;
        if (!touched)
            flx__log(r->ctx, FLX_LOG_NOTICE, "%s: obstacle '%s' is in no contact: bodies pass through it", scene->path,
                     scene->obstacle[o].name);
    }
    for (int32_t b = 0; b < scene->bone_count; ++b)
    {
        bool tied = false;
        for (int32_t a = 0; a < scene->attach_count; ++a)
            for (int32_t i = 0; i < scene->attach[a].bone_count; ++i) tied = tied || scene->attach[a].bone[i] == b;
        for (int32_t i = 0; i < scene->fix_count; ++i)
            tied = tied || (scene->fix[i].carried && scene->fix[i].bone == b);
        for (int32_t child = 0; child < scene->bone_count; ++child) tied = tied || scene->bone[child].parent == b;
        if (!tied)
            flx__log(r->ctx, FLX_LOG_NOTICE, "%s: bone '%s' is attached to no body: nothing follows it", scene->path,
                     scene->bone[b].name);
    }
}

void flx__finish_scene(const flx__finish* f, void* target)
{
    flx__scene_text* text       = target;
    flx_scene*       scene      = &text->scene;
    scene->settings.struct_size = sizeof scene->settings;
    if (f->clean && scene->body_count == 0)
        flx__mistake(f->reader->mistakes, flx__place_of_key(f->map, "bodies"),
                     "bodies is an empty list: there is nothing to simulate");
    check_parents(f, scene);
    if (!f->clean) return;
    if (!flx__tree_key(f->map, "wind")) scene->wind = (flx_wind_desc){0};
    convert_motions(f, text);
    default_names(f->reader, scene);
    if (!flx__arena_failed(f->reader->arena)) notices(f->reader, scene);
}
