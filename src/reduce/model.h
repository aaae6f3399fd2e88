// A trained reduction of a full-order system: which constraints are still projected, and how the rest is had from them.
//
// In positions, q [n][3] is one affine map away from few numbers and a round touches nothing of size n:
//   fits        p ~ V c, c = M p at the samples:           q = x0 + A^-1 S^T W V c
//   secs        constraints outside span V stay linear:    q = x0 + T (g - C B^T x0)           (secs.c)
// In a subspace q = W a, W^T M W = I, a [k][3], A shrinks to A_r = W^T A W, k x k, and a frame touches the mesh no
// more:
//   fits        L = W^T S^T W V:                           a = A_r^-1 (W^T all that is not reduced + L c)
//   w_secs      L = W^T B, matrix A_r + L C L^T:           a = matrix^-1 (... + L g)
#ifndef FLX_REDUCE_MODEL_H
#define FLX_REDUCE_MODEL_H

#include "reduce/system.h"

typedef enum flx_reduction
{
    FLX_REDUCTION_SECS = 0,     // split-energy cubature, one scalar basis for x, y, z
    FLX_REDUCTION_BLOCK_DEIM,   // [MPB] algorithm 1 with its block rows: V_x, V_y, V_z fitted each for itself
    FLX_REDUCTION_DEIM,         // rows of flattened vectors, greedy [ChaturantabutSorensen10]
    FLX_REDUCTION_QDEIM,        // the same by pivoted QR [DrmacGugercin16]
    FLX_REDUCTION_GPD,          // whole elements, least squares, one coefficient vector
    FLX_REDUCTION_GPD_MAP,      // the same, a priori variances sigma^2
    FLX_REDUCTION_GPDS,         // whole elements, one scalar basis, coefficients for x, y, z each
    FLX_REDUCTION_POU,          // partition of unity on elements [Brandt18]
    FLX_REDUCTION_W,            // positions in a subspace, all elements
    FLX_REDUCTION_W_ECSW,       // ... and energies of weighted elements only [FarhatEtAl14]
    FLX_REDUCTION_W_MIXED,      // ... exact matrix, weighted projections
    FLX_REDUCTION_W_GPD,        // ... projections by GPD
    FLX_REDUCTION_W_BLOCK_DEIM, // ... projections by block DEIM, the second paper's eq. 5
    FLX_REDUCTION_W_SECS,       // ... split-energy cubature
    FLX_REDUCTION_COUNT
} flx_reduction;

const char* flx__reduction_name(flx_reduction method);                 // as on the command line and in files
bool        flx__reduction_find(const char* name, flx_reduction* out); // false: no such name
bool        flx__reduction_in_subspace(flx_reduction method);

/// How coefficients c [modes][3] follow from the samples' p [m][rows][3].
typedef enum flx_fit
{
    FLX_FIT_NONE = 0, // weighted elements instead
    FLX_FIT_SHARED,   // c = M p, the same c for x, y and z; V has three faces; M [modes][m rows 3]
    FLX_FIT_SPLIT,    // c_d = M_d p_d, V has three faces; M [3][modes][m rows]
    FLX_FIT_SCALAR    // c_d = M p_d, V has one face; M [modes][m rows]
} flx_fit;

flx_fit flx__reduction_fit(flx_reduction method);
bool    flx__reduction_is_secs(flx_reduction method); // split-energy cubature, wherever positions are

#define FLX_REDUCTION_RUNS 100 // varied ones to learn from

typedef struct flx_reduced_batch
{
    char     type[32];      // the constraint's name
    int32_t  count, rows;   // elements of the full batch, rows of each
    bool     reduced;       // false: all elements, as in the full-order model; attachments are never reduced
    int32_t  modes;         // r; fewer than asked when the snapshots have less rank
    int32_t  first_mode;    // place among the model's modes
    int32_t  element_count; // m: those that are projected
    int32_t* element;       // [m] ascending
    double*  weight;        // [m] xi_j w_j; NULL with a fit
    double*  at;            // [m rows][modes] V of these elements; secs and w_secs
    double*  fit;           // M; NULL without a fit
    double   norm;          // |M|_2, the largest over faces: how much the fit can amplify; 0 without
    double   least;         // smallest eigenvalue of G = sum xi_j w_j V_j^T V_j; 1 = exact; 0 without cubature
    double   match;         // relative residual of the cubature's non-negative least squares
} flx_reduced_batch;

typedef struct flx_reduced_model
{
    flx_context*       ctx;
    flx_reduction      method;
    flx_fit            fit;
    uint64_t           system_hash;
    int32_t            n;
    int32_t            batch_count;
    flx_reduced_batch* batch;
    int32_t            modes; // R, of all batches
    int32_t            faces; // 1 or 3

    // in positions
    double* load;     // [n][R]         B = S^T W V; secs
    double* response; // [faces][n][R]  A^-1 S^T W V; secs: T
    double* c;        // [R][R]         C; secs
    double* k;        // [R][R]         K_r; secs

    // in a subspace
    int32_t subspace; // k; 0: in positions
    double* w;        // [n][k]
    double* matrix;   // [k][k] A reduced, both triangles; w_secs: with L C L^T
    double* lift;     // [faces][k][R] L = W^T S^T W V; fits and w_secs

    double  seconds; // offline
    int32_t runs;    // varied ones it learnt from beside the scene's own
    int32_t rounds;  // of a frame, and the error there was on the training run; 0: not known
    double  error;
} flx_reduced_model;

void flx__reduced_model_destroy(flx_reduced_model* model); // NULL is welcome

/// Positions of one or more full-order runs, from which everything else is measured.
typedef struct flx_training
{
    int32_t        frame_count;
    const double*  q;           // [frame_count][n][3] m
    const int32_t* batch_limit; // [batch_count] only so many first frames for a batch; NULL: all
} flx_training;

typedef struct flx_reduction_options
{
    flx_reduction method;
    int32_t       modes;      // r of each batch; methods in a subspace without r: k when `subspace` is 0
    int32_t       subspace;   // k, [1, X] among them; 0: as many as modes
    int32_t       elements;   // m of each batch; 0: five for each mode (fits: two)
    uint32_t      batches;    // bit b: batch b is reduced (a subspace reduces all)
    double        truncation; // modes below this part of the first one are round-off and dropped; 0 keeps them
    double        match;      // weight of G = I, or of the exact matrix, among the cubature's equations
    double        least;      // refuse a cubature below this eigenvalue of G
    double        amplify;    // refuse a fit above this norm
    bool          force;      // refuse nothing
    int32_t       handles;    // of a subspace of skinning weights; 0: POD of the positions
} flx_reduction_options;
flx_reduction_options flx__reduction_options_default(flx_reduction method, int32_t modes);

/// FLX_ERR_ARGUMENT for counts that make no sense, and, with the figure, for a model that would not hold (`least`,
/// `amplify`); FLX_ERR_NONFINITE, FLX_ERR_MEMORY.
flx_status flx__reduce_train(flx_pd_system* system, const flx_training* training, const flx_reduction_options* options,
                             flx_reduced_model** out);

/// Positions, elements, weights, masses, step: what a trained model belongs to.
uint64_t flx__pd_system_hash(const flx_pd_system* system);

/// What no round of secs or w_secs makes larger, J, less a constant of the frame; `inertia` [n][3] as flx__pd_predict()
/// gave it.
///   inertia + held + 1/2 |S q|_W^2 - 1/2 |B^T q|^2 + sum xi w/2 dist^2(V B^T q)  (+ whole batches that are not
///   reduced)
flx_status flx__secs_energy(flx_pd_system* system, const flx_reduced_model* model, const double* inertia,
                            const double* q, double* energy);

#endif
