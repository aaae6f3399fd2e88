// A balanced k-d tree over points, for box queries; any distribution of points, repeated ones too.
#ifndef FLX_MESH_POINT_TREE_H
#define FLX_MESH_POINT_TREE_H

#include "base/base.h"

typedef struct flx_point_tree
{
    int32_t       count;
    const double* x;     // [..][3], the caller's
    int32_t*      order; // [count] the median of each range in its middle; axes x, y, z in turn
} flx_point_tree;

/// Over the points that `point` names (NULL: 0 .. count - 1). x must outlive the tree.
flx_status flx__point_tree_begin(flx_context* ctx, flx_point_tree* tree, int32_t count, const int32_t* point,
                                 const double* x);
void       flx__point_tree_end(flx_context* ctx, flx_point_tree* tree);

/// Call `visit` with each point in the closed box until it returns false.
typedef bool (*flx_point_fn)(void* user, int32_t point);
void flx__point_tree_box(const flx_point_tree* tree, const double low[3], const double high[3], flx_point_fn visit,
                         void* user);

#endif
