// A scene's full-order run, step by step from its start: what reduced models learn from and are judged against.
#ifndef FLX_REDUCE_FULL_RUN_H
#define FLX_REDUCE_FULL_RUN_H

#include "reduce/scene_system.h"
#include "solver/state.h"

/// By the rounds of system.h; by the engine (flx_solver, with as many outer iterations) when the scene has what those do
/// not know. Either way in double precision, and `state` is where the run stands.
typedef struct flx_full_run
{
    flx_scene_system* scene;
    int32_t           rounds;
    flx_state*        state;
    flx_pd_state      pd;     // of the rounds
    flx_solver*       solver; // the engine; NULL: not needed
} flx_full_run;

/// FLX_ERR_UNHELD as flx_solver_create(), FLX_ERR_MEMORY.
flx_status flx__full_run_create(flx_scene_system* scene, int32_t rounds, flx_full_run* out);
void       flx__full_run_release(flx_full_run* run);
/// Back to the scene's start; what was ordered and factorized stays. FLX_ERR_MEMORY.
flx_status flx__full_run_restart(flx_full_run* run);
/// [n][3] m/s that the next step starts with; they may be changed.
double* flx__full_run_velocity(flx_full_run* run);
/// One step. FLX_ERR_NONFINITE, and what the engine's steps return.
flx_status flx__full_run_step(flx_full_run* run);

#endif
