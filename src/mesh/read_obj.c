// Wavefront OBJ: v, f, g, o, usemtl; everything else of the format is passed over. Vertices keep their order, also
// those that no face uses. Faces may name vertices that come later in the file, so they are split when all are known.
#include "mesh/draft.h"

#include <string.h>

typedef struct obj_face
{
    int64_t first; // in corner
    int64_t line;
    int32_t count;
    int32_t set; // in set_first: the groups it belongs to
} obj_face;

// The largest index of a kind and where it stands: checked at the end, when the count is known.
typedef struct obj_reach
{
    int64_t index, line, count; // count: how many there are so far
} obj_reach;

typedef struct obj_reader
{
    flx_draft* d;
    flx_text   t;

    int64_t   corner_count, corner_capacity;
    int32_t*  corner; // vertex, 0-based
    int64_t   face_count, face_capacity;
    obj_face* face;

    int64_t  set_count, set_capacity; // set i: member [set_first[i], set_first[i + 1])
    int64_t* set_first;
    int64_t  member_count, member_capacity;
    int32_t* member;
    bool     set_is_stale;

    int64_t  active_count, active_capacity; // groups of the last `g`
    int32_t* active;
    int32_t  object, material; // -1: none

    obj_reach vertex, texture, normal;
    int64_t   ignored_lines_points, unknown_count, unknown_line, statement_count;
} obj_reader;

enum
{
    KIND_GROUP,
    KIND_OBJECT,
    KIND_MATERIAL
};

// --- statements -----------------------------------------------------------------------------------

static flx_status read_vertex(obj_reader* r)
{
    static const char* const what[3] = {"x of vertex", "y of vertex", "z of vertex"};
    flx_status               status  = FLX_OK;
    double                   p[3];
    flx_word                 word;
    r->t.item = r->d->vertex_count + 1;
    for (int i = 0; i < 3; ++i)
    {
        if (!flx__text_word_on_line(&r->t, &word))
            FLX_TRY(flx__text_fail(&r->t, "vertex %lld has %d coordinates; three are needed",
                                   (long long)r->d->vertex_count + 1, i));
        FLX_TRY(flx__word_real(&r->t, word, what[i], p + i));
    }
    FLX_TRY(flx__draft_vertex(r->d, p[0], p[1], p[2]));
    r->vertex.count += 1;
    flx__text_skip_statement(&r->t); // a weight or a colour may follow
    r->t.item = 0;
done:
    return status;
}

// One index of a corner: positive counts from the start, negative from here back.
static flx_status resolve(obj_reader* r, flx_word part, flx_word whole, obj_reach* reach, const char* what,
                          int64_t* index)
{
    flx_status status = FLX_OK;
    char       shown[FLX_WORD_ROOM];
    int64_t    i = 0;
    FLX_TRY(flx__word_integer(&r->t, part, what, -INT32_MAX, INT32_MAX, &i));
    flx__word_show(whole, shown);
    if (i == 0) FLX_TRY(flx__text_fail(&r->t, "face corner '%s': %s 0; they are counted from 1", shown, what));
    if (i < 0 && -i > reach->count)
        FLX_TRY(flx__text_fail(&r->t, "face corner '%s': %s %lld, but only %lld stand before this line", shown, what,
                               (long long)i, (long long)reach->count));
    *index = i > 0 ? i - 1 : reach->count + i;
    if (*index + 1 > reach->index)
    {
        reach->index = *index + 1;
        reach->line  = r->t.line;
    }
done:
    return status;
}

// v, v/vt, v//vn, v/vt/vn; some write v// for v
static flx_status read_corner(obj_reader* r, flx_word word, int64_t* vertex)
{
    static const char* const what[3]    = {"vertex index", "texture index", "normal index"};
    obj_reach* const         reach[3]   = {&r->vertex, &r->texture, &r->normal};
    flx_status               status     = FLX_OK;
    int64_t                  part_count = 0;
    char                     shown[FLX_WORD_ROOM];
    const char*              p   = word.text;
    const char*              end = word.text + word.length;

    for (;; ++part_count)
    {
        const char*    slash        = memchr(p, '/', (size_t)(end - p));
        const flx_word part         = {.text = p, .length = (slash ? slash : end) - p};
        int64_t        index        = 0;
        const bool     may_be_empty = part_count == 1 ? slash != NULL : part_count == 2 && p[-2] == '/';
        if (part_count > 2 || (part.length == 0 && !may_be_empty))
            FLX_TRY(flx__text_fail(&r->t, "face corner '%s'; allowed are v, v/vt, v//vn and v/vt/vn",
                                   flx__word_show(word, shown)));
        if (part.length > 0) FLX_TRY(resolve(r, part, word, reach[part_count], what[part_count], &index));
        if (part_count == 0) *vertex = index;
        if (!slash) break;
        p = slash + 1;
    }
done:
    return status;
}

static flx_status append(obj_reader* r, int32_t group)
{
    flx_status status = FLX_OK;
    FLX_RESERVE(r->d->ctx, r->member, r->member_capacity, r->member_count + 1);
    r->member[r->member_count++] = group;
done:
    return status;
}

// Faces share a set of groups until a g, o or usemtl changes it.
static flx_status current_set(obj_reader* r, int32_t* set)
{
    flx_status status = FLX_OK;
    if (r->set_is_stale)
    {
        FLX_RESERVE(r->d->ctx, r->set_first, r->set_capacity, r->set_count + 2);
        r->set_first[r->set_count] = r->member_count;
        for (int64_t i = 0; i < r->active_count; ++i) FLX_TRY(append(r, r->active[i]));
        if (r->object >= 0) FLX_TRY(append(r, r->object));
        if (r->material >= 0) FLX_TRY(append(r, r->material));
        r->set_first[++r->set_count] = r->member_count;
        r->set_is_stale              = false;
    }
    *set = (int32_t)(r->set_count - 1);
done:
    return status;
}

static flx_status read_face(obj_reader* r)
{
    flx_status status = FLX_OK;
    obj_face   face   = {.first = r->corner_count, .line = r->t.line};
    flx_word   word;
    FLX_TRY(current_set(r, &face.set));
    while (flx__text_word_on_line(&r->t, &word))
    {
        int64_t vertex = 0;
        FLX_TRY(read_corner(r, word, &vertex));
        FLX_RESERVE(r->d->ctx, r->corner, r->corner_capacity, r->corner_count + 1);
        r->corner[r->corner_count++] = (int32_t)vertex;
        if (++face.count > FLX_POLYGON_MAX)
            FLX_TRY(flx__text_fail(&r->t, "a face with more than %d corners", FLX_POLYGON_MAX));
    }
    if (face.count < 3)
    {
        r->t.line = face.line;
        FLX_TRY(flx__text_fail(&r->t, "face %lld has %d corners; at least three are needed",
                               (long long)r->face_count + 1, face.count));
    }
    FLX_RESERVE(r->d->ctx, r->face, r->face_capacity, r->face_count + 1);
    r->face[r->face_count++] = face;
done:
    return status;
}

static flx_status read_groups(obj_reader* r)
{
    flx_status status = FLX_OK;
    flx_word   word;
    r->active_count = 0;
    r->set_is_stale = true;
    while (flx__text_word_on_line(&r->t, &word))
    {
        int32_t group = -1;
        FLX_TRY(flx__draft_group_named(r->d, KIND_GROUP, word.text, word.length, &group));
        FLX_RESERVE(r->d->ctx, r->active, r->active_capacity, r->active_count + 1);
        r->active[r->active_count++] = group;
    }
done:
    return status;
}

static flx_status read_name(obj_reader* r, int32_t kind, int32_t* current)
{
    const flx_word name = flx__text_rest_of_line(&r->t); // may hold blanks
    r->set_is_stale     = true;
    *current            = -1;
    return name.length == 0 ? FLX_OK : flx__draft_group_named(r->d, kind, name.text, name.length, current);
}

static bool is_known(flx_word word)
{
    static const char* const known[] = {
        "vp",   "deg",    "bmat",   "step",   "cstype",    "curv",       "curv2", "surf",  "parm",     "trim",
        "hole", "scrv",   "sp",     "end",    "con",       "s",          "mg",    "bevel", "c_interp", "d_interp",
        "lod",  "mtllib", "usemap", "maplib", "trace_obj", "shadow_obj", "ctech", "stech", "call",     "csh"};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (flx__word_is(word, known[i])) return true;
    return false;
}

static flx_status read_statement(obj_reader* r, flx_word word)
{
    r->statement_count += 1;
    if (flx__word_is(word, "v")) return read_vertex(r);
    if (flx__word_is(word, "f") || flx__word_is(word, "fo")) return read_face(r);
    if (flx__word_is(word, "g")) return read_groups(r);
    if (flx__word_is(word, "o")) return read_name(r, KIND_OBJECT, &r->object);
    if (flx__word_is(word, "usemtl")) return read_name(r, KIND_MATERIAL, &r->material);
    if (flx__word_is(word, "vt"))
        r->texture.count += 1;
    else if (flx__word_is(word, "vn"))
        r->normal.count += 1;
    else if (flx__word_is(word, "l") || flx__word_is(word, "p"))
        r->ignored_lines_points += 1;
    else if (!is_known(word))
    {
        r->statement_count -= 1;
        if (r->unknown_count++ == 0) r->unknown_line = r->t.line;
    }
    flx__text_skip_statement(&r->t);
    return FLX_OK;
}

// --- at the end -----------------------------------------------------------------------------------

static flx_status check_reach(obj_reader* r, const obj_reach* reach, const char* what)
{
    if (reach->index <= reach->count) return FLX_OK;
    r->t.line = reach->line;
    return flx__text_fail(&r->t, "a face names %s %lld, but the file has %lld", what, (long long)reach->index,
                          (long long)reach->count);
}

static flx_status make_triangles(obj_reader* r)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__draft_reserve_triangles(r->d, r->corner_count - 2 * r->face_count));
    for (int64_t i = 0; i < r->face_count; ++i)
    {
        const obj_face* face  = r->face + i;
        const int64_t   first = r->d->triangle_count;
        r->t.line             = face->line;
        for (int32_t k = 0; k < face->count; ++k)
            if (r->corner[face->first + k] >= r->d->vertex_count)
                FLX_TRY(flx__text_fail(&r->t, "face %lld names vertex %lld, but the file has %lld", (long long)i + 1,
                                       (long long)r->corner[face->first + k] + 1, (long long)r->d->vertex_count));
        FLX_TRY(flx__draft_polygon(r->d, face->count, r->corner + face->first, i + 1));
        for (int64_t k = r->set_first[face->set]; k < r->set_first[face->set + 1]; ++k)
            FLX_TRY(flx__draft_join_triangles(r->d, r->member[k], first, r->d->triangle_count - first));
    }
done:
    return status;
}

static flx_status finish(obj_reader* r)
{
    flx_status status = FLX_OK;
    FLX_TRY(check_reach(r, &r->texture, "texture vertex"));
    FLX_TRY(check_reach(r, &r->normal, "normal"));
    if (r->unknown_count && r->statement_count == 0)
    {
        r->t.line = r->unknown_line;
        FLX_TRY(flx__text_fail(&r->t, "not an OBJ file: no line begins with a keyword of the format (v, f, g, ...)"));
    }
    if (r->unknown_count)
        flx__log(r->d->ctx, FLX_LOG_NOTICE, "%s:%lld: %lld lines with unknown keywords were passed over", r->d->path,
                 (long long)r->unknown_line, (long long)r->unknown_count);
    if (r->ignored_lines_points)
        flx__log(r->d->ctx, FLX_LOG_NOTICE, "%s: %lld line and point elements were passed over", r->d->path,
                 (long long)r->ignored_lines_points);
    FLX_TRY(make_triangles(r));
done:
    return status;
}

flx_status flx__read_obj(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status status = FLX_OK;
    obj_reader r      = {.d = d, .object = -1, .material = -1, .set_is_stale = true};
    flx_word   word;

    FLX_TRY(flx__text_begin(&r.t, d->ctx, d->path, data, bytes));
    FLX_TRY(flx__text_refuse_nul(&r.t));
    r.t.comment      = '#';
    r.t.continuation = true;
    while (flx__text_word(&r.t, &word)) FLX_TRY(read_statement(&r, word));
    FLX_TRY(finish(&r));

done:
    flx__text_end(&r.t);
    flx__free(d->ctx, r.corner);
    flx__free(d->ctx, r.face);
    flx__free(d->ctx, r.set_first);
    flx__free(d->ctx, r.member);
    flx__free(d->ctx, r.active);
    return status;
}
