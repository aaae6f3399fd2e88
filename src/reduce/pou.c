// Projections interpolated over the body by a partition of unity, after [Brandt18] section 5: no snapshots, only a
// mesh.
//
//   p_j ~ sum_c phi_c(x_j) (S_j X) P_c,    P_c 3 x 3 for each of `modes` centres,   (S_j X) the rest measure
//   phi_c ~ (1 - (|x - x_c|/R)^2)^2_+, normalised to sum 1; centres are farthest points, R twice the largest gap
// The P_c follow by least squares from farthest elements. Differs: the columns are made orthonormal, and those that
// depend on others (a flat sheet has no normal component) are dropped.
#include "reduce/sampling.h"
#include "reduce/train.h"

#include <math.h>

static void element_middles(const flx_pd_system* system, int32_t b, double* x)
{
    const flx_constraint_batch* batch = &system->batch[b];
    for (int64_t j = 0; j < batch->count; ++j)
        for (int d = 0; d < 3; ++d)
        {
            double sum = 0.0;
            for (int32_t e = batch->first[j]; e < batch->first[j + 1]; ++e)
                sum += system->x_rest[3 * (int64_t)batch->vertex[e] + d];
            x[3 * j + d] = sum / (double)(batch->first[j + 1] - batch->first[j]);
        }
}

static double distance(const double* a, const double* b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static double widest_gap(int32_t count, const double* x, int32_t centers, const int32_t* center)
{
    double gap = 0.0;
    for (int32_t j = 0; j < count; ++j)
    {
        double nearest = INFINITY;
        for (int32_t c = 0; c < centers; ++c)
            nearest = fmin(nearest, distance(x + 3 * (int64_t)j, x + 3 * (int64_t)center[c]));
        gap = fmax(gap, nearest);
    }
    return gap;
}

/// column [rows][3 centers] by columns: phi_c(x_j) (S_j X)_l in column 3 c + l.
static void fill_columns(int32_t count, int32_t rows, const double* x, const double* rest, int32_t centers,
                         const int32_t* center, double radius, double* column)
{
    const int64_t total = (int64_t)count * rows;
    for (int32_t j = 0; j < count; ++j)
    {
        double sum = 0.0;
        for (int32_t c = 0; c < centers; ++c)
        {
            const double d   = distance(x + 3 * (int64_t)j, x + 3 * (int64_t)center[c]) / radius;
            const double phi = d < 1.0 ? (1.0 - d * d) * (1.0 - d * d) : 0.0;
            sum += phi;
            for (int64_t a = (int64_t)j * rows; a < (int64_t)(j + 1) * rows; ++a)
                for (int64_t l = 0; l < 3; ++l) column[a + (3 * (int64_t)c + l) * total] = phi * rest[3 * a + l];
        }
        for (int32_t c = 0; c < 3 * centers; ++c)
            for (int64_t a = (int64_t)j * rows; a < (int64_t)(j + 1) * rows; ++a) column[a + c * total] /= sum;
    }
}

flx_status flx__pou_basis(flx_trainer* t, int32_t b)
{
    flx_status                  status  = FLX_OK;
    const flx_constraint_batch* batch   = &t->system->batch[b];
    const int32_t               rows    = batch->type->rows;
    const int32_t               centers = t->options->modes < batch->count ? t->options->modes : batch->count;
    flx_pod_options             options = flx__pod_options_default();
    double *                    x = NULL, *rest = NULL, *column = NULL;
    int32_t*                    center = NULL;
    options.truncation                 = 1e-8; // a flat sheet's curvature is rounding inside, and no direction to fit
    FLX_NEW(t->ctx, x, 3 * (int64_t)batch->count);
    FLX_NEW(t->ctx, rest, 3 * t->snapshot[b].rows);
    FLX_NEW(t->ctx, column, 3 * t->snapshot[b].rows * centers);
    FLX_NEW(t->ctx, center, centers);
    element_middles(t->system, b, x);
    flx__constraints_measure(t->ctx, batch, t->system->x_rest, rest);
    FLX_TRY(flx__farthest_points(t->ctx, batch->count, x, centers, center));
    const double gap = widest_gap(batch->count, x, centers, center);
    fill_columns(batch->count, rows, x, rest, centers, center, gap > 0.0 ? 2.0 * gap : 1.0, column);
    FLX_TRY(flx__pod_create(t->ctx, t->snapshot[b].rows, 3 * centers, column, &options, &t->basis[b]));
done:
    flx__free(t->ctx, x);
    flx__free(t->ctx, rest);
    flx__free(t->ctx, column);
    flx__free(t->ctx, center);
    return status;
}

flx_status flx__train_pou(flx_trainer* t, int32_t b)
{
    flx_status                  status = FLX_OK;
    const flx_constraint_batch* batch  = &t->system->batch[b];
    const int32_t               m      = flx__train_element_count(t, b, 2);
    double*                     x      = NULL;
    int32_t*                    chosen = NULL;
    int64_t*                    row    = NULL;
    FLX_NEW(t->ctx, x, 3 * (int64_t)batch->count);
    FLX_NEW(t->ctx, chosen, m);
    FLX_NEW(t->ctx, row, m);
    element_middles(t->system, b, x);
    FLX_TRY(flx__farthest_points(t->ctx, batch->count, x, m, chosen));
    for (int32_t i = 0; i < m; ++i) row[i] = (int64_t)chosen[i] * batch->type->rows;
    FLX_TRY(flx__train_take_rows(t, b, m, row, batch->type->rows));
    FLX_TRY(flx__train_least_squares(t, b, 0.0));
done:
    flx__free(t->ctx, x);
    flx__free(t->ctx, chosen);
    flx__free(t->ctx, row);
    return status;
}
