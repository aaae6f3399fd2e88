// DEIM with block rows, as [MPB] section 4 has it: V_x, V_y, V_z of one flattened basis, each interpolated by itself at
// the rows where the three residuals together are largest.
//
//   p_d ~ V_d (P^T V_d)^-1 P^T p_d,  d = x, y, z
// The parts of an orthonormal V need not be bases themselves, and |(P^T V_d)^-1| has no bound; it is reported, and a
// model that amplifies is refused unless forced.
#include "reduce/deim.h"
#include "reduce/interpolation.h"
#include "reduce/train.h"

#include <math.h>

static flx_status store(flx_trainer* t, int32_t b, const int64_t* point, const flx_interpolation fit[3])
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    const int32_t      rows   = t->system->batch[b].type->rows;
    const int64_t      r = batch->modes, total = (int64_t)batch->element_count * rows;
    FLX_NEW_ZERO(t->ctx, batch->fit, 3 * r * total);
    for (int64_t d = 0; d < 3; ++d)
        for (int64_t i = 0; i < r; ++i)
        {
            const int64_t place = flx__train_row_place(batch, point[i], rows);
            for (int64_t k = 0; k < r; ++k) batch->fit[(d * r + k) * total + place] = fit[d].solve[k + i * r];
        }
    for (int d = 0; d < 3; ++d) batch->norm = fmax(batch->norm, fit[d].norm);
done:
    return status;
}

flx_status flx__train_block_deim(flx_trainer* t, int32_t b)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    const int64_t      rows   = t->snapshot[b].rows;
    int64_t*           point  = NULL;
    flx_interpolation  fit[3] = {0};
    FLX_NEW(t->ctx, point, batch->modes);
    FLX_TRY(flx__block_deim_points(t->ctx, rows, batch->modes, t->basis[b].mode, point));
    FLX_TRY(flx__train_take_rows(t, b, batch->modes, point, t->system->batch[b].type->rows));
    const flx_interpolation_desc desc = {.rows         = rows,
                                         .r            = batch->modes,
                                         .v            = t->basis[b].mode,
                                         .sample_count = batch->modes,
                                         .sample       = point,
                                         .bound        = t->options->amplify,
                                         .force        = t->options->force};
    FLX_TRY(flx__block_interpolation_create(t->ctx, &desc, fit));
    FLX_TRY(store(t, b, point, fit));
done:
    flx__free(t->ctx, point);
    for (int d = 0; d < 3; ++d) flx__interpolation_release(t->ctx, &fit[d]);
    return status;
}
