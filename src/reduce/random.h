// Random numbers from a seed, the same on every machine.
#ifndef FLX_REDUCE_RANDOM_H
#define FLX_REDUCE_RANDOM_H

#include <stdint.h>

/// splitmix64, uniform in (0, 1); moves the seed.
double flx__random(uint64_t* seed);
/// out [count] normal, mean 0, variance 1; by pairs, polar form.
void flx__random_normals(uint64_t seed, int64_t count, double* out);

#endif
