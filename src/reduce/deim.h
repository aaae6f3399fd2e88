// Interpolation points of a basis: rows of V at which a function in its range is evaluated to know it everywhere.
//
//   p ~ V (P^T V)^-1 P^T p,   |p - that| <= |(P^T V)^-1|_2 |p - V V^T p|       [ChaturantabutSorensen10] lemma 3.2
//
// so points are chosen to keep that norm small. The operator itself is in interpolation.h, whole elements in
// sampling.h. Matrices by columns, as in decompose.h. Ties go to the lowest row.
#ifndef FLX_REDUCE_DEIM_H
#define FLX_REDUCE_DEIM_H

#include "base/base.h"

/// Greedy: point l is where the interpolant of mode l by the modes before it is worst. [ChaturantabutSorensen10]
/// alg. 1. in   v [rows][r], linearly independent columns, rows >= r out  point [r] distinct rows, in order of choice
flx_status flx__deim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point);

/// The first r pivots of QR with column pivoting of V^T. [DrmacGugercin16]
/// Arguments as for flx__deim_points().
flx_status flx__qdeim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point);

/// DEIM for flattened 3-vectors as [MPB] section 4 has it: V is split into V_x, V_y, V_z, mode l is interpolated in
/// each by itself, and the row whose three residuals have the largest Euclidean norm together becomes point l of all
/// three. in   v [3 rows][r], x, y, z of a row next to each other out  point [r] rows (of a third of v's), in order of
/// choice The parts need not be bases: a direction in which nothing moves makes (P^T V_d) singular, and then its
/// least-squares answer of least norm stands in. flx__block_interpolation_create() reports and refuses what comes of
/// it.
flx_status flx__block_deim_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point);

#endif
