// Contact detection of one inner iteration: every `contact:` entry of the scene, in order; then elements that are
// squeezed.
//
// Contact on the skin cannot see a fold so sharp that it lies inside one layer of elements: the element across it is
// squeezed flat and then inside out, at a finite energy. So an element of the region with a stretch sigma = u . F v
// below min_stretch becomes a contact of its own:
//   l (u . F v - min_stretch) >= 0,   u . F v = sum_i (g_i . v) (u . x_i),   l = cell
// a row with weights l g_i . v (they sum to 0), normal u and no target. It meets the other contacts in the same system.
// A row holds for one solve, with u and v frozen. In a fold that starts tangled, elements far below the limit would
// turn their neighbours over if they had to come all the way at once: they ask for OPENING of their thickness. A
// direction that is inside out asks for nothing and is left to the elastic force: its u and v do not show the way back.
//
// Differs: not in [LLKS].
#include "solver/solver_internal.h"

#include "math/mat3.h"
#include "math/rotation.h"

#include <math.h>
#include <string.h>

#define WATCHED 1.5  // stretches up to this times the limit are candidates
#define FAR 0.5      // below this times the limit an element opens by steps
#define OPENING 0.02 // stretch that it gains in a solve

/// Most elements pass here: sigma_3 = det / (sigma_1 sigma_2) >= 2 det / |F|^2.
static bool stretched_beyond(const double F[9], double limit)
{
    double squared = 0;
    for (int i = 0; i < 9; ++i) squared += F[i] * F[i];
    return 2 * flx__det3(F) > limit * squared;
}

static void squeeze_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    flx_solver*      s     = user;
    const flx_model* m     = s->model;
    const double     watch = WATCHED * s->settings.min_stretch;
    for (int64_t k = begin; k < end; ++k)
    {
        flx_squeeze* z = &s->squeeze[k];
        double       F[9];
        flx__deformation_gradient(m, s->x, m->beta_tet[k], F);
        z->watched = !stretched_beyond(F, watch) && !(flx__least_stretch(F) > watch);
        if (z->watched) flx__stretches(F, z->sigma, z->U, z->V);
    }
}

/// Stretch that an element is asked to have after the next solve.
static double wanted_stretch(double sigma, double limit)
{
    return sigma < FAR * limit ? fmin(sigma + OPENING, limit) : limit;
}

/// One row for each thin direction: an element squeezed from two sides must not swap one for the other.
static void squeeze_rows(const flx_solver* s, int32_t e, const flx_squeeze* z, flx_contact_work* w)
{
    const flx_model* m     = s->model;
    const double*    inv   = m->rest_inv + 9 * (int64_t)e;
    const double     limit = s->settings.min_stretch;
    for (int k = 0; k < 3; ++k)
    {
        const double sigma = z->sigma[k];
        if (!(sigma >= 0 && sigma < WATCHED * limit) || w->count == w->capacity) continue;
        w->slot[w->count] = (int32_t)(3 * (z - s->squeeze)) + k;
        flx_contact* c    = &w->contact[w->count++];
        memset(c, 0, sizeof *c);
        c->proxy = c->obstacle = -1;
        c->partner             = e;
        c->gap                 = m->cell * (sigma - wanted_stretch(sigma, limit));
        memcpy(c->normal, z->U[k], sizeof c->normal);
        for (int i = 0; i < FLX_CONTACT_CORNERS; ++i) c->vertex[i] = i < 4 ? m->tet[4 * (int64_t)e + i] : -1;
        for (int i = 1; i < 4; ++i)
        {
            c->weight[i] = m->cell * flx__dot3(inv + 3 * (i - 1), z->V[k]); // g_i is row i - 1 of Dm^-1
            c->weight[0] -= c->weight[i];
        }
    }
}

static void find_squeezed(flx_solver* s)
{
    const flx_model* m = s->model;
    flx__parallel_for(s->ctx, m->beta.tet_count, 256, squeeze_range, s);
    for (int32_t k = 0; k < m->beta.tet_count; ++k)
        if (s->squeeze[k].watched) squeeze_rows(s, m->beta_tet[k], &s->squeeze[k], &s->contact);
}

void flx__begin_sides(flx_solver* s)
{
    for (int32_t i = 0; i < s->model->group_count; ++i)
        if (s->cloth[i]) flx__cloth_contact_begin(s->cloth[i], s->x_start);
}

void flx__settle_sides(flx_solver* s, flx_state* q)
{
    for (int32_t i = 0; i < s->model->group_count; ++i)
        if (s->cloth[i]) flx__cloth_contact_settle(s->cloth[i], s->x, q->sides + s->model->group[i].memory_first);
}

void flx__find_contacts(flx_solver* s, const flx_state* q, double time)
{
    const flx_model*  m = s->model;
    flx_contact_work* w = &s->contact;
    w->count            = 0;
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g     = &m->group[i];
        flx_contact*             out   = w->contact + w->count;
        int32_t                  found = 0;
        if (g->proxy_count == 0) continue;
        if (g->obstacle >= 0)
        {
            flx_obstacle_pose pose;
            flx_scene_obstacle_pose(m->scene, g->obstacle, time, pose.R, pose.t);
            found = flx__obstacle_contacts(s->ctx, m->solid[g->obstacle], &pose, g->obstacle, g->proxy_count,
                                           m->proxy + g->proxy_first, s->x, g->margin, g->offset, w->scratch, out);
        }
        else if (s->cloth[i])
            found = flx__cloth_contact_find(s->cloth[i], s->x, q->sides + g->memory_first, out);
        else
            found = flx__self_contact_find(s->self[i], s->x, out);
        for (int32_t k = 0; k < found; ++k)
        {
            out[k].proxy += g->proxy_first;
            w->slot[w->count + k] = -1;
        }
        w->count += found;
    }
    w->proxy_count = w->count;
    if (s->limits_squeeze) find_squeezed(s);
}
