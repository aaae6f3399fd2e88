// Vertices at the same place made one.
#ifndef FLX_MESH_WELD_H
#define FLX_MESH_WELD_H

#include "base/base.h"
#include "flexor/mesh.h"

/// For each vertex the first one at exactly its place (0.0 and -0.0 are the same place). out first [vertex_count].
flx_status flx__first_at_place(flx_context* ctx, int32_t vertex_count, const double* x, int32_t* first);

/// Merge vertices at exactly the same place, or with tolerance > 0 within that distance (m) of the first of them that
/// is kept. The order of the kept ones stays. Triangles that lose a corner are dropped with a notice.
flx_status flx__mesh_weld(flx_context* ctx, flx_mesh* mesh, double tolerance);

/// Keep the marked elements (NULL: all of that kind), in place; groups follow.
flx_status flx__mesh_filter(flx_context* ctx, flx_mesh* mesh, const bool* keep_triangle, const bool* keep_tet);

#endif
