// Nearest rotation and singular values of a 3x3 matrix, double precision and as robust as can be: the reference that
// the wide kernels fall back on and are tested against.
#ifndef FLX_MATH_ROTATION_H
#define FLX_MATH_ROTATION_H

/// R = argmin |F - R| over rotations (det R = +1, also when det F < 0). Any maximiser of tr(R^T F) when it is not
/// unique (rank 1 and 0, equal singular values with det F < 0); the identity for a matrix that is zero or not finite.
void flx__nearest_rotation(const double F[9], double R[9]);

/// Singular values, sigma[0] >= sigma[1] >= |sigma[2]|, the last one signed like det F.
void flx__singular_values3(const double F[9], double sigma[3]);

/// Signed singular values with their directions, in no order: F V[k] = sigma[k] U[k], rows of unit length. One of them
/// is negative when det F < 0.
void flx__stretches(const double F[9], double sigma[3], double U[3][3], double V[3][3]);

/// The eigenvalues of F^T F in closed form [Smith61]: mean + 2 spread cos((angle + 2 pi k) / 3), the largest for k = 0,
/// the smallest for k = 1. Their roots, the unsigned singular values, lose half the digits of the small ones.
void flx__stretch_cubic(const double F[9], double* mean, double* spread, double* angle);

/// The smallest singular value by that; negative when det F <= 0. To sort out, not to compute with.
double flx__least_stretch(const double F[9]);

/// Rotation by an angle (radians) about a unit axis [Rodrigues].
void flx__axis_rotation(const double axis[3], double angle, double R[9]);

#endif
