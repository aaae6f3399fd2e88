// The deformed surface around the places where self contact looks: positions, smooth normals, and the nearest point by
// a walk over neighbouring triangles.
#ifndef FLX_CONTACT_SKIN_H
#define FLX_CONTACT_SKIN_H

#include "base/base.h"
#include "mesh/embedding.h"

typedef struct flx_skin
{
    flx_context*        ctx;
    int32_t             vertex_count, triangle_count;
    int32_t*            vertex;     // [vertex_count] number in the caller's surface
    int32_t*            triangle;   // [triangle_count][3] into `vertex`
    int32_t*            neighbour;  // [triangle_count][3] triangle across the edge opposite each corner, -1 = none
    int32_t*            of_surface; // [all triangles] number here, -1 = not kept
    int32_t *           incident_first, *incident; // [vertex_count + 1] corners (3 triangle + k) that are each vertex
    const flx_embedded* surface;                   // the caller's
    const int32_t*      tet;                       // the caller's
    double*             x;                         // [vertex_count][3] m, now
    double*             area_normal;               // [triangle_count][3] m^2, now: twice the area times the normal
    double*             normal; // [vertex_count][3] unit (0 where the surface is crumpled to nothing), now
} flx_skin;

/// A point of the skin: a triangle (of this skin) and weights.
typedef struct flx_skin_point
{
    int32_t triangle;
    double  weight[3];
    double  point[3];  // m
    double  normal[3]; // unit, interpolated; 0 when there is none
    double  distance;  // m
} flx_skin_point;

/// Keep the triangles of `surface_triangle` [triangle_total][3] all of whose corners have their tet marked in `near`
/// [tet_count]. The surface arrays must outlive the skin.
flx_status flx__skin_create(flx_context* ctx, int32_t triangle_total, const int32_t* surface_triangle,
                            const flx_embedded* surface, const int32_t* tet, const uint8_t* near, flx_skin** out);
void       flx__skin_destroy(flx_skin* skin);

/// Positions and normals at x. No heap; parallel, same bits for any number of workers.
void flx__skin_update(flx_skin* skin, const double* x);

/// Nearest point to p reached by descent from `triangle` (of this skin): a local minimum of the distance, continuous in
/// p as long as it stays on the same sheet. No heap.
void flx__skin_nearest(const flx_skin* skin, int32_t triangle, const double p[3], flx_skin_point* out);

#endif
