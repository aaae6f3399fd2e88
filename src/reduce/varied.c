#include "reduce/varied.h"

#include "math/mat3.h"
#include "math/rotation.h"
#include "reduce/random.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define PUSHES 5
#define WAVES 24          // a push
#define SHORTEST 2.0      // waves along the longest side
#define PART 0.3          // of the own run's motion
#define LEAST_MOTION 0.01 // of the size, for a run that does not move

// --- distance without the rigid part ------------------------------------------------------------------------------

static void middle_of(int32_t n, const double* q, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int32_t i = 0; i < n; ++i)
        for (int c = 0; c < 3; ++c) out[c] += q[3 * (int64_t)i + c] / n;
}

double flx__shape_distance(const flx_pd_system* system, const double* a, const double* b)
{
    double mid_a[3], mid_b[3], da[3], db[3], turned[3], f[9] = {0}, turn[9], sum = 0.0;
    middle_of(system->n, a, mid_a);
    middle_of(system->n, b, mid_b);
    for (int32_t i = 0; i < system->n; ++i)
    {
        flx__sub3(a + 3 * (int64_t)i, mid_a, da);
        flx__sub3(b + 3 * (int64_t)i, mid_b, db);
        for (int k = 0; k < 9; ++k) f[k] += da[k / 3] * db[k % 3];
    }
    flx__nearest_rotation(f, turn);
    for (int32_t i = 0; i < system->n; ++i)
    {
        flx__sub3(a + 3 * (int64_t)i, mid_a, da);
        flx__sub3(b + 3 * (int64_t)i, mid_b, db);
        flx__apply3(turn, db, turned);
        for (int c = 0; c < 3; ++c) sum += (da[c] - turned[c]) * (da[c] - turned[c]);
    }
    return sqrt(sum / system->n) / system->size;
}

static double largest_motion(const flx_varied* v)
{
    const int64_t length = 3 * (int64_t)v->system->n;
    double        most   = 0.0;
    for (int32_t k = 1; k <= v->frames / v->stride; ++k)
        most = fmax(most, flx__shape_distance(v->system, v->own + k * length, v->own));
    return most;
}

// --- a field of waves ---------------------------------------------------------------------------------------------

static double longest_side(const flx_pd_system* s)
{
    double longest = 0.0;
    for (int c = 0; c < 3; ++c)
    {
        double low = s->x_rest[c], high = s->x_rest[c];
        for (int32_t i = 1; i < s->n; ++i)
        {
            low  = fmin(low, s->x_rest[3 * (int64_t)i + c]);
            high = fmax(high, s->x_rest[3 * (int64_t)i + c]);
        }
        longest = fmax(longest, high - low);
    }
    return longest;
}

static void random_in_ball(uint64_t* seed, double out[3])
{
    do
        for (int c = 0; c < 3; ++c) out[c] = 2.0 * flx__random(seed) - 1.0;
    while (flx__dot3(out, out) > 1.0);
}

/// u := waves of random direction, length, phase and size; RMS 1.
static void draw_field(flx_varied* v)
{
    const flx_pd_system* s    = v->system;
    const double         unit = 2.0 * PI * SHORTEST / longest_side(s);
    const int64_t        n3   = 3 * (int64_t)s->n;
    double               sum  = 0.0;
    memset(v->u, 0, (size_t)n3 * sizeof *v->u);
    for (int k = 0; k < WAVES; ++k)
    {
        double wave[3], size[3];
        random_in_ball(&v->seed, wave);
        random_in_ball(&v->seed, size);
        const double phase = 2.0 * PI * flx__random(&v->seed);
        for (int32_t i = 0; i < s->n; ++i)
        {
            const double at = cos(unit * flx__dot3(wave, s->x_rest + 3 * (int64_t)i) + phase);
            for (int c = 0; c < 3; ++c) v->u[3 * (int64_t)i + c] += size[c] * at;
        }
    }
    for (int64_t k = 0; k < n3; ++k) sum += v->u[k] * v->u[k];
    for (int64_t k = 0; k < n3; ++k) v->u[k] /= sqrt(sum / s->n);
}

// --- a run --------------------------------------------------------------------------------------------------------

flx_status flx__varied_create(flx_pd_system* system, int32_t frames, int32_t stride, const double* own, int32_t run,
                              flx_varied* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_varied){.system = system, .frames = frames, .stride = stride, .own = own, .push = -1};
    FLX_NEW(system->ctx, out->u, 3 * (int64_t)system->n);
    const double time = frames * system->h;
    out->seed         = 0x5eed00 + (uint64_t)run;
    out->aim          = PART * fmax(largest_motion(out), LEAST_MOTION);
    out->least        = 2.0 * out->aim * system->size / (time * time);
    out->reached      = out->least;

done:
    return status;
}

void flx__varied_release(flx_varied* v)
{
    if (v->system) flx__free(v->system->ctx, v->u);
    *v = (flx_varied){0};
}

void flx__varied_push(flx_varied* v, int32_t frame, double* velocity)
{
    const int32_t now = (int32_t)((int64_t)(frame - 1) * PUSHES / v->frames);
    if (now != v->push)
    {
        v->push   = now;
        v->amount = v->reached = fmax(v->least, v->reached / 4.0); // as stiff as before, or so
        draw_field(v);
    }
    for (int64_t k = 0; v->amount > 0.0 && k < 3 * (int64_t)v->system->n; ++k)
        velocity[k] += v->system->h * v->amount * v->u[k];
}

void flx__varied_watch(flx_varied* v, int32_t frame, const double* q)
{
    if (frame % v->stride != 0) return;
    const double d     = flx__shape_distance(v->system, q, v->own + (int64_t)(frame / v->stride) * 3 * v->system->n);
    const double later = d + (d - v->d) / v->stride * v->frames / PUSHES; // a push on
    v->d               = d;
    if (v->amount == 0.0) return;
    v->amount = later < v->aim ? 2.0 * v->amount : 0.0;
    if (v->amount > 0.0) v->reached = v->amount;
}
