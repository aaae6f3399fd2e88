// How the substitutions are divided among workers, and where each row's value lies meanwhile.
//
// A task owns the rows of its subtrees. What it adds to rows above it goes to slots of its own behind the vectors, so
// that tasks never share a row; the slots are added up afterwards in the order of tasks. Row lists hold slots, not
// rows: the kernels know nothing of tasks.
#include "sparse/factor_internal.h"

// A task reads at most this part of the factor; a factor of fewer reals is not worth dividing.
#define TASK_PART (1.0 / 24.0)
#define TASK_REALS 1e5

static flx_status divide(flx_context* ctx, const flx__symbolic* sym, const flx__panels* panels, flx__division* out)
{
    flx_status status = FLX_OK;
    double*    weight = NULL;
    FLX_NEW(ctx, weight, sym->count);
    for (int32_t s = 0; s < sym->count; ++s)
    {
        weight[s] = 0.0;
        for (int32_t p = panels->piece_first[s]; p < panels->piece_first[s + 1]; ++p)
            weight[s] += (double)panels->piece[p].width * (panels->piece[p].rows + 0.5 * panels->piece[p].width) +
                         8.0 * panels->piece[p].rows + 1000.0;
    }
    double total = 0.0;
    for (int32_t s = 0; s < sym->count; ++s) total += weight[s];
    FLX_TRY(
        flx__division_create(ctx, sym, weight, total * TASK_PART > TASK_REALS ? total * TASK_PART : TASK_REALS, out));
done:
    flx__free(ctx, weight);
    return status;
}

/// Rows outside of each task, in the order of their first use, and one slot for padding.
static void find_outside(const flx__symbolic* sym, const int32_t* owner, int32_t* mark, flx__plan* plan)
{
    int64_t end = 0;
    for (int32_t t = 0; t < plan->division.task_count; ++t)
    {
        const int32_t begin = plan->division.begin[t];
        plan->out_first[t]  = end;
        for (int32_t s = begin; s < plan->division.end[t]; ++s)
            for (int64_t p = sym->row_first[s] + sym->width[s]; p < sym->row_first[s + 1]; ++p)
            {
                const int32_t row = sym->row[p];
                if ((owner[row] >= begin && owner[row] < plan->division.end[t]) || mark[row] == t) continue;
                mark[row] = t;
                if (plan->out_row) plan->out_row[end] = row;
                ++end;
            }
        if (plan->out_row) plan->out_row[end] = -1;
        ++end;
    }
    plan->out_first[plan->division.task_count] = end;
}

static void fill_slots(const flx__symbolic* sym, const int32_t* owner, int32_t* place, flx__plan* plan)
{
    for (int32_t s = 0; s < sym->count; ++s)
    {
        int32_t*      slot = plan->slot + plan->slot_first[s];
        const int32_t task = plan->division.task_of[s];
        const int32_t rows = flx__row_count(sym, s);
        int32_t       pad  = plan->pad;
        if (task >= 0)
        {
            pad = sym->n + (int32_t)plan->out_first[task + 1] - 1;
            if (s == plan->division.begin[task])
                for (int64_t q = plan->out_first[task]; q + 1 < plan->out_first[task + 1]; ++q)
                    place[plan->out_row[q]] = sym->n + (int32_t)q;
        }
        for (int32_t i = 0; i < rows; ++i)
        {
            const int32_t row = flx__row_list(sym, s)[i];
            const bool    owned =
                task < 0 || (owner[row] >= plan->division.begin[task] && owner[row] < plan->division.end[task]);
            slot[i] = owned ? row : place[row];
        }
        for (int32_t i = rows; i < rows + FLX__TILE; ++i) slot[i] = pad;
    }
}

flx_status flx__plan_create(flx_context* ctx, const flx__symbolic* sym, const flx__panels* panels, flx__plan* out)
{
    flx_status status = FLX_OK;
    int32_t*   owner  = NULL; // [n] supernode of a free row, INT32_MAX of a prone one
    int32_t*   mark   = NULL;
    *out              = (flx__plan){0};
    FLX_TRY(divide(ctx, sym, panels, &out->division));
    FLX_NEW(ctx, owner, sym->n);
    FLX_NEW(ctx, mark, sym->n);
    for (int32_t i = 0; i < sym->n; ++i) owner[i] = INT32_MAX;
    for (int32_t s = 0; s < sym->count; ++s)
        for (int32_t j = 0; j < sym->width[s]; ++j) owner[sym->first[s] + j] = s;

    FLX_NEW(ctx, out->out_first, (int64_t)out->division.task_count + 1);
    for (int32_t i = 0; i < sym->n; ++i) mark[i] = -1;
    find_outside(sym, owner, mark, out);
    FLX_NEW(ctx, out->out_row, out->out_first[out->division.task_count]);
    for (int32_t i = 0; i < sym->n; ++i) mark[i] = -1;
    find_outside(sym, owner, mark, out);
    out->vector_rows = sym->n + out->out_first[out->division.task_count] + 1;
    if (out->vector_rows > INT32_MAX)
    {
        status = flx__fail(ctx, FLX_ERR_MEMORY, "the substitution would need %lld rows", (long long)out->vector_rows);
        goto done;
    }
    out->pad = (int32_t)out->vector_rows - 1;

    FLX_NEW(ctx, out->slot_first, sym->count);
    int64_t length = 0;
    for (int32_t s = 0; s < sym->count; ++s)
    {
        out->slot_first[s] = length;
        length += flx__row_count(sym, s) + FLX__TILE;
    }
    FLX_NEW(ctx, out->slot, length);
    fill_slots(sym, owner, mark, out);

    for (int32_t k = 0; k < out->division.top_count; ++k)
    {
        const int32_t s = out->division.top[k];
        for (int32_t p = panels->piece_first[s]; p < panels->piece_first[s + 1]; ++p)
        {
            const int64_t chunks = (flx__padded(panels->piece[p].rows) + FLX__SOLVE_ROWS - 1) / FLX__SOLVE_ROWS;
            const int64_t want   = (chunks + 1) * 4 * panels->piece[p].width;
            if (want > out->partial_length) out->partial_length = want;
        }
    }

done:
    flx__free(ctx, owner);
    flx__free(ctx, mark);
    if (status != FLX_OK) flx__plan_release(ctx, out);
    return status;
}

void flx__plan_release(flx_context* ctx, flx__plan* plan)
{
    flx__division_release(ctx, &plan->division);
    flx__free(ctx, plan->slot_first);
    flx__free(ctx, plan->slot);
    flx__free(ctx, plan->out_first);
    flx__free(ctx, plan->out_row);
    *plan = (flx__plan){0};
}
