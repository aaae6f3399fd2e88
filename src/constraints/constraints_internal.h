// What the builders of the types share.
#ifndef FLX_CONSTRAINTS_CONSTRAINTS_INTERNAL_H
#define FLX_CONSTRAINTS_CONSTRAINTS_INTERNAL_H

#include "constraints/constraints.h"

#define FLX_FLAT 1e-12 // least measure of an element, of its longest edge to the power of its dimension

/// Room for `count` constraints of `corners` columns each, with `first` filled in; `what` is the elements' name in
/// messages. *out is released by the caller also when it fails. FLX_ERR_MESH: too many. FLX_ERR_MEMORY.
flx_status flx__constraint_batch_create(flx_context* ctx, const flx_constraint_type* type, int32_t count,
                                        int32_t corners, const char* what, flx_constraint_batch* out);

/// weight[j], or 1 without any. FLX_ERR_SETTING: it is negative or not finite.
flx_status flx__constraint_stiffness(flx_context* ctx, const double* weight, int32_t j, const char* what, double* out);

/// 0 < least <= most; `zero_too`: least may be 0. FLX_ERR_SETTING
flx_status flx__constraint_limits(flx_context* ctx, const char* what, bool zero_too, double least, double most);

/// Three rows for each tet, S q = F^T, w_j = weight x volume, `least` and `most` as parameters.
flx_status flx__tet_gradients(flx_context* ctx, const flx_constraint_type* type, const double* x, int32_t count,
                              const int32_t* tet, const double* weight, double least, double most,
                              flx_constraint_batch* out);

/// Area of a triangle, twice its area as a vector being (x1 - x0) x (x2 - x0). FLX_ERR_MESH when it has none.
flx_status flx__triangle_area(flx_context* ctx, const double* x, const int32_t* triangle, int32_t number, double* area);

/// p = size z/|z|, 3 numbers; where z has no direction (0, or not finite), along x.
void flx__project_to_length(const double* z, double size, double* p);

/// The signed singular value decomposition of F from z = F^T; of 0 when z is not finite. F = sum_k sigma[k] U[k] V[k]^T
/// with det U = det V, so only the least of the sigma can be negative.
void flx__gradient_stretches(const double z[9], double sigma[3], double U[3][3], double V[3][3]);
/// p = (sum_k s[k] U[k] V[k]^T)^T
void flx__gradient_compose(const double s[3], const double U[3][3], const double V[3][3], double p[9]);

#endif
