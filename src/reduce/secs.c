// Split-energy cubature with one scalar basis for x, y and z.
//
//   V: POD of [p, S q] in the metric W, axes as columns of their own; V^T W V = I, Pi = V V^T W
//   if p lies in span V:  1/2 |S q - p|^2 = 1/2 |Pi (S q - p)|^2 + 1/2 |(I - Pi) S q|^2                (norms in W)
//   E_r(q) = inertia + held + 1/2 |(I - Pi) S q|^2 + sum_E xi_j w_j/2 dist^2(V_j eta, manifold_j),  eta = V^T W S q
// This is an energy of Projective Dynamics with a constant matrix, so rounds never raise it, for any xi >= 0; what is
// outside of span V keeps its full stiffness; and it commutes with rotations, since V is shared by the axes. Elements
// that are never projected onto anything but zero are outside of it as they are.
//
//   B = S^T W V, K = B^T A^-1 B, G = sum xi_j w_j V_j^T V_j, C = G - I
//   matrix A + B C B^T;  K_r = K (I + C K)^-1 = K^1/2 (I + K^1/2 C K^1/2)^-1 K^1/2,  T = A^-1 B (I + C K)^-1
//   a round: p_j = proj(V_j eta), g = sum xi_j w_j V_j^T p_j, eta = (I - K_r C) B^T x0 + K_r g
//   last:    q = x0 + T (g - C B^T x0),  x0 = A^-1 (all that is not reduced)
//   in a subspace (w_secs): A_r and L = W^T B for A and B, K = L^T A_r^-1 L       (w_space.c)
//   xi: least squares of K^1/2 (sum xi_j w_j V_j^T d_j - V^T W (S q - p)) over the training frames, d_j = V_j eta -
//   p_j,
//       beside G = I, without which modes that the training leaves at rest would have no stiffness.
#include "reduce/cubature.h"
#include "reduce/decompose.h"
#include "reduce/train.h"

#include "sparse/blas.h"

#include <math.h>
#include <string.h>

/// Elements whose projection is zero in every frame, as that of bending where the sheet is flat at rest: 1/2 |S q|^2 is
/// all of their energy, so they need no mode and are held exactly.
static void find_linear(const flx_constraint_batch* batch, const flx_batch_snapshots* s, uint8_t* linear)
{
    const int64_t each = 3 * (int64_t)batch->type->rows;
    for (int64_t j = 0; j < batch->count; ++j)
    {
        linear[j] = 1;
        for (int64_t f = 0; f < s->frames && linear[j]; ++f)
            for (int64_t k = j * each; k < (j + 1) * each; ++k)
                if (s->p[f * s->rows * 3 + k] != 0.0) linear[j] = 0;
    }
}

/// a [rows][columns], by columns: the rows of linear elements := 0.
static void clear_linear(const flx_constraint_batch* batch, const uint8_t* linear, int64_t rows, int64_t columns,
                         double* a)
{
    for (int64_t c = 0; c < columns; ++c)
        for (int64_t i = 0; i < rows; ++i)
            if (linear[i / batch->type->rows]) a[c * rows + i] = 0.0;
}

flx_status flx__secs_basis(flx_trainer* t, int32_t b)
{
    flx_status                  status  = FLX_OK;
    const flx_constraint_batch* batch   = &t->system->batch[b];
    const flx_batch_snapshots*  s       = &t->snapshot[b];
    flx_pod_options             options = flx__pod_options_default();
    double *                    split = NULL, *weight = NULL;
    uint8_t*                    linear = NULL;
    FLX_NEW(t->ctx, split, s->rows * 6 * s->frames);
    FLX_NEW(t->ctx, weight, s->rows);
    FLX_NEW(t->ctx, linear, batch->count);
    find_linear(batch, s, linear);
    flx__pod_split_axes(s->rows, s->frames, s->p, split);
    flx__pod_split_axes(s->rows, s->frames, s->z, split + s->rows * 3 * s->frames);
    clear_linear(batch, linear, s->rows, 6 * s->frames, split);
    for (int64_t i = 0; i < s->rows; ++i) weight[i] = batch->weight[i / batch->type->rows];
    options.most_modes = t->options->modes;
    options.truncation = t->options->truncation;
    options.row_weight = weight;
    FLX_TRY(flx__pod_create(t->ctx, s->rows, 6 * s->frames, split, &options, &t->basis[b]));
    clear_linear(batch, linear, s->rows, t->basis[b].rank, t->basis[b].mode); // no rounding there to choose them by
done:
    flx__free(t->ctx, linear);
    flx__free(t->ctx, split);
    flx__free(t->ctx, weight);
    return status;
}

// --- the cubature of one batch ------------------------------------------------------------------------------------

typedef struct secs_batch
{
    int64_t rows;
    int32_t r, frames;
    double* root_w; // [rows]
    double* u;      // [rows][r] W^1/2 V
    double* l;      // [rows][r] U K^1/2
    double* d;      // [rows][3 frames] W^1/2 (V eta - proj)
    double* target; // [r][3 frames] K^1/2 V^T W (S q - p)
    double* eye;    // [r][r]
    double* root_k; // [r][r] K^1/2
    double* kernel; // [r][r]
    double *zw, *ww, *eta, *rhs, *vz, *vp;
} secs_batch;

static void release_secs_batch(flx_context* ctx, secs_batch* s)
{
    double* const owned[] = {s->root_w, s->u,  s->l,  s->d,   s->target, s->eye, s->root_k,
                             s->kernel, s->zw, s->ww, s->eta, s->rhs,    s->vz,  s->vp};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__free(ctx, owned[i]);
}

static flx_status size_secs_batch(flx_context* ctx, secs_batch* s)
{
    flx_status    status = FLX_OK;
    const int64_t r = s->r, columns = 3 * (int64_t)s->frames;
    FLX_NEW(ctx, s->root_w, s->rows);
    FLX_NEW(ctx, s->u, s->rows * r);
    FLX_NEW(ctx, s->l, s->rows * r);
    FLX_NEW(ctx, s->d, s->rows * columns);
    FLX_NEW(ctx, s->target, r * columns);
    FLX_NEW_ZERO(ctx, s->eye, r * r);
    FLX_NEW(ctx, s->root_k, r * r);
    FLX_NEW(ctx, s->kernel, r * r);
    FLX_NEW(ctx, s->zw, s->rows * 3);
    FLX_NEW(ctx, s->ww, s->rows * 3);
    FLX_NEW(ctx, s->eta, r * 3);
    FLX_NEW(ctx, s->rhs, r * 3);
    FLX_NEW(ctx, s->vz, s->rows * 3);
    FLX_NEW(ctx, s->vp, s->rows * 3);
done:
    return status;
}

/// root [n][n] := a^1/2 for a symmetric, not negative; a is destroyed.
static flx_status symmetric_root(flx_context* ctx, int32_t n, double* a, double* root)
{
    flx_status status = FLX_OK;
    double *   value = NULL, *vector = NULL;
    FLX_NEW(ctx, value, n);
    FLX_NEW(ctx, vector, (int64_t)n * n);
    FLX_TRY(flx__symmetric_eigen(ctx, n, a, value, vector));
    for (int32_t j = 0; j < n; ++j)
        cblas_dscal(n, value[j] > 0.0 ? sqrt(sqrt(value[j])) : 0.0, vector + (int64_t)j * n, 1);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, 1.0, vector, n, vector, n, 0.0, root, n);
done:
    flx__free(ctx, value);
    flx__free(ctx, vector);
    return status;
}

static void fill_rows(const flx_trainer* t, int32_t b, secs_batch* s)
{
    const flx_constraint_batch* batch = &t->system->batch[b];
    for (int64_t i = 0; i < s->rows; ++i)
    {
        s->root_w[i] = sqrt(batch->weight[i / batch->type->rows]);
        for (int32_t k = 0; k < s->r; ++k) s->u[i * s->r + k] = s->root_w[i] * t->basis[b].mode[s->rows * k + i];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->rows, s->r, s->r, 1.0, s->u, s->r, s->root_k, s->r,
                0.0, s->l, s->r);
    for (int32_t k = 0; k < s->r; ++k) s->eye[k * (s->r + 1)] = 1.0;
}

static void fill_frame(const flx_trainer* t, int32_t b, secs_batch* s, int32_t frame)
{
    const flx_batch_snapshots* snap    = &t->snapshot[b];
    const int                  columns = 3 * s->frames, rows = (int)s->rows;
    const double *             z = snap->z + frame * s->rows * 3, *p = snap->p + frame * s->rows * 3;
    for (int64_t i = 0; i < s->rows * 3; ++i)
    {
        s->zw[i] = s->root_w[i / 3] * z[i];
        s->ww[i] = s->root_w[i / 3] * (z[i] - p[i]);
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, s->r, 3, rows, 1.0, s->u, s->r, s->zw, 3, 0.0, s->eta, 3);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, s->r, 3, rows, 1.0, s->u, s->r, s->ww, 3, 0.0, s->rhs, 3);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s->r, 3, s->r, 1.0, s->root_k, s->r, s->rhs, 3, 0.0,
                s->target + 3 * frame, columns);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, 3, s->r, 1.0, s->u, s->r, s->eta, 3, 0.0, s->vz, 3);
    for (int64_t i = 0; i < s->rows * 3; ++i) s->vz[i] /= s->root_w[i / 3];
    flx__constraints_project(t->ctx, &t->system->batch[b], s->vz, s->vp);
    for (int64_t i = 0; i < s->rows; ++i)
        for (int32_t c = 0; c < 3; ++c)
            s->d[i * columns + 3 * frame + c] = s->root_w[i] * (s->vz[3 * i + c] - s->vp[3 * i + c]);
}

static flx_status weigh(flx_trainer* t, int32_t b, const secs_batch* s)
{
    flx_status                  status  = FLX_OK;
    const flx_constraint_batch* full    = &t->system->batch[b];
    flx_reduced_batch*          batch   = &t->model->batch[b];
    const int32_t               rows    = full->type->rows;
    const double                size    = cblas_dnrm2(s->r * 3 * s->frames, s->target, 1);
    const flx_cubature          problem = {.count  = full->count,
                                           .rows   = rows,
                                           .left   = s->r,
                                           .inner  = s->r,
                                           .frames = s->frames,
                                           .l      = s->l,
                                           .d      = s->d,
                                           .target = s->target,
                                           .n      = s->u,
                                           .goal   = s->eye,
                                           .match =
                                      size > 0.0 ? t->options->match * t->options->match * size * size / s->r : 1.0,
                                           .most = flx__train_element_count(t, b, 5)};

    FLX_NEW(t->ctx, batch->element, problem.most);
    FLX_NEW(t->ctx, batch->weight, problem.most);
    FLX_TRY(flx__cubature_solve(t->ctx, &problem, &batch->element_count, batch->element, batch->weight, &batch->match));
    FLX_NEW(t->ctx, batch->at, (int64_t)batch->element_count * rows * s->r);
    for (int32_t i = 0; i < batch->element_count; ++i)
    {
        batch->weight[i] *= full->weight[batch->element[i]];
        for (int64_t a = 0; a < rows; ++a)
            for (int32_t k = 0; k < s->r; ++k)
                batch->at[(i * rows + a) * s->r + k] = t->basis[b].mode[s->rows * k + batch->element[i] * rows + a];
    }
done:
    return status;
}

/// The batch's block of C = G - I, and G's least eigenvalue.
static flx_status measure_gram(flx_trainer* t, int32_t b)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* model  = t->model;
    flx_reduced_batch* batch  = &model->batch[b];
    const int32_t      rows = t->system->batch[b].type->rows, r = batch->modes;
    double *           g = NULL, *value = NULL;
    FLX_NEW_ZERO(t->ctx, g, (int64_t)r * r);
    FLX_NEW(t->ctx, value, r);
    for (int32_t a = 0; a < batch->element_count * rows; ++a)
        cblas_dger(CblasRowMajor, r, r, batch->weight[a / rows], batch->at + (int64_t)a * r, 1,
                   batch->at + (int64_t)a * r, 1, g, r);
    for (int32_t i = 0; i < r; ++i)
        for (int32_t j = 0; j < r; ++j)
            model->c[(int64_t)(batch->first_mode + i) * model->modes + batch->first_mode + j] =
                g[i * r + j] - (i == j ? 1.0 : 0.0);
    FLX_TRY(flx__symmetric_eigen(t->ctx, r, g, value, NULL));
    batch->least = value[0];
    if (batch->least < t->options->least && !t->options->force)
        status = flx__fail(t->ctx, FLX_ERR_ARGUMENT,
                           "%s: %d elements hold %d modes with an eigenvalue of %.3g only (at least %g); take more "
                           "elements or fewer modes",
                           t->system->batch[b].type->name, batch->element_count, r, batch->least, t->options->least);
done:
    flx__free(t->ctx, g);
    flx__free(t->ctx, value);
    return status;
}

static flx_status train_batch(flx_trainer* t, int32_t b, const double* kernel)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* model  = t->model;
    const flx_reduced_batch* batch  = &model->batch[b];
    secs_batch               s      = {.rows = t->snapshot[b].rows, .r = batch->modes, .frames = t->snapshot[b].frames};
    FLX_TRY(size_secs_batch(t->ctx, &s));
    for (int32_t i = 0; i < s.r; ++i)
        memcpy(s.kernel + (int64_t)i * s.r,
               kernel + (int64_t)(batch->first_mode + i) * model->modes + batch->first_mode,
               (size_t)s.r * sizeof *kernel);
    FLX_TRY(symmetric_root(t->ctx, s.r, s.kernel, s.root_k));
    fill_rows(t, b, &s);
    for (int32_t f = 0; f < s.frames; ++f) fill_frame(t, b, &s, f);
    FLX_TRY(weigh(t, b, &s));
    FLX_TRY(measure_gram(t, b));
done:
    release_secs_batch(t->ctx, &s);
    return status;
}

flx_status flx__secs_weigh(flx_trainer* t, double* kernel)
{
    flx_status    status = FLX_OK;
    const int32_t r      = t->model->modes;
    for (int32_t i = 0; i < r; ++i) // symmetric but for rounding
        for (int32_t j = 0; j < i; ++j)
            kernel[i * r + j] = kernel[j * r + i] = 0.5 * (kernel[i * r + j] + kernel[j * r + i]);
    for (int32_t b = 0; b < t->model->batch_count; ++b)
        if (t->model->batch[b].modes > 0) FLX_TRY(train_batch(t, b, kernel));
done:
    return status;
}

// --- all batches --------------------------------------------------------------------------------------------------

/// K_r into model->k, and T = A^-1 B - A^-1 B C K_r into model->response, which holds A^-1 B. kernel is destroyed.
static flx_status fold_cubature(flx_trainer* t, double* kernel)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* m      = t->model;
    const int          r      = m->modes;
    const int64_t      square = (int64_t)r * r;
    double *           root = NULL, *inner = NULL, *scratch = NULL, *base = NULL;
    FLX_NEW(t->ctx, root, square);
    FLX_NEW(t->ctx, inner, square);
    FLX_NEW(t->ctx, scratch, square);
    FLX_NEW(t->ctx, base, (int64_t)m->n * r);
    FLX_TRY(symmetric_root(t->ctx, r, kernel, root));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1.0, root, r, m->c, r, 0.0, scratch, r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1.0, scratch, r, root, r, 0.0, inner, r);
    for (int i = 0; i < r; ++i) inner[i * (r + 1)] += 1.0;
    FLX_TRY(flx__dense_inverse_f64(t->ctx, r, inner, r, NULL));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1.0, root, r, inner, r, 0.0, scratch, r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1.0, scratch, r, root, r, 0.0, m->k, r);

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1.0, m->c, r, m->k, r, 0.0, scratch, r);
    memcpy(base, m->response, (size_t)m->n * (size_t)r * sizeof *base);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m->n, r, r, -1.0, base, r, scratch, r, 1.0, m->response, r);
done:
    flx__free(t->ctx, root);
    flx__free(t->ctx, inner);
    flx__free(t->ctx, scratch);
    flx__free(t->ctx, base);
    return status;
}

flx_status flx__train_secs(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* m      = t->model;
    const int          r      = m->modes;
    double*            kernel = NULL;
    FLX_NEW_ZERO(t->ctx, m->load, (int64_t)m->n * r);
    FLX_NEW_ZERO(t->ctx, m->response, (int64_t)m->n * r);
    FLX_NEW_ZERO(t->ctx, m->c, (int64_t)r * r);
    FLX_NEW_ZERO(t->ctx, m->k, (int64_t)r * r);
    FLX_NEW(t->ctx, kernel, (int64_t)r * r);
    if (r == 0) goto done; // all projections are zero
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(flx__train_modes(t, b, m->load, m->response));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, m->n, 1.0, m->load, r, m->response, r, 0.0, kernel, r);
    FLX_TRY(flx__secs_weigh(t, kernel));
    FLX_TRY(fold_cubature(t, kernel));
done:
    flx__free(t->ctx, kernel);
    return status;
}

// --- the energy that rounds lower -----------------------------------------------------------------------------------

static flx_status batch_energy(flx_pd_system* system, const flx_reduced_model* m, int32_t b, const double* eta,
                               const double* z, double* energy)
{
    flx_status                  status = FLX_OK;
    const flx_constraint_batch* full   = &system->batch[b];
    const flx_reduced_batch*    batch  = &m->batch[b];
    const int32_t               rows = full->type->rows, r = batch->modes;
    double *                    y = NULL, *p = NULL;
    FLX_NEW_ZERO(system->ctx, y, (int64_t)full->count * rows * 3);
    FLX_NEW(system->ctx, p, (int64_t)full->count * rows * 3);
    if (!batch->reduced)
    {
        flx__constraints_project(system->ctx, full, z, p);
        *energy += flx__constraints_energy(system->ctx, full, z, p);
        goto done;
    }
    const double* local = eta + 3 * (int64_t)batch->first_mode;
    *energy += flx__constraints_energy(system->ctx, full, z, y); // y = 0: 1/2 |S q|_W^2
    for (int32_t i = 0; i < 3 * r; ++i) *energy -= 0.5 * local[i] * local[i];
    for (int32_t i = 0; i < batch->element_count; ++i)
    {
        double v[3 * FLX_CONSTRAINT_ROWS], u[3 * FLX_CONSTRAINT_ROWS];
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, 3, r, 1.0, batch->at + (int64_t)i * rows * r, r,
                    local, 3, 0.0, v, 3);
        full->type->project(1, v, full->param + (int64_t)batch->element[i] * full->type->params, u);
        for (int32_t a = 0; a < 3 * rows; ++a) *energy += 0.5 * batch->weight[i] * (v[a] - u[a]) * (v[a] - u[a]);
    }
done:
    flx__free(system->ctx, y);
    flx__free(system->ctx, p);
    return status;
}

static double quadratic_energy(int32_t vertex, double d, const double* inertia, const double* q)
{
    double sum = 0.0; // d/2 |q - c/d|^2 less a constant
    for (int64_t k = 3 * (int64_t)vertex; k < 3 * (int64_t)vertex + 3; ++k)
        sum += 0.5 * d * (q[k] - inertia[k] / d) * (q[k] - inertia[k] / d);
    return sum;
}

/// eta [R][3] = B^T q; in a subspace L^T a with a = W^T M q
static flx_status measure_modes(flx_pd_system* system, const flx_reduced_model* m, const double* q, double* eta)
{
    flx_status status = FLX_OK;
    const int  k      = m->subspace;
    double*    a      = NULL;
    if (m->modes == 0) goto done;
    if (k == 0)
    {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m->modes, 3, m->n, 1.0, m->load, m->modes, q, 3, 0.0, eta,
                    3);
        goto done;
    }
    FLX_NEW_ZERO(system->ctx, a, 3 * (int64_t)k);
    for (int64_t v = 0; v < m->n; ++v)
        cblas_dger(CblasRowMajor, k, 3, system->mass[v], m->w + v * k, 1, q + 3 * v, 1, a, 3);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m->modes, 3, k, 1.0, m->lift, m->modes, a, 3, 0.0, eta, 3);
done:
    flx__free(system->ctx, a);
    return status;
}

flx_status flx__secs_energy(flx_pd_system* system, const flx_reduced_model* m, const double* inertia, const double* q,
                            double* energy)
{
    flx_status status = FLX_OK;
    double *   eta = NULL, *diagonal = NULL;
    *energy = 0.0;
    FLX_NEW(system->ctx, eta, 3 * (int64_t)m->modes + 1);
    FLX_NEW(system->ctx, diagonal, system->n);
    for (int32_t i = 0; i < system->n; ++i) diagonal[i] = system->mass[i] / (system->h * system->h);
    for (int32_t k = 0; k < system->held_count; ++k) diagonal[system->held[k]] += system->held_weight;
    for (int32_t i = 0; i < system->n; ++i) *energy += quadratic_energy(i, diagonal[i], inertia, q);
    FLX_TRY(measure_modes(system, m, q, eta));
    flx__pd_project(system, q);
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(batch_energy(system, m, b, eta, system->z[b], energy));
done:
    flx__free(system->ctx, eta);
    flx__free(system->ctx, diagonal);
    return status;
}
