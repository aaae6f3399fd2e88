// Medit .mesh: words apart by any white space, '#' begins a comment anywhere. Vertices, Triangles, Quadrilaterals and
// Tetrahedra are read; other sections are walked over. The reference of an element is its group "ref_N".
#include "mesh/draft.h"

#include <stdio.h>
#include <string.h>

typedef struct medit_reader
{
    flx_draft* d;
    flx_text   t;
    int64_t    vertex_count; // -1: no Vertices section yet
    int64_t    other_volume; // hexahedra, prisms, pyramids
    int64_t    quad_count, quad_capacity, quad_ref_capacity;
    int32_t*   quad;     // [quad_count][4]
    int64_t*   quad_ref; // [quad_count]
    int64_t    last_ref; // of the element before, to look a group up only when it changes
    int32_t    last_group;
} medit_reader;

static flx_status group_of(medit_reader* r, int64_t ref, int32_t* group)
{
    flx_status status = FLX_OK;
    char       name[32];
    if (r->last_group < 0 || r->last_ref != ref)
    {
        const int length = snprintf(name, sizeof name, "ref_%lld", (long long)ref);
        FLX_TRY(flx__draft_group_named(r->d, 0, name, length, &r->last_group));
        r->last_ref = ref;
    }
    *group = r->last_group;
done:
    return status;
}

static flx_status read_count(medit_reader* r, int64_t words_each, const char* what, int64_t* count)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__text_integer(&r->t, "count", 0, INT64_MAX, count));
    FLX_TRY(flx__text_check_count(&r->t, *count, 2 * words_each, what));
done:
    return status;
}

static flx_status read_vertices(medit_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    ref    = 0;
    if (r->vertex_count >= 0) FLX_TRY(flx__text_fail(&r->t, "a second Vertices section"));
    FLX_TRY(read_count(r, 4, "vertices", &r->vertex_count));
    FLX_TRY(flx__draft_reserve_vertices(r->d, r->vertex_count));
    for (int64_t i = 0; i < r->vertex_count; ++i)
    {
        double p[3];
        r->t.item = i + 1;
        FLX_TRY(flx__text_real(&r->t, "x of vertex", p));
        FLX_TRY(flx__text_real(&r->t, "y of vertex", p + 1));
        FLX_TRY(flx__text_real(&r->t, "z of vertex", p + 2));
        FLX_TRY(flx__text_integer(&r->t, "reference of vertex", INT32_MIN, INT32_MAX, &ref));
        FLX_TRY(flx__draft_vertex(r->d, p[0], p[1], p[2]));
    }
    r->t.item = 0;
done:
    return status;
}

static flx_status read_corners(medit_reader* r, int count, int32_t* corner, int64_t* ref)
{
    flx_status status = FLX_OK;
    for (int k = 0; k < count; ++k)
    {
        int64_t index = 0;
        FLX_TRY(flx__text_integer(&r->t, "vertex index of element", 1, r->vertex_count, &index));
        corner[k] = (int32_t)(index - 1);
    }
    FLX_TRY(flx__text_integer(&r->t, "reference of element", INT32_MIN, INT32_MAX, ref));
done:
    return status;
}

static flx_status read_elements(medit_reader* r, int corners, const char* what)
{
    flx_status status = FLX_OK;
    int64_t    count  = 0;
    if (r->vertex_count < 0) FLX_TRY(flx__text_fail(&r->t, "%s before Vertices", what));
    FLX_TRY(read_count(r, corners + 1, what, &count));
    if (corners == 3) FLX_TRY(flx__draft_reserve_triangles(r->d, count));
    if (corners == 4) FLX_TRY(flx__draft_reserve_tets(r->d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        int32_t corner[4] = {0};
        int32_t group     = -1;
        int64_t ref       = 0;
        r->t.item         = i + 1;
        FLX_TRY(read_corners(r, corners, corner, &ref));
        FLX_TRY(group_of(r, ref, &group));
        if (corners == 3)
        {
            FLX_TRY(flx__draft_triangle(r->d, corner, i + 1));
            FLX_TRY(flx__draft_join_triangles(r->d, group, r->d->triangle_count - 1, 1));
        }
        else
        {
            FLX_TRY(flx__draft_tet(r->d, corner, i + 1));
            FLX_TRY(flx__draft_join_tets(r->d, group, r->d->tet_count - 1, 1));
        }
    }
    r->t.item = 0;
done:
    return status;
}

// Kept until the end: they are split only when the file has no volume elements.
static flx_status read_quads(medit_reader* r)
{
    flx_status status = FLX_OK;
    int64_t    count  = 0;
    if (r->vertex_count < 0) FLX_TRY(flx__text_fail(&r->t, "Quadrilaterals before Vertices"));
    FLX_TRY(read_count(r, 5, "quadrilaterals", &count));
    FLX_RESERVE(r->d->ctx, r->quad, r->quad_capacity, 4 * (r->quad_count + count));
    FLX_RESERVE(r->d->ctx, r->quad_ref, r->quad_ref_capacity, r->quad_count + count);
    for (int64_t i = 0; i < count; ++i, ++r->quad_count)
        FLX_TRY(read_corners(r, 4, r->quad + 4 * r->quad_count, r->quad_ref + r->quad_count));
done:
    return status;
}

static bool begins_a_name(flx_word word)
{
    const char c = word.text[0];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Sections whose width is known are checked by their count; of others the numbers are walked over.
static flx_status skip_section(medit_reader* r, flx_word name)
{
    static const struct
    {
        const char* name;
        int         words;
        bool        volume;
    } known[]         = {{"Edges", 3, false},         {"Corners", 1, false},
                         {"Ridges", 1, false},        {"RequiredVertices", 1, false},
                         {"RequiredEdges", 1, false}, {"RequiredTriangles", 1, false},
                         {"Normals", 3, false},       {"NormalAtVertices", 2, false},
                         {"Tangents", 3, false},      {"TangentAtVertices", 2, false},
                         {"Hexahedra", 9, true},      {"Hexaedra", 9, true},
                         {"Prisms", 7, true},         {"Pyramids", 6, true}};
    flx_status status = FLX_OK;
    int64_t    count  = 0;
    flx_word   word;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    {
        if (!flx__word_is_nocase(name, known[i].name)) continue;
        double ignored;
        FLX_TRY(read_count(r, known[i].words, known[i].name, &count));
        for (int64_t k = 0; k < count * known[i].words; ++k) FLX_TRY(flx__text_real(&r->t, known[i].name, &ignored));
        if (known[i].volume) r->other_volume += count;
        goto done;
    }
    char shown[FLX_WORD_ROOM];
    flx__log(r->d->ctx, FLX_LOG_NOTICE, "%s:%lld: section '%s' is not known and was passed over", r->d->path,
             (long long)r->t.line, flx__word_show(name, shown));
    FLX_TRY(flx__text_integer(&r->t, "count of the section", 0, INT64_MAX, &count));
    flx_text before = r->t;
    while (flx__text_word(&r->t, &word) && !begins_a_name(word)) before = r->t;
    r->t = before;
done:
    return status;
}

static flx_status read_section(medit_reader* r, flx_word word)
{
    char    shown[FLX_WORD_ROOM];
    int64_t value = 0;
    if (!begins_a_name(word))
        return flx__text_fail(&r->t, "'%s' where a keyword should be; is a count too small?",
                              flx__word_show(word, shown));
    if (flx__word_is_nocase(word, "MeshVersionFormatted"))
        return flx__text_integer(&r->t, "MeshVersionFormatted", 1, 4, &value);
    if (flx__word_is_nocase(word, "Dimension"))
    {
        const flx_status status = flx__text_integer(&r->t, "Dimension", 2, 3, &value);
        if (status != FLX_OK || value == 3) return status;
        return flx__text_fail(&r->t, "Dimension 2; only 3 is read");
    }
    if (flx__word_is_nocase(word, "Vertices")) return read_vertices(r);
    if (flx__word_is_nocase(word, "Triangles")) return read_elements(r, 3, "Triangles");
    if (flx__word_is_nocase(word, "Tetrahedra")) return read_elements(r, 4, "Tetrahedra");
    if (flx__word_is_nocase(word, "Quadrilaterals")) return read_quads(r);
    return skip_section(r, word);
}

static flx_status finish(medit_reader* r)
{
    flx_status status = FLX_OK;
    flx_draft* d      = r->d;
    if (r->vertex_count < 0) FLX_TRY(flx__text_fail(&r->t, "the file has no Vertices section"));
    if (r->other_volume)
        flx__log(d->ctx, FLX_LOG_NOTICE,
                 "%s: %lld hexahedra, prisms and pyramids were passed over; only tetrahedra are used", d->path,
                 (long long)r->other_volume);
    if (d->tet_count > 0 && r->quad_count > 0)
        flx__log(d->ctx, FLX_LOG_NOTICE, "%s: %lld quadrilaterals next to tetrahedra were passed over", d->path,
                 (long long)r->quad_count);
    if (d->tet_count == 0 && d->triangle_count == 0 && r->other_volume)
        FLX_TRY(flx__fail(d->ctx, FLX_ERR_UNSUPPORTED,
                          "%s: no tetrahedra, but %lld hexahedra, prisms or pyramids: mesh the volume with tetrahedra",
                          d->path, (long long)r->other_volume));
    if (d->tet_count > 0 || r->other_volume) goto done;
    for (int64_t i = 0; i < r->quad_count; ++i)
    {
        const int64_t first = d->triangle_count;
        int32_t       group = -1;
        FLX_TRY(flx__draft_polygon(d, 4, r->quad + 4 * i, i + 1));
        FLX_TRY(group_of(r, r->quad_ref[i], &group));
        FLX_TRY(flx__draft_join_triangles(d, group, first, d->triangle_count - first));
    }
done:
    return status;
}

flx_status flx__read_medit(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status   status = FLX_OK;
    medit_reader r      = {.d = d, .vertex_count = -1, .last_group = -1};
    flx_word     word;

    FLX_TRY(flx__text_begin(&r.t, d->ctx, d->path, data, bytes));
    FLX_TRY(flx__text_refuse_nul(&r.t));
    r.t.comment = '#';
    while (flx__text_word(&r.t, &word) && !flx__word_is_nocase(word, "End")) FLX_TRY(read_section(&r, word));
    FLX_TRY(finish(&r));

done:
    flx__text_end(&r.t);
    flx__free(d->ctx, r.quad);
    flx__free(d->ctx, r.quad_ref);
    return status;
}
