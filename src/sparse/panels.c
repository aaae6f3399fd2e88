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

/// Write `count` entries at `at` in every precision kept, and zeros up to `padded`.
static inline void put(const flx__panels* panels, int64_t at, const double* from, int32_t count, int32_t padded)
{
    if (panels->single)
    {
        float* to = panels->single + at;
        for (int32_t i = 0; i < count; ++i) to[i] = (float)from[i];
        for (int32_t i = count; i < padded; ++i) to[i] = 0.0f;
    }
    if (panels->twice)
    {
        double* to = panels->twice + at;
        for (int32_t i = 0; i < count; ++i) to[i] = from[i];
        for (int32_t i = count; i < padded; ++i) to[i] = 0.0;
    }
}

void flx__panels_store_diagonal(const flx__panels* panels, int32_t piece, const double* front, int64_t ld,
                                double* scratch)
{
    const flx__piece* p = &panels->piece[piece];
    const int32_t     w = p->width;
    for (int32_t j = 0; j < w; ++j)
    {
        const double* from = front + p->offset + (p->offset + j) * ld;
        memset(scratch + (int64_t)j * w, 0, (size_t)j * sizeof *scratch);
        memcpy(scratch + (int64_t)j * w + j, from + j, (size_t)(w - j) * sizeof *scratch);
    }
    blas_invert_lower_f64(w, scratch, w);
    int64_t transposed = p->transposed;
    for (int32_t t = 0; t * FLX__TILE < w; ++t)
    {
        const int32_t begin = t * FLX__TILE;
        const int32_t count = w - begin < FLX__TILE ? w - begin : FLX__TILE;
        const int64_t at    = p->diagonal + flx__diagonal_tile(t);
        for (int32_t j = 0; j < flx__diagonal_columns(w, t); ++j)
            put(panels, at + (int64_t)j * FLX__TILE, scratch + (int64_t)j * w + begin, count, FLX__TILE);
        for (int32_t j = begin; j < w; ++j) // column j of W^T is row j of W
        {
            double row[FLX__TILE];
            for (int32_t i = 0; i < count; ++i) row[i] = scratch[j + (int64_t)(begin + i) * w];
            put(panels, transposed, row, count, FLX__TILE);
            transposed += FLX__TILE;
        }
    }
}

void flx__panels_store_below(const flx__panels* panels, int32_t piece, const double* front, int64_t ld, int32_t begin,
                             int32_t end)
{
    const flx__piece* p      = &panels->piece[piece];
    const int32_t     blocks = (int32_t)(flx__padded(p->rows) / FLX__BLOCK) * FLX__BLOCK; // rows that lie in blocks
    const double*     origin = front + p->offset + p->width + p->offset * ld;
    for (int32_t i = begin; i < end;)
    {
        const int32_t height = i < blocks ? FLX__BLOCK : (int32_t)flx__padded(p->rows) - blocks;
        const int32_t count  = p->rows - i < height ? p->rows - i : height;
        for (int32_t j = 0; j < p->width; ++j)
            put(panels, p->below + (int64_t)i * p->width + (int64_t)j * height, origin + i + j * ld, count, height);
        i += height;
    }
}
