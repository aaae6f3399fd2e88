// The two passes over the factor that frame the inner iterations, and a whole solve made of them. [LLKS] eq. 15-18.
#include "solver/solver_internal.h"

#include <string.h>

static void narrow_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_solver* s = user;
    for (int c = 0; c < 3; ++c)
        for (int64_t i = begin; i < end; ++i) s->b_f32[c][i] = (float)s->r[c][i];
}

void flx__forward(flx_solver* s)
{
    if (s->everywhere) // nothing is free
    {
        for (int c = 0; c < 3; ++c) memcpy(s->base[c], s->r[c], sizeof(double) * (size_t)s->n);
        return;
    }
    if (s->single)
    {
        flx__parallel_for(s->ctx, s->n, 16384, narrow_range, s);
        flx__factor_forward_f32(s->factor, s->b_f32);
        for (int c = 0; c < 3; ++c)
            for (int32_t i = 0; i < s->n2; ++i) s->base[c][i] = (double)s->b_f32[c][s->n1 + i];
        return;
    }
    for (int c = 0; c < 3; ++c) memcpy(s->b_f64[c], s->r[c], sizeof(double) * (size_t)s->n);
    flx__factor_forward_f64(s->factor, s->b_f64);
    for (int c = 0; c < 3; ++c) memcpy(s->base[c], s->b_f64[c] + s->n1, sizeof(double) * (size_t)s->n2);
}

void flx__backward(flx_solver* s)
{
    if (s->everywhere) return;
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n2; ++i)
        {
            if (s->single)
                s->b_f32[c][s->n1 + i] = (float)s->d[c][i];
            else
                s->b_f64[c][s->n1 + i] = s->d[c][i];
        }
    if (s->single)
        flx__factor_backward_f32(s->factor, s->b_f32);
    else
        flx__factor_backward_f64(s->factor, s->b_f64);
}

bool flx__plain_solve(flx_solver* s)
{
    int32_t bad;
    if (s->settings.strategy == FLX_STRATEGY_PCG) return false;
    if (s->settings.strategy == FLX_STRATEGY_FULL)
    {
        for (int c = 0; c < 3; ++c) memcpy(s->b_f64[c], s->r[c], sizeof(double) * (size_t)s->n);
        flx__factor_forward_f64(s->factor, s->b_f64);
        flx__factor_backward_f64(s->factor, s->b_f64);
        for (int c = 0; c < 3; ++c) memcpy(s->r[c], s->b_f64[c], sizeof(double) * (size_t)s->n);
        return true;
    }
    flx__forward(s);
    for (int c = 0; c < 3; ++c) memcpy(s->reduced[c], s->base[c], sizeof(double) * (size_t)s->n2);
    if (s->n2 > 0 && s->settings.strategy == FLX_STRATEGY_COMPLIANCE)
        flx__free_increment(s);
    else if (s->n2 > 0)
    {
        const int64_t entries = (int64_t)s->n2 * s->n2;
        memcpy(s->dense, s->schur, (s->single ? sizeof(float) : sizeof(double)) * (size_t)entries);
        if ((s->single ? flx__dense_cholesky_f32(s->ctx, s->n2, s->dense, s->n2, &bad)
                       : flx__dense_cholesky_f64(s->ctx, s->n2, s->dense, s->n2, &bad)) != FLX_OK)
            return false;
        flx__dense_increment(s, s->reduced);
    }
    for (int c = 0; c < 3; ++c) memcpy(s->d[c], s->delta[c], sizeof(double) * (size_t)s->n2);
    flx__backward(s);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i)
            s->r[c][i] = i >= s->n1 ? s->d[c][i - s->n1] : s->single ? (double)s->b_f32[c][i] : s->b_f64[c][i];
    return true;
}
