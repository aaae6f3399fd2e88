// Reading a recording back. Every file is checked whole before HDF5 sees it, every array's shape and every index before
// a caller does.
#include "recording/recording_reader.h"

#include "recording/folder.h"
#include "recording/frame_source.h"
#include "recording/h5.h"
#include "recording/sealed.h"

#include <math.h>
#include <string.h>

struct flx_recording
{
    flx_context*       ctx;
    flx__folder        folder;
    flx_recording_info info;
    char*              scene_name;
    int32_t*           tets;              // [tet_count][4]
    int32_t*           tet_body;          // [tet_count]
    int32_t*           surface_triangles; // [surface_triangle_count][3]
    double*            rest;              // [vertex_count][3] m
    double*            surface_rest;      // [surface_vertex_count][3] m

    struct // obstacles and bones, as in flx_recording_solids
    {
        int32_t  count, vertex_count, triangle_count;
        int32_t *shape, *triangles, *triangle_solid;
        double*  rest;
    } solids[FLX__SOLID_KINDS];
};

void flx_recording_close(flx_recording* r)
{
    if (!r) return;
    flx_context* ctx = r->ctx;
    flx__folder_release(ctx, &r->folder);
    flx__free(ctx, r->scene_name);
    flx__free(ctx, r->tets);
    flx__free(ctx, r->tet_body);
    flx__free(ctx, r->surface_triangles);
    flx__free(ctx, r->rest);
    flx__free(ctx, r->surface_rest);
    for (int k = 0; k < FLX__SOLID_KINDS; ++k)
    {
        flx__free(ctx, r->solids[k].shape);
        flx__free(ctx, r->solids[k].triangles);
        flx__free(ctx, r->solids[k].triangle_solid);
        flx__free(ctx, r->solids[k].rest);
    }
    flx__free(ctx, r);
}

flx_recording_info flx_recording_get_info(const flx_recording* r)
{
    return r->info;
}
const int32_t* flx_recording_surface_triangles(const flx_recording* r)
{
    return r->surface_triangles;
}
const int32_t* flx_recording_tets(const flx_recording* r)
{
    return r->tets;
}
const int32_t* flx_recording_tet_body(const flx_recording* r)
{
    return r->tet_body;
}
const double* flx_recording_rest(const flx_recording* r)
{
    return r->rest;
}
const double* flx_recording_surface_rest(const flx_recording* r)
{
    return r->surface_rest;
}
const char* flx_recording_scene_name(const flx_recording* r)
{
    return r->scene_name;
}

flx_recording_solids flx_recording_get_solids(const flx_recording* r, flx_solid_kind kind)
{
    FLX_ASSERT(kind == FLX_SOLID_OBSTACLE || kind == FLX_SOLID_BONE);
    return (flx_recording_solids){.count          = r->solids[kind].count,
                                  .vertex_count   = r->solids[kind].vertex_count,
                                  .triangle_count = r->solids[kind].triangle_count,
                                  .shape          = r->solids[kind].shape,
                                  .triangles      = r->solids[kind].triangles,
                                  .triangle_solid = r->solids[kind].triangle_solid,
                                  .rest           = r->solids[kind].rest};
}

// --- topology -------------------------------------------------------------------------------------

static flx_status read_count(flx__h5* h5, const char* name, int32_t* out)
{
    int64_t          value  = 0;
    const flx_status status = flx__h5_get_integer(h5, name, 0, INT32_MAX / 4, &value);
    *out                    = (int32_t)value;
    return status;
}

static flx_status check_indices(flx_recording* r, const char* name, const int32_t* index, int64_t count, int32_t limit)
{
    for (int64_t i = 0; i < count; ++i)
        if (index[i] < 0 || index[i] >= limit)
            return flx__fail(r->ctx, FLX_ERR_FORMAT, "%s: %s holds index %d, outside [0, %d)", r->folder.topology, name,
                             index[i], limit);
    return FLX_OK;
}

static flx_status read_facts(flx_recording* r, flx__h5* h5)
{
    flx_status          status = FLX_OK;
    flx_recording_info* info   = &r->info;
    char*               up     = NULL;

    FLX_TRY(read_count(h5, "body_count", &info->body_count));
    FLX_TRY(read_count(h5, "vertex_count", &info->vertex_count));
    FLX_TRY(read_count(h5, "tet_count", &info->tet_count));
    FLX_TRY(read_count(h5, "surface_vertex_count", &info->surface_vertex_count));
    FLX_TRY(read_count(h5, "surface_triangle_count", &info->surface_triangle_count));
    FLX_TRY(read_count(h5, "obstacle_count", &r->solids[FLX_SOLID_OBSTACLE].count));
    FLX_TRY(read_count(h5, "obstacle_vertex_count", &r->solids[FLX_SOLID_OBSTACLE].vertex_count));
    FLX_TRY(read_count(h5, "obstacle_triangle_count", &r->solids[FLX_SOLID_OBSTACLE].triangle_count));
    FLX_TRY(read_count(h5, "bone_count", &r->solids[FLX_SOLID_BONE].count));
    FLX_TRY(read_count(h5, "bone_vertex_count", &r->solids[FLX_SOLID_BONE].vertex_count));
    FLX_TRY(read_count(h5, "bone_triangle_count", &r->solids[FLX_SOLID_BONE].triangle_count));
    FLX_TRY(flx__h5_get_hash(h5, "model_hash", &info->model_hash));
    FLX_TRY(flx__h5_get_reals(h5, "fps", 1, &info->fps));
    if (!(info->fps > 0) || !isfinite(info->fps))
        FLX_TRY(flx__fail(r->ctx, FLX_ERR_FORMAT, "%s: fps = %g is not above 0", r->folder.topology, info->fps));
    FLX_TRY(flx__h5_get_text(h5, "scene", &r->scene_name));
    FLX_TRY(flx__h5_get_text(h5, "up_axis", &up));
    info->up_axis = strcmp(up, "y") == 0 ? 1 : 2;

done:
    flx__free(r->ctx, up);
    return status;
}

static flx_status read_arrays(flx_recording* r, flx__h5* h5)
{
    flx_context*              ctx    = r->ctx;
    flx_status                status = FLX_OK;
    const flx_recording_info* n      = &r->info;

    FLX_NEW(ctx, r->tets, 4 * (int64_t)n->tet_count);
    FLX_NEW(ctx, r->tet_body, n->tet_count);
    FLX_NEW(ctx, r->surface_triangles, 3 * (int64_t)n->surface_triangle_count);
    FLX_NEW(ctx, r->rest, 3 * (int64_t)n->vertex_count);
    FLX_NEW(ctx, r->surface_rest, 3 * (int64_t)n->surface_vertex_count);
    FLX_TRY(flx__h5_get(h5, "tets", FLX__H5_I32, n->tet_count, 4, r->tets));
    FLX_TRY(flx__h5_get(h5, "tet_body", FLX__H5_I32, n->tet_count, 0, r->tet_body));
    FLX_TRY(flx__h5_get(h5, "surface/triangles", FLX__H5_I32, n->surface_triangle_count, 3, r->surface_triangles));
    FLX_TRY(flx__h5_get(h5, "rest", FLX__H5_F64, n->vertex_count, 3, r->rest));
    FLX_TRY(flx__h5_get(h5, "surface/rest", FLX__H5_F64, n->surface_vertex_count, 3, r->surface_rest));
    FLX_TRY(check_indices(r, "tets", r->tets, 4 * (int64_t)n->tet_count, n->vertex_count));
    FLX_TRY(check_indices(r, "tet_body", r->tet_body, n->tet_count, n->body_count));
    FLX_TRY(check_indices(r, "surface/triangles", r->surface_triangles, 3 * (int64_t)n->surface_triangle_count,
                          n->surface_vertex_count));

done:
    return status;
}

static flx_status read_solids(flx_recording* r, flx__h5* h5, flx_solid_kind kind)
{
    flx_context*  ctx    = r->ctx;
    flx_status    status = FLX_OK;
    const int32_t count = r->solids[kind].count, vertices = r->solids[kind].vertex_count,
                  triangles = r->solids[kind].triangle_count;
    const char *const shape = flx__solid_dataset(kind, "shape"), *const index = flx__solid_dataset(kind, "triangles"),
                      *const owner = flx__solid_dataset(kind, "triangle_solid");

    FLX_NEW(ctx, r->solids[kind].shape, count);
    FLX_NEW(ctx, r->solids[kind].triangles, 3 * (int64_t)triangles);
    FLX_NEW(ctx, r->solids[kind].triangle_solid, triangles);
    FLX_NEW(ctx, r->solids[kind].rest, 3 * (int64_t)vertices);
    FLX_TRY(flx__h5_get(h5, shape, FLX__H5_I32, count, 0, r->solids[kind].shape));
    FLX_TRY(flx__h5_get(h5, index, FLX__H5_I32, triangles, 3, r->solids[kind].triangles));
    FLX_TRY(flx__h5_get(h5, owner, FLX__H5_I32, triangles, 0, r->solids[kind].triangle_solid));
    FLX_TRY(flx__h5_get(h5, flx__solid_dataset(kind, "rest"), FLX__H5_F64, vertices, 3, r->solids[kind].rest));
    FLX_TRY(check_indices(r, index, r->solids[kind].triangles, 3 * (int64_t)triangles, vertices));
    FLX_TRY(check_indices(r, owner, r->solids[kind].triangle_solid, triangles, count));

done:
    return status;
}

flx_status flx_recording_open(flx_context* ctx, const char* path, flx_recording** out)
{
    FLX_ASSERT(ctx && path && out);
    flx_status     status = FLX_OK;
    flx_recording* r      = NULL;
    flx__seal      seal   = {0};
    char*          block  = NULL;
    int64_t        bytes  = 0;
    flx__h5*       h5     = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, r, 1);
    r->ctx = ctx;
    FLX_TRY(flx__folder_name(ctx, path, &r->folder));
    if (!flx__folder_has_topology(&r->folder))
        FLX_TRY(flx__fail(ctx, FLX_ERR_IO, "%s: no recording is there (no %s)", path, r->folder.topology));
    FLX_TRY(flx__sealed_read(ctx, r->folder.topology, FLX__SEAL_TOPOLOGY, &seal, &block, &bytes));
    FLX_TRY(flx__h5_open(ctx, r->folder.topology, block + FLX__SEAL_BYTES, bytes, &h5));
    FLX_TRY(read_facts(r, h5));
    FLX_TRY(read_arrays(r, h5));
    for (int k = 0; k < FLX__SOLID_KINDS; ++k) FLX_TRY(read_solids(r, h5, (flx_solid_kind)k));
    FLX_TRY(flx__folder_count(ctx, &r->folder, &r->info.frame_count));
    *out = r;
    r    = NULL;

done:
    flx__h5_close(h5);
    flx__free(ctx, block);
    flx_recording_close(r);
    return status;
}

// --- frames ---------------------------------------------------------------------------------------

static flx_status check_frame_index(const flx_recording* r, int32_t index)
{
    if (index >= 0 && index < r->info.frame_count) return FLX_OK;
    if (r->info.frame_count == 0)
        return flx__fail(r->ctx, FLX_ERR_ARGUMENT, "frame %d of %s: it has no frames", index, r->folder.path);
    return flx__fail(r->ctx, FLX_ERR_ARGUMENT, "frame %d of %s: it has frames 0 to %d", index, r->folder.path,
                     r->info.frame_count - 1);
}

static flx_status check_model(const flx_recording* r, const char* path, uint64_t hash)
{
    if (hash == r->info.model_hash) return FLX_OK;
    return flx__fail(r->ctx, FLX_ERR_FORMAT, "%s: is a frame of another model", path);
}

static flx_status read_stats(flx__h5* h5, flx_step_stats* s)
{
    flx_status status = FLX_OK;
    int64_t    value  = 0;
#define REAL(name) FLX_TRY(flx__h5_get_reals(h5, #name, 1, &s->name));
    FLX__STATS_REALS(REAL)
#undef REAL
#define INTEGER(name)                                                                                                  \
    FLX_TRY(flx__h5_get_integer(h5, #name, INT32_MIN, INT32_MAX, &value));                                             \
    s->name = (int32_t)value;
    FLX__STATS_INTEGERS(INTEGER)
#undef INTEGER
    FLX_TRY(flx__h5_get_reals(h5, "contact_force", 3, s->contact_force));

done:
    return status;
}

static flx_status read_if(flx__h5* h5, const char* name, flx__h5_type type, int64_t rows, int64_t columns, void* out)
{
    return out ? flx__h5_get(h5, name, type, rows, columns, out) : FLX_OK;
}

flx_status flx_recording_frame(flx_recording* r, int32_t index, flx_frame* f)
{
    FLX_ASSERT(r && f);
    const flx_recording_info* n      = &r->info;
    flx_status                status = FLX_OK;
    flx__seal                 seal   = {0};
    char*                     path   = NULL;
    char*                     block  = NULL;
    int64_t                   bytes  = 0;
    flx__h5*                  h5     = NULL;

    FLX_TRY(check_frame_index(r, index));
    path = flx__folder_frame(r->ctx, &r->folder, index);
    if (!path)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    FLX_TRY(flx__sealed_read(r->ctx, path, FLX__SEAL_FRAME, &seal, &block, &bytes));
    FLX_TRY(check_model(r, path, seal.model_hash));
    FLX_TRY(flx__h5_open(r->ctx, path, block + FLX__SEAL_BYTES, bytes, &h5));
    FLX_TRY(flx__h5_get_reals(h5, "time", 1, &f->time));
    FLX_TRY(flx__h5_get_integer(h5, "step", 0, INT64_MAX, &f->step));
    FLX_TRY(read_stats(h5, &f->stats));
    FLX_TRY(read_if(h5, "x", FLX__H5_F64, n->vertex_count, 3, f->x));
    FLX_TRY(read_if(h5, "displacement", FLX__H5_F32, n->vertex_count, 3, f->vertex_displacement));
    FLX_TRY(read_if(h5, "surface/x", FLX__H5_F32, n->surface_vertex_count, 3, f->surface_x));
    FLX_TRY(read_if(h5, "surface/displacement", FLX__H5_F32, n->surface_vertex_count, 3, f->displacement));
    FLX_TRY(read_if(h5, "surface/contact_force", FLX__H5_F32, n->surface_vertex_count, 3, f->contact_force));
    FLX_TRY(read_if(h5, "tet/strain", FLX__H5_F32, n->tet_count, 0, f->strain));
    FLX_TRY(read_if(h5, "tet/volume_ratio", FLX__H5_F32, n->tet_count, 0, f->volume_ratio));
    FLX_TRY(read_if(h5, flx__solid_dataset(FLX_SOLID_OBSTACLE, "x"), FLX__H5_F32,
                    r->solids[FLX_SOLID_OBSTACLE].vertex_count, 3, f->obstacle_x));
    FLX_TRY(read_if(h5, flx__solid_dataset(FLX_SOLID_BONE, "x"), FLX__H5_F32, r->solids[FLX_SOLID_BONE].vertex_count, 3,
                    f->bone_x));

done:
    flx__h5_close(h5);
    flx__free(r->ctx, block);
    flx__free(r->ctx, path);
    return status;
}

flx_status flx__recording_time(flx_recording* r, int32_t index, double* time)
{
    flx__seal  seal   = {0};
    flx_status status = check_frame_index(r, index);
    if (status != FLX_OK) return status;
    char* path = flx__folder_frame(r->ctx, &r->folder, index);
    if (!path) return FLX_ERR_MEMORY;
    status = flx__sealed_peek(r->ctx, path, FLX__SEAL_FRAME, &seal);
    if (status == FLX_OK) status = check_model(r, path, seal.model_hash);
    *time = seal.time;
    flx__free(r->ctx, path);
    return status;
}
