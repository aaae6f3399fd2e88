// Embedded points: four tet corners and barycentric weights; and finding the tet for a point.
#ifndef FLX_MESH_EMBEDDING_H
#define FLX_MESH_EMBEDDING_H

#include "base/base.h"

typedef struct flx_embedded
{
    int32_t tet;       // -1 = none
    double  weight[4]; // sum to 1; a weight below 0 or above 1 extrapolates
} flx_embedded;

typedef struct flx_tet_locator flx_tet_locator;

/// Copies nothing: x and tet must outlive the locator. Tets must have positive volume.
flx_status flx__tet_locator_create(flx_context* ctx, int32_t vertex_count, const double* x, int32_t tet_count,
                                   const int32_t* tet, flx_tet_locator** out);
void       flx__tet_locator_destroy(flx_tet_locator* locator);
/// The tet that contains p (ties: the lowest index), else the nearest one by distance to the tet (not to its plane):
/// weights then extrapolate. Returns the distance outside, 0 when contained. Thread-safe, no heap.
double flx__tet_locator_find(const flx_tet_locator* locator, const double p[3], flx_embedded* out);

/// Barycentric weights of p in the tet with corners x[tet[0..3]].
void flx__tet_weights(const double* x, const int32_t tet[4], const double p[3], double weight[4]);

/// Squared distance from p to the tet (0 inside) and to the triangle; the former also gives the weights.
double flx__tet_distance2(const double* x, const int32_t tet[4], const double p[3], double weight[4]);
double flx__triangle_distance2(const double a[3], const double b[3], const double c[3], const double p[3]);

#endif
