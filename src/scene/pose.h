// Rigid placements of scene things.
#ifndef FLX_SCENE_POSE_H
#define FLX_SCENE_POSE_H

#include "base/base.h"

/// Where `rotate` and `translate` of a body put a point: about x, then y, then z (degrees), then moved (m).
void flx__place_point(const double rotate_deg[3], const double translate[3], const double x[3], double out[3]);

#endif
