// Tiled Cholesky, its solve and the inverse in one precision. The including file defines REAL, NAME(x), BLAS(x) and
// PIVOT_LIMIT.

typedef struct NAME(tiles)
{
    int32_t n;
    int64_t ld;
    REAL*   a;
    int32_t k0, k1; // block column in work
} NAME(tiles);

/// First bad pivot of a factored block, or -1; `original` = the diagonal before.
static int32_t NAME(bad_pivot)(int32_t width, int info, const REAL* l, int64_t ld, const REAL* original)
{
    const int32_t known = info > 0 ? info - 1 : width;
    for (int32_t j = 0; j < known; ++j)
        if (!(l[j + j * ld] * l[j + j * ld] > PIVOT_LIMIT * original[j]) || !(original[j] > 0)) return j;
    return info > 0 ? known : -1;
}

static void NAME(solve_tiles)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(tiles)* t = user;
    (void)worker;
    BLAS(trsm)
    (CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int32_t)(end - begin), t->k1 - t->k0, 1,
     t->a + t->k0 + t->k0 * t->ld, (int32_t)t->ld, t->a + t->k1 + begin + t->k0 * t->ld, (int32_t)t->ld);
}

static void NAME(update_tiles)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(tiles)* t = user;
    const int32_t width  = t->k1 - t->k0;
    const int64_t left   = t->n - t->k1;
    const REAL*   l      = t->a + t->k1 + t->k0 * t->ld;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
    {
        int64_t i, j;
        tile_of(k, &i, &j);
        i *= TILE;
        j *= TILE;
        const int32_t rows    = (int32_t)(left - i < TILE ? left - i : TILE);
        const int32_t columns = (int32_t)(left - j < TILE ? left - j : TILE);
        REAL*         c       = t->a + (t->k1 + i) + (t->k1 + j) * t->ld;
        if (i == j) BLAS(syrk)
        (CblasColMajor, CblasLower, CblasNoTrans, rows, width, -1, l + i, (int32_t)t->ld, 1, c, (int32_t)t->ld);
        else BLAS(gemm)(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, width, -1, l + i, (int32_t)t->ld, l + j,
                        (int32_t)t->ld, 1, c, (int32_t)t->ld);
    }
}

static flx_status NAME(cholesky)(flx_context* ctx, int32_t n, REAL* a, int64_t ld, int32_t* bad_row)
{
    NAME(tiles) t = {.n = n, .ld = ld, .a = a};
    REAL original[TILE];
    blas_single_thread();
    for (int32_t k = 0; k < n; k += TILE)
    {
        t.k0            = k;
        t.k1            = n - k < TILE ? n : k + TILE;
        REAL*         d = a + k + k * ld;
        const int32_t w = t.k1 - t.k0;
        for (int32_t j = 0; j < w; ++j) original[j] = d[j + j * ld];
        const int     info = NAME(blas_cholesky)(w, d, (int32_t)ld);
        const int32_t bad  = NAME(bad_pivot)(w, info, d, ld, original);
        if (bad >= 0) return refuse(ctx, k + bad, bad_row);
        const int64_t blocks = (n - t.k1 + TILE - 1) / TILE;
        flx__parallel_for(ctx, n - t.k1, TILE, NAME(solve_tiles), &t);
        flx__parallel_for(ctx, triangle(blocks), 1, NAME(update_tiles), &t);
    }
    return FLX_OK;
}

// --- solve ------------------------------------------------------------------------------------------------

typedef struct NAME(system)
{
    int32_t     n;
    int64_t     ld;
    const REAL* l;
    int64_t     ldb;
    REAL*       b;
    int32_t     columns;
    int32_t     k0, k1;
} NAME(system);

/// b_i -= L_ik b_k for the rows [begin, end) after block k
static void NAME(solve_below)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(system)* s = user;
    (void)worker;
    BLAS(gemm)
    (CblasColMajor, CblasNoTrans, CblasNoTrans, (int32_t)(end - begin), s->columns, s->k1 - s->k0, -1,
     s->l + s->k1 + begin + s->k0 * s->ld, (int32_t)s->ld, s->b + s->k0, (int32_t)s->ldb, 1, s->b + s->k1 + begin,
     (int32_t)s->ldb);
}

/// b_j -= L_kj^T b_k for the rows [begin, end) before block k
static void NAME(solve_above)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(system)* s = user;
    (void)worker;
    BLAS(gemm)
    (CblasColMajor, CblasTrans, CblasNoTrans, (int32_t)(end - begin), s->columns, s->k1 - s->k0, -1,
     s->l + s->k0 + begin * s->ld, (int32_t)s->ld, s->b + s->k0, (int32_t)s->ldb, 1, s->b + begin, (int32_t)s->ldb);
}

static void NAME(solve)(flx_context* ctx, int32_t n, const REAL* l, int64_t ld, REAL* b, int64_t ldb, int32_t columns)
{
    NAME(system) s = {.n = n, .ld = ld, .l = l, .ldb = ldb, .b = b, .columns = columns};
    if (n == 0 || columns == 0) return;
    blas_single_thread();
    for (int32_t k = 0; k < n; k += TILE)
    {
        s.k0 = k;
        s.k1 = n - k < TILE ? n : k + TILE;
        BLAS(trsm)
        (CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, s.k1 - k, columns, 1, l + k + k * ld,
         (int32_t)ld, b + k, (int32_t)ldb);
        flx__parallel_for(ctx, n - s.k1, 2 * TILE, NAME(solve_below), &s);
    }
    for (int32_t k = (n - 1) / TILE * TILE; k >= 0; k -= TILE)
    {
        s.k0 = k;
        s.k1 = n - k < TILE ? n : k + TILE;
        BLAS(trsm)
        (CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, s.k1 - k, columns, 1, l + k + k * ld,
         (int32_t)ld, b + k, (int32_t)ldb);
        flx__parallel_for(ctx, k, 2 * TILE, NAME(solve_above), &s);
    }
}

// --- inverse ------------------------------------------------------------------------------------------------

typedef struct NAME(sweep)
{
    int32_t n;
    int64_t ld;
    REAL*   a;
    REAL*   v;      // [n][TILE] A_:k L_kk^-T, the pivot block's rows unused
    REAL*   pivot;  // [TILE][TILE] L_kk
    int32_t k0, k1; // pivot block
} NAME(sweep);

/// Rows [begin, end) of column block k, whether they lie in the lower triangle (below) or as a row (above), times
/// L_kk^-T.
static void NAME(sweep_column)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(sweep)* s = user;
    const int32_t width  = s->k1 - s->k0;
    (void)worker;
    if (begin == s->k0) return;
    for (int32_t j = 0; j < width; ++j)
    {
        REAL* to = s->v + (int64_t)j * s->n;
        if (begin > s->k0)
            memcpy(to + begin, s->a + (s->k0 + j) * s->ld + begin, (size_t)(end - begin) * sizeof *to);
        else
            for (int64_t i = begin; i < end; ++i) to[i] = s->a[i * s->ld + s->k0 + j];
    }
    NAME(blas_solve_right)((int32_t)(end - begin), width, s->pivot, TILE, s->v + begin, s->n);
}

/// Tiles of the lower triangle outside row and column k.
static void NAME(sweep_tiles)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(sweep)* s = user;
    const int32_t width  = s->k1 - s->k0;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
    {
        int64_t i, j;
        tile_of(k, &i, &j);
        i *= TILE;
        j *= TILE;
        if (i == s->k0 || j == s->k0) continue;
        const int32_t rows    = (int32_t)(s->n - i < TILE ? s->n - i : TILE);
        const int32_t columns = (int32_t)(s->n - j < TILE ? s->n - j : TILE);
        REAL*         c       = s->a + i + j * s->ld;
        if (i == j)
            NAME(blas_subtract_aat)(rows, width, s->v + i, s->n, 1, c, (int32_t)s->ld);
        else
            NAME(blas_subtract_abt)(rows, columns, width, s->v + i, s->n, s->v + j, s->n, 1, c, (int32_t)s->ld);
    }
}

/// Write back A_ik P = (A_ik L^-T) L^-1 where it lies.
static void NAME(sweep_back)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(sweep)* s = user;
    const int32_t width  = s->k1 - s->k0;
    (void)worker;
    if (begin == s->k0) return;
    BLAS(trsm)
    (CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int32_t)(end - begin), width, 1, s->pivot,
     TILE, s->v + begin, s->n);
    for (int32_t j = 0; j < width; ++j)
    {
        const REAL* from = s->v + (int64_t)j * s->n;
        if (begin > s->k0)
            memcpy(s->a + (s->k0 + j) * s->ld + begin, from + begin, (size_t)(end - begin) * sizeof *from);
        else
            for (int64_t i = begin; i < end; ++i) s->a[i * s->ld + s->k0 + j] = from[i];
    }
}

/// Negate the lower triangle and mirror it, block by block.
static void NAME(finish_columns)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(sweep)* s = user;
    (void)worker;
    for (int64_t block = begin; block < s->n; block += 64)
        for (int64_t j = begin; j < end; ++j)
            for (int64_t i = block > j ? block : j; i < (block + 64 < s->n ? block + 64 : s->n); ++i)
                s->a[j + i * s->ld] = s->a[i + j * s->ld] = -s->a[i + j * s->ld];
}

/// Factor the pivot block; its negative inverse takes its place. Returns a bad row or -1.
static int32_t NAME(sweep_pivot)(const NAME(sweep) * s, const REAL* diagonal)
{
    const int32_t width = s->k1 - s->k0;
    REAL*         a     = s->a + s->k0 + s->k0 * s->ld;
    for (int32_t j = 0; j < width; ++j)
        memcpy(s->pivot + (int64_t)j * TILE + j, a + j * s->ld + j, (size_t)(width - j) * sizeof *a);
    const int     info = NAME(blas_cholesky)(width, s->pivot, TILE);
    const int32_t bad  = NAME(bad_pivot)(width, info, s->pivot, TILE, diagonal + s->k0);
    if (bad >= 0) return s->k0 + bad;

    // -P = -L^-T L^-1, by two triangular solves of the identity
    for (int32_t j = 0; j < width; ++j)
        for (int32_t i = 0; i < width; ++i) a[i + j * s->ld] = i == j ? -1 : 0;
    BLAS(trsm)
    (CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, width, 1, s->pivot, TILE, a,
     (int32_t)s->ld);
    BLAS(trsm)
    (CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, width, width, 1, s->pivot, TILE, a,
     (int32_t)s->ld);
    return -1;
}

static flx_status NAME(inverse)(flx_context* ctx, int32_t n, REAL* a, int64_t ld, int32_t* bad_row)
{
    flx_status status    = FLX_OK;
    REAL*      diagonal  = NULL;
    NAME(sweep) s        = {.n = n, .ld = ld, .a = a};
    const int64_t blocks = (n + TILE - 1) / TILE;

    blas_single_thread();
    FLX_NEW(ctx, diagonal, n);
    FLX_NEW(ctx, s.v, (int64_t)n * TILE);
    FLX_NEW(ctx, s.pivot, TILE * TILE);
    for (int64_t j = 0; j < n; ++j) diagonal[j] = a[j + j * ld];
    for (int64_t k = 0; k < blocks; ++k)
    {
        s.k0              = (int32_t)(k * TILE);
        s.k1              = n - s.k0 < TILE ? n : s.k0 + TILE;
        const int32_t bad = NAME(sweep_pivot)(&s, diagonal);
        if (bad >= 0)
        {
            status = refuse(ctx, bad, bad_row);
            goto done;
        }
        flx__parallel_for(ctx, n, TILE, NAME(sweep_column), &s);
        flx__parallel_for(ctx, triangle(blocks), 1, NAME(sweep_tiles), &s);
        flx__parallel_for(ctx, n, TILE, NAME(sweep_back), &s);
    }
    flx__parallel_for(ctx, n, 64, NAME(finish_columns), &s);

done:
    flx__free(ctx, diagonal);
    flx__free(ctx, s.v);
    flx__free(ctx, s.pivot);
    return status;
}
