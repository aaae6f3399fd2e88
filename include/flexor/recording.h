/// @file
/// Recordings: the frames of a run on disk, and what other programs read.
#ifndef FLEXOR_RECORDING_H
#define FLEXOR_RECORDING_H

#include "flexor/base.h"
#include "flexor/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- writing -----------------------------------------------------------------------------------------

typedef struct flx_recorder flx_recorder;

/// Start a recording: `path`.h5 and `path`.xdmf (give the path without extension, or with .h5). The topology is
/// written at once; the files are complete and readable after every frame, also after kill -9.
/// With `append`, continue an existing recording of the same model after its last frame at or before `state`'s time.
///
/// Returns FLX_ERR_EXISTS (without overwrite or append), FLX_ERR_IO (disk full says so), FLX_ERR_FORMAT.
FLX_API FLX_MUST_CHECK flx_status flx_recorder_create(flx_context* ctx, const char* path, const flx_model* model,
                                                      bool overwrite, bool append, flx_recorder** out);
/// Write one frame: surface and tet positions, displacement, contact force, strain, volume ratio, statistics.
FLX_API FLX_MUST_CHECK flx_status flx_recorder_frame(flx_recorder* recorder, const flx_state* state,
                                                     const flx_step_stats* stats);
FLX_API FLX_MUST_CHECK flx_status flx_recorder_close(flx_recorder* recorder); ///< also frees; NULL is welcome

// --- checkpoints -------------------------------------------------------------------------------------

/// Write atomically (temporary file, fsync, rename): a reader sees the old one or the new one.
FLX_API FLX_MUST_CHECK flx_status flx_checkpoint_write(flx_context* ctx, const char* path, const flx_state* state);
FLX_API FLX_MUST_CHECK flx_status flx_checkpoint_read(flx_context* ctx, const char* path, flx_state* state);

// --- reading -----------------------------------------------------------------------------------------

typedef struct flx_recording flx_recording;

typedef struct flx_recording_info
{
    int32_t frame_count, vertex_count, tet_count, surface_vertex_count, surface_triangle_count, body_count;
    double  fps;
    uint64_t model_hash;
} flx_recording_info;

FLX_API FLX_MUST_CHECK flx_status flx_recording_open(flx_context* ctx, const char* path, flx_recording** out);
FLX_API void                      flx_recording_close(flx_recording* recording);
FLX_API flx_recording_info        flx_recording_get_info(const flx_recording* recording);
FLX_API const int32_t*            flx_recording_surface_triangles(const flx_recording* recording);
FLX_API const int32_t*            flx_recording_tets(const flx_recording* recording);

/// One frame into caller's arrays, any of which may be NULL. Sizes as in flx_recording_info.
typedef struct flx_frame
{
    double  time;          ///< s, set by the call
    double* x;             ///< [vertex_count][3] m
    float*  surface_x;     ///< [surface_vertex_count][3] m
    float*  contact_force; ///< [surface_vertex_count][3] N
    float*  displacement;  ///< [surface_vertex_count][3] m
    float*  strain;        ///< [tet_count]
    float*  volume_ratio;  ///< [tet_count]
} flx_frame;
FLX_API FLX_MUST_CHECK flx_status flx_recording_frame(flx_recording* recording, int32_t index, flx_frame* frame);

// --- export --------------------------------------------------------------------------------------------

typedef struct flx_export_options
{
    size_t struct_size;
    bool   overwrite;
    bool   y_up;   ///< convert z-up scenes to y-up (OBJ+PC2 for Blender's defaults)
    double scale;  ///< coordinates are multiplied by this; default 1
    int32_t first, last, every; ///< frames; last -1 = to the end
} flx_export_options;
FLX_API flx_export_options flx_export_options_default(void);

/// By the path's form: `x.pc2` (+ x.obj, surface only, shared numbering), `x.pvd` (+ x_NNNN.vtu: all tets and fields),
/// `x_%04d.ply` and `x_%04d.obj` sequences, `x.mdd`. Whole or not at all.
FLX_API FLX_MUST_CHECK flx_status flx_export(flx_context* ctx, flx_recording* recording, const char* path,
                                             const flx_export_options* options);

// --- pictures ------------------------------------------------------------------------------------------

typedef enum flx_color_field
{
    FLX_COLOR_SKIN = 0,
    FLX_COLOR_DISPLACEMENT,
    FLX_COLOR_CONTACT
} flx_color_field;

typedef struct flx_render_options
{
    size_t          struct_size;
    int32_t         width, height; ///< pixels of one picture
    double          from[3], at[3], up[3]; ///< camera, m
    double          view_width;    ///< m across at `at`
    flx_color_field color;
    bool            wireframe;
    double          color_max;     ///< of the field; 0 = from the recording
} flx_render_options;
/// A camera that shows the whole recording from (1, -1.2, 0.7), z up, or y up for y-up scenes.
FLX_API FLX_MUST_CHECK flx_status flx_render_options_fit(flx_context* ctx, flx_recording* recording,
                                                         flx_render_options* out);
/// One frame as PNG. No display is needed.
FLX_API FLX_MUST_CHECK flx_status flx_render_frame(flx_context* ctx, flx_recording* recording, int32_t frame,
                                                   const flx_render_options* options, const char* path, bool overwrite);
/// A grid of frames (rows of `columns`), each labelled with its number, as one PNG.
FLX_API FLX_MUST_CHECK flx_status flx_render_sheet(flx_context* ctx, flx_recording* recording, int32_t frame_count,
                                                   const int32_t* frames, int32_t columns,
                                                   const flx_render_options* options, const char* path, bool overwrite);

#ifdef __cplusplus
}
#endif
#endif
