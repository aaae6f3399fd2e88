// Writing a recording: the topology once, then one sealed HDF5 file a frame (folder.h says what lies where). A frame
// file is written in full under a temporary name before anything that is there is touched, so a full disk costs nothing
// that was recorded.
#include "recording/frame_source.h"

#include "recording/folder.h"
#include "recording/h5.h"
#include "recording/sealed.h"
#include "recording/xdmf.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

// Up to here the sidecar is rewritten after every frame; later every so many and at the end, or a long run would spend
// its time on it. It names complete frames only, either way.
#define SIDECAR_EACH_UNTIL 1000
#define SIDECAR_EVERY 16

struct flx_recorder
{
    flx_context*  ctx;
    flx__folder   folder;
    flx__topology shape;        // counts and facts; of the arrays only rest and surface_rest are kept
    double*       rest;         // [vertex_count][3]
    double*       surface_rest; // [surface_vertex_count][3]
    float*        buffer;       // as long as the longest array of a frame
    void*         gatherer;
    void (*destroy_gatherer)(void* gatherer);

    int32_t frame_count;
    double* times; // [frame_count], ascending
    int64_t time_capacity;
    bool    appended;    // nothing was recorded since a recording was taken up
    bool    sidecar_old; // misses frames
};

static void release(flx_recorder* r)
{
    if (!r) return;
    flx_context* ctx = r->ctx;
    flx__folder_release(ctx, &r->folder);
    flx__free(ctx, r->rest);
    flx__free(ctx, r->surface_rest);
    flx__free(ctx, r->buffer);
    if (r->gatherer) r->destroy_gatherer(r->gatherer);
    flx__free(ctx, r->times);
    flx__free(ctx, r);
}

void* flx__recorder_gatherer(const flx_recorder* r)
{
    return r->gatherer;
}
void flx__recorder_set_gatherer(flx_recorder* r, void* gatherer, void (*destroy)(void* gatherer))
{
    r->gatherer         = gatherer;
    r->destroy_gatherer = destroy;
}
const flx__topology* flx__recorder_shape(const flx_recorder* r)
{
    return &r->shape;
}

const char* flx__solid_dataset(flx_solid_kind kind, const char* name)
{
    static const char* const full[FLX__SOLID_KINDS][5] = {
        {"obstacles/x", "obstacles/rest", "obstacles/triangles", "obstacles/triangle_solid", "obstacles/shape"},
        {"bones/x", "bones/rest", "bones/triangles", "bones/triangle_solid", "bones/shape"}};
    for (int i = 0; i < 5; ++i)
        if (strcmp(strchr(full[kind][i], '/') + 1, name) == 0) return full[kind][i];
    FLX_ASSERT(false); // no such dataset
    return full[kind][0];
}

// --- start ----------------------------------------------------------------------------------------

static flx_status put_solids(flx__h5* h5, flx_solid_kind kind, const flx_recording_solids* s)
{
    static const char* const counts[FLX__SOLID_KINDS][3] = {
        {"obstacle_count", "obstacle_vertex_count", "obstacle_triangle_count"},
        {"bone_count", "bone_vertex_count", "bone_triangle_count"}};
    flx_status status = FLX_OK;
    FLX_TRY(flx__h5_put_integer(h5, counts[kind][0], s->count));
    FLX_TRY(flx__h5_put_integer(h5, counts[kind][1], s->vertex_count));
    FLX_TRY(flx__h5_put_integer(h5, counts[kind][2], s->triangle_count));
    FLX_TRY(flx__h5_put(h5, flx__solid_dataset(kind, "shape"), FLX__H5_I32, s->count, 0, s->shape));
    FLX_TRY(flx__h5_put(h5, flx__solid_dataset(kind, "rest"), FLX__H5_F64, s->vertex_count, 3, s->rest));
    FLX_TRY(flx__h5_put(h5, flx__solid_dataset(kind, "triangles"), FLX__H5_I32, s->triangle_count, 3, s->triangles));
    FLX_TRY(flx__h5_put(h5, flx__solid_dataset(kind, "triangle_solid"), FLX__H5_I32, s->triangle_count, 0,
                        s->triangle_solid));

done:
    return status;
}

static flx_status write_topology(flx_recorder* r, const flx__topology* t)
{
    flx_context* ctx    = r->ctx;
    flx_status   status = FLX_OK;
    flx__h5*     h5     = NULL;
    void*        image  = NULL;
    int64_t      bytes  = 0;
    flx_file*    file   = NULL;

    int64_t expected = (int64_t)t->tet_count * 20 + (int64_t)t->surface_triangle_count * 12 +
                       ((int64_t)t->vertex_count + t->surface_vertex_count) * 24;
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        expected += (int64_t)t->solids[k].vertex_count * 24 + (int64_t)t->solids[k].triangle_count * 16;
    FLX_TRY(flx__h5_create(ctx, expected, FLX__SEAL_BYTES, &h5));
    FLX_TRY(flx__h5_put_text(h5, "flexor_version", FLX_VERSION));
    FLX_TRY(flx__h5_put_text(h5, "scene", t->scene_name ? t->scene_name : ""));
    FLX_TRY(flx__h5_put_hash(h5, "model_hash", t->model_hash));
    FLX_TRY(flx__h5_put_reals(h5, "fps", 1, &t->fps));
    FLX_TRY(flx__h5_put_text(h5, "up_axis", t->up_axis == 1 ? "y" : "z"));
    FLX_TRY(flx__h5_put_text(h5, "units", "m kg s N"));
    FLX_TRY(flx__h5_put_integer(h5, "body_count", t->body_count));
    FLX_TRY(flx__h5_put_integer(h5, "vertex_count", t->vertex_count));
    FLX_TRY(flx__h5_put_integer(h5, "tet_count", t->tet_count));
    FLX_TRY(flx__h5_put_integer(h5, "surface_vertex_count", t->surface_vertex_count));
    FLX_TRY(flx__h5_put_integer(h5, "surface_triangle_count", t->surface_triangle_count));
    FLX_TRY(flx__h5_put(h5, "tets", FLX__H5_I32, t->tet_count, 4, t->tets));
    FLX_TRY(flx__h5_put(h5, "tet_body", FLX__H5_I32, t->tet_count, 0, t->tet_body));
    FLX_TRY(flx__h5_put(h5, "rest", FLX__H5_F64, t->vertex_count, 3, t->rest));
    FLX_TRY(flx__h5_put(h5, "surface/triangles", FLX__H5_I32, t->surface_triangle_count, 3, t->surface_triangles));
    FLX_TRY(flx__h5_put(h5, "surface/rest", FLX__H5_F64, t->surface_vertex_count, 3, t->surface_rest));
    for (int k = 0; k < FLX__SOLID_KINDS; ++k) FLX_TRY(put_solids(h5, (flx_solid_kind)k, &t->solids[k]));
    FLX_TRY(flx__h5_image(h5, &image, &bytes));
    flx__h5_close(h5);
    h5 = NULL;

    const flx__seal seal = {.model_hash = t->model_hash};
    FLX_TRY(flx__sealed_begin(ctx, r->folder.topology, FLX__SEAL_TOPOLOGY, &seal, image, bytes, true, &file));
    status = flx__file_commit(file);

done:
    flx__h5_close(h5);
    flx__free(ctx, image);
    return status;
}

static flx_status start_new(flx_recorder* r, const flx__topology* t, bool overwrite)
{
    flx_status status = FLX_OK;
    int32_t    old    = 0;

    if (flx__folder_is_taken(&r->folder) && !overwrite)
        FLX_TRY(flx__fail(r->ctx, FLX_ERR_EXISTS,
                          "%s or its .frames folder exists already; it is not overwritten unless asked",
                          r->folder.xdmf));
    FLX_TRY(flx__folder_make(r->ctx, &r->folder));
    // The old frames go last first, then the topology is replaced: what a kill leaves is never a mixture.
    if (flx__folder_is_taken(&r->folder))
    {
        FLX_TRY(flx__xdmf_write(r->ctx, &r->folder, &r->shape, 0, NULL));
        FLX_TRY(flx__folder_count(r->ctx, &r->folder, &old));
        FLX_TRY(flx__folder_remove_frames(r->ctx, &r->folder, old, 0));
    }
    FLX_TRY(flx__folder_tidy(r->ctx, &r->folder, 0));
    FLX_TRY(write_topology(r, t));
    FLX_TRY(flx__xdmf_write(r->ctx, &r->folder, &r->shape, 0, NULL));

done:
    return status;
}

static flx_status take_up(flx_recorder* r, const flx__topology* t)
{
    flx_context* ctx    = r->ctx;
    flx_status   status = FLX_OK;
    flx__seal    seal   = {0};
    char*        path   = NULL;

    FLX_TRY(flx__sealed_peek(ctx, r->folder.topology, FLX__SEAL_TOPOLOGY, &seal));
    if (seal.model_hash != t->model_hash)
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT,
                          "%s: belongs to another model (%016llx, not %016llx); it is not continued", r->folder.path,
                          (unsigned long long)seal.model_hash, (unsigned long long)t->model_hash));
    FLX_TRY(flx__folder_count(ctx, &r->folder, &r->frame_count));
    FLX_RESERVE(ctx, r->times, r->time_capacity, r->frame_count);
    for (int32_t k = 0; k < r->frame_count; ++k)
    {
        flx__free(ctx, path);
        path = flx__folder_frame(ctx, &r->folder, k);
        if (!path)
        {
            status = FLX_ERR_MEMORY;
            goto done;
        }
        FLX_TRY(flx__sealed_peek(ctx, path, FLX__SEAL_FRAME, &seal));
        if (seal.model_hash != t->model_hash)
            FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: is a frame of another model", path));
        r->times[k] = seal.time;
    }
    FLX_TRY(flx__folder_tidy(ctx, &r->folder, r->frame_count));
    r->appended    = true;
    r->sidecar_old = true; // a killed writer may have left it one frame behind

done:
    flx__free(ctx, path);
    return status;
}

flx_status flx__recorder_create(flx_context* ctx, const char* path, const flx__topology* t, bool overwrite, bool append,
                                flx_recorder** out)
{
    FLX_ASSERT(ctx && path && t && out);
    flx_status    status = FLX_OK;
    flx_recorder* r      = NULL;

    *out = NULL;
    if (!(t->fps > 0) || !isfinite(t->fps))
        return flx__fail(ctx, FLX_ERR_ARGUMENT, "a recording needs frames per second above 0, not %g", t->fps);
    FLX_NEW_ZERO(ctx, r, 1);
    r->ctx   = ctx;
    r->shape = *t;
    FLX_TRY(flx__folder_name(ctx, path, &r->folder));

    const int64_t n = 3 * (int64_t)t->vertex_count, s = 3 * (int64_t)t->surface_vertex_count;
    int64_t       largest = n > s ? n : s;
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        if (3 * (int64_t)t->solids[k].vertex_count > largest) largest = 3 * (int64_t)t->solids[k].vertex_count;
    FLX_NEW(ctx, r->rest, n);
    FLX_NEW(ctx, r->surface_rest, s);
    FLX_NEW(ctx, r->buffer, largest > t->tet_count ? largest : t->tet_count);
    memcpy(r->rest, t->rest, (size_t)n * sizeof(double));
    memcpy(r->surface_rest, t->surface_rest, (size_t)s * sizeof(double));
    r->shape = (flx__topology){.fps                    = t->fps,
                               .model_hash             = t->model_hash,
                               .vertex_count           = t->vertex_count,
                               .tet_count              = t->tet_count,
                               .surface_vertex_count   = t->surface_vertex_count,
                               .surface_triangle_count = t->surface_triangle_count};
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        r->shape.solids[k] = (flx_recording_solids){.count          = t->solids[k].count,
                                                    .vertex_count   = t->solids[k].vertex_count,
                                                    .triangle_count = t->solids[k].triangle_count};

    if (append && flx__folder_has_topology(&r->folder))
        FLX_TRY(take_up(r, t));
    else
        FLX_TRY(start_new(r, t, overwrite));
    *out = r;
    r    = NULL;

done:
    release(r);
    return status;
}

// --- one frame ------------------------------------------------------------------------------------

static flx_status put_floats(flx_recorder* r, flx__h5* h5, const char* name, int64_t rows, int64_t columns,
                             const double* value, const double* minus)
{
    const int64_t count = rows * (columns > 0 ? columns : 1);
    for (int64_t i = 0; i < count; ++i) r->buffer[i] = (float)(minus ? value[i] - minus[i] : value[i]);
    return flx__h5_put(h5, name, FLX__H5_F32, rows, columns, r->buffer);
}

static flx_status put_stats(flx__h5* h5, const flx_step_stats* s)
{
    flx_status status = FLX_OK;
#define REAL(name) FLX_TRY(flx__h5_put_reals(h5, #name, 1, &s->name));
    FLX__STATS_REALS(REAL)
#undef REAL
#define INTEGER(name) FLX_TRY(flx__h5_put_integer(h5, #name, s->name));
    FLX__STATS_INTEGERS(INTEGER)
#undef INTEGER
    FLX_TRY(flx__h5_put_reals(h5, "contact_force", 3, s->contact_force));

done:
    return status;
}

static flx_status frame_image(flx_recorder* r, const flx__frame_source* f, void** image, int64_t* bytes)
{
    const flx__topology* t      = &r->shape;
    flx_status           status = FLX_OK;
    flx__h5*             h5     = NULL;
    int64_t              expected =
        (int64_t)t->vertex_count * 24 + (int64_t)t->surface_vertex_count * 36 + (int64_t)t->tet_count * 8;
    for (int k = 0; k < FLX__SOLID_KINDS; ++k) expected += (int64_t)t->solids[k].vertex_count * 12;

    FLX_TRY(flx__h5_create(r->ctx, expected, FLX__SEAL_BYTES, &h5));
    FLX_TRY(flx__h5_put_reals(h5, "time", 1, &f->time));
    FLX_TRY(flx__h5_put_integer(h5, "step", f->step));
    FLX_TRY(flx__h5_put_hash(h5, "model_hash", t->model_hash));
    FLX_TRY(put_stats(h5, &f->stats));
    FLX_TRY(put_floats(r, h5, "x", t->vertex_count, 3, f->x, NULL));
    FLX_TRY(put_floats(r, h5, "displacement", t->vertex_count, 3, f->x, r->rest));
    FLX_TRY(put_floats(r, h5, "surface/x", t->surface_vertex_count, 3, f->surface_x, NULL));
    FLX_TRY(put_floats(r, h5, "surface/displacement", t->surface_vertex_count, 3, f->surface_x, r->surface_rest));
    FLX_TRY(put_floats(r, h5, "surface/contact_force", t->surface_vertex_count, 3, f->contact_force, NULL));
    FLX_TRY(put_floats(r, h5, "tet/strain", t->tet_count, 0, f->strain, NULL));
    FLX_TRY(put_floats(r, h5, "tet/volume_ratio", t->tet_count, 0, f->volume_ratio, NULL));
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
        FLX_TRY(put_floats(r, h5, flx__solid_dataset((flx_solid_kind)k, "x"), t->solids[k].vertex_count, 3,
                           f->solid_x[k], NULL));
    FLX_TRY(flx__h5_image(h5, image, bytes));

done:
    flx__h5_close(h5);
    return status;
}

static flx_status write_sidecar(flx_recorder* r)
{
    const flx_status status = flx__xdmf_write(r->ctx, &r->folder, &r->shape, r->frame_count, r->times);
    if (status == FLX_OK) r->sidecar_old = false;
    return status;
}

// Forget frames `keep` and later. The sidecar first: it must never name a file that is gone.
static flx_status drop_frames(flx_recorder* r, int32_t keep)
{
    const int32_t count = r->frame_count;
    if (keep == count) return FLX_OK;
    r->frame_count    = keep;
    flx_status status = write_sidecar(r);
    if (status != FLX_OK)
    {
        r->frame_count = count;
        return status;
    }
    status = flx__folder_remove_frames(r->ctx, &r->folder, count, keep);
    if (status != FLX_OK) // as many as are left, from the first on
    {
        r->sidecar_old = true;
        (void)flx__folder_count(r->ctx, &r->folder, &r->frame_count);
    }
    return status;
}

// Frames before `time`; equal times are equal but for rounding of accumulated steps.
static int32_t frames_before(const flx_recorder* r, double time)
{
    int32_t k = r->frame_count;
    while (k > 0 && r->times[k - 1] > time - 1e-9 * (1 + fabs(time))) --k;
    return k;
}

static void tell_gap(flx_recorder* r, int32_t kept, double time)
{
    if (r->appended && kept > 0 && time - r->times[kept - 1] > 1.5 / r->shape.fps)
        flx__log(r->ctx, FLX_LOG_WARNING, "%s: nothing was recorded between %g s and %g s", r->folder.path,
                 r->times[kept - 1], time);
    r->appended = false;
}

flx_status flx__recorder_frame(flx_recorder* r, const flx__frame_source* f)
{
    FLX_ASSERT(r && f);
    flx_context* ctx    = r->ctx;
    flx_status   status = FLX_OK;
    void*        image  = NULL;
    int64_t      bytes  = 0;
    flx_file*    file   = NULL;
    char*        path   = NULL;

    if (!isfinite(f->time)) return flx__fail(ctx, FLX_ERR_ARGUMENT, "a frame's time is %g", f->time);
    const int32_t k = frames_before(r, f->time);
    path            = flx__folder_frame(ctx, &r->folder, k);
    if (!path) return FLX_ERR_MEMORY;
    FLX_RESERVE(ctx, r->times, r->time_capacity, k + 1);

    FLX_TRY(frame_image(r, f, &image, &bytes));
    const flx__seal seal = {.model_hash = r->shape.model_hash, .time = f->time, .index = k};
    FLX_TRY(flx__sealed_begin(ctx, path, FLX__SEAL_FRAME, &seal, image, bytes, true, &file));
    FLX_TRY(drop_frames(r, k));
    status = flx__file_commit(file);
    file   = NULL;
    FLX_TRY(status);

    tell_gap(r, k, f->time);
    r->times[k]    = f->time;
    r->frame_count = k + 1;
    r->sidecar_old = true;
    if (k < SIDECAR_EACH_UNTIL || k % SIDECAR_EVERY == 0) status = write_sidecar(r);
    if (status != FLX_OK) // a failed call leaves its target as it was
    {
        unlink(path);
        r->frame_count = k;
    }

done:
    flx__file_abort(file);
    flx__free(ctx, image);
    flx__free(ctx, path);
    return status;
}

flx_status flx_recorder_close(flx_recorder* r)
{
    if (!r) return FLX_OK;
    const flx_status status = r->sidecar_old ? write_sidecar(r) : FLX_OK;
    release(r);
    return status;
}
