#include "reduce/loads.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

flx_status flx__hold_vertices(flx_context* ctx, flx_hold hold, int32_t n, const double* x_rest, int32_t* count,
                              int32_t** out)
{
    flx_status status = FLX_OK;
    int32_t*   held   = NULL;
    double     left = x_rest[0], right = x_rest[0], low = x_rest[2], high = x_rest[2];
    for (int32_t i = 0; i < n; ++i)
    {
        left  = fmin(left, x_rest[3 * (int64_t)i]);
        right = fmax(right, x_rest[3 * (int64_t)i]);
        low   = fmin(low, x_rest[3 * (int64_t)i + 2]);
        high  = fmax(high, x_rest[3 * (int64_t)i + 2]);
    }
    const double near = 1e-9 * (right - left);

    *count = 0;
    *out   = NULL;
    FLX_NEW(ctx, held, n);
    for (int32_t i = 0; i < n && hold != FLX_HOLD_NOTHING; ++i)
    {
        const double x = x_rest[3 * (int64_t)i], z = x_rest[3 * (int64_t)i + 2];
        const bool is_left                                          = x<left + near, is_right = x> right - near;
        const bool                                        is_corner = z < low + near || z > high - near;
        if ((hold == FLX_HOLD_CORNERS && is_left && is_corner) || (hold == FLX_HOLD_LEFT && is_left) ||
            (hold >= FLX_HOLD_PULLED && (is_left || is_right)))
            held[(*count)++] = i;
    }
    *out = held;

done:
    return status;
}

void flx__poke_shares(int32_t n, const double* x_rest, const double at[2], double* share)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; ++i)
    {
        const double dx = x_rest[3 * (int64_t)i] - at[0], dz = x_rest[3 * (int64_t)i + 2] - at[1];
        const double inside = fmax(0.0, 1.0 - (dx * dx + dz * dz) / (0.2 * 0.2));
        share[i]            = inside * inside;
        sum += share[i];
    }
    for (int32_t i = 0; i < n; ++i) share[i] /= sum;
}

void flx__load_force(void* user, int32_t frame, double* f)
{
    const flx_experiment_run* run    = user;
    const flx_pd_system*      system = run->of->system;
    const double              when   = run->of->brief ? (frame <= 5 ? 1.0 : 0.0) : sin(2.0 * PI * frame / 50.0);
    for (int32_t i = 0; i < system->n; ++i)
    {
        for (int c = 0; c < 3; ++c) f[3 * (int64_t)i + c] += system->mass[i] * run->load.gravity[c];
        if (run->share) f[3 * (int64_t)i + 1] += run->load.poke * when * run->share[i];
    }
}

/// Turn [count] places about the line along x through the middle of their y and z, those of x > middle the other way.
static void twist(int32_t count, double* place, double angle)
{
    double low[3], high[3];
    for (int c = 0; c < 3; ++c) low[c] = INFINITY, high[c] = -INFINITY;
    for (int32_t k = 0; k < count; ++k)
        for (int c = 0; c < 3; ++c)
        {
            low[c]  = fmin(low[c], place[3 * (int64_t)k + c]);
            high[c] = fmax(high[c], place[3 * (int64_t)k + c]);
        }
    const double c = cos(angle), sine = sin(angle);
    for (int32_t k = 0; k < count; ++k)
    {
        double*      p = place + 3 * (int64_t)k;
        const double s = p[0] > 0.5 * (low[0] + high[0]) ? sine : -sine;
        const double y = p[1] - 0.5 * (low[1] + high[1]), z = p[2] - 0.5 * (low[2] + high[2]);
        p[1] = 0.5 * (low[1] + high[1]) + c * y - s * z;
        p[2] = 0.5 * (low[2] + high[2]) + s * y + c * z;
    }
}

void flx__load_targets(void* user, int32_t frame, double* place)
{
    const flx_experiment_run* run    = user;
    const flx_pd_system*      system = run->of->system;
    const double              phase  = PI * frame / 200.0;
    switch (run->of->hold)
    {
    case FLX_HOLD_NOTHING:
    case FLX_HOLD_CORNERS:
    case FLX_HOLD_LEFT:
        break;
    case FLX_HOLD_PULLED:
        for (int32_t k = 0; k < system->held_count; ++k)
            if (place[3 * (int64_t)k] > 0.5) place[3 * (int64_t)k] += run->load.pull * fabs(sin(phase));
        break;
    case FLX_HOLD_TWISTED:
        twist(system->held_count, place, 0.5 * PI * sin(run->load.speed * phase));
        break;
    case FLX_HOLD_STRETCHED:
        for (int32_t k = 0; k < system->held_count; ++k) place[3 * (int64_t)k] *= FLX_LAB_STRETCH;
        break;
    }
}
