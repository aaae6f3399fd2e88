// A = diag(diagonal) + sum_j w_j S_j^T S_j, column by column: column v gets, from every constraint that has v, a term
// for each of that constraint's vertices u >= v. Once to count, once to fill; the order of sums is that of batches and
// of constraints in them.
#include "constraints/constraints_internal.h"

#include <stdlib.h>

typedef struct assembly
{
    int32_t                     batch_count;
    const flx_constraint_batch* batch;
    flx_constraint_gather*      gather; // [batch_count]
    int64_t*                    slot;   // [n] where row u is in this column; below the column's begin: not there
} assembly;

/// Rows of column v from `at` on, the diagonal first, in order of appearance; slot[u] = place of row u. Returns their
/// end. `row` may be NULL.
static int64_t column_pattern(const assembly* s, int32_t v, int64_t at, int32_t* row)
{
    const int64_t begin = at;
    s->slot[v]          = at;
    if (row) row[at] = v;
    ++at;
    for (int32_t b = 0; b < s->batch_count; ++b)
    {
        const flx_constraint_batch*  batch = s->batch + b;
        const flx_constraint_gather* g     = s->gather + b;
        for (int32_t i = g->first[v]; i < g->first[v + 1]; ++i)
        {
            const int32_t j = g->of[g->entry[i]];
            for (int32_t k = batch->first[j]; k < batch->first[j + 1]; ++k)
            {
                const int32_t u = batch->vertex[k];
                if (u <= v || s->slot[u] >= begin) continue;
                s->slot[u] = at;
                if (row) row[at] = u;
                ++at;
            }
        }
    }
    return at;
}

static int by_row(const void* a, const void* b)
{
    const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

static void column_values(const assembly* s, int32_t v, double* value)
{
    for (int32_t b = 0; b < s->batch_count; ++b)
    {
        const flx_constraint_batch*  batch = s->batch + b;
        const flx_constraint_gather* g     = s->gather + b;
        const int                    rows  = batch->type->rows;
        for (int32_t i = g->first[v]; i < g->first[v + 1]; ++i)
        {
            const int32_t e = g->entry[i], j = g->of[e];
            const double* mine = batch->coefficient + (int64_t)e * rows;
            for (int32_t k = batch->first[j]; k < batch->first[j + 1]; ++k)
            {
                const double* other = batch->coefficient + (int64_t)k * rows;
                double        dot   = 0;
                for (int r = 0; r < rows; ++r) dot += mine[r] * other[r];
                if (batch->vertex[k] >= v) value[s->slot[batch->vertex[k]]] += batch->weight[j] * dot;
            }
        }
    }
}

static void fill_column(const assembly* s, int32_t v, const double* diagonal, flx_csc* a)
{
    const int64_t begin = a->first[v], end = a->first[v + 1];
    (void)column_pattern(s, v, begin, a->row);
    qsort(a->row + begin, (size_t)(end - begin), sizeof *a->row, by_row);
    for (int64_t p = begin; p < end; ++p) s->slot[a->row[p]] = p, a->value[p] = 0;
    if (diagonal) a->value[begin] = diagonal[v];
    column_values(s, v, a->value);
}

flx_status flx__constraints_assemble(flx_context* ctx, int32_t n, const double* diagonal, int32_t batch_count,
                                     const flx_constraint_batch* batch, flx_csc* out)
{
    flx_status status = FLX_OK;
    flx_csc    a      = {.n = n};
    assembly   s      = {.batch_count = batch_count, .batch = batch};
    *out              = (flx_csc){0};
    FLX_NEW_ZERO(ctx, s.gather, batch_count);
    FLX_NEW(ctx, s.slot, n);
    FLX_NEW_ZERO(ctx, a.first, (int64_t)n + 1);
    for (int32_t b = 0; b < batch_count; ++b) FLX_TRY(flx__constraint_gather_create(ctx, batch + b, n, s.gather + b));
    for (int32_t v = 0; v < n; ++v) s.slot[v] = -1;
    for (int32_t v = 0; v < n; ++v) a.first[v + 1] = column_pattern(&s, v, a.first[v], NULL);
    FLX_NEW(ctx, a.row, a.first[n]);
    FLX_NEW(ctx, a.value, a.first[n]);
    for (int32_t v = 0; v < n; ++v) s.slot[v] = -1;
    for (int32_t v = 0; v < n; ++v) fill_column(&s, v, diagonal, &a);
    *out = a;
    a    = (flx_csc){0};
done:
    for (int32_t b = 0; s.gather && b < batch_count; ++b) flx__constraint_gather_release(ctx, s.gather + b);
    flx__free(ctx, s.gather);
    flx__free(ctx, s.slot);
    flx__csc_release(ctx, &a);
    return status;
}
