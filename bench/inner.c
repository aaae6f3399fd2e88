#include "inner.h"

#include "measure.h"
#include "solver/state.h"

#include <math.h>
#include <string.h>

#define STIFFNESS 4.0 // of a contact; an edge of the lattice has 1
#define APART 0.05    // cells that candidates stay away

static flx_status columns(flx_context* ctx, int32_t n, double* out[3])
{
    for (int c = 0; c < 3; ++c)
        if (!(out[c] = flx__alloc_zero(ctx, n, sizeof(double)))) return FLX_ERR_MEMORY;
    return FLX_OK;
}

/// What the contact solve needs of a solver. All vertices are prone here.
static flx_status make_solver(inner* in, int32_t count)
{
    flx_status        status = FLX_OK;
    flx_context*      ctx    = in->ctx;
    flx_solver*       s      = &in->solver;
    flx_contact_work* w      = &s->contact;
    const int64_t     n2     = in->n2;
    *s                       = (flx_solver){.ctx         = ctx,
                                            .model       = &in->model,
                                            .settings    = flx_settings_default(),
                                            .kernel      = flx__kernels_for(flx__context_isa(ctx)),
                                            .single      = true,
                                            .has_contact = true,
                                            .n           = in->n2,
                                            .n2          = in->n2};
    FLX_TRY(columns(ctx, in->n2, s->reduced));
    FLX_TRY(columns(ctx, in->n2, s->delta));
    FLX_TRY(columns(ctx, in->n2, s->push));
    for (int c = 0; c < 3; ++c) FLX_NEW_ZERO(ctx, s->narrow_in[c], n2);
    for (int c = 0; c < 3; ++c) FLX_NEW_ZERO(ctx, s->narrow_out[c], n2);
    FLX_NEW_ZERO(ctx, s->x, 3 * n2);
    s->dense         = flx__alloc(ctx, n2 * n2, sizeof(float));
    s->schur_inverse = flx__alloc(ctx, n2 * n2, sizeof(float));
    if (!s->dense || !s->schur_inverse) return FLX_ERR_MEMORY;
    FLX_TRY(flx__contact_work_create(ctx, count, 0, in->n2, true, w));
    for (int32_t i = 0; i < count; ++i) w->slot[i] = -1; // no squeezed elements
    w->count = w->proxy_count = count;
    in->contact               = w->contact;
done:
    return status;
}

/// W^T of the contacts' normal forces, by axes.
static void spread(const inner* in, float* out[3])
{
    for (int32_t i = 0; i < in->active; ++i)
        for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
            for (int k = 0; k < 3 && in->contact[i].vertex[a] >= 0; ++k)
                out[k][in->contact[i].vertex[a]] +=
                    (float)(in->contact[i].weight[a] * in->lambda[i] * in->contact[i].normal[k]);
}

/// Gaps such that the unilateral answer is lambda on the active contacts and nothing on the candidates:
/// 0 = gap + n . W d + lambda / c with d = Sigma^-1 (r + W^T lambda n).
static void choose_gaps(inner* in)
{
    flx_solver* s = &in->solver;
    for (int32_t i = 0; i < in->active; ++i) in->lambda[i] = 0.5 + 0.1 * (i % 11);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < in->n2; ++i)
        {
            in->r[c][i]        = 0.004 * sin(0.01 * i + c);
            s->narrow_in[c][i] = (float)in->r[c][i];
        }
    spread(in, s->narrow_in);
    flx__dense_multiply3_f32(in->ctx, in->n2, s->schur_inverse, in->n2, s->narrow_in, s->narrow_out);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < in->n2; ++i) s->delta[c][i] = (double)s->narrow_out[c][i];
    for (int32_t i = 0; i < in->active + in->candidates; ++i)
    {
        flx_contact* c  = &in->contact[i];
        c->gap          = 0;
        const double by = flx__contact_gap_at(c, s->delta, 0);
        c->gap          = i < in->active ? -by - in->lambda[i] / in->stiffness : fmax(APART, APART - by);
        for (int k = 0; k < 3; ++k) c->target[k] = -c->gap * c->normal[k]; // positions are all zero
    }
}

/// body_contacts() spreads the contacts over the region; every k-th is active, and these come first.
static flx_status choose_contacts(inner* in, const body* arm)
{
    flx_status    status = FLX_OK;
    const int32_t count  = in->active + in->candidates;
    flx_contact*  all    = NULL;
    int32_t       first = 0, last = in->active;
    FLX_NEW(in->ctx, all, count);
    body_contacts(arm, count, all);
    for (int32_t i = 0; i < count; ++i)
    {
        const bool    active  = (int64_t)(i + 1) * in->active / count > (int64_t)i * in->active / count;
        const int32_t to      = active ? first++ : last++;
        in->contact[to]       = all[i];
        in->contact[to].proxy = to;
    }
done:
    flx__free(in->ctx, all);
    return status;
}

flx_status inner_create(flx_context* ctx, const body* arm, int32_t active, int32_t candidates, double* schur, inner* in)
{
    flx_status    status = FLX_OK;
    const int32_t n2 = arm->a.n - arm->free_count, count = active + candidates;
    const int64_t nn = (int64_t)n2 * n2;
    *in = (inner){.ctx = ctx, .n2 = n2, .active = active, .candidates = candidates, .stiffness = STIFFNESS};
    FLX_NEW(ctx, in->lambda, active);
    FLX_TRY(columns(ctx, n2, in->r));
    FLX_NEW_ZERO(ctx, in->push, count);
    FLX_NEW_ZERO(ctx, in->force, 3 * (int64_t)count);
    FLX_NEW_ZERO(ctx, in->prone_force, 3 * (int64_t)n2);
    FLX_NEW_ZERO(ctx, in->scene, 1);
    FLX_NEW(ctx, in->sigma, nn);
    in->scene->contact = &in->law;
    in->group          = (flx_contact_group){.proxy_count = count, .stiffness = in->stiffness};
    in->model =
        (flx_model){.ctx = ctx, .scene = in->scene, .group_count = 1, .group = &in->group, .proxy_count = count};
    in->state = (flx_state){
        .ctx = ctx, .model = &in->model, .push = in->push, .force = in->force, .prone_force = in->prone_force};
    FLX_TRY(make_solver(in, count));
    FLX_TRY(choose_contacts(in, arm));
    for (int64_t i = 0; i < nn; ++i) in->sigma[i] = (float)schur[i];
    in->solver.schur = in->sigma;
    FLX_TRY(flx__dense_inverse_f64(ctx, n2, schur, n2, NULL));
    for (int64_t i = 0; i < nn; ++i) ((float*)in->solver.schur_inverse)[i] = (float)schur[i];
    choose_gaps(in);
done:
    return status;
}

void inner_release(inner* in)
{
    flx_solver* s = &in->solver;
    for (int c = 0; c < 3; ++c)
    {
        void* const column[] = {in->r[c], s->reduced[c], s->delta[c], s->push[c], s->narrow_in[c], s->narrow_out[c]};
        for (size_t k = 0; k < sizeof column / sizeof column[0]; ++k) flx__free(in->ctx, column[k]);
    }
    void* const block[] = {s->x,      s->dense,  s->schur_inverse, in->lambda,     in->push,
                           in->force, in->scene, in->sigma,        in->prone_force};
    for (size_t k = 0; k < sizeof block / sizeof block[0]; ++k) flx__free(in->ctx, block[k]);
    flx__contact_work_release(in->ctx, &s->contact);
}

double inner_solve(inner* in, flx_law law, flx_strategy strategy)
{
    flx_solver* s        = &in->solver;
    in->law.law          = law;
    s->settings.strategy = strategy;
    s->stats             = (flx_step_stats){0};
    flx__forget_pushes(s);
    memset(in->push, 0, sizeof(double) * (size_t)in->model.proxy_count);
    for (int c = 0; c < 3; ++c) memcpy(s->reduced[c], in->r[c], sizeof(double) * (size_t)in->n2);
    const double start = now_ms();
    flx__solve_contacts(s, &in->state);
    return now_ms() - start;
}

double inner_lambda_error(const inner* in)
{
    double error = 0, size = 0;
    for (int32_t i = 0; i < in->active + in->candidates; ++i)
    {
        const double want = i < in->active ? in->lambda[i] : 0, wrong = in->push[i] - want;
        error += wrong * wrong;
        size += want * want;
    }
    return sqrt(error / size);
}
