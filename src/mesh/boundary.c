// Boundary of a tet mesh: the faces that one tet alone has. A face that three or more tets share is not on the
// boundary; the doctor reports it.
#include "mesh/mesh_internal.h"
#include "mesh/tuple_table.h"

// Corners of the face opposite corner i, outward for positive volume.
static const int face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void face_of(const int32_t* tet, int face, int32_t corner[3])
{
    for (int k = 0; k < 3; ++k) corner[k] = tet[face_corner[face][k]];
}

flx_status flx__tet_boundary(flx_context* ctx, int32_t tet_count, const int32_t* tet, int32_t* triangle_count,
                             int32_t** triangle)
{
    flx_status      status = FLX_OK;
    flx_tuple_table faces; // sorted corners -> how many tets have it
    int64_t         count = 0;
    int32_t*        out   = NULL;

    *triangle       = NULL;
    *triangle_count = 0;
    flx__tuple_table_begin(&faces, ctx, 3);
    for (int64_t i = 0; i < 4 * (int64_t)tet_count; ++i)
    {
        int32_t  key[3];
        int32_t* uses = NULL;
        face_of(tet + 4 * (i / 4), (int)(i % 4), key);
        flx__tuple_sort(key, 3);
        FLX_TRY(flx__tuple_add(&faces, key, 0, &uses));
        *uses += 1;
        if (*uses == 1) ++count;
        if (*uses == 2) --count;
    }
    if (count > INT32_MAX)
        FLX_TRY(flx__fail(ctx, FLX_ERR_MESH, "%lld boundary triangles are too many", (long long)count));
    FLX_NEW(ctx, out, 3 * count);
    count = 0;
    for (int64_t i = 0; i < 4 * (int64_t)tet_count; ++i)
    {
        int32_t key[3];
        face_of(tet + 4 * (i / 4), (int)(i % 4), key);
        flx__tuple_sort(key, 3);
        if (flx__tuple_get(&faces, key) == 1) face_of(tet + 4 * (i / 4), (int)(i % 4), out + 3 * count++);
    }
    *triangle_count = (int32_t)count;
    *triangle       = out;
    out             = NULL;

done:
    flx__free(ctx, out);
    flx__tuple_table_end(&faces);
    return status;
}
