// Element kernels: plain arrays in and out, compiled once per instruction set, picked at run time.
#ifndef FLX_KERNELS_KERNELS_H
#define FLX_KERNELS_KERNELS_H

#include "base/cpu.h"

#define FLX_LANES 16

/// Tets in patches. A patch is a few hundred neighbouring tets with a short list of the vertices they touch: it loads
/// those once, works on numbers relative to its first vertex (so single precision loses nothing to the body's size),
/// adds forces up locally and writes one sum per local vertex. A vertex then gathers from the few patches that know it,
/// in stored order: the result does not depend on which worker did what. Written once by model/elements.c,
/// read-only after. Unused lanes repeat the patch's last tet with stiffness 0.
typedef struct flx_patches
{
    int32_t       patch_count;
    int32_t       block_count;
    int32_t       local_count; // entries in `vertex`
    int32_t       local_max;   // most local vertices of a patch
    int32_t       tet_count;
    int32_t*      first_block;   // [patch_count + 1]
    int32_t*      first_local;   // [patch_count + 1]
    int32_t*      vertex;        // [local_count] model vertex
    uint16_t*     corner;        // [block_count][4][FLX_LANES] local vertex
    int32_t*      tet;           // [block_count][FLX_LANES] model tet, -1 = unused lane
    float*        rest_inv_f32;  // [block_count][9][FLX_LANES] Dm^-1 row major, 1/m
    float*        stiffness_f32; // [block_count][FLX_LANES] 2 mu volume, N m
    const double* rest_inv_f64;  // [tets of the model][9] and [..]: the model's own arrays, by tet number
    const double* stiffness_f64;
} flx_patches;

/// What one pass over patches reads and writes.
typedef struct flx_corotated_pass
{
    const flx_patches* patches;
    const double*      u;          // [n][3] m, displacement from rest: gives F in the stress
    const double*      u_rotation; // [n][3] m, gives R; NULL = u
    void*              force;      // [local_count][4] float or double: sum of -dE/dx over the patch's tets, N
    double*            energy;     // [patch_count] J, with F and R as above
    int32_t*           inverted;   // [patch_count] tets with det F <= 0 (at u_rotation)
    void*              scratch;    // [workers][3 * 4 * local_max] of the same type
} flx_corotated_pass;

/// Forces of patches [begin, end): P = 2 mu (F - R), f = -vol P G, R the nearest rotation. [LLKS] eq. 1-6.
typedef void (*flx_corotated_fn)(const flx_corotated_pass* pass, int64_t begin, int64_t end, int32_t worker);

/// The rotation of `count` matrices F - I, as R - I; [count][9] row major. For tests of the very code the step uses.
typedef void (*flx_rotation_fn)(int64_t count, const void* h, void* w);

/// A contact's row of W Sigma^-1: row [n] = sum_{a < count} weight[a] inverse[at[a]][:], inverse [n][n] of the row's
/// type.
typedef void (*flx_rows_build_fn)(const void* inverse, int32_t n, int32_t count, const int32_t* at,
                                  const double* weight, void* row);
/// What forces on contacts move: delta[axis][begin, end) += sum_{i < count} f[axis][i] rows[i][:], rows [count][n].
typedef void (*flx_rows_move_fn)(const void* rows, int32_t n, int32_t count, const double* const f[3], int64_t begin,
                                 int64_t end, double* const delta[3]);

typedef struct flx_kernels
{
    const char*       name;
    flx_corotated_fn  corotated_f32;
    flx_corotated_fn  corotated_f64;
    flx_rotation_fn   rotation_f32;
    flx_rotation_fn   rotation_f64;
    flx_rows_build_fn rows_build_f32, rows_build_f64;
    flx_rows_move_fn  rows_move_f32, rows_move_f64;
} flx_kernels;

/// The table for an instruction set that this processor has.
flx_kernels flx__kernels_for(flx_isa isa);

#endif
