// Signs that rounding cannot change.
#ifndef FLX_MESH_PREDICATES_H
#define FLX_MESH_PREDICATES_H

/// Sign of det(b - a, c - a, d - a): +1 when d lies on the side that the normal (b - a) x (c - a) points to, -1 on the
/// other, 0 exactly when the four points lie in a plane. Right unless a product of three coordinates over- or
/// underflows (lengths from 1e-90 to 1e90 are safe).
int flx__orient(const double a[3], const double b[3], const double c[3], const double d[3]);

#endif
