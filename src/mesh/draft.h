// A mesh while it is being read: growing arrays, groups by name, and the notices a reader gathers. One reader a file
// format; each appends to a draft, which flx__draft_finish() turns into an flx_mesh.
#ifndef FLX_MESH_DRAFT_H
#define FLX_MESH_DRAFT_H

#include "flexor/mesh.h"
#include "mesh/polygon.h"
#include "mesh/text_reader.h"
#include "mesh/tuple_table.h"

typedef struct flx_draft_group
{
    char*    name;
    int32_t  kind;       // groups of a smaller kind come first in the mesh: OBJ g, then o, then usemtl
    bool     keep_empty; // name it although nothing belongs to it
    int64_t  triangle_count, triangle_capacity;
    int64_t  tet_count, tet_capacity;
    int32_t* triangle;
    int32_t* tet;
} flx_draft_group;

typedef struct flx_draft
{
    flx_context* ctx;
    const char*  path;

    int64_t  vertex_count, vertex_capacity; // capacity in doubles
    double*  x;
    int64_t  triangle_count, triangle_capacity, triangle_number_capacity;
    int32_t* triangle;
    int64_t* triangle_number;
    int64_t  tet_count, tet_capacity, tet_number_capacity;
    int32_t* tet;
    int64_t* tet_number;

    int64_t          group_count, group_capacity;
    flx_draft_group* group;
    int64_t          name_slot_count; // hash of (kind, name) -> group + 1; a power of two or 0
    int32_t*         name_slot;

    flx_polygon_scratch polygon;
    flx_polygon_notes   notes;
    bool                always_weld; // STL
} flx_draft;

void flx__draft_begin(flx_draft* d, flx_context* ctx, const char* path);
void flx__draft_end(flx_draft* d);

/// Make room for as many more; the caller has checked the count against the file.
flx_status flx__draft_reserve_vertices(flx_draft* d, int64_t more);
flx_status flx__draft_reserve_triangles(flx_draft* d, int64_t more);
flx_status flx__draft_reserve_tets(flx_draft* d, int64_t more);

flx_status flx__draft_vertex(flx_draft* d, double x, double y, double z);
/// Corners must be valid by the time of flx__draft_finish(). `number` as the file counts.
flx_status flx__draft_triangle(flx_draft* d, const int32_t corner[3], int64_t number);
flx_status flx__draft_tet(flx_draft* d, const int32_t corner[4], int64_t number);
/// Split into triangles; every corner's vertex must be there already. 3 <= corner_count <= FLX_POLYGON_MAX.
flx_status flx__draft_polygon(flx_draft* d, int64_t corner_count, const int32_t* corner, int64_t number);

/// Find or make the group of this kind and name.
flx_status flx__draft_group_named(flx_draft* d, int32_t kind, const char* name, int64_t length, int32_t* group);
/// Triangles or tets [first, first + count) belong to the group; called in ascending order.
flx_status flx__draft_join_triangles(flx_draft* d, int32_t group, int64_t first, int64_t count);
flx_status flx__draft_join_tets(flx_draft* d, int32_t group, int64_t first, int64_t count);

/// Hand everything over to a new mesh and log the notices. The draft is empty afterwards.
flx_status flx__draft_finish(flx_draft* d, flx_mesh** out);

// --- the readers: data [bytes + 1] ends with a NUL ------------------------------------------------------

flx_status flx__read_obj(flx_draft* d, const char* data, int64_t bytes);
flx_status flx__read_ply(flx_draft* d, const char* data, int64_t bytes);
flx_status flx__read_stl(flx_draft* d, const char* data, int64_t bytes);
flx_status flx__read_off(flx_draft* d, const char* data, int64_t bytes);
flx_status flx__read_gmsh(flx_draft* d, const char* data, int64_t bytes);
flx_status flx__read_medit(flx_draft* d, const char* data, int64_t bytes);
/// Opens its own files: `path` is the .node, .ele or .face of the set.
flx_status flx__read_tetgen(flx_draft* d, const char* path);

bool flx__looks_like_binary_stl(const char* data, int64_t bytes); ///< 84 + 50 n bytes, n from the header

#endif
