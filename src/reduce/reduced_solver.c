#include "reduce/reduced_internal.h"

#include "sparse/blas.h"

#include <string.h>

void flx__samples_measure(const flx_constraint_batch* full, int32_t element, const double* x, int64_t columns,
                          double* out)
{
    const int32_t rows = full->type->rows;
    memset(out, 0, (size_t)(rows * columns) * sizeof *out);
    for (int32_t e = full->first[element]; e < full->first[element + 1]; ++e)
        for (int32_t a = 0; a < rows; ++a)
            for (int64_t c = 0; c < columns; ++c)
                out[a * columns + c] += full->coefficient[(int64_t)e * rows + a] * x[full->vertex[e] * columns + c];
}

void flx__samples_fit(const flx_samples* s, flx_fit fit, double* c)
{
    const int     modes = s->of->modes, total = (int)s->total;
    const double* m = s->of->fit;
    if (fit == FLX_FIT_SHARED)
    {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, modes, 3 * total, 1.0, m, 3 * total, s->p, 1, 0.0, c, 3);
        for (int k = 0; k < modes; ++k) c[3 * k + 2] = c[3 * k + 1] = c[3 * k];
        return;
    }
    memset(c, 0, (size_t)modes * 3 * sizeof *c);
    flx__faces_multiply_add(fit == FLX_FIT_SPLIT ? 3 : 1, modes, total, m, s->p, c);
}

void flx__faces_multiply_add(int32_t faces, int64_t rows, int32_t columns, const double* m, const double* x, double* y)
{
    if (columns == 0 || rows == 0) return;
    if (faces == 1)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, 3, columns, 1.0, m, columns, x, 3, 1.0, y, 3);
    else
        for (int d = 0; d < 3; ++d)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows, columns, 1.0, m + d * rows * columns, columns, x + d, 3,
                        1.0, y + d, 3);
}

static flx_status pack_samples(flx_context* ctx, const flx_reduced_batch* of, const flx_constraint_batch* full,
                               flx_samples* s)
{
    flx_status    status = FLX_OK;
    const int64_t params = full->type->params;
    s->of                = of;
    s->full              = full;
    s->rows              = full->type->rows;
    s->total             = (int64_t)of->element_count * s->rows;
    s->packed            = (flx_constraint_batch){.type = full->type, .count = of->element_count};
    FLX_NEW(ctx, s->packed.param, of->element_count * params);
    FLX_NEW_ZERO(ctx, s->z, flx__panel_room(FLX_PRECISION_DOUBLE, s->total));
    FLX_NEW_ZERO(ctx, s->p, flx__panel_room(FLX_PRECISION_DOUBLE, s->total));
    for (int32_t i = 0; i < of->element_count; ++i)
        memcpy(s->packed.param + i * params, full->param + of->element[i] * params, (size_t)params * sizeof(double));
done:
    return status;
}

flx_status flx__reduced_solver_create(flx_pd_system* system, const flx_reduced_model* model, flx_reduced_solver** out)
{
    return flx__reduced_solver_create_in(system, model, FLX_PRECISION_DOUBLE, out);
}

flx_status flx__reduced_solver_create_in(flx_pd_system* system, const flx_reduced_model* model, flx_precision precision,
                                         flx_reduced_solver** out)
{
    FLX_ASSERT(system && model && out);
    flx_status          status = FLX_OK;
    flx_reduced_solver* s      = NULL;

    *out = NULL;
    if (model->system_hash != flx__pd_system_hash(system))
        FLX_TRY(flx__fail(system->ctx, FLX_ERR_ARGUMENT,
                          "this reduced model was trained on another system: positions, elements, weights, masses or "
                          "the time step differ"));
    blas_single_thread();
    FLX_NEW_ZERO(system->ctx, s, 1);
    s->ctx         = system->ctx;
    s->system      = system;
    s->model       = model;
    s->precision   = precision;
    s->all_reduced = true;
    FLX_NEW_ZERO(s->ctx, s->samples, model->batch_count);
    for (int32_t b = 0; b < model->batch_count; ++b)
    {
        s->all_reduced = s->all_reduced && (model->batch[b].reduced || system->batch[b].type == &flx__attachment);
        FLX_TRY(pack_samples(s->ctx, &model->batch[b], &system->batch[b], &s->samples[b]));
    }
    FLX_TRY(model->subspace > 0 ? flx__subspace_create(s) : flx__positions_create(s));
    *out = s;
    s    = NULL;

done:
    flx__reduced_solver_destroy(s);
    return status;
}

void flx__reduced_solver_destroy(flx_reduced_solver* s)
{
    if (!s) return;
    flx_context* ctx = s->ctx;
    for (int32_t b = 0; s->samples && b < s->model->batch_count; ++b)
    {
        double* const owned[] = {s->samples[b].packed.param, s->samples[b].z, s->samples[b].p, s->samples[b].z0,
                                 s->samples[b].map};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__free(ctx, owned[i]);
    }
    if (s->samples) flx__subspace_destroy(s);
    flx__pd_state_release(ctx, &s->state);
    void* const owned[] = {s->samples,   s->inertia,  s->x0,     s->q,      s->eta,  s->e0,     s->y,
                           s->a,         s->velocity, s->a_next, s->rhs0,   s->c0,   s->pulled, s->pull,
                           s->pull_part, s->held_w,   s->a_last, s->factor, s->turn, s->holds,  s->holds_next};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__free(ctx, owned[i]);
    flx__free(ctx, s);
}

void flx__reduced_start(flx_reduced_solver* s, const flx_pd_state* state)
{
    s->counts      = (flx_reduced_counts){0};
    s->state.frame = state->frame;
    if (s->model->subspace > 0)
    {
        flx__subspace_start(s, state);
        return;
    }
    memcpy(s->state.q, state->q, (size_t)s->system->n * 3 * sizeof *state->q);
    memcpy(s->state.v, state->v, (size_t)s->system->n * 3 * sizeof *state->v);
}

flx_status flx__reduced_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                              flx_reduced_watch_fn watch, void* watch_user)
{
    ++s->counts.frames;
    s->counts.rounds += rounds;
    return s->model->subspace > 0 ? flx__subspace_frame(s, drive, rounds, watch, watch_user)
                                  : flx__positions_frame(s, drive, rounds, watch, watch_user);
}

void flx__reduced_set_action(flx_reduced_solver* s, flx_reduced_act_fn act, void* user)
{
    FLX_ASSERT(s->model->subspace > 0);
    s->act      = act;
    s->act_user = user;
}

void flx__reduced_read(flx_reduced_solver* s, flx_pd_state* state)
{
    state->frame = s->state.frame;
    if (s->model->subspace > 0)
    {
        flx__subspace_read(s, state);
        return;
    }
    s->counts.read_entries += (state->v ? 6 : 3) * (int64_t)s->system->n;
    memcpy(state->q, s->state.q, (size_t)s->system->n * 3 * sizeof *state->q);
    if (state->v) memcpy(state->v, s->state.v, (size_t)s->system->n * 3 * sizeof *state->v);
}

flx_reduced_counts flx__reduced_counts_of(const flx_reduced_solver* s)
{
    return s->counts;
}

const double* flx__reduced_factor(const flx_reduced_solver* s)
{
    return s->factor;
}
