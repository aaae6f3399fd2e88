// Boxes over deformed tets: the tree is made once in the rest pose, its boxes follow the motion.
#ifndef FLX_CONTACT_DEFORMED_BVH_H
#define FLX_CONTACT_DEFORMED_BVH_H

#include "base/base.h"

typedef struct flx_deformed_bvh flx_deformed_bvh;

/// Tree over the tets tet[search[0..search_count)]; `slot` below is a position in `search`. `tet` and `search` must
/// outlive the tree; x_rest must be finite. FLX_ERR_MEMORY.
flx_status flx__deformed_bvh_create(flx_context* ctx, const double* x_rest, const int32_t* tet, int32_t search_count,
                                    const int32_t* search, flx_deformed_bvh** out);
void       flx__deformed_bvh_destroy(flx_deformed_bvh* bvh);

/// Move the boxes to positions x. Parallel, no heap; minima and maxima are exact, so the same for any worker count.
/// Corners that are NaN are left out of the boxes.
void flx__deformed_bvh_refit(flx_deformed_bvh* bvh, const double* x);
/// The same around straight ways from positions `from` to positions x.
void flx__deformed_bvh_refit_swept(flx_deformed_bvh* bvh, const double* from, const double* x);

/// Visit the tets whose boxes meet [lo, hi], in the tree's order. Nothing for NaN. Thread-safe, no heap.
typedef void (*flx_slot_fn)(void* user, int32_t slot);
void flx__deformed_bvh_query(const flx_deformed_bvh* bvh, const double lo[3], const double hi[3], flx_slot_fn visit,
                             void* user);

#endif
