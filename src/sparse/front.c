// One task of the numeric factorization: the fronts of whole subtrees, one after the other on a private stack.
//
//   front of s = its columns of A + the updates of its children;
//   F_11 = L_11 L_11^T,  L_21 = F_21 L_11^-T,  update = F_22 - L_21 L_21^T, which the parent adds in turn.
// Based on [DuffReid83]. The stack holds updates as packed triangles; rows below include the prone ones, so what a
// subtree adds to Sigma travels up with it until it meets the top of the tree.
#include "sparse/blas.h"
#include "sparse/factor_internal.h"

#include <string.h>

static bool is_task_root(const flx__symbolic* sym, int32_t s, int32_t end)
{
    return sym->parent[s] < 0 || sym->parent[s] >= end;
}

int64_t flx__task_stack(const flx__symbolic* sym, int32_t begin, int32_t end)
{
    int64_t held = 0;
    int64_t peak = 0;
    for (int32_t s = begin; s < end; ++s)
    {
        const int64_t rows  = flx__row_count(sym, s);
        const int64_t below = rows - sym->width[s];
        const int64_t want  = held + rows * sym->width[s] + below * below;
        if (want > peak) peak = want;
        for (int32_t c = s - 1; c >= sym->begin[s]; c = sym->begin[c] - 1)
            held -= flx__packed_length(flx__row_count(sym, c) - sym->width[c]);
        if (!is_task_root(sym, s, end)) held += flx__packed_length(below);
    }
    return peak;
}

/// Add a child's packed update into the front (panel [rows][width], rest [below][below]).
static void add_child(const flx__symbolic* sym, int32_t child, const flx__update* update, const int32_t* map,
                      int32_t* local, double* panel, int64_t rows, int64_t width, double* rest)
{
    const int32_t  r     = flx__row_count(sym, child) - sym->width[child];
    const int64_t  below = rows - width;
    const int32_t* row   = flx__row_list(sym, child) + sym->width[child];
    for (int32_t i = 0; i < r; ++i) local[i] = map[row[i]];
    for (int32_t j = 0; j < r; ++j)
    {
        const double* from  = flx__update_column(update, r, j) - j;
        const bool    inner = local[j] < width;
        double*       to    = inner ? panel + local[j] * rows : rest + (local[j] - width) * below - width;
        if (local[r - 1] - local[j] == r - 1 - j) // no gaps from here on
        {
            double* at = to + local[j] - j;
            for (int32_t i = j; i < r; ++i) at[i] += from[i];
        }
        else
            for (int32_t i = j; i < r; ++i) to[local[i]] += from[i];
    }
}

static void store_pieces(const flx__numeric* num, int32_t s, const double* panel, int64_t rows, double* scratch)
{
    const flx__panels* panels = num->panels;
    for (int32_t p = panels->piece_first[s]; p < panels->piece_first[s + 1]; ++p)
    {
        flx__panels_store_diagonal(panels, p, panel, rows, scratch);
        flx__panels_store_below(panels, p, panel, rows, 0, panels->piece[p].rows);
    }
}

/// Move the lower triangle of rest [below][below] to packed columns; the target may overlap it from below.
static void pack(const double* rest, int64_t below, double* to)
{
    for (int64_t j = 0; j < below; ++j)
    {
        memmove(to, rest + j * below + j, (size_t)(below - j) * sizeof *to);
        to += below - j;
    }
}

/// Factor one supernode; returns a bad row or -1. `*top` is the first free double of the stack.
static int32_t factor_front(flx__numeric* num, int32_t s, int32_t end, int32_t slot, double** top)
{
    const flx__symbolic* sym     = num->sym;
    const int32_t        rows    = flx__row_count(sym, s);
    const int32_t        width   = sym->width[s];
    const int32_t        below   = rows - width;
    const int32_t*       row     = flx__row_list(sym, s);
    int32_t*             map     = num->map + (int64_t)slot * sym->n;
    double*              scratch = num->scratch + (int64_t)slot * FLX__SCRATCH;
    double*              panel   = *top;
    double*              rest    = panel + (int64_t)rows * width;
    double*              bottom  = panel; // where the children's updates start

    memset(panel, 0, ((size_t)rows * (size_t)width + (size_t)below * (size_t)below) * sizeof *panel);
    for (int32_t i = 0; i < rows; ++i) map[row[i]] = i;
    flx__scatter_matrix(num, s, 0, width, map, panel, rows);
    for (int32_t c = s - 1; c >= sym->begin[s]; c = sym->begin[c] - 1)
    {
        if (!num->update[c].data) continue;
        add_child(sym, c, &num->update[c], map, (int32_t*)scratch, panel, rows, width, rest);
        bottom         = num->update[c].data;
        num->update[c] = (flx__update){0};
    }

    const int     info = blas_cholesky_f64(width, panel, rows);
    const int32_t bad  = flx__bad_pivot(num->a, sym->first[s], width, info, panel, rows);
    if (bad >= 0) return bad;
    if (below > 0)
    {
        blas_solve_right_f64(below, width, panel, rows, panel + width, rows);
        blas_subtract_aat_f64(below, width, panel + width, rows, 1.0, rest, below);
    }
    store_pieces(num, s, panel, rows, scratch);

    *top = bottom;
    if (below == 0) return -1;
    const bool root = is_task_root(sym, s, end);
    double*    to   = root ? num->root_store + num->root_at[s] : bottom;
    pack(rest, below, to);
    num->update[s] = (flx__update){.data = to};
    if (!root) *top += flx__packed_length(below);
    return -1;
}

void flx__task_run(flx__numeric* num, int32_t task, int32_t slot)
{
    double*       top = num->stack + (int64_t)slot * num->stack_length;
    const int32_t end = num->division.end[task];
    for (int32_t s = num->division.begin[task]; s < end; ++s)
    {
        const int32_t bad = factor_front(num, s, end, slot, &top);
        if (bad < 0) continue;
        num->bad[task] = bad;
        return;
    }
}
