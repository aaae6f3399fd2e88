// Contact with obstacles in a subspace: after a round, the free a gives way to the contacts.
//
//   minimise 1/2 |a - free|^2_{A_r} + sum_i c_i/2 min(0, gap_i)^2,   gap_i = g_i + n_i . J_i (a - a_0)
// with J = the rows of W at the proxies, g and n found at a_0. Its condition of optimality is the engine's law
//   0 <= lambda  _|_  B lambda + q >= 0,   B_ij = (n_i . n_j) J_i A_r^-1 J_j^T + delta_ij / c_i,   lambda_i = -c_i
//   min(0, gap_i)
// so it is the same answer. In b = L^T a, A_r = L L^T, with y_i = L^-1 J_i^T and r_i = n_i (x) y_i in R^3k:
//   (I + sum_{gap < 0} c r r^T) b = L^T free - sum_{gap < 0} c g r
// Newton's method: the function is convex and piecewise quadratic, so with an exact search along the way it ends, at
// the answer. A step takes the matrix B of those that push, or where they are many more than the subspace has
// dimensions the one above; between rounds its factor stays while the same contacts push. Differs from
// solver/contact_solve.c, which has one n2 x n2 inverse and exchanges the contacts of B.
#include "reduce/reduced_contact.h"

#include "math/mat3.h"
#include "reduce/panel.h"
#include "sparse/blas.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS 60 // of Newton's method in a round
#define GRAIN 256     // proxies of a chunk
#define CHUNK 64      // rows of r that are added to the matrix at once
#define LANES (FLX_PANEL_BYTES / (int)sizeof(double))
#define MOST_BY_CONTACTS 4 // of k: up to there a matrix of the contacts that push costs less than one of 3k unknowns
#define AT_REST 1e-9       // of a cell: whether such a gap pushes makes no difference
#define HARDEST 1e8        // of a point's own resistance 1/|y|^2: what a contact may be stiffer, or rounding shows

struct flx_reduced_contact
{
    flx_context*     ctx;
    const flx_model* model;
    int32_t          k, proxy_count;
    flx_proxy*       point;  // [proxies] vertex i alone, weight 1: what detection sees
    double*          w;      // [proxies][k] J
    flx_panel        rows;   // the same, packed
    double*          y;      // [proxies][k] L^-1 J^T
    double*          factor; // [k][k] L, lower by columns
    bool             has_y;  // of this L
    double           h;      // s

    // of a frame
    double*      place;              // [proxies][3] m
    int32_t*     scratch;            // [proxies]
    flx_contact* found;              // [proxies]
    int32_t      count;              // candidates
    flx_panel    near;               // [candidates][k] their y; room for all proxies
    double*      stiffness;          // [candidates] c
    double *     gap, *turn;         // [candidates] gap at b, and how it changes along a step
    double*      moved;              // [candidates][3]
    uint8_t *    pushes, *in_matrix; // [candidates]
    bool         has_factor;
    double *     b, *free, *step, *work; // [3][k]
    int32_t      pusher_count;
    int32_t*     pusher;      // [proxies] candidates that are in the matrix
    bool         by_contacts; // it is B of them; else I + sum c r r^T
    double*      matrix;      // [3k][3k], or as many as MOST_BY_CONTACTS k
    double*      r;           // [CHUNK][3k], or [MOST_BY_CONTACTS k][k]
    double*      lambda;      // [proxies] N
    uint8_t*     pushing;     // [proxies] at the frame's end

    int64_t                   entries;
    flx_reduced_contact_stats stats;
};

// --- create --------------------------------------------------------------------------------------------------

flx_status flx__reduced_contact_check(flx_context* ctx, const flx_model* m)
{
    for (int32_t g = 0; g < m->group_count; ++g)
    {
        if (m->group[g].obstacle < 0)
            return flx__fail(ctx, FLX_ERR_UNSUPPORTED,
                             "contact[%d]: reduced models know contact with obstacles, not of a body with itself",
                             m->group[g].desc);
        if (m->scene->contact[m->group[g].desc].law == FLX_LAW_SPRING)
            return flx__fail(ctx, FLX_ERR_UNSUPPORTED,
                             "contact[%d]: reduced models do not know the spring law: take law: unilateral",
                             m->group[g].desc);
    }
    return FLX_OK;
}

static flx_status allocate(flx_reduced_contact* t)
{
    flx_status     status = FLX_OK;
    flx_context*   ctx    = t->ctx;
    const int64_t  p = t->proxy_count, k = t->k;
    double** const by_proxy[] = {&t->stiffness, &t->gap, &t->turn};
    double** const by_mode[]  = {&t->b, &t->free, &t->step, &t->work};
    FLX_NEW_ZERO(ctx, t->point, p);
    FLX_NEW_ZERO(ctx, t->w, p * k);
    FLX_NEW(ctx, t->y, p * k);
    FLX_NEW(ctx, t->lambda, p);
    FLX_NEW(ctx, t->pusher, p);
    FLX_NEW(ctx, t->place, 3 * p);
    FLX_NEW(ctx, t->moved, 3 * p);
    FLX_NEW(ctx, t->scratch, p);
    FLX_NEW_ZERO(ctx, t->found, p);
    for (size_t i = 0; i < sizeof by_proxy / sizeof *by_proxy; ++i) FLX_NEW(ctx, *by_proxy[i], p);
    FLX_NEW_ZERO(ctx, t->pushes, p);
    FLX_NEW_ZERO(ctx, t->in_matrix, p);
    FLX_NEW_ZERO(ctx, t->pushing, p);
    for (size_t i = 0; i < sizeof by_mode / sizeof *by_mode; ++i) FLX_NEW_ZERO(ctx, *by_mode[i], 3 * k);
    FLX_NEW(ctx, t->matrix, MOST_BY_CONTACTS * MOST_BY_CONTACTS * k * k);
    FLX_NEW(ctx, t->factor, k * k);
    FLX_NEW(ctx, t->r, (MOST_BY_CONTACTS * k > 3 * CHUNK ? MOST_BY_CONTACTS * k : 3 * CHUNK) * k);
done:
    return status;
}

flx_status flx__reduced_contact_create(flx_context* ctx, const flx_model* m, const flx_reduced_model* reduced, double h,
                                       flx_reduced_contact** out)
{
    flx_status           status = FLX_OK;
    flx_reduced_contact* t      = NULL;
    *out                        = NULL;
    FLX_TRY(flx__reduced_contact_check(ctx, m));
    FLX_NEW_ZERO(ctx, t, 1);
    *t = (flx_reduced_contact){.ctx = ctx, .model = m, .k = reduced->subspace, .proxy_count = m->proxy_count, .h = h};
    FLX_TRY(allocate(t));
    for (int32_t i = 0; i < m->proxy_count; ++i)
    {
        t->point[i] = (flx_proxy){.weight = {1, 0, 0, 0}};
        for (int c = 0; c < 4; ++c)
        {
            t->point[i].vertex[c] = i;
            if (m->proxy[i].weight[c] != 0)
                cblas_daxpy(t->k, m->proxy[i].weight[c], reduced->w + (int64_t)m->proxy[i].vertex[c] * t->k, 1,
                            t->w + (int64_t)i * t->k, 1);
        }
    }
    FLX_TRY(flx__panel_create(ctx, FLX_PRECISION_DOUBLE, 1, t->proxy_count, t->k, t->w, &t->rows));
    FLX_TRY(flx__panel_create(ctx, FLX_PRECISION_DOUBLE, 1, t->proxy_count, t->k, t->w, &t->near));
    *out = t;
    t    = NULL;
done:
    flx__reduced_contact_destroy(t);
    return status;
}

void flx__reduced_contact_destroy(flx_reduced_contact* t)
{
    if (!t) return;
    void* const owned[] = {t->point,  t->w,         t->y,       t->place,  t->moved,  t->scratch, t->found, t->gap,
                           t->turn,   t->stiffness, t->b,       t->free,   t->step,   t->work,    t->r,     t->matrix,
                           t->pushes, t->in_matrix, t->pushing, t->factor, t->pusher, t->lambda};
    flx__panel_release(t->ctx, &t->rows);
    flx__panel_release(t->ctx, &t->near);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__free(t->ctx, owned[i]);
    flx__free(t->ctx, t);
}

void flx__reduced_contact_factor(flx_reduced_contact* t, const double* factor)
{
    const size_t bytes = (size_t)t->k * (size_t)t->k * sizeof *factor;
    if (t->has_y && memcmp(t->factor, factor, bytes) == 0) return;
    t->has_y = true;
    memcpy(t->factor, factor, bytes);
    memcpy(t->y, t->w, (size_t)t->proxy_count * (size_t)t->k * sizeof *t->y);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, t->proxy_count, t->k, 1.0, factor,
                t->k, t->y, t->k);
}

// --- detection -----------------------------------------------------------------------------------------------

typedef struct product
{
    const flx_panel* panel;
    const double*    x; // [k][3]
    double*          y; // [rows][3]
} product;

static void product_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const product* p = user;
    flx__panel_multiply_rows(p->panel, begin, end, p->x, p->y + 3 * begin);
}

static void multiply(flx_reduced_contact* t, const flx_panel* panel, const double* x, double* y)
{
    product p = {panel, x, y};
    flx__parallel_for(t->ctx, panel->rows, GRAIN, product_range, &p);
    t->entries += (int64_t)panel->rows * (t->k + 3);
}

/// out [candidates] = n . (y x)
static void along_normals(flx_reduced_contact* t, const double* x, double* out)
{
    multiply(t, &t->near, x, t->moved);
    for (int32_t i = 0; i < t->count; ++i) out[i] = flx__dot3(t->found[i].normal, t->moved + 3 * (int64_t)i);
}

static const double* y_of(const flx_reduced_contact* t, int32_t i)
{
    return t->y + (int64_t)t->found[i].proxy * t->k;
}

/// b := L^T a
static void enter(const flx_reduced_contact* t, const double* a, double* b)
{
    memcpy(b, a, 3 * (size_t)t->k * sizeof *b);
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, t->k, 3, 1.0, t->factor, t->k, b, 3);
}

static void find(flx_reduced_contact* t, double time)
{
    const flx_model* m = t->model;
    t->count           = 0;
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g   = &m->group[i];
        flx_contact*             out = t->found + t->count;
        flx_obstacle_pose        pose;
        if (g->proxy_count == 0) continue;
        flx_scene_obstacle_pose(m->scene, g->obstacle, time, pose.R, pose.t);
        const int32_t found =
            flx__obstacle_contacts(t->ctx, m->solid[g->obstacle], &pose, g->obstacle, g->proxy_count, t->point,
                                   t->place + 3 * (int64_t)g->proxy_first, g->margin, g->offset, t->scratch, out);
        for (int32_t j = 0; j < found; ++j)
        {
            out[j].proxy += g->proxy_first;
            t->stiffness[t->count + j] = g->stiffness;
        }
        t->count += found;
    }
}

/// The candidates' y, as panels are laid out.
static void pack_near(flx_reduced_contact* t)
{
    double* value = t->near.value;
    t->near.rows  = t->count;
    for (int32_t i = 0; i < t->count; ++i)
    {
        const double* y  = y_of(t, i);
        double*       at = value + (int64_t)(i / LANES) * LANES * t->k + i % LANES;
        for (int32_t j = 0; j < t->k; ++j) at[j * LANES] = y[j];
    }
}

void flx__reduced_contact_begin(flx_reduced_contact* t, double time, const double* a)
{
    t->stats = (flx_reduced_contact_stats){0};
    multiply(t, &t->rows, a, t->place);
    find(t, time);
    for (int32_t i = 0; i < t->count; ++i)
    {
        const double *y = y_of(t, i), own = cblas_ddot(t->k, y, 1, y, 1);
        t->stiffness[i] = fmin(t->stiffness[i], HARDEST / own);
    }
    pack_near(t);
    enter(t, a, t->b);
    for (int32_t i = 0; i < t->count; ++i) t->gap[i] = t->found[i].gap;
    t->has_factor       = false;
    t->stats.candidates = t->count;
}

// --- a round -------------------------------------------------------------------------------------------------

/// sqrt(c) n (x) y into one row
static void write_row(const flx_reduced_contact* t, int32_t i, double* r)
{
    const double  root = sqrt(t->stiffness[i]);
    const double* y    = y_of(t, i);
    for (int d = 0; d < 3; ++d)
        for (int32_t j = 0; j < t->k; ++j) r[d * t->k + j] = root * t->found[i].normal[d] * y[j];
}

/// I + sum c r r^T over those that push.
static void sum_rows(flx_reduced_contact* t)
{
    const int32_t size = 3 * t->k;
    memset(t->matrix, 0, (size_t)size * (size_t)size * sizeof *t->matrix);
    for (int32_t i = 0; i < size; ++i) t->matrix[(int64_t)i * (size + 1)] = 1.0;
    for (int32_t first = 0; first < t->pusher_count; first += CHUNK)
    {
        const int32_t rows = t->pusher_count - first < CHUNK ? t->pusher_count - first : CHUNK;
        for (int32_t i = 0; i < rows; ++i) write_row(t, t->pusher[first + i], t->r + (int64_t)i * size);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, size, rows, 1.0, t->r, size, 1.0, t->matrix, size);
    }
}

/// B of those that push; their y into t->r.
static void compare_rows(flx_reduced_contact* t)
{
    const int32_t size = t->pusher_count;
    for (int32_t i = 0; i < size; ++i)
        memcpy(t->r + (int64_t)i * t->k, y_of(t, t->pusher[i]), (size_t)t->k * sizeof *t->r);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, size, t->k, 1.0, t->r, t->k, 0.0, t->matrix, size);
    for (int32_t i = 0; i < size; ++i)
    {
        const double* normal = t->found[t->pusher[i]].normal;
        for (int32_t j = i; j < size; ++j)
            t->matrix[(int64_t)i * size + j] *= flx__dot3(normal, t->found[t->pusher[j]].normal);
        t->matrix[(int64_t)i * (size + 1)] += 1 / t->stiffness[t->pusher[i]];
    }
}

/// The Cholesky factor of one of the two, unless it is there.
static void factor_pushing(flx_reduced_contact* t)
{
    if (t->has_factor && memcmp(t->in_matrix, t->pushes, (size_t)t->count) == 0) return;
    t->pusher_count = 0;
    for (int32_t i = 0; i < t->count; ++i)
        if (t->pushes[i]) t->pusher[t->pusher_count++] = i;
    t->by_contacts     = t->pusher_count <= MOST_BY_CONTACTS * t->k;
    const int32_t size = t->by_contacts ? t->pusher_count : 3 * t->k;
    if (t->by_contacts)
        compare_rows(t);
    else
        sum_rows(t);
    // positive definite both, by I and 1/c, and no contact is so stiff that rounding could tell
    (void)flx__dense_cholesky_f64(t->ctx, size, t->matrix, size, NULL);
    memcpy(t->in_matrix, t->pushes, (size_t)t->count);
    t->has_factor = true;
}

static void solve_factored(const flx_reduced_contact* t, int32_t size, double* x)
{
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasTrans, CblasNonUnit, size, t->matrix, size, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, size, t->matrix, size, x, 1);
}

/// step += sum of weight r over those that push
static void add_rows(flx_reduced_contact* t, const double* weight)
{
    for (int32_t i = 0; i < t->pusher_count; ++i)
    {
        const double *y = y_of(t, t->pusher[i]), *n = t->found[t->pusher[i]].normal;
        const double  f[3] = {weight[i] * n[0], weight[i] * n[1], weight[i] * n[2]};
        for (int32_t j = 0; j < t->k; ++j)
            for (int d = 0; d < 3; ++d) t->step[3 * j + d] += y[j] * f[d];
    }
}

/// lambda from B lambda = -(gap + r . (free - b)), step = free - b + sum lambda r
static void step_by_contacts(flx_reduced_contact* t)
{
    for (int32_t i = 0; i < t->pusher_count; ++i)
    {
        const double *y = y_of(t, t->pusher[i]), *n = t->found[t->pusher[i]].normal;
        double        moved[3] = {0};
        for (int32_t j = 0; j < t->k; ++j)
            for (int d = 0; d < 3; ++d) moved[d] += y[j] * t->step[3 * j + d];
        t->lambda[i] = -t->gap[t->pusher[i]] - flx__dot3(n, moved);
    }
    solve_factored(t, t->pusher_count, t->lambda);
    add_rows(t, t->lambda);
}

/// (I + sum c r r^T) step = free - b - sum c gap r
static void step_by_modes(flx_reduced_contact* t)
{
    const int32_t k = t->k;
    for (int32_t i = 0; i < t->pusher_count; ++i) t->lambda[i] = -t->stiffness[t->pusher[i]] * t->gap[t->pusher[i]];
    add_rows(t, t->lambda);
    for (int32_t j = 0; j < k; ++j)
        for (int d = 0; d < 3; ++d) t->work[d * k + j] = t->step[3 * j + d]; // r has x, y and z one after the other
    solve_factored(t, 3 * k, t->work);
    for (int32_t j = 0; j < k; ++j)
        for (int d = 0; d < 3; ++d) t->step[3 * j + d] = t->work[d * k + j];
}

/// step := the minimiser for those that push now, less b.
static void newton_step(flx_reduced_contact* t)
{
    for (int32_t i = 0; i < 3 * t->k; ++i) t->step[i] = t->free[i] - t->b[i];
    if (!memchr(t->pushes, 1, (size_t)t->count)) return;
    factor_pushing(t);
    if (t->by_contacts)
        step_by_contacts(t);
    else
        step_by_modes(t);
}

/// Slope of the function at b + share x step.
static double slope(const flx_reduced_contact* t, double share)
{
    double sum = 0;
    for (int32_t i = 0; i < 3 * t->k; ++i) sum += t->step[i] * (t->b[i] + share * t->step[i] - t->free[i]);
    for (int32_t i = 0; i < t->count; ++i)
    {
        const double gap = t->gap[i] + share * t->turn[i];
        if (gap < 0) sum += t->stiffness[i] * gap * t->turn[i];
    }
    return sum;
}

/// How far along the step the function is least: its slope rises, so halving finds where it changes sign.
static double search(const flx_reduced_contact* t)
{
    double low = 0, high = 1;
    if (slope(t, 1) <= 0) return 1;
    for (int i = 0; i < 24; ++i)
    {
        const double middle = 0.5 * (low + high);
        if (slope(t, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return low > 0 ? low : high;
}

/// Who pushes at b; true: the same as before, but for gaps that make no difference.
static bool settle(flx_reduced_contact* t)
{
    bool same = true;
    for (int32_t i = 0; i < t->count; ++i)
    {
        const uint8_t now  = t->gap[i] < 0;
        const double  rest = AT_REST * t->model->cell;
        same               = same && (now == t->pushes[i] || fabs(t->gap[i]) <= rest);
        t->pushes[i]       = now;
    }
    return same;
}

void flx__reduced_contact_apply(flx_reduced_contact* t, double* a)
{
    if (t->count == 0) return;
    enter(t, a, t->free);
    (void)settle(t);
    int32_t count = 0;
    for (; count < MOST_STEPS; ++count)
    {
        newton_step(t);
        along_normals(t, t->step, t->turn);
        bool whole = true; // does the whole step keep who pushes? then it is the answer
        for (int32_t i = 0; i < t->count && whole; ++i) whole = t->pushes[i] == (t->gap[i] + t->turn[i] < 0);
        const double share = whole ? 1 : search(t);
        for (int32_t i = 0; i < 3 * t->k; ++i) t->b[i] += share * t->step[i];
        for (int32_t i = 0; i < t->count; ++i) t->gap[i] += share * t->turn[i];
        if (settle(t) && share == 1) break;
    }
    t->stats.unsolved += count == MOST_STEPS;
    memcpy(a, t->b, 3 * (size_t)t->k * sizeof *a);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, t->k, 3, 1.0, t->factor, t->k, a, 3);
}

void flx__reduced_contact_act(flx_reduced_contact* t, const flx_reduced_solver* solver, int32_t frame, int32_t round,
                              double* a)
{
    if (round >= 0)
    {
        flx__reduced_contact_apply(t, a);
        return;
    }
    flx__reduced_contact_factor(t, flx__reduced_factor(solver));
    flx__reduced_contact_begin(t, frame * t->h, a);
}

// --- what came out ------------------------------------------------------------------------------------------

int64_t flx__reduced_contact_entries(const flx_reduced_contact* t)
{
    return t->entries;
}

flx_reduced_contact_stats flx__reduced_contact_end(flx_reduced_contact* t, flx_state* state)
{
    const flx_model* m = t->model;
    memset(t->pushing, 0, (size_t)m->proxy_count);
    for (int32_t i = 0; i < t->count; ++i) t->pushing[t->found[i].proxy] = t->gap[i] < 0;
    for (int32_t i = 0; i < m->proxy_count; ++i) t->stats.switched += (state->push[i] > 0) != t->pushing[i];
    memset(state->force, 0, 3 * (size_t)m->proxy_count * sizeof *state->force);
    memset(state->push, 0, (size_t)m->proxy_count * sizeof *state->push);
    memset(state->prone_force, 0, 3 * (size_t)m->prone_count * sizeof *state->prone_force);
    for (int32_t i = 0; i < t->count; ++i)
    {
        const flx_contact* c = &t->found[i];
        if (!(t->gap[i] < 0)) continue;
        const double push     = -t->stiffness[i] * t->gap[i];
        state->push[c->proxy] = push;
        ++t->stats.active;
        for (int d = 0; d < 3; ++d)
        {
            state->force[3 * (int64_t)c->proxy + d] = push * c->normal[d];
            t->stats.force[d] += push * c->normal[d];
        }
        t->stats.penetration = fmax(t->stats.penetration, -t->gap[i]);
    }
    return t->stats;
}
