// The portable kernel set (16-byte vectors, which every compiler lowers to what there is) and the choice of a set.
#include "sparse/substitute.h"

#define REAL float
#define LANES 4
#define SUFFIX f32
#define NAME(x) x##_f32
#include "sparse/substitute.inl"
#undef REAL
#undef LANES
#undef SUFFIX
#undef NAME

#define REAL double
#define LANES 2
#define SUFFIX f64
#define NAME(x) x##_f64
#include "sparse/substitute.inl"

void flx__substitute_base(flx__substitute* table)
{
    fill_f32(table);
    fill_f64(table);
}

flx__substitute flx__substitute_choose(flx_isa isa)
{
    flx__substitute table = {0};
    flx__substitute_base(&table);
#if defined(__x86_64__) && !defined(FLX_ONLY_SCALAR)
    if (isa == FLX_ISA_AVX2) flx__substitute_avx2(&table);
    if (isa == FLX_ISA_AVX512) flx__substitute_avx512(&table);
#else
    (void)isa;
#endif
    return table;
}
