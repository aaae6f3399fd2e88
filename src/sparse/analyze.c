// Symbolic factorization: supernodes and their rows.
//
//   column j + 1 continues j's fundamental supernode when parent(j) = j + 1, it has no other child and |L_j+1| = |L_j|
//   - 1; a child whose columns end where its parent's begin is merged into it when the zeros that this stores cost less
//   to read in a substitution than the child's rows cost to scatter: the solves are bound by memory, not by arithmetic.
//   rows: row i belongs to supernode s when s lies on the path from some k with a_ik != 0 up to i in the tree, so
//   walking the rows in ascending order fills every list ascending, without sorting.
// Based on [LiuNgPeyton93] (supernodes), [AshcraftGrimes89] (relaxed amalgamation).
// Differs: the rule for merging is a cost model of the solve; columns of prone unknowns are never eliminated.
#include "sparse/symbolic.h"

#include <stdlib.h>

// Cost of a substitution in units of one stored entry read: a row of a supernode (index, scatter, padding of its tile)
// and a supernode by itself (loop overhead, half-filled last tile).
#define ROW_COST 6
#define SUPERNODE_COST 600

/// Column-level results, alive during analysis only.
typedef struct columns
{
    int32_t* parent;  // [n]
    int32_t* count;   // [n]
    int32_t* post;    // [n]
    int32_t* super;   // [n] supernode of a free column
    int32_t* scratch; // [4 n]
    int32_t* block;
} columns;

static flx_status columns_create(flx_context* ctx, int64_t n, columns* out)
{
    flx_status status = FLX_OK;
    *out              = (columns){0};
    FLX_NEW(ctx, out->block, 8 * n);
    out->parent  = out->block;
    out->count   = out->block + n;
    out->post    = out->block + 2 * n;
    out->super   = out->block + 3 * n;
    out->scratch = out->block + 4 * n;
done:
    return status;
}

/// Supernodes in column order before they are renumbered.
typedef struct merging
{
    int32_t  count;
    int32_t* first;  // [count + 1]
    int32_t* parent; // [count] supernode, or -1
    int32_t* below;  // [count] rows below the diagonal block
    int32_t* into;   // [count] last supernode of the merged group that this one belongs to
    int32_t* start;  // [count] first supernode of the group that ends here
    int32_t* block;
} merging;

static void find_fundamental(const columns* col, int32_t free_count, int32_t* child_count, merging* m)
{
    for (int32_t j = 0; j < free_count; ++j) child_count[j] = 0;
    for (int32_t j = 0; j < free_count; ++j)
        if (col->parent[j] >= 0 && col->parent[j] < free_count) ++child_count[col->parent[j]];

    m->count = 0;
    for (int32_t j = 0; j < free_count; ++j)
    {
        const bool goes_on =
            j > 0 && col->parent[j - 1] == j && child_count[j] == 1 && col->count[j] == col->count[j - 1] - 1;
        if (!goes_on) m->first[m->count++] = j;
        col->super[j] = m->count - 1;
    }
    m->first[m->count] = free_count;
    for (int32_t s = 0; s < m->count; ++s)
    {
        const int32_t last = m->first[s + 1] - 1;
        const int32_t up   = col->parent[last];
        m->parent[s]       = up >= 0 && up < free_count ? col->super[up] : -1;
        m->below[s]        = col->count[last] - 1;
        m->into[s] = m->start[s] = s;
    }
}

/// Merge a parent with the group of supernodes that ends right before its first column, while that pays.
static void merge_relaxed(merging* m)
{
    for (int32_t s = 0; s < m->count; ++s)
    {
        while (m->start[s] > 0)
        {
            const int32_t child = m->start[s] - 1; // the group that ends here ends with `child`
            if (m->parent[child] < 0 || m->parent[child] < m->start[s] || m->parent[child] > s) break;
            const int64_t child_width = m->first[child + 1] - m->first[m->start[child]];
            const int64_t width       = m->first[s + 1] - m->first[m->start[s]];
            const int64_t child_below = m->below[child];
            const int64_t added       = child_width * (width + m->below[s] - child_below);
            if (added > ROW_COST * child_below + SUPERNODE_COST) break;
            m->start[s] = m->start[child];
        }
    }
    for (int32_t s = m->count - 1; s >= 0; --s) // a group is taken by the last supernode that reaches over it
        if (m->into[s] == s)
            for (int32_t t = m->start[s]; t < s; ++t) m->into[t] = s;
}

/// Groups become supernodes, numbered along a postorder of their tree.
static flx_status number_supernodes(flx_context* ctx, columns* col, const merging* m, flx__symbolic* sym)
{
    flx_status status = FLX_OK;
    int32_t*   group  = NULL; // [m->count] group of each fundamental supernode, in column order
    int32_t*   work   = NULL;
    FLX_NEW(ctx, group, m->count);
    int32_t count = 0;
    for (int32_t s = 0; s < m->count; ++s)
    {
        group[s] = count;
        if (m->into[s] == s) ++count;
    }
    sym->count = count;
    FLX_NEW(ctx, sym->first, count);
    FLX_NEW(ctx, sym->width, count);
    FLX_NEW(ctx, sym->parent, count);
    FLX_NEW(ctx, sym->begin, count);
    FLX_NEW(ctx, sym->row_first, (int64_t)count + 1);
    FLX_NEW(ctx, work, 6 * (int64_t)count);
    int32_t* up     = work;
    int32_t* post   = work + count;
    int32_t* number = work + 2 * (int64_t)count;

    for (int32_t s = 0; s < m->count; ++s)
        if (m->into[s] == s) up[group[s]] = m->parent[s] < 0 ? -1 : group[m->parent[s]];
    flx__postorder(count, up, NULL, post, work + 3 * (int64_t)count);
    for (int32_t k = 0; k < count; ++k) number[post[k]] = k;

    for (int32_t s = 0; s < m->count; ++s)
    {
        if (m->into[s] != s) continue;
        const int32_t k   = number[group[s]];
        sym->first[k]     = m->first[m->start[s]];
        sym->width[k]     = m->first[s + 1] - sym->first[k];
        sym->parent[k]    = up[group[s]] < 0 ? -1 : number[up[group[s]]];
        sym->row_first[k] = sym->width[k] + m->below[s]; // lengths for now
        for (int32_t j = sym->first[k]; j < sym->first[k] + sym->width[k]; ++j) col->super[j] = k;
    }
    for (int32_t k = 0; k < count; ++k) sym->begin[k] = k;
    for (int32_t k = 0; k < count; ++k)
        if (sym->parent[k] >= 0 && sym->begin[k] < sym->begin[sym->parent[k]])
            sym->begin[sym->parent[k]] = sym->begin[k];

    int64_t end = 0;
    for (int32_t k = 0; k < count; ++k)
    {
        const int64_t length = sym->row_first[k];
        sym->row_first[k]    = end;
        end += length;
    }
    sym->row_first[count] = end;

done:
    flx__free(ctx, group);
    flx__free(ctx, work);
    return status;
}

/// Fill the row lists: own columns first, then every row below.
static flx_status fill_rows(flx_context* ctx, const flx__rows* rows, const columns* col, flx__symbolic* sym)
{
    flx_status status = FLX_OK;
    int64_t*   cursor = NULL;
    int32_t*   seen   = NULL; // [count] last row that visited
    FLX_NEW(ctx, sym->row, sym->row_first[sym->count]);
    FLX_NEW(ctx, cursor, sym->count);
    FLX_NEW(ctx, seen, sym->count);
    for (int32_t s = 0; s < sym->count; ++s)
    {
        int64_t at = sym->row_first[s];
        for (int32_t j = 0; j < sym->width[s]; ++j) sym->row[at++] = sym->first[s] + j;
        cursor[s] = at;
        seen[s]   = -1;
    }
    for (int32_t i = 0; i < sym->n; ++i)
    {
        if (i < sym->free_count) seen[col->super[i]] = i; // the diagonal block is there already
        for (int64_t p = rows->first[i]; p < rows->first[i + 1]; ++p)
            for (int32_t s = col->super[rows->column[p]]; s >= 0 && seen[s] != i; s = sym->parent[s])
            {
                seen[s]               = i;
                sym->row[cursor[s]++] = i;
            }
    }
    for (int32_t s = 0; s < sym->count; ++s) FLX_ASSERT(cursor[s] == sym->row_first[s + 1]);

done:
    flx__free(ctx, cursor);
    flx__free(ctx, seen);
    return status;
}

static void count_work(flx__symbolic* sym)
{
    for (int32_t s = 0; s < sym->count; ++s)
    {
        const int64_t w = sym->width[s];
        const int64_t r = flx__row_count(sym, s) - w;
        sym->nonzeros += w * (w + 1) / 2 + w * r;
        sym->flops += (double)w * (double)w * (double)w / 3.0 + (double)w * (double)w * (double)r +
                      (double)w * (double)r * (double)r;
    }
}

flx_status flx__symbolic_create(flx_context* ctx, const flx_csc* a, int32_t free_count, flx__symbolic* out)
{
    flx_status    status = FLX_OK;
    const int64_t n      = a->n;
    flx__rows     rows   = {0};
    columns       col    = {0};
    merging       m      = {0};

    *out = (flx__symbolic){.n = a->n, .free_count = free_count};
    FLX_TRY(flx__rows_from_lower(ctx, a, free_count, &rows));
    FLX_TRY(columns_create(ctx, n, &col));
    flx__etree(&rows, col.parent, col.scratch);
    flx__postorder(a->n, col.parent, NULL, col.post, col.scratch);
    flx__column_counts(a, free_count, col.parent, col.post, col.count, col.scratch);

    FLX_NEW(ctx, m.block, 5 * ((int64_t)free_count + 1));
    m.first  = m.block;
    m.parent = m.block + ((int64_t)free_count + 1);
    m.below  = m.block + 2 * ((int64_t)free_count + 1);
    m.into   = m.block + 3 * ((int64_t)free_count + 1);
    m.start  = m.block + 4 * ((int64_t)free_count + 1);
    find_fundamental(&col, free_count, col.scratch, &m);
    merge_relaxed(&m);
    FLX_TRY(number_supernodes(ctx, &col, &m, out));
    FLX_TRY(fill_rows(ctx, &rows, &col, out));
    count_work(out);

done:
    flx__free(ctx, m.block);
    flx__free(ctx, col.block);
    flx__rows_release(ctx, &rows);
    if (status != FLX_OK) flx__symbolic_release(ctx, out);
    return status;
}

void flx__symbolic_release(flx_context* ctx, flx__symbolic* sym)
{
    flx__free(ctx, sym->first);
    flx__free(ctx, sym->width);
    flx__free(ctx, sym->row_first);
    flx__free(ctx, sym->row);
    flx__free(ctx, sym->parent);
    flx__free(ctx, sym->begin);
    *sym = (flx__symbolic){0};
}

// --- division among workers ------------------------------------------------------------------------------

typedef struct weighed
{
    double  weight;
    int32_t task;
} weighed;

static int heavier_first(const void* a, const void* b)
{
    const weighed* x = a;
    const weighed* y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

/// Cut the supernodes outside the top into tasks of about `limit`; with NULL arrays only count them.
static int32_t cut_tasks(const flx__symbolic* sym, const double* subtree, const int32_t* task_of, double limit,
                         int32_t* begin, int32_t* end, weighed* weight)
{
    int32_t count = 0;
    int32_t from  = 0; // first supernode of the open task
    double  sum   = 0.0;
    for (int32_t s = 0; s <= sym->count; ++s)
    {
        const bool top = s == sym->count || task_of[s] < 0;
        if (top || sum >= 0.5 * limit)
        {
            if (s > from)
            {
                if (begin)
                {
                    begin[count]  = from;
                    end[count]    = s;
                    weight[count] = (weighed){sum, count};
                }
                ++count;
            }
            from = top ? s + 1 : s;
            sum  = 0.0;
        }
        if (!top && (sym->parent[s] < 0 || task_of[sym->parent[s]] < 0)) sum += subtree[s];
    }
    return count;
}

flx_status flx__division_create(flx_context* ctx, const flx__symbolic* sym, const double* weight, double limit,
                                flx__division* out)
{
    flx_status status      = FLX_OK;
    double*    subtree     = NULL;
    weighed*   task_weight = NULL;
    *out                   = (flx__division){0};
    FLX_NEW_ZERO(ctx, subtree, sym->count);
    FLX_NEW_ZERO(ctx, out->task_of, sym->count);
    for (int32_t s = 0; s < sym->count; ++s)
    {
        subtree[s] += weight[s] < 0.0 ? -weight[s] : weight[s];
        if (subtree[s] > limit || weight[s] < 0.0) out->task_of[s] = -1;
        const int32_t up = sym->parent[s];
        if (up < 0) continue;
        subtree[up] += subtree[s];
        if (out->task_of[s] < 0) out->task_of[up] = -1;
    }
    for (int32_t s = 0; s < sym->count; ++s) out->top_count += out->task_of[s] < 0;
    out->task_count = cut_tasks(sym, subtree, out->task_of, limit, NULL, NULL, NULL);

    FLX_NEW(ctx, out->begin, out->task_count);
    FLX_NEW(ctx, out->end, out->task_count);
    FLX_NEW(ctx, out->schedule, out->task_count);
    FLX_NEW(ctx, out->top, out->top_count);
    FLX_NEW(ctx, task_weight, out->task_count);
    (void)cut_tasks(sym, subtree, out->task_of, limit, out->begin, out->end, task_weight);
    qsort(task_weight, (size_t)out->task_count, sizeof *task_weight, heavier_first);
    for (int32_t t = 0; t < out->task_count; ++t) out->schedule[t] = task_weight[t].task;

    for (int32_t s = 0, k = 0; s < sym->count; ++s)
        if (out->task_of[s] < 0) out->top[k++] = s;
    for (int32_t t = 0; t < out->task_count; ++t)
        for (int32_t s = out->begin[t]; s < out->end[t]; ++s) out->task_of[s] = t;

done:
    flx__free(ctx, subtree);
    flx__free(ctx, task_weight);
    if (status != FLX_OK) flx__division_release(ctx, out);
    return status;
}

void flx__division_release(flx_context* ctx, flx__division* division)
{
    flx__free(ctx, division->begin);
    flx__free(ctx, division->end);
    flx__free(ctx, division->schedule);
    flx__free(ctx, division->task_of);
    flx__free(ctx, division->top);
    *division = (flx__division){0};
}
