// The file: attributes say what the model is, arrays have the names and shapes of model.h; batch b's are in group b.
#include "reduce/model_file.h"

#include "recording/h5.h"
#include "recording/sealed.h"

#include <stdio.h>
#include <string.h>

#define MOST_MODES 100000

/// One array of a model: the same table writes and reads.
typedef struct array
{
    char         name[32];
    flx__h5_type type;
    void**       data;
    int64_t      rows, columns; // 0 rows: not there
} array;

static array real_array(const char* name, double** data, int64_t rows, int64_t columns)
{
    array a = {.type = FLX__H5_F64, .data = (void**)data, .rows = columns > 0 ? rows : 0, .columns = columns};
    snprintf(a.name, sizeof a.name, "%s", name);
    return a;
}

#define MODEL_ARRAYS 7
static void model_arrays(flx_reduced_model* m, array out[MODEL_ARRAYS])
{
    const bool    secs = m->method == FLX_REDUCTION_SECS, fits = m->fit != FLX_FIT_NONE, inside = m->subspace > 0;
    const int64_t n = m->n, r = m->modes, k = m->subspace, faces = m->faces;
    out[0] = real_array("load", &m->load, secs ? n : 0, r);
    out[1] = real_array("response", &m->response, secs || (fits && !inside) ? faces * n : 0, r);
    out[2] = real_array("c", &m->c, secs ? r : 0, r);
    out[3] = real_array("k", &m->k, secs ? r : 0, r);
    out[4] = real_array("w", &m->w, inside ? n : 0, k);
    out[5] = real_array("matrix", &m->matrix, k, k);
    out[6] = real_array("lift", &m->lift, (fits || m->method == FLX_REDUCTION_W_SECS) && inside ? faces * k : 0, r);
}

#define BATCH_ARRAYS 4
static void batch_arrays(const flx_reduced_model* m, int32_t b, array out[BATCH_ARRAYS])
{
    flx_reduced_batch* batch    = &m->batch[b];
    const int64_t      elements = batch->element_count, rows = elements * batch->rows;
    const bool         fits = m->fit != FLX_FIT_NONE;
    out[0] = (array){.name = "element", .type = FLX__H5_I32, .data = (void**)&batch->element, .rows = elements};
    out[1] = (array){.name = "weight",
                     .type = FLX__H5_F64,
                     .data = (void**)&batch->weight,
                     .rows = fits && batch->reduced ? 0 : elements};
    out[2] = real_array("at", &batch->at, flx__reduction_is_secs(m->method) ? rows : 0, batch->modes);
    out[3] = real_array("fit", &batch->fit, fits ? (m->fit == FLX_FIT_SPLIT ? 3 : 1) * (int64_t)batch->modes : 0,
                        rows * (m->fit == FLX_FIT_SHARED ? 3 : 1));
    for (int i = 0; i < BATCH_ARRAYS; ++i)
    {
        char name[32];
        snprintf(name, sizeof name, "%d/%.16s", b, out[i].name);
        memcpy(out[i].name, name, sizeof name);
    }
}

// --- writing --------------------------------------------------------------------------------------------------------

static flx_status put_arrays(flx__h5* h5, const array* a, int count)
{
    flx_status status = FLX_OK;
    for (int i = 0; i < count; ++i) FLX_TRY(flx__h5_put(h5, a[i].name, a[i].type, a[i].rows, a[i].columns, *a[i].data));
done:
    return status;
}

static flx_status put_batch(flx__h5* h5, const flx_reduced_model* m, int32_t b)
{
    flx_status               status    = FLX_OK;
    const flx_reduced_batch* batch     = &m->batch[b];
    const int32_t            counts[6] = {batch->reduced,       batch->modes, batch->first_mode,
                                          batch->element_count, batch->count, batch->rows};
    const double             facts[3]  = {batch->norm, batch->least, batch->match};
    char                     name[48];
    array                    arrays[BATCH_ARRAYS];
    batch_arrays(m, b, arrays);
    snprintf(name, sizeof name, "%d_type", b);
    FLX_TRY(flx__h5_put_text(h5, name, batch->type));
    snprintf(name, sizeof name, "%d/counts", b);
    FLX_TRY(flx__h5_put(h5, name, FLX__H5_I32, 6, 0, counts));
    snprintf(name, sizeof name, "%d/facts", b);
    FLX_TRY(flx__h5_put(h5, name, FLX__H5_F64, 3, 0, facts));
    FLX_TRY(put_arrays(h5, arrays, BATCH_ARRAYS));
done:
    return status;
}

static flx_status put_model(flx__h5* h5, flx_reduced_model* m)
{
    flx_status status = FLX_OK;
    array      arrays[MODEL_ARRAYS];
    model_arrays(m, arrays);
    FLX_TRY(flx__h5_put_text(h5, "content", "flexor reduced model"));
    FLX_TRY(flx__h5_put_text(h5, "method", flx__reduction_name(m->method)));
    FLX_TRY(flx__h5_put_hash(h5, "system", m->system_hash));
    FLX_TRY(flx__h5_put_integer(h5, "vertices", m->n));
    FLX_TRY(flx__h5_put_integer(h5, "batches", m->batch_count));
    FLX_TRY(flx__h5_put_integer(h5, "modes", m->modes));
    FLX_TRY(flx__h5_put_integer(h5, "subspace", m->subspace));
    FLX_TRY(flx__h5_put_integer(h5, "runs", m->runs));
    FLX_TRY(flx__h5_put_integer(h5, "rounds", m->rounds));
    FLX_TRY(flx__h5_put_reals(h5, "seconds", 1, &m->seconds));
    FLX_TRY(flx__h5_put_reals(h5, "error", 1, &m->error));
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(put_batch(h5, m, b));
    FLX_TRY(put_arrays(h5, arrays, MODEL_ARRAYS));
done:
    return status;
}

static int64_t bytes_of(flx_reduced_model* m)
{
    array   arrays[MODEL_ARRAYS], more[BATCH_ARRAYS];
    int64_t bytes = 1 << 16;
    model_arrays(m, arrays);
    for (int i = 0; i < MODEL_ARRAYS; ++i) bytes += 8 * arrays[i].rows * arrays[i].columns;
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        batch_arrays(m, b, more);
        for (int i = 0; i < BATCH_ARRAYS; ++i)
            bytes += 8 * more[i].rows * (more[i].columns > 0 ? more[i].columns : 1) + 4096;
    }
    return bytes;
}

flx_status flx__model_file_write(const flx_reduced_model* model, const char* path, bool overwrite)
{
    flx_status         status = FLX_OK;
    flx_context*       ctx    = model->ctx;
    flx_reduced_model* m      = (flx_reduced_model*)(uintptr_t)model; // the table of arrays serves reading too
    flx__h5*           h5     = NULL;
    flx_file*          file   = NULL;
    void*              image  = NULL;
    int64_t            bytes  = 0;
    const flx__seal    seal   = {.model_hash = model->system_hash};
    FLX_TRY(flx__h5_create(ctx, bytes_of(m), FLX__SEAL_BYTES, &h5));
    FLX_TRY(put_model(h5, m));
    FLX_TRY(flx__h5_image(h5, &image, &bytes));
    FLX_TRY(flx__sealed_begin(ctx, path, FLX__SEAL_REDUCTION, &seal, image, bytes, overwrite, &file));
    status = flx__file_commit(file);
done:
    flx__h5_close(h5);
    flx__free(ctx, image);
    return status;
}

// --- reading ------------------------------------------------------------------------------------------------------

static flx_status get_arrays(flx_context* ctx, flx__h5* h5, const array* a, int count)
{
    flx_status status = FLX_OK;
    for (int i = 0; i < count; ++i)
    {
        if (a[i].rows == 0) continue;
        const int64_t items = a[i].rows * (a[i].columns > 0 ? a[i].columns : 1);
        *a[i].data          = flx__alloc(ctx, items, a[i].type == FLX__H5_I32 ? sizeof(int32_t) : sizeof(double));
        if (!*a[i].data) return FLX_ERR_MEMORY;
        FLX_TRY(flx__h5_get(h5, a[i].name, a[i].type, a[i].rows, a[i].columns, *a[i].data));
    }
done:
    return status;
}

static bool consistent(const flx_reduced_model* m, const flx_reduced_batch* b)
{
    if (b->rows < 1 || b->rows > FLX_CONSTRAINT_ROWS || b->count < 0) return false;
    if (b->modes < 0 || b->first_mode < 0 || b->first_mode > m->modes - b->modes) return false;
    if (b->element_count < 0 || b->element_count > b->count) return false;
    return b->reduced || b->modes == 0;
}

static flx_status get_batch(flx__h5* h5, const char* path, flx_reduced_model* m, int32_t b)
{
    flx_status         status = FLX_OK;
    flx_reduced_batch* batch  = &m->batch[b];
    int32_t            counts[6];
    double             facts[3];
    char               name[48];
    char*              type = NULL;
    array              arrays[BATCH_ARRAYS];
    snprintf(name, sizeof name, "%d_type", b);
    FLX_TRY(flx__h5_get_text(h5, name, &type));
    snprintf(batch->type, sizeof batch->type, "%s", type);
    snprintf(name, sizeof name, "%d/counts", b);
    FLX_TRY(flx__h5_get(h5, name, FLX__H5_I32, 6, 0, counts));
    snprintf(name, sizeof name, "%d/facts", b);
    FLX_TRY(flx__h5_get(h5, name, FLX__H5_F64, 3, 0, facts));
    batch->reduced       = counts[0] != 0;
    batch->modes         = counts[1];
    batch->first_mode    = counts[2];
    batch->element_count = counts[3];
    batch->count         = counts[4];
    batch->rows          = counts[5];
    batch->norm          = facts[0];
    batch->least         = facts[1];
    batch->match         = facts[2];
    if (!consistent(m, batch))
        FLX_TRY(flx__fail(m->ctx, FLX_ERR_FORMAT, "%s: the counts of batch %d contradict each other", path, b));
    batch_arrays(m, b, arrays);
    FLX_TRY(get_arrays(m->ctx, h5, arrays, BATCH_ARRAYS));
    for (int32_t i = 0; i < batch->element_count; ++i)
        if (batch->element[i] < 0 || batch->element[i] >= batch->count)
            FLX_TRY(flx__fail(m->ctx, FLX_ERR_FORMAT, "%s: batch %d has no element %d", path, b, batch->element[i]));
done:
    flx__free(m->ctx, type);
    return status;
}

static flx_status get_method(flx__h5* h5, const char* path, flx_reduced_model* m)
{
    flx_status status  = FLX_OK;
    char *     content = NULL, *method = NULL;
    FLX_TRY(flx__h5_get_text(h5, "content", &content));
    FLX_TRY(flx__h5_get_text(h5, "method", &method));
    if (strcmp(content, "flexor reduced model") != 0 || !flx__reduction_find(method, &m->method))
        status = flx__fail(m->ctx, FLX_ERR_FORMAT, "%s: holds '%s' by method '%s', which this version does not know",
                           path, content, method);
    m->fit   = flx__reduction_fit(m->method);
    m->faces = m->fit == FLX_FIT_SHARED || m->fit == FLX_FIT_SPLIT ? 3 : 1;
done:
    flx__free(m->ctx, content);
    flx__free(m->ctx, method);
    return status;
}

static flx_status get_count(flx__h5* h5, const char* name, int64_t low, int64_t high, int32_t* out)
{
    int64_t          value  = 0;
    const flx_status status = flx__h5_get_integer(h5, name, low, high, &value);
    *out                    = (int32_t)value;
    return status;
}

static flx_status get_model(flx__h5* h5, const char* path, flx_reduced_model* m)
{
    flx_status status = FLX_OK;
    array      arrays[MODEL_ARRAYS];
    FLX_TRY(get_method(h5, path, m));
    FLX_TRY(flx__h5_get_hash(h5, "system", &m->system_hash));
    FLX_TRY(get_count(h5, "vertices", 1, INT32_MAX / 4, &m->n));
    FLX_TRY(get_count(h5, "batches", 0, 1000, &m->batch_count));
    FLX_TRY(get_count(h5, "modes", 0, MOST_MODES, &m->modes));
    FLX_TRY(get_count(h5, "subspace", 0, MOST_MODES, &m->subspace));
    FLX_TRY(get_count(h5, "runs", 0, FLX_REDUCTION_RUNS, &m->runs));
    FLX_TRY(get_count(h5, "rounds", 0, 100000, &m->rounds));
    FLX_TRY(flx__h5_get_reals(h5, "seconds", 1, &m->seconds));
    FLX_TRY(flx__h5_get_reals(h5, "error", 1, &m->error));
    FLX_NEW_ZERO(m->ctx, m->batch, m->batch_count);
    for (int32_t b = 0; b < m->batch_count; ++b) FLX_TRY(get_batch(h5, path, m, b));
    model_arrays(m, arrays);
    FLX_TRY(get_arrays(m->ctx, h5, arrays, MODEL_ARRAYS));
done:
    return status;
}

flx_status flx__model_file_read(flx_context* ctx, const char* path, const flx_pd_system* system,
                                flx_reduced_model** out)
{
    flx_status         status = FLX_OK;
    flx__seal          seal   = {0};
    char*              block  = NULL;
    int64_t            bytes  = 0;
    flx__h5*           h5     = NULL;
    flx_reduced_model* m      = NULL;

    *out = NULL;
    FLX_TRY(flx__sealed_read(ctx, path, FLX__SEAL_REDUCTION, &seal, &block, &bytes));
    if (system && seal.model_hash != flx__pd_system_hash(system))
        FLX_TRY(flx__fail(ctx, FLX_ERR_ARGUMENT,
                          "%s: was trained on another system: positions, elements, weights, masses or the time step "
                          "differ",
                          path));
    FLX_NEW_ZERO(ctx, m, 1);
    m->ctx = ctx;
    FLX_TRY(flx__h5_open(ctx, path, block + FLX__SEAL_BYTES, bytes, &h5));
    FLX_TRY(get_model(h5, path, m));
    *out = m;
    m    = NULL;

done:
    flx__h5_close(h5);
    flx__reduced_model_destroy(m);
    flx__free(ctx, block);
    return status;
}
