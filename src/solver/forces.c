// The local step and the residual: rotations and forces of all elements, springs, loads, inertia, gathered at the
// vertices.
//
//   r = -dE/dx,   E = sum_e mu_e Vol_e |F_e - R_e|^2 + sum_j w_j/2 |S_j x - p_j|^2 + sum_s c_s/2 |p_s - t_s|^2
//                     - loads . x + inertia/2 |x - x~|_M^2
//
// Each vertex adds its contributions in the order fixed at compile time.
// Based on [Bouaziz14] and [LLKS] eq. 1-6. Differs: forces by the stress of H = F - I, not by projections.
#include "solver/solver_internal.h"

#include "math/mat3.h"
#include "math/rotation.h"
#include "mesh/shape.h"

#include <math.h>
#include <string.h>

typedef struct patch_args
{
    const flx_solver*  s;
    flx_corotated_pass pass;
} patch_args;

static void patch_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const patch_args* a = user;
    a->s->corotated(&a->pass, begin, end, worker);
}

static void run_patches(flx_solver* s, const flx_patches* p, flx_element_work* w, const double* u_rotation)
{
    patch_args a = {s,
                    {.patches    = p,
                     .u          = s->u,
                     .u_rotation = u_rotation,
                     .force      = w->force,
                     .energy     = w->energy,
                     .inverted   = w->inverted,
                     .scratch    = s->scratch}};
    flx__parallel_for(s->ctx, p->patch_count, 4, patch_range, &a);
}

static inline void add_slot(const flx_solver* s, const void* force, int32_t slot, double f[3])
{
    if (s->single)
        for (int c = 0; c < 3; ++c) f[c] += (double)((const float*)force)[4 * (int64_t)slot + c];
    else
        for (int c = 0; c < 3; ++c) f[c] += ((const double*)force)[4 * (int64_t)slot + c];
}

#define SLOTS_AHEAD 12 // vertices; the sums of patches lie in the patches' order, far apart for the solver's

/// Ask for the sums that vertex v will add up.
static inline void prefetch_slots(const flx_solver* s, const void* force, const int32_t* first, const int32_t* slot,
                                  int64_t v)
{
    const size_t size = 4 * (s->single ? sizeof(float) : sizeof(double));
    for (int32_t k = first[v]; k < first[v + 1]; ++k) __builtin_prefetch((const char*)force + size * (size_t)slot[k]);
}

typedef struct gather_args
{
    flx_solver*    s;
    double         time;
    double* const* out;
} gather_args;

static void displacement_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const gather_args* a = user;
    for (int64_t i = 3 * begin; i < 3 * end; ++i) a->s->u[i] = a->s->x[i] - a->s->model->x_rest[i];
}

static void spring_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const gather_args* a      = user;
    flx_solver*        s      = a->s;
    double             energy = 0;
    for (int64_t i = begin; i < end; ++i)
    {
        const flx_spring* p = &s->model->spring[i];
        double*           f = s->spring_force + 3 * i;
        f[0] = f[1] = f[2] = 0;
        if (!flx__spring_active(p, a->time)) continue;
        double target[3];
        memcpy(target, p->rest, sizeof target);
        if (p->bone >= 0) flx__pose_apply(s->bone[p->bone].R, s->bone[p->bone].t, p->rest, target);
        for (int c = 0; c < 3; ++c)
        {
            // in displacements: a spring at rest pulls with exactly nothing
            double move = target[c] - p->rest[c] + p->offset[c];
            for (int k = 0; k < 4; ++k)
                if (p->weight[k] != 0) move -= p->weight[k] * s->u[3 * (int64_t)p->vertex[k] + c];
            f[c] = p->stiffness * move;
            energy += 0.5 * p->stiffness * move * move;
        }
    }
    s->partial[4 * (begin / FLX_CHUNK)] = energy;
}

static void gather_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const gather_args* a       = user;
    flx_solver*        s       = a->s;
    const flx_model*   m       = s->model;
    const bool         dynamic = s->settings.mode == FLX_MODE_DYNAMIC;
    double             energy = 0, worst = 0;
    for (int64_t v = begin; v < end; ++v)
    {
        if (v + SLOTS_AHEAD < end) prefetch_slots(s, s->alpha.force, m->alpha_first, m->alpha_slot, v + SLOTS_AHEAD);
        double f[3] = {s->r[0][v], s->r[1][v], s->r[2][v]}; // loads
        for (int32_t k = m->alpha_first[v]; k < m->alpha_first[v + 1]; ++k)
            add_slot(s, s->alpha.force, m->alpha_slot[k], f);
        for (int32_t k = m->spring_first[v]; k < m->spring_first[v + 1]; ++k)
        {
            const int32_t entry = m->spring_entry[k];
            const double  w     = m->spring[entry / 4].weight[entry % 4];
            for (int c = 0; c < 3; ++c) f[c] += w * s->spring_force[3 * (int64_t)(entry / 4) + c];
        }
        if (m->batch_count > 0) flx__pull_at(s, v, f);
        for (int c = 0; c < 3; ++c)
        {
            f[c] += m->mass[v] * m->scene->gravity[c];
            energy -= m->mass[v] * m->scene->gravity[c] * s->u[3 * v + c];
            if (s->air)
            {
                f[c] += s->air[3 * v + c];
                energy -= s->air[3 * v + c] * s->u[3 * v + c];
            }
            if (dynamic)
            {
                const double off = s->x[3 * v + c] - s->x_inertial[3 * v + c];
                f[c] -= s->inertia * m->mass[v] * off;
                energy += 0.5 * s->inertia * m->mass[v] * off * off;
            }
            s->r[c][v] = f[c];
        }
        const double size = flx__dot3(f, f);
        if (v < s->n1 && !(size <= worst)) worst = size; // NaN sticks
    }
    s->partial[4 * (begin / FLX_CHUNK) + 1] = energy;
    s->partial[4 * (begin / FLX_CHUNK) + 2] = worst;
}

/// r := loads; returns their potential.
static double add_loads(flx_solver* s, double time)
{
    const flx_model* m      = s->model;
    double           energy = 0;
    for (int c = 0; c < 3; ++c) memset(s->r[c], 0, sizeof(double) * (size_t)s->n);
    for (int32_t i = 0; i < m->load_count; ++i)
    {
        const flx_load* l = &m->load[i];
        if (time < l->from || (l->until >= 0 && time >= l->until)) continue;
        for (int32_t k = 0; k < l->count; ++k)
            for (int c = 0; c < 3; ++c)
            {
                s->r[c][l->vertex[k]] += l->share[c];
                energy -= l->share[c] * s->u[3 * (int64_t)l->vertex[k] + c];
            }
    }
    return energy;
}

static int64_t chunks_of(int64_t count)
{
    return (count + FLX_CHUNK - 1) / FLX_CHUNK;
}

void flx__residual(flx_solver* s, double time)
{
    const flx_model* m = s->model;
    gather_args      a = {s, time, NULL};
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, displacement_range, &a);
    run_patches(s, &m->alpha, &s->alpha, NULL);

    double energy = 0;
    flx__parallel_for(s->ctx, m->spring_count, FLX_CHUNK, spring_range, &a);
    for (int64_t k = 0; k < chunks_of(m->spring_count); ++k) energy += s->partial[4 * k];
    energy += add_loads(s, time);
    energy += flx__pull(s, s->x);
    flx__parallel_for(s->ctx, s->n, FLX_CHUNK, gather_range, &a);
    double worst = 0;
    for (int64_t k = 0; k < chunks_of(s->n); ++k)
    {
        energy += s->partial[4 * k + 1];
        if (!(s->partial[4 * k + 2] <= worst)) worst = s->partial[4 * k + 2];
    }
    int32_t inverted = 0;
    for (int32_t k = 0; k < m->alpha.patch_count; ++k) energy += s->alpha.energy[k], inverted += s->alpha.inverted[k];
    s->stats.energy   = energy; // the beta elements' is added by the first inner iteration
    s->stats.inverted = inverted;
    s->stats.residual = sqrt(worst);
}

static void gather_beta(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const gather_args* a = user;
    const flx_model*   m = a->s->model;
    for (int64_t i = begin; i < end; ++i)
    {
        double f[3] = {0};
        for (int32_t k = m->beta_first[i]; k < m->beta_first[i + 1]; ++k)
            add_slot(a->s, a->s->beta.force, m->beta_slot[k], f);
        for (int c = 0; c < 3; ++c) a->out[c][i] = f[c];
    }
}

void flx__beta_forces(flx_solver* s, bool turned, double* const out[3])
{
    const flx_model* m = s->model;
    run_patches(s, &m->beta, &s->beta, turned ? s->u_turned : NULL);
    gather_args a = {s, 0, out};
    flx__parallel_for(s->ctx, s->n2, 512, gather_beta, &a);
    if (turned) return;
    for (int32_t k = 0; k < m->beta.patch_count; ++k)
    {
        s->stats.energy += s->beta.energy[k];
        s->stats.inverted += s->beta.inverted[k];
    }
}

typedef struct energy_args
{
    flx_solver*   s;
    const double* x;
} energy_args;

static void energy_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const energy_args* a      = user;
    const flx_model*   m      = a->s->model;
    double             energy = 0, inverted = 0;
    for (int64_t e = begin; e < end; ++e)
    {
        double F[9], R[9], sum = 0;
        flx__deformation_gradient(m, a->x, (int32_t)e, F);
        flx__nearest_rotation(F, R);
        for (int c = 0; c < 9; ++c) sum += (F[c] - R[c]) * (F[c] - R[c]);
        energy += 0.5 * m->stiffness[e] * sum;
        inverted += flx__det3(F) <= 0;
    }
    a->s->partial[4 * (begin / FLX_CHUNK)]     = energy;
    a->s->partial[4 * (begin / FLX_CHUNK) + 1] = inverted;
}

double flx__reference_energy(flx_solver* s, const double* x, double time, int32_t* inverted)
{
    const flx_model* m = s->model;
    energy_args      a = {s, x};
    flx__parallel_for(s->ctx, m->tet_count, FLX_CHUNK, energy_range, &a);
    double energy = flx__pull(s, x), turned = 0;
    for (int64_t k = 0; k < chunks_of(m->tet_count); ++k) energy += s->partial[4 * k], turned += s->partial[4 * k + 1];
    for (int32_t i = 0; i < m->spring_count; ++i)
    {
        const flx_spring* p = &m->spring[i];
        if (!flx__spring_active(p, time)) continue;
        double target[3], R[9], t[3];
        memcpy(target, p->rest, sizeof target);
        if (p->bone >= 0)
        {
            flx_scene_bone_pose(m->scene, p->bone, time, R, t);
            flx__pose_apply(R, t, p->rest, target);
        }
        for (int c = 0; c < 3; ++c)
        {
            double off = -target[c];
            for (int k = 0; k < 4; ++k) off += p->weight[k] * x[3 * (int64_t)p->vertex[k] + c];
            energy += 0.5 * p->stiffness * off * off;
        }
    }
    if (inverted) *inverted = (int32_t)turned;
    return energy;
}
