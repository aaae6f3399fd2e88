// Projections of many constraints at once, written once (projections.inl) and compiled for each instruction set.
#ifndef FLX_CONSTRAINTS_PROJECTIONS_H
#define FLX_CONSTRAINTS_PROJECTIONS_H

#include "base/cpu.h"
#include "constraints/constraints.h"

typedef void (*flx_project_fn)(int32_t count, const double* z, const double* param, double* p);

typedef struct flx_projections
{
    flx_project_fn length; // edge spring and bending
    flx_project_fn strain; // triangle strain
    flx_project_fn tet_strain;
} flx_projections;

extern const flx_projections flx__projections_pair;   // two lanes: what every 64-bit processor has
extern const flx_projections flx__projections_avx2;   // four; NULL when not compiled
extern const flx_projections flx__projections_avx512; // eight; likewise

/// What projects a type on this instruction set: a kernel, or else the type's own function, which is the reference. A
/// constraint's result is the same bits whatever its place and its neighbours.
flx_project_fn flx__projection_for(flx_isa isa, const flx_constraint_type* type);

#endif
