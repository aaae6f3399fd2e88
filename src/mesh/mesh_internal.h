// What the mesh room offers the rooms above it, beyond include/flexor/mesh.h.
#ifndef FLX_MESH_MESH_INTERNAL_H
#define FLX_MESH_MESH_INTERNAL_H

#include "base/base.h"
#include "flexor/mesh.h"

/// Keep only the named group's triangles and tets (vertices and numbering stay). FLX_ERR_MESH lists the groups there
/// are.
flx_status flx__mesh_keep_group(flx_context* ctx, flx_mesh* mesh, const char* group);

/// Boundary triangles of a tet mesh, outward, in order of tet and face. *triangle is the caller's to flx__free().
flx_status flx__tet_boundary(flx_context* ctx, int32_t tet_count, const int32_t* tet, int32_t* triangle_count,
                             int32_t** triangle);

/// Component label of each vertex through the given elements of `corners` vertices each; unreferenced ones get -1.
/// out label [vertex_count]; returns the number of components in *count.
flx_status flx__mesh_components(flx_context* ctx, int32_t vertex_count, int64_t element_count, int32_t corners,
                                const int32_t* element, int32_t* label, int32_t* count);

/// Pairs of triangles of one surface that cross (exact orientation predicates; pairs that share a vertex count only
/// when they cross elsewhere too, coplanar touching does not count). Parallel, deterministic. out pairs [capacity][2]
/// the first of them, may be NULL.
flx_status flx__surface_crossings(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                  const int32_t* triangle, int64_t* crossing_count, int32_t* pairs, int64_t capacity);

#endif
