// Plain shapes as regions, and rigid poses.
#ifndef FLX_MESH_SHAPE_H
#define FLX_MESH_SHAPE_H

#include "base/base.h"
#include "flexor/scene.h"

/// Is p inside the shape? For regions: NONE never, ALL and AUTO always. FLX_SHAPE_MESH is not a region (returns false).
bool flx__shape_contains(const flx_shape* shape, const double p[3]);

/// x -> R x + t and back (R row major).
void flx__pose_apply(const double R[9], const double t[3], const double x[3], double out[3]);
void flx__pose_undo(const double R[9], const double t[3], const double x[3], double out[3]);
void flx__pose_rotate(const double R[9], const double v[3], double out[3]);

#endif
