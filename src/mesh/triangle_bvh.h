// Closest point, winding number and box queries on a triangle surface.
#ifndef FLX_MESH_TRIANGLE_BVH_H
#define FLX_MESH_TRIANGLE_BVH_H

#include "base/base.h"

typedef struct flx_triangle_bvh flx_triangle_bvh;

typedef struct flx_closest
{
    double  distance; // m, unsigned
    double  point[3]; // m
    int32_t triangle;
    double  weight[3]; // barycentric, of the triangle's corners
} flx_closest;

/// Copies what it needs of x [vertex_count][3] and triangle [triangle_count][3].
flx_status flx__triangle_bvh_create(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                    const int32_t* triangle, flx_triangle_bvh** out);
void       flx__triangle_bvh_destroy(flx_triangle_bvh* bvh);
int32_t    flx__triangle_bvh_count(const flx_triangle_bvh* bvh); // triangles it was made from
/// False when nothing lies within max_distance. Ties go to the lower triangle index. Thread-safe, no heap.
bool flx__triangle_bvh_closest(const flx_triangle_bvh* bvh, const double p[3], double max_distance, flx_closest* out);
/// Generalized winding number: 1 inside a closed outward surface, 0 outside. [Jacobson13], far field [Barill18].
double flx__triangle_bvh_winding(const flx_triangle_bvh* bvh, const double p[3]);
/// Triangles whose boxes meet the given box, ascending; returns how many there are, writes at most `capacity`.
int32_t flx__triangle_bvh_in_box(const flx_triangle_bvh* bvh, const double box_min[3], const double box_max[3],
                                 int32_t* out, int32_t capacity);

/// Which way a surface is to be read so that "inside" makes sense: +1 as given, -1 turned inside out.
/// Handles doubled and partly flipped surfaces; FLX_ERR_MESH with the reason (open by how much, flat) when no solid can
/// be told from it. `path` is for the message.
flx_status flx__surface_orientation(flx_context* ctx, const flx_triangle_bvh* bvh, const char* path, double* sign,
                                    double* inside_threshold);

#endif
