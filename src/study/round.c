// The derivative of one local/global round at the middle of the training run, in the coordinates that a reduced round
// really has, and its eigenvalues.
//
//   fits  y -> M dproj(S response y)         secs  eta -> K_r sum xi w V^T dproj(V eta)
//   full order  q -> A^-1 S^T W dproj(S q): self-adjoint in the metric of A, so its radius by power iteration
// A round contracts when all eigenvalues lie within the unit circle. I - J is the matrix of the implicit step, relative
// to A: an eigenvalue of J with a real part above 1 is a direction whose stiffness, inertia included, is negative.
#include "reduce/lapack.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define DIFFERENCE 1e-6 // of the size of the argument
#define FULL_ROUNDS 60  // of power iteration

extern void dgeev_(const char* left, const char* right, const int* n, double* a, const int* lda, double* re, double* im,
                   double* vl, const int* ldvl, double* vr, const int* ldvr, double* work, const int* lwork, int* info,
                   size_t left_length, size_t right_length);

typedef struct round_work
{
    flx_pd_system*           system;
    const flx_reduced_model* model;
    const double*            base;                       // [n][3]
    double *                 q, *u;                      // [n][3]
    double*                  dp[FLX_EXPERIMENT_BATCHES]; // [count][rows][3] of whole batches
    double *                 in, *out;                   // [R][3]
    double*                  matrix;                     // [size][size] by columns
    int32_t                  size;
} round_work;

static double largest(int64_t count, const double* x)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; ++i) most = fmax(most, fabs(x[i]));
    return most;
}

/// dp of all batches for the displacement u; zero when u is.
static void differentiate(round_work* w)
{
    const flx_pd_system* s    = w->system;
    const int64_t        n3   = 3 * (int64_t)s->n;
    const double         most = largest(n3, w->u);
    for (int sign = 1; sign >= -1; sign -= 2)
    {
        const double step = most > 0 ? sign * DIFFERENCE * s->size / most : 0.0;
        for (int64_t i = 0; i < n3; ++i) w->q[i] = w->base[i] + step * w->u[i];
        flx__pd_project(w->system, w->q);
        for (int32_t b = 0; b < s->batch_count; ++b)
        {
            const int64_t entries = 3 * (int64_t)s->batch[b].count * s->batch[b].type->rows;
            for (int64_t i = 0; i < entries && step != 0.0; ++i)
                w->dp[b][i] = sign > 0 ? s->p[b][i] : (w->dp[b][i] - s->p[b][i]) / (-2.0 * step);
            if (step == 0.0) memset(w->dp[b], 0, (size_t)entries * sizeof(double));
        }
    }
}

// --- fits -----------------------------------------------------------------------------------------------------------

/// out [modes][3] += M p of a batch's elements.
static void fit_batch(const round_work* w, int32_t b)
{
    const flx_reduced_batch* batch = &w->model->batch[b];
    const int64_t            total = (int64_t)batch->element_count * batch->rows, r = batch->modes;
    for (int64_t i = 0; i < total; ++i)
    {
        const double* p = w->dp[b] + 3 * ((int64_t)batch->element[i / batch->rows] * batch->rows + i % batch->rows);
        for (int64_t k = 0; k < r; ++k)
            for (int d = 0; d < 3; ++d)
            {
                double* c = w->out + 3 * (batch->first_mode + k);
                if (w->model->fit == FLX_FIT_SHARED)
                    c[0] += batch->fit[(k * total + i) * 3 + d] * p[d];
                else
                    c[d] += batch->fit[(w->model->fit == FLX_FIT_SPLIT ? d * r * total : 0) + k * total + i] * p[d];
            }
    }
}

static void fit_round(round_work* w)
{
    const flx_reduced_model* m = w->model;
    const int64_t            n = m->n, modes = m->modes;
    for (int64_t v = 0; v < n; ++v)
        for (int64_t d = 0; d < 3; ++d)
        {
            const double* row = m->response + (m->faces == 3 ? d * n * modes : 0) + v * modes;
            double        sum = 0.0;
            for (int64_t k = 0; k < modes; ++k) sum += row[k] * w->in[3 * k + (m->fit == FLX_FIT_SHARED ? 0 : d)];
            w->u[3 * v + d] = sum;
        }
    differentiate(w);
    memset(w->out, 0, (size_t)modes * 3 * sizeof *w->out);
    for (int32_t b = 0; b < m->batch_count; ++b)
        if (m->batch[b].modes > 0) fit_batch(w, b);
}

// --- secs ----------------------------------------------------------------------------------------------------

/// eta [R][3] = B^T q
static void project_base(const round_work* w, double* eta)
{
    const flx_reduced_model* m = w->model;
    memset(eta, 0, (size_t)m->modes * 3 * sizeof *eta);
    for (int64_t v = 0; v < m->n; ++v)
        for (int64_t k = 0; k < m->modes; ++k)
            for (int d = 0; d < 3; ++d) eta[3 * k + d] += m->load[v * m->modes + k] * w->base[3 * v + d];
}

/// y [R][3] += sum xi w V^T (proj(V (eta + step x)) - proj(V (eta - step x)))/2 step, an element at a time.
static void secs_batch(const round_work* w, int32_t b, const double* eta, const double* x, double step, double* y)
{
    const flx_reduced_batch*    batch = &w->model->batch[b];
    const flx_constraint_batch* full  = &w->system->batch[b];
    const int64_t               r = batch->modes, first = 3 * (int64_t)batch->first_mode;
    for (int64_t i = 0; i < batch->element_count; ++i)
    {
        double z[2][3 * FLX_CONSTRAINT_ROWS] = {{0}}, p[2][3 * FLX_CONSTRAINT_ROWS];
        for (int64_t a = 0; a < 3 * batch->rows; ++a)
            for (int64_t k = 0; k < r; ++k)
            {
                const double v = batch->at[(i * batch->rows + a / 3) * r + k];
                z[0][a] += v * (eta[first + 3 * k + a % 3] + step * x[first + 3 * k + a % 3]);
                z[1][a] += v * (eta[first + 3 * k + a % 3] - step * x[first + 3 * k + a % 3]);
            }
        for (int side = 0; side < 2; ++side)
            full->type->project(1, z[side], full->param + (int64_t)batch->element[i] * full->type->params, p[side]);
        for (int64_t a = 0; a < 3 * batch->rows; ++a)
            for (int64_t k = 0; k < r; ++k)
                y[first + 3 * k + a % 3] += batch->weight[i] * batch->at[(i * batch->rows + a / 3) * r + k] *
                                            (p[0][a] - p[1][a]) / (2.0 * step);
    }
}

static void secs_round(round_work* w, double* eta, double* y)
{
    const flx_reduced_model* m    = w->model;
    const int64_t            R    = m->modes;
    const double             step = DIFFERENCE * fmax(largest(3 * R, eta), 1e-12);
    memset(y, 0, (size_t)R * 3 * sizeof *y);
    for (int32_t b = 0; b < m->batch_count; ++b)
        if (m->batch[b].modes > 0) secs_batch(w, b, eta, w->in, step, y);
    for (int64_t i = 0; i < R; ++i)
        for (int d = 0; d < 3; ++d)
        {
            w->out[3 * i + d] = 0.0;
            for (int64_t k = 0; k < R; ++k) w->out[3 * i + d] += m->k[i * R + k] * y[3 * k + d];
        }
}

// --- matrix and eigenvalues -----------------------------------------------------------------------------------------

static flx_status fill_matrix(flx_context* ctx, round_work* w)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* m      = w->model;
    const bool               secs = m->method == FLX_REDUCTION_SECS, shared = m->fit == FLX_FIT_SHARED;
    double *                 eta = NULL, *y = NULL;
    FLX_NEW(ctx, eta, 3 * (int64_t)m->modes);
    FLX_NEW(ctx, y, 3 * (int64_t)m->modes);
    if (secs) project_base(w, eta);
    for (int32_t j = 0; j < w->size; ++j)
    {
        memset(w->in, 0, (size_t)m->modes * 3 * sizeof *w->in);
        w->in[shared ? 3 * j : j] = 1.0;
        if (secs)
            secs_round(w, eta, y);
        else
            fit_round(w);
        for (int32_t i = 0; i < w->size; ++i) w->matrix[i + (int64_t)j * w->size] = w->out[shared ? 3 * i : i];
    }
done:
    flx__free(ctx, eta);
    flx__free(ctx, y);
    return status;
}

static flx_status count_eigenvalues(flx_context* ctx, const round_work* w, flx_study_stability* out)
{
    flx_status status = FLX_OK;
    const int  n = w->size, one = 1, length = 8 * n;
    int        info = 0;
    double *   re = NULL, *im = NULL, *work = NULL;
    FLX_NEW(ctx, re, n);
    FLX_NEW(ctx, im, n);
    FLX_NEW(ctx, work, length);
    for (int64_t i = 0; i < (int64_t)n * n; ++i)
        if (!isfinite(w->matrix[i])) info = 1;
    if (info == 0) dgeev_("N", "N", &n, w->matrix, &n, re, im, NULL, &one, NULL, &one, work, &length, &info, 1, 1);
    out->radius = info == 0 ? 0.0 : INFINITY;
    for (int i = 0; i < n && info == 0; ++i)
    {
        out->radius = fmax(out->radius, hypot(re[i], im[i]));
        out->unstable += hypot(re[i], im[i]) > 1.0;
        out->slack += re[i] > 1.0;
    }
done:
    flx__free(ctx, re);
    flx__free(ctx, im);
    flx__free(ctx, work);
    return status;
}

static void full_radius(round_work* w, flx_study_stability* out)
{
    flx_pd_system* s    = w->system;
    const int64_t  n3   = 3 * (int64_t)s->n;
    uint64_t       seed = 7;
    for (int64_t i = 0; i < n3; ++i)
    {
        seed    = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        w->u[i] = (double)(seed >> 40) / 16777216.0 - 0.5;
    }
    for (int k = 0; k < FULL_ROUNDS; ++k)
    {
        double before = 0.0, after = 0.0;
        for (int64_t i = 0; i < n3; ++i) before += w->u[i] * w->u[i];
        differentiate(w);
        memset(w->u, 0, (size_t)n3 * sizeof *w->u);
        for (int32_t b = 0; b < s->batch_count; ++b)
            flx__constraints_gather(s->ctx, &s->batch[b], &s->gather[b], w->dp[b], w->u);
        flx__pd_solve(s, w->u);
        for (int64_t i = 0; i < n3; ++i) after += w->u[i] * w->u[i];
        out->radius = before > 0 ? sqrt(after / before) : 0.0;
    }
}

flx_status flx__study_round(flx_study* study, const flx_trial_bench* bench, const flx_reduced_model* model,
                            flx_study_stability* out)
{
    flx_status     status = FLX_OK;
    flx_context*   ctx    = study->ctx;
    flx_pd_system* system = bench->experiment->system;
    const int64_t  n3     = 3 * (int64_t)system->n;
    round_work     w      = {.system = system, .model = model};
    w.base                = bench->full[0].q + bench->experiment->frames / 2 * n3;
    out->radius           = NAN;
    if (model && model->subspace > 0) return FLX_OK; // its coordinates are those of positions
    FLX_NEW(ctx, w.q, n3);
    FLX_NEW(ctx, w.u, n3);
    for (int32_t b = 0; b < system->batch_count; ++b)
        FLX_NEW(ctx, w.dp[b], 3 * (int64_t)system->batch[b].count * system->batch[b].type->rows);
    if (!model)
    {
        full_radius(&w, out);
        goto done;
    }
    w.size = model->fit == FLX_FIT_SHARED ? model->modes : 3 * model->modes;
    FLX_NEW_ZERO(ctx, w.in, 3 * (int64_t)model->modes);
    FLX_NEW_ZERO(ctx, w.out, 3 * (int64_t)model->modes);
    FLX_NEW(ctx, w.matrix, (int64_t)w.size * w.size);
    FLX_TRY(fill_matrix(ctx, &w));
    FLX_TRY(count_eigenvalues(ctx, &w, out));
done:
    flx__free(ctx, w.q);
    flx__free(ctx, w.u);
    for (int32_t b = 0; b < system->batch_count; ++b) flx__free(ctx, w.dp[b]);
    flx__free(ctx, w.in);
    flx__free(ctx, w.out);
    flx__free(ctx, w.matrix);
    return status;
}
