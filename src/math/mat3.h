// 3-vectors and 3x3 matrices (row major) in double precision: setup, references and tests. The hot loops have their own
// wide versions in src/kernels.
#ifndef FLX_MATH_MAT3_H
#define FLX_MATH_MAT3_H

#include <math.h>
#include <stdbool.h>

static inline double flx__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void flx__cross3(const double a[3], const double b[3], double out[3])
{
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    out[0] = c[0], out[1] = c[1], out[2] = c[2];
}
static inline void flx__sub3(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; ++i) out[i] = a[i] - b[i];
}
static inline double flx__norm3(const double a[3])
{
    return sqrt(flx__dot3(a, a));
}
static inline double flx__distance3(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return flx__norm3(d);
}

static inline double flx__det3(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}
static inline void flx__mul3(const double a[9], const double b[9], double out[9]) // out = a b; may not alias
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}
static inline void flx__transpose3(const double a[9], double out[9]) // may not alias
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * i + j] = a[3 * j + i];
}
static inline void flx__apply3(const double a[9], const double v[3], double out[3]) // may not alias
{
    for (int i = 0; i < 3; ++i) out[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}
/// Cofactor matrix: det(m) m^-T. Defined for singular m too.
static inline void flx__cofactor3(const double m[9], double out[9])
{
    out[0] = m[4] * m[8] - m[5] * m[7], out[1] = m[5] * m[6] - m[3] * m[8], out[2] = m[3] * m[7] - m[4] * m[6];
    out[3] = m[2] * m[7] - m[1] * m[8], out[4] = m[0] * m[8] - m[2] * m[6], out[5] = m[1] * m[6] - m[0] * m[7];
    out[6] = m[1] * m[5] - m[2] * m[4], out[7] = m[2] * m[3] - m[0] * m[5], out[8] = m[0] * m[4] - m[1] * m[3];
}
/// False when m is singular to rounding; out is then untouched.
static inline bool flx__invert3(const double m[9], double out[9])
{
    const double det = flx__det3(m);
    if (!(fabs(det) > 1e-300)) return false;
    double c[9];
    flx__cofactor3(m, c);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * i + j] = c[3 * j + i] / det;
    return true;
}

#endif
