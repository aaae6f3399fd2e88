// DEIM and Q-DEIM on flattened vectors: r of the 3 e p~ numbers are interpolated, whichever element, row and axis they
// belong to. A few of an element's numbers are used then, though all of them are computed.
//
//   p ~ V (P^T V)^-1 P^T p        [ChaturantabutSorensen10]; points by pivoted QR: [DrmacGugercin16]
#include "reduce/deim.h"
#include "reduce/interpolation.h"
#include "reduce/train.h"

flx_status flx__train_deim(flx_trainer* t, int32_t b)
{
    flx_status         status    = FLX_OK;
    flx_reduced_batch* batch     = &t->model->batch[b];
    const flx_pod*     basis     = &t->basis[b];
    const int32_t      rows_each = 3 * t->system->batch[b].type->rows;
    const int64_t      r         = batch->modes;
    int64_t*           point     = NULL;
    flx_interpolation  fit       = {0};
    FLX_NEW(t->ctx, point, r);
    FLX_TRY((t->options->method == FLX_REDUCTION_QDEIM ? flx__qdeim_points : flx__deim_points)(
        t->ctx, basis->rows, batch->modes, basis->mode, point));
    FLX_TRY(flx__train_take_rows(t, b, batch->modes, point, rows_each));
    const flx_interpolation_desc desc = {.rows         = basis->rows,
                                         .r            = batch->modes,
                                         .v            = basis->mode,
                                         .sample_count = batch->modes,
                                         .sample       = point,
                                         .bound        = t->options->amplify,
                                         .force        = t->options->force};
    FLX_TRY(flx__interpolation_create(t->ctx, &desc, &fit));
    batch->norm         = fit.norm;
    const int64_t total = (int64_t)batch->element_count * rows_each;
    FLX_NEW_ZERO(t->ctx, batch->fit, r * total);
    for (int64_t i = 0; i < r; ++i)
    {
        const int64_t place = flx__train_row_place(batch, point[i], rows_each);
        for (int64_t k = 0; k < r; ++k) batch->fit[k * total + place] = fit.solve[k + i * r];
    }
done:
    flx__free(t->ctx, point);
    flx__interpolation_release(t->ctx, &fit);
    return status;
}
