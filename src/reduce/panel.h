// Small dense matrices packed for products with three columns, or one. Written once (panel.inl), compiled for each
// instruction set and both precisions: at the sizes of a round, BLAS is mostly the cost of calling it.
#ifndef FLX_REDUCE_PANEL_H
#define FLX_REDUCE_PANEL_H

#include "base/base.h"
#include "base/cpu.h"
#include "flexor/scene.h"

#define FLX_PANEL_BYTES 64 // a block's rows, of one column: 8 doubles or 16 floats

typedef struct flx_panel
{
    flx_precision precision;
    int32_t       faces; // 1: one matrix for x, y and z; 3: one for each; 0: vectors have one column, not three
    int32_t       rows, columns;
    const struct flx_panel_kernels* kernels;
    void*                           value; // [blocks][columns][faces][lanes]; rows beyond the last are 0
} flx_panel;

/// m [faces][rows][columns], row-major.
flx_status flx__panel_create(flx_context* ctx, flx_precision precision, int32_t faces, int32_t rows, int32_t columns,
                             const double* m, flx_panel* out);
void       flx__panel_release(flx_context* ctx, flx_panel* panel);
/// Doubles or floats that rows x 3 results need: whole blocks are written.
int64_t flx__panel_room(flx_precision precision, int64_t rows);
void    flx__widen(int64_t count, const float* from, double* to);
void    flx__narrow(int64_t count, const double* from, float* to);

/// y = base + P x, x [columns][3] and y [rows][3], or one column each when faces is 0; base NULL: 0; base may be y.
/// Whole blocks of y are written.
void flx__panel_multiply(const flx_panel* panel, const void* x, const void* base, void* y);
/// The same for rows [begin, end), faces > 0, base NULL, and no row beyond them; begin is the start of a block.
void flx__panel_multiply_rows(const flx_panel* panel, int64_t begin, int64_t end, const void* x, void* y);

/// Blocks [begin, end) of three columns; base and y are those of block `begin`.
typedef void (*flx_panel_blocks_fn)(const flx_panel* panel, int64_t begin, int64_t end, const void* x, const void* base,
                                    void* y);
/// All blocks of one column.
typedef void (*flx_panel_vector_fn)(const flx_panel* panel, const void* x, const void* base, void* y);
/// y [columns][3] += M^T x for row-major m [rows][columns] and x [rows][3]; rows of x that are 0 cost nothing.
/// scratch [3][columns]
typedef void (*flx_panel_pull_fn)(int64_t rows, int32_t columns, const double* m, const double* x, double* scratch,
                                  double* y);

typedef struct flx_panel_kernels
{
    flx_panel_blocks_fn blocks[2]; // by flx_precision
    flx_panel_vector_fn vector[2];
    flx_panel_pull_fn   pull;
} flx_panel_kernels;

extern const flx_panel_kernels flx__panels_plain;  // what the compiler makes of it without flags
extern const flx_panel_kernels flx__panels_avx2;   // NULL when not compiled
extern const flx_panel_kernels flx__panels_avx512; // likewise

const flx_panel_kernels* flx__panel_kernels_for(flx_isa isa);

#endif
