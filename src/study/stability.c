// What a small disturbance of the state becomes in a frame, at the middle of the training run.
//
//   growth  the frame's derivative by central differences, its largest factor by power iteration: a mean over frames,
//           since a complex pair does not settle
// The state is held where it is: this is a local statement, not one about the whole run.
#include "study/study.h"

#include <math.h>
#include <string.h>

#define SETTLE 40      // frames until the direction that grows most stands out
#define MEASURE 40     // frames the growth is averaged over
#define AMPLITUDE 1e-6 // of the body's size

typedef struct probe
{
    flx_pd_system*      system;
    flx_pd_drive        drive;
    flx_reduced_solver* solver; // NULL: full order
    flx_pd_state        base, state;
    double *            dq, *dv, *q; // [n][3]
    double              size;        // of the disturbance
} probe;

static flx_status frame_from(probe* p, double sign)
{
    const int64_t n3 = 3 * (int64_t)p->system->n;
    p->state.frame   = p->base.frame;
    for (int64_t i = 0; i < n3; ++i)
    {
        p->state.q[i] = p->base.q[i] + sign * p->dq[i];
        p->state.v[i] = p->base.v[i] + sign * p->dv[i];
    }
    if (!p->solver) return flx__pd_frame(p->system, &p->drive, FLX_LAB_ROUNDS, &p->state, NULL, NULL);
    flx__reduced_start(p->solver, &p->state);
    const flx_status status = flx__reduced_frame(p->solver, &p->drive, FLX_LAB_ROUNDS, NULL, NULL);
    flx__reduced_read(p->solver, &p->state);
    return status;
}

/// Positions and velocities weigh alike when a velocity counts by what it moves in a frame.
static double size_of(const probe* p)
{
    const int64_t n3  = 3 * (int64_t)p->system->n;
    double        sum = 0.0;
    for (int64_t i = 0; i < n3; ++i) sum += p->dq[i] * p->dq[i] + p->system->h * p->system->h * p->dv[i] * p->dv[i];
    return sqrt(sum / p->system->n);
}

static void scale(probe* p, double factor)
{
    for (int64_t i = 0; i < 3 * (int64_t)p->system->n; ++i)
    {
        p->dq[i] *= factor;
        p->dv[i] *= factor;
    }
}

/// The disturbance a frame later; *growth its factor.
static flx_status advance(probe* p, double* growth)
{
    flx_status    status = FLX_OK;
    const int64_t n3     = 3 * (int64_t)p->system->n;
    FLX_TRY(frame_from(p, 1.0));
    memcpy(p->q, p->state.q, (size_t)n3 * sizeof *p->q);
    FLX_TRY(frame_from(p, -1.0));
    for (int64_t i = 0; i < n3; ++i)
    {
        const double moved = 0.5 * (p->q[i] - p->state.q[i]);
        p->dv[i]           = (moved - p->dq[i]) / p->system->h;
        p->dq[i]           = moved;
    }
    const double after = size_of(p);
    *growth            = after / p->size;
    if (!(after > 0) || !isfinite(after)) return FLX_ERR_NONFINITE;
    scale(p, p->size / after);
done:
    return status;
}

static flx_status open_probe(flx_study* s, const flx_trial_bench* bench, const flx_reduced_model* model, probe* p)
{
    flx_status            status = FLX_OK;
    const flx_experiment* e      = bench->experiment;
    const int32_t         half   = e->frames / 2;
    const int64_t         n3     = 3 * (int64_t)e->system->n;
    const double*         q      = bench->full[0].q + half * n3;
    *p                           = (probe){.system = e->system, .drive = flx__experiment_drive(e, FLX_RUN_TRAIN)};
    FLX_TRY(flx__pd_state_create(e->system, &p->base));
    FLX_TRY(flx__pd_state_create(e->system, &p->state));
    FLX_NEW(s->ctx, p->q, n3);
    FLX_NEW(s->ctx, p->dq, n3);
    FLX_NEW(s->ctx, p->dv, n3);
    if (model) FLX_TRY(flx__reduced_solver_create(e->system, model, &p->solver));
    p->base.frame = half;
    uint64_t seed = 1;
    for (int64_t i = 0; i < n3; ++i)
    {
        p->base.q[i] = q[i];
        p->base.v[i] = (q[i] - q[i - n3]) / e->system->h;
        seed         = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        p->dq[i]     = (double)(seed >> 40) / 16777216.0 - 0.5;
        p->dv[i]     = 0.0;
    }
    p->size = AMPLITUDE * e->system->size;
    scale(p, p->size / size_of(p));
done:
    return status;
}

static void close_probe(flx_context* ctx, probe* p)
{
    flx__reduced_solver_destroy(p->solver);
    flx__pd_state_release(ctx, &p->base);
    flx__pd_state_release(ctx, &p->state);
    flx__free(ctx, p->q);
    flx__free(ctx, p->dq);
    flx__free(ctx, p->dv);
}

flx_status flx__study_steady(flx_study* s, const flx_trial_bench* bench, const flx_reduced_model* model,
                             flx_study_stability* out, double* direction)
{
    flx_status status = FLX_OK;
    probe      p      = {0};
    double     sum = 0.0, share[3] = {0}, growth = 0.0;
    *out = (flx_study_stability){0};
    FLX_TRY(open_probe(s, bench, model, &p));
    for (int k = 0; k < SETTLE + MEASURE; ++k)
    {
        status = advance(&p, &growth);
        if (status == FLX_ERR_NONFINITE) // the frame itself fails: no derivative to speak of
        {
            out->known  = true;
            out->growth = INFINITY;
            status      = FLX_OK;
            goto done;
        }
        FLX_TRY(status);
        if (k >= SETTLE) sum += log(growth);
    }
    for (int64_t i = 0; i < 3 * (int64_t)p.system->n; ++i) share[i % 3] += p.dq[i] * p.dq[i];
    for (int d = 0; d < 3; ++d) out->share[d] = share[d] / (share[0] + share[1] + share[2]);
    if (direction) memcpy(direction, p.dq, (size_t)p.system->n * 3 * sizeof *direction);
    out->known  = true;
    out->growth = exp(sum / MEASURE);
done:
    close_probe(s->ctx, &p);
    return status;
}
