// Contact with obstacles in a subspace: the engine's unilateral law with A_r instead of Sigma.
#ifndef FLX_REDUCE_REDUCED_CONTACT_H
#define FLX_REDUCE_REDUCED_CONTACT_H

#include "model/model.h"
#include "reduce/reduced_solver.h"
#include "solver/state.h"

typedef struct flx_reduced_contact flx_reduced_contact;

/// What came out of a frame.
typedef struct flx_reduced_contact_stats
{
    int32_t candidates;  // within the margin
    int32_t active;      // that push in the last round
    int32_t switched;    // since the frame before
    int32_t unsolved;    // rounds whose active set did not settle
    double  penetration; // m, deepest, to first order from the detection
    double  force[3];    // N, sum
} flx_reduced_contact_stats;

/// FLX_ERR_UNSUPPORTED names what is not known: contact of a body with itself, the spring law.
flx_status flx__reduced_contact_check(flx_context* ctx, const flx_model* model);

/// For steps of h, s. The model must outlive it. Errors as above, FLX_ERR_MEMORY.
flx_status flx__reduced_contact_create(flx_context* ctx, const flx_model* model, const flx_reduced_model* reduced,
                                       double h, flx_reduced_contact** out);
void       flx__reduced_contact_destroy(flx_reduced_contact* contact); // NULL is welcome

/// What a solver calls in its rounds (flx_reduced_act_fn): contacts are found before them, and each gives way.
void flx__reduced_contact_act(flx_reduced_contact* contact, const flx_reduced_solver* solver, int32_t frame,
                              int32_t round, double* a);

// Its parts.

/// A_r = L L^T: factor [k][k], lower by columns. No heap.
void flx__reduced_contact_factor(flx_reduced_contact* contact, const double* factor);
/// A frame that ends at `time` begins; contacts are looked for at the positions W a. No heap.
void flx__reduced_contact_begin(flx_reduced_contact* contact, double time, const double* a);
/// a [k][3], free := argmin 1/2 |a - free|^2_{A_r} subject to the contacts. No heap.
void flx__reduced_contact_apply(flx_reduced_contact* contact, double* a);

/// Doubles of arrays as long as the proxies that were read, of all frames.
int64_t flx__reduced_contact_entries(const flx_reduced_contact* contact);
/// Forces and pushes of the last round to the state, and what is known of the frame.
flx_reduced_contact_stats flx__reduced_contact_end(flx_reduced_contact* contact, flx_state* state);

#endif
