// Room for the contacts of a step and for their solve by Sigma^-1.
#include "solver/solver_internal.h"

flx_status flx__contact_work_create(flx_context* ctx, int32_t capacity, int64_t stretch_count, int32_t n2, bool single,
                                    flx_contact_work* w)
{
    flx_status status = FLX_OK;
    *w = (flx_contact_work){.capacity = capacity, .most = capacity < FLX_MOST_PUSHING ? capacity : FLX_MOST_PUSHING};
    FLX_NEW_ZERO(ctx, w->contact, capacity);
    FLX_NEW(ctx, w->scratch, capacity);
    FLX_NEW(ctx, w->slot, capacity);
    if (stretch_count > 0) FLX_NEW(ctx, w->squeeze_push, stretch_count);
    FLX_NEW(ctx, w->free_gap, capacity);
    FLX_NEW(ctx, w->place, capacity);
    FLX_NEW(ctx, w->pushing, w->most);
    FLX_NEW(ctx, w->q, w->most);
    FLX_NEW(ctx, w->guess, w->most);
    FLX_NEW_ZERO(ctx, w->lambda, 3 * (int64_t)w->most);
    if (n2 == 0 || w->most == 0) return FLX_OK;
    w->rows = flx__alloc(ctx, (int64_t)w->most * n2, single ? sizeof(float) : sizeof(double));
    if (!w->rows) return FLX_ERR_MEMORY;
    w->gram_ld = w->most + 8;
    FLX_NEW(ctx, w->row, w->most);
    FLX_NEW(ctx, w->gram, w->most * w->gram_ld);
    FLX_TRY(flx__lcp_create(ctx, w->most, &w->lcp));
done:
    return status;
}

void flx__contact_work_release(flx_context* ctx, flx_contact_work* w)
{
    void* const array[] = {w->contact, w->scratch, w->slot,   w->squeeze_push, w->free_gap, w->place, w->pushing,
                           w->q,       w->guess,   w->lambda, w->rows,         w->gram,     w->row};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(ctx, array[i]);
    flx__lcp_release(ctx, &w->lcp);
    *w = (flx_contact_work){0};
}
