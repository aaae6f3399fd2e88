// PC2 point cache, little endian, for Blender's Mesh Cache and 3ds Max' Point Cache:
//
//    0  char[12]  "POINTCACHE2\0"      20  f32  start frame
//   12  i32       version = 1          24  f32  frames per sample
//   16  i32       vertices             28  i32  samples
//   32  f32       [samples][vertices][3]
//
// Times are frames of the recording. The mesh it belongs to is written beside it, in the rest pose.
#include "recording/export.h"

#include <string.h>

static flx_status write_cache(flx__export* e, flx_file* file)
{
    flx_status    status    = FLX_OK;
    double        time      = 0;
    const int32_t counts[2] = {1, e->point_count};
    const float   frames[2] = {(float)e->options.first, (float)e->options.every};

    flx__file_write(file, "POINTCACHE2", 12);
    flx__export_words(e, file, counts, 2, false);
    flx__export_words(e, file, frames, 2, false);
    flx__export_words(e, file, &e->frame_count, 1, false);
    for (int32_t k = 0; k < e->frame_count; ++k)
    {
        FLX_TRY(flx__export_read_surface(e, k, &time));
        flx__export_points(e, file, false);
    }

done:
    return status;
}

static flx_status need_surface(flx__export* e)
{
    if (e->info.surface_triangle_count > 0) return FLX_OK;
    return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "%s: the recording has no surface", e->path);
}

flx_status flx__export_pc2(flx__export* e)
{
    flx_status status = FLX_OK;
    flx_file*  file   = NULL;

    e->turn = e->options.y_up && e->info.up_axis == 2;
    FLX_TRY(need_surface(e));
    FLX_TRY(flx__export_claim(e, flx__export_sibling(e, ".obj")));
    FLX_TRY(flx__export_claim(e, flx__strdup(e->ctx, e->path)));
    FLX_TRY(flx__export_obj_mesh(e, 0, NULL, 0));
    FLX_TRY(flx__export_open(e, 1, &file));
    FLX_TRY(write_cache(e, file));
    status = flx__file_commit(file);
    file   = NULL;

done:
    flx__file_abort(file);
    return status;
}
