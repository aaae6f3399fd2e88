// Disjoint sets over an array of parents: parent[i] == i marks a root. The lowest member is the root, so that the
// result does not depend on the order of joining.
#ifndef FLX_BASE_SETS_H
#define FLX_BASE_SETS_H

#include <stdint.h>

/// The root of i's set; halves the path on the way.
static inline int32_t flx__set_root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline void flx__set_join(int32_t* parent, int32_t a, int32_t b)
{
    a                     = flx__set_root(parent, a);
    b                     = flx__set_root(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

#endif
