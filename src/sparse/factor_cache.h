// Orders and factors that an earlier run has made: found by the digest of what they are made from and of the code that
// makes them, in the folder of the context (base/cache.h). What is found has the bits that making it anew would give.
#ifndef FLX_SPARSE_FACTOR_CACHE_H
#define FLX_SPARSE_FACTOR_CACHE_H

#include "sparse/sparse.h"

#include "base/cache.h"

/// Fewer unknowns are ordered and factored about as soon as found.
#define FLX__CACHED_UNKNOWNS 20000

/// Fill order [n] from an earlier run. False when there is none; `entry` is then for flx__order_save().
bool flx__order_load(flx_context* ctx, const flx_graph* graph, const uint8_t* prone, int32_t* order,
                     flx__cache_entry* entry);
void flx__order_save(flx_context* ctx, const flx__cache_entry* entry);

/// Fill the panels of an analyzed factor, and keep->beside. False when there is none.
bool flx__factor_load(flx_factor* f, const flx_csc* a, flx_factor_keep* keep);

#endif
