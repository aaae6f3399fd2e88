// PLY: ASCII, binary little and big endian. Wanted are x, y, z of `vertex` and the index list of `face`; all other
// elements and properties are walked over by what the header says of them.
#include "mesh/byte_reader.h"
#include "mesh/draft.h"

#include <math.h>
#include <stdio.h>

typedef enum ply_type
{
    PLY_I8,
    PLY_U8,
    PLY_I16,
    PLY_U16,
    PLY_I32,
    PLY_U32,
    PLY_F32,
    PLY_F64,
    PLY_NONE
} ply_type;

typedef enum ply_role
{
    ROLE_NONE,
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_CORNERS
} ply_role;

typedef struct ply_property
{
    ply_type type, count_type; // count_type PLY_NONE: no list
    ply_role role;
} ply_property;

typedef enum ply_kind
{
    KIND_OTHER,
    KIND_VERTEX,
    KIND_FACE
} ply_kind;

typedef struct ply_element
{
    ply_kind kind;
    int64_t  count;
    int64_t  line;
    int64_t  property_first, property_count;
} ply_element;

typedef struct ply_reader
{
    flx_draft*    d;
    flx_text      t;
    bool          binary, big_endian;
    int64_t       element_count, element_capacity;
    ply_element*  element;
    int64_t       property_count, property_capacity;
    ply_property* property;
    int64_t       corner_count, corner_capacity; // of all faces
    int32_t*      corner;
    int64_t       face_count, face_capacity;
    int64_t*      face_end; // in corner
} ply_reader;

static int type_bytes(ply_type type)
{
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 4, 8, 0};
    return bytes[type];
}

static ply_type type_of(flx_word word)
{
    static const char* const names[] = {"char", "uchar", "short", "ushort", "int",   "uint",   "float",   "double",
                                        "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"};
    for (int i = 0; i < 16; ++i)
        if (flx__word_is(word, names[i])) return (ply_type)(i % 8);
    return PLY_NONE;
}

// --- header ---------------------------------------------------------------------------------------

static flx_status read_format(ply_reader* r)
{
    flx_word word;
    char     shown[FLX_WORD_ROOM];
    if (!flx__text_word_on_line(&r->t, &word)) return flx__text_fail(&r->t, "'format' without a format");
    r->big_endian = flx__word_is(word, "binary_big_endian");
    r->binary     = r->big_endian || flx__word_is(word, "binary_little_endian");
    if (!r->binary && !flx__word_is(word, "ascii"))
        return flx__text_fail(&r->t, "format '%s'; allowed are ascii, binary_little_endian, binary_big_endian",
                              flx__word_show(word, shown));
    flx__text_skip_line(&r->t);
    return FLX_OK;
}

static flx_status read_element(ply_reader* r)
{
    flx_status  status = FLX_OK;
    ply_element e      = {.line = r->t.line, .property_first = r->property_count};
    flx_word    name, count;
    if (!flx__text_word_on_line(&r->t, &name) || !flx__text_word_on_line(&r->t, &count))
        FLX_TRY(flx__text_fail(&r->t, "'element' needs a name and a count"));
    FLX_TRY(flx__word_integer(&r->t, count, "element count", 0, INT64_MAX, &e.count));
    FLX_TRY(flx__text_end_line(&r->t, "the element count"));
    e.kind = flx__word_is(name, "vertex") ? KIND_VERTEX : flx__word_is(name, "face") ? KIND_FACE : KIND_OTHER;
    FLX_RESERVE(r->d->ctx, r->element, r->element_capacity, r->element_count + 1);
    r->element[r->element_count++] = e;
done:
    return status;
}

static flx_status read_type(ply_reader* r, ply_type* type)
{
    flx_word word;
    char     shown[FLX_WORD_ROOM];
    if (!flx__text_word_on_line(&r->t, &word)) return flx__text_fail(&r->t, "'property' needs a type and a name");
    *type = type_of(word);
    if (*type == PLY_NONE)
        return flx__text_fail(&r->t,
                              "'%s' is not a type; allowed are char, uchar, short, ushort, int, uint, float, double",
                              flx__word_show(word, shown));
    return FLX_OK;
}

static ply_role role_of(const ply_element* e, flx_word name, bool list)
{
    if (e->kind == KIND_VERTEX && !list && flx__word_is(name, "x")) return ROLE_X;
    if (e->kind == KIND_VERTEX && !list && flx__word_is(name, "y")) return ROLE_Y;
    if (e->kind == KIND_VERTEX && !list && flx__word_is(name, "z")) return ROLE_Z;
    if (e->kind == KIND_FACE && list && (flx__word_is(name, "vertex_indices") || flx__word_is(name, "vertex_index")))
        return ROLE_CORNERS;
    return ROLE_NONE;
}

static flx_status read_property(ply_reader* r)
{
    flx_status   status = FLX_OK;
    ply_property p      = {.count_type = PLY_NONE};
    flx_text     before;
    flx_word     word;
    if (r->element_count == 0) FLX_TRY(flx__text_fail(&r->t, "'property' before any 'element'"));
    before = r->t;
    if (flx__text_word_on_line(&r->t, &word) && flx__word_is(word, "list"))
    {
        FLX_TRY(read_type(r, &p.count_type));
        if (p.count_type == PLY_F32 || p.count_type == PLY_F64)
            FLX_TRY(flx__text_fail(&r->t, "the length of a list must have a whole-number type"));
    }
    else
        r->t = before;
    FLX_TRY(read_type(r, &p.type));
    if (!flx__text_word_on_line(&r->t, &word)) FLX_TRY(flx__text_fail(&r->t, "'property' needs a type and a name"));
    ply_element* e = r->element + r->element_count - 1;
    p.role         = role_of(e, word, p.count_type != PLY_NONE);
    if (p.role == ROLE_CORNERS && (p.type == PLY_F32 || p.type == PLY_F64))
        FLX_TRY(flx__text_fail(&r->t, "vertex indices must have a whole-number type"));
    FLX_TRY(flx__text_end_line(&r->t, "the property's name"));
    FLX_RESERVE(r->d->ctx, r->property, r->property_capacity, r->property_count + 1);
    r->property[r->property_count++] = p;
    e->property_count += 1;
done:
    return status;
}

// Right behind `end_header` comes the first data byte, after a line end like that of the first line: a lone CR there
// may be followed by a 0x0A that is data.
static flx_status pass_header_end(ply_reader* r, bool first_line_cr_only)
{
    flx_text* t = &r->t;
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t')) ++t->at;
    if (t->at >= t->end) return FLX_OK; // no data at all; counts decide whether that is right
    if (*t->at == '\r' && (first_line_cr_only || t->at + 1 >= t->end || t->at[1] != '\n'))
        t->at += 1;
    else if (*t->at == '\r')
        t->at += 2;
    else if (*t->at == '\n')
        t->at += 1;
    else
        return flx__text_fail(t, "'end_header' should end its line");
    t->line += 1;
    return FLX_OK;
}

static flx_status read_header(ply_reader* r)
{
    flx_status status     = FLX_OK;
    bool       has_format = false;
    flx_word   word;
    char       shown[FLX_WORD_ROOM];

    if (!flx__text_word(&r->t, &word) || !flx__word_is(word, "ply"))
        FLX_TRY(flx__text_fail(&r->t, "'%s' where 'ply' should be", flx__word_show(word, shown)));
    const bool cr_only = r->t.at + 1 < r->t.end && r->t.at[0] == '\r' && r->t.at[1] != '\n';
    for (;;)
    {
        if (!flx__text_word(&r->t, &word)) FLX_TRY(flx__text_fail(&r->t, "the file ends before 'end_header'"));
        if (flx__word_is(word, "end_header")) break;
        if (flx__word_is(word, "format"))
        {
            has_format = true;
            FLX_TRY(read_format(r));
        }
        else if (flx__word_is(word, "element"))
            FLX_TRY(read_element(r));
        else if (flx__word_is(word, "property"))
            FLX_TRY(read_property(r));
        else if (flx__word_is(word, "comment") || flx__word_is(word, "obj_info"))
            flx__text_skip_line(&r->t);
        else
            FLX_TRY(flx__text_fail(&r->t,
                                   "'%s' in the header; allowed are format, comment, element, property, end_header",
                                   flx__word_show(word, shown)));
    }
    if (!has_format) FLX_TRY(flx__text_fail(&r->t, "the header has no 'format' line"));
    FLX_TRY(pass_header_end(r, cr_only));
    if (!r->binary) FLX_TRY(flx__text_refuse_nul(&r->t));
done:
    return status;
}

// --- values ---------------------------------------------------------------------------------------

static flx_status fail_here(ply_reader* r, const char* text)
{
    return r->binary ? flx__text_fail_at_byte(&r->t, "%s", text) : flx__text_fail(&r->t, "%s", text);
}

static flx_status need_bytes(ply_reader* r, int64_t bytes)
{
    return r->t.end - r->t.at >= bytes ? FLX_OK : flx__text_fail_at_byte(&r->t, "the file ends inside its data");
}

static flx_status read_real(ply_reader* r, ply_type type, const char* what, double* value)
{
    if (!r->binary) return flx__text_real(&r->t, what, value);
    const flx_status status = need_bytes(r, type_bytes(type));
    if (status != FLX_OK) return status;
    const uint64_t u = flx__bytes_unsigned(r->t.at, type_bytes(type), r->big_endian);
    switch (type)
    {
    case PLY_I8:
        *value = (int8_t)u;
        break;
    case PLY_I16:
        *value = (int16_t)u;
        break;
    case PLY_I32:
        *value = (int32_t)u;
        break;
    case PLY_F32:
        *value = (double)flx__bytes_f32(r->t.at, r->big_endian);
        break;
    case PLY_F64:
        *value = flx__bytes_f64(r->t.at, r->big_endian);
        break;
    default:
        *value = (double)u;
        break;
    }
    if (!isfinite(*value))
        return flx__text_fail_at_byte(&r->t, "%s %lld is not finite", what, (long long)r->d->vertex_count + 1);
    r->t.at += type_bytes(type);
    return FLX_OK;
}

static flx_status read_integer(ply_reader* r, ply_type type, const char* what, int64_t* value)
{
    if (!r->binary) return flx__text_integer(&r->t, what, INT32_MIN, UINT32_MAX, value);
    const flx_status status = need_bytes(r, type_bytes(type));
    if (status != FLX_OK) return status;
    const uint64_t u = flx__bytes_unsigned(r->t.at, type_bytes(type), r->big_endian);
    *value = type == PLY_I8 ? (int8_t)u : type == PLY_I16 ? (int16_t)u : type == PLY_I32 ? (int32_t)u : (int64_t)u;
    r->t.at += type_bytes(type);
    return FLX_OK;
}

static flx_status skip_values(ply_reader* r, ply_type type, int64_t count)
{
    if (r->binary)
    {
        const int64_t bytes = count * type_bytes(type);
        if (r->t.end - r->t.at < bytes) return flx__text_fail_at_byte(&r->t, "the file ends inside its data");
        r->t.at += bytes;
        return FLX_OK;
    }
    flx_word word;
    for (int64_t i = 0; i < count; ++i)
        if (!flx__text_word(&r->t, &word)) return flx__text_fail(&r->t, "the file ends inside its data");
    return FLX_OK;
}

// --- elements -------------------------------------------------------------------------------------

static flx_status read_corners(ply_reader* r, const ply_property* p)
{
    flx_status status = FLX_OK;
    int64_t    count  = 0;
    FLX_TRY(read_integer(r, p->count_type, "number of corners of face", &count));
    if (count < 3 || count > FLX_POLYGON_MAX)
    {
        char text[128];
        snprintf(text, sizeof text, "face %lld has %lld corners; allowed are 3 to %d", (long long)r->face_count + 1,
                 (long long)count, FLX_POLYGON_MAX);
        FLX_TRY(fail_here(r, text));
    }
    FLX_RESERVE(r->d->ctx, r->corner, r->corner_capacity, r->corner_count + count);
    for (int64_t i = 0; i < count; ++i)
    {
        int64_t index = 0;
        FLX_TRY(read_integer(r, p->type, "vertex index of face", &index));
        if (index < 0 || index > INT32_MAX)
        {
            char text[128];
            snprintf(text, sizeof text, "face %lld names vertex %lld; they are counted from 0",
                     (long long)r->face_count + 1, (long long)index);
            FLX_TRY(fail_here(r, text));
        }
        r->corner[r->corner_count++] = (int32_t)index;
    }
    FLX_RESERVE(r->d->ctx, r->face_end, r->face_capacity, r->face_count + 1);
    r->face_end[r->face_count++] = r->corner_count;
done:
    return status;
}

static flx_status read_item(ply_reader* r, const ply_element* e)
{
    static const char* const what[3] = {"x of vertex", "y of vertex", "z of vertex"};
    flx_status               status  = FLX_OK;
    double                   x[3]    = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < e->property_count; ++i)
    {
        const ply_property* p     = r->property + e->property_first + i;
        int64_t             count = 1;
        if (p->role == ROLE_CORNERS)
            FLX_TRY(read_corners(r, p));
        else if (p->role != ROLE_NONE)
            FLX_TRY(read_real(r, p->type, what[p->role - ROLE_X], x + (p->role - ROLE_X)));
        else
        {
            if (p->count_type != PLY_NONE) FLX_TRY(read_integer(r, p->count_type, "length of list", &count));
            if (count < 0) FLX_TRY(fail_here(r, "a list of negative length"));
            FLX_TRY(skip_values(r, p->type, count));
        }
    }
    if (e->kind == KIND_VERTEX) FLX_TRY(flx__draft_vertex(r->d, x[0], x[1], x[2]));
done:
    return status;
}

static bool has_role(const ply_reader* r, const ply_element* e, ply_role role)
{
    for (int64_t i = 0; i < e->property_count; ++i)
        if (r->property[e->property_first + i].role == role) return true;
    return false;
}

static flx_status check_element(ply_reader* r, const ply_element* e)
{
    int64_t bytes = 0; // that one item takes at least
    for (int64_t i = 0; i < e->property_count; ++i)
    {
        const ply_property* p = r->property + e->property_first + i;
        bytes += !r->binary ? 2 : type_bytes(p->count_type != PLY_NONE ? p->count_type : p->type);
    }
    const int64_t line   = r->t.line;
    r->t.line            = e->line;
    flx_status status    = FLX_OK;
    const bool has_place = has_role(r, e, ROLE_X) && has_role(r, e, ROLE_Y) && has_role(r, e, ROLE_Z);
    if (e->kind == KIND_VERTEX && !has_place)
        status = flx__text_fail(&r->t, "element vertex without properties x, y, z");
    else if (e->kind == KIND_FACE && e->count > 0 && !has_role(r, e, ROLE_CORNERS))
        status = flx__text_fail(&r->t, "element face without a list vertex_indices");
    else if (bytes > 0 && e->count > 0)
        status = flx__text_check_count(&r->t, e->count, bytes, "items of this element");
    r->t.line = line;
    return status;
}

static flx_status make_triangles(ply_reader* r)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__draft_reserve_triangles(r->d, r->corner_count - 2 * r->face_count));
    int64_t first = 0;
    for (int64_t i = 0; i < r->face_count; first = r->face_end[i++])
    {
        for (int64_t k = first; k < r->face_end[i]; ++k)
            if (r->corner[k] >= r->d->vertex_count)
                FLX_TRY(flx__fail(r->d->ctx, FLX_ERR_FORMAT,
                                  "%s: face %lld names vertex %d, but there are %lld (from 0)", r->d->path,
                                  (long long)i + 1, r->corner[k], (long long)r->d->vertex_count));
        FLX_TRY(flx__draft_polygon(r->d, r->face_end[i] - first, r->corner + first, i + 1));
    }
done:
    return status;
}

flx_status flx__read_ply(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status status = FLX_OK;
    ply_reader r      = {.d = d};

    FLX_TRY(flx__text_begin(&r.t, d->ctx, d->path, data, bytes));
    FLX_TRY(read_header(&r));
    for (int64_t i = 0; i < r.element_count; ++i)
    {
        const ply_element* e = r.element + i;
        FLX_TRY(check_element(&r, e));
        if (e->property_count == 0) continue; // nothing to read, however many there are
        if (e->kind == KIND_VERTEX) FLX_TRY(flx__draft_reserve_vertices(d, e->count));
        for (int64_t k = 0; k < e->count; ++k) FLX_TRY(read_item(&r, e));
        if (e->kind == KIND_OTHER && e->count > 0)
            flx__log(d->ctx, FLX_LOG_INFO, "%s:%lld: %lld items of an element that is not used", d->path,
                     (long long)e->line, (long long)e->count);
    }
    FLX_TRY(make_triangles(&r));

done:
    flx__text_end(&r.t);
    flx__free(d->ctx, r.element);
    flx__free(d->ctx, r.property);
    flx__free(d->ctx, r.corner);
    flx__free(d->ctx, r.face_end);
    return status;
}
