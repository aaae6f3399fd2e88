// Checks between the keys of one section, and the values that follow from them. What concerns several sections at once
// is in finish_scene.c.
#include "scene/finish.h"

#include <math.h>
#include <string.h>

static bool given(const flx__finish* f, const char* key)
{
    const int32_t index = flx__field_index(f->section, key);
    FLX_ASSERT(index >= 0);
    return f->given & (UINT64_C(1) << index);
}

static flx__place place(const flx__finish* f, const char* key)
{
    return flx__place_of_key(f->map, key);
}

/// `key` makes no sense without `other`.
static void needs(const flx__finish* f, const char* key, const char* other)
{
    if (given(f, key) && !given(f, other))
        flx__mistake(f->reader->mistakes, place(f, key), "%s.%s goes with '%s', which is not there", f->reader->path,
                     key, other);
}

static void excludes(const flx__finish* f, const char* key, const char* other)
{
    if (given(f, key) && given(f, other))
        flx__mistake(f->reader->mistakes, place(f, other), "%s has both '%s' and '%s'; give one of them",
                     f->reader->path, key, other);
}

/// Exactly one of the words in "a|b|c" must have been given.
static void exactly_one(const flx__finish* f, const char* words)
{
    const char* first = NULL;
    int32_t     count = 0;
    char        key[32], seen[32] = "", list[120] = "";
    for (int32_t i = 0;; ++i)
    {
        const char*  word;
        const size_t length = flx__word_at(words, i, &word);
        if (length == 0) break;
        FLX_ASSERT(length < sizeof key);
        memcpy(key, word, length);
        key[length] = '\0';
        if (i > 0) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, key, sizeof list - strlen(list) - 1);
        if (!given(f, key)) continue;
        if (count++ == 0)
        {
            memcpy(seen, key, sizeof seen);
            first = seen;
        }
        else
            flx__mistake(f->reader->mistakes, place(f, key), "%s has both '%s' and '%s'; give one of them",
                         f->reader->path, first, key);
    }
    if (count == 0) flx__mistake(f->reader->mistakes, f->map->at, "%s: one of %s is missing", f->reader->path, list);
}

/// A body that was not named is the only one there is.
static void only_body(const flx__finish* f, const char* key, int32_t* body)
{
    if (given(f, key)) return;
    const int32_t count = f->reader->names[FLX__BODIES].count;
    if (count == 1)
        *body = 0;
    else if (count > 1)
        flx__mistake(f->reader->mistakes, f->map->at, "%s: '%s' is missing; the scene has %d bodies, say which one",
                     f->reader->path, key, count);
}

static void time_span(const flx__finish* f, double from, double until)
{
    if (!f->clean || !given(f, "until") || until > from) return;
    flx__mistake(f->reader->mistakes, place(f, "until"), "%s ends at %g s, before it begins at %g s", f->reader->path,
                 until, from);
}

// --- shapes -----------------------------------------------------------------------------------------------

void flx__finish_plane(const flx__finish* f, void* target)
{
    (void)f;
    ((flx_shape*)target)->kind = FLX_SHAPE_PLANE;
}

void flx__finish_sphere(const flx__finish* f, void* target)
{
    (void)f;
    ((flx_shape*)target)->kind = FLX_SHAPE_SPHERE;
}

void flx__finish_capsule(const flx__finish* f, void* target)
{
    flx_shape* s = target;
    s->kind      = FLX_SHAPE_CAPSULE;
    if (f->clean && given(f, "from") && given(f, "to") && memcmp(s->a, s->b, sizeof s->a) == 0)
        flx__mistake(f->reader->mistakes, place(f, "to"),
                     "%s goes from a point to the same point; use a sphere, or another end", f->reader->path);
}

void flx__finish_box(const flx__finish* f, void* target)
{
    flx_shape* s = target;
    s->kind      = FLX_SHAPE_BOX;
    for (int k = 0; k < 3 && f->clean; ++k)
    {
        if (s->a[k] < s->b[k]) continue;
        flx__mistake(f->reader->mistakes, place(f, "max"), "%s is empty: along %c, min is %g and max is %g",
                     f->reader->path, "xyz"[k], s -> a[k], s -> b[k]);
        return;
    }
}

void flx__finish_shape(const flx__finish* f, void* target)
{
    (void)target;
    exactly_one(f, "sphere|capsule|box|plane");
}

// --- joints and bodies --------------------------------------------------------------------------------------

void flx__finish_joint(const flx__finish* f, void* target)
{
    flx__joint* joint = target;
    exactly_one(f, "at|mesh");
    excludes(f, "at", "group");
    if (given(f, "mesh") && !given(f, "group"))
        flx__mistake(f->reader->mistakes, f->map->at, "%s: 'group' is missing: which group of the mesh marks the joint",
                     f->reader->path);
    joint->known = f->clean && given(f, "at");
    if (f->clean && joint->mesh && joint->group && !given(f, "at")) flx__joint_from_mesh(f->reader, f->map, joint);
}

void flx__finish_lattice(const flx__finish* f, void* target)
{
    (void)target;
    excludes(f, "cell", "tets");
}

#define DEFAULT_LATTICE_TETS 100000

void flx__finish_constraint(const flx__finish* f, void* target)
{
    static const char* const keys[] = {"spring", "strain", "bending", "tet_strain",
                                       "tet_volume"}; // flx_constraint_kind
    flx_constraint_desc*     c      = target;
    exactly_one(f, "spring|strain|bending|tet_strain|tet_volume");
    for (int k = 0; k < 5; ++k)
        if (given(f, keys[k])) c->kind = (flx_constraint_kind)k;
    const bool limited = c->kind != FLX_CONSTRAINT_SPRING && c->kind != FLX_CONSTRAINT_BENDING;
    for (int k = 0; k < 3 && f->clean && !limited; ++k)
        if (given(f, k == 0 ? "min" : k == 1 ? "max" : "file"))
            flx__mistake(f->reader->mistakes,
                         place(f, k == 0   ? "min"
                                  : k == 1 ? "max"
                                           : "file"),
                         "%s.%s goes with strain, tet_strain or tet_volume", f->reader->path,
                         k == 0   ? "min"
                         : k == 1 ? "max"
                                  : "file");
}

/// What cloth has instead of the keys of bodies with a volume.
static void finish_cloth(const flx__finish* f)
{
    static const char* const others[] = {"surface", "tets", "lattice", "crop"};
    flx__reader*             r        = f->reader;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        if (given(f, others[i]))
            flx__mistake(r->mistakes, place(f, others[i]), "%s is cloth, which has no '%s': remove it", r->path,
                         others[i]);
    if (!given(f, "constraints"))
        flx__mistake(r->mistakes, f->map->at,
                     "%s: 'constraints' is missing: what the cloth resists, such as [{strain: 200 N/m}]", r->path);
    const flx__node* key = flx__tree_key(f->map, "material");
    if (!key || !key->value || key->value->kind != FLX__NODE_MAP) return;
    if (flx__tree_key(key->value, "young"))
        flx__mistake(r->mistakes, flx__place_of_key(key->value, "young"),
                     "%s is cloth, whose stiffness stands in 'constraints', not in material.young", r->path);
    if (flx__tree_key(key->value, "density"))
        flx__mistake(r->mistakes, flx__place_of_key(key->value, "density"),
                     "%s is cloth, whose mass is material.area_density, in kg/m2", r->path);
}

static void check_constraints(const flx__finish* f, const flx_body_desc* body)
{
    for (int32_t i = 0; i < body->constraint_count; ++i)
    {
        const bool of_cloth = body->constraint[i].kind <= FLX_CONSTRAINT_BENDING;
        if (of_cloth == given(f, "cloth")) continue;
        flx__mistake(f->reader->mistakes, place(f, "constraints"), "%s.constraints[%d]: %s", f->reader->path, i,
                     of_cloth
                         ? "spring, strain and bending are for cloth; say tet_strain or tet_volume"
                         : "tet_strain and tet_volume are for bodies with a volume; say spring, strain or bending");
    }
}

void flx__finish_body(const flx__finish* f, void* target)
{
    flx_body_desc* body = target;
    flx__reader*   r    = f->reader;
    if (!given(f, "surface") && !given(f, "tets") && !given(f, "cloth"))
        flx__mistake(r->mistakes, f->map->at, "%s: 'surface', 'tets' or 'cloth' is missing: which mesh it is", r->path);
    if (given(f, "cloth")) finish_cloth(f);
    if (f->clean && body->material.young_file && !given(f, "tets"))
        flx__mistake(r->mistakes, place(f, "material"),
                     "%s.material.young_file goes with 'tets': elements made here have no order of yours", r->path);
    for (int32_t i = 0; i < body->constraint_count && f->clean; ++i)
        if (!given(f, "tets") && !given(f, "cloth") && (body->constraint[i].group || body->constraint[i].file))
            flx__mistake(r->mistakes, place(f, "constraints"),
                         "%s.constraints[%d]: group and file go with 'tets' or 'cloth', not with a lattice", r->path,
                         i);
    if (f->clean) check_constraints(f, body);
    if (given(f, "tets") && given(f, "lattice"))
        flx__mistake(r->mistakes, place(f, "lattice"), "%s has 'tets', so no lattice is made; remove one of them",
                     r->path);
    if (given(f, "tets") && given(f, "crop"))
        flx__mistake(r->mistakes, place(f, "crop"),
                     "%s has 'tets', which are taken as they are; crop is for a surface alone", r->path);
    if (given(f, "weld_tolerance") && !body->weld)
        flx__mistake(r->mistakes, place(f, "weld_tolerance"), "%s.weld_tolerance goes with 'weld: true'", r->path);
    if (given(f, "surface") && !given(f, "tets") && body->lattice_cell <= 0.0 && body->lattice_tets == 0)
        body->lattice_tets = DEFAULT_LATTICE_TETS;
}

// --- bones, attachments, fixed parts, loads -------------------------------------------------------------------

void flx__finish_bone(const flx__finish* f, void* target)
{
    flx_bone_desc* bone = target;
    exactly_one(f, "capsule|mesh");
    needs(f, "group", "mesh");
    needs(f, "scale", "mesh");
    if (given(f, "mesh")) bone->shape.kind = FLX_SHAPE_MESH;
}

void flx__finish_attach(const flx__finish* f, void* target)
{
    flx_attach_desc* attach = target;
    flx__reader*     r      = f->reader;
    const int32_t    bones  = r->names[FLX__BONES].count;
    only_body(f, "body", &attach->body);
    if (bones == 0)
    {
        if (f->clean) flx__mistake(r->mistakes, f->map->at, "%s ties a body to bones, and the scene has none", r->path);
        return;
    }
    if (given(f, "bones"))
    {
        if (f->clean && attach->bone_count == 0)
            flx__mistake(r->mistakes, place(f, "bones"), "%s.bones is an empty list; leave it out to mean all bones",
                         r->path);
        return;
    }
    attach->bone = flx__arena_take(r->arena, bones, sizeof *attach->bone);
    if (!attach->bone) return;
    for (int32_t i = 0; i < bones; ++i) attach->bone[i] = i;
    attach->bone_count = bones;
}

void flx__finish_fix(const flx__finish* f, void* target)
{
    flx_fix_desc* fix = target;
    only_body(f, "body", &fix->body);
    fix->carried = given(f, "bone");
    time_span(f, fix->from, fix->until);
}

void flx__finish_load(const flx__finish* f, void* target)
{
    flx_load_desc* load = target;
    only_body(f, "body", &load->body);
    time_span(f, load->from, load->until);
}

// --- motion -----------------------------------------------------------------------------------------------

static void check_key_times(const flx__finish* f, const flx_motion_desc* motion)
{
    const flx__node* list = flx__tree_key(f->map, "keys")->value;
    const flx__node* item = list->kind == FLX__NODE_MAP ? list : list->first;
    for (int32_t i = 1; i < motion->key_count; ++i)
    {
        item = item->next;
        if (motion->key[i].time > motion->key[i - 1].time) continue;
        flx__mistake(f->reader->mistakes, flx__place_of_key(item, "time"),
                     "%s.keys[%d].time is %g s, not after %g s of the key before", f->reader->path, i,
                     motion->key[i].time, motion->key[i - 1].time);
        return;
    }
}

void flx__finish_motion(const flx__finish* f, void* target)
{
    flx__motion_text* m = target;
    flx__reader*      r = f->reader;
    exactly_one(f, "bone|obstacle");
    exactly_one(f, "degrees_per_frame|keys");
    needs(f, "to", "degrees_per_frame");
    needs(f, "start", "degrees_per_frame");
    needs(f, "then", "degrees_per_frame");
    if (given(f, "degrees_per_frame") && !given(f, "to"))
        flx__mistake(r->mistakes, f->map->at, "%s: 'to' is missing: the angle in degrees where it stops", r->path);
    if (f->clean && given(f, "to") && m->to_deg == 0.0)
        flx__mistake(r->mistakes, place(f, "to"), "%s.to is 0, so nothing turns", r->path);

    bool turns = given(f, "degrees_per_frame");
    for (int32_t i = 0; i < m->motion.key_count; ++i) turns = turns || m->motion.key[i].angle_deg != 0.0;
    if (turns && !given(f, "about"))
        flx__mistake(r->mistakes, f->map->at, "%s: 'about' is missing: a point that the axis goes through", r->path);
    if (turns && !given(f, "axis"))
        flx__mistake(r->mistakes, f->map->at, "%s: 'axis' is missing: the direction to turn about", r->path);
    if (!given(f, "axis")) m->motion.axis[2] = 1.0;

    if (f->clean && given(f, "keys") && m->motion.key_count == 0)
        flx__mistake(r->mistakes, place(f, "keys"), "%s.keys is an empty list", r->path);
    if (f->clean && given(f, "keys")) check_key_times(f, &m->motion);
}

// --- obstacles, contact, cameras ----------------------------------------------------------------------------

void flx__finish_obstacle(const flx__finish* f, void* target)
{
    flx_obstacle_desc* obstacle = target;
    exactly_one(f, "plane|sphere|capsule|box|mesh");
    needs(f, "group", "mesh");
    needs(f, "scale", "mesh");
    needs(f, "cell", "mesh");
    if (given(f, "mesh")) obstacle->shape.kind = FLX_SHAPE_MESH;
}

void flx__finish_contact(const flx__finish* f, void* target)
{
    flx_contact_desc* contact = target;
    exactly_one(f, "self|obstacle");
    excludes(f, "self", "body");
    contact->self = given(f, "self");
    if (given(f, "obstacle")) only_body(f, "body", &contact->body);
    if (!given(f, "region")) contact->region.kind = FLX_SHAPE_AUTO;
}

void flx__finish_camera(const flx__finish* f, void* target)
{
    flx_camera_desc* camera = target;
    if (f->clean && memcmp(camera->from, camera->at, sizeof camera->from) == 0)
        flx__mistake(f->reader->mistakes, place(f, "at"), "%s looks from a point at the same point", f->reader->path);
    if (!given(f, "up")) camera->up[f->reader->text->scene.up_axis] = 1.0;
    if (!f->clean) return;

    double look[3], cross2 = 0.0, look2 = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        look[k] = camera->at[k] - camera->from[k];
        look2 += look[k] * look[k];
    }
    for (int k = 0; k < 3; ++k)
    {
        const double c = look[(k + 1) % 3] * camera->up[(k + 2) % 3] - look[(k + 2) % 3] * camera->up[(k + 1) % 3];
        cross2 += c * c;
    }
    if (look2 > 0.0 && cross2 <= 1e-12 * look2)
        flx__mistake(f->reader->mistakes, given(f, "up") ? place(f, "up") : f->map->at,
                     "%s looks straight along its 'up'; give another up", f->reader->path);
}
