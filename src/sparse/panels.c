// Layout of the factor for the substitutions, and the copy into it.
#include "sparse/panels.h"

#include "sparse/blas.h"

#include <string.h>

int32_t flx__piece_count(int32_t width)
{
    return (width + FLX__PIECE - 1) / FLX__PIECE;
}

int32_t flx__piece_column(int32_t width, int32_t k)
{
    const int32_t count = flx__piece_count(width);
    const int32_t step  = (int32_t)flx__padded((width + count - 1) / count);
    return k * step < width ? k * step : width;
}

flx_status flx__panels_create(flx_context* ctx, const flx__symbolic* sym, bool single, bool twice, flx__panels* out)
{
    flx_status status = FLX_OK;
    *out              = (flx__panels){0};
    FLX_NEW(ctx, out->piece_first, (int64_t)sym->count + 1);
    for (int32_t s = 0; s < sym->count; ++s)
    {
        out->piece_first[s] = out->piece_count;
        out->piece_count += flx__piece_count(sym->width[s]);
    }
    out->piece_first[sym->count] = out->piece_count;

    FLX_NEW(ctx, out->piece, out->piece_count);
    for (int32_t s = 0; s < sym->count; ++s)
        for (int32_t k = 0; k < flx__piece_count(sym->width[s]); ++k)
        {
            flx__piece* p      = &out->piece[out->piece_first[s] + k];
            p->offset          = flx__piece_column(sym->width[s], k);
            p->first           = sym->first[s] + p->offset;
            p->width           = flx__piece_column(sym->width[s], k + 1) - p->offset;
            p->rows            = flx__row_count(sym, s) - p->offset - p->width;
            const int32_t last = (p->width - 1) / FLX__TILE;
            p->diagonal        = out->length;
            p->below           = p->diagonal + flx__diagonal_tile(last) + (int64_t)p->width * FLX__TILE;
            out->length        = p->below + flx__padded(p->rows) * p->width;
        }
    out->forward_length = out->length;
    for (int32_t k = 0; k < out->piece_count; ++k) // by themselves: the forward pass must not have to step over them
    {
        flx__piece* p = &out->piece[k];
        p->transposed = out->length;
        for (int32_t begin = 0; begin < p->width; begin += FLX__TILE)
            out->length += (int64_t)(p->width - begin) * FLX__TILE;
        out->backward_length += out->length - p->transposed + flx__padded(p->rows) * p->width;
    }
    if (single) FLX_NEW(ctx, out->single, out->length);
    if (twice) FLX_NEW(ctx, out->twice, out->length);

done:
    if (status != FLX_OK) flx__panels_release(ctx, out);
    return status;
}

void flx__panels_release(flx_context* ctx, flx__panels* panels)
{
    flx__free(ctx, panels->piece_first);
    flx__free(ctx, panels->piece);
    flx__free(ctx, panels->single);
    flx__free(ctx, panels->twice);
    *panels = (flx__panels){0};
}

#define REAL double
#define NAME(x) x##_f64
#include "sparse/panels.inl"
#undef REAL
#undef NAME

#define REAL float
#define NAME(x) x##_f32
#include "sparse/panels.inl"
