// Projections, avx512: 8 lanes. cmake/kernels.cmake gives this file its flags.
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define WIDE_LANES 8
#include "constraints/projections.inl"

const flx_projections flx__projections_avx512 = {.length = length, .strain = strain, .tet_strain = tet_strain};
#else
#include "constraints/projections.h"

const flx_projections flx__projections_avx512 = {0};
#endif
