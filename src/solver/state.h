// A state, open to the solver room.
#ifndef FLX_SOLVER_STATE_H
#define FLX_SOLVER_STATE_H

#include "flexor/solver.h"
#include "model/model.h"

/// All arrays in one block, so that copying, hashing and writing are one memcpy.
struct flx_state
{
    flx_context*     ctx;
    const flx_model* model;
    int64_t          bytes; // of the block
    double*          block; // everything below lies in here
    double*          time;  // [1] s
    double*          step;  // [1] steps done
    double*          x;     // [n][3] m, solver's numbering
    double*          v;     // [n][3] m/s
    double*          force; // [proxy][3] N, contact force on each proxy in the last step
    double*          push;  // [proxy] N along the normal (unilateral), or 1/0 (spring): warm start and what is active
    double*          prone_force; // [prone][3] N, contact forces on the prone vertices
    double*          sides;       // [memory] of cloth that touches itself: contact/cloth_contact.h
};

/// F of tet e at positions x [n][3] (solver's numbering).
void flx__deformation_gradient(const flx_model* m, const double* x, int32_t e, double F[9]);

#endif
