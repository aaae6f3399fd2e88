// STL, binary and ASCII. The size decides which, not the word "solid", which binary files begin with too. There are no
// shared vertices in the format: three a facet are read, and the mesh is welded by exact bits afterwards.
#include "mesh/draft.h"

#include <math.h>
#include <string.h>

#define HEADER_BYTES 84
#define FACET_BYTES 50

static uint32_t read_u32(const unsigned char* b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float read_f32(const unsigned char* b)
{
    const uint32_t bits = read_u32(b);
    float          f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

bool flx__looks_like_binary_stl(const char* data, int64_t bytes)
{
    if (bytes < HEADER_BYTES) return false;
    return HEADER_BYTES + FACET_BYTES * (int64_t)read_u32((const unsigned char*)data + 80) == bytes;
}

// --- binary ---------------------------------------------------------------------------------------

static flx_status read_binary(flx_draft* d, flx_text* t)
{
    flx_status           status = FLX_OK;
    const unsigned char* b      = (const unsigned char*)t->begin;
    const int64_t        count  = read_u32(b + 80);

    FLX_TRY(flx__draft_reserve_vertices(d, 3 * count));
    FLX_TRY(flx__draft_reserve_triangles(d, count));
    for (int64_t i = 0; i < count; ++i)
    {
        const unsigned char* facet     = b + HEADER_BYTES + FACET_BYTES * i;
        const int32_t        v         = (int32_t)d->vertex_count;
        const int32_t        corner[3] = {v, v + 1, v + 2};
        for (int k = 0; k < 3; ++k)
        {
            const unsigned char* p = facet + 12 + 12 * k; // after the normal, which nobody needs
            const float          x = read_f32(p);
            const float          y = read_f32(p + 4);
            const float          z = read_f32(p + 8);
            if (!isfinite(x) || !isfinite(y) || !isfinite(z))
            {
                t->at = (const char*)p;
                FLX_TRY(flx__text_fail_at_byte(t, "vertex %d of facet %lld is not finite", k + 1, (long long)i + 1));
            }
            FLX_TRY(flx__draft_vertex(d, (double)x, (double)y, (double)z));
        }
        FLX_TRY(flx__draft_triangle(d, corner, i + 1));
    }
done:
    return status;
}

// --- ASCII ----------------------------------------------------------------------------------------

static flx_status expect(flx_text* t, const char* wanted)
{
    flx_word word;
    char     shown[FLX_WORD_ROOM];
    if (!flx__text_word(t, &word)) return flx__text_fail(t, "the file ends where '%s' should be", wanted);
    if (flx__word_is_nocase(word, wanted)) return FLX_OK;
    return flx__text_fail(t, "'%s' where '%s' should be", flx__word_show(word, shown), wanted);
}

// facet normal x y z / outer loop / vertex x y z (three) / endloop / endfacet; "facet" was read.
static flx_status read_facet(flx_draft* d, flx_text* t)
{
    flx_status    status    = FLX_OK;
    const int32_t v         = (int32_t)d->vertex_count;
    const int32_t corner[3] = {v, v + 1, v + 2};
    flx_word      normal;
    FLX_TRY(expect(t, "normal"));
    for (int k = 0; k < 3; ++k) (void)flx__text_word(t, &normal); // some writers put nan there; it is not used
    FLX_TRY(expect(t, "outer"));
    FLX_TRY(expect(t, "loop"));
    for (int k = 0; k < 3; ++k)
    {
        double p[3];
        FLX_TRY(expect(t, "vertex"));
        FLX_TRY(flx__text_real(t, "x of vertex", p));
        FLX_TRY(flx__text_real(t, "y of vertex", p + 1));
        FLX_TRY(flx__text_real(t, "z of vertex", p + 2));
        FLX_TRY(flx__draft_vertex(d, p[0], p[1], p[2]));
    }
    FLX_TRY(expect(t, "endloop"));
    FLX_TRY(expect(t, "endfacet"));
    FLX_TRY(flx__draft_triangle(d, corner, d->triangle_count + 1));
done:
    return status;
}

static flx_status read_ascii(flx_draft* d, flx_text* t)
{
    flx_status status = FLX_OK;
    int32_t    group  = -1;
    bool       inside = false;
    flx_word   word;
    char       shown[FLX_WORD_ROOM];

    FLX_TRY(flx__text_refuse_nul(t));
    while (flx__text_word(t, &word))
    {
        if (!inside && flx__word_is_nocase(word, "solid"))
        {
            const flx_word name = flx__text_rest_of_line(t);
            inside              = true;
            group               = -1;
            if (name.length > 0) FLX_TRY(flx__draft_group_named(d, 0, name.text, name.length, &group));
        }
        else if (inside && flx__word_is_nocase(word, "facet"))
        {
            FLX_TRY(read_facet(d, t));
            if (group >= 0) FLX_TRY(flx__draft_join_triangles(d, group, d->triangle_count - 1, 1));
        }
        else if (inside && flx__word_is_nocase(word, "endsolid"))
        {
            inside = false;
            flx__text_skip_line(t);
        }
        else
            FLX_TRY(flx__text_fail(t, "'%s' where %s should be", flx__word_show(word, shown),
                                   inside ? "'facet' or 'endsolid'" : "'solid'"));
    }
    if (inside) FLX_TRY(flx__text_fail(t, "the file ends before 'endsolid'"));
done:
    return status;
}

// Text begins with "solid" and has no NUL bytes; binary facets always have some.
static bool begins_like_ascii(flx_text t)
{
    flx_word word;
    if (!flx__text_word(&t, &word) || !flx__word_is_nocase(word, "solid")) return false;
    return memchr(t.begin, '\0', (size_t)(t.end - t.begin)) == NULL;
}

flx_status flx__read_stl(flx_draft* d, const char* data, int64_t bytes)
{
    flx_status status = FLX_OK;
    flx_text   t;

    d->always_weld = true;
    FLX_TRY(flx__text_begin(&t, d->ctx, d->path, data, bytes));
    if (flx__looks_like_binary_stl(data, bytes))
        status = read_binary(d, &t);
    else if (begins_like_ascii(t))
        status = read_ascii(d, &t);
    else if (bytes < HEADER_BYTES)
        status = flx__text_fail_at_byte(&t,
                                        "neither ASCII STL (it does not begin with 'solid') nor binary STL (shorter "
                                        "than its header of %d bytes)",
                                        HEADER_BYTES);
    else
    {
        const int64_t count = read_u32((const unsigned char*)data + 80);
        t.at                = t.begin + 80;
        status =
            flx__text_fail_at_byte(&t, "%lld facets are announced, which takes %lld bytes; the file has %lld",
                                   (long long)count, (long long)(HEADER_BYTES + FACET_BYTES * count), (long long)bytes);
    }
done:
    flx__text_end(&t);
    return status;
}
