// One step, as [LLKS] Algorithm 1 tells it; docs/pipeline.md has the equations.
//
//   follow the bones; then `outer` times:
//     residual        rotations and forces of the alpha elements, springs, inertia
//     forward         y1 = L11^-1 r1,  r2 <- r2 - L21 y1
//     `inner` times:  rotations of the beta elements, detection, contact solve on x2
//     backward        x1 += L11^-T (y1 - L21^T d)
//     accelerate      the next iterate from the last few, unless off
//   commit
//
// The inner residual needs no product with Sigma: with d the sum of increments so far and running = Sigma d,
//   reduced = r2 - running + sum_beta 2 mu Vol (R(x2 + d) - F(x2)) g,    running += reduced + W^T lambda  after each
//   solve.
// F stays at x2 because A_beta d cancels its change.
#include "solver/solver_internal.h"

#include "math/mat3.h"
#include "solver/air.h"

#include <math.h>
#include <string.h>

static double ms_since(double* start)
{
    const double now = flx__now(), ms = 1e3 * (now - *start);
    *start = now;
    return ms;
}

static void start(flx_solver* s, const flx_state* q, double time)
{
    const int64_t values = 3 * (int64_t)s->n;
    memcpy(s->x, q->x, sizeof(double) * (size_t)values);
    memcpy(s->x_start, q->x, sizeof(double) * (size_t)values);
    if (s->settings.mode == FLX_MODE_DYNAMIC) // begin where inertia alone would go: what is left to solve is small
        for (int64_t i = 0; i < values; ++i) s->x[i] = s->x_inertial[i] = q->x[i] + s->dt * q->v[i];
    for (int32_t b = 0; b < s->model->scene->bone_count; ++b)
        flx_scene_bone_pose(s->model->scene, b, time, s->bone[b].R, s->bone[b].t);
}

/// x2 and the displacements that give its rotations: d further than the outer iteration began.
static void place_prone(flx_solver* s)
{
    for (int32_t i = 0; i < s->n2; ++i)
        for (int c = 0; c < 3; ++c)
        {
            const int64_t at = 3 * (int64_t)(s->n1 + i) + c;
            s->x[at]         = s->x_outer[at] + s->d[c][i];
            s->u_turned[at]  = s->u[at] + s->d[c][i];
        }
}

/// Unbalanced force on the prone vertices: what their beta elements and the contacts of the last solve leave of r.
static void prone_residual(flx_solver* s, const flx_state* q, double* const beta[3])
{
    for (int32_t i = 0; i < s->n2; ++i)
    {
        double f[3];
        for (int c = 0; c < 3; ++c) f[c] = s->r[c][s->n1 + i] + beta[c][i] + q->prone_force[3 * (int64_t)i + c];
        const double size = flx__norm3(f);
        if (!(size <= s->stats.residual)) s->stats.residual = size;
    }
}

/// Deepest contact after increments `delta` of the vertices from first_vertex on, to first order.
static void deepest_contact(flx_solver* s, double* const delta[3], int32_t first_vertex)
{
    const flx_contact_work* w = &s->contact;
    s->stats.penetration      = 0;
    for (int32_t i = 0; i < w->proxy_count; ++i)
        s->stats.penetration = fmax(s->stats.penetration, -flx__contact_gap_at(&w->contact[i], delta, first_vertex));
    s->stats.candidates = w->proxy_count;
}

static void inner_iterations(flx_solver* s, flx_state* q, double time, double* clock)
{
    for (int c = 0; c < 3; ++c)
    {
        memset(s->running[c], 0, sizeof(double) * (size_t)s->n2);
        memset(s->d[c], 0, sizeof(double) * (size_t)s->n2);
    }
    for (int32_t k = 0; k < s->settings.inner; ++k)
    {
        if (k > 0) place_prone(s);
        flx__beta_forces(s, k > 0, s->reduced);
        if (k == 0) prone_residual(s, q, s->reduced);
        s->stats.ms_inner += ms_since(clock);
        flx__find_contacts(s, q, time);
        s->stats.ms_detect += ms_since(clock);

        for (int c = 0; c < 3; ++c)
            for (int32_t i = 0; i < s->n2; ++i) s->reduced[c][i] += s->base[c][i] - s->running[c][i];
        flx__solve_contacts(s, q);
        for (int c = 0; c < 3; ++c)
            for (int32_t i = 0; i < s->n2; ++i)
            {
                s->running[c][i] += s->reduced[c][i] + s->push[c][i];
                s->d[c][i] += s->delta[c][i];
            }
        ++s->stats.inner;
    }
    deepest_contact(s, s->delta, s->n1);
    s->stats.ms_inner += ms_since(clock);
}

typedef struct move_args
{
    flx_solver* s;
    bool        all_f64; // increments of all vertices lie in b_f64 (strategies full and pcg)
} move_args;

static void move_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const move_args* a     = user;
    flx_solver*      s     = a->s;
    double           worst = 0;
    for (int64_t v = begin; v < end; ++v)
    {
        double step[3];
        for (int c = 0; c < 3; ++c)
        {
            if (v >= s->n1 && !a->all_f64)
                step[c] = s->d[c][v - s->n1];
            else
                step[c] = s->single && !a->all_f64 ? (double)s->b_f32[c][v] : s->b_f64[c][v];
            s->x[3 * v + c] = s->x_outer[3 * v + c] + step[c]; // x2 may stand at an inner position
        }
        const double size = flx__norm3(step);
        if (!(size <= worst)) worst = size;
    }
    s->partial[4 * (begin / FLX_CHUNK)] = worst;
}

/// x += increments; the largest motion of a vertex.
static void move_all(flx_solver* s, bool all_f64)
{
    move_args a = {s, all_f64};
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, move_range, &a);
    double worst = 0;
    for (int64_t k = 0; k < (s->n + FLX_CHUNK - 1) / FLX_CHUNK; ++k)
        if (!(s->partial[4 * k] <= worst)) worst = s->partial[4 * k];
    s->stats.motion = worst;
}

static void nested_iteration(flx_solver* s, flx_state* q, double time, double* clock)
{
    flx__forward(s);
    s->stats.ms_forward += ms_since(clock);
    if (s->n2 > 0) inner_iterations(s, q, time, clock);
    flx__backward(s);
    move_all(s, false);
    s->stats.ms_backward += ms_since(clock);
}

static flx_status whole_iteration(flx_solver* s, flx_state* q, double time, double* clock)
{
    flx_status status = FLX_OK;
    if (s->n2 > 0)
    {
        flx__beta_forces(s, false, s->reduced);
        prone_residual(s, q, s->reduced);
        for (int c = 0; c < 3; ++c)
            for (int32_t i = 0; i < s->n2; ++i) s->r[c][s->n1 + i] += s->reduced[c][i];
    }
    s->stats.ms_local += ms_since(clock);
    flx__find_contacts(s, q, time);
    s->stats.ms_detect += ms_since(clock);
    FLX_TRY(flx__global_solve(s, q));
    deepest_contact(s, s->b_f64, 0);
    move_all(s, true);
    s->stats.ms_forward += ms_since(clock);
done:
    return status;
}

static bool pushes(double push)
{
    return push > 0;
}

static flx_status commit(flx_solver* s, flx_state* q, double time)
{
    const flx_model* m = s->model;
    if (!isfinite(s->stats.motion) || !isfinite(s->stats.residual))
    {
        int32_t v = 0;
        while (v < s->n - 1 && isfinite(s->x[3 * (int64_t)v] + s->x[3 * (int64_t)v + 1] + s->x[3 * (int64_t)v + 2]))
            ++v;
        return flx__fail(s->ctx, FLX_ERR_NONFINITE,
                         "step %lld (time %g s): vertex %d is no longer finite; the state before the step is kept",
                         (long long)*q->step + 1, time, m->user_of[v] + 1);
    }
    if (s->settings.mode == FLX_MODE_DYNAMIC)
    {
        const double keep = exp(-s->settings.damping * s->dt);
        for (int64_t i = 0; i < 3 * (int64_t)s->n; ++i) q->v[i] = keep * (s->x[i] - s->x_start[i]) / s->dt;
    }
    else // how fast the quasi-static motion goes; it has no effect
        for (int64_t i = 0; i < 3 * (int64_t)s->n; ++i) q->v[i] = (s->x[i] - s->x_start[i]) / s->dt;
    memcpy(q->x, s->x, 3 * sizeof(double) * (size_t)s->n);
    flx__settle_sides(s, q);
    *q->step += 1;
    *q->time = time;

    for (int c = 0; c < 3; ++c) s->stats.contact_force[c] = 0;
    for (int32_t g = 0; g < m->group_count; ++g)
        for (int32_t i = 0; m->group[g].obstacle >= 0 && i < m->group[g].proxy_count; ++i)
            for (int c = 0; c < 3; ++c)
                s->stats.contact_force[c] += q->force[3 * (int64_t)(m->group[g].proxy_first + i) + c];
    for (int32_t g = 0; g < m->group_count; ++g) // of the last detection
        if (s->self && s->self[g]) s->stats.lost += flx__self_contact_skipped(s->self[g]);
    for (int32_t i = 0; i < m->proxy_count; ++i)
    {
        s->stats.active += pushes(q->push[i]);
        s->stats.switched += pushes(q->push[i]) != pushes(s->push_before[i]);
    }
    return FLX_OK;
}

static void restore(flx_solver* s, flx_state* q)
{
    const flx_model* m = s->model;
    memcpy(q->push, s->push_before, sizeof(double) * (size_t)m->proxy_count);
    memcpy(q->force, s->force_before, 3 * sizeof(double) * (size_t)m->proxy_count);
    memcpy(q->prone_force, s->prone_before, 3 * sizeof(double) * (size_t)m->prone_count);
}

static void remember(flx_solver* s, const flx_state* q)
{
    const flx_model* m = s->model;
    memcpy(s->push_before, q->push, sizeof(double) * (size_t)m->proxy_count);
    memcpy(s->force_before, q->force, 3 * sizeof(double) * (size_t)m->proxy_count);
    memcpy(s->prone_before, q->prone_force, 3 * sizeof(double) * (size_t)m->prone_count);
}

/// The air's forces hold for the whole step.
static void find_air(flx_solver* s, const flx_state* q)
{
    if (!s->air) return;
    memset(s->air, 0, 3 * sizeof(double) * (size_t)s->n);
    flx__air_forces(s->model, s->dt, q->x, q->v, s->air);
}

flx_status flx_solver_step(flx_solver* s, flx_state* q, flx_step_stats* stats)
{
    FLX_ASSERT(s != NULL && q != NULL && q->model == s->model);
    flx_status   status = FLX_OK;
    const double begin = flx__now(), time = (*q->step + 1) * s->dt;
    double       clock = begin;
    const bool   whole = s->settings.strategy == FLX_STRATEGY_FULL || s->settings.strategy == FLX_STRATEGY_PCG;

    s->stats = (flx_step_stats){0};
    remember(s, q);
    if (s->timed_springs && flx__spring_set(s->model, time) != s->spring_set) FLX_TRY(flx__solver_factorize(s, time));
    start(s, q, time);
    find_air(s, q);
    flx__forget_pushes(s);
    flx__begin_sides(s);
    flx__follow_bones(s, time);
    flx__accelerate_begin(s);

    for (int32_t k = 0; k < s->settings.outer; ++k)
    {
        memcpy(s->x_outer, s->x, 3 * sizeof(double) * (size_t)s->n);
        flx__residual(s, time);
        if (flx__accelerate_rejects(s)) flx__residual(s, time);
        s->stats.ms_local += ms_since(&clock);
        if (whole)
            FLX_TRY(whole_iteration(s, q, time, &clock));
        else
            nested_iteration(s, q, time, &clock);
        ++s->stats.outer;
        if (!isfinite(s->stats.motion) || s->stats.motion <= s->settings.tolerance) break;
        if (k + 1 < s->settings.outer) flx__accelerate(s);
    }
    FLX_TRY(commit(s, q, time));

done:
    if (status != FLX_OK) restore(s, q); // the caller keeps the state it had
    s->stats.ms_total = 1e3 * (flx__now() - begin);
    if (stats) *stats = s->stats;
    return status;
}

double flx_solver_energy(flx_solver* s, const flx_state* q)
{
    return flx__reference_energy(s, q->x, *q->time, NULL);
}
