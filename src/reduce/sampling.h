// Whole elements to evaluate: an element's rows are computed together, so they are chosen together.
// Matrices by columns, as in decompose.h. Ties go to the lowest index.
#ifndef FLX_REDUCE_SAMPLING_H
#define FLX_REDUCE_SAMPLING_H

#include "base/base.h"

/// Greedy D-optimal choice, the block form of Q-DEIM: the next element is the one that enlarges
///   log det(delta I + sum_chosen V_j^T V_j)
/// most, delta = 1e-10 of the mean eigenvalue of V^T V, only there to start. An element brings `rows_each` rows at
/// once; the log-determinant is updated by a rank `rows_each` correction. After [DrmacGugercin16]; Differs: blocks of
/// rows, and more than r of them, where [PeherstorferDrmacGugercin20] take single rows. in   v [element_count
/// rows_each][r], the rows of an element next to each other; 1 <= m <= element_count out  element [m] in order of
/// choice
flx_status flx__d_optimal_elements(flx_context* ctx, int32_t element_count, int32_t rows_each, int32_t r,
                                   const double* v, int32_t m, int32_t* element);

/// Each next point is the one farthest from those chosen; the first is farthest from the mean. [Gonzalez85]
/// in   x [count][3], m <= count
/// out  point [m]
flx_status flx__farthest_points(flx_context* ctx, int32_t count, const double* x, int32_t m, int32_t* point);

/// The rows of chosen elements: row [m rows_each], element by element.
void flx__element_rows(int32_t m, const int32_t* element, int32_t rows_each, int64_t* row);

#endif
