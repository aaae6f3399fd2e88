// Strategies that solve the whole system at once: `full` (reference) and `pcg` ([LLKS] section 5, [KB19]).
//
//   (A + W^T C W) dx = r + W^T C (t - p),  once in an outer iteration, contacts as springs
//
// `full` factorizes the sum anew whenever contacts are there, and allocates to do so: it is what the fast paths are
// measured and tested against, not a path to run.
#include "solver/solver_internal.h"

#include <string.h>

/// Right-hand side r + W^T C (t - p) into b_f64; the working set are the penetrating contacts.
static void right_hand_side(flx_solver* s)
{
    flx_contact_work* w = &s->contact;
    w->pushing_count    = 0;
    for (int c = 0; c < 3; ++c) memcpy(s->b_f64[c], s->r[c], sizeof(double) * (size_t)s->n);
    for (int32_t i = 0; i < w->count; ++i)
    {
        const flx_contact* c = &w->contact[i];
        if (!(c->gap < 0) || w->pushing_count == w->most) continue;
        w->pushing[w->pushing_count++] = i;
        const double k                 = flx__contact_stiffness(s, c);
        for (int axis = 0; axis < 3; ++axis)
        {
            double pull = c->target[axis];
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= 0) pull -= c->weight[a] * s->x[3 * (int64_t)c->vertex[a] + axis];
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= 0) s->b_f64[axis][c->vertex[a]] += k * c->weight[a] * pull;
        }
    }
}

static void apply_contacts(void* user, double* const x[3], double* const y[3])
{
    const flx_solver*       s = user;
    const flx_contact_work* w = &s->contact;
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        const double       k = flx__contact_stiffness(s, c);
        for (int axis = 0; axis < 3; ++axis)
        {
            double p = 0;
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= 0) p += c->weight[a] * x[axis][c->vertex[a]];
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= 0) y[axis][c->vertex[a]] += k * c->weight[a] * p;
        }
    }
}

/// A + W^T C W as a new matrix: columns of A with the contacts' entries merged in.
static flx_status sum_matrix(flx_solver* s, flx_csc* out)
{
    flx_status        status = FLX_OK;
    flx_context*      ctx    = s->ctx;
    flx_contact_work* w      = &s->contact;
    const flx_csc*    a      = &s->matrix;
    const int32_t     n      = s->n;
    int64_t*          count  = NULL;
    flx_csc           sum    = {.n = n};
    int64_t           most   = a->first[n] + (int64_t)w->pushing_count * FLX_CONTACT_CORNERS * FLX_CONTACT_CORNERS;

    FLX_NEW(ctx, sum.first, (int64_t)n + 1);
    FLX_NEW(ctx, sum.row, most);
    FLX_NEW(ctx, sum.value, most);
    FLX_NEW_ZERO(ctx, count, (int64_t)n + 1);
    // room for each column: its own entries and at most one for each pair of corners
    for (int32_t j = 0; j < n; ++j) count[j] = a->first[j + 1] - a->first[j];
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        for (int p = 0; p < FLX_CONTACT_CORNERS; ++p)
            for (int q = 0; q < FLX_CONTACT_CORNERS; ++q)
                if (c->vertex[p] >= 0 && c->vertex[q] > c->vertex[p]) ++count[c->vertex[p]];
    }
    int64_t at = 0;
    for (int32_t j = 0; j < n; ++j)
    {
        const int64_t room = count[j];
        sum.first[j]       = at;
        count[j]           = a->first[j + 1] - a->first[j];
        memcpy(sum.row + at, a->row + a->first[j], sizeof(int32_t) * (size_t)count[j]);
        memcpy(sum.value + at, a->value + a->first[j], sizeof(double) * (size_t)count[j]);
        at += room;
    }
    sum.first[n] = at;
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        const double       k = flx__contact_stiffness(s, c);
        for (int p = 0; p < FLX_CONTACT_CORNERS; ++p)
            for (int q = 0; q < FLX_CONTACT_CORNERS; ++q)
            {
                const int32_t col = c->vertex[p], row = c->vertex[q];
                if (col < 0 || row < col) continue;
                int64_t e = sum.first[col];
                while (e < sum.first[col] + count[col] && sum.row[e] < row) ++e;
                if (e == sum.first[col] + count[col] || sum.row[e] != row)
                {
                    const int64_t tail = sum.first[col] + count[col] - e;
                    memmove(sum.row + e + 1, sum.row + e, sizeof(int32_t) * (size_t)tail);
                    memmove(sum.value + e + 1, sum.value + e, sizeof(double) * (size_t)tail);
                    sum.row[e]   = row;
                    sum.value[e] = 0;
                    ++count[col];
                }
                sum.value[e] += k * c->weight[p] * c->weight[q];
            }
    }
    at = 0; // close the gaps
    for (int32_t j = 0; j < n; ++j)
    {
        memmove(sum.row + at, sum.row + sum.first[j], sizeof(int32_t) * (size_t)count[j]);
        memmove(sum.value + at, sum.value + sum.first[j], sizeof(double) * (size_t)count[j]);
        sum.first[j] = at;
        at += count[j];
    }
    sum.first[n] = at;
    *out         = sum;
    sum          = (flx_csc){0};
done:
    flx__csc_release(ctx, &sum);
    flx__free(ctx, count);
    return status;
}

static flx_status solve_full(flx_solver* s)
{
    flx_status  status = FLX_OK;
    flx_csc     sum    = {0};
    flx_factor* factor = s->factor;
    if (s->contact.pushing_count > 0)
    {
        factor = NULL;
        FLX_TRY(sum_matrix(s, &sum));
        FLX_TRY(flx__factor_create(s->ctx, &sum, s->n, &(flx_factor_options){.keep_double = true}, NULL, &factor));
    }
    flx__factor_forward_f64(factor, s->b_f64);
    flx__factor_backward_f64(factor, s->b_f64);
done:
    if (factor != s->factor) flx__factor_destroy(factor);
    flx__csc_release(s->ctx, &sum);
    return status;
}

static void solve_pcg(flx_solver* s)
{
    const flx_contact_work* w = &s->contact;
    memset(s->pcg_diagonal, 0, sizeof(double) * (size_t)s->n);
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
            if (c->vertex[a] >= 0)
                s->pcg_diagonal[c->vertex[a]] += flx__contact_stiffness(s, c) * c->weight[a] * c->weight[a];
    }
    double*       x[3] = {s->pcg_work + 15 * (int64_t)s->n, s->pcg_work + 16 * (int64_t)s->n,
                          s->pcg_work + 17 * (int64_t)s->n};
    const flx_pcg pcg  = {.ctx            = s->ctx,
                          .a              = &s->rows,
                          .extra_diagonal = s->pcg_diagonal,
                          .extra          = apply_contacts,
                          .extra_user     = s,
                          .max_iterations = s->settings.pcg_iterations,
                          .tolerance      = s->settings.pcg_tolerance,
                          .work           = s->pcg_work};
    flx__pcg_solve(&pcg, (const double* const*)s->b_f64, x, false);
    for (int c = 0; c < 3; ++c) memcpy(s->b_f64[c], x[c], sizeof(double) * (size_t)s->n);
}

flx_status flx__global_solve(flx_solver* s, flx_state* q)
{
    flx_status        status = FLX_OK;
    flx_contact_work* w      = &s->contact;
    const flx_model*  m      = s->model;
    right_hand_side(s);
    if (s->settings.strategy == FLX_STRATEGY_FULL)
        FLX_TRY(solve_full(s));
    else
        solve_pcg(s);

    memset(q->force, 0, 3 * sizeof(double) * (size_t)m->proxy_count);
    memset(q->push, 0, sizeof(double) * (size_t)m->proxy_count);
    memset(q->prone_force, 0, 3 * sizeof(double) * (size_t)m->prone_count);
    for (int32_t i = 0; i < w->pushing_count; ++i)
    {
        const flx_contact* c = &w->contact[w->pushing[i]];
        const double       k = flx__contact_stiffness(s, c);
        q->push[c->proxy]    = 1;
        for (int axis = 0; axis < 3; ++axis)
        {
            double off = c->target[axis];
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= 0)
                    off -= c->weight[a] * (s->x[3 * (int64_t)c->vertex[a] + axis] + s->b_f64[axis][c->vertex[a]]);
            q->force[3 * (int64_t)c->proxy + axis] = k * off;
            for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
                if (c->vertex[a] >= s->n1)
                    q->prone_force[3 * (int64_t)(c->vertex[a] - s->n1) + axis] += c->weight[a] * k * off;
        }
    }
done:
    return status;
}
