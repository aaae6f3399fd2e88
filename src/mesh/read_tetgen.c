// TetGen: .node with .ele, or with .face where there is no .ele. Whether counting begins at 0 or 1 is seen from the
// first node. The attribute of an .ele line, where there is one, is the group "region_N".
#include "base/file.h"
#include "mesh/draft.h"

#include <string.h>
#include <unistd.h>

typedef struct tetgen_reader
{
    flx_draft* d;
    int64_t    base; // 0 or 1
} tetgen_reader;

typedef flx_status (*part_fn)(tetgen_reader* r, flx_text* t);

// The words of a line that holds numbers; blank and comment lines are passed over.
static flx_status word_integer(flx_text* t, const char* what, int64_t lo, int64_t hi, int64_t* value)
{
    flx_word word;
    if (!flx__text_word_on_line(t, &word)) return flx__text_fail(t, "the line ends where %s should be", what);
    return flx__word_integer(t, word, what, lo, hi, value);
}

static flx_status word_real(flx_text* t, const char* what, double* value)
{
    flx_word word;
    if (!flx__text_word_on_line(t, &word)) return flx__text_fail(t, "the line ends where %s should be", what);
    return flx__word_real(t, word, what, value);
}

// A count may stand alone on its line; absent ones are 0.
static flx_status optional_integer(flx_text* t, const char* what, int64_t* value)
{
    flx_word word;
    *value = 0;
    return flx__text_word_on_line(t, &word) ? flx__word_integer(t, word, what, 0, 1000000, value) : FLX_OK;
}

static flx_status check_number(flx_text* t, int64_t number, int64_t expected, const char* what)
{
    if (number == expected) return FLX_OK;
    return flx__text_fail(t, "%s %lld where %lld should be: they must follow each other", what, (long long)number,
                          (long long)expected);
}

static flx_status read_nodes(tetgen_reader* r, flx_text* t)
{
    flx_status status = FLX_OK;
    int64_t    count, dimension, attributes, markers, number;
    FLX_TRY(flx__text_integer(t, "node count", 0, INT64_MAX, &count));
    FLX_TRY(word_integer(t, "dimension", 2, 3, &dimension));
    if (dimension != 3) FLX_TRY(flx__text_fail(t, "dimension 2; only 3 is read"));
    FLX_TRY(optional_integer(t, "attribute count", &attributes));
    FLX_TRY(optional_integer(t, "marker count", &markers));
    FLX_TRY(flx__text_end_line(t, "the marker count"));
    FLX_TRY(flx__text_check_count(t, count, 8, "nodes"));
    FLX_TRY(flx__draft_reserve_vertices(r->d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        double p[3];
        FLX_TRY(flx__text_integer(t, "node number", 0, INT32_MAX, &number));
        if (i == 0 && number > 1)
            FLX_TRY(flx__text_fail(t, "the first node has number %lld; 0 or 1 is allowed", (long long)number));
        if (i == 0) r->base = number;
        FLX_TRY(check_number(t, number, r->base + i, "node"));
        t->item = number;
        FLX_TRY(word_real(t, "x of node", p));
        FLX_TRY(word_real(t, "y of node", p + 1));
        FLX_TRY(word_real(t, "z of node", p + 2));
        FLX_TRY(flx__draft_vertex(r->d, p[0], p[1], p[2]));
        flx__text_skip_line(t); // attributes and marker
        t->item = 0;
    }
done:
    return status;
}

static flx_status read_corners(tetgen_reader* r, flx_text* t, int64_t count, int32_t* corner)
{
    flx_status status = FLX_OK;
    for (int64_t k = 0; k < count; ++k)
    {
        int64_t index;
        FLX_TRY(word_integer(t, "node of element", r->base, r->base + r->d->vertex_count - 1, &index));
        corner[k] = (int32_t)(index - r->base);
    }
done:
    return status;
}

static flx_status read_region(tetgen_reader* r, flx_text* t)
{
    flx_status status = FLX_OK;
    int32_t    group  = -1;
    char       name[64];
    double     region;
    FLX_TRY(word_real(t, "region of element", &region));
    const int length = flx__print_c(name, sizeof name, "region_%.9g", region);
    FLX_TRY(flx__draft_group_named(r->d, 0, name, length, &group));
    FLX_TRY(flx__draft_join_tets(r->d, group, r->d->tet_count - 1, 1));
done:
    return status;
}

static flx_status read_tets(tetgen_reader* r, flx_text* t)
{
    flx_status status = FLX_OK;
    int64_t    count, nodes = 4, attributes, number;
    flx_word   word;
    FLX_TRY(flx__text_integer(t, "element count", 0, INT64_MAX, &count));
    if (flx__text_word_on_line(t, &word)) FLX_TRY(flx__word_integer(t, word, "nodes of an element", 4, 10, &nodes));
    if (nodes != 4 && nodes != 10)
        FLX_TRY(flx__text_fail(t, "%lld nodes an element; 4 or 10 are allowed", (long long)nodes));
    FLX_TRY(optional_integer(t, "attribute count", &attributes));
    FLX_TRY(flx__text_end_line(t, "the attribute count"));
    FLX_TRY(flx__text_check_count(t, count, 2 * (nodes + 1), "elements"));
    FLX_TRY(flx__draft_reserve_tets(r->d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        int32_t corner[10];
        FLX_TRY(flx__text_integer(t, "element number", 0, INT32_MAX, &number));
        FLX_TRY(check_number(t, number, r->base + i, "element"));
        t->item = number;
        FLX_TRY(read_corners(r, t, nodes, corner));
        FLX_TRY(flx__draft_tet(r->d, corner, number));
        if (attributes > 0) FLX_TRY(read_region(r, t));
        flx__text_skip_line(t);
        t->item = 0;
    }
    if (nodes == 10)
        flx__log(r->d->ctx, FLX_LOG_NOTICE, "%s: second-order tetrahedra: their four corners are used", t->path);
done:
    return status;
}

static flx_status read_faces(tetgen_reader* r, flx_text* t)
{
    flx_status status = FLX_OK;
    int64_t    count, markers, number;
    FLX_TRY(flx__text_integer(t, "face count", 0, INT64_MAX, &count));
    FLX_TRY(optional_integer(t, "marker count", &markers));
    FLX_TRY(flx__text_end_line(t, "the marker count"));
    FLX_TRY(flx__text_check_count(t, count, 8, "faces"));
    FLX_TRY(flx__draft_reserve_triangles(r->d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        int32_t corner[3];
        FLX_TRY(flx__text_integer(t, "face number", 0, INT32_MAX, &number));
        FLX_TRY(check_number(t, number, r->base + i, "face"));
        FLX_TRY(read_corners(r, t, 3, corner));
        FLX_TRY(flx__draft_triangle(r->d, corner, number));
        flx__text_skip_line(t);
    }
done:
    return status;
}

static flx_status read_part(tetgen_reader* r, const char* path, part_fn part)
{
    flx_status status = FLX_OK;
    char*      data   = NULL;
    int64_t    bytes  = 0;
    flx_text   t      = {0};
    flx_word   word;
    char       shown[FLX_WORD_ROOM];

    FLX_TRY(flx__file_read_all(r->d->ctx, path, &data, &bytes));
    FLX_TRY(flx__text_begin(&t, r->d->ctx, path, data, bytes));
    FLX_TRY(flx__text_refuse_nul(&t));
    t.comment = '#';
    FLX_TRY(part(r, &t));
    if (flx__text_word(&t, &word))
        FLX_TRY(flx__text_fail(&t, "'%s' after the last item; is the count too small?", flx__word_show(word, shown)));

done:
    flx__text_end(&t);
    flx__free(r->d->ctx, data);
    return status;
}

flx_status flx__read_tetgen(flx_draft* d, const char* path)
{
    flx_status    status = FLX_OK;
    tetgen_reader r      = {.d = d};
    const char*   dot    = strrchr(path, '.');
    const int     stem   = (int)((dot ? dot : path + strlen(path)) - path);
    char*         node   = flx__format(d->ctx, "%.*s.node", stem, path);
    char*         ele    = flx__format(d->ctx, "%.*s.ele", stem, path);
    char*         face   = flx__format(d->ctx, "%.*s.face", stem, path);

    if (!node || !ele || !face)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    FLX_TRY(read_part(&r, node, read_nodes));
    const bool surface = (dot && strcmp(dot, ".face") == 0) || (access(ele, F_OK) != 0 && access(face, F_OK) == 0);
    FLX_TRY(surface ? read_part(&r, face, read_faces) : read_part(&r, ele, read_tets));

done:
    flx__free(d->ctx, node);
    flx__free(d->ctx, ele);
    flx__free(d->ctx, face);
    return status;
}
