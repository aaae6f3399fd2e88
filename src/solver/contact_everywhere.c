// The contact solve where every vertex may touch: cloth. Sigma is A, and A^-1 is known by substitutions in its factor.
//
//   0 <= lambda  _|_  g = B lambda + q >= 0,   B = N^T A^-1 N + C^-1,   q = gap + N^T A^-1 r,   N = W^T n
//
// the law of contact_solve.c, with nothing dense: B is known by what it does to a vector, a substitution a product.
// Conjugate gradients on the rows that push, preconditioned by S N^T A N S + T: what A alone would say of B^-1 if
// nothing around the contacts gave way. S = 1 / (|w|^2 m), where m rows share their vertices (1 for most); such rows
// can trade pushes that A does not feel, only C: T = (1 - 1/m) sqrt(A_ii c) keeps those between the two. A step ends
// where a row would pull, for that row; directions stay conjugate to the step that was made. Rows that approach join
// when they are off by more than those that push. Every step lowers 1/2 lambda B lambda + q lambda, which has one
// minimum: the answer does not depend on the path. Outer iterations before the last leave a share of what they found,
// which the next one sees among what it finds itself. Based on [FarhatMandelRoux94] (lumped preconditioner), [Dostal09]
// (steps in and between faces, proportioning). Differs: rows that end a step are cut off instead of ending it for all,
// so one product with B is a whole step.
#include "solver/solver_internal.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define LEFT_OVER 0.1   // share of the first violation that an outer iteration may leave to the next
#define MOST_LEFT 100.0 // tolerances: at most this much of it
#define JOINING 0.1     // rows join that approach by this share of the fastest
#define GRAIN 1024

typedef flx_everywhere_row row_t;

flx_status flx__everywhere_create(flx_solver* s)
{
    flx_status      status   = FLX_OK;
    flx_context*    ctx      = s->ctx;
    const int32_t   capacity = s->contact.capacity;
    flx_everywhere* e        = &s->everywhere_work;
    FLX_NEW(ctx, e->row, capacity);
    FLX_NEW(ctx, e->is_free, capacity);
    double** const values[] = {&e->lambda, &e->g, &e->z, &e->p, &e->bp};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) FLX_NEW(ctx, *values[i], capacity);
    FLX_NEW(ctx, e->u, 4 * (int64_t)s->n);
    FLX_NEW_ZERO(ctx, e->diagonal, s->n);
    for (int32_t i = 0; i < s->n; ++i)
        for (int64_t p = s->rows.first[i]; p < s->rows.first[i + 1]; ++p)
            if (s->rows.column[p] == i) e->diagonal[i] = s->rows.value[p];
done:
    return status; // what was made is given back with the solver
}

void flx__everywhere_release(flx_solver* s)
{
    flx_everywhere* e       = &s->everywhere_work;
    void* const     array[] = {e->row, e->is_free, e->lambda, e->g, e->z, e->p, e->bp, e->u, e->diagonal};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(s->ctx, array[i]);
}

typedef struct loop_args
{
    flx_solver*   s;
    const double* x; // [rows]
    double*       y; // [rows]
    bool          whole;
} loop_args;

static double column(const flx_solver* s, int c, int64_t v)
{
    return s->single ? (double)s->b_f32[c][v] : s->b_f64[c][v];
}

/// b := A^-1 b
static void substitute(flx_solver* s)
{
    if (s->single)
    {
        flx__factor_forward_f32(s->factor, s->b_f32);
        flx__factor_backward_f32(s->factor, s->b_f32);
    }
    else
    {
        flx__factor_forward_f64(s->factor, s->b_f64);
        flx__factor_backward_f64(s->factor, s->b_f64);
    }
}

void flx__everywhere_increment(flx_solver* s, double* const rhs[3])
{
    for (int c = 0; c < 3; ++c)
    {
        if (s->single)
            for (int32_t i = 0; i < s->n; ++i) s->b_f32[c][i] = (float)rhs[c][i];
        else
            memcpy(s->b_f64[c], rhs[c], sizeof(double) * (size_t)s->n);
    }
    substitute(s);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i) s->delta[c][i] = column(s, c, i);
}

/// out[c] += N x
static void spread(const flx_solver* s, const double* x, double* const out[3])
{
    const flx_everywhere* e = &s->everywhere_work;
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const row_t* r = &e->row[i];
        if (x[i] == 0) continue;
        for (int32_t a = 0; a < r->count; ++a)
            for (int c = 0; c < 3; ++c) out[c][r->at[a]] += r->weight[a] * r->normal[c] * x[i];
    }
}

static void spread_single(const flx_solver* s, const double* x)
{
    const flx_everywhere* e = &s->everywhere_work;
    for (int c = 0; c < 3; ++c) memset(s->b_f32[c], 0, sizeof(float) * (size_t)s->n);
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const row_t* r = &e->row[i];
        if (x[i] == 0) continue;
        for (int32_t a = 0; a < r->count; ++a)
            for (int c = 0; c < 3; ++c) s->b_f32[c][r->at[a]] += (float)(r->weight[a] * r->normal[c] * x[i]);
    }
}

static void gather_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const loop_args*  l = user;
    const flx_solver* s = l->s;
    for (int64_t i = begin; i < end; ++i)
    {
        const row_t* r   = &s->everywhere_work.row[i];
        double       sum = r->softness * l->x[i] + (l->whole ? s->contact.contact[i].gap : 0);
        for (int32_t a = 0; a < r->count; ++a)
            for (int c = 0; c < 3; ++c) sum += r->weight[a] * r->normal[c] * column(s, c, r->at[a]);
        l->y[i] = sum;
    }
}

/// y = B x
static void multiply(flx_solver* s, const double* x, double* y)
{
    if (s->single)
        spread_single(s, x);
    else
    {
        for (int c = 0; c < 3; ++c) memset(s->b_f64[c], 0, sizeof(double) * (size_t)s->n);
        spread(s, x, s->b_f64);
    }
    substitute(s);
    loop_args args = {s, x, y, false};
    flx__parallel_for(s->ctx, s->contact.count, GRAIN, gather_range, &args);
    ++s->everywhere_work.products;
}

/// g = B lambda + q, with delta and push = N lambda.
static void evaluate(flx_solver* s)
{
    flx_everywhere* e = &s->everywhere_work;
    for (int c = 0; c < 3; ++c) memset(s->push[c], 0, sizeof(double) * (size_t)s->n);
    spread(s, e->lambda, s->push);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i) s->delta[c][i] = s->reduced[c][i] + s->push[c][i];
    flx__everywhere_increment(s, s->delta);
    loop_args args = {s, e->lambda, e->g, true};
    flx__parallel_for(s->ctx, s->contact.count, GRAIN, gather_range, &args);
    ++e->products;
}

/// How often the corners of a row are taken, by it and other rows that push: 1 when it has them for itself.
static double crowd(const flx_everywhere* e, const row_t* r)
{
    double sum = 0;
    for (int32_t a = 0; a < r->count; ++a) sum += (double)e->u[4 * (int64_t)r->at[a] + 3];
    return sum * r->scale;
}

static void precondition_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const loop_args*      l = user;
    const flx_solver*     s = l->s;
    const flx_everywhere* e = &s->everywhere_work;
    for (int64_t i = begin; i < end; ++i)
    {
        const row_t* r = &e->row[i];
        l->y[i]        = 0;
        if (!e->is_free[i]) continue;
        double sum = 0;
        for (int32_t a = 0; a < r->count; ++a)
        {
            float f[4] = {0};
            for (int64_t p = s->rows.first[r->at[a]]; p < s->rows.first[r->at[a] + 1]; ++p)
            {
                const float  value = (float)s->rows.value[p];
                const float* u     = e->u + 4 * (int64_t)s->rows.column[p];
                for (int c = 0; c < 4; ++c) f[c] += value * u[c];
            }
            for (int c = 0; c < 3; ++c) sum += r->weight[a] * r->normal[c] * (double)f[c];
        }
        const double m = crowd(e, r);
        l->y[i]        = r->scale / m * sum;
        if (m > 1.001) l->y[i] += r->spare * (1 - 1 / m) * e->g[i];
    }
}

/// z = the rows that push of (S N^T A N S + T) g
static void precondition(flx_solver* s)
{
    flx_everywhere* e = &s->everywhere_work;
    memset(e->u, 0, 4 * sizeof *e->u * (size_t)s->n);
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const row_t* r = &e->row[i];
        if (!e->is_free[i]) continue;
        for (int32_t a = 0; a < r->count; ++a) e->u[4 * (int64_t)r->at[a] + 3] += (float)(r->weight[a] * r->weight[a]);
    }
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const row_t* r = &e->row[i];
        if (!e->is_free[i]) continue;
        const double g = r->scale / crowd(e, r) * e->g[i];
        for (int32_t a = 0; a < r->count; ++a)
            for (int c = 0; c < 3; ++c) e->u[4 * (int64_t)r->at[a] + c] += (float)(r->weight[a] * r->normal[c] * g);
    }
    loop_args args = {s, NULL, e->z, false};
    flx__parallel_for(s->ctx, s->contact.count, GRAIN, precondition_range, &args);
}

static double dot(int32_t count, const double* a, const double* b)
{
    double  sum[8] = {0};
    int32_t i      = 0;
    for (; i + 8 <= count; i += 8)
        for (int l = 0; l < 8; ++l) sum[l] += a[i + l] * b[i + l];
    for (; i < count; ++i) sum[0] += a[i] * b[i];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

static double own_stiffness(const flx_solver* s, const row_t* r)
{
    double sum = 0;
    for (int32_t a = 0; a < r->count; ++a) sum += r->weight[a] * r->weight[a] * s->everywhere_work.diagonal[r->at[a]];
    return sum * r->scale * r->scale;
}

static void gather_rows(flx_solver* s, const flx_state* q)
{
    flx_everywhere* e = &s->everywhere_work;
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const flx_contact* c = &s->contact.contact[i];
        row_t*             r = &e->row[i];
        double             w = 0;
        r->count             = 0;
        for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
        {
            if (c->vertex[a] < 0 || c->weight[a] == 0) continue;
            FLX_ASSERT(r->count < FLX_CLOTH_CORNERS);
            r->at[r->count]       = c->vertex[a];
            r->weight[r->count++] = c->weight[a];
            w += c->weight[a] * c->weight[a];
        }
        memcpy(r->normal, c->normal, sizeof r->normal);
        r->softness  = 1 / flx__contact_stiffness(s, c);
        r->scale     = 1 / w;
        r->spare     = sqrt(own_stiffness(s, r) / r->softness);
        e->lambda[i] = q->push[c->proxy] > 0 ? q->push[c->proxy] : 0;
    }
}

/// How far the law is off, m: rows that push must not be off their gap, others not behind it.
typedef struct violation
{
    double pushing, others;
} violation;

static violation find_violation(const flx_solver* s)
{
    const flx_everywhere* e = &s->everywhere_work;
    violation             v = {0};
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const double g = e->g[i];
        if (e->is_free[i])
            v.pushing = fabs(g) > v.pushing ? fabs(g) : v.pushing;
        else
            v.others = -g > v.others ? -g : v.others;
    }
    return v;
}

static bool within(violation v, double tolerance)
{
    return v.pushing <= tolerance && v.others <= tolerance;
}

static void hold_pushing(flx_solver* s)
{
    flx_everywhere* e        = &s->everywhere_work;
    s->contact.pushing_count = 0;
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        e->is_free[i] = e->lambda[i] > 0;
        s->contact.pushing_count += e->is_free[i];
    }
}

/// p cut off where rows would pull. Returns whether any would.
static bool cut_off(flx_solver* s)
{
    flx_everywhere* e   = &s->everywhere_work;
    bool            cut = false;
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        if (!(e->lambda[i] + e->p[i] < 0)) continue;
        e->p[i] = -e->lambda[i];
        cut     = true;
    }
    return cut;
}

/// The next step into p, `length` times the preconditioned one, conjugate to the last unless `fresh`, and cut off.
static bool aim(flx_solver* s, bool fresh, double length)
{
    flx_everywhere* e = &s->everywhere_work;
    const int32_t   k = s->contact.count;
    precondition(s);
    const double turn = fresh ? 0 : dot(k, e->z, e->bp) / dot(k, e->p, e->bp);
    for (int32_t i = 0; i < k; ++i) e->p[i] = e->is_free[i] ? length * ((fresh ? 0 : turn * e->p[i]) - e->z[i]) : 0;
    return cut_off(s);
}

/// Where cutting off has turned the step uphill: along the gaps, which cutting off cannot turn.
static bool aim_down(flx_solver* s, double length)
{
    flx_everywhere* e = &s->everywhere_work;
    for (int32_t i = 0; i < s->contact.count; ++i) e->p[i] = e->is_free[i] ? -length * e->row[i].scale * e->g[i] : 0;
    return cut_off(s);
}

/// The best point along p at which no row pulls, at most all of it when it was cut off. Returns how far the best one
/// for all rows would be, or 0 when rounding has the last word.
static double advance(flx_solver* s, double slope, bool cut)
{
    flx_everywhere* e    = &s->everywhere_work;
    const int32_t   k    = s->contact.count;
    const double    best = -slope / dot(k, e->p, e->bp);
    double          to   = cut && best > 1 ? 1 : best;
    if (!(best > 0) || !isfinite(best)) return 0;
    for (int32_t i = 0; i < k; ++i)
        if (e->lambda[i] + to * e->p[i] < 0) to = -e->lambda[i] / e->p[i];
    for (int32_t i = 0; i < k; ++i)
    {
        const double was = e->lambda[i];
        e->lambda[i] += to * e->p[i];
        e->g[i] += to * e->bp[i];
        if (e->lambda[i] < 1e-14 * was) e->lambda[i] = 0; // what rounding leaves of a row that was cut off
    }
    return best;
}

/// Until g says that the law holds to `tolerance`, by its own running sum.
static void descend(flx_solver* s, double tolerance)
{
    flx_everywhere* e      = &s->everywhere_work;
    const int32_t   k      = s->contact.count;
    bool            fresh  = true;
    double          length = 1;
    while (e->products < s->settings.contact_iterations)
    {
        const violation v = find_violation(s);
        if (within(v, tolerance)) return;
        for (int32_t i = 0; v.others > v.pushing && i < k; ++i)
            e->is_free[i] = e->is_free[i] || e->g[i] < -JOINING * v.others;

        bool cut = aim(s, fresh, length);
        if (!(dot(k, e->p, e->g) < 0)) cut = aim_down(s, length);
        const double slope = dot(k, e->p, e->g);
        if (!(slope < 0)) return; // nothing is left but rounding
        multiply(s, e->p, e->bp);
        const double best = advance(s, slope, cut);
        if (best == 0) return;
        length *= cut && best > 2 ? 2 : best;
        fresh = false;
        hold_pushing(s);
    }
}

static void write_forces(flx_solver* s, flx_state* q)
{
    const flx_everywhere* e = &s->everywhere_work;
    const flx_model*      m = s->model;
    memset(q->force, 0, 3 * sizeof(double) * (size_t)m->proxy_count);
    memset(q->push, 0, sizeof(double) * (size_t)m->proxy_count);
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const flx_contact* c = &s->contact.contact[i];
        q->push[c->proxy]    = e->lambda[i];
        for (int a = 0; a < 3; ++a) q->force[3 * (int64_t)c->proxy + a] = e->lambda[i] * c->normal[a];
    }
    for (int32_t i = 0; i < s->n; ++i)
        for (int c = 0; c < 3; ++c) q->prone_force[3 * (int64_t)i + c] = s->push[c][i];
}

/// Layers that are let through for one iteration may find themselves on the wrong side in the next.
static bool touches_itself(const flx_solver* s)
{
    for (int32_t i = 0; i < s->model->group_count; ++i)
        if (s->model->group[i].obstacle < 0) return true;
    return false;
}

void flx__solve_everywhere(flx_solver* s, flx_state* q)
{
    flx_everywhere* e         = &s->everywhere_work;
    double          tolerance = s->settings.contact_tolerance * s->model->cell, before = INFINITY;
    e->products = 0;
    gather_rows(s, q);
    for (;;)
    {
        evaluate(s);
        hold_pushing(s);
        const violation v   = find_violation(s);
        const double    off = v.pushing > v.others ? v.pushing : v.others;
        if (before == INFINITY && s->stats.outer + 1 < s->settings.outer && !touches_itself(s))
            tolerance = fmax(tolerance, fmin(LEFT_OVER * off, MOST_LEFT * tolerance));
        if (off <= tolerance) break;
        if (!(off < 0.5 * before) || e->products >= s->settings.contact_iterations)
        {
            ++s->stats.unsolved;
            break;
        }
        before = off;
        descend(s, 0.5 * tolerance);
    }
    write_forces(s, q);
}
