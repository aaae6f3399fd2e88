// MDD (Lightwave), big endian: i32 frames; i32 vertices; f32 [frames] times in seconds; f32 [frames][vertices][3].
#include "recording/export.h"

#include "recording/recording_reader.h"

#include <sys/stat.h>

static flx_status write_cache(flx__export* e, flx_file* file)
{
    flx_status    status    = FLX_OK;
    double        time      = 0;
    const int32_t counts[2] = {e->frame_count, e->point_count};

    flx__export_words(e, file, counts, 2, true);
    for (int32_t k = 0; k < e->frame_count; ++k)
    {
        FLX_TRY(flx__recording_time(e->recording, flx__export_frame(e, k), &time));
        const float seconds = (float)time;
        flx__export_words(e, file, &seconds, 1, true);
    }
    for (int32_t k = 0; k < e->frame_count; ++k)
    {
        FLX_TRY(flx__export_read_surface(e, k, &time));
        flx__export_points(e, file, true);
    }

done:
    return status;
}

// A cache needs its mesh. One that is there already, most likely from a PC2 export, is left alone.
static flx_status claim_mesh(flx__export* e, bool* claimed)
{
    struct stat info;
    char*       path = flx__export_sibling(e, ".obj");
    if (!path) return FLX_ERR_MEMORY;
    *claimed = e->options.overwrite || stat(path, &info) != 0;
    if (*claimed) return flx__export_claim(e, path);
    flx__log(e->ctx, FLX_LOG_NOTICE, "%s is there already and is kept; it must be the mesh of this recording", path);
    flx__free(e->ctx, path);
    return FLX_OK;
}

flx_status flx__export_mdd(flx__export* e)
{
    flx_status status = FLX_OK;
    flx_file*  file   = NULL;
    bool       mesh   = false;

    if (e->info.surface_triangle_count == 0)
        return flx__fail(e->ctx, FLX_ERR_ARGUMENT, "%s: the recording has no surface", e->path);
    e->turn = e->options.y_up && e->info.up_axis == 2;
    FLX_TRY(flx__export_claim(e, flx__strdup(e->ctx, e->path)));
    FLX_TRY(claim_mesh(e, &mesh));
    if (mesh) FLX_TRY(flx__export_obj_mesh(e, 1, NULL, 0));
    FLX_TRY(flx__export_open(e, 0, &file));
    FLX_TRY(write_cache(e, file));
    status = flx__file_commit(file);
    file   = NULL;

done:
    flx__file_abort(file);
    return status;
}
