#include "constraints/projections.h"

static const flx_projections* table_for(flx_isa isa)
{
    static const flx_projections none = {0};
    switch (isa)
    {
    case FLX_ISA_AVX512:
        return &flx__projections_avx512;
    case FLX_ISA_AVX2:
        return &flx__projections_avx2;
    case FLX_ISA_SSE2:
    case FLX_ISA_NEON:
        return &flx__projections_pair;
    case FLX_ISA_SCALAR:
    case FLX_ISA_COUNT:
        break;
    }
    return &none;
}

flx_project_fn flx__projection_for(flx_isa isa, const flx_constraint_type* type)
{
    const flx_projections* table  = table_for(isa);
    flx_project_fn         kernel = NULL;
    if (type == &flx__edge_spring || type == &flx__bending) kernel = table->length;
    if (type == &flx__triangle_strain) kernel = table->strain;
    if (type == &flx__tet_strain) kernel = table->tet_strain;
    return kernel ? kernel : type->project;
}
