// How well bases of projections hold what they were made from, and how well it is got back from few elements.
//
//   snapshots X [3 e p~][T] of one constraint's projections,  X ~ V V^T X (POD),  V_d (P^T V_d)^-1 P^T X_d (block),
//   V (P^T V)^-1 P^T X (scalar DEIM),  V (P^T V)^+ P^T X (whole elements)
#include "reduce/deim.h"
#include "reduce/interpolation.h"
#include "reduce/pod.h"
#include "reduce/sampling.h"
#include "sparse/blas.h"
#include "study/study.h"

#include <math.h>

typedef struct basis_work
{
    flx_context* ctx;
    int64_t      rows; // flattened
    int32_t      frames, elements, rows_each;
    double*      x; // [rows][frames]
    flx_pod      pod;
    double*      c;      // [r][frames]
    double*      y;      // [rows][frames] what a scheme makes of x
    double*      sample; // [samples][frames]
    int64_t*     row;
    int32_t*     element;
} basis_work;

static flx_status take_snapshots(basis_work* w, const flx_trial_bench* bench, int32_t b)
{
    flx_status                  status = FLX_OK;
    const flx_experiment*       e      = bench->experiment;
    const flx_constraint_batch* batch  = &e->system->batch[b];
    w->elements                        = batch->count;
    w->rows_each                       = 3 * batch->type->rows;
    w->rows                            = (int64_t)batch->count * w->rows_each;
    w->frames                          = e->batch_frames[b] + 1;
    FLX_NEW(w->ctx, w->x, w->rows * w->frames);
    FLX_NEW(w->ctx, w->y, w->rows * w->frames);
    for (int32_t f = 0; f < w->frames; ++f)
    {
        flx__constraints_measure(w->ctx, batch, bench->full[0].q + (int64_t)f * 3 * e->system->n, w->y);
        flx__constraints_project(w->ctx, batch, w->y, w->x + f * w->rows);
    }
done:
    return status;
}

static double relative_error(const basis_work* w)
{
    double sum = 0.0, all = 0.0;
    for (int64_t i = 0; i < w->rows * w->frames; ++i)
    {
        sum += (w->x[i] - w->y[i]) * (w->x[i] - w->y[i]);
        all += w->x[i] * w->x[i];
    }
    return all > 0 ? sqrt(sum / all) : 0.0;
}

/// y's rows `first`, `first + stride`, ... := V C (x at the samples), for the same rows of V.
static void apply(basis_work* w, const flx_interpolation* fit, int32_t count, const int64_t* row, int64_t first,
                  int64_t stride)
{
    const int     r = fit->r, T = w->frames;
    const int64_t n = w->rows / stride;
    for (int32_t f = 0; f < T; ++f)
        for (int32_t i = 0; i < count; ++i)
            w->sample[i + (int64_t)f * count] = w->x[first + stride * row[i] + f * w->rows];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, T, count, 1.0, fit->solve, r, w->sample, count, 0.0, w->c,
                r);
    for (int32_t f = 0; f < T; ++f)
        for (int64_t i = 0; i < n; ++i) w->y[first + stride * i + f * w->rows] = 0.0;
    for (int32_t f = 0; f < T; ++f)
        for (int32_t k = 0; k < r; ++k)
        {
            const double  c = w->c[k + (int64_t)f * r];
            const double* v = w->pod.mode + k * w->rows;
            for (int64_t i = 0; i < n; ++i) w->y[first + stride * i + f * w->rows] += c * v[first + stride * i];
        }
}

static flx_status try_block(basis_work* w, int32_t r, double* error, double norm[3])
{
    flx_status        status = FLX_OK;
    flx_interpolation fit[3] = {0};
    FLX_TRY(flx__block_deim_points(w->ctx, w->rows / 3, r, w->pod.mode, w->row));
    const flx_interpolation_desc desc = {
        .rows = w->rows / 3, .r = r, .v = w->pod.mode, .sample_count = r, .sample = w->row, .force = true};
    FLX_TRY(flx__block_interpolation_create(w->ctx, &desc, fit));
    for (int d = 0; d < 3; ++d)
    {
        norm[d] = fit[d].norm;
        apply(w, &fit[d], r, w->row, d, 3);
    }
    *error = relative_error(w);
done:
    for (int d = 0; d < 3; ++d) flx__interpolation_release(w->ctx, &fit[d]);
    return status;
}

static flx_status try_rows(basis_work* w, int32_t r, int32_t count, double* error, double* norm)
{
    flx_status                   status = FLX_OK;
    flx_interpolation            fit    = {0};
    const flx_interpolation_desc desc   = {
          .rows = w->rows, .r = r, .v = w->pod.mode, .sample_count = count, .sample = w->row, .force = true};
    FLX_TRY(flx__interpolation_create(w->ctx, &desc, &fit));
    *norm = fit.norm;
    apply(w, &fit, count, w->row, 0, 1);
    *error = relative_error(w);
done:
    flx__interpolation_release(w->ctx, &fit);
    return status;
}

static flx_status try_rank(basis_work* w, int32_t r, flx_study_basis* out)
{
    flx_status    status = FLX_OK;
    const int32_t k      = out->count++;
    const int32_t m      = 2 * r < w->elements ? 2 * r : w->elements;
    out->r[k]            = r;
    FLX_TRY(flx__pod_error(w->ctx, &w->pod, r, NULL, w->frames, w->x, &out->error[FLX_STUDY_POD][k]));
    FLX_TRY(try_block(w, r, &out->error[FLX_STUDY_BLOCK][k], out->norm[k]));
    FLX_TRY(flx__deim_points(w->ctx, w->rows, r, w->pod.mode, w->row));
    FLX_TRY(try_rows(w, r, r, &out->error[FLX_STUDY_SCALAR][k], &out->scalar_norm[k]));
    FLX_TRY(flx__d_optimal_elements(w->ctx, w->elements, w->rows_each, r, w->pod.mode, m, w->element));
    flx__element_rows(m, w->element, w->rows_each, w->row);
    FLX_TRY(try_rows(w, r, m * w->rows_each, &out->error[FLX_STUDY_ELEMENTS][k], &out->element_norm[k]));
done:
    return status;
}

static flx_status study_basis(flx_study* s, const flx_trial_bench* bench, int32_t i, int32_t b)
{
    static const int32_t ranks[] = {1, 2, 4, 6, 8, 10, 14, 20, 28, 40};
    flx_status           status  = FLX_OK;
    basis_work           w       = {.ctx = s->ctx};
    flx_pod_options      options = flx__pod_options_default();
    flx_study_basis*     out     = &s->basis[s->basis_count];
    *out = (flx_study_basis){.experiment = i, .batch = b, .type = bench->experiment->system->batch[b].type->name};
    FLX_TRY(take_snapshots(&w, bench, b));
    FLX_TRY(flx__pod_create(s->ctx, w.rows, w.frames, w.x, &options, &w.pod));
    FLX_NEW(s->ctx, out->sigma, w.pod.sigma_count);
    ++s->basis_count;
    out->sigma_count = w.pod.sigma_count;
    out->rank        = w.pod.rank;
    for (int32_t k = 0; k < w.pod.sigma_count; ++k) out->sigma[k] = w.pod.sigma[k];
    const int64_t most = 2 * 40 * (int64_t)w.rows_each;
    FLX_NEW(s->ctx, w.c, 40 * (int64_t)w.frames);
    FLX_NEW(s->ctx, w.sample, most * w.frames);
    FLX_NEW(s->ctx, w.row, most);
    FLX_NEW(s->ctx, w.element, 2 * 40);
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; ++k)
        if (ranks[k] <= w.pod.rank && ranks[k] <= w.rows / 3) FLX_TRY(try_rank(&w, ranks[k], out));
done:
    flx__pod_release(s->ctx, &w.pod);
    flx__free(s->ctx, w.x);
    flx__free(s->ctx, w.y);
    flx__free(s->ctx, w.c);
    flx__free(s->ctx, w.sample);
    flx__free(s->ctx, w.row);
    flx__free(s->ctx, w.element);
    return status;
}

flx_status flx__study_bases(flx_study* s, int32_t experiment, const flx_trial_bench* bench)
{
    flx_status status = FLX_OK;
    blas_single_thread();
    for (int32_t b = 0; b < bench->experiment->system->batch_count; ++b) FLX_TRY(study_basis(s, bench, experiment, b));
done:
    return status;
}
