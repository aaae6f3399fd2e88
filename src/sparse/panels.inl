// The copy into the layout from one precision. The including file defines REAL and NAME(x).

/// Write `count` entries at `at` in every precision kept, and zeros up to `padded`.
static inline void NAME(put)(const flx__panels* panels, int64_t at, const REAL* from, int32_t count, int32_t padded)
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

void NAME(flx__panels_store_diagonal)(const flx__panels* panels, int32_t piece, const REAL* front, int64_t ld,
                                      REAL* scratch)
{
    const flx__piece* p = &panels->piece[piece];
    const int32_t     w = p->width;
    for (int32_t j = 0; j < w; ++j)
    {
        const REAL* from = front + p->offset + (p->offset + j) * ld;
        memset(scratch + (int64_t)j * w, 0, (size_t)j * sizeof *scratch);
        memcpy(scratch + (int64_t)j * w + j, from + j, (size_t)(w - j) * sizeof *scratch);
    }
    NAME(blas_invert_lower)(w, scratch, w);
    int64_t transposed = p->transposed;
    for (int32_t t = 0; t * FLX__TILE < w; ++t)
    {
        const int32_t begin = t * FLX__TILE;
        const int32_t count = w - begin < FLX__TILE ? w - begin : FLX__TILE;
        const int64_t at    = p->diagonal + flx__diagonal_tile(t);
        for (int32_t j = 0; j < flx__diagonal_columns(w, t); ++j)
            NAME(put)(panels, at + (int64_t)j * FLX__TILE, scratch + (int64_t)j * w + begin, count, FLX__TILE);
        for (int32_t j = begin; j < w; ++j) // column j of W^T is row j of W
        {
            REAL row[FLX__TILE];
            for (int32_t i = 0; i < count; ++i) row[i] = scratch[j + (int64_t)(begin + i) * w];
            NAME(put)(panels, transposed, row, count, FLX__TILE);
            transposed += FLX__TILE;
        }
    }
}

void NAME(flx__panels_store_below)(const flx__panels* panels, int32_t piece, const REAL* front, int64_t ld,
                                   int32_t begin, int32_t end)
{
    const flx__piece* p      = &panels->piece[piece];
    const int32_t     blocks = (int32_t)(flx__padded(p->rows) / FLX__BLOCK) * FLX__BLOCK; // rows that lie in blocks
    const REAL*       origin = front + p->offset + p->width + p->offset * ld;
    for (int32_t i = begin; i < end;)
    {
        const int32_t height = i < blocks ? FLX__BLOCK : (int32_t)flx__padded(p->rows) - blocks;
        const int32_t count  = p->rows - i < height ? p->rows - i : height;
        for (int32_t j = 0; j < p->width; ++j) NAME(put)
        (panels, p->below + (int64_t)i * p->width + (int64_t)j * height, origin + i + j * ld, count, height);
        i += height;
    }
}
