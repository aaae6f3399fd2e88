// Anderson acceleration of the outer iteration: the next iterate mixes the last few so that what is left of their
// increments is least.
//
//   f_k = G(x_k) - x_k                        G: one plain outer iteration, contacts and all
//   gamma = argmin |f_k - sum_j gamma_j df_j|^2,     df_j = f_{j+1} - f_j,   dG_j = G(x_{j+1}) - G(x_j)
//   x_{k+1} = G(x_k) - sum_j gamma_j dG_j
//
// A mixed iterate with more energy than x_k is given up for G(x_k). If contacts pushed, history begins anew then: it
// tells of another set of them. The last iteration of a step is never mixed: contacts have the last word, and nothing
// outlives the step. The energy is that of the statistics, without contacts: counting the penetration of a mixed
// iterate by the contacts' stiffness, though the next solve mends it, refuses almost every one of a held fold. Based on
// [Anderson65] and [Peng18].
#include "solver/solver_internal.h"

#include <math.h>
#include <string.h>

#define MOST_HISTORY 8
#define DEPENDENT 1e-10 // a difference whose square has lost this share to newer ones says nothing new

struct flx_accelerator
{
    int32_t most;     // differences kept
    int32_t count;    // held now
    int32_t newest;   // place of the last one
    bool    has_last; // `plain` and `increment` are of the iteration before
    bool    mixed;    // x is a mixed iterate that nobody has judged
    double  energy;   // J, of the iterate before: x must not have more

    double* plain;                            // [n][3] G(x) of the last iteration, m
    double* increment;                        // [n][3] f, m
    double* d_plain[MOST_HISTORY];            // [n][3] dG, m
    double* d_increment[MOST_HISTORY];        // [n][3] df, m
    double  gram[MOST_HISTORY][MOST_HISTORY]; // df . df, m^2
    double* dots;                             // [chunks][2 MOST_HISTORY] df . df_j of the newest, f . df_j
};

flx_status flx__accelerator_create(flx_solver* s)
{
    flx_status       status = FLX_OK;
    const int64_t    values = 3 * (int64_t)s->n;
    flx_accelerator* a      = NULL;
    if (s->settings.acceleration == FLX_ACCELERATION_NONE) return FLX_OK;
    FLX_NEW_ZERO(s->ctx, s->accelerator, 1);
    a       = s->accelerator;
    a->most = s->settings.history;
    FLX_NEW_ZERO(s->ctx, a->plain, values);
    FLX_NEW_ZERO(s->ctx, a->increment, values);
    for (int32_t j = 0; j < a->most; ++j)
    {
        FLX_NEW_ZERO(s->ctx, a->d_plain[j], values);
        FLX_NEW_ZERO(s->ctx, a->d_increment[j], values);
    }
    FLX_NEW_ZERO(s->ctx, a->dots, 2 * MOST_HISTORY * (int64_t)(s->n / FLX_CHUNK + 1));
done:
    return status;
}

void flx__accelerator_destroy(flx_solver* s)
{
    flx_accelerator* a = s->accelerator;
    if (!a) return;
    for (int32_t j = 0; j < a->most; ++j)
    {
        flx__free(s->ctx, a->d_plain[j]);
        flx__free(s->ctx, a->d_increment[j]);
    }
    flx__free(s->ctx, a->plain);
    flx__free(s->ctx, a->increment);
    flx__free(s->ctx, a->dots);
    flx__free(s->ctx, a);
}

static void forget(flx_accelerator* a)
{
    a->count    = 0;
    a->has_last = false;
    a->mixed    = false;
}

void flx__accelerate_begin(flx_solver* s)
{
    if (s->accelerator) forget(s->accelerator);
}

bool flx__accelerate_rejects(flx_solver* s)
{
    flx_accelerator* a = s->accelerator;
    if (!a || !a->mixed) return false;
    a->mixed = false;

    const flx_step_stats so_far = s->stats; // the iteration itself will add the beta elements
    if (s->n2 > 0) flx__beta_forces(s, false, s->reduced);
    const double energy = s->stats.energy;
    s->stats            = so_far;
    const double noise  = (s->single ? 1e-7 : 1e-12) * fabs(energy); // of a sum of the elements' energies, measured
    if (energy <= a->energy + noise) return false;

    memcpy(s->x, a->plain, 3 * sizeof(double) * (size_t)s->n);
    memcpy(s->x_outer, a->plain, 3 * sizeof(double) * (size_t)s->n);
    if (s->contact.pushing_count > 0) forget(a);
    return true;
}

static double dot(const double* a, const double* b, int64_t count)
{
    double  lane[8] = {0};
    int64_t i       = 0;
    for (; i + 8 <= count; i += 8)
        for (int l = 0; l < 8; ++l) lane[l] += a[i + l] * b[i + l];
    for (; i < count; ++i) lane[0] += a[i] * b[i];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/// j-th difference, the newest first.
static int32_t place(const flx_accelerator* a, int32_t j)
{
    return (a->newest + a->most - j) % a->most;
}

static void record_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_solver*      s     = user;
    flx_accelerator* a     = s->accelerator;
    double*          df    = a->d_increment[a->newest];
    double*          dG    = a->d_plain[a->newest];
    double*          dots  = a->dots + 2 * MOST_HISTORY * (begin / FLX_CHUNK);
    const int64_t    first = 3 * begin;
    const int64_t    count = 3 * (end - begin);
    double*          f     = a->increment + first;
    for (int64_t i = first; i < 3 * end; ++i)
    {
        const double increment = s->x[i] - s->x_outer[i];
        df[i]                  = increment - a->increment[i];
        dG[i]                  = s->x[i] - a->plain[i];
        a->increment[i]        = increment;
        a->plain[i]            = s->x[i];
    }
    for (int32_t j = 0; j < a->count; ++j)
    {
        const double* other    = a->d_increment[place(a, j)] + first;
        dots[j]                = dot(df + first, other, count);
        dots[MOST_HISTORY + j] = dot(f, other, count);
    }
}

/// Differences of this iteration and the one before; rhs[j] = f . df_j, the newest first.
static void record(flx_solver* s, double rhs[MOST_HISTORY])
{
    flx_accelerator* a = s->accelerator;
    a->newest          = (a->newest + 1) % a->most;
    if (a->has_last && a->count < a->most) ++a->count; // else what the pass writes is not looked at
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, record_range, s);
    for (int32_t j = 0; j < a->count; ++j)
    {
        double square = 0;
        rhs[j]        = 0;
        for (int64_t k = 0; k <= (s->n - 1) / FLX_CHUNK; ++k)
        {
            square += a->dots[2 * MOST_HISTORY * k + j];
            rhs[j] += a->dots[2 * MOST_HISTORY * k + MOST_HISTORY + j];
        }
        a->gram[a->newest][place(a, j)] = a->gram[place(a, j)][a->newest] = square;
    }
    a->has_last = true;
}

/// gamma by Cholesky, the newest difference first; stops where one depends on those before it. How many are used.
static int32_t least_squares(const flx_accelerator* a, double gamma[MOST_HISTORY])
{
    double  L[MOST_HISTORY][MOST_HISTORY];
    int32_t used = 0;
    for (; used < a->count; ++used)
    {
        for (int32_t j = 0; j <= used; ++j)
        {
            double sum = a->gram[place(a, used)][place(a, j)];
            for (int32_t k = 0; k < j; ++k) sum -= L[used][k] * L[j][k];
            L[used][j] = j < used ? sum / L[j][j] : sum;
        }
        if (!(L[used][used] > DEPENDENT * a->gram[place(a, used)][place(a, used)])) break;
        L[used][used] = sqrt(L[used][used]);
    }
    for (int32_t j = 0; j < used; ++j)
    {
        for (int32_t k = 0; k < j; ++k) gamma[j] -= L[j][k] * gamma[k];
        gamma[j] /= L[j][j];
    }
    for (int32_t j = used - 1; j >= 0; --j)
    {
        for (int32_t k = j + 1; k < used; ++k) gamma[j] -= L[k][j] * gamma[k];
        gamma[j] /= L[j][j];
    }
    return used;
}

typedef struct mix_args
{
    flx_solver* s;
    int32_t     used;
    double      gamma[MOST_HISTORY];
} mix_args;

static void mix_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const mix_args*        m = user;
    const flx_accelerator* a = m->s->accelerator;
    for (int32_t j = 0; j < m->used; ++j)
    {
        const double* dG = a->d_plain[place(a, j)];
        for (int64_t i = 3 * begin; i < 3 * end; ++i) m->s->x[i] -= m->gamma[j] * dG[i];
    }
}

void flx__accelerate(flx_solver* s)
{
    flx_accelerator* a = s->accelerator;
    if (!a) return;
    mix_args args = {.s = s};
    record(s, args.gamma);
    args.used = least_squares(a, args.gamma);
    if (args.used == 0) return;
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, mix_range, &args);
    a->energy = s->stats.energy;
    a->mixed  = true;
}
