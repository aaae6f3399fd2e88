#include "reduce/judge.h"

#include <math.h>
#include <string.h>

#define EXPLODED 1.0
#define DISTORTED_ERROR 0.5
#define DISTORTED_ENERGY 3.0

// --- records -------------------------------------------------------------------------------------------------

flx_status flx__record_create(flx_pd_system* system, int32_t frames, flx_run_record* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_run_record){.system = system, .frames = frames};
    FLX_NEW(system->ctx, out->q, ((int64_t)frames + 1) * 3 * system->n);
    FLX_NEW(system->ctx, out->elastic, (int64_t)frames + 1);
    FLX_NEW(system->ctx, out->kinetic, (int64_t)frames + 1);

done:
    if (status != FLX_OK) flx__record_release(out);
    return status;
}

void flx__record_release(flx_run_record* record)
{
    if (!record->system) return;
    flx_context* ctx = record->system->ctx;
    flx__free(ctx, record->q);
    flx__free(ctx, record->elastic);
    flx__free(ctx, record->kinetic);
    *record = (flx_run_record){0};
}

void flx__record_put(flx_run_record* r, const flx_pd_state* state)
{
    FLX_ASSERT(r->count <= r->frames);
    const int64_t length = 3 * (int64_t)r->system->n;
    memcpy(r->q + r->count * length, state->q, (size_t)length * sizeof *r->q);
    flx__pd_energy(r->system, state, &r->elastic[r->count], &r->kinetic[r->count]);
    ++r->count;
}

flx_status flx__record_run(flx_run_record* r, const flx_pd_drive* drive, int32_t rounds, flx_pd_state* state)
{
    flx_status status = FLX_OK;
    flx__record_put(r, state);
    while (r->count <= r->frames)
    {
        FLX_TRY(flx__pd_frame(r->system, drive, rounds, state, NULL, NULL));
        flx__record_put(r, state);
    }

done:
    return status;
}

// --- judgement -----------------------------------------------------------------------------------------------

double flx__pose_distance(const flx_pd_system* system, const double* a, const double* b)
{
    double sum = 0.0;
    for (int64_t k = 0; k < 3 * (int64_t)system->n; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum / system->n) / system->size;
}

/// NaN counts as larger than anything.
static double larger(double most, double value)
{
    if (isnan(value)) return INFINITY;
    return value > most ? value : most;
}

static double most_energy(const flx_run_record* r, int32_t count)
{
    double most = 0.0;
    for (int32_t t = 0; t < count; ++t) most = larger(most, r->elastic[t] + r->kinetic[t]);
    return most;
}

flx_verdict flx__judge(const flx_run_record* full, const flx_run_record* run, int32_t frames)
{
    FLX_ASSERT(full->count > frames);
    const int64_t length = 3 * (int64_t)full->system->n;
    const int32_t count  = run->count <= frames ? run->count : frames + 1;
    flx_verdict   v      = {.error = count <= frames ? INFINITY : 0.0};

    for (int32_t t = 0; t < count; ++t)
        v.error = larger(v.error, flx__pose_distance(full->system, run->q + t * length, full->q + t * length));
    v.energy    = most_energy(run, count) / most_energy(full, frames + 1);
    v.exploded  = !(v.error <= EXPLODED);
    v.distorted = !v.exploded && !(v.error <= DISTORTED_ERROR && v.energy <= DISTORTED_ENERGY);
    return v;
}

void flx__pd_momentum(const flx_pd_system* system, const flx_pd_state* state, double linear[3], double angular[3])
{
    for (int c = 0; c < 3; ++c) linear[c] = angular[c] = 0.0;
    for (int32_t i = 0; i < system->n; ++i)
    {
        const double *x = state->q + 3 * (int64_t)i, *v = state->v + 3 * (int64_t)i;
        for (int c = 0; c < 3; ++c)
        {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            linear[c] += system->mass[i] * v[c];
            angular[c] += system->mass[i] * (x[a] * v[b] - x[b] * v[a]);
        }
    }
}
