// Frames in a subspace: q = W a with W^T M W = I, so nothing of the mesh's size is touched until positions are asked
// for, but for a drive's forces, which come as n vectors and are projected once a frame.
//
//   H a = rhs0 + what projections pull with,  rhs0 = (a + h v)/h^2 + W^T f + w_a W_held^T targets,  c0 = H^-1 rhs0
//   weights  z = S W a,    y = H^-1 (S W)^T xi w p,  a = c0 + y  so that  z = S W c0 + S W y
//   fits     z = S W a,    y = M p,        a = c0 + H^-1 L y     so that  z = S W c0 + (S W H^-1 L) y
//   secs     z = V L^T a,  y = V^T xi w p, the same              so that  L^T a = L^T c0 + (L^T H^-1 L) y
// The form on the right does not make a, and with fits and secs knows no k. Rounds take it where it is the shorter one
// and nobody acts on a. It also bears single precision: c0, which is large, has been added up in double before.
// Without inertia rhs0 = W^T f + rate a_last + ..., and a frame begins where the last one ended.
#include "reduce/reduced_internal.h"

#include "sparse/blas.h"

#include <math.h>
#include <string.h>

#define GRAIN 1024 // vertices of a chunk; sums go by chunks, so that they are the same for any number of workers

static bool is_secs(const flx_reduced_solver* s)
{
    return flx__reduction_is_secs(s->model->method);
}

static bool has_weights(const flx_reduced_solver* s)
{
    return s->model->fit == FLX_FIT_NONE && !is_secs(s);
}

/// Coefficients that a round passes on.
static int32_t y_rows(const flx_reduced_solver* s)
{
    return has_weights(s) ? s->model->subspace : s->model->modes;
}

// --- create --------------------------------------------------------------------------------------------------

typedef struct setup
{
    flx_reduced_solver* s;
    int                 k, modes;
    bool                shared;          // one coefficient for x, y and z: vectors are flat
    double*             inverse;         // [k][k] H^-1
    double *            sw, *work, *swh; // [total][k] S W of a batch; [total][k or 3 R]; [total][k] S W H^-1
} setup;

static flx_status pack(const setup* u, int32_t faces, int64_t rows, int64_t columns, const double* m, flx_panel* out)
{
    return flx__panel_create(u->s->ctx, FLX_PRECISION_DOUBLE, faces, (int32_t)rows, (int32_t)columns, m, out);
}

/// What rounds use.
static flx_status pack_real(const setup* u, int32_t faces, int64_t rows, int64_t columns, const double* m,
                            flx_panel* out)
{
    return flx__panel_create(u->s->ctx, u->s->precision, faces, (int32_t)rows, (int32_t)columns, m, out);
}

/// m L, m [rows][k]: [faces][rows][R], or [rows][3][R] when shared.
static void times_lift(const setup* u, int rows, const double* m, double* out)
{
    for (int64_t d = 0; d < u->s->model->faces && u->modes > 0; ++d)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, u->modes, u->k, 1.0, m, u->k,
                    u->s->model->lift + d * u->k * u->modes, u->modes, 0.0, out + d * (u->shared ? 1 : rows) * u->modes,
                    u->shared ? 3 * u->modes : u->modes);
}

static flx_status pack_weights(const setup* u, flx_samples* of)
{
    const int total = (int)of->total, k = u->k;
    for (int64_t i = 0; i < total; ++i) cblas_dscal(k, of->of->weight[i / of->rows], u->sw + i * k, 1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, total, k, 1.0, u->inverse, k, u->sw, k, 0.0, u->work,
                total);
    return of->of->reduced ? pack_real(u, 1, k, total, u->work, &of->to_y) : pack(u, 1, k, total, u->work, &of->to_y);
}

static flx_status pack_fit(const setup* u, flx_samples* of)
{
    flx_status    status = FLX_OK;
    const int32_t faces  = u->shared ? 0 : u->s->model->faces;
    const int64_t wide   = (u->shared ? 3 : 1) * of->total;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)of->total, u->k, u->k, 1.0, u->sw, u->k, u->inverse,
                u->k, 0.0, u->swh, u->k);
    times_lift(u, (int)of->total, u->swh, u->work);
    FLX_TRY(pack_real(u, faces, wide, u->modes, u->work, &of->from_y));
    FLX_TRY(pack_real(u, faces, of->of->modes, wide, of->of->fit, &of->to_y));
done:
    return status;
}

static flx_status pack_split(const setup* u, flx_samples* of)
{
    flx_status    status = FLX_OK;
    const int64_t r = of->of->modes, total = of->total;
    FLX_TRY(pack_real(u, 1, total, r, of->of->at, &of->from_y));
    for (int64_t i = 0; i < total; ++i)
        for (int64_t c = 0; c < r; ++c) u->work[c * total + i] = of->of->weight[i / of->rows] * of->of->at[i * r + c];
    FLX_TRY(pack_real(u, 1, r, total, u->work, &of->to_y));
done:
    return status;
}

/// An array of the rounds' precision: `same` where that is double.
static flx_status make_real(const flx_reduced_solver* s, void** real, double* same, int64_t count)
{
    *real = same;
    if (s->precision == FLX_PRECISION_DOUBLE) return FLX_OK;
    *real = flx__alloc_zero(s->ctx, count, sizeof(float));
    return *real ? FLX_OK : FLX_ERR_MEMORY;
}

static flx_status pack_batch(setup* u, int32_t b)
{
    flx_status    status = FLX_OK;
    flx_samples*  of     = &u->s->samples[b];
    const int64_t wide   = u->k > 3 * u->modes ? u->k : 3 * u->modes;
    FLX_NEW(u->s->ctx, u->sw, of->total * u->k);
    FLX_NEW(u->s->ctx, u->swh, of->total * u->k);
    FLX_NEW(u->s->ctx, u->work, of->total * wide);
    if (of->total == 0) goto done;
    FLX_TRY(make_real(u->s, &of->z_real, of->z, flx__panel_room(FLX_PRECISION_SINGLE, of->total)));
    FLX_TRY(make_real(u->s, &of->p_real, of->p, flx__panel_room(FLX_PRECISION_SINGLE, of->total)));
    if (of->of->at)
    {
        FLX_TRY(pack_split(u, of));
        goto done;
    }
    FLX_NEW(u->s->ctx, of->z0, flx__panel_room(FLX_PRECISION_DOUBLE, of->total));
    FLX_TRY(make_real(u->s, &of->z0_real, of->z0, flx__panel_room(FLX_PRECISION_SINGLE, of->total)));
    for (int32_t i = 0; i < of->of->element_count; ++i)
        flx__samples_measure(of->full, of->of->element[i], u->s->model->w, u->k, u->sw + (int64_t)i * of->rows * u->k);
    FLX_TRY(pack(u, 1, of->total, u->k, u->sw, &of->from_a));
    if (!of->of->fit) FLX_TRY(pack_real(u, 1, of->total, u->k, u->sw, &of->from_y));
    FLX_TRY(of->of->fit ? pack_fit(u, of) : pack_weights(u, of));
done:
    flx__free(u->s->ctx, u->sw);
    flx__free(u->s->ctx, u->swh);
    flx__free(u->s->ctx, u->work);
    u->sw = u->swh = u->work = NULL;
    return status;
}

/// (I/h^2 + w_a W_held^T W_held)^-1, which gives the first iterate from rhs0: the inertial target with held vertices on
/// theirs, as near as the subspace comes to it.
static flx_status pack_start(const setup* u)
{
    flx_status           status = FLX_OK;
    const flx_pd_system* system = u->s->system;
    const int            k      = u->k;
    double*              m      = NULL;
    FLX_NEW_ZERO(u->s->ctx, m, (int64_t)k * k);
    for (int i = 0; i < k; ++i) m[i * (k + 1)] = 1.0 / (system->h * system->h);
    for (int32_t i = 0; i < system->held_count; ++i)
    {
        const double* w = u->s->model->w + (int64_t)system->held[i] * k;
        cblas_dger(CblasRowMajor, k, k, system->held_weight, w, 1, w, 1, m, k);
    }
    FLX_TRY(flx__dense_inverse_f64(u->s->ctx, k, m, k, NULL));
    FLX_TRY(pack(u, 1, k, k, m, &u->s->start));
done:
    flx__free(u->s->ctx, m);
    return status;
}

/// What turns coefficients y into a, and for secs both into eta = L^T a.
static flx_status pack_lift(const setup* u)
{
    flx_status          status = FLX_OK;
    flx_reduced_solver* s      = u->s;
    const int           k = u->k, modes = u->modes;
    double *            m = NULL, *eta = NULL;
    FLX_NEW(s->ctx, m, 3 * (int64_t)k * modes);
    FLX_NEW(s->ctx, eta, (int64_t)modes * (modes > k ? modes : k));
    times_lift(u, k, u->inverse, m);
    FLX_TRY(pack(u, u->shared ? 0 : s->model->faces, (u->shared ? 3 : 1) * k, modes, m, &s->a_from_y));
    if (!is_secs(s) || modes == 0) goto done;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, modes, modes, k, 1.0, s->model->lift, modes, m, modes, 0.0,
                eta, modes);
    FLX_TRY(pack_real(u, 1, modes, modes, eta, &s->eta_from_y));
    for (int64_t i = 0; i < k; ++i)
        for (int64_t c = 0; c < modes; ++c) eta[c * k + i] = s->model->lift[i * modes + c];
    FLX_TRY(pack(u, 1, modes, k, eta, &s->eta_from_a));
done:
    flx__free(s->ctx, m);
    flx__free(s->ctx, eta);
    return status;
}

static flx_status allocate(flx_reduced_solver* s)
{
    flx_status    status = FLX_OK;
    const int64_t k = s->model->subspace, k3 = flx__panel_room(FLX_PRECISION_SINGLE, k), n = s->system->n;
    const int64_t y3 = 2 * flx__panel_room(FLX_PRECISION_SINGLE, y_rows(s)); // whole blocks of every batch
    FLX_NEW_ZERO(s->ctx, s->a, k3);
    FLX_NEW_ZERO(s->ctx, s->velocity, k3);
    FLX_NEW(s->ctx, s->a_next, k3);
    FLX_NEW(s->ctx, s->rhs0, k3);
    FLX_NEW(s->ctx, s->c0, k3);
    FLX_NEW(s->ctx, s->held_w, s->system->held_count * k);
    FLX_NEW_ZERO(s->ctx, s->pulled, 3 * n);
    FLX_NEW_ZERO(s->ctx, s->pull, k3);
    FLX_NEW(s->ctx, s->pull_part, (n + GRAIN - 1) / GRAIN * 6 * k);
    FLX_NEW_ZERO(s->ctx, s->y, y3);
    FLX_NEW_ZERO(s->ctx, s->eta, y3);
    FLX_NEW_ZERO(s->ctx, s->e0, y3);
    FLX_TRY(make_real(s, &s->y_real, s->y, y3));
    FLX_TRY(make_real(s, &s->eta_real, s->eta, y3));
    FLX_TRY(make_real(s, &s->e0_real, s->e0, y3));
    FLX_TRY(make_real(s, &s->a_real, NULL, k3));
    for (int64_t i = 0; i < s->system->held_count; ++i)
        for (int64_t c = 0; c < k; ++c)
            s->held_w[i * k + c] = s->system->held_weight * s->model->w[s->system->held[i] * k + c];
done:
    return status;
}

/// Multiplications of a round from y to y, and with a between.
static bool from_y_is_shorter(const flx_reduced_solver* s)
{
    const flx_reduced_model* m     = s->model;
    int64_t                  total = 0;
    if (has_weights(s)) return true;
    for (int32_t b = 0; b < m->batch_count; ++b) total += m->batch[b].reduced ? s->samples[b].total : 0;
    const int64_t with_a = (int64_t)m->subspace * (m->modes + (is_secs(s) ? m->modes : total));
    return (is_secs(s) ? m->modes : total) * (int64_t)m->modes <= with_a;
}

flx_status flx__subspace_create(flx_reduced_solver* s)
{
    flx_status               status = FLX_OK;
    const flx_reduced_model* m      = s->model;
    setup                    u      = {.s = s, .k = m->subspace, .modes = m->modes, .shared = m->fit == FLX_FIT_SHARED};
    FLX_TRY(allocate(s));
    FLX_NEW(s->ctx, u.inverse, (int64_t)u.k * u.k);
    memcpy(u.inverse, m->matrix, (size_t)u.k * (size_t)u.k * sizeof *u.inverse);
    FLX_TRY(flx__dense_inverse_f64(s->ctx, u.k, u.inverse, u.k, NULL));
    FLX_TRY(pack(&u, 1, u.k, u.k, u.inverse, &s->inverse));
    FLX_TRY(pack_real(&u, 1, m->n, u.k, m->w, &s->positions));
    FLX_TRY(pack_start(&u));
    if (!has_weights(s)) FLX_TRY(pack_lift(&u));
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(pack_batch(&u, b));
    s->from_y_is_shorter = from_y_is_shorter(s);
    FLX_TRY(flx__subspace_hold_create(s));
done:
    flx__free(s->ctx, u.inverse);
    return status;
}

static void release_real(const flx_reduced_solver* s, void* real)
{
    if (s->precision == FLX_PRECISION_SINGLE) flx__free(s->ctx, real);
}

void flx__subspace_destroy(flx_reduced_solver* s)
{
    flx_panel* const owned[] = {&s->positions, &s->inverse, &s->start, &s->a_from_y, &s->eta_from_a, &s->eta_from_y};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) flx__panel_release(s->ctx, owned[i]);
    void* const real[] = {s->y_real, s->eta_real, s->e0_real, s->a_real};
    for (size_t i = 0; i < sizeof real / sizeof *real; ++i) release_real(s, real[i]);
    for (int32_t b = 0; b < s->model->batch_count; ++b)
    {
        release_real(s, s->samples[b].z_real);
        release_real(s, s->samples[b].p_real);
        release_real(s, s->samples[b].z0_real);
        flx__panel_release(s->ctx, &s->samples[b].from_a);
        flx__panel_release(s->ctx, &s->samples[b].from_y);
        flx__panel_release(s->ctx, &s->samples[b].to_y);
    }
}

// --- between a and the mesh -----------------------------------------------------------------------------------

typedef struct product
{
    const flx_reduced_solver* s;
    const void*               in;
    const double*             mass; // W^T M x; NULL: W^T x
    double*                   out;
} product;

static void expand_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p = user;
    (void)worker;
    if (p->s->precision == FLX_PRECISION_DOUBLE)
    {
        flx__panel_multiply_rows(&p->s->positions, begin, end, p->in, p->out + 3 * begin);
        return;
    }
    float x[3 * GRAIN];
    flx__panel_multiply_rows(&p->s->positions, begin, end, p->in, x);
    flx__widen(3 * (end - begin), x, p->out + 3 * begin);
}

/// x [n][3] = W a
static void expand(const flx_reduced_solver* s, const double* a, double* x)
{
    product p = {.s = s, .in = a, .out = x};
    if (s->precision == FLX_PRECISION_SINGLE)
    {
        flx__narrow(3 * (int64_t)s->model->subspace, a, s->a_real);
        p.in = s->a_real;
    }
    flx__parallel_for(s->ctx, s->system->n, GRAIN, expand_range, &p);
}

static void gather_range(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p    = user;
    const int64_t  k    = p->s->model->subspace;
    double*        part = p->out + begin / GRAIN * 6 * k;
    double         weighed[3 * GRAIN];
    const double*  x = (const double*)p->in + 3 * begin;
    (void)worker;
    for (int64_t i = 0; i < 3 * (end - begin) && p->mass; ++i) weighed[i] = p->mass[begin + i / 3] * x[i];
    memset(part, 0, (size_t)(3 * k) * sizeof *part);
    p->s->positions.kernels->pull(end - begin, (int32_t)k, p->s->model->w + begin * k, p->mass ? weighed : x,
                                  part + 3 * k, part);
}

/// out [k][3] = W^T x, or W^T M x: the nearest a
static void gather(const flx_reduced_solver* s, const double* x, const double* mass, double* out)
{
    const int64_t n = s->system->n, k3 = 3 * (int64_t)s->model->subspace;
    product       p = {.s = s, .in = x, .mass = mass, .out = s->pull_part};
    flx__parallel_for(s->ctx, n, GRAIN, gather_range, &p);
    memset(out, 0, (size_t)k3 * sizeof *out);
    for (int64_t chunk = 0; chunk * GRAIN < n; ++chunk)
        for (int64_t i = 0; i < k3; ++i) out[i] += s->pull_part[2 * chunk * k3 + i];
}

void flx__subspace_start(flx_reduced_solver* s, const flx_pd_state* state)
{
    gather(s, state->q, s->system->mass, s->a);
    gather(s, state->v, s->system->mass, s->velocity);
}

void flx__subspace_read(flx_reduced_solver* s, flx_pd_state* state)
{
    expand(s, s->a, state->q);
    if (state->v) expand(s, s->velocity, state->v);
    s->counts.read_entries += (state->v ? 2 : 1) * (int64_t)s->system->n * (3 + (int64_t)s->model->subspace);
}

// --- the start of a frame -------------------------------------------------------------------------------------

/// pull [k][3] := W^T f; kept while the forces stay what they are, as gravity does.
static void project_force(flx_reduced_solver* s, const flx_pd_drive* drive)
{
    flx_pd_system* system = s->system;
    const int64_t  n      = system->n;
    if (drive->steady && s->pulled_by == drive->force && s->pulled_user == drive->user) return;
    s->pulled_by   = drive->steady ? drive->force : NULL;
    s->pulled_user = drive->user;
    memset(system->force, 0, (size_t)n * 3 * sizeof *system->force);
    drive->force(drive->user, s->state.frame + 1, system->force);
    s->counts.frame_entries += 3 * n;
    if (memcmp(s->pulled, system->force, (size_t)n * 3 * sizeof *s->pulled) == 0) return;
    gather(s, system->force, NULL, s->pull);
    memcpy(s->pulled, system->force, (size_t)n * 3 * sizeof *s->pulled);
    s->counts.frame_entries += n * s->model->subspace;
}

static void place_held(const flx_pd_system* system, const flx_pd_drive* drive, int32_t frame)
{
    for (int32_t i = 0; i < system->held_count; ++i)
        memcpy(system->place + 3 * (int64_t)i, system->x_rest + 3 * (int64_t)system->held[i], 3 * sizeof(double));
    if (drive && drive->targets) drive->targets(drive->user, frame, system->place);
}

/// c0 += what attachments pull with: their projections are their targets, whatever a is.
static void add_attachments(flx_reduced_solver* s)
{
    for (int32_t b = 0; b < s->model->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        if (of->of->reduced || of->total == 0) continue;
        memcpy(of->packed.param, of->full->param, // targets may have moved
               (size_t)of->full->count * (size_t)of->full->type->params * sizeof(double));
        flx__constraints_project(s->ctx, &of->packed, of->z, of->p);
        s->counts.projections += of->of->element_count;
        for (int32_t j = 0; j < of->of->element_count && s->turned; ++j)
            if (!s->holds[j]) memset(of->p + 3 * (int64_t)j, 0, 3 * sizeof *of->p);
        flx__panel_multiply(&of->to_y, of->p, s->c0, s->c0);
    }
}

/// a_next := the first iterate, c0 := what a would be without projections
static void predict(flx_reduced_solver* s, const flx_pd_drive* drive)
{
    const flx_reduced_model* m      = s->model;
    const flx_pd_system*     system = s->system;
    const int                k      = m->subspace;
    const double             h      = system->still ? 0.0 : system->h;
    const bool               pushed = drive && drive->force;
    for (int i = 0; i < 3 * k; ++i) s->a_next[i] = s->a[i] + h * s->velocity[i];
    if (pushed) project_force(s, drive);
    for (int i = 0; i < 3 * k && pushed && !drive->inertial; ++i) s->a_next[i] += h * h * s->pull[i];
    for (int i = 0; i < 3 * k; ++i) s->rhs0[i] = system->still ? 0.0 : s->a_next[i] / (h * h);
    for (int i = 0; i < 3 * k && pushed && drive->inertial; ++i) s->rhs0[i] += s->pull[i];
    place_held(system, drive, s->state.frame + 1);
    s->positions.kernels->pull(system->held_count, k, s->held_w, system->place, s->pull_part, s->rhs0);
    flx__panel_multiply(&s->inverse, s->rhs0, NULL, s->c0);
    add_attachments(s);
    if (system->held_count > 0) flx__panel_multiply(&s->start, s->rhs0, NULL, s->a_next);
}

// --- rounds ---------------------------------------------------------------------------------------------------

/// Doubles to the precision of rounds.
static void to_real(const flx_reduced_solver* s, int64_t count, const double* from, void* to)
{
    if (s->precision == FLX_PRECISION_SINGLE) flx__narrow(count, from, to);
}

static void from_real(const flx_reduced_solver* s, int64_t count, const void* from, double* to)
{
    if (s->precision == FLX_PRECISION_SINGLE) flx__widen(count, from, to);
}

/// A place in an array of the rounds' precision.
static void* at_real(const flx_reduced_solver* s, void* real, int64_t at)
{
    return (char*)real + at * (int64_t)(s->precision == FLX_PRECISION_SINGLE ? sizeof(float) : sizeof(double));
}

/// What samples, or eta, are at a; `base`: at c0.
static void look(flx_reduced_solver* s, const double* a, bool base)
{
    const int64_t modes = s->model->modes;
    if (is_secs(s) && modes > 0)
    {
        flx__panel_multiply(&s->eta_from_a, a, NULL, base ? s->e0 : s->eta);
        to_real(s, 3 * modes, base ? s->e0 : s->eta, base ? s->e0_real : s->eta_real);
    }
    for (int32_t b = 0; b < s->model->batch_count && !is_secs(s); ++b)
    {
        flx_samples* of = &s->samples[b];
        if (!of->of->reduced || of->total == 0) continue;
        flx__panel_multiply(&of->from_a, a, NULL, base ? of->z0 : of->z);
        to_real(s, 3 * of->total, base ? of->z0 : of->z, base ? of->z0_real : of->z_real);
    }
}

/// The same from y alone.
static void look_from_y(flx_reduced_solver* s)
{
    if (is_secs(s) && s->model->modes > 0) flx__panel_multiply(&s->eta_from_y, s->y_real, s->e0_real, s->eta_real);
    for (int32_t b = 0; b < s->model->batch_count && !is_secs(s); ++b)
    {
        flx_samples* of = &s->samples[b];
        if (of->of->reduced && of->total > 0) flx__panel_multiply(&of->from_y, s->y_real, of->z0_real, of->z_real);
    }
}

/// y of all batches: each has its own rows, but with weights they add up.
static void local_step(flx_reduced_solver* s)
{
    const flx_reduced_model* m     = s->model;
    const int64_t            each  = m->fit == FLX_FIT_SHARED ? 1 : 3;
    void*                    added = NULL;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        flx_samples* of = &s->samples[b];
        if (of->total == 0 || !of->of->reduced) continue;
        const int64_t at = has_weights(s) ? 0 : each * of->of->first_mode; // what is written beyond is the next one's
        if (is_secs(s)) flx__panel_multiply(&of->from_y, at_real(s, s->eta_real, at), NULL, of->z_real);
        from_real(s, 3 * of->total, of->z_real, of->z);
        flx__constraints_project(s->ctx, &of->packed, of->z, of->p);
        to_real(s, 3 * of->total, of->p, of->p_real);
        s->counts.projections += of->of->element_count;
        if (m->method == FLX_REDUCTION_W) s->counts.round_entries += of->total * (3 + (int64_t)m->subspace);
        flx__panel_multiply(&of->to_y, of->p_real, added, at_real(s, s->y_real, at));
        if (has_weights(s)) added = s->y_real;
    }
}

/// a_next from y
static void settle(flx_reduced_solver* s)
{
    from_real(s, (s->model->fit == FLX_FIT_SHARED ? 1 : 3) * (int64_t)y_rows(s), s->y_real, s->y);
    if (!has_weights(s))
        flx__panel_multiply(&s->a_from_y, s->y, s->c0, s->a_next);
    else
        for (int i = 0; i < 3 * s->model->subspace; ++i) s->a_next[i] = s->c0[i] + s->y[i];
    if (s->system->still && s->system->rate > 0) // masses keep a round near the last one
    {
        for (int i = 0; i < 3 * s->model->subspace; ++i) s->rhs0[i] = s->system->rate * s->a_last[i];
        flx__panel_multiply(&s->inverse, s->rhs0, s->a_next, s->a_next);
    }
    if (s->turned) flx__subspace_turn(s, s->a_next);
}

flx_status flx__subspace_frame(flx_reduced_solver* s, const flx_pd_drive* drive, int32_t rounds,
                               flx_reduced_watch_fn watch, void* watch_user)
{
    const flx_status held = flx__subspace_hold(s, drive);
    if (held != FLX_OK) return held;
    const bool from_y = s->from_y_is_shorter && !s->act && !s->turned && !s->system->still;
    bool       finite = true;
    predict(s, drive);
    if (s->act) s->act(s->act_user, s->state.frame + 1, -1, s->a_next);
    look(s, s->a_next, false);
    if (from_y) look(s, s->c0, true);
    for (int32_t round = 0; round < rounds; ++round)
    {
        const bool last = round + 1 == rounds;
        memcpy(s->a_last, s->a_next, 3 * (size_t)s->model->subspace * sizeof *s->a_last);
        local_step(s);
        if (!from_y || watch || last) settle(s);
        if (s->act) s->act(s->act_user, s->state.frame + 1, round, s->a_next);
        if (!last && from_y) look_from_y(s);
        if (!last && !from_y) look(s, s->a_next, false);
        if (!watch) continue;
        expand(s, s->a_next, s->system->rhs);
        watch(watch_user, s->state.frame + 1, round, s->system->rhs);
    }
    for (int i = 0; i < 3 * s->model->subspace; ++i)
    {
        s->velocity[i] = (s->a_next[i] - s->a[i]) / s->system->h;
        s->a[i]        = s->a_next[i];
        finite         = finite && isfinite(s->a[i]) && isfinite(s->velocity[i]);
    }
    ++s->state.frame;
    return finite ? FLX_OK
                  : flx__fail(s->ctx, FLX_ERR_NONFINITE, "positions of frame %d are not finite", s->state.frame);
}
