// The factor as the substitutions read it.
//
// A supernode is cut into pieces of at most FLX__PIECE columns. A piece of w columns and r rows below stores
//   * the inverse W of its diagonal block, in tiles of 16 rows: tile t is [min(w, 16 (t + 1))][16], zeros above the
//     diagonal;
//   * the rows below, padded to a multiple of 16: as many blocks [w][64] as fit, then one [w][16, 32 or 48].
//   * W once more, transposed, for the backward pass (behind all pieces): tile t is [w - 16 t][16].
// So each is one stream of memory, 64-byte aligned, and the block that begins with row i below starts at i * w.
#ifndef FLX_SPARSE_PANELS_H
#define FLX_SPARSE_PANELS_H

#include "sparse/symbolic.h"

#define FLX__TILE 16
#define FLX__BLOCK 64
#define FLX__PIECE 128

typedef struct flx__piece
{
    int64_t diagonal;   // offset of the diagonal block's inverse
    int64_t below;      // offset of the rows below
    int64_t transposed; // offset of the transposed inverse
    int32_t first;      // first column
    int32_t width;
    int32_t rows;   // below, without padding
    int32_t offset; // columns of the supernode before this piece
} flx__piece;

typedef struct flx__panels
{
    int32_t     piece_count;
    int32_t*    piece_first;                     // [supernodes + 1]
    flx__piece* piece;                           // [piece_count]
    int64_t     length;                          // entries of one of the arrays below
    int64_t     forward_length, backward_length; // of these, what a forward and a backward pass read
    float*      single;                          // NULL when not wanted
    double*     twice;                           // double precision; NULL when not wanted
} flx__panels;

flx_status flx__panels_create(flx_context* ctx, const flx__symbolic* sym, bool single, bool twice, flx__panels* out);
void       flx__panels_release(flx_context* ctx, flx__panels* panels);

/// Columns of the k-th piece are [flx__piece_column(w, k), flx__piece_column(w, k + 1)) of a supernode of width w.
int32_t flx__piece_count(int32_t width);
int32_t flx__piece_column(int32_t width, int32_t k);

/// Store what a factored supernode [rows][ld] gives for one piece: the inverse of its diagonal block.
/// scratch [FLX__PIECE * FLX__PIECE]
void flx__panels_store_diagonal_f64(const flx__panels* panels, int32_t piece, const double* front, int64_t ld,
                                    double* scratch);
void flx__panels_store_diagonal_f32(const flx__panels* panels, int32_t piece, const float* front, int64_t ld,
                                    float* scratch);
/// Rows [begin, end) below the piece's diagonal block; begin is a multiple of FLX__BLOCK, so is end unless it is the
/// last.
void flx__panels_store_below_f64(const flx__panels* panels, int32_t piece, const double* front, int64_t ld,
                                 int32_t begin, int32_t end);
void flx__panels_store_below_f32(const flx__panels* panels, int32_t piece, const float* front, int64_t ld,
                                 int32_t begin, int32_t end);

static inline int64_t flx__padded(int64_t rows)
{
    return (rows + FLX__TILE - 1) / FLX__TILE * FLX__TILE;
}

/// Offset of tile t inside a diagonal block of `width` columns.
static inline int64_t flx__diagonal_tile(int32_t t)
{
    return (int64_t)FLX__TILE * FLX__TILE * t * (t + 1) / 2;
}
static inline int32_t flx__diagonal_columns(int32_t width, int32_t t)
{
    return width < FLX__TILE * (t + 1) ? width : FLX__TILE * (t + 1);
}

#endif
