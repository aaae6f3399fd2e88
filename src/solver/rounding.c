// Do increments in single precision come closer to the answer?
//
//   |v - A~^-1 A v| / |v|,   A~^-1 as the steps apply it, by the factor and the Sigma^-1 that are kept
//
// is what rounding leaves of an error v in one outer iteration: about 1e-7 times the condition of A. Increments add up,
// so steps diverge where it is above 1. v is noise, rich in what A resists most: Sigma^-1, and a factor made exact for
// the softest motion (src/sparse/trial.c), lose that first. A thin sheet of a millimetre has 300, an elbow 3e-6.
#include "solver/solver_internal.h"

#include <math.h>
#include <string.h>

static double noise(int32_t vertex, int32_t c)
{
    uint32_t h = (3 * (uint32_t)vertex + (uint32_t)c + 1) * 2654435761u;
    h          = (h ^ h >> 16) * 2246822519u;
    return (double)(h ^ h >> 13) / (double)(1u << 31) - 1;
}

void flx__rounding_load(flx_solver* s, const flx_csc* a)
{
    for (int c = 0; c < 3; ++c)
    {
        double* r = s->r[c];
        memset(r, 0, sizeof *r * (size_t)a->n);
        for (int32_t j = 0; j < a->n; ++j)
            for (int64_t p = a->first[j]; p < a->first[j + 1]; ++p)
            {
                r[a->row[p]] += a->value[p] * noise(j, c);
                if (a->row[p] != j) r[j] += a->value[p] * noise(a->row[p], c);
            }
    }
}

double flx__rounding_error(flx_solver* s)
{
    double most = 0;
    if (s->settings.strategy == FLX_STRATEGY_PCG) return 0; // no factor
    if (!flx__plain_solve(s)) return INFINITY;              // Sigma is not positive definite any more
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i)
        {
            const double off = fabs(noise(i, c) - s->r[c][i]);
            if (!(off <= most)) most = isnan(off) ? INFINITY : off;
        }
    return most;
}
