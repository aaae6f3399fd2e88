// Proper orthogonal decomposition: the subspace that holds a set of snapshots best.
//
//   snapshots - mean = X [rows][cols],   W = diag(row_weight),   W^1/2 X = U Sigma Z^T
//   modes V = W^-1/2 U_r:   V^T W V = I,   and of all r-dimensional subspaces theirs leaves the least |X - V V^T W X|_W
//
// The thin SVD is taken of the snapshots themselves; the eigenvalues of X^T X would lose everything below 1e-8 sigma_0.
// Modes below 1e-11 sigma_0 are round-off of the snapshots, not directions of motion, and are dropped: a basis that
// keeps them interpolates noise. [Sirovich87]; for large sets a randomised range finder, [HalkoMartinssonTropp11]
// alg. 4.4, 5.1.
#ifndef FLX_REDUCE_POD_H
#define FLX_REDUCE_POD_H

#include "base/base.h"

typedef enum flx_pod_method
{
    FLX_POD_EXACT = 0, // thin SVD: all singular values
    FLX_POD_RANDOM     // subspace iteration from a fixed seed: the leading `most_modes` only
} flx_pod_method;

typedef struct flx_pod_options
{
    flx_pod_method method;
    int32_t        most_modes; // 0 = all; FLX_POD_RANDOM needs a number
    double         truncation; // modes with sigma_i <= truncation sigma_0 are dropped
    const double*  row_weight; // [rows] > 0; NULL = 1
    bool           affine;     // take the mean of the snapshots out and keep it apart; otherwise linear
    int32_t        oversample; // FLX_POD_RANDOM: further directions in the range finder
    int32_t        powers;     // FLX_POD_RANDOM: power iterations, each with orthonormalisation
    uint64_t       seed;       // FLX_POD_RANDOM
} flx_pod_options;

flx_pod_options
flx__pod_options_default(void); // exact, all modes, truncation 1e-11, linear; 10, 2 and a seed for random

typedef struct flx_pod
{
    int64_t rows;
    int32_t rank;        // modes kept; 0 when all snapshots are zero
    int32_t sigma_count; // min(rows, cols); FLX_POD_RANDOM: the size of its range finder
    double* mode;        // [rows][rank]; the entry of largest size in each column is positive
    double* sigma;       // [sigma_count] descending, those of dropped modes too
    double* mean;        // [rows]; NULL when linear
} flx_pod;

/// in   snapshot [rows][cols], a column each
/// FLX_ERR_NONFINITE names the first bad snapshot; FLX_ERR_ARGUMENT for a weight that is not positive, or no snapshot.
flx_status flx__pod_create(flx_context* ctx, int64_t rows, int32_t cols, const double* snapshot,
                           const flx_pod_options* options, flx_pod* out);
void       flx__pod_release(flx_context* ctx, flx_pod* pod);

/// How well the first `rank` modes hold snapshots (seen before or not): |X - V V^T W X|_W / |X|_W over all columns,
/// with the snapshots' mean taken out of X first when the POD is affine. 0 for no snapshot but zero. row_weight as
/// above.
flx_status flx__pod_error(flx_context* ctx, const flx_pod* pod, int32_t rank, const double* row_weight, int32_t cols,
                          const double* snapshot, double* relative);

/// From flattened to scalar snapshots: in [3 rows][cols] with x, y, z of a row next to each other, out [rows][3 cols]
/// with x, y and z of a snapshot as columns of their own. A basis of these is shared by the axes, so it turns with the
/// body.
void flx__pod_split_axes(int64_t rows, int32_t cols, const double* flattened, double* split);

#endif
