// Solvers: everything a step needs, made once. Factor, Sigma and its inverse as the strategy wants them, and all
// workspace.
#include "solver/solver_internal.h"

#include "mesh/mesh_internal.h"

#include <math.h>
#include <string.h>

static flx_status report(flx_context* ctx, flx_progress_fn progress, void* user, const char* what, double done)
{
    if (progress && !progress(user, what, done)) return flx__fail(ctx, FLX_ERR_CANCELLED, "cancelled while %s", what);
    return FLX_OK;
}

static flx_status check_choices(flx_solver* s)
{
    const flx_model* m      = s->model;
    const flx_status ranges = flx_settings_check(s->ctx, &s->settings);
    if (ranges != FLX_OK) return ranges;
    if (!s->has_contact || s->settings.strategy == FLX_STRATEGY_COMPLIANCE) return FLX_OK;
    if (m->scene->contact[0].law == FLX_LAW_UNILATERAL)
        return flx__fail(s->ctx, FLX_ERR_SETTING,
                         "strategy: 'refactor', 'full' and 'pcg' know contacts as springs in all directions: give the "
                         "contacts `law: spring`, or use strategy 'compliance'");
    if (s->settings.strategy != FLX_STRATEGY_REFACTOR && s->settings.inner > 1)
        return flx__fail(s->ctx, FLX_ERR_SETTING,
                         "inner = %d: strategies 'full' and 'pcg' solve everything at once; only 1 is allowed",
                         s->settings.inner);
    return FLX_OK;
}

static int32_t body_of(const flx_model* m, int32_t user)
{
    int32_t body = 0;
    while (user >= m->body[body].vertex_first + m->body[body].vertex_count) ++body;
    return body;
}

flx_status flx__check_held(flx_context* ctx, const flx_model* m, double time)
{
    flx_status    status = FLX_OK;
    int32_t *     label = NULL, *element = NULL;
    uint8_t*      held     = NULL;
    int32_t       count    = 0;
    const int64_t elements = (int64_t)m->tet_count + m->cloth_count;
    FLX_NEW(ctx, element, 4 * elements);
    memcpy(element, m->tet, 16 * (size_t)m->tet_count);
    for (int64_t k = 4 * (int64_t)m->tet_count; k < 4 * elements; ++k) // a triangle is a tet with one corner twice
        element[k] = m->cloth[3 * (k / 4 - m->tet_count) + k % 4 % 3];
    FLX_NEW(ctx, label, m->vertex_count);
    FLX_TRY(flx__mesh_components(ctx, m->vertex_count, elements, 4, element, label, &count));
    FLX_NEW_ZERO(ctx, held, count + 1);
    for (int32_t i = 0; i < m->spring_count; ++i)
        if (flx__spring_active(&m->spring[i], time)) held[label[m->spring[i].vertex[0]]] = 1;
    for (int64_t e = 0; e < elements; ++e)
    {
        const int32_t v = element[4 * e];
        if (held[label[v]]) continue;
        const int32_t body = body_of(m, m->user_of[v]), user = m->user_of[v] - m->body[body].vertex_first;
        status = flx__fail(ctx, FLX_ERR_UNHELD,
                           "body '%s': nothing holds the component with vertex %d (at %.4g %.4g %.4g m): attach or fix "
                           "it, set solver.proximal (quasistatic, held by contact), or use mode dynamic",
                           m->scene->body[body].name, user + 1, m->x_rest[3 * (int64_t)v],
                           m->x_rest[3 * (int64_t)v + 1], m->x_rest[3 * (int64_t)v + 2]);
        goto done;
    }
done:
    flx__free(ctx, element);
    flx__free(ctx, label);
    flx__free(ctx, held);
    return status;
}

uint64_t flx__spring_set(const flx_model* m, double time)
{
    uint64_t h = FLX_HASH_START;
    for (int32_t i = 0; i < m->spring_count; ++i)
    {
        const uint8_t active = flx__spring_active(&m->spring[i], time);
        h                    = flx__hash(h, &active, 1);
    }
    return h;
}

static flx_status name_bad_row(const flx_solver* s, int32_t row)
{
    const flx_model* m    = s->model;
    const int32_t    user = m->user_of[row];
    const int32_t    body = body_of(m, user);
    return flx__fail(s->ctx, FLX_ERR_UNHELD,
                     "body '%s': the system matrix is not positive definite at vertex %d: nothing holds it, or a "
                     "stiffness is too small beside the others",
                     m->scene->body[body].name, user - m->body[body].vertex_first + 1);
}

static void drop_factor(flx_solver* s)
{
    flx__factor_destroy(s->factor);
    s->factor = NULL;
    flx__csc_release(s->ctx, &s->matrix);
    flx__csr_release(s->ctx, &s->rows);
    flx__free(s->ctx, s->schur);
    flx__free(s->ctx, s->schur_inverse);
    s->schur = s->schur_inverse = NULL;
    s->spring_set = 0; // no set of springs: the next step with timed springs factorizes, also after a failure
}

// Of a constant displacement; single precision leaves a few 1e-6 of an elbow.
#define INVERSE_ERROR 1e-4

/// The same numbers in single precision; `wide` is freed when that succeeds.
static flx_status narrowed(flx_context* ctx, double* wide, int64_t count, void** out)
{
    float* narrow = flx__alloc(ctx, count, sizeof *narrow);
    if (!narrow) return FLX_ERR_MEMORY;
    for (int64_t i = 0; i < count; ++i) narrow[i] = (float)wide[i];
    flx__free(ctx, wide);
    *out = narrow;
    return FLX_OK;
}

/// Largest deviation from 1 of Sigma^-1 (Sigma 1): the constant vector is what an elastic body resists least.
static double inverse_error(int64_t n, const double* schur, const float* inverse, double* load)
{
    double worst = 0;
    for (int64_t i = 0; i < n; ++i)
    {
        load[i] = 0;
        for (int64_t j = 0; j < n; ++j) load[i] += schur[i * n + j];
    }
    for (int64_t i = 0; i < n; ++i)
    {
        double y = 0;
        for (int64_t j = 0; j < n; ++j) y += (double)inverse[i * n + j] * load[j];
        worst = fmax(worst, fabs(y - 1));
    }
    return worst;
}

/// Sigma^-1 in single precision, at half the time of double; s->schur_inverse stays NULL where rounding would show.
static flx_status invert_single(flx_solver* s, const double* schur)
{
    flx_status    status  = FLX_OK;
    const int64_t entries = (int64_t)s->n2 * s->n2;
    float*        inverse = NULL;
    double*       load    = NULL;
    FLX_NEW(s->ctx, inverse, entries);
    FLX_NEW(s->ctx, load, s->n2);
    for (int64_t i = 0; i < entries; ++i) inverse[i] = (float)schur[i];
    status = flx__dense_inverse_f32(s->ctx, s->n2, inverse, s->n2, NULL);
    if (status == FLX_OK && inverse_error(s->n2, schur, inverse, load) <= INVERSE_ERROR)
    {
        s->schur_inverse = inverse;
        inverse          = NULL;
    }
    if (status == FLX_ERR_UNHELD) status = FLX_OK; // double may do
done:
    flx__free(s->ctx, inverse);
    flx__free(s->ctx, load);
    return status;
}

/// Sigma or its inverse in the precision of the steps.
static flx_status keep_schur(flx_solver* s)
{
    flx_status    status  = FLX_OK;
    const int64_t entries = (int64_t)s->n2 * s->n2;
    double*       schur   = NULL;
    int32_t       bad     = -1;
    const double  begin   = flx__now();
    if (s->n2 == 0) return FLX_OK;
    schur = flx__factor_take_schur(s->factor);
    if (s->single && s->settings.strategy == FLX_STRATEGY_COMPLIANCE) FLX_TRY(invert_single(s, schur));
    if (s->schur_inverse) goto done;
    if (s->settings.strategy == FLX_STRATEGY_COMPLIANCE)
    {
        status = flx__dense_inverse_f64(s->ctx, s->n2, schur, s->n2, &bad);
        if (status == FLX_ERR_UNHELD) status = name_bad_row(s, s->n1 + (bad < 0 ? 0 : bad));
        if (status != FLX_OK) goto done;
    }
    void** const place = s->settings.strategy == FLX_STRATEGY_COMPLIANCE ? &s->schur_inverse : &s->schur;
    if (s->single)
    {
        FLX_TRY(narrowed(s->ctx, schur, entries, place));
        schur = NULL;
    }
    else
    {
        *place = schur;
        schur  = NULL;
    }
done:
    s->info.ms_schur_inverse = 1e3 * (flx__now() - begin);
    flx__free(s->ctx, schur);
    return status;
}

/// The same, from an earlier run or for later ones.
static flx_status find_schur(flx_solver* s, const flx_factor_keep* keep)
{
    void** const place   = s->settings.strategy == FLX_STRATEGY_COMPLIANCE ? &s->schur_inverse : &s->schur;
    s->info.factor_found = keep->beside != NULL;
    *place               = keep->beside;
    if (s->info.factor_found)
    {
        s->info.ms_schur_inverse = 0;
        return FLX_OK;
    }
    const flx_status status = keep_schur(s);
    if (status == FLX_OK) flx__factor_save(s->factor, keep, *place);
    return status;
}

flx_status flx__solver_factorize(flx_solver* s, double time)
{
    flx_status       status = FLX_OK;
    const flx_model* m      = s->model;
    flx_csc          a      = {0};
    int32_t          bad    = -1;

    drop_factor(s);
    if (!(s->inertia > 0)) FLX_TRY(flx__check_held(s->ctx, m, time));
    FLX_TRY(flx__model_assemble(m, time, s->inertia, &a));
    if (s->single && !s->x) flx__rounding_load(s, &a); // until there is a workspace there are no steps
    if (s->settings.strategy == FLX_STRATEGY_PCG)
        FLX_TRY(flx__csr_from_lower(s->ctx, &a, &s->rows));
    else
    {
        const bool               full = s->settings.strategy == FLX_STRATEGY_FULL, whole = full || s->everywhere;
        const int64_t            size = s->single ? 4 : 8;
        flx_factor_keep          keep = {.what = s->settings.strategy, .beside_bytes = (int64_t)s->n2 * s->n2 * size};
        const flx_factor_options options = {.single            = s->single && !full,
                                            .keep_double       = !s->single || full,
                                            .single_arithmetic = s->single && !full,
                                            .keep              = whole ? NULL : &keep};
        status = flx__factor_create(s->ctx, &a, whole ? s->n : s->n1, &options, &bad, &s->factor);
        if (status == FLX_ERR_UNHELD && bad >= 0) status = name_bad_row(s, bad);
        if (status != FLX_OK) goto done;
        const flx_factor_info f = flx__factor_get_info(s->factor);
        s->info.ms_factor       = f.ms_analyze + f.ms_factor;
        s->info.factor_nonzeros = f.nonzeros;
        s->info.factor_flops    = f.flops;
        s->info.forward_bytes   = whole ? 0 : f.forward_entries * size;
        s->info.backward_bytes  = whole ? 0 : f.backward_entries * size;
        s->info.step_bytes_read = (f.forward_entries + f.backward_entries) * size +
                                  (whole ? 0 : (int64_t)s->n2 * s->n2 * size) + (int64_t)m->tet_count * (36 + 4 + 8);
        if (s->everywhere) FLX_TRY(flx__csr_from_lower(s->ctx, &a, &s->rows));
        if (!whole) FLX_TRY(find_schur(s, &keep));
    }
    if (s->settings.strategy == FLX_STRATEGY_FULL)
    {
        s->matrix = a;
        a         = (flx_csc){0};
    }
    s->spring_set = flx__spring_set(m, time);
done:
    flx__csc_release(s->ctx, &a);
    if (status != FLX_OK) drop_factor(s);
    return status;
}

static flx_status element_work(flx_solver* s, const flx_patches* p, flx_element_work* w)
{
    flx_status status = FLX_OK;
    w->force = flx__alloc_zero(s->ctx, 4 * (int64_t)p->local_count, s->single ? sizeof(float) : sizeof(double));
    if (!w->force) return FLX_ERR_MEMORY;
    FLX_NEW_ZERO(s->ctx, w->energy, p->patch_count);
    FLX_NEW_ZERO(s->ctx, w->inverted, p->patch_count);
done:
    return status;
}

static flx_status columns(flx_context* ctx, int64_t count, double* out[3])
{
    for (int c = 0; c < 3; ++c)
        if (!(out[c] = flx__alloc_zero(ctx, count, sizeof(double)))) return FLX_ERR_MEMORY;
    return FLX_OK;
}

static flx_status narrow_columns(flx_context* ctx, int64_t count, float* out[3])
{
    for (int c = 0; c < 3; ++c)
        if (!(out[c] = flx__alloc_zero(ctx, count, sizeof(float)))) return FLX_ERR_MEMORY;
    return FLX_OK;
}

static flx_status cloth_contact(flx_solver* s, const flx_contact_group* g, flx_cloth_contact** out)
{
    flx_status       status   = FLX_OK;
    const flx_model* m        = s->model;
    int32_t*         triangle = NULL;
    FLX_NEW(s->ctx, triangle, 3 * (int64_t)g->search_count);
    for (int64_t k = 0; k < 3 * (int64_t)g->search_count; ++k)
        triangle[k] = m->cloth[3 * (int64_t)g->search[k / 3] + k % 3];
    const flx_cloth_contact_desc d = {.x_rest         = m->x_rest,
                                      .vertex_count   = m->vertex_count,
                                      .triangle_count = g->search_count,
                                      .triangle       = triangle,
                                      .point_count    = g->point_count,
                                      .proxy_count    = g->proxy_count,
                                      .proxy          = m->proxy + g->proxy_first,
                                      .margin         = g->margin,
                                      .offset         = g->offset,
                                      .depth          = g->depth};
    FLX_TRY(flx__cloth_contact_create(s->ctx, &d, out));
done:
    flx__free(s->ctx, triangle);
    return status;
}

static flx_status contact_workspace(flx_solver* s)
{
    flx_status       status  = FLX_OK;
    flx_context*     ctx     = s->ctx;
    const flx_model* m       = s->model;
    const bool       by_rows = s->settings.strategy == FLX_STRATEGY_COMPLIANCE && !s->everywhere;

    s->limits_squeeze = s->has_contact && s->settings.min_stretch > 0 &&
                        s->settings.strategy == FLX_STRATEGY_COMPLIANCE &&
                        m->scene->contact[0].law == FLX_LAW_UNILATERAL;
    const int32_t squeezable = s->limits_squeeze ? m->beta.tet_count : 0;
    if (s->limits_squeeze) FLX_NEW_ZERO(ctx, s->squeeze, squeezable);
    FLX_TRY(flx__contact_work_create(ctx, m->proxy_count + squeezable, 3 * (int64_t)squeezable, by_rows ? s->n2 : 0,
                                     s->single, &s->contact));
    if (s->everywhere) FLX_TRY(flx__everywhere_create(s));
    if (s->settings.strategy == FLX_STRATEGY_REFACTOR)
    {
        s->dense = flx__alloc(ctx, (int64_t)s->n2 * s->n2, s->single ? sizeof(float) : sizeof(double));
        if (!s->dense) return FLX_ERR_MEMORY;
    }

    if (m->group_count == 0) return FLX_OK;
    FLX_NEW_ZERO(ctx, s->self, m->group_count);
    FLX_NEW_ZERO(ctx, s->cloth, m->group_count);
    for (int32_t i = 0; i < m->group_count; ++i)
    {
        const flx_contact_group* g = &m->group[i];
        const flx_body*          b = &m->body[g->body];
        if (g->obstacle >= 0 || g->proxy_count == 0) continue;
        if (b->is_cloth)
        {
            FLX_TRY(cloth_contact(s, g, &s->cloth[i]));
            continue;
        }
        const flx_self_contact_desc d = {.x_rest       = m->x_rest,
                                         .vertex_count = m->vertex_count,
                                         .tet          = m->tet,
                                         .tet_count    = m->tet_count,
                                         .search_count = g->search_count,
                                         .search       = g->search,
                                         .proxy_count  = g->proxy_count,
                                         .proxy        = m->proxy + g->proxy_first,
                                         .field        = g->field,
                                         .bvh          = b->bvh,
                                         .surface_triangle =
                                             m->surface_triangle + 3 * (int64_t)b->surface_triangle_first,
                                         .surface = m->surface,
                                         .prone   = s->prone,
                                         .exclude = g->exclude,
                                         .margin  = g->margin,
                                         .offset  = g->offset,
                                         .depth   = g->depth};
        FLX_TRY(flx__self_contact_create(ctx, &d, &s->self[i]));
        double        deepest  = 0;
        const int32_t overlaps = flx__self_contact_rest_overlaps(s->self[i], &deepest);
        if (overlaps > 0)
            flx__log(ctx, FLX_LOG_NOTICE,
                     "contact[%d]: body '%s' overlaps itself at rest: %d proxies, the deepest by %.3g m; these pairs "
                     "count their gap from there",
                     g->desc, m->scene->body[g->body].name, overlaps, deepest);
    }
done:
    return status;
}

static flx_status workspace(flx_solver* s)
{
    flx_status       status  = FLX_OK;
    flx_context*     ctx     = s->ctx;
    const flx_model* m       = s->model;
    const bool       whole   = s->settings.strategy == FLX_STRATEGY_FULL || s->settings.strategy == FLX_STRATEGY_PCG;
    const int64_t    longest = m->tet_count > s->n ? m->tet_count : s->n;

    double** const field[] = {&s->x, &s->u, &s->u_turned, &s->x_inertial, &s->x_start, &s->x_outer};
    for (size_t i = 0; i < sizeof field / sizeof field[0]; ++i) FLX_NEW_ZERO(ctx, *field[i], 3 * (int64_t)s->n);
    if (s->single && !whole)
        FLX_TRY(narrow_columns(ctx, s->n, s->b_f32));
    else
        FLX_TRY(columns(ctx, s->n, s->b_f64));
    double** const prone[] = {s->base, s->running, s->reduced, s->delta, s->d, s->push};
    for (size_t i = 0; i < sizeof prone / sizeof prone[0]; ++i) FLX_TRY(columns(ctx, s->n2, prone[i]));
    FLX_TRY(narrow_columns(ctx, s->n2, s->narrow_in));
    FLX_TRY(narrow_columns(ctx, s->n2, s->narrow_out));
    if (s->settings.strategy == FLX_STRATEGY_PCG)
    {
        FLX_NEW_ZERO(ctx, s->pcg_work, 18 * (int64_t)s->n);
        FLX_NEW_ZERO(ctx, s->pcg_diagonal, s->n);
    }
    FLX_NEW_ZERO(ctx, s->push_before, m->proxy_count);
    FLX_NEW_ZERO(ctx, s->force_before, 3 * (int64_t)m->proxy_count);
    FLX_NEW_ZERO(ctx, s->prone_before, 3 * (int64_t)m->prone_count);
    FLX_NEW_ZERO(ctx, s->spring_force, 3 * (int64_t)m->spring_count);
    FLX_NEW_ZERO(ctx, s->bone, m->scene->bone_count);
    FLX_NEW_ZERO(ctx, s->prone, s->n);
    for (int32_t v = s->n1; v < s->n; ++v) s->prone[v] = 1;
    FLX_NEW_ZERO(ctx, s->partial, 4 * ((longest + m->spring_count) / FLX_CHUNK + 2));
    FLX_TRY(element_work(s, &m->alpha, &s->alpha));
    FLX_TRY(element_work(s, &m->beta, &s->beta));
    FLX_TRY(flx__pull_create(s));
    const int64_t local = m->alpha.local_max > m->beta.local_max ? m->alpha.local_max : m->beta.local_max;
    s->scratch          = flx__alloc_zero(ctx, flx_context_worker_count(ctx) * 12 * local + 1,
                                 s->single ? sizeof(float) : sizeof(double));
    if (!s->scratch) status = FLX_ERR_MEMORY;
done:
    return status;
}

#define ROUNDING_ERROR 0.1 // steps in single precision leave at most this much of an error; 1e-4 in soft cloth

flx_status flx_solver_create(flx_context* ctx, const flx_model* m, const flx_settings* settings,
                             flx_progress_fn progress, void* user, flx_solver** out)
{
    flx_status    status = FLX_OK;
    flx_solver*   s      = NULL;
    const int64_t before = flx_context_bytes_now(ctx);

    *out = NULL;
    FLX_NEW_ZERO(ctx, s, 1);
    s->ctx         = ctx;
    s->model       = m;
    s->settings    = settings ? *settings : m->scene->settings;
    s->has_contact = m->proxy_count > 0;
    FLX_TRY(check_choices(s));
    s->single     = s->settings.precision == FLX_PRECISION_SINGLE;
    s->kernel     = flx__kernels_for(flx__context_isa(ctx));
    s->corotated  = s->single ? s->kernel.corotated_f32 : s->kernel.corotated_f64;
    s->everywhere = m->contact_everywhere && s->settings.strategy == FLX_STRATEGY_COMPLIANCE;
    s->n = m->vertex_count, s->n1 = m->free_count, s->n2 = m->prone_count;
    const bool dynamic = s->settings.mode == FLX_MODE_DYNAMIC;
    s->dt              = 1 / (m->scene->run.fps * (dynamic ? s->settings.substeps : 1));
    s->inertia         = dynamic ? 1 / (s->dt * s->dt) : s->settings.proximal;
    for (int32_t i = 0; i < m->spring_count; ++i)
        s->timed_springs = s->timed_springs || m->spring[i].from > 0 || m->spring[i].until >= 0;
    s->info.ms_order = m->ms_order;

    FLX_TRY(report(ctx, progress, user, "factorizing", 0));
    FLX_TRY(columns(ctx, s->n, s->r));
    FLX_TRY(flx__solver_factorize(s, s->dt));
    FLX_TRY(report(ctx, progress, user, "preparing contacts", 0.9));
    FLX_TRY(workspace(s));
    FLX_TRY(contact_workspace(s));
    if (s->single && flx__rounding_error(s) > ROUNDING_ERROR)
    {
        flx_settings wide = s->settings;
        wide.precision    = FLX_PRECISION_DOUBLE;
        flx_solver_destroy(s);
        s = NULL;
        flx__log(ctx, FLX_LOG_NOTICE, "stiffnesses lie too far apart for single precision: steps are in double");
        return flx_solver_create(ctx, m, &wide, progress, user, out);
    }
    FLX_TRY(flx__follow_create(s));
    FLX_TRY(flx__accelerator_create(s));
    FLX_TRY(report(ctx, progress, user, "ready", 1));
    s->info.bytes = flx_context_bytes_now(ctx) - before;
    *out          = s;
    s             = NULL;

done:
    flx_solver_destroy(s);
    return status;
}

void flx_solver_destroy(flx_solver* s)
{
    if (!s) return;
    flx_context* ctx = s->ctx;
    drop_factor(s);
    for (int32_t i = 0; s->self && i < s->model->group_count; ++i) flx__self_contact_destroy(s->self[i]);
    for (int32_t i = 0; s->cloth && i < s->model->group_count; ++i) flx__cloth_contact_destroy(s->cloth[i]);
    flx__free(ctx, s->cloth);
    flx__contact_work_release(ctx, &s->contact);
    flx__everywhere_release(s);
    flx__accelerator_destroy(s);
    flx__pull_release(s);
    for (int c = 0; c < 3; ++c)
    {
        void* const column[] = {s->r[c],     s->b_f32[c], s->b_f64[c], s->base[c],      s->running[c],   s->reduced[c],
                                s->delta[c], s->d[c],     s->push[c],  s->narrow_in[c], s->narrow_out[c]};
        for (size_t i = 0; i < sizeof column / sizeof column[0]; ++i) flx__free(ctx, column[i]);
    }
    void* const array[] = {s->dense,
                           s->pcg_work,
                           s->pcg_diagonal,
                           s->x,
                           s->u,
                           s->u_turned,
                           s->x_inertial,
                           s->x_start,
                           s->x_outer,
                           s->push_before,
                           s->force_before,
                           s->prone_before,
                           s->spring_force,
                           s->bone,
                           s->prone,
                           s->squeeze,
                           s->follower,
                           s->follow_weight,
                           s->partial,
                           s->alpha.force,
                           s->alpha.energy,
                           s->alpha.inverted,
                           s->beta.force,
                           s->beta.energy,
                           s->beta.inverted,
                           s->scratch,
                           s->self};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) flx__free(ctx, array[i]);
    flx__free(ctx, s);
}

flx_solver_info flx_solver_get_info(const flx_solver* s)
{
    return s->info;
}
