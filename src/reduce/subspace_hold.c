// Attachments that come and go, in a subspace: what holds is a low-rank part of a small matrix.
//
//   H' = H - sum_{j that does not hold} w_j (S_j W)^T (S_j W),   a' = H'^-1 rhs = (H'^-1 H) a
// always from H itself, so what held before makes no difference; a change costs k^2 for each that does not hold, and
// k^3.
#include "reduce/reduced_internal.h"

#include "sparse/blas.h"

#include <float.h>
#include <string.h>

flx_status flx__subspace_hold_create(flx_reduced_solver* s)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* m      = s->model;
    const int32_t            k      = m->subspace;
    s->hold_batch                   = -1;
    for (int32_t b = 0; b < m->batch_count; ++b)
        if (s->system->batch[b].type == &flx__attachment) s->hold_batch = b;
    const int32_t count = s->hold_batch < 0 ? 0 : m->batch[s->hold_batch].element_count;
    FLX_NEW(s->ctx, s->factor, (int64_t)k * k);
    FLX_NEW(s->ctx, s->turn, (int64_t)k * k);
    FLX_NEW(s->ctx, s->a_last, 3 * (int64_t)k);
    FLX_NEW(s->ctx, s->holds, count);
    FLX_NEW(s->ctx, s->holds_next, count);
    if (count > 0) memset(s->holds, 1, (size_t)count);
    memcpy(s->factor, m->matrix, (size_t)k * (size_t)k * sizeof *s->factor);
    FLX_TRY(flx__dense_cholesky_f64(s->ctx, k, s->factor, k, NULL));
done:
    return status;
}

/// b [k][columns] := H'^-1 b; by rows, the lower factor stored by columns is its transpose.
static void solve(int k, const double* factor, int columns, double* b)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, k, columns, 1.0, factor, k, b, columns);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, k, columns, 1.0, factor, k, b,
                columns);
}

/// H' = L L^T with pivots that are more than what `taken` subtractions and the factor itself round off H's diagonal.
static bool holds_all(const flx_reduced_solver* s, int32_t taken)
{
    const int32_t k        = s->model->subspace;
    const double  rounding = (taken + k) * DBL_EPSILON;
    for (int64_t i = 0; i < k; ++i)
    {
        const double pivot = s->factor[i * k + i];
        if (pivot * pivot <= rounding * s->model->matrix[i * k + i]) return false;
    }
    return true;
}

flx_status flx__subspace_hold(flx_reduced_solver* s, const flx_pd_drive* drive)
{
    if (!drive || !drive->hold || s->hold_batch < 0) return FLX_OK;
    const flx_samples* of    = &s->samples[s->hold_batch];
    const int32_t      count = of->of->element_count, k = s->model->subspace;
    double*            row = s->a_last; // scratch
    drive->hold(drive->user, s->state.frame + 1, s->holds_next);
    if (memcmp(s->holds, s->holds_next, (size_t)count) == 0) return FLX_OK;

    memcpy(s->factor, s->model->matrix, (size_t)k * (size_t)k * sizeof *s->factor);
    s->turned = false;
    for (int32_t j = 0; j < count; ++j)
    {
        if (s->holds_next[j]) continue;
        flx__samples_measure(of->full, of->of->element[j], s->model->w, k, row);
        cblas_dger(CblasRowMajor, k, k, -of->of->weight[j], row, 1, row, 1, s->factor, k);
        s->turned = true;
    }
    memset(s->holds, 2, (size_t)count); // nothing that could be asked for, until it has been factored
    if (flx__dense_cholesky_f64(s->ctx, k, s->factor, k, NULL) != FLX_OK || !holds_all(s, count))
        return flx__fail(s->ctx, FLX_ERR_UNHELD, "frame %d: what still holds does not hold every mode of the subspace",
                         s->state.frame + 1);
    memcpy(s->turn, s->model->matrix, (size_t)k * (size_t)k * sizeof *s->turn);
    solve(k, s->factor, k, s->turn);
    memcpy(s->holds, s->holds_next, (size_t)count);
    return FLX_OK;
}

void flx__subspace_turn(flx_reduced_solver* s, double* a)
{
    const int k = s->model->subspace;
    memcpy(s->rhs0, a, 3 * (size_t)k * sizeof *a);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, 3, k, 1.0, s->turn, k, s->rhs0, 3, 0.0, a, 3);
}
