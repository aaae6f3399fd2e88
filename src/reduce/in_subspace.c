// Frames in a subspace: q = W a with W^T M W = I, so nothing of the mesh's size is touched until positions are asked
// for, but for a drive's forces, which come as n vectors and are projected once a frame.
//
//   A_r a = (a + h v)/h^2 + W^T f + w_a W_held^T targets + sum of p:   weights (S W)^T p, or lift M p with a fit
#include "reduce/reduced_internal.h"

#include "sparse/blas.h"

#include <math.h>
#include <string.h>

#define GRAIN 1024 // vertices of a chunk; sums go by chunks, so that they are the same for any number of workers

/// start := the Cholesky factor of I/h^2 + w_a W_held^T W_held, whose solution from rhs0 is the first iterate: the
/// inertial target with held vertices on theirs, as near as the subspace comes to it.
static flx_status factor_start(flx_reduced_solver* s)
{
    const flx_pd_system* system = s->system;
    const int32_t        k      = s->model->subspace;
    memset(s->start, 0, (size_t)k * (size_t)k * sizeof *s->start);
    for (int32_t i = 0; i < k; ++i) s->start[(int64_t)i * (k + 1)] = 1.0 / (system->h * system->h);
    for (int32_t i = 0; i < system->held_count; ++i)
    {
        const double* w = s->model->w + (int64_t)system->held[i] * k;
        cblas_dger(CblasRowMajor, k, k, system->held_weight, w, 1, w, 1, s->start, k);
    }
    return flx__dense_cholesky_f64(s->ctx, k, s->start, k, NULL);
}

flx_status flx__subspace_create(flx_reduced_solver* s)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* m      = s->model;
    const int32_t            k      = m->subspace;
    FLX_NEW_ZERO(s->ctx, s->a, 3 * (int64_t)k);
    FLX_NEW_ZERO(s->ctx, s->velocity, 3 * (int64_t)k);
    FLX_NEW(s->ctx, s->a_next, 3 * (int64_t)k);
    FLX_NEW(s->ctx, s->rhs0, 3 * (int64_t)k);
    FLX_NEW(s->ctx, s->rhs, 3 * (int64_t)k);
    FLX_NEW_ZERO(s->ctx, s->pulled, 3 * (int64_t)s->system->n);
    FLX_NEW_ZERO(s->ctx, s->pull, 3 * (int64_t)k);
    FLX_NEW(s->ctx, s->pull_part, ((int64_t)s->system->n + GRAIN - 1) / GRAIN * 3 * k);
    FLX_NEW_ZERO(s->ctx, s->y, 3 * (int64_t)m->modes);
    FLX_NEW(s->ctx, s->factor, (int64_t)k * k);
    memcpy(s->factor, m->matrix, (size_t)k * (size_t)k * sizeof *s->factor);
    FLX_TRY(flx__dense_cholesky_f64(s->ctx, k, s->factor, k, NULL));
    FLX_NEW(s->ctx, s->start, (int64_t)k * k);
    FLX_TRY(factor_start(s));
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        FLX_NEW(s->ctx, of->map, of->total * k);
        for (int32_t i = 0; i < of->of->element_count; ++i)
            flx__samples_measure(of->full, of->of->element[i], m->w, k, of->map + (int64_t)i * of->rows * k);
    }
done:
    return status;
}

static void nearest(const flx_reduced_solver* s, const double* x, double* a)
{
    const int64_t k = s->model->subspace;
    memset(a, 0, (size_t)k * 3 * sizeof *a);
    for (int64_t v = 0; v < s->system->n; ++v)
        cblas_dger(CblasRowMajor, (int)k, 3, s->system->mass[v], s->model->w + v * k, 1, x + 3 * v, 1, a, 3);
}

void flx__subspace_start(flx_reduced_solver* s, const flx_pd_state* state)
{
    nearest(s, state->q, s->a);
    nearest(s, state->v, s->velocity);
}

typedef struct product
{
    const flx_reduced_solver* s;
    const double*             in;
    double*                   out;
} product;

static void expand_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p = user;
    const int      k = p->s->model->subspace;
    (void)worker;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(end - begin), 3, k, 1.0, p->s->model->w + begin * k, k,
                p->in, 3, 0.0, p->out + 3 * begin, 3);
}

/// x [n][3] = W a
static void expand(const flx_reduced_solver* s, const double* a, double* x)
{
    product p = {s, a, x};
    flx__parallel_for(s->ctx, s->system->n, GRAIN, expand_range, &p);
}

void flx__subspace_read(flx_reduced_solver* s, flx_pd_state* state)
{
    expand(s, s->a, state->q);
    if (state->v) expand(s, s->velocity, state->v);
    s->counts.read_entries += (state->v ? 2 : 1) * (int64_t)s->system->n * (3 + (int64_t)s->model->subspace);
}

static void place_held(const flx_pd_system* system, const flx_pd_drive* drive, int32_t frame)
{
    for (int32_t i = 0; i < system->held_count; ++i)
        memcpy(system->place + 3 * (int64_t)i, system->x_rest + 3 * (int64_t)system->held[i], 3 * sizeof(double));
    if (drive && drive->targets) drive->targets(drive->user, frame, system->place);
}

/// b [k][3] := (L L^T)^-1 b; by rows, the lower factor stored by columns is its transpose.
static void solve(int k, const double* factor, double* b)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, k, 3, 1.0, factor, k, b, 3);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, k, 3, 1.0, factor, k, b, 3);
}

static void force_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p = user;
    const int      k = p->s->model->subspace;
    (void)worker;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, 3, (int)(end - begin), 1.0, p->s->model->w + begin * k, k,
                p->in + 3 * begin, 3, 0.0, p->out + begin / GRAIN * 3 * k, 3);
}

/// pull [k][3] := W^T f; kept while the forces stay what they are, as gravity does.
static void project_force(flx_reduced_solver* s, const flx_pd_drive* drive)
{
    flx_pd_system* system = s->system;
    const int64_t  n = system->n, k3 = 3 * (int64_t)s->model->subspace;
    memset(system->force, 0, (size_t)n * 3 * sizeof *system->force);
    drive->force(drive->user, s->state.frame + 1, system->force);
    s->counts.frame_entries += 3 * n;
    if (memcmp(s->pulled, system->force, (size_t)n * 3 * sizeof *s->pulled) == 0) return;

    product p = {s, system->force, s->pull_part};
    flx__parallel_for(s->ctx, n, GRAIN, force_range, &p);
    memset(s->pull, 0, (size_t)k3 * sizeof *s->pull);
    for (int64_t chunk = 0; chunk * GRAIN < n; ++chunk)
        for (int64_t i = 0; i < k3; ++i) s->pull[i] += s->pull_part[chunk * k3 + i];
    memcpy(s->pulled, system->force, (size_t)n * 3 * sizeof *s->pulled);
    s->counts.frame_entries += n * s->model->subspace;
}

/// a_next := the first iterate, rhs0 := what rounds do not change
static void predict(flx_reduced_solver* s, const flx_pd_drive* drive)
{
    const flx_reduced_model* m      = s->model;
    flx_pd_system*           system = s->system;
    const int                k      = m->subspace;
    const double             h      = system->h;
    for (int i = 0; i < 3 * k; ++i) s->a_next[i] = s->a[i] + h * s->velocity[i];
    if (drive && drive->force)
    {
        project_force(s, drive);
        for (int i = 0; i < 3 * k; ++i) s->a_next[i] += h * h * s->pull[i];
    }
    for (int i = 0; i < 3 * k; ++i) s->rhs0[i] = s->a_next[i] / (h * h);
    for (int i = 0; i < 3 * k && drive && drive->inertial; ++i) s->a_next[i] = s->a[i] + h * s->velocity[i];
    place_held(system, drive, s->state.frame + 1);
    for (int32_t b = 0; b < m->batch_count; ++b) // targets may have moved
        if (!m->batch[b].reduced && s->samples[b].of->element_count > 0)
            memcpy(s->samples[b].packed.param, s->samples[b].full->param,
                   (size_t)s->samples[b].full->count * (size_t)s->samples[b].full->type->params * sizeof(double));
    for (int32_t i = 0; i < system->held_count; ++i)
        cblas_dger(CblasRowMajor, k, 3, system->held_weight, m->w + (int64_t)system->held[i] * k, 1,
                   system->place + 3 * (int64_t)i, 1, s->rhs0, 3);
    if (system->held_count == 0) return;
    memcpy(s->a_next, s->rhs0, (size_t)k * 3 * sizeof *s->a_next);
    solve(k, s->start, s->a_next);
}

/// rhs [k][3] += what batch b's projections at a pull with
static void add_batch(flx_reduced_solver* s, int32_t b, const double* a, double* rhs)
{
    const flx_reduced_model* m  = s->model;
    flx_samples*             of = &s->samples[b];
    const int                k = m->subspace, total = (int)of->total;
    if (of->of->element_count == 0) return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, total, 3, k, 1.0, of->map, k, a, 3, 0.0, of->z, 3);
    flx__constraints_project(s->ctx, &of->packed, of->z, of->p);
    s->counts.projections += of->of->element_count;
    if (m->method == FLX_REDUCTION_W) s->counts.round_entries += of->total * (3 + (int64_t)k);
    if (of->of->fit)
    {
        flx__samples_fit(of, m->fit, s->y + 3 * (int64_t)of->of->first_mode);
        return; // all batches' modes are lifted at once
    }
    for (int64_t i = 0; i < 3 * of->total; ++i) of->p[i] *= of->of->weight[i / (3 * of->rows)];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, 3, total, 1.0, of->map, k, of->p, 3, 1.0, rhs, 3);
}

static void round_step(flx_reduced_solver* s)
{
    const flx_reduced_model* m   = s->model;
    const int                k   = m->subspace;
    double*                  rhs = s->rhs;
    memcpy(rhs, s->rhs0, (size_t)k * 3 * sizeof *rhs);
    for (int32_t b = 0; b < m->batch_count; ++b) add_batch(s, b, s->a_next, rhs);
    if (m->lift) flx__faces_multiply_add(m->faces, k, m->modes, m->lift, s->y, rhs);
    solve(k, s->factor, rhs);
    memcpy(s->a_next, rhs, (size_t)k * 3 * sizeof *rhs);
}

flx_status flx__subspace_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                               flx_reduced_watch_fn watch, void* watch_user)
{
    bool finite = true;
    predict(s, drive);
    for (int32_t round = 0; round < rounds; ++round)
    {
        round_step(s);
        if (!watch) continue;
        expand(s, s->a_next, s->system->rhs);
        watch(watch_user, s->state.frame + 1, round, s->system->rhs);
    }
    for (int i = 0; i < 3 * s->model->subspace; ++i)
    {
        s->velocity[i] = (s->a_next[i] - s->a[i]) / s->system->h;
        s->a[i]        = s->a_next[i];
        finite         = finite && isfinite(s->a[i]) && isfinite(s->velocity[i]);
    }
    ++s->state.frame;
    return finite ? FLX_OK
                  : flx__fail(s->ctx, FLX_ERR_NONFINITE, "positions of frame %d are not finite", s->state.frame);
}
