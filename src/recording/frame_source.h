// What a recording is made from, as plain arrays: the recorder, checkpoints and their tests need no model or state.
// recorder_public.c fills these from flx_model and flx_state.
#ifndef FLX_RECORDING_FRAME_SOURCE_H
#define FLX_RECORDING_FRAME_SOURCE_H

#include "base/base.h"
#include "flexor/recording.h"

/// Rigid things beside the bodies. Each kind has a group of its own in the files.
#define FLX__SOLID_KINDS 2 // flx_solid_kind
/// Datasets of a kind: "obstacles/rest" and so on.
const char* flx__solid_dataset(flx_solid_kind kind, const char* name);

/// What stays the same in every frame. All pointers are borrowed for the call only.
typedef struct flx__topology
{
    const char* scene_name; // may be NULL
    double      fps;
    int32_t     up_axis; // 1 = y, 2 = z
    uint64_t    model_hash;

    int32_t body_count, vertex_count, tet_count, surface_vertex_count, surface_triangle_count;

    const int32_t* tets;              // [tet_count][4]
    const int32_t* tet_body;          // [tet_count]
    const int32_t* surface_triangles; // [surface_triangle_count][3]
    const double*  rest;              // [vertex_count][3] m
    const double*  surface_rest;      // [surface_vertex_count][3] m

    flx_recording_solids solids[FLX__SOLID_KINDS];
} flx__topology;

/// One frame. Sizes as in the topology.
typedef struct flx__frame_source
{
    double         time;                      // s
    int64_t        step;                      // steps taken since the start
    const double*  x;                         // [vertex_count][3] m
    const double*  surface_x;                 // [surface_vertex_count][3] m
    const double*  contact_force;             // [surface_vertex_count][3] N
    const double*  strain;                    // [tet_count]
    const double*  volume_ratio;              // [tet_count]
    const double*  solid_x[FLX__SOLID_KINDS]; // [solids[kind].vertex_count][3] m
    flx_step_stats stats;
} flx__frame_source;

/// Every scalar of flx_step_stats, by name: they become attributes of a frame. contact_force[3] is kept beside them.
#define FLX__STATS_REALS(X)                                                                                            \
    X(ms_total)                                                                                                        \
    X(ms_local) X(ms_forward) X(ms_inner) X(ms_detect) X(ms_backward) X(penetration) X(residual) X(motion) X(energy)
#define FLX__STATS_INTEGERS(X) X(outer) X(inner) X(candidates) X(active) X(switched) X(lost) X(unsolved) X(inverted)

/// As flx_recorder_create(), from arrays.
flx_status flx__recorder_create(flx_context* ctx, const char* path, const flx__topology* topology, bool overwrite,
                                bool append, flx_recorder** out);
/// As flx_recorder_frame(), from arrays. Close with flx_recorder_close().
flx_status flx__recorder_frame(flx_recorder* recorder, const flx__frame_source* frame);

/// What lives and dies with a recorder, for whoever gathers its frames. NULL until set; `destroy` is called by close.
void* flx__recorder_gatherer(const flx_recorder* recorder);
void  flx__recorder_set_gatherer(flx_recorder* recorder, void* gatherer, void (*destroy)(void* gatherer));
/// Counts and facts; its arrays are NULL.
const flx__topology* flx__recorder_shape(const flx_recorder* recorder);

/// A state's bytes under a seal.
flx_status flx__checkpoint_save(flx_context* ctx, const char* path, double time, int64_t step, const void* payload,
                                int64_t bytes);
/// *block is the caller's to flx__free(); the payload starts at *payload inside of it.
flx_status flx__checkpoint_load(flx_context* ctx, const char* path, char** block, const void** payload, int64_t* bytes);

#endif
