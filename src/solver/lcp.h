// Linear complementarity: w = B lambda + q, lambda >= 0, w >= 0, lambda . w = 0, for B symmetric positive definite.
#ifndef FLX_SOLVER_LCP_H
#define FLX_SOLVER_LCP_H

#include "base/base.h"

typedef struct flx_lcp
{
    int32_t  most;     // rows it has room for
    double*  factor;   // [most][most]
    double*  rhs;      // [most]
    int32_t* free_row; // [most]
    uint8_t* is_free;  // [most]
} flx_lcp;

flx_status flx__lcp_create(flx_context* ctx, int32_t most, flx_lcp* out);
void       flx__lcp_release(flx_context* ctx, flx_lcp* lcp);

/// in      b [k][ld] symmetric, q [k]
/// in/out  lambda [k]: positive entries are the first guess of what pushes
/// Returns the active-set changes made; -1 when `most_changes` did not suffice (lambda is then the best found, >= 0).
int32_t flx__lcp_solve(flx_context* ctx, flx_lcp* lcp, int32_t k, const double* b, int64_t ld, const double* q,
                       int32_t most_changes, double* lambda);

#endif
