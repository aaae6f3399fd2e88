// Rows U = W Sigma^-1 of contacts, and what forces on them move: plain loops that the compiler widens for each
// instruction set. WIDE_REAL is defined by the includer.

/// row = sum_a weight[a] inverse[at[a], :], the four corners of a tet at a time, so that the row is written seldom.
static void rows_build(const void* inverse, int32_t n, int32_t count, const int32_t* at, const double* weight,
                       void* row)
{
    WIDE_REAL* restrict out = row;
    memset(row, 0, sizeof *out * (size_t)n);
    for (int32_t a = 0; a < count; a += 4)
    {
        const WIDE_REAL* from[4];
        WIDE_REAL        w[4];
        for (int32_t k = 0; k < 4; ++k) // missing corners repeat the first with weight 0
        {
            const int32_t c = a + k < count ? a + k : a;
            from[k]         = (const WIDE_REAL*)inverse + (int64_t)at[c] * n;
            w[k]            = a + k < count ? (WIDE_REAL)weight[c] : 0;
        }
        const WIDE_REAL *p = from[0], *q = from[1], *r = from[2], *s = from[3];
        for (int32_t i = 0; i < n; ++i) out[i] += w[0] * p[i] + w[1] * q[i] + w[2] * r[i] + w[3] * s[i];
    }
}

/// delta[axis][begin, end) += sum_i U_i f_i[axis]
static void rows_move(const void* rows, int32_t n, int32_t count, const double* const f[3], int64_t begin, int64_t end,
                      double* const delta[3])
{
    double* restrict x = delta[0], * restrict y = delta[1], * restrict z = delta[2];
    for (int32_t i = 0; i < count; ++i)
    {
        const double fx = f[0][i], fy = f[1][i], fz = f[2][i];
        if (fx == 0 && fy == 0 && fz == 0) continue;
        const WIDE_REAL* row = (const WIDE_REAL*)rows + (int64_t)i * n;
        for (int64_t k = begin; k < end; ++k)
        {
            const double u = (double)row[k];
            x[k] += u * fx;
            y[k] += u * fy;
            z[k] += u * fz;
        }
    }
}
