// One precision of panel.inl: REAL and NAME are defined by the includer.
#define LANES ((int)(FLX_PANEL_BYTES / sizeof(REAL)))

typedef REAL NAME(wide) __attribute__((vector_size(FLX_PANEL_BYTES)));
typedef REAL NAME(wide_at) __attribute__((vector_size(FLX_PANEL_BYTES), aligned(sizeof(REAL)), may_alias)); // anywhere

/// Two columns at a time, in sums of their own: an addition takes several cycles, and none should wait for the last.
static inline __attribute__((always_inline)) void NAME(block)(int faces, int32_t columns, const REAL* m, const REAL* x,
                                                              NAME(wide) sum[3])
{
    const int step     = faces * LANES;
    NAME(wide) even[3] = {{0}}, odd[3] = {{0}};
    int32_t c = 0;
    for (; c + 2 <= columns; c += 2, m += 2 * step, x += 6)
        for (int d = 0; d < 3; ++d)
        {
            even[d] += *(const NAME(wide_at)*)(m + (faces == 3 ? d * LANES : 0)) * x[d];
            odd[d] += *(const NAME(wide_at)*)(m + step + (faces == 3 ? d * LANES : 0)) * x[3 + d];
        }
    for (int d = 0; d < 3 && c < columns; ++d)
        even[d] += *(const NAME(wide_at)*)(m + (faces == 3 ? d * LANES : 0)) * x[d];
    for (int d = 0; d < 3; ++d) sum[d] = even[d] + odd[d];
}

static inline __attribute__((always_inline)) void NAME(range)(int faces, const flx_panel* p, int64_t begin, int64_t end,
                                                              const REAL* x, const REAL* base, REAL* y)
{
    const int64_t size = (int64_t)p->columns * faces * LANES;
    for (int64_t b = begin; b < end; ++b)
    {
        NAME(wide) sum[3];
        REAL lane[3][LANES];
        NAME(block)(faces, p->columns, (const REAL*)p->value + b * size, x, sum);
        memcpy(lane, sum, sizeof lane);
        REAL* out = y + 3 * (b - begin) * LANES;
        if (base)
            for (int i = 0; i < LANES; ++i)
                for (int d = 0; d < 3; ++d) out[3 * i + d] = base[3 * ((b - begin) * LANES + i) + d] + lane[d][i];
        else
            for (int i = 0; i < LANES; ++i)
                for (int d = 0; d < 3; ++d) out[3 * i + d] = lane[d][i];
    }
}

static void NAME(blocks)(const flx_panel* p, int64_t begin, int64_t end, const void* x, const void* base, void* y)
{
    if (p->faces == 3)
        NAME(range)(3, p, begin, end, x, base, y);
    else
        NAME(range)(1, p, begin, end, x, base, y);
}

static void NAME(vector)(const flx_panel* p, const void* x, const void* base, void* y)
{
    const REAL*   in   = x;
    const int64_t size = (int64_t)p->columns * LANES;
    for (int64_t b = 0; b * LANES < p->rows; ++b)
    {
        const REAL* m     = (const REAL*)p->value + b * size;
        NAME(wide) sum[4] = {{0}};
        if (base) sum[0] = *(const NAME(wide_at)*)((const REAL*)base + b * LANES);
        int32_t c = 0;
        for (; c + 4 <= p->columns; c += 4)
            for (int i = 0; i < 4; ++i) sum[i] += *(const NAME(wide_at)*)(m + (c + i) * LANES) * in[c + i];
        for (; c < p->columns; ++c) sum[0] += *(const NAME(wide_at)*)(m + c * LANES) * in[c];
        sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        memcpy((REAL*)y + b * LANES, &sum[0], sizeof sum[0]);
    }
}

#undef LANES
