// Gappy POD of whole elements: coefficients by least squares from a few elements' projections.
//
//   p ~ V c,  c = argmin sum_E |V_j c - p_j|^2 = (P^T V)^+ P^T p       [EversonSirovich95]
//   MAP:  + lambda sum_i (sigma_0 / sigma_i)^2 c_i^2
// Elements are chosen by D-optimality of sum V_j^T V_j (sampling.h). V is flattened and c shared by x, y and z, so an
// element of k rows gives 3 k equations; with a scalar basis ("gpds") it gives k for each of three vectors c.
#include "reduce/interpolation.h"
#include "reduce/sampling.h"
#include "reduce/train.h"

#define MAP_LAMBDA 1e-10 // relative variance below which a mode is noise

static flx_status choose(flx_trainer* t, int32_t b, int32_t rows_each)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    const int32_t      m      = flx__train_element_count(t, b, 2);
    int32_t*           chosen = NULL;
    int64_t*           first  = NULL;
    FLX_NEW(t->ctx, chosen, m);
    FLX_NEW(t->ctx, first, m);
    FLX_TRY(flx__d_optimal_elements(t->ctx, t->system->batch[b].count, rows_each, batch->modes, t->basis[b].mode, m,
                                    chosen));
    for (int32_t i = 0; i < m; ++i) first[i] = (int64_t)chosen[i] * rows_each;
    FLX_TRY(flx__train_take_rows(t, b, m, first, rows_each));
done:
    flx__free(t->ctx, chosen);
    flx__free(t->ctx, first);
    return status;
}

flx_status flx__train_least_squares(flx_trainer* t, int32_t b, double lambda)
{
    flx_status         status    = FLX_OK;
    flx_reduced_batch* batch     = &t->model->batch[b];
    const int32_t      rows_each = t->system->batch[b].type->rows * (t->model->faces == 3 ? 3 : 1);
    const int32_t      samples   = batch->element_count * rows_each;
    int64_t*           row       = NULL;
    flx_interpolation  fit       = {0};
    FLX_NEW(t->ctx, row, samples);
    flx__element_rows(batch->element_count, batch->element, rows_each, row);
    const flx_interpolation_desc desc = {.rows         = t->basis[b].rows,
                                         .r            = batch->modes,
                                         .v            = t->basis[b].mode,
                                         .sample_count = samples,
                                         .sample       = row,
                                         .lambda       = lambda,
                                         .sigma        = t->basis[b].sigma,
                                         .bound        = t->options->amplify,
                                         .force        = t->options->force};
    FLX_TRY(flx__interpolation_create(t->ctx, &desc, &fit));
    batch->norm = fit.norm;
    FLX_NEW(t->ctx, batch->fit, (int64_t)batch->modes * samples);
    for (int32_t k = 0; k < batch->modes; ++k)
        for (int32_t i = 0; i < samples; ++i)
            batch->fit[(int64_t)k * samples + i] = fit.solve[k + (int64_t)i * batch->modes];
done:
    flx__free(t->ctx, row);
    flx__interpolation_release(t->ctx, &fit);
    return status;
}

flx_status flx__train_gpd(flx_trainer* t, int32_t b)
{
    const int32_t    rows_each = t->system->batch[b].type->rows * (t->model->faces == 3 ? 3 : 1);
    const flx_status status    = choose(t, b, rows_each);
    if (status != FLX_OK) return status;
    return flx__train_least_squares(t, b, t->options->method == FLX_REDUCTION_GPD_MAP ? MAP_LAMBDA : 0.0);
}
