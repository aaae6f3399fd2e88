// What acts on an experiment's body: gravity, a poke, and the motion of its held ends.
#ifndef FLX_REDUCE_LOADS_H
#define FLX_REDUCE_LOADS_H

#include "reduce/experiment.h"

#define FLX_LAB_GRAVITY 9.81 // m/s^2
#define FLX_LAB_STRETCH 1.1

/// Held vertices of a rest pose, ascending; *out is the caller's to flx__free().
flx_status flx__hold_vertices(flx_context* ctx, flx_hold hold, int32_t n, const double* x_rest, int32_t* count,
                              int32_t** out);
/// share [n], sum 1.
void flx__poke_shares(int32_t n, const double* x_rest, const double at[2], double* share);

/// The two functions of a flx_pd_drive; user is a flx_experiment_run.
void flx__load_force(void* user, int32_t frame, double* f);
void flx__load_targets(void* user, int32_t frame, double* place);

#endif
