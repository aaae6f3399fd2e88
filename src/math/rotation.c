// Nearest rotation by the quaternion eigenproblem.
//
//   max tr(R^T F) = max q^T N q over unit quaternions q, N the symmetric traceless 4x4 matrix of F.
//
// The largest eigenvector of N is the answer whatever the sign of det F and whatever its rank: no squaring of F, no
// case distinctions. N is diagonalised by cyclic Jacobi, which is backward stable.
// Stretches by one-sided Jacobi: columns of F are turned until they are perpendicular, so small singular values keep
// their digits.
// Based on [Horn87], [Hestenes58].
#include "math/rotation.h"

#include "math/mat3.h"

#include <stdbool.h>
#include <string.h>

#define STRETCH_SWEEPS 12
#define PERPENDICULAR 1e-30 // squared cosine

/// Cyclic Jacobi for a symmetric matrix. a is destroyed; v gets eigenvectors as columns.
static void jacobi(double a[4][4], double v[4][4])
{
    const int n = 4;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) v[i][j] = i == j;
    for (int sweep = 0; sweep < 30; ++sweep)
    {
        double off = 0, all = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
            {
                all += a[i][j] * a[i][j];
                if (i != j) off += a[i][j] * a[i][j];
            }
        if (!(off > 1e-34 * all)) return; // NaN leaves here too
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q)
            {
                if (a[p][q] == 0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t     = (theta < 0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; ++k)
                {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k)
                {
                    const double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k)
                {
                    const double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
                }
            }
    }
}

static double largest_entry(const double F[9])
{
    double m = 0;
    for (int i = 0; i < 9; ++i)
    {
        if (!isfinite(F[i])) return -1;
        if (fabs(F[i]) > m) m = fabs(F[i]);
    }
    return m;
}

void flx__nearest_rotation(const double F[9], double R[9])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double        scale       = largest_entry(F);
    if (!(scale > 0))
    {
        memcpy(R, identity, sizeof identity);
        return;
    }
    double m[9];
    for (int i = 0; i < 9; ++i) m[i] = F[i] / scale;

    double a[4][4] = {{m[0] + m[4] + m[8], m[7] - m[5], m[2] - m[6], m[3] - m[1]},
                      {m[7] - m[5], m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]},
                      {m[2] - m[6], m[1] + m[3], m[4] - m[0] - m[8], m[5] + m[7]},
                      {m[3] - m[1], m[2] + m[6], m[5] + m[7], m[8] - m[0] - m[4]}};
    double v[4][4];
    jacobi(a, v);
    int best = 0;
    for (int i = 1; i < 4; ++i)
        if (a[i][i] > a[best][best]) best = i;

    double       w = v[0][best], x = v[1][best], y = v[2][best], z = v[3][best];
    const double norm = sqrt(w * w + x * x + y * y + z * z);
    w /= norm, x /= norm, y /= norm, z /= norm;
    R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

/// Rotate columns p and q of B and of V so that those of B become perpendicular. False when they are already.
static bool make_perpendicular(double B[3][3], double V[3][3], int p, int q)
{
    const double pp = flx__dot3(B[p], B[p]), qq = flx__dot3(B[q], B[q]), pq = flx__dot3(B[p], B[q]);
    if (!(pq * pq > PERPENDICULAR * pp * qq)) return false; // NaN stops here too
    const double zeta = (qq - pp) / (2 * pq);
    const double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta)), c = 1 / sqrt(1 + t * t), s = c * t;
    for (int i = 0; i < 3; ++i)
    {
        const double bp = B[p][i], bq = B[q][i], vp = V[p][i], vq = V[q][i];
        B[p][i] = c * bp - s * bq, B[q][i] = s * bp + c * bq;
        V[p][i] = c * vp - s * vq, V[q][i] = s * vp + c * vq;
    }
    return true;
}

/// Some unit vector perpendicular to the unit vector a.
static void perpendicular_to(const double a[3], double out[3])
{
    const int least = fabs(a[0]) < fabs(a[1]) ? (fabs(a[0]) < fabs(a[2]) ? 0 : 2) : (fabs(a[1]) < fabs(a[2]) ? 1 : 2);
    const double axis[3] = {least == 0, least == 1, least == 2};
    flx__cross3(a, axis, out);
    const double size = flx__norm3(out);
    for (int i = 0; i < 3; ++i) out[i] /= size;
}

void flx__stretches(const double F[9], double sigma[3], double U[3][3], double V[3][3])
{
    double B[3][3]; // columns of F V
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) B[k][i] = F[3 * i + k], V[k][i] = i == k;
    bool turned = true;
    for (int sweep = 0; turned && sweep < STRETCH_SWEEPS; ++sweep)
    {
        const bool x = make_perpendicular(B, V, 0, 1), y = make_perpendicular(B, V, 0, 2);
        turned = make_perpendicular(B, V, 1, 2) || x || y;
    }
    int order[3] = {0, 1, 2}; // longest column first
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (flx__dot3(B[order[j]], B[order[j]]) < flx__dot3(B[order[j + 1]], B[order[j + 1]]))
            {
                const int t  = order[j];
                order[j]     = order[j + 1];
                order[j + 1] = t;
            }
    // The two longest columns give their own directions; the third is what is left, and signed: u = +-(u x u), the sign
    // such that U V^T is a rotation.
    const int    a = order[0], b = order[1], c = order[2];
    double       turn[3];
    const double longest = flx__norm3(B[a]), second = flx__norm3(B[b]);
    for (int i = 0; i < 3; ++i) U[a][i] = longest > 0 ? B[a][i] / longest : V[a][i];
    for (int i = 0; i < 3; ++i) U[b][i] = second > 0 ? B[b][i] / second : 0;
    if (!(second > 1e-150 * longest)) perpendicular_to(U[a], U[b]);
    flx__cross3(V[a], V[b], turn);
    const double sign = flx__dot3(turn, V[c]) < 0 ? -1 : 1;
    flx__cross3(U[a], U[b], U[c]);
    for (int i = 0; i < 3; ++i) U[c][i] *= sign;
    sigma[a] = longest, sigma[b] = second, sigma[c] = flx__dot3(U[c], B[c]);
}

void flx__singular_values3(const double F[9], double sigma[3])
{
    double U[3][3], V[3][3];
    flx__stretches(F, sigma, U, V);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (sigma[j] < sigma[j + 1])
            {
                const double t = sigma[j];
                sigma[j]       = sigma[j + 1];
                sigma[j + 1]   = t;
            }
}

void flx__stretch_cubic(const double F[9], double* mean, double* spread, double* angle)
{
    double c[6] = {0}; // xx yy zz xy xz yz
    for (int i = 0; i < 3; ++i)
    {
        const double* r = F + 3 * i;
        c[0] += r[0] * r[0], c[1] += r[1] * r[1], c[2] += r[2] * r[2];
        c[3] += r[0] * r[1], c[4] += r[0] * r[2], c[5] += r[1] * r[2];
    }
    const double m = (c[0] + c[1] + c[2]) / 3, x = c[0] - m, y = c[1] - m, z = c[2] - m;
    const double p = sqrt((x * x + y * y + z * z + 2 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5])) / 6);
    *mean          = m;
    *spread = *angle = 0;
    if (!(p > 1e-12 * m)) return; // all equal, or not finite
    const double det = x * (y * z - c[5] * c[5]) - c[3] * (c[3] * z - c[5] * c[4]) + c[4] * (c[3] * c[5] - y * c[4]);
    *spread          = p;
    *angle           = acos(fmin(fmax(det / (2 * p * p * p), -1), 1));
}

double flx__least_stretch(const double F[9])
{
    double mean, spread, angle;
    if (!(flx__det3(F) > 0)) return -1;
    flx__stretch_cubic(F, &mean, &spread, &angle);
    return sqrt(fmax(mean + 2 * spread * cos((angle + 6.283185307179586) / 3), 0));
}

void flx__axis_rotation(const double axis[3], double angle, double R[9])
{
    const double c = cos(angle), s = sin(angle), d = 1 - c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) R[3 * i + j] = d * axis[i] * axis[j] + (i == j ? c : 0);
    R[1] -= s * axis[2], R[2] += s * axis[1];
    R[3] += s * axis[2], R[5] -= s * axis[0];
    R[6] -= s * axis[1], R[7] += s * axis[0];
}
