// The top of the tree in one precision. The including file defines REAL and NAME(x).

/// The supernode in work, seen by the loops over its tiles.
typedef struct NAME(top_front)
{
    flx__numeric*  num;
    int32_t        s;
    int32_t        rows;
    int32_t        width;
    int32_t        below;
    int32_t        free_below; // rows below that are free unknowns
    const int32_t* row;
    REAL*          panel; // [rows][width], column-major
    REAL*          rest;  // [below][free_below], lower triangle

    int32_t c0, c1;     // piece in work
    int32_t free_tiles; // tiles of the rows below, free ones first
    int32_t tiles;

    flx__update    update;    // of the child in work
    const int32_t* child_row; // [child_below]
    int32_t        child_below;
} NAME(top_front);

static void NAME(clear_columns)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    (void)worker;
    for (int64_t j = begin; j < end; ++j)
    {
        if (j < f->width)
            memset(f->panel + j * f->rows, 0, (size_t)f->rows * sizeof *f->panel);
        else
            memset(f->rest + (j - f->width) * f->below, 0, (size_t)f->below * sizeof *f->rest);
    }
}

/// Add columns [begin, end) of the child's update: to the panel, to the rest, or to Sigma.
static void NAME(add_columns)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    const int32_t* map       = f->num->map;
    const int32_t  base      = f->num->sym->free_count;
    const int32_t* row       = f->child_row;
    const int32_t  r         = f->child_below;
    (void)worker;
    for (int64_t j = begin; j < end; ++j)
    {
        const REAL* from = (const REAL*)f->update.data + flx__update_column(&f->update, r, j) - j;
        if (row[j] >= base) // a prone column: so are all rows after it
        {
            double* to = f->num->schur + (int64_t)(row[j] - base) * f->num->schur_n - base;
            for (int64_t i = j; i < r; ++i) to[row[i]] += from[i];
            continue;
        }
        const int64_t column = map[row[j]];
        REAL*         to =
            column < f->width ? f->panel + column * f->rows : f->rest + (column - f->width) * f->below - f->width;
        for (int64_t i = j; i < r; ++i) to[map[row[i]]] += from[i];
    }
}

static void NAME(take_update)(NAME(top_front) * f, int32_t child)
{
    const flx__symbolic* sym = f->num->sym;
    flx__update*         u   = &f->num->update[child];
    if (!u->data) return;
    f->update       = *u;
    f->child_row    = flx__row_list(sym, child) + sym->width[child];
    f->child_below  = flx__row_count(sym, child) - sym->width[child];
    int32_t columns = f->child_below;
    while (u->ld && columns > 0 && f->child_row[columns - 1] >= sym->free_count) --columns; // Sigma has those already
    flx__parallel_for(f->num->ctx, columns, 16, NAME(add_columns), f);
    if (u->owned) flx__free(f->num->ctx, u->data);
    *u = (flx__update){0};
}

// --- Cholesky of the panel -----------------------------------------------------------------------------

/// Rows [c0 + tile ...) of the piece in work minus what the finished pieces contribute.
static void NAME(update_piece)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    (void)worker;
    const int64_t ld = f->rows;
    NAME(blas_subtract_abt)
    ((int32_t)(end - begin), f->c1 - f->c0, f->c0, f->panel + f->c0 + begin, f->rows, f->panel + f->c0, f->rows, 1,
     f->panel + f->c0 + begin + f->c0 * ld, f->rows);
}

static void NAME(solve_piece)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    (void)worker;
    const int64_t ld = f->rows;
    NAME(blas_solve_right)
    ((int32_t)(end - begin), f->c1 - f->c0, f->panel + f->c0 + f->c0 * ld, f->rows,
     f->panel + f->c1 + begin + f->c0 * ld, f->rows);
}

static int32_t NAME(factor_panel)(NAME(top_front) * f)
{
    flx_context* ctx = f->num->ctx;
    for (int32_t k = 0; k < flx__piece_count(f->width); ++k)
    {
        f->c0 = flx__piece_column(f->width, k);
        f->c1 = flx__piece_column(f->width, k + 1);
        if (f->c0 > 0) flx__parallel_for(ctx, f->rows - f->c0, FLX__TOP_TILE, NAME(update_piece), f);
        REAL*         diagonal = f->panel + f->c0 + (int64_t)f->c0 * f->rows;
        const int     info     = NAME(blas_cholesky)(f->c1 - f->c0, diagonal, f->rows);
        const int32_t first    = f->num->sym->first[f->s] + f->c0;
        const int32_t bad      = NAME(flx__bad_pivot)(f->num->a, first, f->c1 - f->c0, info, diagonal, f->rows);
        if (bad >= 0) return bad;
        flx__parallel_for(ctx, f->rows - f->c1, FLX__TOP_TILE, NAME(solve_piece), f);
    }
    return -1;
}

// --- update of what lies below -----------------------------------------------------------------------------

/// Rows of tile t: the free rows below are cut first, then the prone ones, so that no tile holds both.
static void NAME(tile_rows)(const NAME(top_front) * f, int32_t t, int32_t* begin, int32_t* end)
{
    const bool    is_free = t < f->free_tiles;
    const int32_t limit   = is_free ? f->free_below : f->below;
    *begin                = is_free ? t * FLX__TOP_TILE : f->free_below + (t - f->free_tiles) * FLX__TOP_TILE;
    *end                  = *begin + FLX__TOP_TILE < limit ? *begin + FLX__TOP_TILE : limit;
}

/// c = beta c - L_i L_j^T, only the lower triangle when i == j
static void NAME(multiply_tile)(const NAME(top_front) * f, int32_t i0, int32_t i1, int32_t j0, int32_t j1, REAL beta,
                                REAL* c, int64_t ldc)
{
    const REAL* l = f->panel + f->width;
    if (i0 == j0)
        NAME(blas_subtract_aat)(i1 - i0, f->width, l + i0, f->rows, beta, c, (int32_t)ldc);
    else
        NAME(blas_subtract_abt)(i1 - i0, j1 - j0, f->width, l + i0, f->rows, l + j0, f->rows, beta, c, (int32_t)ldc);
}

static void NAME(update_schur_tile)(const NAME(top_front) * f, int32_t i0, int32_t i1, int32_t j0, int32_t j1,
                                    REAL* scratch)
{
    const int32_t* row   = f->row + f->width;
    const int32_t  base  = f->num->sym->free_count;
    const int64_t  ld    = f->num->schur_n;
    double*        schur = f->num->schur;
    // Sigma is summed in double precision in either case
    if (sizeof(REAL) == sizeof(double) && row[i1 - 1] - row[i0] == i1 - 1 - i0 && row[j1 - 1] - row[j0] == j1 - 1 - j0)
    {
        NAME(multiply_tile)(f, i0, i1, j0, j1, 1, (REAL*)(void*)schur + (row[i0] - base) + (row[j0] - base) * ld, ld);
        return;
    }
    const int64_t height = i1 - i0;
    NAME(multiply_tile)(f, i0, i1, j0, j1, 0, scratch, height);
    for (int32_t j = j0; j < j1; ++j)
    {
        double*     to   = schur + (row[j] - base) * ld - base;
        const REAL* from = scratch + (j - j0) * height - i0;
        for (int32_t i = i0 == j0 ? j : i0; i < i1; ++i) to[row[i]] += from[i];
    }
}

static void NAME(update_tiles)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    REAL* scratch            = (REAL*)f->num->scratch + (int64_t)(worker % f->num->slots) * FLX__SCRATCH;
    for (int64_t k = begin; k < end; ++k)
    {
        int32_t i = (int32_t)((sqrt(8.0 * (double)k + 1.0) - 1.0) / 2.0); // k = i (i + 1) / 2 + j
        while (triangle(i) > k) --i;
        while (triangle(i + 1) <= k) ++i;
        const int32_t j = (int32_t)(k - triangle(i));
        int32_t       i0, i1, j0, j1;
        NAME(tile_rows)(f, i, &i0, &i1);
        NAME(tile_rows)(f, j, &j0, &j1);
        if (j < f->free_tiles)
            NAME(multiply_tile)(f, i0, i1, j0, j1, 1, f->rest + i0 + (int64_t)j0 * f->below, f->below);
        else
            NAME(update_schur_tile)(f, i0, i1, j0, j1, scratch);
    }
}

// --- into the layout of the substitutions -------------------------------------------------------------------

static void NAME(store_rows)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f  = user;
    const flx__panels* panels = f->num->panels;
    (void)worker;
    for (int32_t p = panels->piece_first[f->s]; p < panels->piece_first[f->s + 1]; ++p)
    {
        const int32_t rows = panels->piece[p].rows;
        if (begin >= rows) continue;
        NAME(flx__panels_store_below)(panels, p, f->panel, f->rows, (int32_t)begin, end < rows ? (int32_t)end : rows);
    }
}

static void NAME(store_diagonals)(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const NAME(top_front)* f = user;
    REAL* scratch            = (REAL*)f->num->scratch + (int64_t)(worker % f->num->slots) * FLX__SCRATCH;
    for (int64_t p = begin; p < end; ++p) NAME(flx__panels_store_diagonal)
    (f->num->panels, (int32_t)p + f->num->panels->piece_first[f->s], f->panel, f->rows, scratch);
}

static flx_status NAME(factor_supernode)(flx__numeric* num, int32_t s, REAL* panel, int32_t* bad)
{
    flx_status           status = FLX_OK;
    const flx__symbolic* sym    = num->sym;
    NAME(top_front) f           = {.num = num, .s = s, .panel = panel, .row = flx__row_list(sym, s)};

    f.rows  = flx__row_count(sym, s);
    f.width = sym->width[s];
    f.below = f.rows - f.width;
    while (f.free_below < f.below && f.row[f.width + f.free_below] < sym->free_count) ++f.free_below;
    f.free_tiles = tile_count(f.free_below);
    f.tiles      = f.free_tiles + tile_count(f.below - f.free_below);

    if (f.free_below > 0)
    {
        FLX_NEW(num->ctx, f.rest, (int64_t)f.below * f.free_below);
        num->update[s] = (flx__update){.data = f.rest, .ld = f.below, .owned = true};
    }
    flx__parallel_for(num->ctx, f.width + f.free_below, 16, NAME(clear_columns), &f);
    for (int32_t i = 0; i < f.rows; ++i) num->map[f.row[i]] = i;
    NAME(flx__scatter_matrix)(num, s, 0, f.width, num->map, panel, f.rows);
    for (int32_t c = s - 1; c >= sym->begin[s]; c = sym->begin[c] - 1) NAME(take_update)(&f, c);

    *bad = NAME(factor_panel)(&f);
    if (*bad >= 0) return FLX_OK;
    flx__parallel_for(num->ctx, triangle(f.tiles), 1, NAME(update_tiles), &f);
    flx__parallel_for(num->ctx, flx__piece_count(f.width), 1, NAME(store_diagonals), &f);
    flx__parallel_for(num->ctx, f.rows, 4 * FLX__BLOCK, NAME(store_rows), &f);

done:
    return status;
}

flx_status NAME(flx__top_run)(flx__numeric* num)
{
    flx_status           status = FLX_OK;
    const flx__symbolic* sym    = num->sym;
    REAL*                panel  = NULL;
    int64_t              length = 0;
    for (int32_t k = 0; k < num->division.top_count; ++k)
    {
        const int64_t want = (int64_t)flx__row_count(sym, num->division.top[k]) * sym->width[num->division.top[k]];
        if (want > length) length = want;
    }
    FLX_NEW(num->ctx, panel, length);
    for (int32_t k = 0; k < num->division.top_count; ++k)
    {
        int32_t bad = -1;
        FLX_TRY(NAME(factor_supernode)(num, num->division.top[k], panel, &bad));
        if (bad >= 0)
        {
            num->bad[num->division.task_count] = bad;
            goto done;
        }
    }
    for (int32_t s = 0; s < sym->count; ++s) // tasks whose root has nothing but prone rows below
    {
        NAME(top_front) f = {.num = num};
        if (num->update[s].data) NAME(take_update)(&f, s);
    }

done:
    flx__free(num->ctx, panel);
    return status;
}
