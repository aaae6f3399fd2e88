// The full-order system: its matrix, factored once, and the frame of 20 or so local/global rounds.
//
//   A = diag(m)/h^2 + w_a sum_held e e^T + sum_j w_j S_j^T S_j
//   s = q + h v + h^2 M^-1 f,   c = M s/h^2 + w_a targets
//   rounds: p_j = proj(S_j q),  q = A^-1 (c + sum_j w_j S_j^T p_j)
// Based on [MPB] eq. 1-4, [Bouaziz14]. Differs: w_j stands in the right-hand side too, as minimising the energy asks.
#include "reduce/system.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

#define GRAIN 2048 // vertices a worker takes at a time

// --- the matrix in elimination order -------------------------------------------------------------------------

static flx_status graph_of(flx_context* ctx, const flx_csc* a, flx_graph* out)
{
    flx_status status = FLX_OK;
    int64_t*   cursor = NULL;
    out->n            = a->n;
    FLX_NEW_ZERO(ctx, out->first, (int64_t)a->n + 1);
    FLX_NEW(ctx, out->adjacent, 2 * (a->first[a->n] - a->n));
    FLX_NEW(ctx, cursor, a->n);
    for (int32_t j = 0; j < a->n; ++j)
        for (int64_t k = a->first[j] + 1; k < a->first[j + 1]; ++k) ++out->first[j + 1], ++out->first[a->row[k] + 1];
    for (int32_t j = 0; j < a->n; ++j) out->first[j + 1] += out->first[j];
    memcpy(cursor, out->first, (size_t)a->n * sizeof *cursor);
    for (int32_t j = 0; j < a->n; ++j)
        for (int64_t k = a->first[j] + 1; k < a->first[j + 1]; ++k)
        {
            out->adjacent[cursor[j]++]         = a->row[k];
            out->adjacent[cursor[a->row[k]]++] = j;
        }

done:
    flx__free(ctx, cursor);
    return status;
}

/// P A P^T, lower triangle with ascending rows: entries are dealt to rows first, and rows, read in order, to columns.
static flx_status permute(flx_context* ctx, const flx_csc* a, const int32_t* order, flx_csc* out)
{
    flx_status    status = FLX_OK;
    const int32_t n      = a->n;
    const int64_t count  = a->first[n];
    int32_t *     place = NULL, *column = NULL;
    int64_t *     row_first = NULL, *cursor = NULL;
    double*       value = NULL;
    *out                = (flx_csc){.n = n};

    FLX_NEW(ctx, place, n);
    FLX_NEW(ctx, column, count);
    FLX_NEW(ctx, value, count);
    FLX_NEW(ctx, cursor, n);
    FLX_NEW_ZERO(ctx, row_first, (int64_t)n + 1);
    FLX_NEW_ZERO(ctx, out->first, (int64_t)n + 1);
    FLX_NEW(ctx, out->row, count);
    FLX_NEW(ctx, out->value, count);
    for (int32_t k = 0; k < n; ++k) place[order[k]] = k;

    for (int32_t j = 0; j < n; ++j)
        for (int64_t k = a->first[j]; k < a->first[j + 1]; ++k)
        {
            const int32_t p = place[j], q = place[a->row[k]];
            ++row_first[(p > q ? p : q) + 1];
            ++out->first[(p > q ? q : p) + 1];
        }
    for (int32_t i = 0; i < n; ++i) row_first[i + 1] += row_first[i], out->first[i + 1] += out->first[i];

    memcpy(cursor, row_first, (size_t)n * sizeof *cursor);
    for (int32_t j = 0; j < n; ++j)
        for (int64_t k = a->first[j]; k < a->first[j + 1]; ++k)
        {
            const int32_t p = place[j], q = place[a->row[k]];
            const int64_t at = cursor[p > q ? p : q]++;
            column[at]       = p > q ? q : p;
            value[at]        = a->value[k];
        }
    memcpy(cursor, out->first, (size_t)n * sizeof *cursor);
    for (int32_t i = 0; i < n; ++i)
        for (int64_t k = row_first[i]; k < row_first[i + 1]; ++k)
        {
            const int64_t at = cursor[column[k]]++;
            out->row[at]     = i;
            out->value[at]   = value[k];
        }

done:
    flx__free(ctx, place);
    flx__free(ctx, column);
    flx__free(ctx, value);
    flx__free(ctx, row_first);
    flx__free(ctx, cursor);
    if (status != FLX_OK) flx__csc_release(ctx, out);
    return status;
}

static flx_status factor_matrix(flx_pd_system* s)
{
    flx_status   status   = FLX_OK;
    flx_context* ctx      = s->ctx;
    double*      diagonal = NULL;
    flx_csc      a = {0}, ordered = {0};
    flx_graph    graph = {0};

    FLX_NEW(ctx, diagonal, s->n);
    for (int32_t i = 0; i < s->n; ++i) diagonal[i] = s->still ? s->mass[i] * s->rate : s->mass[i] / (s->h * s->h);
    for (int32_t k = 0; k < s->held_count; ++k) diagonal[s->held[k]] += s->held_weight;
    FLX_TRY(flx__constraints_assemble(ctx, s->n, diagonal, s->batch_count, s->batch, &a));
    FLX_TRY(graph_of(ctx, &a, &graph));
    FLX_TRY(flx__order_nested_dissection(ctx, &graph, NULL, s->order));
    FLX_TRY(permute(ctx, &a, s->order, &ordered));

    const flx_factor_options options = {.keep_double = true};
    FLX_TRY(flx__factor_create(ctx, &ordered, s->n, &options, NULL, &s->factor));

done:
    flx__free(ctx, diagonal);
    flx__free(ctx, graph.first);
    flx__free(ctx, graph.adjacent);
    flx__csc_release(ctx, &a);
    flx__csc_release(ctx, &ordered);
    return status;
}

// --- create --------------------------------------------------------------------------------------------------

static flx_status check(flx_context* ctx, int32_t n, const double* mass, double h, int32_t held_count,
                        const int32_t* held)
{
    if (n < 1 || !(h > 0)) return flx__fail(ctx, FLX_ERR_ARGUMENT, "a system needs vertices and a positive time step");
    for (int32_t i = 0; i < n; ++i)
        if (!(mass[i] > 0)) return flx__fail(ctx, FLX_ERR_ARGUMENT, "vertex %d has mass %g", i, mass[i]);
    for (int32_t k = 0; k < held_count; ++k)
        if (held[k] < 0 || held[k] >= n)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "held vertex %d is not one of %d", held[k], n);
    return FLX_OK;
}

static double box_diagonal(int32_t n, const double* x)
{
    double sum = 0.0;
    for (int c = 0; c < 3; ++c)
    {
        double low = x[c], high = x[c];
        for (int32_t i = 1; i < n; ++i)
            low = fmin(low, x[3 * (int64_t)i + c]), high = fmax(high, x[3 * (int64_t)i + c]);
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

static flx_status allocate(flx_pd_system* s)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = s->ctx;
    FLX_NEW(ctx, s->x_rest, 3 * (int64_t)s->n);
    FLX_NEW(ctx, s->mass, s->n);
    FLX_NEW(ctx, s->held, s->held_count);
    FLX_NEW(ctx, s->order, s->n);
    for (int c = 0; c < 3; ++c) FLX_NEW(ctx, s->work[c], s->n);
    FLX_NEW(ctx, s->force, 3 * (int64_t)s->n);
    FLX_NEW(ctx, s->place, 3 * (int64_t)s->held_count);
    FLX_NEW(ctx, s->inertia, 3 * (int64_t)s->n);
    FLX_NEW(ctx, s->rhs, 3 * (int64_t)s->n);
    FLX_NEW_ZERO(ctx, s->gather, s->batch_count);
    FLX_NEW_ZERO(ctx, s->z, s->batch_count);
    FLX_NEW_ZERO(ctx, s->p, s->batch_count);
    for (int32_t b = 0; b < s->batch_count; ++b)
    {
        const int64_t length = 3 * (int64_t)s->batch[b].count * s->batch[b].type->rows;
        FLX_NEW(ctx, s->z[b], length);
        FLX_NEW(ctx, s->p[b], length);
    }

done:
    return status;
}

static flx_status create(flx_context* ctx, const flx_pd_system* sizes, const double* x_rest, const double* mass,
                         flx_constraint_batch* batch, const int32_t* held, flx_pd_system** out)
{
    flx_status     status = FLX_OK;
    flx_pd_system* s      = NULL;
    const int32_t  n = sizes->n, batch_count = sizes->batch_count, held_count = sizes->held_count;
    *out = NULL;

    FLX_NEW_ZERO(ctx, s, 1);
    *s             = *sizes;
    s->batch_count = 0; // none are owned yet
    FLX_NEW(ctx, s->batch, batch_count);
    for (int32_t b = 0; b < batch_count; ++b) s->batch[b] = batch[b], batch[b] = (flx_constraint_batch){0};
    s->batch_count = batch_count;

    FLX_TRY(check(ctx, n, mass, s->h, held_count, held));
    FLX_TRY(allocate(s));
    memcpy(s->x_rest, x_rest, 3 * (size_t)n * sizeof *x_rest);
    memcpy(s->mass, mass, (size_t)n * sizeof *mass);
    if (held_count > 0) memcpy(s->held, held, (size_t)held_count * sizeof *held);
    s->size = box_diagonal(n, x_rest);
    for (int32_t b = 0; b < batch_count; ++b)
        FLX_TRY(flx__constraint_gather_create(ctx, &s->batch[b], n, &s->gather[b]));
    FLX_TRY(factor_matrix(s));

    *out = s;
    s    = NULL;

done:
    for (int32_t b = 0; b < batch_count; ++b) flx__constraint_batch_release(ctx, &batch[b]);
    flx__pd_system_destroy(s);
    return status;
}

flx_status flx__pd_system_create(flx_context* ctx, int32_t n, const double* x_rest, const double* mass, double h,
                                 int32_t batch_count, flx_constraint_batch* batch, int32_t held_count,
                                 const int32_t* held, double held_weight, flx_pd_system** out)
{
    const flx_pd_system sizes = {.ctx         = ctx,
                                 .n           = n,
                                 .h           = h,
                                 .rate        = 1.0 / (h * h),
                                 .batch_count = batch_count,
                                 .held_count  = held_count,
                                 .held_weight = held_weight};
    return create(ctx, &sizes, x_rest, mass, batch, held, out);
}

flx_status flx__pd_system_create_still(flx_context* ctx, int32_t n, const double* x_rest, const double* mass, double h,
                                       double rate, int32_t batch_count, flx_constraint_batch* batch,
                                       flx_pd_system** out)
{
    const flx_pd_system sizes = {
        .ctx = ctx, .n = n, .h = h, .rate = rate, .still = true, .batch_count = batch_count, .held_weight = 1.0};
    return create(ctx, &sizes, x_rest, mass, batch, NULL, out);
}

void flx__pd_system_destroy(flx_pd_system* s)
{
    if (!s) return;
    flx_context* ctx = s->ctx;
    flx__factor_destroy(s->factor);
    for (int32_t b = 0; b < s->batch_count; ++b)
    {
        if (s->gather) flx__constraint_gather_release(ctx, &s->gather[b]);
        if (s->z) flx__free(ctx, s->z[b]);
        if (s->p) flx__free(ctx, s->p[b]);
        flx__constraint_batch_release(ctx, &s->batch[b]);
    }
    void* const owned[] = {s->x_rest, s->mass,    s->held, s->order,  s->work[0], s->work[1], s->work[2], s->force,
                           s->place,  s->inertia, s->rhs,  s->gather, s->z,       s->p,       s->batch};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) flx__free(ctx, owned[k]);
    flx__free(ctx, s);
}

// --- the global step -----------------------------------------------------------------------------------------

typedef struct exchange
{
    flx_pd_system* s;
    double*        b;
} exchange;

static void to_elimination_order(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const exchange* e = user;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
        for (int c = 0; c < 3; ++c) e->s->work[c][k] = e->b[3 * (int64_t)e->s->order[k] + c];
}

static void from_elimination_order(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const exchange* e = user;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
        for (int c = 0; c < 3; ++c) e->b[3 * (int64_t)e->s->order[k] + c] = e->s->work[c][k];
}

void flx__pd_solve(flx_pd_system* s, double* b)
{
    exchange e = {s, b};
    flx__parallel_for(s->ctx, s->n, GRAIN, to_elimination_order, &e);
    flx__factor_forward_f64(s->factor, s->work);
    flx__factor_backward_f64(s->factor, s->work);
    flx__parallel_for(s->ctx, s->n, GRAIN, from_elimination_order, &e);
}

// --- a frame -------------------------------------------------------------------------------------------------

flx_status flx__pd_state_create(flx_pd_system* s, flx_pd_state* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_pd_state){0};
    FLX_NEW(s->ctx, out->q, 3 * (int64_t)s->n);
    FLX_NEW_ZERO(s->ctx, out->v, 3 * (int64_t)s->n);
    memcpy(out->q, s->x_rest, 3 * (size_t)s->n * sizeof *out->q);

done:
    if (status != FLX_OK) flx__pd_state_release(s->ctx, out);
    return status;
}

void flx__pd_state_release(flx_context* ctx, flx_pd_state* state)
{
    flx__free(ctx, state->q);
    flx__free(ctx, state->v);
    *state = (flx_pd_state){0};
}

typedef struct prediction
{
    const flx_pd_system* s;
    const flx_pd_state*  state;
    double *             inertia, *q;
    bool                 inertial;
} prediction;

static void predict_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const prediction* p = user;
    const double      h = p->s->h, h2 = h * h;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
        for (int c = 0; c < 3; ++c)
        {
            const int64_t k    = 3 * i + c;
            const double  free = p->state->q[k] + h * p->state->v[k];
            const double  s    = free + h2 * p->s->force[k] / p->s->mass[i];
            p->q[k]            = p->inertial ? free : s;
            p->inertia[k]      = p->s->mass[i] * s / h2;
        }
}

void flx__pd_predict(flx_pd_system* s, const flx_pd_drive* drive, const flx_pd_state* state, double* inertia, double* q)
{
    const int32_t frame = state->frame + 1;
    memset(s->force, 0, 3 * (size_t)s->n * sizeof *s->force);
    if (drive && drive->force) drive->force(drive->user, frame, s->force);
    for (int32_t k = 0; k < s->held_count; ++k)
        memcpy(s->place + 3 * (int64_t)k, s->x_rest + 3 * (int64_t)s->held[k], 3 * sizeof(double));
    if (drive && drive->targets) drive->targets(drive->user, frame, s->place);

    prediction p = {s, state, inertia, q, drive && drive->inertial};
    flx__parallel_for(s->ctx, s->n, GRAIN, predict_range, &p);
    for (int32_t k = 0; k < s->held_count; ++k)
        for (int c = 0; c < 3; ++c)
        {
            const double target            = s->place[3 * (int64_t)k + c];
            q[3 * (int64_t)s->held[k] + c] = target;
            inertia[3 * (int64_t)s->held[k] + c] += s->held_weight * target;
        }
}

flx_status flx__pd_commit(flx_pd_system* s, const double* q, flx_pd_state* state)
{
    bool finite = true;
    for (int64_t k = 0; k < 3 * (int64_t)s->n; ++k)
    {
        state->v[k] = (q[k] - state->q[k]) / s->h;
        state->q[k] = q[k];
        finite      = finite && isfinite(q[k]) && isfinite(state->v[k]);
    }
    ++state->frame;
    return finite ? FLX_OK : flx__fail(s->ctx, FLX_ERR_NONFINITE, "positions of frame %d are not finite", state->frame);
}

void flx__pd_project(flx_pd_system* s, const double* q)
{
    for (int32_t b = 0; b < s->batch_count; ++b)
    {
        flx__constraints_measure(s->ctx, &s->batch[b], q, s->z[b]);
        flx__constraints_project(s->ctx, &s->batch[b], s->z[b], s->p[b]);
    }
}

flx_status flx__pd_frame(flx_pd_system* s, const flx_pd_drive* drive, int32_t rounds, flx_pd_state* state,
                         flx_pd_watch_fn watch, void* watch_user)
{
    double* const q = s->rhs;
    flx__pd_predict(s, drive, state, s->inertia, q);
    for (int32_t round = 0; round < rounds; ++round)
    {
        flx__pd_project(s, q);
        if (watch) watch(watch_user, state->frame + 1, round, (const double* const*)s->z, (const double* const*)s->p);
        memcpy(q, s->inertia, 3 * (size_t)s->n * sizeof *q);
        for (int32_t b = 0; b < s->batch_count; ++b)
            flx__constraints_gather(s->ctx, &s->batch[b], &s->gather[b], s->p[b], q);
        flx__pd_solve(s, q);
    }
    return flx__pd_commit(s, q, state);
}

// --- energies ------------------------------------------------------------------------------------------------

static double elastic_energy(flx_pd_system* s, const double* q)
{
    double sum = 0.0;
    flx__pd_project(s, q);
    for (int32_t b = 0; b < s->batch_count; ++b) sum += flx__constraints_energy(s->ctx, &s->batch[b], s->z[b], s->p[b]);
    return sum;
}

double flx__pd_objective(flx_pd_system* s, const double* inertia, const double* q)
{
    double sum = 0.0; // d/2 |q - c/d|^2, d = m/h^2 + w_a where held and c the rows of `inertia`
    for (int32_t i = 0; i < s->n; ++i) s->work[0][i] = s->mass[i] / (s->h * s->h);
    for (int32_t k = 0; k < s->held_count; ++k) s->work[0][s->held[k]] += s->held_weight;
    for (int32_t i = 0; i < s->n; ++i)
        for (int c = 0; c < 3; ++c)
        {
            const double d = s->work[0][i], away = q[3 * (int64_t)i + c] - inertia[3 * (int64_t)i + c] / d;
            sum += 0.5 * d * away * away;
        }
    return sum + elastic_energy(s, q);
}

void flx__pd_energy(flx_pd_system* s, const flx_pd_state* state, double* elastic, double* kinetic)
{
    double sum = 0.0;
    for (int32_t i = 0; i < s->n; ++i)
    {
        const double* v = state->v + 3 * (int64_t)i;
        sum += 0.5 * s->mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    *kinetic = sum;
    *elastic = elastic_energy(s, state->q);
}
