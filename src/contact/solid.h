// Shapes made ready for distance queries: analytic ones as they are, meshes with a distance field. Rest frame only;
// poses are the caller's (flx__pose_* in mesh/shape.h).
#ifndef FLX_CONTACT_SOLID_H
#define FLX_CONTACT_SOLID_H

#include "base/base.h"
#include "contact/distance_field.h"
#include "flexor/scene.h"
#include "mesh/shape.h"

typedef struct flx_solid flx_solid;

/// Reads and checks the mesh if the shape is one (closed, oriented), builds its distance field.
/// FLX_ERR_IO, FLX_ERR_FORMAT, FLX_ERR_MESH (open, no inside), FLX_ERR_SETTING (radius <= 0, empty box, zero normal).
flx_status flx__solid_create(flx_context* ctx, const flx_shape* shape, flx_solid** out);
void       flx__solid_destroy(flx_solid* solid);
/// Signed distance (m, negative inside) and its gradient (outward, unit length up to interpolation; never NaN, also at
/// a sphere's centre). `gradient` may be NULL. Thread-safe, no heap.
double flx__solid_distance(const flx_solid* solid, const double p[3], double gradient[3]);
double flx__solid_area(const flx_solid* solid); // m^2; infinite for a plane
/// `count` points spread evenly over the surface (deterministic, blue-noise-like: even spacing, no clumps); out
/// [count][3].
flx_status flx__solid_sample(flx_context* ctx, const flx_solid* solid, int32_t count, double* out);
/// A triangle surface for pictures and exports (analytic shapes are tessellated; a plane gives a square of `size` m).
flx_status flx__solid_surface(flx_context* ctx, const flx_solid* solid, double size, int32_t* vertex_count, double** x,
                              int32_t* triangle_count, int32_t** triangle);

/// Points spread evenly over a triangle surface; also says on which triangle and with which weights. [count] outputs;
/// triangle and weight may be NULL.
flx_status flx__surface_sample(flx_context* ctx, const double* x, int32_t triangle_count, const int32_t* triangle,
                               int32_t count, double* point, int32_t* on_triangle, double* weight);

#endif
