// Gmsh .msh 2.2 and 4.1, ASCII and binary of either byte order: the sections, the physical names, and what becomes of
// the elements. Triangles and tets are kept, of higher-order ones the corners; quads are split where there is no
// volume; everything else is counted and passed over. Physical groups become groups, by name or as "physical_N".
#include "mesh/byte_reader.h"
#include "mesh/gmsh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

gmsh_type flx__gmsh_type(int64_t number)
{
    static const gmsh_type types[] = {
        {GMSH_UNKNOWN, 0, false},  {GMSH_LINE, 2, false},     {GMSH_TRIANGLE, 3, false}, {GMSH_QUAD, 4, false},
        {GMSH_TET, 4, false},      {GMSH_HEX, 8, false},      {GMSH_PRISM, 6, false},    {GMSH_PYRAMID, 5, false},
        {GMSH_LINE, 3, true},      {GMSH_TRIANGLE, 6, true},  {GMSH_QUAD, 9, true},      {GMSH_TET, 10, true},
        {GMSH_HEX, 27, true},      {GMSH_PRISM, 18, true},    {GMSH_PYRAMID, 14, true},  {GMSH_POINT, 1, false},
        {GMSH_QUAD, 8, true},      {GMSH_HEX, 20, true},      {GMSH_PRISM, 15, true},    {GMSH_PYRAMID, 13, true},
        {GMSH_TRIANGLE, 9, true},  {GMSH_TRIANGLE, 10, true}, {GMSH_TRIANGLE, 12, true}, {GMSH_TRIANGLE, 15, true},
        {GMSH_TRIANGLE, 15, true}, {GMSH_TRIANGLE, 21, true}, {GMSH_LINE, 4, true},      {GMSH_LINE, 5, true},
        {GMSH_LINE, 6, true},      {GMSH_TET, 20, true},      {GMSH_TET, 35, true},      {GMSH_TET, 56, true},
    };
    const int64_t count = (int64_t)(sizeof types / sizeof *types);
    if (number > 0 && number < count) return types[number];
    if (number == 92) return (gmsh_type){GMSH_HEX, 64, true};
    if (number == 93) return (gmsh_type){GMSH_HEX, 125, true};
    return types[0];
}

static int32_t dimension_of(gmsh_shape shape)
{
    return shape == GMSH_POINT ? 0 : shape == GMSH_LINE ? 1 : shape == GMSH_TRIANGLE || shape == GMSH_QUAD ? 2 : 3;
}

// --- bytes ----------------------------------------------------------------------------------------

flx_status flx__gmsh_need(gmsh_reader* r, int64_t bytes, const char* what)
{
    if (bytes <= r->t.end - r->t.at) return FLX_OK;
    return flx__text_fail_at_byte(&r->t, "the file ends inside %s", what);
}

int32_t flx__gmsh_take_i32(gmsh_reader* r)
{
    r->t.at += 4;
    return flx__bytes_i32(r->t.at - 4, r->big_endian);
}

int64_t flx__gmsh_take_size(gmsh_reader* r)
{
    r->t.at += 8;
    return (int64_t)flx__bytes_unsigned(r->t.at - 8, 8, r->big_endian);
}

double flx__gmsh_take_f64(gmsh_reader* r)
{
    r->t.at += 8;
    return flx__bytes_f64(r->t.at - 8, r->big_endian);
}

flx_status flx__gmsh_fail(gmsh_reader* r, const char* text, int64_t value)
{
    char shown[256];
    snprintf(shown, sizeof shown, text, (long long)value);
    return r->binary ? flx__text_fail_at_byte(&r->t, "%s", shown) : flx__text_fail(&r->t, "%s", shown);
}

// --- nodes ----------------------------------------------------------------------------------------

flx_status flx__gmsh_add_node(gmsh_reader* r, int64_t tag, const double x[3])
{
    flx_status status = FLX_OK;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        FLX_TRY(flx__gmsh_fail(r, "the coordinates of node %lld are not finite", tag));
    if (tag < 1) FLX_TRY(flx__gmsh_fail(r, "node number %lld; at least 1", tag));
    FLX_RESERVE(r->d->ctx, r->tag, r->tag_capacity, r->tag_count + 1);
    r->tag[r->tag_count] = (gmsh_tag){.tag = tag, .vertex = (int32_t)r->tag_count};
    if (r->tag_count > 0 && r->tag[r->tag_count - 1].tag >= tag) r->tags_sorted = false;
    r->tag_count += 1;
    FLX_TRY(flx__draft_vertex(r->d, x[0], x[1], x[2]));
done:
    return status;
}

// Heap sort: no worst case, no memory.
static void sift(gmsh_tag* a, int64_t root, int64_t count)
{
    const gmsh_tag item = a[root];
    for (int64_t child; (child = 2 * root + 1) < count; root = child)
    {
        if (child + 1 < count && a[child + 1].tag > a[child].tag) ++child;
        if (a[child].tag <= item.tag) break;
        a[root] = a[child];
    }
    a[root] = item;
}

flx_status flx__gmsh_nodes_done(gmsh_reader* r)
{
    gmsh_tag* a = r->tag;
    if (r->tags_sorted) return FLX_OK;
    for (int64_t i = r->tag_count / 2; i-- > 0;) sift(a, i, r->tag_count);
    for (int64_t n = r->tag_count; --n > 0;)
    {
        const gmsh_tag t = a[0];
        a[0]             = a[n];
        a[n]             = t;
        sift(a, 0, n);
    }
    for (int64_t i = 1; i < r->tag_count; ++i)
        if (a[i].tag == a[i - 1].tag) return flx__gmsh_fail(r, "node %lld stands in $Nodes more than once", a[i].tag);
    r->tags_sorted = true;
    return FLX_OK;
}

static int32_t vertex_of(const gmsh_reader* r, int64_t tag)
{
    if (tag >= 1 && tag <= r->tag_count && r->tag[tag - 1].tag == tag) return r->tag[tag - 1].vertex; // numbered 1..n
    int64_t lo = 0;
    int64_t hi = r->tag_count;
    while (lo < hi)
    {
        const int64_t mid = lo + (hi - lo) / 2;
        if (r->tag[mid].tag < tag)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->tag_count && r->tag[lo].tag == tag ? r->tag[lo].vertex : -1;
}

// --- groups and elements ----------------------------------------------------------------------------

static flx_status group_of(gmsh_reader* r, int32_t dimension, int32_t number, int32_t* group)
{
    flx_status    status = FLX_OK;
    const int32_t key[2] = {dimension, number};
    int32_t*      value  = NULL;
    char          name[32];
    *group = flx__tuple_get(&r->physical, key);
    if (*group >= 0) goto done;
    const int length = snprintf(name, sizeof name, "physical_%d", number);
    FLX_TRY(flx__draft_group_named(r->d, 0, name, length, group));
    FLX_TRY(flx__tuple_add(&r->physical, key, *group, &value));
done:
    return status;
}

static flx_status keep_quad(gmsh_reader* r, const int32_t vertex[4], int64_t tag, int32_t group)
{
    flx_status status = FLX_OK;
    FLX_RESERVE(r->d->ctx, r->quad, r->quad_capacity, 4 * (r->quad_count + 1));
    FLX_RESERVE(r->d->ctx, r->quad_tag, r->quad_tag_capacity, r->quad_count + 1);
    FLX_RESERVE(r->d->ctx, r->quad_group, r->quad_group_capacity, r->quad_count + 1);
    memcpy(r->quad + 4 * r->quad_count, vertex, 4 * sizeof *vertex);
    r->quad_tag[r->quad_count]     = tag;
    r->quad_group[r->quad_count++] = group;
done:
    return status;
}

flx_status flx__gmsh_add_element(gmsh_reader* r, gmsh_type type, int64_t tag, const int64_t* node,
                                 int32_t physical_count, const int32_t* physical)
{
    flx_status    status  = FLX_OK;
    flx_draft*    d       = r->d;
    const int32_t corners = type.shape == GMSH_TRIANGLE ? 3 : type.shape == GMSH_TET || type.shape == GMSH_QUAD ? 4 : 0;
    int32_t       vertex[4];
    int32_t       group = -1;

    r->seen[type.shape] += 1;
    if (corners == 0) goto done;
    r->curved += type.curved;
    for (int32_t k = 0; k < corners; ++k)
    {
        vertex[k] = vertex_of(r, node[k]);
        if (vertex[k] < 0) FLX_TRY(flx__gmsh_fail(r, "an element names node %lld, which is not in $Nodes", node[k]));
    }
    if (type.shape == GMSH_TRIANGLE) FLX_TRY(flx__draft_triangle(d, vertex, tag));
    if (type.shape == GMSH_TET) FLX_TRY(flx__draft_tet(d, vertex, tag));
    for (int32_t i = 0; i < physical_count; ++i)
    {
        if (physical[i] == 0) continue;                                      // none
        const int32_t number = physical[i] < 0 ? -physical[i] : physical[i]; // the sign is an orientation
        FLX_TRY(group_of(r, dimension_of(type.shape), number, &group));
        if (type.shape == GMSH_TRIANGLE) FLX_TRY(flx__draft_join_triangles(d, group, d->triangle_count - 1, 1));
        if (type.shape == GMSH_TET) FLX_TRY(flx__draft_join_tets(d, group, d->tet_count - 1, 1));
    }
    if (type.shape == GMSH_QUAD) FLX_TRY(keep_quad(r, vertex, tag, group));

done:
    return status;
}

// --- sections -------------------------------------------------------------------------------------

static flx_status read_format(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    flx_text*  t      = &r->t;
    double     version;
    int64_t    kind, size;
    FLX_TRY(flx__text_real(t, "version", &version));
    FLX_TRY(flx__text_integer(t, "file type", 0, 1, &kind));
    FLX_TRY(flx__text_integer(t, "data size", 0, 1000, &size));
    FLX_TRY(flx__text_end_line(t, "the data size"));
    r->is41   = version == 4.1;
    r->binary = kind == 1;
    if (!r->is41 && !(version >= 2.0 && version < 3.0))
    {
        t->line -= 1;
        FLX_TRY(flx__text_fail(t, "format version %g; 2.2 and 4.1 are read: gmsh -save -format msh41 FILE -o NEW",
                               version));
    }
    if (size != 8)
    {
        t->line -= 1;
        FLX_TRY(flx__text_fail(t, "data size %lld; only 8 is read", (long long)size));
    }
    if (!r->binary)
    {
        FLX_TRY(flx__text_refuse_nul(t));
        goto done;
    }
    FLX_TRY(flx__gmsh_need(r, 4, "$MeshFormat"));
    const int32_t one = flx__gmsh_take_i32(r);
    if (one != 1 && one != 0x01000000) FLX_TRY(flx__text_fail_at_byte(t, "the byte order mark is %d, not 1", one));
    r->big_endian = one != 1;
done:
    return status;
}

// dimension number "name": one line each, also in binary files
static flx_status read_names(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    flx_text*  t      = &r->t;
    int64_t    count;
    FLX_TRY(flx__text_integer(t, "number of physical names", 0, INT64_MAX, &count));
    FLX_TRY(flx__text_end_line(t, "the number of physical names"));
    FLX_TRY(flx__text_check_count(t, count, 6, "physical names"));
    for (int64_t i = 0; i < count; ++i)
    {
        int64_t  dimension, number;
        int32_t  group = -1;
        int32_t* value = NULL;
        FLX_TRY(flx__text_integer(t, "dimension", 0, 3, &dimension));
        FLX_TRY(flx__text_integer(t, "physical number", 1, INT32_MAX, &number));
        flx_word name = flx__text_rest_of_line(t);
        if (name.length >= 2 && name.text[0] == '"' && name.text[name.length - 1] == '"')
        {
            name.text += 1;
            name.length -= 2;
        }
        if (name.length == 0) FLX_TRY(flx__text_fail(t, "a physical group without a name"));
        const int32_t key[2] = {(int32_t)dimension, (int32_t)number};
        FLX_TRY(flx__draft_group_named(r->d, 0, name.text, name.length, &group));
        r->d->group[group].keep_empty = true;
        FLX_TRY(flx__tuple_add(&r->physical, key, group, &value));
    }
done:
    return status;
}

// Past `$End<name>`. In binary files what stands between may be anything, so the mark is searched for.
static flx_status skip_section(gmsh_reader* r, flx_word name)
{
    flx_text*  t = &r->t;
    flx_word   word;
    char       shown[FLX_WORD_ROOM];
    const char mark[] = "$End";
    if (r->binary)
    {
        const char* p = t->at;
        while ((p = memmem(p, (size_t)(t->end - p), mark, 4)) != NULL)
        {
            p += 4;
            if (t->end - p < name.length - 1 || memcmp(p, name.text + 1, (size_t)name.length - 1) != 0) continue;
            t->at = p + name.length - 1;
            return FLX_OK;
        }
    }
    else
        while (flx__text_word(t, &word))
        {
            if (word.length == name.length + 3 && memcmp(word.text, mark, 4) == 0 &&
                memcmp(word.text + 4, name.text + 1, (size_t)name.length - 1) == 0)
                return FLX_OK;
            flx__text_skip_line(t);
        }
    return flx__text_fail(t, "section %s has no end", flx__word_show(name, shown));
}

static flx_status expect_end(gmsh_reader* r, flx_word name)
{
    flx_text* t = &r->t;
    flx_word  word;
    char      shown[FLX_WORD_ROOM], wanted[FLX_WORD_ROOM];
    flx__word_show((flx_word){name.text + 1, name.length - 1}, wanted);
    if (!flx__text_word(t, &word)) return flx__gmsh_fail(r, "the file ends before the section does", 0);
    if (word.length == name.length + 3 && memcmp(word.text, "$End", 4) == 0 &&
        memcmp(word.text + 4, name.text + 1, (size_t)name.length - 1) == 0)
        return FLX_OK;
    flx__word_show(word, shown);
    if (r->binary)
        return flx__text_fail_at_byte(t, "'%s' where $End%s should be: damaged, or a count is wrong", shown, wanted);
    return flx__text_fail(t, "'%s' where $End%s should be; is a count wrong?", shown, wanted);
}

// Binary data begins right behind the line end of the section's name.
static flx_status begin_data(gmsh_reader* r)
{
    return flx__text_end_line(&r->t, "the section's name");
}

static flx_status read_section(gmsh_reader* r, flx_word name, bool first)
{
    flx_status status = FLX_OK;
    char       shown[FLX_WORD_ROOM];
    flx__word_show(name, shown);
    if (first && (flx__word_is(name, "$NOD") || flx__word_is(name, "$PhysicalNames") || flx__word_is(name, "$Nodes")))
        FLX_TRY(flx__text_fail(
            &r->t, "%s before $MeshFormat: version 1 of the format, or damaged; 2.2 and 4.1 are read", shown));
    if (name.text[0] != '$')
        FLX_TRY(flx__text_fail(&r->t, "'%s' where a section ($Nodes, $Elements, ...) should begin", shown));

    if (flx__word_is(name, "$MeshFormat"))
        FLX_TRY(read_format(r));
    else if (flx__word_is(name, "$PhysicalNames"))
        FLX_TRY(read_names(r));
    else if (flx__word_is(name, "$Entities") && r->is41)
    {
        FLX_TRY(begin_data(r));
        FLX_TRY(flx__gmsh41_entities(r));
    }
    else if (flx__word_is(name, "$Nodes"))
    {
        if (r->has_nodes) FLX_TRY(flx__text_fail(&r->t, "a second $Nodes"));
        FLX_TRY(begin_data(r));
        FLX_TRY(r->is41 ? flx__gmsh41_nodes(r) : flx__gmsh22_nodes(r));
        FLX_TRY(flx__gmsh_nodes_done(r));
        r->has_nodes = true;
    }
    else if (flx__word_is(name, "$Elements"))
    {
        if (!r->has_nodes) FLX_TRY(flx__text_fail(&r->t, "$Elements before $Nodes"));
        FLX_TRY(begin_data(r));
        FLX_TRY(r->is41 ? flx__gmsh41_elements(r) : flx__gmsh22_elements(r));
        r->has_elements = true;
    }
    else
    {
        FLX_TRY(skip_section(r, name));
        goto done;
    }
    FLX_TRY(expect_end(r, name));
done:
    return status;
}

// --- at the end -----------------------------------------------------------------------------------

static flx_status split_quads(gmsh_reader* r)
{
    flx_status status = FLX_OK;
    flx_draft* d      = r->d;
    for (int64_t i = 0; i < r->quad_count; ++i)
    {
        const int64_t first = d->triangle_count;
        FLX_TRY(flx__draft_polygon(d, 4, r->quad + 4 * i, r->quad_tag[i]));
        if (r->quad_group[i] >= 0)
            FLX_TRY(flx__draft_join_triangles(d, r->quad_group[i], first, d->triangle_count - first));
    }
done:
    return status;
}

static flx_status finish(gmsh_reader* r)
{
    flx_status     status = FLX_OK;
    flx_draft*     d      = r->d;
    const int64_t* seen   = r->seen;
    const int64_t  solid  = seen[GMSH_HEX] + seen[GMSH_PRISM] + seen[GMSH_PYRAMID];
    if (!r->has_nodes) FLX_TRY(flx__text_fail(&r->t, "the file has no $Nodes"));
    if (!r->has_elements) FLX_TRY(flx__text_fail(&r->t, "the file has no $Elements"));
    if (solid > 0 && d->tet_count == 0)
        FLX_TRY(flx__fail(
            d->ctx, FLX_ERR_UNSUPPORTED,
            "%s: no tetrahedra, but %lld hexahedra, %lld prisms, %lld pyramids: mesh the volume with tetrahedra",
            d->path, (long long)seen[GMSH_HEX], (long long)seen[GMSH_PRISM], (long long)seen[GMSH_PYRAMID]));
    if (solid > 0)
        flx__log(d->ctx, FLX_LOG_NOTICE,
                 "%s: %lld hexahedra, %lld prisms, %lld pyramids were passed over: only tetrahedra are used", d->path,
                 (long long)seen[GMSH_HEX], (long long)seen[GMSH_PRISM], (long long)seen[GMSH_PYRAMID]);
    if (d->tet_count > 0 && seen[GMSH_QUAD])
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld quadrangles next to tetrahedra were passed over", d->path,
                 (long long)seen[GMSH_QUAD]);
    if (seen[GMSH_POINT] + seen[GMSH_LINE])
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld points and %lld lines were passed over", d->path,
                 (long long)seen[GMSH_POINT], (long long)seen[GMSH_LINE]);
    if (r->curved)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld elements of higher order: their corners are used", d->path,
                 (long long)r->curved);
    if (d->tet_count == 0) FLX_TRY(split_quads(r));
done:
    return status;
}

flx_status flx__read_gmsh(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status  status = FLX_OK;
    gmsh_reader r      = {.d = d, .tags_sorted = true};
    flx_word    word;
    bool        first = true;

    flx__tuple_table_begin(&r.physical, d->ctx, 2);
    flx__tuple_table_begin(&r.entity, d->ctx, 2);
    FLX_TRY(flx__text_begin(&r.t, d->ctx, d->path, data, bytes));
    while (flx__text_word(&r.t, &word))
    {
        FLX_TRY(read_section(&r, word, first));
        if (!flx__word_is(word, "$Comments")) first = false;
    }
    FLX_TRY(finish(&r));

done:
    flx__text_end(&r.t);
    flx__tuple_table_end(&r.physical);
    flx__tuple_table_end(&r.entity);
    flx__free(d->ctx, r.listed);
    flx__free(d->ctx, r.tag);
    flx__free(d->ctx, r.quad);
    flx__free(d->ctx, r.quad_tag);
    flx__free(d->ctx, r.quad_group);
    return status;
}
