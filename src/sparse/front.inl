// Fronts in one precision. The including file defines REAL, NAME(x) and PIVOT_LIMIT.

int32_t NAME(flx__bad_pivot)(const flx_csc* a, int32_t first, int32_t width, int info, const REAL* diagonal, int64_t ld)
{
    const int32_t known = info > 0 ? info - 1 : width;
    for (int32_t j = 0; j < known; ++j)
    {
        const double entry = diagonal[j + j * ld], pivot = entry * entry;
        const double limit = PIVOT_LIMIT * a->value[a->first[first + j]];
        if (!(pivot > limit) || !(limit > 0.0)) return first + j;
    }
    return info > 0 ? first + known : -1;
}

void NAME(flx__scatter_matrix)(const flx__numeric* num, int32_t s, int32_t begin, int32_t end, const int32_t* map,
                               REAL* front, int64_t ld)
{
    const flx_csc* a = num->a;
    for (int32_t j = begin; j < end; ++j)
    {
        REAL*         to     = front + j * ld;
        const int32_t column = num->sym->first[s] + j;
        for (int64_t p = a->first[column]; p < a->first[column + 1]; ++p) to[map[a->row[p]]] += (REAL)a->value[p];
    }
}

/// Add a child's packed update into the front (panel [rows][width], rest [below][below]).
static void NAME(add_child)(const flx__symbolic* sym, int32_t child, const flx__update* update, const int32_t* map,
                            int32_t* local, REAL* panel, int64_t rows, int64_t width, REAL* rest)
{
    const int32_t  r     = flx__row_count(sym, child) - sym->width[child];
    const int64_t  below = rows - width;
    const int32_t* row   = flx__row_list(sym, child) + sym->width[child];
    for (int32_t i = 0; i < r; ++i) local[i] = map[row[i]];
    for (int32_t j = 0; j < r; ++j)
    {
        const REAL* from  = (const REAL*)update->data + flx__update_column(update, r, j) - j;
        const bool  inner = local[j] < width;
        REAL*       to    = inner ? panel + local[j] * rows : rest + (local[j] - width) * below - width;
        if (local[r - 1] - local[j] == r - 1 - j) // no gaps from here on
        {
            REAL* at = to + local[j] - j;
            for (int32_t i = j; i < r; ++i) at[i] += from[i];
        }
        else
            for (int32_t i = j; i < r; ++i) to[local[i]] += from[i];
    }
}

static void NAME(store_pieces)(const flx__numeric* num, int32_t s, const REAL* panel, int64_t rows, REAL* scratch)
{
    const flx__panels* panels = num->panels;
    for (int32_t p = panels->piece_first[s]; p < panels->piece_first[s + 1]; ++p)
    {
        NAME(flx__panels_store_diagonal)(panels, p, panel, rows, scratch);
        NAME(flx__panels_store_below)(panels, p, panel, rows, 0, panels->piece[p].rows);
    }
}

/// Move the lower triangle of rest [below][below] to packed columns; the target may overlap it from below.
static void NAME(pack)(const REAL* rest, int64_t below, REAL* to)
{
    for (int64_t j = 0; j < below; ++j)
    {
        memmove(to, rest + j * below + j, (size_t)(below - j) * sizeof *to);
        to += below - j;
    }
}

/// Factor one supernode; returns a bad row or -1. `*top` is the first free number of the stack.
static int32_t NAME(factor_front)(flx__numeric* num, int32_t s, int32_t end, int32_t slot, REAL** top)
{
    const flx__symbolic* sym     = num->sym;
    const int32_t        rows    = flx__row_count(sym, s);
    const int32_t        width   = sym->width[s];
    const int32_t        below   = rows - width;
    const int32_t*       row     = flx__row_list(sym, s);
    int32_t*             map     = num->map + (int64_t)slot * sym->n;
    REAL*                scratch = (REAL*)num->scratch + (int64_t)slot * FLX__SCRATCH;
    REAL*                panel   = *top;
    REAL*                rest    = panel + (int64_t)rows * width;
    REAL*                bottom  = panel; // where the children's updates start

    memset(panel, 0, ((size_t)rows * (size_t)width + (size_t)below * (size_t)below) * sizeof *panel);
    for (int32_t i = 0; i < rows; ++i) map[row[i]] = i;
    NAME(flx__scatter_matrix)(num, s, 0, width, map, panel, rows);
    for (int32_t c = s - 1; c >= sym->begin[s]; c = sym->begin[c] - 1)
    {
        if (!num->update[c].data) continue;
        NAME(add_child)(sym, c, &num->update[c], map, (int32_t*)scratch, panel, rows, width, rest);
        bottom         = num->update[c].data;
        num->update[c] = (flx__update){0};
    }

    const int     info = NAME(blas_cholesky)(width, panel, rows);
    const int32_t bad  = NAME(flx__bad_pivot)(num->a, sym->first[s], width, info, panel, rows);
    if (bad >= 0) return bad;
    if (below > 0)
    {
        NAME(blas_solve_right)(below, width, panel, rows, panel + width, rows);
        NAME(blas_subtract_aat)(below, width, panel + width, rows, 1, rest, below);
    }
    NAME(store_pieces)(num, s, panel, rows, scratch);

    *top = bottom;
    if (below == 0) return -1;
    const bool root = is_task_root(sym, s, end);
    REAL*      to   = root ? (REAL*)num->root_store + num->root_at[s] : bottom;
    NAME(pack)(rest, below, to);
    num->update[s] = (flx__update){.data = to};
    if (!root) *top += flx__packed_length(below);
    return -1;
}

void NAME(flx__task_run)(flx__numeric* num, int32_t task, int32_t slot)
{
    REAL*         top = (REAL*)num->stack + (int64_t)slot * num->stack_length;
    const int32_t end = num->division.end[task];
    for (int32_t s = num->division.begin[task]; s < end; ++s)
    {
        const int32_t bad = NAME(factor_front)(num, s, end, slot, &top);
        if (bad < 0) continue;
        num->bad[task] = bad;
        return;
    }
}
