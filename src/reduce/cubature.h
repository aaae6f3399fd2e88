// Few elements with weights that stand for all: non-negative least squares over matrices of low rank.
#ifndef FLX_REDUCE_CUBATURE_H
#define FLX_REDUCE_CUBATURE_H

#include "base/base.h"

/// minimise over xi >= 0, at most `most` of them positive:
///   sum_t |sum_j xi_j L_j^T D_jt - target_t|^2 + match |sum_j xi_j N_j^T N_j - goal|^2
/// L_j [rows][left], D_jt [rows][3], N_j [rows][inner].
typedef struct flx_cubature
{
    int32_t       count, rows; // elements, rows of each
    int32_t       left, inner, frames;
    const double* l;      // [count rows][left]
    const double* d;      // [count rows][3 frames]
    const double* target; // [left][3 frames]
    const double* n;      // [count rows][inner]
    const double* goal;   // [inner][inner] symmetric
    double        match;
    int32_t       most;
} flx_cubature;

/// chosen [most], ascending; xi [most]; *relative: |residual| / |right-hand side| (0 when that is 0).
flx_status flx__cubature_solve(flx_context* ctx, const flx_cubature* problem, int32_t* chosen_count, int32_t* chosen,
                               double* xi, double* relative);

#endif
