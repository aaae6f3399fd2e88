// The insides of flx_triangle_bvh, for triangle_bvh.c, winding.c, orientation.c and crossings.c only; distance_field.c
// asks through the functions at the end.
#ifndef FLX_MESH_TRIANGLE_BVH_INTERNAL_H
#define FLX_MESH_TRIANGLE_BVH_INTERNAL_H

#include "mesh/triangle_bvh.h"

#define FLX_BVH_STACK 128 // deeper than any tree: 48 levels by surface area, then halves of at most 2^31 triangles

/// Boxes are floats, rounded outwards and a little more, so that a box is never farther than what it holds.
typedef struct flx_bvh_node
{
    float   lo[3], hi[3];
    int32_t first; // leaf: first slot; else left child, the right one follows it
    int32_t count; // leaf: slots; 0 = has children
} flx_bvh_node;

/// Far field of a node's triangles about their middle; d = middle - q:
///   4 pi w(q) = N.d / |d|^3 + Q(d) / |d|^5 + C(d) / |d|^7
typedef struct flx_bvh_far
{
    double middle[3];
    double accept;    // |d|^2 above which the expansion is used
    double dipole[3]; // N
    double quad[6];   // Q: xx yy zz xy xz yz
    double cubic[10]; // C: xxx yyy zzz xxy xxz xyy yyz xzz yzz xyz
} flx_bvh_far;

/// What joins what: found once, from vertices of equal position.
typedef struct flx_surface_topology
{
    int64_t open_edges;   // edges whose triangles do not cancel: where the winding number is not a whole number
    int32_t turned;       // triangles read the other way round, to agree with their neighbours
    int32_t first_turned; // -1 = none
    bool    one_sided;    // a part that cannot be oriented (a Moebius strip): read as given
    int32_t loop_count;   // connected sets of open edges
    double* loop_box;     // [loop_count][6] min, max
} flx_surface_topology;

struct flx_triangle_bvh
{
    flx_context*  ctx;
    int32_t       triangle_count;
    int32_t       node_count;
    flx_bvh_node* node;     // [node_count], node 0 is the root
    int32_t*      triangle; // [slot] triangle of the caller
    double*       corner;   // [slot][3][3] m
    float*        ball;     // [slot][4] middle and radius, grown by its rounding: a quick way to leave a triangle out
    double        box[6];   // m: min, max
    // for the winding number; NULL in a bare tree
    int8_t*              facing; // [slot] +1 as given, -1 turned
    flx_bvh_far*         far;    // [node_count]
    flx_surface_topology topology;
};

/// The tree alone: closest point and boxes, no winding number.
flx_status flx__triangle_bvh_create_bare(flx_context* ctx, int32_t vertex_count, const double* x,
                                         int32_t triangle_count, const int32_t* triangle, flx_triangle_bvh** out);

/// flx__triangle_bvh_closest with a guess: *slot is tried first (-1 = none), and is where the point was found.
bool flx__triangle_bvh_closest_near(const flx_triangle_bvh* bvh, const double p[3], double max_distance, int32_t* slot,
                                    flx_closest* out);

/// winding.c: fill bvh->far from bvh->corner and bvh->facing.
flx_status flx__bvh_far_field(flx_triangle_bvh* bvh);

/// orientation.c: out facing [triangle_count] by triangle; topology->loop_box is the caller's to flx__free().
flx_status flx__surface_topology_find(flx_context* ctx, int32_t vertex_count, const double* x, int32_t triangle_count,
                                      const int32_t* triangle, int8_t* facing, flx_surface_topology* topology);

/// Triangles whose boxes meet the given one, in tree order, each handed to `visit` as its slot.
typedef void (*flx_bvh_visit_fn)(void* user, int32_t slot);
void flx__triangle_bvh_visit(const flx_triangle_bvh* bvh, const double box_min[3], const double box_max[3],
                             flx_bvh_visit_fn visit, void* user);

/// Where the surface is open: the winding number may pass its threshold without a triangle being crossed only in and
/// near these boxes. [count][6] min, max; belongs to the bvh.
const double* flx__triangle_bvh_open_boxes(const flx_triangle_bvh* bvh, int32_t* count);

/// Keep the `capacity` smallest of the numbers offered, in a heap; then put them in order.
void flx__keep_least_offer(int32_t* kept, int32_t* count, int32_t capacity, int32_t offered);
void flx__keep_least_sort(int32_t* kept, int32_t count);

#endif
