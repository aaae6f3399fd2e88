// A small recording to write, read and export: a row of cubes cut into tets, its surface with one vertex that no
// triangle uses, moving by formula so that every number of every frame is known.
#ifndef FLX_TESTS_RECORDING_FIXTURE_H
#define FLX_TESTS_RECORDING_FIXTURE_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "recording/frame_source.h"

#define CELLS 5
#define VERTICES (4 * (CELLS + 1))
#define TETS (5 * CELLS)
#define SURFACE_VERTICES (VERTICES + 1)
#define TRIANGLES (8 * CELLS)
#define LONELY 7            // the surface vertex that no triangle uses
#define OBSTACLE_VERTICES 8 // two tetrahedra as obstacles, one as a bone
#define OBSTACLE_TRIANGLES 8
#define BONE_VERTICES 4
#define BONE_TRIANGLES 4

typedef struct bar
{
    int32_t           tets[TETS][4], tet_body[TETS], triangles[TRIANGLES][3];
    double            rest[VERTICES][3], surface_rest[SURFACE_VERTICES][3];
    double            x[VERTICES][3], surface_x[SURFACE_VERTICES][3], contact_force[SURFACE_VERTICES][3];
    double            strain[TETS], volume_ratio[TETS];
    int32_t           obstacle_shape[2], obstacle_triangles[OBSTACLE_TRIANGLES][3], obstacle_owner[OBSTACLE_TRIANGLES];
    int32_t           bone_shape[1], bone_triangles[BONE_TRIANGLES][3], bone_owner[BONE_TRIANGLES];
    double            obstacle_rest[OBSTACLE_VERTICES][3], obstacle_x[OBSTACLE_VERTICES][3];
    double            bone_rest[BONE_VERTICES][3], bone_x[BONE_VERTICES][3];
    flx__topology     topology;
    flx__frame_source frame;
} bar;

static inline void bar_point(int v, double out[3])
{
    out[0] = 0.1 * (v / 4);
    out[1] = 0.05 * (v % 2);
    out[2] = 0.07 * (v / 2 % 2);
}

static inline int surface_number(int v)
{
    return v < LONELY ? v : v + 1;
}

static inline void bar_solids(int count, int32_t* triangles, int32_t* owner, double* rest)
{
    static const int side[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int i = 0; i < 4 * count; ++i)
    {
        owner[i] = i / 4;
        for (int k = 0; k < 3; ++k)
        {
            triangles[3 * i + k] = i / 4 * 4 + side[i % 4][k];
            rest[3 * i + k]      = -0.2 * (1 + i / 4) - 0.05 * count + 0.05 * (i % 4 == k + 1);
        }
    }
}

static inline void bar_make(bar* b)
{
    static const int cube[5][4] = {{0, 1, 2, 4}, {1, 2, 3, 7}, {1, 4, 5, 7}, {2, 4, 6, 7}, {1, 2, 4, 7}};
    static const int side[8][3] = {{0, 4, 5}, {0, 5, 1}, {2, 7, 6}, {2, 3, 7},
                                   {0, 6, 4}, {0, 2, 6}, {1, 5, 7}, {1, 7, 3}};
    memset(b, 0, sizeof *b);
    for (int v = 0; v < VERTICES; ++v) bar_point(v, b->rest[v]);
    for (int v = 0; v < VERTICES; ++v) bar_point(v, b->surface_rest[surface_number(v)]);
    for (int c = 0; c < 3; ++c) b->surface_rest[LONELY][c] = -1;
    for (int i = 0; i < CELLS; ++i)
    {
        for (int t = 0; t < 5; ++t)
            for (int k = 0; k < 4; ++k) b->tets[5 * i + t][k] = 4 * i + cube[t][k];
        for (int t = 0; t < 5; ++t) b->tet_body[5 * i + t] = i % 2;
        for (int t = 0; t < 8; ++t)
            for (int k = 0; k < 3; ++k) b->triangles[8 * i + t][k] = surface_number(4 * i + side[t][k]);
    }
    b->topology = (flx__topology){.scene_name             = "a bar",
                                  .fps                    = 30,
                                  .up_axis                = 2,
                                  .model_hash             = UINT64_C(0xFEDCBA9876543210),
                                  .body_count             = 2,
                                  .vertex_count           = VERTICES,
                                  .tet_count              = TETS,
                                  .surface_vertex_count   = SURFACE_VERTICES,
                                  .surface_triangle_count = TRIANGLES,
                                  .tets                   = b->tets[0],
                                  .tet_body               = b->tet_body,
                                  .surface_triangles      = b->triangles[0],
                                  .rest                   = b->rest[0],
                                  .surface_rest           = b->surface_rest[0]};
    bar_solids(2, b->obstacle_triangles[0], b->obstacle_owner, b->obstacle_rest[0]);
    bar_solids(1, b->bone_triangles[0], b->bone_owner, b->bone_rest[0]);
    b->obstacle_shape[0] = b->obstacle_shape[1] = b->bone_shape[0] = 7;
    b->topology.solids[FLX_SOLID_OBSTACLE]                         = (flx_recording_solids){.count          = 2,
                                                                                            .vertex_count   = OBSTACLE_VERTICES,
                                                                                            .triangle_count = OBSTACLE_TRIANGLES,
                                                                                            .shape          = b->obstacle_shape,
                                                                                            .triangles      = b->obstacle_triangles[0],
                                                                                            .triangle_solid = b->obstacle_owner,
                                                                                            .rest           = b->obstacle_rest[0]};
    b->topology.solids[FLX_SOLID_BONE]                             = (flx_recording_solids){.count          = 1,
                                                                                            .vertex_count   = BONE_VERTICES,
                                                                                            .triangle_count = BONE_TRIANGLES,
                                                                                            .shape          = b->bone_shape,
                                                                                            .triangles      = b->bone_triangles[0],
                                                                                            .triangle_solid = b->bone_owner,
                                                                                            .rest           = b->bone_rest[0]};
    b->frame                                                       = (flx__frame_source){.x             = b->x[0],
                                                                                         .surface_x     = b->surface_x[0],
                                                                                         .contact_force = b->contact_force[0],
                                                                                         .strain        = b->strain,
                                                                                         .volume_ratio  = b->volume_ratio,
                                                                                         .solid_x       = {b->obstacle_x[0], b->bone_x[0]}};
}

static inline void bar_move(bar* b, int k)
{
    const double t = k / b->topology.fps;
    for (int v = 0; v < VERTICES; ++v)
        for (int c = 0; c < 3; ++c) b->x[v][c] = b->rest[v][c] + sin(t + v) * 0.01 * (c + 1);
    for (int v = 0; v < SURFACE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            b->surface_x[v][c]     = b->surface_rest[v][c] + cos(t + v) * 0.02 * (c - 1);
            b->contact_force[v][c] = k * 10 + v + c / 4.0;
        }
    for (int v = 0; v < OBSTACLE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) b->obstacle_x[v][c] = b->obstacle_rest[v][c] + 0.01 * k * c;
    for (int v = 0; v < BONE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) b->bone_x[v][c] = b->bone_rest[v][c] - 0.02 * k * c;
    for (int e = 0; e < TETS; ++e)
    {
        b->strain[e]       = t + e;
        b->volume_ratio[e] = 1 - t / (e + 1);
    }
    b->frame.time  = t;
    b->frame.step  = k;
    b->frame.stats = (flx_step_stats){.ms_total      = 1 + k,
                                      .ms_backward   = 0.25,
                                      .outer         = 1,
                                      .inner         = 2 + k,
                                      .candidates    = 30,
                                      .active        = 20 + k,
                                      .switched      = 3,
                                      .penetration   = 1e-5 * k,
                                      .contact_force = {1, 2, 3.5 * k},
                                      .residual      = 1e-3,
                                      .motion        = 1e-6,
                                      .inverted      = k,
                                      .energy        = 7.5};
}

static inline flx_status bar_record(flx_context* ctx, bar* b, const char* path, int first, int end, bool overwrite,
                                    bool append)
{
    flx_recorder* recorder = NULL;
    flx_status    status   = flx__recorder_create(ctx, path, &b->topology, overwrite, append, &recorder);
    for (int k = first; k < end && status == FLX_OK; ++k)
    {
        bar_move(b, k);
        status = flx__recorder_frame(recorder, &b->frame);
    }
    const flx_status closed = flx_recorder_close(recorder);
    return status != FLX_OK ? status : closed;
}

// --- a folder of its own for each test ------------------------------------------------------------

static inline char* child_path(const char* folder, const char* name)
{
    char* path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) fail_msg("out of memory");
    return path;
}

static inline void remove_tree(const char* path)
{
    DIR* dir = opendir(path);
    if (!dir)
    {
        unlink(path);
        return;
    }
    for (struct dirent* entry = readdir(dir); entry; entry = readdir(dir))
    {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char* child = child_path(path, entry->d_name);
        remove_tree(child);
        free(child);
    }
    closedir(dir);
    rmdir(path);
}

typedef struct place
{
    flx_context* ctx;
    char         folder[256];
    char         path[512]; // of the recording
    bar          bar;
} place;

static inline void place_open(place* p)
{
    const char* base = getenv("TMPDIR"); // else in memory, where thousands of small files cost no fsync
    if (!base) base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
    snprintf(p->folder, sizeof p->folder, "%s/flexor-recording-XXXXXX", base);
    if (!mkdtemp(p->folder)) fail_msg("no folder %s", p->folder);
    snprintf(p->path, sizeof p->path, "%s/run", p->folder);
    p->ctx = test_context(1);
    bar_make(&p->bar);
}

static inline void place_close(place* p)
{
    assert_int_equal(flx_context_bytes_now(p->ctx), 0);
    flx_context_destroy(p->ctx);
    remove_tree(p->folder);
}

static inline const char* in(const place* p, const char* name) // good for the next three calls
{
    static char text[4][1024];
    static int  next;
    char*       out = text[next++ & 3];
    snprintf(out, sizeof *text, "%s/%s", p->folder, name);
    return out;
}

static inline bool exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// Names below a folder that contain `part`.
static inline int count_names(const char* path, const char* part)
{
    int  count = 0;
    DIR* dir   = opendir(path);
    if (!dir) return 0;
    for (struct dirent* entry = readdir(dir); entry; entry = readdir(dir))
    {
        if (entry->d_name[0] == '.') continue;
        char* child = child_path(path, entry->d_name);
        count += (strstr(entry->d_name, part) != NULL) + count_names(child, part);
        free(child);
    }
    closedir(dir);
    return count;
}

static inline unsigned char* slurp(const char* path, long* bytes)
{
    FILE* file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    unsigned char* data = malloc((size_t)*bytes + 1);
    if (fread(data, 1, (size_t)*bytes, file) != (size_t)*bytes) fail_msg("cannot read %s", path);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

static inline void spill(const char* path, const void* data, long bytes)
{
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes) fail_msg("cannot write %s", path);
    fclose(file);
}

static inline bool same_file(const char* a, const char* b)
{
    long           na, nb;
    unsigned char *da = slurp(a, &na), *db = slurp(b, &nb);
    const bool     same = na == nb && memcmp(da, db, (size_t)na) == 0;
    free(da);
    free(db);
    return same;
}

#endif
