/// @file
/// State and solver: step a model.
#ifndef FLEXOR_SOLVER_H
#define FLEXOR_SOLVER_H

#include "flexor/base.h"
#include "flexor/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flx_state  flx_state;
typedef struct flx_solver flx_solver;

// --- state: all that is needed to resume ---------------------------------------------------------------

/// The rest pose at time 0, with the scene's initial velocities.
FLX_API FLX_MUST_CHECK flx_status flx_state_create(flx_context* ctx, const flx_model* model, flx_state** out);
FLX_API void                      flx_state_destroy(flx_state* state);
FLX_API void                      flx_state_copy(flx_state* to, const flx_state* from); ///< of the same model
FLX_API double                    flx_state_time(const flx_state* state); ///< s
FLX_API int64_t                   flx_state_step_count(const flx_state* state);
FLX_API uint64_t                  flx_state_hash(const flx_state* state); ///< of every bit that matters

/// Copies in the user's numbering; out and in [vertex_count][3] in m, m/s. Vertices that no tet uses stay at rest:
/// their values are not taken.
FLX_API void flx_state_positions(const flx_state* state, double* out);
FLX_API void flx_state_velocities(const flx_state* state, double* out);
/// Positions that are set begin anew: which layer of cloth lay above which is taken from where they are now.
FLX_API void flx_state_set_positions(flx_state* state, const double* x);
FLX_API void flx_state_set_velocities(flx_state* state, const double* v);
/// Embedded (or boundary) surface; out [surface_vertex_count][3] in m.
FLX_API void flx_state_surface_positions(const flx_state* state, double* out);
/// Contact force of the last step, N; [surface_vertex_count][3]: of each collision proxy, at its surface vertex or the
/// nearest one. The reaction on the partner of a self contact is not shown; 0 before the first step.
FLX_API void flx_state_surface_contact_force(const flx_state* state, double* out);
/// Largest principal strain |sigma - 1| and volume ratio det F of each tet; [tet_count]; either may be NULL.
FLX_API void flx_state_tet_strain(const flx_state* state, double* strain, double* volume_ratio);

/// A state as bytes, exactly. flx_state_bytes() is the size and what write needs as room. Read returns FLX_ERR_FORMAT
/// (cut off, of another version or of another model, by its hash), with the state as it was.
FLX_API int64_t                   flx_state_bytes(const flx_state* state);
FLX_API void                      flx_state_write(const flx_state* state, void* out);
FLX_API FLX_MUST_CHECK flx_status flx_state_read(flx_context* ctx, flx_state* state, const void* data, int64_t bytes);

// --- solver ------------------------------------------------------------------------------------------

/// Wall time of one step by phase, in ms, and what came out. Averages are the caller's business.
typedef struct flx_step_stats
{
    double ms_total;
    double ms_local;    ///< rotations and forces of all elements outside the region, gather included; before it the
                        ///< warm start and, if need be, factorizing anew
    double ms_forward;  ///< forward substitution; the whole global step of strategies full and pcg
    double ms_inner;    ///< inner iterations without detection
    double ms_detect;   ///< contact detection
    double ms_backward; ///< backward substitution

    int32_t outer, inner;     ///< iterations done
    int32_t candidates;       ///< contacts of proxies within the margin
    int32_t active;           ///< those that push
    int32_t switched;         ///< contacts that became active or inactive since the step before
    double  penetration;      ///< m, deepest proxy inside a partner or obstacle at the end of the step, to first
                              ///< order from its last detection; 0 under strategies full and pcg
    double  contact_force[3]; ///< N, sum of obstacle contact forces on the bodies
    double  residual;         ///< N, largest net force on a vertex at the start of the last outer iteration, contact
                              ///< forces of the last solve included; full and pcg: on free vertices only
    double  motion;           ///< m, largest motion of a vertex in the last outer iteration
    int32_t lost;           ///< contacts left out: beyond the 2048 that can push at once where Sigma^-1 is held, or on vertices that no region made prone
    int32_t unsolved;       ///< inner iterations whose contact solve did not finish (see contact_sweeps, contact_iterations)
    int32_t inverted;         ///< elements with det F <= 0 at the start of the last outer iteration
    double  energy;           ///< J, elastic + attachments + loads and weight (dynamic: + inertial term), without
                              ///< contacts, at the start of the last outer iteration
} flx_step_stats;

typedef struct flx_solver_info
{
    double  ms_order, ms_factor, ms_schur_inverse; ///< setup time by phase
    bool    factor_found;    ///< in the context's cache folder: ms_factor is the time to read it, Sigma^-1 included
    int64_t factor_nonzeros; ///< L_11 and L_21
    double  factor_flops;
    int64_t bytes;           ///< held by the solver
    int64_t forward_bytes;   ///< of panels that one forward substitution reads, in the steps' precision; 0 under
                             ///< strategies full and pcg, whose steps are other work
    int64_t backward_bytes;  ///< the same of one backward substitution
    int64_t step_bytes_read; ///< that one outer + one inner iteration must read from memory, an estimate
} flx_solver_info;

/// Order, factorize, invert Sigma as the strategy needs; allocate all that a step uses.
/// `settings` may be NULL: the scene's. The model must outlive the solver.
///
/// Returns FLX_ERR_SETTING (out of range, or a strategy that does not know the scene's contact law), FLX_ERR_ARGUMENT
/// (settings of another size), FLX_ERR_UNHELD (naming the body and a vertex that nothing holds), FLX_ERR_MEMORY,
/// FLX_ERR_CANCELLED.
FLX_API FLX_MUST_CHECK flx_status flx_solver_create(flx_context* ctx, const flx_model* model,
                                                    const flx_settings* settings, flx_progress_fn progress, void* user,
                                                    flx_solver** out);
FLX_API void                      flx_solver_destroy(flx_solver* solver);
FLX_API flx_solver_info           flx_solver_get_info(const flx_solver* solver);

/// Advance one step: dt = 1 / fps (quasistatic) or 1 / (fps substeps) (dynamic). Touches no heap, but for factorizing anew:
/// in the step in which a `fix` begins or ends, and in strategy `full`.
///
/// in/out  state   untouched when the call fails
/// out     stats   may be NULL
///
/// Returns FLX_OK, or FLX_ERR_NONFINITE naming a vertex and the step; when factorizing anew also FLX_ERR_UNHELD and
/// FLX_ERR_MEMORY, after which the step can be tried again.
FLX_API FLX_MUST_CHECK flx_status flx_solver_step(flx_solver* solver, flx_state* state, flx_step_stats* stats);

/// Elastic + attachment energy of a state, J, with the nearest rotations (double precision).
FLX_API double flx_solver_energy(flx_solver* solver, const flx_state* state);

#ifdef __cplusplus
}
#endif
#endif
