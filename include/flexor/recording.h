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

/// Start a recording. Give `path` without extension (one of .xdmf, .h5, .frames is taken off); it becomes
///
///   PATH.xdmf                       what ParaView opens
///   PATH.frames/topology.h5         meshes and rest pose, written at once
///   PATH.frames/frame_000000.h5     one HDF5 file a frame; datasets /x, /displacement, /surface/x,
///                                   /surface/displacement, /surface/contact_force, /tet/strain, /tet/volume_ratio,
///                                   /obstacles/x and /bones/x (if there are any) in single precision; time and step
///                                   statistics as attributes
///
/// Each file appears under its name when it is complete, so the recording can be read at any time: while it is
/// written, after kill -9, after the disk was full. Up to 1000 frames the sidecar names every complete frame;
/// beyond, it may lag by 15 until the recorder is closed.
///
/// With `append`, a recording of the same model that is there is continued, or a new one started if there is none:
/// the first frame written replaces the frame of its time and all later ones. `append` comes before `overwrite`.
///
/// Returns FLX_ERR_EXISTS (without overwrite or append), FLX_ERR_IO (disk full says so), FLX_ERR_FORMAT (append:
/// damaged, or of another model), FLX_ERR_ARGUMENT (a path without a name), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_recorder_create(flx_context* ctx, const char* path, const flx_model* model,
                                                      bool overwrite, bool append, flx_recorder** out);
/// Write one frame: surface and tet positions, displacement, contact force, strain, volume ratio, statistics.
/// `stats` may be NULL. A frame whose time is already recorded replaces that frame and what came after it. When the
/// call fails the frames before it are intact and nothing unfinished is left.
///
/// Returns FLX_ERR_IO (disk full says so), FLX_ERR_ARGUMENT (a time that is not finite), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_recorder_frame(flx_recorder* recorder, const flx_state* state,
                                                     const flx_step_stats* stats);
FLX_API FLX_MUST_CHECK flx_status flx_recorder_close(flx_recorder* recorder); ///< also frees; NULL is welcome

// --- checkpoints -------------------------------------------------------------------------------------

/// Write atomically (temporary file, fsync, rename): a reader sees the old one or the new one. Returns FLX_ERR_IO,
/// FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_checkpoint_write(flx_context* ctx, const char* path, const flx_state* state);
/// Returns FLX_ERR_IO, FLX_ERR_FORMAT (not a checkpoint, cut short, damaged, or of another model), FLX_ERR_MEMORY.
/// `state` is untouched when the call fails.
FLX_API FLX_MUST_CHECK flx_status flx_checkpoint_read(flx_context* ctx, const char* path, flx_state* state);

// --- reading -----------------------------------------------------------------------------------------

typedef struct flx_recording flx_recording;

typedef struct flx_recording_info
{
    int32_t frame_count, vertex_count, tet_count, surface_vertex_count, surface_triangle_count, body_count;
    double  fps;
    uint64_t model_hash;
    int32_t  up_axis; ///< of the scene: 1 = y, 2 = z
} flx_recording_info;

/// Takes the same paths as flx_recorder_create(). A recording being written may be opened: the frames complete by then
/// are seen.
///
/// Returns FLX_ERR_IO (none there), FLX_ERR_FORMAT (cut short or damaged), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_recording_open(flx_context* ctx, const char* path, flx_recording** out);
FLX_API void                      flx_recording_close(flx_recording* recording);
FLX_API flx_recording_info        flx_recording_get_info(const flx_recording* recording);
FLX_API const int32_t*            flx_recording_surface_triangles(const flx_recording* recording);
FLX_API const int32_t*            flx_recording_tets(const flx_recording* recording);
FLX_API const int32_t*            flx_recording_tet_body(const flx_recording* recording);
/// Rest positions in m: [vertex_count][3] and [surface_vertex_count][3].
FLX_API const double*             flx_recording_rest(const flx_recording* recording);
FLX_API const double*             flx_recording_surface_rest(const flx_recording* recording);
FLX_API const char*               flx_recording_scene_name(const flx_recording* recording); ///< never NULL

typedef enum flx_solid_kind
{
    FLX_SOLID_OBSTACLE = 0,
    FLX_SOLID_BONE
} flx_solid_kind;

/// The surfaces of all obstacles, or of all bones, one behind the other. Of a plane, which has no end, it is a
/// square around the place where the bodies are.
typedef struct flx_recording_solids
{
    int32_t        count, vertex_count, triangle_count;
    const int32_t* shape;          ///< [count] flx_shape_kind
    const int32_t* triangles;      ///< [triangle_count][3], outward
    const int32_t* triangle_solid; ///< [triangle_count] which one it belongs to, ascending
    const double*  rest;           ///< [vertex_count][3] m, before any motion
} flx_recording_solids;
FLX_API flx_recording_solids flx_recording_get_solids(const flx_recording* recording, flx_solid_kind kind);

/// One frame into caller's arrays, any of which may be NULL. Sizes as in flx_recording_info.
typedef struct flx_frame
{
    double  time;          ///< s, set by the call
    double* x;             ///< [vertex_count][3] m, stored in single precision
    float*  surface_x;     ///< [surface_vertex_count][3] m
    float*  contact_force; ///< [surface_vertex_count][3] N
    float*  displacement;  ///< [surface_vertex_count][3] m
    float*  strain;        ///< [tet_count]
    float*  volume_ratio;  ///< [tet_count]
    float*  vertex_displacement; ///< [vertex_count][3] m
    float*  obstacle_x;          ///< [vertex_count of the obstacles' surfaces][3] m
    float*  bone_x;              ///< the same of the bones'

    int64_t        step;  ///< set by the call
    flx_step_stats stats; ///< of the step that led here; set by the call
} flx_frame;
/// Returns FLX_ERR_ARGUMENT (no such frame), FLX_ERR_IO, FLX_ERR_FORMAT (cut short, damaged, of another model),
/// FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_recording_frame(flx_recording* recording, int32_t index, flx_frame* frame);

// --- export --------------------------------------------------------------------------------------------

typedef struct flx_export_options
{
    size_t struct_size;
    bool   overwrite; ///< default false
    bool   y_up;      ///< OBJ, PC2, MDD of a z-up scene become y-up, (x, z, -y), as Blender expects; default true
    double scale;     ///< coordinates are multiplied by this; default 1
    int32_t first, last, every; ///< frames; last -1 = to the end; default 0, -1, 1
} flx_export_options;
FLX_API flx_export_options flx_export_options_default(void);

/// By the path's form:
///
///   x.pc2             point cache of the surface, and x.obj with the same vertex numbering (only vertices that
///                     triangles use)
///   x.mdd             the same for Lightwave, Houdini; x.obj is written beside it unless there is one
///   x.pvd             x_NNNN.vtu (tets, all fields), x_surface_NNNN.vtu (displacement, contact force),
///                     x_obstacles_NNNN.vtu and x_bones_NNNN.vtu if there are any; axes as in the scene
///   x_%04d.ply        binary, axes as in the scene
///   x_%04d.obj
///
/// NNNN and %d are the recording's frame numbers; a .ply or .obj path without a number takes exactly one frame.
/// Whole or not at all: files get their names when all of them are complete. `options` may be NULL.
///
/// Returns FLX_ERR_EXISTS before any work, FLX_ERR_ARGUMENT (unknown ending, bad pattern, no such frames), FLX_ERR_IO,
/// FLX_ERR_FORMAT (a frame is damaged), FLX_ERR_MEMORY.
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
    double          ground;        ///< m along the vertical axis: a floor for the shadow; NaN = none
    bool            obstacles;     ///< draw them, in grey; planes fade away from the bodies. Default true
    bool            bones;         ///< draw them, as seen through the skin. Default false
} flx_render_options;
/// A camera that shows the bodies in the whole recording from (1, -1.2, 0.7), z up, or y up for y-up scenes. There is a
/// ground unless an obstacle is a plane.
FLX_API FLX_MUST_CHECK flx_status flx_render_options_fit(flx_context* ctx, flx_recording* recording,
                                                         flx_render_options* out);
/// One frame as PNG. No display is needed.
///
/// Pictures return FLX_ERR_EXISTS (without `overwrite`), FLX_ERR_ARGUMENT (no such frame, a size or camera that cannot
/// be), FLX_ERR_IO, FLX_ERR_FORMAT (a frame is damaged), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_render_frame(flx_context* ctx, flx_recording* recording, int32_t frame,
                                                   const flx_render_options* options, const char* path, bool overwrite);
/// A grid of frames (rows of `columns`), each labelled with its number, as one PNG. 0 columns: as square as it gets.
FLX_API FLX_MUST_CHECK flx_status flx_render_sheet(flx_context* ctx, flx_recording* recording, int32_t frame_count,
                                                   const int32_t* frames, int32_t columns,
                                                   const flx_render_options* options, const char* path, bool overwrite);

#ifdef __cplusplus
}
#endif
#endif
