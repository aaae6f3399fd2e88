// The full-order Projective Dynamics system that reduction starts from and is judged against, all in double precision.
//
//   A = diag(m)/h^2 + sum_j w_j S_j^T S_j + w_a sum_held e e^T
//   a frame: s = q + h v + h^2 M^-1 f;  q := s, held vertices on their targets;
//            `rounds` times: p_j = proj(S_j q),  A q = M s/h^2 + w_a targets + sum_j w_j S_j^T p_j;   v = (q_new - q)/h
// Held vertices are linear terms, not constraints: they are never reduced. [MPB] eq. 1-4; Differs: eq. 3 there leaves
// w_j out.
#ifndef FLX_REDUCE_SYSTEM_H
#define FLX_REDUCE_SYSTEM_H

#include "base/base.h"
#include "constraints/constraints.h"
#include "sparse/sparse.h"

typedef struct flx_pd_system
{
    flx_context*           ctx;
    int32_t                n;
    double                 h;      // s
    double                 rate;   // 1/s^2: what multiplies the masses in A; 1/h^2
    bool                   still;  // quasi-static: no inertia, and `rate` only keeps a round near the one before
    double                 size;   // m: diagonal of the rest pose's box, what errors are relative to
    double*                x_rest; // [n][3] m
    double*                mass;   // [n] kg
    int32_t                batch_count;
    flx_constraint_batch*  batch;  // owned
    flx_constraint_gather* gather; // [batch_count]
    int32_t                held_count;
    int32_t*               held;        // [held_count] vertices
    double                 held_weight; // w_a, N/m

    int32_t*    order;   // [n] elimination order
    flx_factor* factor;  // of A, double precision
    double*     work[3]; // [n] in elimination order

    // scratch of a frame
    double** z;       // [batch_count][count][rows][3] S q
    double** p;       // [batch_count][count][rows][3] projections
    double*  force;   // [n][3]
    double*  place;   // [held_count][3] targets
    double*  inertia; // [n][3] M s/h^2 + w_a targets
    double*  rhs;     // [n][3] right-hand side, then the new positions
} flx_pd_system;

/// Takes over the batches (also when it fails); copies the rest. FLX_ERR_UNHELD cannot happen with positive masses.
flx_status flx__pd_system_create(flx_context* ctx, int32_t n, const double* x_rest, const double* mass, double h,
                                 int32_t batch_count, flx_constraint_batch* batch, int32_t held_count,
                                 const int32_t* held, double held_weight, flx_pd_system** out);
/// The same without inertia: A = rate M + ..., and frames are for others to make. FLX_ERR_UNHELD when that is singular.
flx_status flx__pd_system_create_still(flx_context* ctx, int32_t n, const double* x_rest, const double* mass, double h,
                                       double rate, int32_t batch_count, flx_constraint_batch* batch,
                                       flx_pd_system** out);
void       flx__pd_system_destroy(flx_pd_system* system);
/// b [n][3] := A^-1 b. No heap.
void flx__pd_solve(flx_pd_system* system, double* b);

/// What acts on a system from outside, by frame (1, 2, ...). Both may be NULL.
typedef struct flx_pd_drive
{
    void* user;
    void (*force)(void* user, int32_t frame, double* f);       // f [n][3] += N
    void (*targets)(void* user, int32_t frame, double* place); // place [held_count][3] m; NULL: the rest positions
    /// hold [attachments] := 1 for those that hold in the frame, else 0; NULL: all do. In a subspace only.
    void (*hold)(void* user, int32_t frame, uint8_t* hold);
    bool steady;   // the force of this user is the same in every frame, and may be kept
    bool inertial; // rounds begin at q + h v, as the engine's do; else the force has moved that already
} flx_pd_drive;

/// Called after each local step: z and p of every batch at that round (0 ..). For snapshots.
typedef void (*flx_pd_watch_fn)(void* user, int32_t frame, int32_t round, const double* const* z,
                                const double* const* p);

typedef struct flx_pd_state
{
    int32_t frame;
    double *q, *v; // [n][3]
} flx_pd_state;
flx_status flx__pd_state_create(flx_pd_system* system, flx_pd_state* out); // at rest, frame 0
void       flx__pd_state_release(flx_context* ctx, flx_pd_state* state);

/// One frame. FLX_ERR_NONFINITE when positions are no longer finite (the state is then the bad one).
flx_status flx__pd_frame(flx_pd_system* system, const flx_pd_drive* drive, int32_t rounds, flx_pd_state* state,
                         flx_pd_watch_fn watch, void* watch_user);
/// The parts of a frame, for other ways to do its rounds: `inertia` [n][3] := M s/h^2 + w_a targets, and q [n][3] :=
/// the first iterate, s with held vertices on their targets, for the frame after `state`'s.
void flx__pd_predict(flx_pd_system* system, const flx_pd_drive* drive, const flx_pd_state* state, double* inertia,
                     double* q);
/// v = (q - state's)/h; `state` moves to q, one frame on. FLX_ERR_NONFINITE as for flx__pd_frame().
flx_status flx__pd_commit(flx_pd_system* system, const double* q, flx_pd_state* state);

/// z = S q and p = the projections of all batches, into the system's scratch; valid until its next use.
void flx__pd_project(flx_pd_system* system, const double* q);
/// What no round makes larger: q's distance to s in the metric M/2h^2, held vertices' springs and the energy of all
/// true constraints, J; less a constant of the frame. `inertia` as flx__pd_predict() gave it.
double flx__pd_objective(flx_pd_system* system, const double* inertia, const double* q);
/// Elastic energy by all true constraints, and kinetic energy; J.
void flx__pd_energy(flx_pd_system* system, const flx_pd_state* state, double* elastic, double* kinetic);

#endif
