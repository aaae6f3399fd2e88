// A compiled scene as a full-order system: what reduction starts from outside of the laboratory.
#ifndef FLX_REDUCE_SCENE_SYSTEM_H
#define FLX_REDUCE_SCENE_SYSTEM_H

#include "model/model.h"
#include "reduce/model.h"
#include "solver/state.h"

typedef struct flx_scene_system
{
    const flx_model* model;
    flx_pd_system*   system;
    double           h;          // s
    int32_t          attachment; // batch of the springs; -1: there are none
    double           keep;       // of a velocity after a step: exp(-damping h)
    bool             has_wind, has_contact;
    bool             timed;     // springs come and go
    bool             by_engine; // the scene has what the rounds of system.h do not know: full order is flx_solver
    const double *   x, *v;     // [n][3] at the step's beginning, for whom forces depend on it; borrowed
} flx_scene_system;

/// Tets as tet strains of weight 2 mu, the model's constraints, and springs as attachments whose targets the drive
/// moves.
flx_status flx__scene_system_create(flx_context* ctx, const flx_model* model, flx_scene_system* out);
/// FLX_ERR_UNSUPPORTED when the scene has what the method does not know, and what would do.
flx_status   flx__scene_system_check(const flx_scene_system* s, flx_reduction method);
void         flx__scene_system_release(flx_scene_system* s);
flx_pd_drive flx__scene_system_drive(flx_scene_system* s);
/// Steps of so many frames; 0: the scene's frames.
int32_t flx__scene_system_steps(const flx_scene_system* s, int32_t frames);
/// A step has ended at `from`: velocities are damped there, positions, velocities and time go to `to`.
void flx__scene_system_keep(const flx_scene_system* s, flx_pd_state* from, flx_state* to);

#endif
