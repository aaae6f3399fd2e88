// Frames of a trained model, whatever its method: the seam that studies, tests and the command line use.
#ifndef FLX_REDUCE_REDUCED_SOLVER_H
#define FLX_REDUCE_REDUCED_SOLVER_H

#include "flexor/scene.h"
#include "reduce/model.h"

typedef struct flx_reduced_solver flx_reduced_solver;

/// What was touched since the start, to prove what a round costs. Entries are doubles of arrays that grow with the mesh
/// (vertices, all elements) that were read; those of a sparse solve count as one pass over its right-hand side.
typedef struct flx_reduced_counts
{
    int64_t frames, rounds;
    int64_t projections;   // of elements
    int64_t solves;        // sparse, three right-hand sides
    int64_t round_entries; // within rounds
    int64_t frame_entries; // once a frame
    int64_t read_entries;  // to give out positions
} flx_reduced_counts;

/// Both must outlive the solver. FLX_ERR_ARGUMENT when the model was trained on another system; FLX_ERR_UNHELD when a
/// subspace's matrix is not positive definite; FLX_ERR_MEMORY.
flx_status flx__reduced_solver_create(flx_pd_system* system, const flx_reduced_model* model, flx_reduced_solver** out);
/// Single precision: rounds of a subspace and the product that gives positions out. What ties them to forces, held
/// vertices and the last frame stays in double, as methods in positions do altogether.
flx_status flx__reduced_solver_create_in(flx_pd_system* system, const flx_reduced_model* model, flx_precision precision,
                                         flx_reduced_solver** out);
void       flx__reduced_solver_destroy(flx_reduced_solver* solver); // NULL is welcome

/// Take positions and velocities from here on (a subspace: their nearest in the metric M).
void flx__reduced_start(flx_reduced_solver* solver, const flx_pd_state* state);

/// Called after each round with the positions it ended with; they are only made for whoever watches.
typedef void (*flx_reduced_watch_fn)(void* user, int32_t frame, int32_t round, const double* q);

/// What acts on a subspace's coordinates within rounds: called after each round with the a [k][3] that is free of it,
/// and may change a; the next round, or the frame's end, goes on from there. Before them it is called with round -1 and
/// the first iterate.
typedef void (*flx_reduced_act_fn)(void* user, int32_t frame, int32_t round, double* a);
/// NULL: nothing acts. Solvers in a subspace only.
void flx__reduced_set_action(flx_reduced_solver* solver, flx_reduced_act_fn act, void* user);

/// One frame of `rounds` local and global steps. No heap. FLX_ERR_NONFINITE as for flx__pd_frame().
/// In positions a frame costs one sparse solve, and its rounds touch nothing of the mesh's size when all batches are
/// reduced; in a subspace the frame does not either, but for the drive's forces, which are projected once.
flx_status flx__reduced_frame(flx_reduced_solver* solver, const flx_pd_drive* drive, int32_t rounds,
                              flx_reduced_watch_fn watch, void* watch_user);

/// Positions, velocities and frame; state as from flx__pd_state_create(), v NULL: no velocities.
void flx__reduced_read(flx_reduced_solver* solver, flx_pd_state* state);

/// The reduced matrix, factored: [k][k], lower by columns, with what holds in the frame; for who acts.
const double* flx__reduced_factor(const flx_reduced_solver* solver);

flx_reduced_counts flx__reduced_counts_of(const flx_reduced_solver* solver);

#endif
