// The kernels with 64-byte vectors; the build gives this file the instruction set's flags.
#include "sparse/substitute.h"

#if defined(__x86_64__) && !defined(FLX_ONLY_SCALAR)

#define REAL float
#define LANES 16
#define SUFFIX f32
#define NAME(x) x##_f32
#include "sparse/substitute.inl"
#undef REAL
#undef LANES
#undef SUFFIX
#undef NAME

#define REAL double
#define LANES 8
#define SUFFIX f64
#define NAME(x) x##_f64
#include "sparse/substitute.inl"

void flx__substitute_avx512(flx__substitute* table)
{
    fill_f32(table);
    fill_f64(table);
}

#endif
