// Projections, avx2: 4 lanes. cmake/kernels.cmake gives this file its flags.
#if defined(__AVX2__)
#define WIDE_LANES 4
#include "constraints/projections.inl"

const flx_projections flx__projections_avx2 = {.length = length, .strain = strain, .tet_strain = tet_strain};
#else
#include "constraints/projections.h"

const flx_projections flx__projections_avx2 = {0};
#endif
