#include "reduce/random.h"

#include <math.h>

double flx__random(uint64_t* seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z          = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1.0p-52;
}

void flx__random_normals(uint64_t seed, int64_t count, double* out)
{
    for (int64_t i = 0; i < count; i += 2)
    {
        const double radius = sqrt(-2 * log(flx__random(&seed))), angle = 6.283185307179586 * flx__random(&seed);
        out[i] = radius * cos(angle);
        if (i + 1 < count) out[i + 1] = radius * sin(angle);
    }
}
