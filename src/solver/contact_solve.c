// The contact solve of one inner iteration.
//
//   minimise 1/2 d Sigma d - r d  subject to the contacts,   d = Sigma^-1 (r + W^T f)
//
// compliance, unilateral law: with U = W Sigma^-1, free increment d0 = Sigma^-1 r and gaps g,
//   B_ij = (n_i . n_j) (U W^T)_ij + delta_ij / c_i,   q_i = g_i + n_i . W d0,   0 <= lambda  _|_  B lambda + q >= 0,
//   f_i = lambda_i n_i. Exact; lambda is the contact force; c -> infinity is a hard contact.
//   Only rows that push or would penetrate are built: the others are checked afterwards and join when they must.
// compliance, spring law [LLKS] eq. 8-10: (1/c + U W^T) f = (t - p) - W d0 for the proxies that penetrate, each axis
// alone. refactor, spring law: Cholesky of Sigma + W^T C W, as the paper does.
//
// Differs from [LLKS]: no refactorization; contacts that only push.
#include "solver/solver_internal.h"

#include <math.h>
#include <string.h>

#define MOST_ROUNDS 12 // times that rows may join the working set
#define AT_LIMIT 1e-3  // of a cell: an element this near its least stretch is expected to push

static bool is_spring(const flx_solver* s)
{
    return s->model->scene->contact[0].law == FLX_LAW_SPRING;
}

static const flx_contact_group* group_of(const flx_solver* s, int32_t proxy)
{
    const flx_model* m = s->model;
    int32_t          g = 0;
    while (proxy >= m->group[g].proxy_first + m->group[g].proxy_count) ++g;
    return &m->group[g];
}

double flx__contact_stiffness(const flx_solver* s, const flx_contact* c)
{
    const flx_model* m = s->model;
    if (c->proxy >= 0) return group_of(s, c->proxy)->stiffness;
    int32_t g = 0; // a squeezed element: as stiff as its body's contacts
    while (g + 1 < m->group_count && m->group[g].body != m->tet_body[c->partner]) ++g;
    return m->group[g].stiffness;
}

/// W delta of one contact, over vertices from first_vertex on.
static void moved_by(const flx_contact* c, double* const delta[3], int32_t first_vertex, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
    {
        const int32_t v = c->vertex[a] - first_vertex;
        if (c->vertex[a] < 0 || v < 0) continue;
        for (int k = 0; k < 3; ++k) out[k] += c->weight[a] * delta[k][v];
    }
}

double flx__contact_gap_at(const flx_contact* c, double* const delta[3], int32_t first_vertex)
{
    double w[3];
    moved_by(c, delta, first_vertex, w);
    return c->gap + c->normal[0] * w[0] + c->normal[1] * w[1] + c->normal[2] * w[2];
}

void flx__free_increment(flx_solver* s)
{
    if (s->everywhere)
    {
        flx__everywhere_increment(s, s->reduced);
        return;
    }
    if (!s->single)
    {
        flx__dense_multiply3_f64(s->ctx, s->n2, s->schur_inverse, s->n2, s->reduced, s->delta);
        return;
    }
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n2; ++i) s->narrow_in[c][i] = (float)s->reduced[c][i];
    flx__dense_multiply3_f32(s->ctx, s->n2, s->schur_inverse, s->n2, s->narrow_in, s->narrow_out);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n2; ++i) s->delta[c][i] = (double)s->narrow_out[c][i];
}

/// Forces of the working set to proxies, prone vertices and push = W^T f.
static void write_forces(flx_solver* s, flx_state* q, const double* f[3], bool unilateral)
{
    flx_contact_work* w = &s->contact;
    const flx_model*  m = s->model;
    memset(q->force, 0, 3 * sizeof(double) * (size_t)m->proxy_count);
    memset(q->push, 0, sizeof(double) * (size_t)m->proxy_count);
    for (int c = 0; c < 3; ++c) memset(s->push[c], 0, sizeof(double) * (size_t)s->n2);
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c      = &w->contact[w->pushing[i]];
        const double       f_i[3] = {f[0][i], f[1][i], f[2][i]};
        if (c->proxy >= 0)
        {
            q->push[c->proxy] = unilateral ? f_i[0] * c->normal[0] + f_i[1] * c->normal[1] + f_i[2] * c->normal[2] : 1;
            memcpy(q->force + 3 * (int64_t)c->proxy, f_i, sizeof f_i);
        }
        for (int k = 0; k < 3; ++k)
        {
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= s->n1) s->push[k][c->vertex[a] - s->n1] += c->weight[a] * f_i[k];
        }
    }
    for (int32_t i = 0; i < s->n2; ++i)
        for (int k = 0; k < 3; ++k) q->prone_force[3 * (int64_t)i + k] = s->push[k][i];
}

void flx__forget_pushes(flx_solver* s)
{
    s->contact.warm = false;
    for (int64_t i = 0; s->limits_squeeze && i < 3 * (int64_t)s->model->beta.tet_count; ++i)
        s->contact.squeeze_push[i] = -1;
}

/// Does row i belong to the first working set, and what will it push? Rows that the step has solved for already: if
/// they pushed. Others: what their proxy pushed in the last step, if they would penetrate, and elements at their limit,
/// since a row that pushed brought them there.
static bool joins_at_once(const flx_solver* s, const flx_state* q, int32_t i, double* push)
{
    const flx_contact_work* w      = &s->contact;
    const flx_contact*      c      = &w->contact[i];
    const double            before = c->proxy >= 0 ? q->push[c->proxy] : w->squeeze_push[w->slot[i]];
    const bool              known  = c->proxy >= 0 ? w->warm : before >= 0;
    const bool              near   = w->free_gap[i] < 0 || (c->proxy < 0 && c->gap < AT_LIMIT * s->model->cell);
    *push                          = c->proxy < 0 && !known ? near : before;
    return *push > 0 || (!known && near);
}

/// What squeezed elements pushed, for the next solve of this step.
static void remember_squeeze(flx_contact_work* w)
{
    for (int32_t i = w->proxy_count; i < w->count; ++i) w->squeeze_push[w->slot[i]] = 0;
    for (int32_t i = 0; i < w->pushing_count; ++i)
        if (w->slot[w->pushing[i]] >= 0) w->squeeze_push[w->slot[w->pushing[i]]] = w->guess[i];
    w->warm = true;
}

static void solve_unilateral(flx_solver* s, flx_state* q)
{
    flx_contact_work* w    = &s->contact;
    double*           f[3] = {w->lambda, w->lambda + w->most, w->lambda + 2 * (int64_t)w->most};

    flx__free_increment(s);
    for (int32_t i = 0; i < w->count; ++i)
    {
        w->free_gap[i] = flx__contact_gap_at(&w->contact[i], s->delta, s->n1);
        w->place[i]    = -1;
    }
    w->pushing_count = 0;
    for (int32_t i = 0; i < w->count; ++i)
    {
        double push;
        if (joins_at_once(s, q, i, &push))
        {
            if (w->pushing_count == w->most)
            {
                ++s->stats.lost;
                continue;
            }
            w->guess[w->pushing_count]     = push;
            w->place[i]                    = w->pushing_count;
            w->pushing[w->pushing_count++] = i;
        }
    }
    const bool none = w->pushing_count == 0;
    for (int32_t i = 0; i < w->count && w->pushing_count < w->most && none; ++i) // nobody pushed in this step so far
    {
        if (!(w->free_gap[i] < 0)) continue;
        w->guess[w->pushing_count]     = 0;
        w->place[i]                    = w->pushing_count;
        w->pushing[w->pushing_count++] = i;
    }
    int32_t joined = 0;
    for (int round = 0; w->pushing_count > joined && round < MOST_ROUNDS; ++round)
    {
        if (round > 0) // take the last answer back before the next
        {
            for (int32_t i = 0; i < joined; ++i)
                for (int k = 0; k < 3; ++k) f[k][i] = -f[k][i];
            flx__rows_move(s, joined, f);
        }
        flx__rows_join(s, joined, true);
        for (int32_t i = joined; i < w->pushing_count; ++i) w->q[i] = w->free_gap[w->pushing[i]];
        joined = w->pushing_count;
        s->stats.unsolved += flx__lcp_solve(s->ctx, &w->lcp, joined, w->gram, w->gram_ld, w->q,
                                            s->settings.contact_sweeps, w->guess) < 0;
        for (int32_t i = 0; i < joined; ++i)
            for (int k = 0; k < 3; ++k) f[k][i] = w->guess[i] * w->contact[w->pushing[i]].normal[k];
        flx__rows_move(s, w->pushing_count, f);
        for (int32_t i = 0; i < w->count; ++i) // who would penetrate now?
        {
            if (w->place[i] >= 0 || !(flx__contact_gap_at(&w->contact[i], s->delta, s->n1) < 0)) continue;
            if (w->pushing_count == w->most)
            {
                ++s->stats.lost;
                continue;
            }
            w->guess[w->pushing_count]     = 0;
            w->place[i]                    = w->pushing_count;
            w->pushing[w->pushing_count++] = i;
        }
    }
    s->stats.unsolved += w->pushing_count > joined; // rows still wanted to join
    w->pushing_count = joined;
    remember_squeeze(w);
    write_forces(s, q, (const double**)f, true);
}

/// Proxies that penetrate, as the working set of the spring law.
static void gather_penetrating(flx_solver* s)
{
    flx_contact_work* w = &s->contact;
    w->pushing_count    = 0;
    for (int32_t i = 0; i < w->count; ++i)
    {
        if (!(w->contact[i].gap < 0)) continue;
        if (w->pushing_count == w->most)
            ++s->stats.lost;
        else
            w->pushing[w->pushing_count++] = i;
    }
}

/// t - p of a contact at the positions it was found at: along the normal, by the gap.
static double pull(const flx_solver* s, const flx_contact* c, int axis)
{
    double p = 0;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
        if (c->vertex[a] >= 0) p += c->weight[a] * s->x[3 * (int64_t)c->vertex[a] + axis];
    return c->target[axis] - p;
}

static void solve_spring(flx_solver* s, flx_state* q)
{
    flx_contact_work* w    = &s->contact;
    double*           f[3] = {w->lambda, w->lambda + w->most, w->lambda + 2 * (int64_t)w->most};
    flx__free_increment(s);
    gather_penetrating(s);
    flx__rows_join(s, 0, false);
    const int32_t k = w->pushing_count;
    if (k > 0)
    {
        for (int32_t i = 0; i < k; ++i)
        {
            const flx_contact* c = &w->contact[w->pushing[i]];
            double             moved[3];
            moved_by(c, s->delta, s->n1, moved);
            for (int axis = 0; axis < 3; ++axis) f[axis][i] = pull(s, c, axis) - moved[axis];
        }
        for (int32_t j = 0; j < k; ++j)
            for (int32_t i = j; i < k; ++i) w->lcp.factor[(int64_t)j * k + i] = w->gram[j * w->gram_ld + i];
        int32_t bad;
        if (flx__dense_cholesky_f64(s->ctx, k, w->lcp.factor, k, &bad) == FLX_OK)
            flx__dense_solve_f64(s->ctx, k, w->lcp.factor, k, w->lambda, w->most, 3);
        else
        {
            for (int axis = 0; axis < 3; ++axis) memset(f[axis], 0, sizeof(double) * (size_t)k);
            ++s->stats.unsolved;
        }
        flx__rows_move(s, w->pushing_count, f);
    }
    write_forces(s, q, (const double**)f, false);
}

void flx__dense_increment(flx_solver* s, double* const rhs[3])
{
    for (int c = 0; c < 3; ++c)
    {
        if (!s->single)
        {
            memcpy(s->delta[c], rhs[c], sizeof(double) * (size_t)s->n2);
            flx__dense_solve_f64(s->ctx, s->n2, s->dense, s->n2, s->delta[c], s->n2, 1);
            continue;
        }
        for (int32_t i = 0; i < s->n2; ++i) s->narrow_in[c][i] = (float)rhs[c][i];
        flx__dense_solve_f32(s->ctx, s->n2, s->dense, s->n2, s->narrow_in[c], s->n2, 1);
        for (int32_t i = 0; i < s->n2; ++i) s->delta[c][i] = (double)s->narrow_in[c][i];
    }
}

/// [LLKS] section 4: add W^T C W to Sigma, factorize, solve.
static void solve_refactor(flx_solver* s, flx_state* q)
{
    flx_contact_work* w    = &s->contact;
    const int64_t     n2   = s->n2;
    double*           f[3] = {w->lambda, w->lambda + w->most, w->lambda + 2 * (int64_t)w->most};
    gather_penetrating(s);

    for (int c = 0; c < 3; ++c)
        memcpy(s->push[c], s->reduced[c], sizeof(double) * (size_t)n2); // the right-hand side, for now
    memcpy(s->dense, s->schur, (s->single ? sizeof(float) : sizeof(double)) * (size_t)(n2 * n2));
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        const double       k = flx__contact_stiffness(s, c);
        for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
        {
            const int64_t va = c->vertex[a] - s->n1;
            if (c->vertex[a] < s->n1) continue;
            for (int axis = 0; axis < 3; ++axis) s->push[axis][va] += k * c->weight[a] * pull(s, c, axis);
            for (int b = 0; b < FLX_CONTACT_CORNERS; ++b)
            {
                const int64_t vb = c->vertex[b] - s->n1;
                if (c->vertex[b] < s->n1) continue;
                const double add = k * c->weight[a] * c->weight[b];
                if (s->single)
                    ((float*)s->dense)[va * n2 + vb] += (float)add;
                else
                    ((double*)s->dense)[va * n2 + vb] += add;
            }
        }
    }
    int32_t          bad;
    const flx_status factored = s->single ? flx__dense_cholesky_f32(s->ctx, s->n2, s->dense, n2, &bad)
                                          : flx__dense_cholesky_f64(s->ctx, s->n2, s->dense, n2, &bad);
    if (factored == FLX_OK)
        flx__dense_increment(s, s->push);
    else
    {
        for (int c = 0; c < 3; ++c) memset(s->delta[c], 0, sizeof(double) * (size_t)n2);
        ++s->stats.unsolved;
    }

    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        double             moved[3];
        moved_by(c, s->delta, s->n1, moved);
        for (int axis = 0; axis < 3; ++axis)
            f[axis][i] = flx__contact_stiffness(s, c) * (pull(s, c, axis) - moved[axis]);
    }
    write_forces(s, q, (const double**)f, false);
}

void flx__solve_contacts(flx_solver* s, flx_state* q)
{
    if (s->everywhere)
        flx__solve_everywhere(s, q);
    else if (s->settings.strategy == FLX_STRATEGY_REFACTOR)
        solve_refactor(s, q);
    else if (s->has_contact && is_spring(s))
        solve_spring(s, q);
    else
        solve_unilateral(s, q);
}
