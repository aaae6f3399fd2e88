// Kernels of the substitutions and of the dense product, one set for each instruction set.
#ifndef FLX_SPARSE_SUBSTITUTE_H
#define FLX_SPARSE_SUBSTITUTE_H

#include "base/cpu.h"
#include "sparse/panels.h"

/// Reals of scratch for each worker: FLX__PIECE columns x 3 right-hand sides x at most 16 lanes.
#define FLX__SUBSTITUTE_SCRATCH (FLX__PIECE * 3 * 16)

// Vectors are [row][4]; l points to a tile layout of panels.h; slot[i] is the row of x that row i stands for.
#define FLX__SUBSTITUTE_KERNELS(real, suffix)                                                                          \
    /* x[0 .. width) = W x[0 .. width), W the inverse of the diagonal block */                                         \
    void (*forward_diagonal_##suffix)(const real* w_tiles, int32_t width, real* x);                                    \
    /* x[slot[i]] -= sum_k l[i][k] y[k] for rows [begin, end) of the padded rows below */                              \
    void (*forward_below_##suffix)(const real* l, int32_t width, int32_t rows, int32_t begin, int32_t end,             \
                                   const int32_t* slot, const real* y, real* x);                                       \
    /* sum[k] = sum_i l[i][k] x[slot[i]] for rows [begin, end); sum [width][4] */                                      \
    void (*backward_below_##suffix)(const real* l, int32_t width, int32_t rows, int32_t begin, int32_t end,            \
                                    const int32_t* slot, const real* x, real* sum, real* scratch);                     \
    /* x[0 .. width) = W^T (x - sum) */                                                                                \
    void (*backward_diagonal_##suffix)(const real* wt_tiles, int32_t width, const real* sum, real* x);                 \
    /* y[c][i] = row i of a times x[c], for rows [begin, end) */                                                       \
    void (*multiply3_##suffix)(int32_t n, const real* a, int64_t ld, int64_t begin, int64_t end, real* const x[3],     \
                               real* const y[3]);

typedef struct flx__substitute
{
    FLX__SUBSTITUTE_KERNELS(float, f32)
    FLX__SUBSTITUTE_KERNELS(double, f64)
} flx__substitute;

flx__substitute flx__substitute_choose(flx_isa isa);
void            flx__substitute_base(flx__substitute* table);
void            flx__substitute_avx2(flx__substitute* table);
void            flx__substitute_avx512(flx__substitute* table);

#endif
