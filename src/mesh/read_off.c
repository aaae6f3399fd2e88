// OFF (Geomview): the header word may carry the counts, colours and normals may follow the coordinates when the header
// says so (COFF, NOFF, STOFF), colours may follow the corners of any face.
#include "mesh/draft.h"

#include <string.h>

typedef struct off_reader
{
    flx_draft* d;
    flx_text   t;
    bool       more_per_vertex; // more than x, y, z: one vertex a line then
    int64_t    vertex_count, face_count;
    int32_t    corner[FLX_POLYGON_MAX];
} off_reader;

static flx_status read_header(off_reader* r)
{
    flx_status status = FLX_OK;
    flx_word   word;
    char       shown[FLX_WORD_ROOM];
    if (!flx__text_word(&r->t, &word)) FLX_TRY(flx__text_fail(&r->t, "nothing but comments"));
    int64_t i = 0; // [ST][C][N]OFF
    while (i < word.length && strchr("STCN", word.text[i])) ++i;
    if (word.length - i < 3 || memcmp(word.text + i, "OFF", 3) != 0)
        FLX_TRY(flx__text_fail(&r->t, "'%s' where OFF, COFF, NOFF or STOFF should be; 4OFF and nOFF are not read",
                               flx__word_show(word, shown)));
    r->more_per_vertex = i > 0;
    r->t.at            = word.text + i + 3; // "OFF8 6 12" happens

    flx_text ahead = r->t;
    if (flx__text_word_on_line(&ahead, &word) && flx__word_is(word, "BINARY"))
        FLX_TRY(flx__text_fail(&r->t, "binary OFF is not read; write it as text"));

    FLX_TRY(flx__text_integer(&r->t, "vertex count", 0, INT64_MAX, &r->vertex_count));
    FLX_TRY(flx__text_integer(&r->t, "face count", 0, INT64_MAX, &r->face_count));
    FLX_TRY(flx__text_check_count(&r->t, r->vertex_count, 6, "vertices"));
    FLX_TRY(flx__text_check_count(&r->t, r->face_count, 8, "faces"));
    flx__text_skip_line(&r->t); // the edge count, which nobody keeps right
done:
    return status;
}

static flx_status read_vertices(off_reader* r)
{
    flx_status status = FLX_OK;
    FLX_TRY(flx__draft_reserve_vertices(r->d, r->vertex_count));
    for (int64_t i = 0; i < r->vertex_count; ++i)
    {
        double p[3];
        r->t.item = i + 1;
        FLX_TRY(flx__text_real(&r->t, "x of vertex", p));
        FLX_TRY(flx__text_real(&r->t, "y of vertex", p + 1));
        FLX_TRY(flx__text_real(&r->t, "z of vertex", p + 2));
        FLX_TRY(flx__draft_vertex(r->d, p[0], p[1], p[2]));
        if (r->more_per_vertex) flx__text_skip_line(&r->t);
    }
done:
    return status;
}

static flx_status read_faces(off_reader* r)
{
    flx_status status = FLX_OK;
    for (int64_t i = 0; i < r->face_count; ++i)
    {
        int64_t count = 0;
        r->t.item     = i + 1;
        FLX_TRY(flx__text_integer(&r->t, "number of corners of face", 3, FLX_POLYGON_MAX, &count));
        for (int64_t k = 0; k < count; ++k)
        {
            int64_t index = 0;
            FLX_TRY(flx__text_integer(&r->t, "vertex index of face", 0, r->vertex_count - 1, &index));
            r->corner[k] = (int32_t)index;
        }
        FLX_TRY(flx__draft_polygon(r->d, count, r->corner, i + 1));
        flx__text_skip_line(&r->t); // a colour
    }
done:
    return status;
}

flx_status flx__read_off(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status  status = FLX_OK;
    off_reader* r      = NULL;
    flx_word    word;
    char        shown[FLX_WORD_ROOM];

    FLX_NEW_ZERO(d->ctx, r, 1); // too large for the stack of a small thread
    r->d = d;
    FLX_TRY(flx__text_begin(&r->t, d->ctx, d->path, data, bytes));
    FLX_TRY(flx__text_refuse_nul(&r->t));
    r->t.comment = '#';
    FLX_TRY(read_header(r));
    FLX_TRY(read_vertices(r));
    FLX_TRY(read_faces(r));
    if (flx__text_word(&r->t, &word))
        FLX_TRY(flx__text_fail(&r->t, "'%s' after the last of %lld faces", flx__word_show(word, shown),
                               (long long)r->face_count));

done:
    if (r) flx__text_end(&r->t);
    flx__free(d->ctx, r);
    return status;
}
