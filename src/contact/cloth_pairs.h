// Points near triangles, edges near edges, and whether they pass through each other on the way.
#ifndef FLX_CONTACT_CLOTH_PAIRS_H
#define FLX_CONTACT_CLOTH_PAIRS_H

#include "base/base.h"

/// Point of triangle c nearest to p: weights, exactly 0 for corners that it does not lie between; its distance.
double flx__triangle_nearest(const double p[3], const double* const c[3], double weight[3]);

/// Lines ab and cd are nearest at a + s (b - a) and c + t (d - c). False unless both lie between the ends, and for
/// lines that are parallel to rounding.
bool flx__edges_nearest(const double* a, const double* b, const double* c, const double* d, double* s, double* t);

/// Distance of two edges, ends included.
double flx__edges_distance(const double* a, const double* b, const double* c, const double* d);

/// Times in (0, 1] at which four points on straight ways come to lie in one plane and go on to the other side of it;
/// at most three, ascending. from, to [4].
int flx__coplanar_times(const double* const from[4], const double* const to[4], double time[3]);

#endif
