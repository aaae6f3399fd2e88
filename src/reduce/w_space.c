// Positions in a subspace, q = W a with W^T M W = I, and what is done about the projections there.
//
//   W: [1, X] and the POD of q(t) beyond them, x, y and z sharing it; or skinning weights, phi_h [1, X] [Jacobson12]
//   A_r = W^T A W.  w: all elements, exact.  w_gpd, w_block_deim: lift = W^T S^T W V behind a fit, [MPB] eq. 5.
//   w_ecsw: energies of weighted elements only, in matrix and projections alike [FarhatEtAl14]; xi by least squares of
//           F^T (sum xi_j w_j (S_j W)^T (p_j - S_j W a) - all of it),  A_r^-1 = F F^T, beside the matrix
//   w_mixed: the exact matrix; xi for sum xi_j w_j (S_j W)^T p_j only
//   w_secs: split-energy cubature of the modes V, matrix A_r + L C L^T, L = W^T S^T W V       (secs.c)
// The constant column is what keeps linear momentum; X lets the body turn and stretch as a whole.
#include "reduce/cubature.h"
#include "reduce/decompose.h"
#include "reduce/sampling.h"
#include "reduce/train.h"

#include "sparse/blas.h"

#include <math.h>
#include <string.h>

// --- W --------------------------------------------------------------------------------------------------------------

typedef struct columns
{
    int32_t       n, count;
    const double* mass;
    double*       v; // [count][n], M-orthonormal
} columns;

static double dot_mass(const columns* c, const double* a, const double* b)
{
    double sum = 0.0;
    for (int32_t i = 0; i < c->n; ++i) sum += c->mass[i] * a[i] * b[i];
    return sum;
}

static void take_out(const columns* c, double* x)
{
    for (int pass = 0; pass < 2; ++pass) // twice is enough
        for (int32_t k = 0; k < c->count; ++k)
        {
            const double* v = c->v + (int64_t)k * c->n;
            cblas_daxpy(c->n, -dot_mass(c, v, x), v, 1, x, 1);
        }
}

/// Append what x has beyond the columns there, unless that is round-off.
static void append(columns* c, const double* x)
{
    double* v = c->v + (int64_t)c->count * c->n;
    memcpy(v, x, (size_t)c->n * sizeof *v);
    const double before = sqrt(dot_mass(c, v, v));
    take_out(c, v);
    const double after = sqrt(dot_mass(c, v, v));
    if (!(after > 1e-9 * before) || before == 0.0) return;
    cblas_dscal(c->n, 1.0 / after, v, 1);
    ++c->count;
}

static void append_affine(columns* c, const double* x_rest, const double* share, double* work)
{
    for (int d = -1; d < 3; ++d)
    {
        for (int32_t i = 0; i < c->n; ++i)
            work[i] = (share ? share[i] : 1.0) * (d < 0 ? 1.0 : x_rest[3 * (int64_t)i + d]);
        append(c, work);
    }
}

static flx_status append_pod(flx_trainer* t, columns* c, int32_t most)
{
    flx_status      status  = FLX_OK;
    flx_pod_options options = flx__pod_options_default();
    const int64_t   n = c->n, frames = t->training->frame_count;
    double*         split = NULL;
    flx_pod         pod   = {0};
    if (c->count >= most) goto done;
    FLX_NEW(t->ctx, split, n * 3 * frames);
    flx__pod_split_axes(n, (int32_t)frames, t->training->q, split);
    for (int64_t k = 0; k < 3 * frames; ++k) take_out(c, split + k * n);
    options.most_modes = most - c->count;
    options.row_weight = c->mass;
    FLX_TRY(flx__pod_create(t->ctx, n, (int32_t)(3 * frames), split, &options, &pod));
    for (int32_t k = 0; k < pod.rank; ++k) append(c, pod.mode + k * n);
done:
    flx__free(t->ctx, split);
    flx__pod_release(t->ctx, &pod);
    return status;
}

static double squared_distance(const double* a, const double* b)
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

/// Quartic bumps about farthest vertices, normalised: handles whose reach is twice the widest gap.
static flx_status append_skinning(flx_trainer* t, columns* c, int32_t handles, double* work)
{
    flx_status    status = FLX_OK;
    const int32_t n      = c->n;
    const double* x      = t->system->x_rest;
    int32_t*      center = NULL;
    double *      phi = NULL, gap = 0.0;
    FLX_NEW(t->ctx, center, handles);
    FLX_NEW(t->ctx, phi, (int64_t)n * handles);
    FLX_TRY(flx__farthest_points(t->ctx, n, x, handles, center));
    for (int32_t i = 0; i < n; ++i)
    {
        double nearest = INFINITY;
        for (int32_t k = 0; k < handles; ++k)
            nearest = fmin(nearest, squared_distance(x + 3 * (int64_t)i, x + 3 * (int64_t)center[k]));
        gap = fmax(gap, nearest);
    }
    for (int32_t i = 0; i < n; ++i)
    {
        double sum = 0.0;
        for (int32_t k = 0; k < handles; ++k)
        {
            const double u          = squared_distance(x + 3 * (int64_t)i, x + 3 * (int64_t)center[k]) / (4.0 * gap);
            phi[(int64_t)k * n + i] = u < 1.0 ? (1.0 - u) * (1.0 - u) : 0.0;
            sum += phi[(int64_t)k * n + i];
        }
        for (int32_t k = 0; k < handles; ++k) phi[(int64_t)k * n + i] /= sum;
    }
    for (int32_t k = 0; k < handles; ++k) append_affine(c, x, phi + (int64_t)k * n, work);
done:
    flx__free(t->ctx, center);
    flx__free(t->ctx, phi);
    return status;
}

static flx_status make_subspace(flx_trainer* t)
{
    flx_status         status  = FLX_OK;
    flx_reduced_model* m       = t->model;
    const int32_t      handles = t->options->handles < m->n ? t->options->handles : m->n;
    const int32_t      wanted  = t->options->subspace > 0 ? t->options->subspace : t->options->modes;
    const int64_t      room    = (handles > 0 ? 4 * (int64_t)handles : wanted) + 5;
    columns            c       = {.n = m->n, .mass = t->system->mass};
    double*            work    = NULL;
    FLX_NEW(t->ctx, c.v, room * m->n);
    FLX_NEW(t->ctx, work, m->n);
    if (handles > 0)
        FLX_TRY(append_skinning(t, &c, handles, work));
    else
    {
        append_affine(&c, t->system->x_rest, NULL, work);
        FLX_TRY(append_pod(t, &c, wanted));
    }
    m->subspace = c.count;
    FLX_NEW(t->ctx, m->w, (int64_t)m->n * m->subspace);
    for (int64_t i = 0; i < m->n; ++i)
        for (int64_t k = 0; k < m->subspace; ++k) m->w[i * m->subspace + k] = c.v[k * m->n + i];
done:
    flx__free(t->ctx, c.v);
    flx__free(t->ctx, work);
    return status;
}

// --- the reduced matrix --------------------------------------------------------------------------------------

/// sw [count rows][k] = W^1/2 S W
static flx_status measure_modes(flx_trainer* t, int32_t b, double** out)
{
    flx_status                  status = FLX_OK;
    const flx_constraint_batch* batch  = &t->system->batch[b];
    const int64_t               k = t->model->subspace, rows = batch->type->rows;
    FLX_NEW_ZERO(t->ctx, *out, batch->count * rows * k);
    for (int64_t j = 0; j < batch->count; ++j)
        for (int32_t e = batch->first[j]; e < batch->first[j + 1]; ++e)
            for (int64_t a = 0; a < rows; ++a)
                cblas_daxpy((int)k, sqrt(batch->weight[j]) * batch->coefficient[e * rows + a],
                            t->model->w + batch->vertex[e] * k, 1, *out + (j * rows + a) * k, 1);
done:
    return status;
}

static void add_gram(int64_t rows, int32_t k, const double* sw, double* a)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, k, (int)rows, 1.0, sw, k, sw, k, 1.0, a, k);
}

/// matrix := the masses' part and what is held; no method reduces these
static void base_matrix(const flx_trainer* t, double* a)
{
    const flx_reduced_model* m = t->model;
    const int                k = m->subspace;
    memset(a, 0, (size_t)k * (size_t)k * sizeof *a);
    for (int i = 0; i < k; ++i) a[i * (k + 1)] = t->system->rate;
    for (int32_t i = 0; i < t->system->held_count; ++i)
    {
        const double* w = m->w + (int64_t)t->system->held[i] * k;
        cblas_dger(CblasRowMajor, k, k, t->system->held_weight, w, 1, w, 1, a, k);
    }
}

// --- cubature -----------------------------------------------------------------------------------------------------

typedef struct subspace_cubature
{
    int64_t rows;
    int32_t k, frames;
    double *l, *d, *target, *goal, *a, *z, *p;
} subspace_cubature;

/// d = W^1/2 (p - S W a) or W^1/2 p, with p at the snapshots' nearest poses in the subspace
static void fill_frames(const flx_trainer* t, int32_t b, const double* sw, subspace_cubature* c)
{
    const flx_constraint_batch* batch = &t->system->batch[b];
    const flx_reduced_model*    m     = t->model;
    const int32_t               rows  = batch->type->rows;
    const int64_t               width = 3 * (int64_t)c->frames;
    for (int32_t f = 0; f < c->frames; ++f)
    {
        const double* q = t->training->q + (int64_t)f * m->n * 3;
        memset(c->a, 0, (size_t)c->k * 3 * sizeof *c->a);
        for (int64_t v = 0; v < m->n; ++v)
            cblas_dger(CblasRowMajor, c->k, 3, t->system->mass[v], m->w + v * c->k, 1, q + 3 * v, 1, c->a, 3);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)c->rows, 3, c->k, 1.0, sw, c->k, c->a, 3, 0.0, c->z,
                    3);
        for (int64_t i = 0; i < 3 * c->rows; ++i) c->z[i] /= sqrt(batch->weight[i / (3 * rows)]);
        flx__constraints_project(t->ctx, batch, c->z, c->p);
        for (int64_t i = 0; i < 3 * c->rows; ++i)
            c->d[i / 3 * width + 3 * f + i % 3] =
                sqrt(batch->weight[i / (3 * rows)]) * (c->p[i] - (m->method == FLX_REDUCTION_W_MIXED ? 0.0 : c->z[i]));
    }
}

static flx_status weigh(flx_trainer* t, int32_t b, const double* sw, const double* factor)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    const int32_t      k      = t->model->subspace;
    subspace_cubature  c      = {.rows = t->snapshot[b].rows, .k = k, .frames = t->snapshot[b].frames};
    const int          width  = 3 * c.frames;
    FLX_NEW(t->ctx, c.l, c.rows * k);
    FLX_NEW(t->ctx, c.d, c.rows * width);
    FLX_NEW(t->ctx, c.target, (int64_t)k * width);
    FLX_NEW_ZERO(t->ctx, c.goal, (int64_t)k * k);
    FLX_NEW(t->ctx, c.a, 3 * (int64_t)k);
    FLX_NEW(t->ctx, c.z, 3 * c.rows);
    FLX_NEW(t->ctx, c.p, 3 * c.rows);
    fill_frames(t, b, sw, &c);
    memcpy(c.l, sw, (size_t)(c.rows * k) * sizeof *sw); // rows L^-1 (S W)^T: solved from the right, by rows
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)c.rows, k, 1.0, factor, k, c.l,
                k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, width, (int)c.rows, 1.0, c.l, k, c.d, width, 0.0, c.target,
                width);
    add_gram(c.rows, k, c.l, c.goal);
    const double       target = cblas_dnrm2(k * width, c.target, 1), goal = cblas_dnrm2(k * k, c.goal, 1);
    const double       match   = 0.5 * t->options->match; // a tenth beside the forces
    const bool         mixed   = t->model->method == FLX_REDUCTION_W_MIXED;
    const flx_cubature problem = {.count  = t->system->batch[b].count,
                                  .rows   = t->system->batch[b].type->rows,
                                  .left   = k,
                                  .inner  = k,
                                  .frames = c.frames,
                                  .l      = c.l,
                                  .d      = c.d,
                                  .target = c.target,
                                  .n      = c.l,
                                  .goal   = c.goal,
                                  .match  = mixed          ? 0.0
                                            : target > 0.0 ? match * match * target * target / (goal * goal)
                                                           : 1.0,
                                  .most   = flx__train_element_count(t, b, 5)};
    FLX_NEW(t->ctx, batch->element, problem.most);
    FLX_NEW(t->ctx, batch->weight, problem.most);
    FLX_TRY(flx__cubature_solve(t->ctx, &problem, &batch->element_count, batch->element, batch->weight, &batch->match));
done:
    flx__free(t->ctx, c.l);
    flx__free(t->ctx, c.d);
    flx__free(t->ctx, c.target);
    flx__free(t->ctx, c.goal);
    flx__free(t->ctx, c.a);
    flx__free(t->ctx, c.z);
    flx__free(t->ctx, c.p);
    return status;
}

static flx_status take_all(flx_trainer* t, int32_t b)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    batch->element_count      = t->system->batch[b].count;
    FLX_NEW(t->ctx, batch->element, batch->element_count);
    FLX_NEW(t->ctx, batch->weight, batch->element_count);
    for (int32_t j = 0; j < batch->element_count; ++j) batch->element[j] = j, batch->weight[j] = 1.0;
done:
    return status;
}

/// xi to xi w; the weighted matrix of the batch's elements added to `matrix`, unless that is NULL.
static void finish_weights(flx_trainer* t, int32_t b, const double* sw, double* matrix)
{
    flx_reduced_batch* batch = &t->model->batch[b];
    const int64_t      rows = t->system->batch[b].type->rows, k = t->model->subspace;
    for (int32_t i = 0; i < batch->element_count; ++i)
    {
        for (int64_t a = 0; a < rows && matrix; ++a)
        {
            const double* x = sw + (batch->element[i] * rows + a) * k;
            cblas_dger(CblasRowMajor, (int)k, (int)k, batch->weight[i], x, 1, x, 1, matrix, (int)k);
        }
        batch->weight[i] *= t->system->batch[b].weight[batch->element[i]];
    }
}

/// Least eigenvalue of the weighted matrix against the exact one, whose Cholesky factor is given.
static flx_status compare_matrices(flx_trainer* t, const double* factor, const double* matrix)
{
    flx_status    status = FLX_OK;
    const int32_t k      = t->model->subspace;
    double *      a = NULL, *value = NULL;
    FLX_NEW(t->ctx, a, (int64_t)k * k);
    FLX_NEW(t->ctx, value, k);
    memcpy(a, matrix, (size_t)k * (size_t)k * sizeof *a);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, k, k, 1.0, factor, k, a, k);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, k, k, 1.0, factor, k, a, k);
    FLX_TRY(flx__symmetric_eigen(t->ctx, k, a, value, NULL));
    for (int32_t b = 0; b < t->model->batch_count; ++b) t->model->batch[b].least = value[0];
    if (value[0] < t->options->least && !t->options->force)
        status = flx__fail(t->ctx, FLX_ERR_ARGUMENT,
                           "the weighted elements' matrix has an eigenvalue of %.3g of the exact one's only (at least "
                           "%g); take more elements or a smaller subspace",
                           value[0], t->options->least);
done:
    flx__free(t->ctx, a);
    flx__free(t->ctx, value);
    return status;
}

static flx_status lift_modes(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* m      = t->model;
    const int64_t      face   = (int64_t)m->n * m->modes;
    double*            load   = NULL;
    FLX_NEW_ZERO(t->ctx, load, m->faces * face);
    FLX_NEW_ZERO(t->ctx, m->lift, (int64_t)m->faces * m->subspace * m->modes);
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(flx__train_modes(t, b, load, NULL));
    for (int64_t d = 0; d < m->faces && m->modes > 0; ++d)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m->subspace, m->modes, m->n, 1.0, m->w, m->subspace,
                    load + d * face, m->modes, 0.0, m->lift + d * m->subspace * m->modes, m->modes);
done:
    flx__free(t->ctx, load);
    return status;
}

/// Elements and weights by K = L^T A_r^-1 L; matrix += L C L^T
static flx_status split_energies(flx_trainer* t, const double* factor)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* m      = t->model;
    const int          k = m->subspace, r = m->modes;
    double *           half = NULL, *kernel = NULL, *lc = NULL;
    FLX_NEW_ZERO(t->ctx, m->c, (int64_t)r * r);
    FLX_NEW(t->ctx, half, (int64_t)k * r);
    FLX_NEW(t->ctx, kernel, (int64_t)r * r);
    FLX_NEW(t->ctx, lc, (int64_t)k * r);
    if (r == 0) goto done; // all projections are zero
    memcpy(half, m->lift, (size_t)k * (size_t)r * sizeof *half);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, k, r, 1.0, factor, k, half, r);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, k, 1.0, half, r, half, r, 0.0, kernel, r);
    FLX_TRY(flx__secs_weigh(t, kernel));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, r, r, 1.0, m->lift, r, m->c, r, 0.0, lc, r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, k, r, 1.0, lc, r, m->lift, r, 1.0, m->matrix, k);
    for (int i = 0; i < k; ++i) // symmetric but for rounding
        for (int j = 0; j < i; ++j)
            m->matrix[i * k + j] = m->matrix[j * k + i] = 0.5 * (m->matrix[i * k + j] + m->matrix[j * k + i]);
done:
    flx__free(t->ctx, half);
    flx__free(t->ctx, kernel);
    flx__free(t->ctx, lc);
    return status;
}

flx_status flx__train_subspace(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* m      = t->model;
    const bool         ecsw   = m->method == FLX_REDUCTION_W_ECSW;
    double**           sw     = NULL;
    double*            factor = NULL;
    FLX_TRY(make_subspace(t));
    const int32_t k = m->subspace;
    FLX_NEW_ZERO(t->ctx, sw, m->batch_count);
    FLX_NEW(t->ctx, m->matrix, (int64_t)k * k);
    FLX_NEW(t->ctx, factor, (int64_t)k * k);
    base_matrix(t, m->matrix);
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        FLX_TRY(measure_modes(t, b, &sw[b]));
        add_gram((int64_t)t->system->batch[b].count * t->system->batch[b].type->rows, k, sw[b], m->matrix);
    }
    const bool modes = m->fit != FLX_FIT_NONE || m->method == FLX_REDUCTION_W_SECS;
    if (modes) FLX_TRY(lift_modes(t));

    memcpy(factor, m->matrix, (size_t)k * (size_t)k * sizeof *factor);
    FLX_TRY(flx__dense_cholesky_f64(t->ctx, k, factor, k, NULL));
    if (ecsw) base_matrix(t, m->matrix);
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        const bool whole = m->method == FLX_REDUCTION_W || !m->batch[b].reduced;
        if (!whole && modes) continue;
        FLX_TRY(whole ? take_all(t, b) : weigh(t, b, sw[b], factor));
        finish_weights(t, b, sw[b], ecsw ? m->matrix : NULL);
    }
    if (ecsw) FLX_TRY(compare_matrices(t, factor, m->matrix));
    if (m->method == FLX_REDUCTION_W_SECS) FLX_TRY(split_energies(t, factor));

done:
    for (int32_t b = 0; sw && b < m->batch_count; ++b) flx__free(t->ctx, sw[b]);
    flx__free(t->ctx, sw);
    flx__free(t->ctx, factor);
    return status;
}
