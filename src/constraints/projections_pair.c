// Projections, two lanes: no flags of its own.
#define WIDE_LANES 2
#include "constraints/projections.inl"

const flx_projections flx__projections_pair = {.length = length, .strain = strain, .tet_strain = tet_strain};
