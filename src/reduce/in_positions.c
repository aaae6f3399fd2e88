// Frames in positions: q = x0 + response y, and rounds that know y and the sampled elements only.
//
//   fits  z = S q at the samples, p, y = M p;       next z = S x0 + (S response) y
//   secs  p = proj(V eta), y = sum xi w V^T p - C e0;  next eta = e0 + K_r y,  e0 = B^T x0
// x0 = A^-1 (M s/h^2 + held + batches that are not reduced) is solved for once a frame when all batches are reduced,
// else in every round.
#include "reduce/reduced_internal.h"

#include "sparse/blas.h"

#include <string.h>

static bool is_secs(const flx_reduced_solver* s)
{
    return s->model->method == FLX_REDUCTION_SECS;
}

/// map [faces][total][R] = S response at the samples.
static flx_status map_samples(flx_reduced_solver* s, flx_samples* samples)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* m      = s->model;
    FLX_NEW(s->ctx, samples->z0, samples->total * 3);
    FLX_NEW(s->ctx, samples->map, m->faces * samples->total * m->modes);
    for (int64_t d = 0; d < m->faces; ++d)
        for (int32_t i = 0; i < samples->of->element_count; ++i)
            flx__samples_measure(samples->full, samples->of->element[i], m->response + d * m->n * m->modes, m->modes,
                                 samples->map + (d * samples->total + (int64_t)i * samples->rows) * m->modes);
done:
    return status;
}

flx_status flx__positions_create(flx_reduced_solver* s)
{
    flx_status    status = FLX_OK;
    const int64_t n3 = 3 * (int64_t)s->system->n, modes3 = 3 * (int64_t)s->model->modes;
    FLX_TRY(flx__pd_state_create(s->system, &s->state));
    FLX_NEW(s->ctx, s->inertia, n3);
    FLX_NEW(s->ctx, s->x0, n3);
    FLX_NEW(s->ctx, s->q, n3);
    FLX_NEW_ZERO(s->ctx, s->eta, modes3);
    FLX_NEW_ZERO(s->ctx, s->e0, modes3);
    FLX_NEW_ZERO(s->ctx, s->y, modes3);
    if (!is_secs(s))
        for (int32_t b = 0; b < s->model->batch_count; ++b) FLX_TRY(map_samples(s, &s->samples[b]));
done:
    return status;
}

/// out [R][3] = B^T x
static void project_load(const flx_reduced_solver* s, const double* x, double* out)
{
    const flx_reduced_model* m = s->model;
    if (m->modes > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m->modes, 3, m->n, 1.0, m->load, m->modes, x, 3, 0.0, out,
                    3);
}

static void measure_samples(flx_reduced_solver* s, const double* x, bool base)
{
    for (int32_t b = 0; b < s->model->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        for (int32_t i = 0; i < of->of->element_count; ++i)
            flx__samples_measure(of->full, of->of->element[i], x, 3,
                                 (base ? of->z0 : of->z) + 3 * (int64_t)i * of->rows);
    }
}

static void project_samples(flx_reduced_solver* s, flx_samples* of)
{
    flx__constraints_project(s->ctx, &of->packed, of->z, of->p);
    s->counts.projections += of->of->element_count;
}

/// y of a secs batch: sum xi w V^T proj(V eta)
static void secs_local(flx_reduced_solver* s, flx_samples* of)
{
    const flx_reduced_batch* batch = of->of;
    const int                r = batch->modes, total = (int)of->total;
    double *                 eta = s->eta + 3 * (int64_t)batch->first_mode, *y = s->y + 3 * (int64_t)batch->first_mode;
    if (r == 0) return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, total, 3, r, 1.0, batch->at, r, eta, 3, 0.0, of->z, 3);
    project_samples(s, of);
    for (int64_t i = 0; i < 3 * of->total; ++i) of->p[i] *= batch->weight[i / (3 * of->rows)];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, 3, total, 1.0, batch->at, r, of->p, 3, 0.0, y, 3);
}

static void local_step(flx_reduced_solver* s, int32_t round)
{
    for (int32_t b = 0; b < s->model->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        if (!of->of->reduced && of->full->type == &flx__attachment && round > 0) continue; // p is there
        if (!of->of->reduced)
        {
            flx__constraints_measure(s->ctx, of->full, s->q, s->system->z[b]);
            flx__constraints_project(s->ctx, of->full, s->system->z[b], s->system->p[b]);
            s->counts.projections += of->full->count;
            *(s->all_reduced ? &s->counts.frame_entries : &s->counts.round_entries) +=
                3 * (int64_t)of->full->count * of->rows;
        }
        else if (is_secs(s))
            secs_local(s, of);
        else if (of->of->modes > 0)
        {
            project_samples(s, of);
            flx__samples_fit(of, s->model->fit, s->y + 3 * (int64_t)of->of->first_mode);
        }
    }
}

/// x0, and what follows from it.
static void base_step(flx_reduced_solver* s, int64_t* entries)
{
    const int64_t n3 = 3 * (int64_t)s->system->n;
    memcpy(s->x0, s->inertia, (size_t)n3 * sizeof *s->x0);
    for (int32_t b = 0; b < s->model->batch_count; ++b)
        if (!s->samples[b].of->reduced)
            flx__constraints_gather(s->ctx, s->samples[b].full, &s->system->gather[b], s->system->p[b], s->x0);
    flx__pd_solve(s->system, s->x0);
    ++s->counts.solves;
    *entries += 2 * n3;
    if (is_secs(s))
    {
        project_load(s, s->x0, s->e0);
        *entries += n3 + (int64_t)s->model->n * s->model->modes;
    }
    else
        measure_samples(s, s->x0, true);
}

static void make_positions(flx_reduced_solver* s, int64_t* entries)
{
    const flx_reduced_model* m = s->model;
    memcpy(s->q, s->x0, (size_t)s->system->n * 3 * sizeof *s->q);
    flx__faces_multiply_add(m->faces, m->n, m->modes, m->response, s->y, s->q);
    *entries += (int64_t)m->n * (3 + (int64_t)m->faces * m->modes);
}

static void next_samples(flx_reduced_solver* s)
{
    const flx_reduced_model* m = s->model;
    if (m->modes == 0) return;
    if (is_secs(s))
    {
        memcpy(s->eta, s->e0, (size_t)m->modes * 3 * sizeof *s->eta);
        flx__faces_multiply_add(1, m->modes, m->modes, m->k, s->y, s->eta);
        return;
    }
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        memcpy(of->z, of->z0, (size_t)of->total * 3 * sizeof *of->z);
        flx__faces_multiply_add(m->faces, of->total, m->modes, of->map, s->y, of->z);
    }
}

/// y -= C e0
static void secs_subtract(flx_reduced_solver* s)
{
    const int r = s->model->modes;
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, 3, r, -1.0, s->model->c, r, s->e0, 3, 1.0, s->y, 3);
}

flx_status flx__positions_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                                flx_reduced_watch_fn watch, void* watch_user)
{
    const int64_t n3 = 3 * (int64_t)s->system->n;
    flx__pd_predict(s->system, drive, &s->state, s->inertia, s->q);
    s->counts.frame_entries += 4 * n3;
    if (is_secs(s))
    {
        project_load(s, s->q, s->eta);
        s->counts.frame_entries += n3 + (int64_t)s->model->n * s->model->modes;
    }
    else
        measure_samples(s, s->q, false);

    for (int32_t round = 0; round < rounds; ++round)
    {
        local_step(s, round);
        if (!s->all_reduced || round == 0)
            base_step(s, s->all_reduced ? &s->counts.frame_entries : &s->counts.round_entries);
        if (is_secs(s)) secs_subtract(s);
        next_samples(s);
        if (s->all_reduced && !watch && round + 1 < rounds) continue;
        make_positions(s, s->all_reduced ? &s->counts.frame_entries : &s->counts.round_entries);
        if (watch) watch(watch_user, s->state.frame + 1, round, s->q);
    }
    s->counts.frame_entries += n3;
    return flx__pd_commit(s->system, s->q, &s->state);
}
