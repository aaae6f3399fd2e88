// What the recorder's tests look at: every number of a frame, and the sidecar as another program sees it.
#ifndef FLX_TESTS_RECORDING_CHECKS_H
#define FLX_TESTS_RECORDING_CHECKS_H

#include "fixture.h"

#include <hdf5.h>

typedef struct frame_data
{
    flx_frame frame;
    double    x[VERTICES][3];
    float     surface_x[SURFACE_VERTICES][3], force[SURFACE_VERTICES][3], displacement[SURFACE_VERTICES][3];
    float     strain[TETS], volume_ratio[TETS], vertex_displacement[VERTICES][3];
    float     obstacle_x[OBSTACLE_VERTICES][3], bone_x[BONE_VERTICES][3];
} frame_data;

static inline void frame_data_point(frame_data* d)
{
    d->frame = (flx_frame){.x                   = d->x[0],
                           .surface_x           = d->surface_x[0],
                           .contact_force       = d->force[0],
                           .displacement        = d->displacement[0],
                           .strain              = d->strain,
                           .volume_ratio        = d->volume_ratio,
                           .vertex_displacement = d->vertex_displacement[0],
                           .obstacle_x          = d->obstacle_x[0],
                           .bone_x              = d->bone_x[0]};
}

// Every number of frame `index` is what the bar had at step k, rounded to single precision.
static inline void check_frame(flx_context* ctx, flx_recording* recording, int32_t index, bar* b, int k)
{
    frame_data d;
    frame_data_point(&d);
    CHECK_OK(flx_recording_frame(recording, index, &d.frame));
    bar_move(b, k);
    assert_true(d.frame.time == b->frame.time);
    assert_int_equal(d.frame.step, k);
    assert_memory_equal(&d.frame.stats, &b->frame.stats, sizeof b->frame.stats);
    for (int v = 0; v < VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(d.x[v][c] == (float)b->x[v][c]);
            assert_true(d.vertex_displacement[v][c] == (float)(b->x[v][c] - b->rest[v][c]));
        }
    for (int v = 0; v < SURFACE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(d.surface_x[v][c] == (float)b->surface_x[v][c]);
            assert_true(d.force[v][c] == (float)b->contact_force[v][c]);
            assert_true(d.displacement[v][c] == (float)(b->surface_x[v][c] - b->surface_rest[v][c]));
        }
    for (int v = 0; v < OBSTACLE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) assert_true(d.obstacle_x[v][c] == (float)b->obstacle_x[v][c]);
    for (int v = 0; v < BONE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) assert_true(d.bone_x[v][c] == (float)b->bone_x[v][c]);
    for (int e = 0; e < TETS; ++e)
    {
        assert_true(d.strain[e] == (float)b->strain[e]);
        assert_true(d.volume_ratio[e] == (float)b->volume_ratio[e]);
    }
}

static inline void check_recording(flx_context* ctx, const char* path, bar* b, int frames)
{
    flx_recording* recording = NULL;
    CHECK_OK(flx_recording_open(ctx, path, &recording));
    assert_int_equal(flx_recording_get_info(recording).frame_count, frames);
    for (int k = 0; k < frames; ++k) check_frame(ctx, recording, k, b, k);
    flx_recording_close(recording);
}

// The sidecar is whole XML by its outline, and every dataset it names is in the file it names, as the HDF5 library sees
// the file on disk. Returns the number of frames in it.
static inline int check_sidecar(const char* xdmf, const char* folder)
{
    long  bytes;
    char* text = (char*)slurp(xdmf, &bytes);
    assert_non_null(strstr(text, "<?xml version=\"1.0\""));
    assert_non_null(strstr(text, "</Grid>\n </Domain>\n</Xdmf>\n"));
    int frames = 0;
    for (const char* p = text; (p = strstr(p, "<Time ")); ++p) ++frames;
    char last[1024] = "";
    for (const char* p = text; (p = strstr(p, "\">")); ++p)
    {
        char        file[512], dataset[256], path[1024];
        const char *colon = strchr(p, ':'), *end = strchr(p, '<');
        if (!colon || colon > end || strncmp(colon - 3, ".h5", 3) != 0) continue;
        snprintf(file, sizeof file, "%.*s", (int)(colon - p - 2), p + 2);
        snprintf(dataset, sizeof dataset, "%.*s", (int)(end - colon - 1), colon + 1);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (!exists(path)) fail_msg("%s names %s, which is not there", xdmf, path);
        if (strcmp(path, last) == 0) continue; // one dataset of each file is opened: the test is to stay quick
        snprintf(last, sizeof last, "%s", path);
        const hid_t h = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (h < 0 || H5Lexists(h, dataset, H5P_DEFAULT) <= 0) fail_msg("%s has no %s", path, dataset);
        H5Fclose(h);
    }
    free(text);
    return frames;
}

static inline flx_status open_and_read(flx_context* ctx, const char* path)
{
    flx_recording* recording = NULL;
    flx_frame      frame     = {0};
    flx_status     status    = flx_recording_open(ctx, path, &recording);
    if (status == FLX_OK) status = flx_recording_frame(recording, 0, &frame);
    flx_recording_close(recording);
    return status;
}

#endif
