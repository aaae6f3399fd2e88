// Tetrahedral volume: keeps the volume of a tetrahedron, as a share of its rest volume, within limits.
//
//   S q = F^T,   F = U diag(sigma) V^T,   p = V diag(s) U^T,   w_j = weight x volume
//   s nearest to sigma with s0 s1 s2 = d, the limit that det F is beyond: s_i (s_i - sigma_i) = mu for all i
//
// Too small (mu > 0): s_i = (sigma_i + sqrt(sigma_i^2 + 4 mu))/2, the only positive root, also for sigma_i <= 0. Their
// product rises with mu, its logarithm is concave: one answer, which Newton's method approaches from below.
// Too large (mu < 0): the two larger s_i are again the upper roots, the least one, t, may be the lower: with
// mu = t (t - sigma_2) the product is a function of t on (0, sigma_2]. Below half of sigma_2 it is at most half of
// det F, so beyond that the answer is unique; otherwise there may be several, and the nearest is taken.
// [Bouaziz14] section 5. Differs: solved to rounding, and for the nearest of several solutions.
#include "constraints/constraints_internal.h"

#include <math.h>
#include <string.h>

#define MOST_STRETCH 1e100 // what is beyond counts as this, so that cubes do not overflow
#define ROUNDS 100
#define CUTS 32 // the product has at most two peaks, wide beside sigma_2/32 where they compete

static double upper_root(double sigma, double mu)
{
    const double root = sqrt(fmax(sigma * sigma + 4 * mu, 0));
    return sigma >= 0 ? (sigma + root) / 2 : 2 * mu / (root - sigma);
}

/// sigma to the nearest with product d > sigma0 sigma1 sigma2.
static void grow(double sigma[3], double d)
{
    const double c     = cbrt(d);
    const double least = fmin(sigma[0], fmin(sigma[1], sigma[2]));
    double       mu    = c * (c - least), s[3]; // here all s_i >= c
    for (int round = 0; round < ROUNDS; ++round)
    {
        double value = -log(d), slope = 0;
        for (int i = 0; i < 3; ++i)
        {
            s[i] = upper_root(sigma[i], mu);
            value += log(s[i]);
            slope += 1 / (s[i] * (2 * s[i] - sigma[i]));
        }
        const double next = mu - value / slope;
        if (!(fabs(next - mu) > 1e-15 * mu)) break;
        mu = next > 0 ? next : mu / 16;
    }
    for (int i = 0; i < 3; ++i) sigma[i] = upper_root(sigma[i], mu);
}

typedef struct shrinking
{
    double least, other[2]; // sigma
    double d;
} shrinking;

/// s0 s1 s2 - d with t in the place of the least; the other two in s.
static double excess(const shrinking* g, double t, double s[2], double* slope)
{
    const double mu = t * (t - g->least);
    for (int i = 0; i < 2; ++i) s[i] = upper_root(g->other[i], mu);
    const double product = t * s[0] * s[1];
    *slope               = s[0] * s[1];
    for (int i = 0; i < 2; ++i) *slope += product * (2 * t - g->least) / (s[i] * (2 * s[i] - g->other[i]));
    return product - g->d;
}

/// The root in [low, high], where excess() rises from below zero to above.
static double root_between(const shrinking* g, double low, double high)
{
    double t = (low + high) / 2, s[2], slope;
    for (int round = 0; round < ROUNDS && high - low > 1e-16 * high; ++round)
    {
        const double value = excess(g, t, s, &slope);
        if (value == 0) break;
        if (value < 0)
            low = t;
        else
            high = t;
        const double next = t - value / slope;
        const bool   good = next > low && next < high; // NaN is not
        if (good && fabs(next - t) <= 1e-16 * t) return next;
        t = good ? next : (low + high) / 2;
    }
    return t;
}

/// sigma, all positive, to the nearest with product d < sigma0 sigma1 sigma2.
static void shrink(double sigma[3], double d)
{
    const int       k        = sigma[0] < sigma[1] ? (sigma[0] < sigma[2] ? 0 : 2) : (sigma[1] < sigma[2] ? 1 : 2);
    const int       other[2] = {(k + 1) % 3, (k + 2) % 3};
    const shrinking g        = {.least = sigma[k], .other = {sigma[other[0]], sigma[other[1]]}, .d = d};
    const int       from     = d > sigma[0] * sigma[1] * sigma[2] / 2 ? CUTS / 2 : 0;
    double          best = INFINITY, answer[3] = {sigma[0], sigma[1], sigma[2]}, s[2], slope;
    double          before = from == 0 ? -d : excess(&g, g.least * from / CUTS, s, &slope);
    for (int i = from + 1; i <= CUTS; ++i)
    {
        const double now = i == CUTS ? 1 : excess(&g, g.least * i / CUTS, s, &slope);
        if (before <= 0 && now > 0)
        {
            const double t = root_between(&g, g.least * (i - 1) / CUTS, g.least * i / CUTS);
            (void)excess(&g, t, s, &slope);
            const double a = g.least - t, b = g.other[0] - s[0], c = g.other[1] - s[1];
            const double distance = a * a + b * b + c * c;
            if (distance < best) best = distance, answer[k] = t, answer[other[0]] = s[0], answer[other[1]] = s[1];
        }
        before = now;
    }
    memcpy(sigma, answer, sizeof answer);
}

static void project(int32_t count, const double* z, const double* param, double* p)
{
    for (int64_t j = 0; j < count; ++j)
    {
        const double least = param[2 * j], most = param[2 * j + 1];
        double       sigma[3], U[3][3], V[3][3];
        flx__gradient_stretches(z + 9 * j, sigma, U, V);
        for (int k = 0; k < 3; ++k) sigma[k] = fmin(fmax(sigma[k], -MOST_STRETCH), MOST_STRETCH);
        const double det = sigma[0] * sigma[1] * sigma[2];
        if (det >= least && det <= most)
        {
            memmove(p + 9 * j, z + 9 * j, 9 * sizeof *p);
            continue;
        }
        if (det < least)
            grow(sigma, least);
        else
            shrink(sigma, most);
        flx__gradient_compose(sigma, U, V, p + 9 * j);
    }
}

const flx_constraint_type flx__tet_volume = {.name = "tet_volume", .rows = 3, .params = 2, .project = project};

flx_status flx__tet_volumes(flx_context* ctx, const double* x, int32_t count, const int32_t* tet, const double* weight,
                            double least, double most, flx_constraint_batch* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_constraint_batch){0};
    FLX_TRY(flx__constraint_limits(ctx, "tetrahedron volume", false, least, most));
    FLX_TRY(flx__tet_gradients(ctx, &flx__tet_volume, x, count, tet, weight, least, most, out));
done:
    return status;
}
