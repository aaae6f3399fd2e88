#include "reduce/snapshots.h"

#include "base/file.h"
#include "recording/h5.h"

#include <stdio.h>
#include <string.h>

flx_snapshot_options flx__snapshot_options_default(const char* set)
{
    return (flx_snapshot_options){.set = set, .every = 1, .rounds = 20, .keep = 1.0, .most_bytes = INT64_C(1) << 30};
}

static int64_t batch_length(const flx_snapshots* s, int32_t b)
{
    return 3 * (int64_t)s->system->batch[b].count * s->system->batch[b].type->rows;
}

static int64_t column_bytes(const flx_snapshots* s)
{
    int64_t reals = 3 * (int64_t)s->system->n;
    for (int32_t b = 0; b < s->system->batch_count; ++b) reals += 2 * s->rounds * batch_length(s, b);
    return reals * (int64_t)sizeof(double) + 2 * (int64_t)sizeof(int32_t);
}

// --- create --------------------------------------------------------------------------------------------------

static flx_status check(const flx_snapshots* s)
{
    const flx_snapshot_options* o = &s->options;
    if (!o->set || (strcmp(o->set, "train") != 0 && strcmp(o->set, "test") != 0))
        return flx__fail(s->system->ctx, FLX_ERR_ARGUMENT, "snapshots are of the set 'train' or 'test', not '%s'",
                         o->set ? o->set : "");
    if (o->every < 1 || o->rounds < 1)
        return flx__fail(s->system->ctx, FLX_ERR_ARGUMENT, "snapshots of every %d frames of %d rounds", o->every,
                         o->rounds);
    if (o->most_bytes < 2 * column_bytes(s))
        return flx__fail(s->system->ctx, FLX_ERR_ARGUMENT, "a snapshot takes %lld bytes, at most %lld are allowed",
                         (long long)column_bytes(s), (long long)o->most_bytes);
    return FLX_OK;
}

flx_status flx__snapshots_create(flx_pd_system* system, const flx_snapshot_options* options, flx_snapshots** out)
{
    flx_status     status = FLX_OK;
    flx_context*   ctx    = system->ctx;
    flx_snapshots* s      = NULL;
    *out                  = NULL;
    FLX_NEW_ZERO(ctx, s, 1);
    *s        = (flx_snapshots){.system = system, .options = *options};
    s->rounds = options->kind == FLX_SNAPSHOT_ALL_ROUNDS ? options->rounds : 1;

    s->options.set = s->options.stem = NULL;
    if (options->set && !(s->options.set = flx__strdup(ctx, options->set))) status = FLX_ERR_MEMORY;
    if (options->stem && !(s->options.stem = flx__strdup(ctx, options->stem))) status = FLX_ERR_MEMORY;
    if (status != FLX_OK) goto done;
    FLX_TRY(check(s));
    FLX_NEW_ZERO(ctx, s->z, system->batch_count);
    FLX_NEW_ZERO(ctx, s->p, system->batch_count);
    *out = s;
    s    = NULL;

done:
    flx__snapshots_destroy(s);
    return status;
}

void flx__snapshots_destroy(flx_snapshots* s)
{
    if (!s) return;
    flx_context* ctx = s->system->ctx;
    for (int32_t b = 0; b < s->system->batch_count; ++b)
    {
        if (s->z) flx__free(ctx, s->z[b]);
        if (s->p) flx__free(ctx, s->p[b]);
    }
    void* const owned[] = {s->q, s->z, s->p, s->frame, s->run};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) flx__free(ctx, owned[k]);
    flx__free(ctx, (void*)(uintptr_t)s->options.set);
    flx__free(ctx, (void*)(uintptr_t)s->options.stem);
    flx__free(ctx, s);
}

// --- growth --------------------------------------------------------------------------------------------------

static flx_status resize(flx_snapshots* s, void** memory, int64_t count, size_t size)
{
    void* grown = flx__realloc(s->system->ctx, *memory, count, size);
    if (!grown) return FLX_ERR_MEMORY;
    *memory = grown;
    return FLX_OK;
}

static flx_status grow(flx_snapshots* s, int32_t capacity)
{
    flx_status status = FLX_OK;
    FLX_TRY(resize(s, (void**)&s->q, (int64_t)capacity * 3 * s->system->n, sizeof(double)));
    FLX_TRY(resize(s, (void**)&s->frame, capacity, sizeof(int32_t)));
    FLX_TRY(resize(s, (void**)&s->run, capacity, sizeof(int32_t)));
    for (int32_t b = 0; b < s->system->batch_count; ++b)
    {
        const int64_t count = (int64_t)capacity * s->rounds * batch_length(s, b);
        FLX_TRY(resize(s, (void**)&s->z[b], count, sizeof(double)));
        FLX_TRY(resize(s, (void**)&s->p[b], count, sizeof(double)));
    }
    s->capacity = capacity;

done:
    return status;
}

/// Room for `more` snapshots, by growth up to the bound.
static flx_status reserve(flx_snapshots* s, int32_t more)
{
    const int64_t most = s->options.most_bytes / column_bytes(s), wanted = (int64_t)s->columns + more;
    if (wanted <= s->capacity) return FLX_OK;
    if (wanted > most || wanted > INT32_MAX / 2)
        return flx__fail(s->system->ctx, FLX_ERR_MEMORY, "%lld snapshots of %lld bytes are more than the %lld allowed",
                         (long long)wanted, (long long)column_bytes(s), (long long)s->options.most_bytes);
    int64_t capacity = 2 * (int64_t)s->capacity > wanted ? 2 * (int64_t)s->capacity : wanted;
    if (capacity > most) capacity = most;
    return grow(s, (int32_t)capacity);
}

// --- recording -----------------------------------------------------------------------------------------------

static void put_round(flx_snapshots* s, int32_t round, const double* const* z, const double* const* p)
{
    const int64_t column = (int64_t)s->columns * s->rounds + round;
    for (int32_t b = 0; b < s->system->batch_count; ++b)
    {
        const int64_t length = batch_length(s, b);
        memcpy(s->z[b] + column * length, z[b], (size_t)length * sizeof(double));
        memcpy(s->p[b] + column * length, p[b], (size_t)length * sizeof(double));
    }
}

static void watch(void* user, int32_t frame, int32_t round, const double* const* z, const double* const* p)
{
    flx_snapshots* s = user;
    (void)frame;
    if (s->options.kind == FLX_SNAPSHOT_ALL_ROUNDS)
        put_round(s, round, z, p);
    else if (round == s->options.rounds - 1)
        put_round(s, 0, z, p);
}

/// Positions, and what a state alone tells; the column is complete then.
static void put_pose(flx_snapshots* s, int32_t frame, const double* q)
{
    const int64_t length = 3 * (int64_t)s->system->n;
    if (s->options.kind == FLX_SNAPSHOT_FRAMES)
    {
        flx__pd_project(s->system, q);
        put_round(s, 0, (const double* const*)s->system->z, (const double* const*)s->system->p);
    }
    memcpy(s->q + s->columns * length, q, (size_t)length * sizeof(double));
    s->frame[s->columns] = frame;
    s->run[s->columns]   = s->runs;
    ++s->columns;
}

static flx_status room_for_one(flx_snapshots* s)
{
    const int64_t most = s->options.most_bytes / column_bytes(s);
    if (s->options.stem && s->columns >= most)
    {
        const flx_status status = flx__snapshots_flush(s);
        if (status != FLX_OK) return status;
    }
    return reserve(s, 1);
}

flx_status flx__snapshots_add_run(flx_snapshots* s, const flx_pd_drive* drive, int32_t frames, flx_pd_state* state,
                                  flx_progress_fn progress, void* user)
{
    flx_status status = FLX_OK;
    if (s->options.kind == FLX_SNAPSHOT_FRAMES && state->frame % s->options.every == 0)
    {
        FLX_TRY(room_for_one(s));
        put_pose(s, state->frame, state->q);
    }
    for (int32_t k = 0; k < frames; ++k)
    {
        const bool wanted  = (state->frame + 1) % s->options.every == 0;
        const bool watched = wanted && s->options.kind != FLX_SNAPSHOT_FRAMES;
        if (wanted) FLX_TRY(room_for_one(s));
        FLX_TRY(flx__pd_frame(s->system, drive, s->options.rounds, state, watched ? watch : NULL, s));
        for (int64_t i = 0; i < 3 * (int64_t)s->system->n; ++i) state->v[i] *= s->options.keep;
        if (wanted) put_pose(s, state->frame, state->q);
        if (progress && !progress(user, "full-order run", (double)(k + 1) / frames))
        {
            status = flx__fail(s->system->ctx, FLX_ERR_CANCELLED, "cancelled");
            goto done;
        }
    }

done:
    ++s->runs;
    return status;
}

flx_status flx__snapshots_add_pose(flx_snapshots* s, int32_t frame, const double* q)
{
    FLX_ASSERT(s->options.kind == FLX_SNAPSHOT_FRAMES);
    const flx_status status = room_for_one(s);
    if (status == FLX_OK) put_pose(s, frame, q);
    return status;
}

// --- files ---------------------------------------------------------------------------------------------------

static const char* const kinds[] = {"frames", "last round", "all rounds"};

static flx_status put_all(const flx_snapshots* s, flx__h5* h5)
{
    flx_status    status = FLX_OK;
    const int64_t n      = s->columns;
    char          name[64];
    FLX_TRY(flx__h5_put_text(h5, "content", "flexor snapshots"));
    FLX_TRY(flx__h5_put_text(h5, "set", s->options.set));
    FLX_TRY(flx__h5_put_text(h5, "kind", kinds[s->options.kind]));
    FLX_TRY(flx__h5_put_integer(h5, "snapshots", n));
    FLX_TRY(flx__h5_put_integer(h5, "rounds", s->rounds));
    FLX_TRY(flx__h5_put_integer(h5, "batches", s->system->batch_count));
    FLX_TRY(flx__h5_put(h5, "frame", FLX__H5_I32, n, 0, s->frame));
    FLX_TRY(flx__h5_put(h5, "run", FLX__H5_I32, n, 0, s->run));
    FLX_TRY(flx__h5_put(h5, "q", FLX__H5_F64, n, 3 * (int64_t)s->system->n, s->q));
    for (int32_t b = 0; b < s->system->batch_count; ++b)
    {
        snprintf(name, sizeof name, "batch%d", b);
        FLX_TRY(flx__h5_put_text(h5, name, s->system->batch[b].type->name));
        snprintf(name, sizeof name, "batch%d/z", b);
        FLX_TRY(flx__h5_put(h5, name, FLX__H5_F64, n * s->rounds, batch_length(s, b), s->z[b]));
        snprintf(name, sizeof name, "batch%d/p", b);
        FLX_TRY(flx__h5_put(h5, name, FLX__H5_F64, n * s->rounds, batch_length(s, b), s->p[b]));
    }

done:
    return status;
}

flx_status flx__snapshots_claim(const flx_snapshots* s, int32_t frames)
{
    flx_status    status = FLX_OK;
    const int64_t most   = s->options.most_bytes / column_bytes(s);
    const int64_t poses  = frames / s->options.every + (s->options.kind == FLX_SNAPSHOT_FRAMES);
    const int64_t parts  = (s->columns + poses + most - 1) / most;
    for (int64_t part = s->parts; s->options.stem && part < s->parts + parts && status == FLX_OK; ++part)
    {
        char* path = flx__format(s->system->ctx, "%s_%04d.h5", s->options.stem, (int)part);
        status     = path ? flx__file_claim(s->system->ctx, path, s->options.overwrite) : FLX_ERR_MEMORY;
        flx__free(s->system->ctx, path);
    }
    return status;
}

flx_status flx__snapshots_flush(flx_snapshots* s)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = s->system->ctx;
    flx__h5*     h5     = NULL;
    flx_file*    file   = NULL;
    char*        path   = NULL;
    void*        image  = NULL;
    int64_t      bytes  = 0;
    if (s->columns == 0) return FLX_OK;
    if (!s->options.stem) return flx__fail(ctx, FLX_ERR_ARGUMENT, "these snapshots have no file to go to");

    path = flx__format(ctx, "%s_%04d.h5", s->options.stem, s->parts);
    if (!path) return FLX_ERR_MEMORY;
    FLX_TRY(flx__h5_create(ctx, s->columns * column_bytes(s), 0, &h5));
    FLX_TRY(put_all(s, h5));
    FLX_TRY(flx__h5_image(h5, &image, &bytes));
    FLX_TRY(flx__file_begin(ctx, path, s->options.overwrite, &file));
    status = flx__file_write(file, image, bytes);
    FLX_TRY(flx__file_commit(file)); // remembers a failed write
    ++s->parts;
    s->columns = 0;

done:
    flx__h5_close(h5);
    flx__free(ctx, image);
    flx__free(ctx, path);
    return status;
}

static flx_status expect_text(flx_snapshots* s, flx__h5* h5, const char* path, const char* name, const char* wanted)
{
    flx_context* ctx    = s->system->ctx;
    char*        text   = NULL;
    flx_status   status = flx__h5_get_text(h5, name, &text);
    if (status == FLX_OK && strcmp(text, wanted) != 0)
        status = flx__fail(ctx, FLX_ERR_FORMAT, "%s: '%s' is '%s', not '%s'", path, name, text, wanted);
    flx__free(ctx, text);
    return status;
}

static flx_status get_columns(flx_snapshots* s, flx__h5* h5, int64_t n)
{
    flx_status    status = FLX_OK;
    const int64_t at     = s->columns;
    char          name[64];
    FLX_TRY(flx__h5_get(h5, "frame", FLX__H5_I32, n, 0, s->frame + at));
    FLX_TRY(flx__h5_get(h5, "run", FLX__H5_I32, n, 0, s->run + at));
    FLX_TRY(flx__h5_get(h5, "q", FLX__H5_F64, n, 3 * (int64_t)s->system->n, s->q + at * 3 * s->system->n));
    for (int32_t b = 0; b < s->system->batch_count; ++b)
    {
        const int64_t length = batch_length(s, b), first = at * s->rounds * length;
        snprintf(name, sizeof name, "batch%d/z", b);
        FLX_TRY(flx__h5_get(h5, name, FLX__H5_F64, n * s->rounds, length, s->z[b] + first));
        snprintf(name, sizeof name, "batch%d/p", b);
        FLX_TRY(flx__h5_get(h5, name, FLX__H5_F64, n * s->rounds, length, s->p[b] + first));
    }

done:
    return status;
}

flx_status flx__snapshots_read(flx_snapshots* s, const char* path)
{
    flx_status   status = FLX_OK;
    flx_context* ctx    = s->system->ctx;
    flx__h5*     h5     = NULL;
    char*        data   = NULL;
    int64_t      bytes = 0, count = 0, rounds = 0, batches = 0;
    int32_t      newest = -1;

    FLX_TRY(flx__file_read_all(ctx, path, &data, &bytes));
    FLX_TRY(flx__h5_open(ctx, path, data, bytes, &h5));
    FLX_TRY(expect_text(s, h5, path, "content", "flexor snapshots"));
    FLX_TRY(expect_text(s, h5, path, "set", s->options.set));
    FLX_TRY(expect_text(s, h5, path, "kind", kinds[s->options.kind]));
    FLX_TRY(flx__h5_get_integer(h5, "rounds", s->rounds, s->rounds, &rounds));
    FLX_TRY(flx__h5_get_integer(h5, "batches", s->system->batch_count, s->system->batch_count, &batches));
    FLX_TRY(flx__h5_get_integer(h5, "snapshots", 1, INT32_MAX / 4, &count));
    FLX_TRY(reserve(s, (int32_t)count));
    FLX_TRY(get_columns(s, h5, count));
    for (int64_t k = s->columns; k < s->columns + count; ++k) newest = s->run[k] > newest ? s->run[k] : newest;
    s->columns += (int32_t)count;
    if (newest >= s->runs) s->runs = newest + 1;

done:
    flx__h5_close(h5);
    flx__free(ctx, data);
    return status;
}
