#include "reduce/panel.h"

#include <string.h>

static int64_t lanes_of(flx_precision precision)
{
    return FLX_PANEL_BYTES / (precision == FLX_PRECISION_SINGLE ? (int64_t)sizeof(float) : (int64_t)sizeof(double));
}

static int64_t blocks_of(flx_precision precision, int64_t rows)
{
    return (rows + lanes_of(precision) - 1) / lanes_of(precision);
}

int64_t flx__panel_room(flx_precision precision, int64_t rows)
{
    return 3 * blocks_of(precision, rows) * lanes_of(precision);
}

void flx__widen(int64_t count, const float* restrict from, double* restrict to)
{
    for (int64_t i = 0; i < count; ++i) to[i] = (double)from[i];
}

void flx__narrow(int64_t count, const double* restrict from, float* restrict to)
{
    for (int64_t i = 0; i < count; ++i) to[i] = (float)from[i];
}

static void put(const flx_panel* p, int64_t at, double value)
{
    if (p->precision == FLX_PRECISION_SINGLE)
        ((float*)p->value)[at] = (float)value;
    else
        ((double*)p->value)[at] = value;
}

flx_status flx__panel_create(flx_context* ctx, flx_precision precision, int32_t faces, int32_t rows, int32_t columns,
                             const double* m, flx_panel* out)
{
    const int64_t lanes = lanes_of(precision), each = faces == 3 ? 3 : 1;
    *out         = (flx_panel){.precision = precision, .faces = faces, .rows = rows, .columns = columns};
    out->kernels = flx__panel_kernels_for(flx__context_isa(ctx));
    out->value =
        flx__alloc_zero(ctx, blocks_of(precision, rows) * lanes * columns * each, FLX_PANEL_BYTES / (size_t)lanes);
    if (!out->value) return FLX_ERR_MEMORY;
    for (int64_t d = 0; d < each; ++d)
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t c = 0; c < columns; ++c)
                put(out, ((i / lanes * columns + c) * each + d) * lanes + i % lanes, m[(d * rows + i) * columns + c]);
    return FLX_OK;
}

void flx__panel_release(flx_context* ctx, flx_panel* panel)
{
    flx__free(ctx, panel->value);
    *panel = (flx_panel){0};
}

void flx__panel_multiply(const flx_panel* p, const void* x, const void* base, void* y)
{
    if (p->faces == 0)
        p->kernels->vector[p->precision](p, x, base, y);
    else
        p->kernels->blocks[p->precision](p, 0, blocks_of(p->precision, p->rows), x, base, y);
}

void flx__panel_multiply_rows(const flx_panel* p, int64_t begin, int64_t end, const void* x, void* y)
{
    const int64_t lanes = lanes_of(p->precision), size = FLX_PANEL_BYTES / lanes, whole = (end - begin) / lanes;
    const int64_t first = begin / lanes, over = (end - begin) % lanes;
    _Alignas(FLX_PANEL_BYTES) char last[3 * FLX_PANEL_BYTES];
    p->kernels->blocks[p->precision](p, first, first + whole, x, NULL, y);
    if (over == 0) return;
    p->kernels->blocks[p->precision](p, first + whole, first + whole + 1, x, NULL, last);
    memcpy((char*)y + 3 * whole * FLX_PANEL_BYTES, last, (size_t)(3 * over * size));
}

const flx_panel_kernels* flx__panel_kernels_for(flx_isa isa)
{
    if (isa == FLX_ISA_AVX512 && flx__panels_avx512.pull) return &flx__panels_avx512;
    if (isa >= FLX_ISA_AVX2 && isa <= FLX_ISA_AVX512 && flx__panels_avx2.pull) return &flx__panels_avx2;
    return &flx__panels_plain;
}
