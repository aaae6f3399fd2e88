// The top of the tree: few large supernodes, each factored by all workers in fixed tiles.
//
//   panel = columns of A + updates of the children;  left-looking Cholesky by pieces of FLX__PIECE columns;
//   the free part of the update goes into a matrix of its own, the prone part straight into Sigma -= L_21 L_21^T.
// [LLKS] eq. 14: Sigma is complete once every supernode has done so. Each tile is computed by one worker with
// one-thread BLAS, and supernodes follow one another in postorder, so the sums have one order whatever the number of
// workers.
#include "sparse/blas.h"
#include "sparse/factor_internal.h"

#include <math.h>
#include <string.h>

static int64_t triangle(int64_t k)
{
    return k * (k + 1) / 2;
}
static int32_t tile_count(int32_t rows)
{
    return (rows + FLX__TOP_TILE - 1) / FLX__TOP_TILE;
}

#define REAL double
#define NAME(x) x##_f64
#include "sparse/top.inl"
#undef REAL
#undef NAME

#define REAL float
#define NAME(x) x##_f32
#include "sparse/top.inl"
