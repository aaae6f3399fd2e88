// From values at sampled rows to coefficients of a basis, once the rows are chosen.
//
//   a = C y,  y = P^T p:   C = (P^T V)^-1 (DEIM),   C = (P^T V)^+ for more samples than modes (gappy POD,
//   [EversonSirovich95]) MAP: a = argmin |P^T V a - y|^2 + lambda sum_i (sigma_0 / sigma_i)^2 a_i^2
//
// By QR, never by normal equations. M = V C; for orthonormal V |M|_2 = |C|_2, the factor by which anything outside of
// the basis is amplified. An operator above the caller's bound is refused: it would turn round-off into motion.
// Matrices by columns, as in decompose.h.
#ifndef FLX_REDUCE_INTERPOLATION_H
#define FLX_REDUCE_INTERPOLATION_H

#include "base/base.h"

typedef struct flx_interpolation_desc
{
    int64_t        rows;
    int32_t        r;
    const double*  v; // [rows][r]
    int32_t        sample_count;
    const int64_t* sample; // [sample_count] rows; at least r of them unless lambda > 0
    double         lambda; // MAP; 0 = plain
    const double*  sigma;  // [r] > 0, descending; read when lambda > 0
    double         bound;  // refuse |C|_2 above it
    bool           force;  // keep it anyway (to measure what happens)
} flx_interpolation_desc;

typedef struct flx_interpolation
{
    int32_t r, sample_count;
    double* solve;     // [r][sample_count] C
    double  norm;      // |(P^T V)^+|_2, infinite when P^T V is singular; MAP: |C|_2
    double  condition; // of P^T V by SVD, infinite when singular
} flx_interpolation;

/// FLX_ERR_ARGUMENT when the norm exceeds the bound and force is off; the text names norm and bound. A forced operator
/// with a singular P^T V is the pseudo-inverse that takes singular values below 1e-14 of the largest for zero.
flx_status flx__interpolation_create(flx_context* ctx, const flx_interpolation_desc* desc, flx_interpolation* out);
void       flx__interpolation_release(flx_context* ctx, flx_interpolation* interpolation);

/// The three r x r inverses of [MPB] section 3: one for each of V_x, V_y, V_z at the same rows.
/// in   desc as for one, but v [3 rows][r] with x, y, z of a row next to each other; sample names rows of a third
/// out  out [3]; all or none
/// The norms are those of (P^T V_d)^-1; the text of a refusal names the axis too.
flx_status flx__block_interpolation_create(flx_context* ctx, const flx_interpolation_desc* desc,
                                           flx_interpolation out[3]);

#endif
