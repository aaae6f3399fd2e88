// Training: snapshots from positions, a basis for each batch, elements and fits, acceptance.
#include "reduce/train.h"

#include "sparse/blas.h"

#include <stdio.h>
#include <string.h>

#define LEAST_SUBSPACE 4 // [1, X]

flx_reduction_options flx__reduction_options_default(flx_reduction method, int32_t modes)
{
    // least: below 0.03 directions of V go slack; amplify: whole-element fits stay below 20, published block DEIM
    // lies between 1e3 and 1e19
    return (flx_reduction_options){.method     = method,
                                   .modes      = modes,
                                   .batches    = UINT32_MAX,
                                   .truncation = 1e-11,
                                   .match      = 0.2,
                                   .least      = 0.03,
                                   .amplify    = 200.0};
}

// --- snapshots ------------------------------------------------------------------------------------------------

static flx_status take_snapshots(flx_trainer* t, int32_t b)
{
    flx_status                  status = FLX_OK;
    const flx_constraint_batch* batch  = &t->system->batch[b];
    flx_batch_snapshots*        s      = &t->snapshot[b];
    s->rows                            = (int64_t)batch->count * batch->type->rows;
    s->frames                          = t->training->frame_count;
    if (t->training->batch_limit && t->training->batch_limit[b] < s->frames) s->frames = t->training->batch_limit[b];
    FLX_NEW(t->ctx, s->z, s->frames * s->rows * 3);
    FLX_NEW(t->ctx, s->p, s->frames * s->rows * 3);
    for (int32_t f = 0; f < s->frames; ++f)
    {
        double *z = s->z + f * s->rows * 3, *p = s->p + f * s->rows * 3;
        flx__constraints_measure(t->ctx, batch, t->training->q + (int64_t)f * t->system->n * 3, z);
        flx__constraints_project(t->ctx, batch, z, p);
    }
done:
    return status;
}

static flx_status pod_of(flx_trainer* t, int32_t b, int64_t rows, int32_t columns, const double* snapshot)
{
    flx_pod_options options = flx__pod_options_default();
    options.most_modes      = t->options->modes;
    options.truncation      = t->options->truncation;
    return flx__pod_create(t->ctx, rows, columns, snapshot, &options, &t->basis[b]);
}

static flx_status scalar_basis(flx_trainer* t, int32_t b)
{
    flx_status                 status = FLX_OK;
    const flx_batch_snapshots* s      = &t->snapshot[b];
    double*                    split  = NULL;
    FLX_NEW(t->ctx, split, s->rows * 3 * s->frames);
    flx__pod_split_axes(s->rows, s->frames, s->p, split);
    FLX_TRY(pod_of(t, b, s->rows, 3 * s->frames, split));
done:
    flx__free(t->ctx, split);
    return status;
}

static flx_status make_basis(flx_trainer* t, int32_t b)
{
    const flx_batch_snapshots* s = &t->snapshot[b];
    switch (t->options->method)
    {
    case FLX_REDUCTION_SECS:
    case FLX_REDUCTION_W_SECS:
        return flx__secs_basis(t, b);
    case FLX_REDUCTION_POU:
        return flx__pou_basis(t, b);
    case FLX_REDUCTION_GPDS:
        return scalar_basis(t, b);
    default:
        return pod_of(t, b, 3 * s->rows, s->frames, s->p);
    }
}

// --- elements -------------------------------------------------------------------------------------------------

int32_t flx__train_element_count(const flx_trainer* t, int32_t b, int32_t each)
{
    const int32_t modes  = t->model->batch[b].modes > 0 ? t->model->batch[b].modes : t->model->subspace;
    const int32_t wanted = t->options->elements > 0 ? t->options->elements : each * modes;
    const int32_t count  = t->system->batch[b].count;
    return wanted < count ? wanted : count;
}

flx_status flx__train_take_rows(flx_trainer* t, int32_t b, int32_t count, const int64_t* row, int32_t rows_each)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &t->model->batch[b];
    FLX_NEW(t->ctx, batch->element, count);
    batch->element_count = 0;
    for (int32_t i = 0; i < count; ++i)
    {
        const int32_t element = (int32_t)(row[i] / rows_each);
        int32_t       at      = batch->element_count;
        while (at > 0 && batch->element[at - 1] > element) --at;
        if (at > 0 && batch->element[at - 1] == element) continue;
        memmove(batch->element + at + 1, batch->element + at,
                (size_t)(batch->element_count - at) * sizeof *batch->element);
        batch->element[at] = element;
        ++batch->element_count;
    }
done:
    return status;
}

int64_t flx__train_row_place(const flx_reduced_batch* batch, int64_t row, int32_t rows_each)
{
    int32_t at = 0;
    while (batch->element[at] != row / rows_each) ++at;
    return (int64_t)at * rows_each + row % rows_each;
}

// --- modes ----------------------------------------------------------------------------------------------------

// One y [count][rows][3] is one mode with three faces, or three modes with one face.
static void fill_modes(const flx_trainer* t, int32_t b, int32_t mode, double* y)
{
    const flx_pod* v    = &t->basis[b];
    const int64_t  rows = t->snapshot[b].rows;
    if (t->model->faces == 3)
    {
        memcpy(y, v->mode + 3 * rows * mode, (size_t)(3 * rows) * sizeof *y);
        return;
    }
    memset(y, 0, (size_t)(3 * rows) * sizeof *y);
    for (int32_t d = 0; d < 3 && mode + d < t->model->batch[b].modes; ++d)
        for (int64_t i = 0; i < rows; ++i) y[3 * i + d] = v->mode[rows * (mode + d) + i];
}

static void store_modes(const flx_reduced_model* m, int32_t b, int32_t mode, const double* f, double* out)
{
    const int64_t n = m->n, columns = m->modes;
    for (int32_t d = 0; d < 3; ++d)
    {
        const int32_t column = mode + (m->faces == 3 ? 0 : d);
        if (column >= m->batch[b].modes) break;
        double* face = out + (m->faces == 3 ? d * n * columns : 0) + m->batch[b].first_mode + column;
        for (int64_t v = 0; v < n; ++v) face[v * columns] = f[3 * v + d];
    }
}

flx_status flx__train_modes(flx_trainer* t, int32_t b, double* load, double* response)
{
    flx_status     status = FLX_OK;
    flx_pd_system* system = t->system;
    double *       y = NULL, *f = NULL;
    FLX_NEW(t->ctx, y, 3 * t->snapshot[b].rows);
    FLX_NEW(t->ctx, f, 3 * (int64_t)system->n);
    for (int32_t k = 0; k < t->model->batch[b].modes; k += t->model->faces == 3 ? 1 : 3)
    {
        fill_modes(t, b, k, y);
        memset(f, 0, (size_t)system->n * 3 * sizeof *f);
        flx__constraints_gather(t->ctx, &system->batch[b], &system->gather[b], y, f);
        if (load) store_modes(t->model, b, k, f, load);
        if (!response) continue;
        flx__pd_solve(system, f);
        store_modes(t->model, b, k, f, response);
    }
done:
    flx__free(t->ctx, y);
    flx__free(t->ctx, f);
    return status;
}

// --- a model ------------------------------------------------------------------------------------------------------

static flx_status train_fit(flx_trainer* t, int32_t b)
{
    switch (t->options->method)
    {
    case FLX_REDUCTION_BLOCK_DEIM:
    case FLX_REDUCTION_W_BLOCK_DEIM:
        return flx__train_block_deim(t, b);
    case FLX_REDUCTION_DEIM:
    case FLX_REDUCTION_QDEIM:
        return flx__train_deim(t, b);
    case FLX_REDUCTION_POU:
        return flx__train_pou(t, b);
    default:
        return flx__train_gpd(t, b);
    }
}

static flx_status check_subspace(flx_context* ctx, const flx_pd_system* system, const flx_reduction_options* o)
{
    if (o->subspace == 0) return FLX_OK;
    if (!flx__reduction_in_subspace(o->method))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "subspace = %d: '%s' keeps positions whole, it has none", o->subspace,
                         flx__reduction_name(o->method));
    if (o->subspace < LEAST_SUBSPACE || o->subspace > system->n)
        return flx__fail(ctx, FLX_ERR_ARGUMENT,
                         "subspace = %d is outside [%d, %d]: every affine pose belongs to it, and the mesh has no more "
                         "vertices",
                         o->subspace, LEAST_SUBSPACE, system->n);
    return FLX_OK;
}

static flx_status check_handles(flx_context* ctx, const flx_pd_system* system, const flx_reduction_options* o)
{
    if (o->handles == 0) return FLX_OK;
    if (!flx__reduction_in_subspace(o->method))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "handles = %d: '%s' keeps positions whole, it has no subspace",
                         o->handles, flx__reduction_name(o->method));
    if (o->handles < 1 || o->handles > system->n)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "handles = %d is outside [1, %d]: the mesh has no more vertices",
                         o->handles, system->n);
    if (o->subspace > 0)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "subspace = %d and handles = %d: one of them", o->subspace, o->handles);
    return FLX_OK;
}

static flx_status check_options(flx_context* ctx, const flx_pd_system* system, const flx_training* training,
                                const flx_reduction_options* o)
{
    flx_status status = FLX_OK;
    if ((unsigned)o->method >= FLX_REDUCTION_COUNT)
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "there is no reduction number %d", (int)o->method);
    if (o->modes < 1) return flx__fail(ctx, FLX_ERR_ARGUMENT, "modes = %d: at least 1", o->modes);
    FLX_TRY(check_subspace(ctx, system, o));
    FLX_TRY(check_handles(ctx, system, o));
    if (o->elements < 0) return flx__fail(ctx, FLX_ERR_ARGUMENT, "elements = %d is negative", o->elements);
    if (training->frame_count < 1) return flx__fail(ctx, FLX_ERR_ARGUMENT, "there are no frames to learn from");
    for (int32_t b = 0; b < system->batch_count; ++b)
        if (training->batch_limit && training->batch_limit[b] < 1)
            return flx__fail(ctx, FLX_ERR_ARGUMENT, "there are no frames to learn from for %s",
                             system->batch[b].type->name);
done:
    return status;
}

static bool is_reduced(const flx_pd_system* system, const flx_reduction_options* o, int32_t b)
{
    if (system->batch[b].type == &flx__attachment) return false; // linear: nothing to gain
    return flx__reduction_in_subspace(o->method) || b >= 32 || (o->batches >> b & 1);
}

static flx_status begin_model(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* model  = NULL;
    FLX_NEW_ZERO(t->ctx, model, 1);
    t->model           = model;
    model->ctx         = t->ctx;
    model->method      = t->options->method;
    model->fit         = flx__reduction_fit(model->method);
    model->faces       = model->fit == FLX_FIT_SHARED || model->fit == FLX_FIT_SPLIT ? 3 : 1;
    model->system_hash = flx__pd_system_hash(t->system);
    model->n           = t->system->n;
    model->batch_count = t->system->batch_count;
    FLX_NEW_ZERO(t->ctx, model->batch, model->batch_count);
    for (int32_t b = 0; b < model->batch_count; ++b)
    {
        const flx_constraint_batch* full  = &t->system->batch[b];
        flx_reduced_batch*          batch = &model->batch[b];
        snprintf(batch->type, sizeof batch->type, "%s", full->type->name);
        batch->count   = full->count;
        batch->rows    = full->type->rows;
        batch->reduced = is_reduced(t->system, t->options, b);
    }
done:
    return status;
}

static flx_status make_bases(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* model  = t->model;
    const bool         modes  = model->fit != FLX_FIT_NONE || flx__reduction_is_secs(model->method);
    for (int32_t b = 0; b < model->batch_count; ++b)
    {
        model->batch[b].first_mode = model->modes;
        if (!model->batch[b].reduced) continue;
        FLX_TRY(take_snapshots(t, b));
        if (!modes) continue;
        FLX_TRY(make_basis(t, b));
        model->batch[b].modes = t->basis[b].rank;
        model->modes += t->basis[b].rank;
    }
done:
    return status;
}

static flx_status train_fits(flx_trainer* t)
{
    flx_status         status = FLX_OK;
    flx_reduced_model* model  = t->model;
    for (int32_t b = 0; b < model->batch_count; ++b)
        if (model->batch[b].modes > 0) FLX_TRY(train_fit(t, b));
    if (flx__reduction_in_subspace(model->method)) goto done;
    FLX_NEW_ZERO(t->ctx, model->response, (int64_t)model->faces * model->n * model->modes);
    for (int32_t b = 0; b < model->batch_count; ++b) FLX_TRY(flx__train_modes(t, b, NULL, model->response));
done:
    return status;
}

static void release_trainer(flx_trainer* t)
{
    for (int32_t b = 0; b < t->system->batch_count; ++b)
    {
        if (t->snapshot) flx__free(t->ctx, t->snapshot[b].z);
        if (t->snapshot) flx__free(t->ctx, t->snapshot[b].p);
        if (t->basis) flx__pod_release(t->ctx, &t->basis[b]);
    }
    flx__free(t->ctx, t->snapshot);
    flx__free(t->ctx, t->basis);
    flx__reduced_model_destroy(t->model);
}

flx_status flx__reduce_train(flx_pd_system* system, const flx_training* training, const flx_reduction_options* options,
                             flx_reduced_model** out)
{
    FLX_ASSERT(system && training && options && out);
    flx_status   status = FLX_OK;
    flx_trainer  t      = {.ctx = system->ctx, .system = system, .training = training, .options = options};
    const double start  = flx__now();

    *out = NULL;
    blas_single_thread();
    FLX_TRY(check_options(t.ctx, system, training, options));
    FLX_NEW_ZERO(t.ctx, t.snapshot, system->batch_count);
    FLX_NEW_ZERO(t.ctx, t.basis, system->batch_count);
    FLX_TRY(begin_model(&t));
    FLX_TRY(make_bases(&t));
    if (t.model->method == FLX_REDUCTION_SECS) FLX_TRY(flx__train_secs(&t));
    if (t.model->fit != FLX_FIT_NONE) FLX_TRY(train_fits(&t));
    if (flx__reduction_in_subspace(t.model->method)) FLX_TRY(flx__train_subspace(&t));
    t.model->seconds = flx__now() - start;
    *out             = t.model;
    t.model          = NULL;

done:
    release_trainer(&t);
    return status;
}
