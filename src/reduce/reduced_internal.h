// The reduced solver's parts: what is held for the sampled elements, and the two ways of doing a frame.
#ifndef FLX_REDUCE_REDUCED_INTERNAL_H
#define FLX_REDUCE_REDUCED_INTERNAL_H

#include "reduce/panel.h"
#include "reduce/reduced_solver.h"

/// The elements of one batch that are projected, packed.
typedef struct flx_samples
{
    const flx_reduced_batch*    of;
    const flx_constraint_batch* full;
    int32_t                     rows;   // of an element
    int64_t                     total;  // element_count x rows
    flx_constraint_batch        packed; // of these elements: type, count and param only
    double*                     z;      // [total][3]
    double*                     p;      // [total][3]
    double*                     z0;     // [total][3] S x0; of fits
    double*                     map;    // fits in positions: S response, [faces][total][R]

    // in a subspace; what rounds use is of the solver's precision, and where that is double the same as above
    flx_panel from_a; // [total][k] S W
    flx_panel from_y; // of rounds; fits: S W H^-1 L; secs: V; weights: S W
    flx_panel to_y;   // of rounds; fits: M; secs: V^T xi w; weights: H^-1 (S W)^T xi w, of attachments in double
    void *    z_real, *p_real, *z0_real;
} flx_samples;

struct flx_reduced_solver
{
    flx_context*             ctx;
    flx_pd_system*           system;
    const flx_reduced_model* model;
    flx_samples*             samples;     // [batch_count]; of batches that are not reduced: empty
    bool                     all_reduced; // but for attachments, whose projections do not move within a frame
    flx_reduced_counts       counts;

    // in positions
    flx_pd_state state;
    double *     inertia, *x0, *q; // [n][3]
    double *     eta, *e0;         // [R][3]
    double*      y;                // [R][3] q = x0 + response y

    // in a subspace, H the reduced matrix
    double *      a, *velocity, *a_next, *rhs0, *c0; // [k][3]
    double*       held_w;                            // [held_count][k] rows of W, times w_a
    double*       pulled;                            // [n][3] the forces of
    double*       pull;                              // [k][3] W^T f, summed from
    double*       pull_part;                         // [chunks][2][k][3], half of it scratch
    flx_panel     positions;                         // [n][k] W
    flx_panel     inverse, start;                    // [k][k] H^-1; the same of the first iterate
    flx_panel     a_from_y;                          // [k][R] H^-1 L
    flx_panel     eta_from_a, eta_from_y;            // [R][k] L^T, [R][R] L^T H^-1 L; w_secs
    flx_precision precision;                         // of rounds and of positions given out
    void *        y_real, *eta_real, *e0_real, *a_real;
    bool          from_y_is_shorter;                         // rounds need not make a, unless somebody acts on it
    void (*pulled_by)(void* user, int32_t frame, double* f); // pull is of this force, which is steady
    void*              pulled_user;
    flx_reduced_act_fn act;
    void*              act_user;

    // attachments that come and go; subspace_hold.c
    int32_t  hold_batch;         // -1: there are none
    uint8_t *holds, *holds_next; // [count] which are in the factor, and which shall be
    bool     turned;             // some do not hold: a round's a is turned into what it is without them
    double * factor, *turn;      // [k][k] Cholesky factor with those that hold; factor^-1 H
    double*  a_last;             // [k][3] of the round before
};

flx_status flx__positions_create(flx_reduced_solver* s); // in_positions.c
flx_status flx__positions_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                                flx_reduced_watch_fn watch, void* watch_user);
flx_status flx__subspace_create(flx_reduced_solver* s); // in_subspace.c
void       flx__subspace_destroy(flx_reduced_solver* s);
flx_status flx__subspace_hold_create(flx_reduced_solver* s); // subspace_hold.c
/// What holds in the next frame. FLX_ERR_UNHELD: not every mode does.
flx_status flx__subspace_hold(flx_reduced_solver* s, const flx_pd_drive* drive);
/// a [k][3] of a round by H, to what it is with those that hold.
void       flx__subspace_turn(flx_reduced_solver* s, double* a);
void       flx__subspace_start(flx_reduced_solver* s, const flx_pd_state* state);
void       flx__subspace_read(flx_reduced_solver* s, flx_pd_state* state);
flx_status flx__subspace_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                               flx_reduced_watch_fn watch, void* watch_user);

/// out [rows][columns] = S_j x for row-major x [n][columns] and one element.
void flx__samples_measure(const flx_constraint_batch* full, int32_t element, const double* x, int64_t columns,
                          double* out);
/// c [modes][3] of the batch from its samples' p.
void flx__samples_fit(const flx_samples* s, flx_fit fit, double* c);
/// y_d += M_d x_d for m [faces][rows][columns], x [columns][3], y [rows][3].
void flx__faces_multiply_add(int32_t faces, int64_t rows, int32_t columns, const double* m, const double* x, double* y);

#endif
