// Signed distance field of a closed surface on a regular grid: exact in a narrow band, sign by generalized winding
// number, value and gradient continuous across cells.
#ifndef FLX_CONTACT_DISTANCE_FIELD_H
#define FLX_CONTACT_DISTANCE_FIELD_H

#include "base/base.h"
#include "mesh/triangle_bvh.h"

typedef struct flx_distance_field flx_distance_field;

/// Grid over [box_min, box_max] grown by `band`; nodes nearer than `band` to the surface hold the exact distance,
/// others at least +-band with the right sign (far values by sweeping, monotone). `path` is for messages. FLX_ERR_MESH
/// when the surface has no inside; FLX_ERR_SETTING when the grid would exceed 2^31 nodes.
flx_status flx__distance_field_create(flx_context* ctx, const char* path, const flx_triangle_bvh* bvh,
                                      const double box_min[3], const double box_max[3], double cell, double band,
                                      flx_distance_field** out);
void       flx__distance_field_destroy(flx_distance_field* field);
/// Distance (m, negative inside) and gradient (may be NULL). Outside the grid: distance to the grid box added.
double flx__distance_field_sample(const flx_distance_field* field, const double p[3], double gradient[3]);

#endif
