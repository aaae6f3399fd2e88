/// @file
/// A scene: what the user wrote, in structs and SI units. Fill one by hand or read it from a file.
///
/// Counts and pointers are plain; everything a scene points to belongs to the scene and dies with it. Indices such as
/// `bone` are positions in the scene's own arrays, -1 meaning none.
#ifndef FLEXOR_SCENE_H
#define FLEXOR_SCENE_H

#include "flexor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- shapes: regions, bones, obstacles -------------------------------------------------------------

typedef enum flx_shape_kind
{
    FLX_SHAPE_NONE = 0, ///< as a region: nothing. `auto` regions are FLX_SHAPE_AUTO
    FLX_SHAPE_ALL,      ///< as a region: everywhere
    FLX_SHAPE_AUTO,     ///< as a contact region: the engine proposes one from the motion
    FLX_SHAPE_PLANE,    ///< half space: solid where normal . (x - point) < 0
    FLX_SHAPE_SPHERE,
    FLX_SHAPE_CAPSULE,
    FLX_SHAPE_BOX,  ///< axis-aligned in its rest pose
    FLX_SHAPE_MESH  ///< closed surface from a file
} flx_shape_kind;

typedef struct flx_shape
{
    flx_shape_kind kind;
    double         a[3];   ///< m: plane point; sphere center; capsule from; box min
    double         b[3];   ///< m: capsule to; box max; plane: unit normal (dimensionless)
    double         radius; ///< m: sphere, capsule
    char*          path;   ///< mesh: file, resolved against the scene's folder
    char*          group;  ///< mesh: only this group; NULL = all
    double         scale;  ///< mesh: file unit to m
    double         cell;   ///< m, mesh: distance-field cell size; 0 = diagonal / 96
} flx_shape;

// --- bodies ----------------------------------------------------------------------------------------

typedef struct flx_material
{
    double young;   ///< Pa; Projective Dynamics takes nu = 0: mu = young / 2
    double density; ///< kg/m^3
    double area_density; ///< kg/m^2, of cloth, which has neither of the above
    char*  young_file;   ///< with `tets`: path of a text file with one Young's modulus an element, Pa; NULL = `young`
} flx_material;

typedef enum flx_constraint_kind
{
    FLX_CONSTRAINT_SPRING = 0, ///< cloth: an edge keeps its length; stiffness in N/m
    FLX_CONSTRAINT_STRAIN,     ///< cloth: stretches of a triangle stay within limits; N/m
    FLX_CONSTRAINT_BENDING,    ///< cloth: the curvature at a vertex keeps its size; N m
    FLX_CONSTRAINT_TET_STRAIN, ///< stretches of a tet stay within limits; Pa
    FLX_CONSTRAINT_TET_VOLUME  ///< det F of a tet stays within limits; Pa
} flx_constraint_kind;

/// Energies of Projective Dynamics on elements of a body: weight/2 x measure x |S q - nearest allowed|^2.
typedef struct flx_constraint_desc
{
    flx_constraint_kind kind;
    double              stiffness;   ///< in the unit of the kind
    double              least, most; ///< limits of the strain kinds and of the volume; 1, 1: as at rest
    char*               group;       ///< only the elements of this group of the mesh; NULL = all. Not with a lattice
    char*               file;        ///< path of a text file with one factor an element of the body; NULL = 1
} flx_constraint_desc;

typedef struct flx_body_desc
{
    char*        name;
    char*        surface; ///< path of a closed surface to embed, or NULL: in a lattice made here, or in `tets` if given
    char*        tets;    ///< path of a tet mesh, or NULL: conforming, or with `surface` the cage it is embedded in
    char*        cloth;   ///< path of a triangle mesh whose vertices are the body, or NULL; then without the two above
    char*        group;   ///< only this group of the file; NULL = all
    double       scale;   ///< file unit to m
    double       rotate_deg[3];  ///< then rotated about x, then y, then z, degrees
    double       translate[3];   ///< then moved, m
    bool         weld, repair;
    double       weld_tolerance;
    double       lattice_cell;   ///< m: edge of a BCC cell; 0 = from lattice_tets (both 0 with `tets`: no lattice)
    int32_t      lattice_tets;   ///< wanted number of tets; 0 = from lattice_cell
    int32_t      crop_count;     ///< keep only what lies inside one of these shapes (boxes, spheres, capsules)
    flx_shape*   crop;
    flx_material material;
    double       velocity[3];    ///< m/s at the start, dynamic mode
    int32_t      constraint_count; ///< cloth has at least one
    flx_constraint_desc* constraint;
} flx_body_desc;

// --- bones, attachments, motion ---------------------------------------------------------------------

typedef struct flx_bone_desc
{
    char*     name;
    flx_shape shape;  ///< capsule or mesh
    int32_t   parent; ///< bone whose motion this one inherits; -1 = none
} flx_bone_desc;

/// Zero-rest-length springs from points on a bone's surface (spread uniformly) to the body around them.
typedef struct flx_attach_desc
{
    int32_t  body;
    int32_t  bone_count;
    int32_t* bone;
    int32_t  points;    ///< in all, shared between the bones by area
    double   stiffness; ///< N/m per point
} flx_attach_desc;

/// Vertices of a body inside a shape held where they are, or carried by a bone, by springs.
typedef struct flx_fix_desc
{
    int32_t   body;
    flx_shape region;
    double    stiffness; ///< N/m per vertex; 0 = automatic (much stiffer than the material around it)
    double    from, until; ///< s: active in [from, until); until < 0 = for ever
    bool      carried;   ///< the place moves with `bone`
    int32_t   bone;
} flx_fix_desc;

/// One key of a rigid motion: a pose at a time, interpolated linearly in angle and translation, held after the last.
typedef struct flx_key
{
    double time;         ///< s
    double angle_deg;    ///< about the motion's axis
    double translate[3]; ///< m
} flx_key;

/// Rigid motion of a bone or an obstacle: x -> R(axis, angle) (x - about) + about + translate.
/// Several motions of the same thing are applied in the order given. A bone also inherits its parent's.
typedef struct flx_motion_desc
{
    int32_t  bone;     ///< or -1
    int32_t  obstacle; ///< or -1
    double   about[3]; ///< m
    double   axis[3];  ///< unit vector
    int32_t  key_count;
    flx_key* key;      ///< times ascending
} flx_motion_desc;

// --- contact ---------------------------------------------------------------------------------------

typedef enum flx_law
{
    FLX_LAW_UNILATERAL = 0, ///< frictionless, pushes only, along the normal
    FLX_LAW_SPRING          ///< [LLKS]: pulls the proxy to its target in all directions while it penetrates
} flx_law;

typedef struct flx_obstacle_desc
{
    char*     name;
    flx_shape shape; ///< plane, sphere, capsule, box or mesh
} flx_obstacle_desc;

typedef struct flx_contact_desc
{
    int32_t   body;
    bool      self;      ///< the body against itself
    int32_t   obstacle;  ///< against this obstacle; -1 with self
    flx_shape region;    ///< where proxies are placed, at rest; FLX_SHAPE_AUTO = propose
    flx_law   law;
    double    stiffness; ///< N/m per proxy; 0 = automatic (stiff against the material)
    double    spacing;   ///< m between proxies; 0 = every surface vertex in the region, and points between them where
                         ///< the skin is coarser than the cells
    double    margin;    ///< m: contacts this far apart are candidates; 0 = automatic (half a cell; of cloth
                         ///< that touches itself the offset: it finds by itself what gets nearer within a step)
    double    offset;    ///< m: distance kept between the surfaces; default 0. Cloth that touches itself needs one above
                         ///< 0, and no spacing: its vertices and edges meet
} flx_contact_desc;

// --- loads -----------------------------------------------------------------------------------------

/// Total force spread evenly over the vertices of a body inside a region.
typedef struct flx_load_desc
{
    int32_t   body;
    flx_shape region;
    double    force[3]; ///< N, in all
    double    from, until; ///< s; until < 0 = for ever
} flx_load_desc;

/// Air that moves, or stands still: each triangle of cloth is pushed along its normal by
/// drag density / 2 x area x u^2, u the normal component of the air's velocity less the triangle's at the step's start,
/// but never beyond the air's own speed within a step. Dynamic mode only.
typedef struct flx_wind_desc
{
    double velocity[3]; ///< m/s
    double drag;        ///< coefficient; 0 = no air
    double density;     ///< kg/m^3
} flx_wind_desc;

// --- solver settings --------------------------------------------------------------------------------

typedef enum flx_mode { FLX_MODE_QUASISTATIC = 0, FLX_MODE_DYNAMIC } flx_mode;
typedef enum flx_strategy
{
    FLX_STRATEGY_COMPLIANCE = 0,
    FLX_STRATEGY_REFACTOR,
    FLX_STRATEGY_FULL,
    FLX_STRATEGY_PCG
} flx_strategy;
typedef enum flx_follow { FLX_FOLLOW_BONES = 0, FLX_FOLLOW_NONE } flx_follow;
typedef enum flx_acceleration { FLX_ACCELERATION_NONE = 0, FLX_ACCELERATION_ANDERSON } flx_acceleration;
typedef enum flx_precision { FLX_PRECISION_SINGLE = 0, FLX_PRECISION_DOUBLE } flx_precision;

/// Everything under `solver:`. Ranges, units and meanings: src/solver/settings.def, printed by `flexor schema`.
typedef struct flx_settings
{
    size_t           struct_size;
    flx_mode         mode;
    flx_strategy     strategy;
    flx_precision    precision;
    flx_follow       follow;
    flx_acceleration acceleration;
    int32_t          outer, inner, substeps, history;
    int32_t          pcg_iterations, contact_sweeps, contact_iterations;
    double           damping, proximal, min_stretch, tolerance, pcg_tolerance, contact_tolerance, divergence;
} flx_settings;

FLX_API flx_settings flx_settings_default(void);
/// FLX_ERR_SETTING names the setting, its value and the range. NaN fails. FLX_ERR_ARGUMENT: settings of another size.
FLX_API FLX_MUST_CHECK flx_status flx_settings_check(flx_context* ctx, const flx_settings* settings);
/// Set one from text, by its name in the table: flx_settings_set(ctx, &s, "outer", "5").
FLX_API FLX_MUST_CHECK flx_status flx_settings_set(flx_context* ctx, flx_settings* settings, const char* name,
                                                   const char* value);

// --- run and pictures --------------------------------------------------------------------------------

typedef struct flx_run_desc
{
    int32_t frames; ///< beyond frame 0, the rest pose
    double  fps;
    int32_t checkpoint_every; ///< frames; 0 = only at the end and on interruption
} flx_run_desc;

typedef struct flx_camera_desc
{
    char*  name;
    double from[3]; ///< m, eye
    double at[3];   ///< m, what it looks at
    double up[3];   ///< unit vector
    double width;   ///< m shown across at `at`; 0 = fit the body over the whole run
} flx_camera_desc;

typedef struct flx_scene
{
    char*              name;
    char*              path;      ///< of the scene file; NULL when made by hand
    char*              data_path; ///< folder that `data:` paths are relative to; NULL = none given
    double             gravity[3]; ///< m/s^2; default 0: say so in the scene if there is any
    flx_wind_desc      wind;
    int32_t            up_axis;    ///< which axis points up: 1 = y, 2 = z; for exports and cameras. By hand: set it
    int32_t            body_count, bone_count, attach_count, fix_count, motion_count, obstacle_count, contact_count,
        load_count, camera_count;
    flx_body_desc*     body;
    flx_bone_desc*     bone;
    flx_attach_desc*   attach;
    flx_fix_desc*      fix;
    flx_motion_desc*   motion;
    flx_obstacle_desc* obstacle;
    flx_contact_desc*  contact;
    flx_load_desc*     load;
    flx_camera_desc*   camera;
    flx_settings       settings;
    flx_run_desc       run;
    void*              memory; ///< what owns all of the above
} flx_scene;

typedef struct flx_scene_options
{
    size_t             struct_size;
    const char*        data_path;      ///< folder for `data:` paths, or NULL
    int32_t            override_count; ///< "section.key=value", e.g. "solver.outer=3", "run.frames=10", "bodies[0].material.young=50 kPa"
    const char* const* overrides;      ///< a bare "key=value": of the solver, else of the scene ("gravity=9.81")
    bool               skip_files;     ///< do not look whether the files that the scene names exist; default false
} flx_scene_options;

FLX_API flx_scene_options flx_scene_options_default(void);

/// Read a scene file (YAML; JSON is YAML). Every mistake is reported as `file:line:col: ...` with the source line and
/// a caret, up to twenty at once, in flx_context_error().
///
/// Returns FLX_ERR_IO, FLX_ERR_SCENE, FLX_ERR_SETTING (nothing wrong but numbers out of range), FLX_ERR_ARGUMENT
/// (options of another size), FLX_ERR_MEMORY. Meshes are not opened, except to find joints that the scene takes from a
/// mesh group.
FLX_API FLX_MUST_CHECK flx_status flx_scene_read(flx_context* ctx, const char* path, const flx_scene_options* options,
                                                 flx_scene** out);
FLX_API void                      flx_scene_destroy(flx_context* ctx, flx_scene* scene);

/// Rigid pose of a bone or obstacle at a time: x -> R x + t. R [3][3] row major, t [3] in m.
FLX_API void flx_scene_bone_pose(const flx_scene* scene, int32_t bone, double time, double R[9], double t[3]);
FLX_API void flx_scene_obstacle_pose(const flx_scene* scene, int32_t obstacle, double time, double R[9], double t[3]);

/// The scene format as a JSON Schema (draft-07) or as a Markdown reference; both from the table that checks scenes.
/// The text belongs to the caller: flx_text_free().
FLX_API FLX_MUST_CHECK flx_status flx_scene_schema(flx_context* ctx, bool markdown, char** out);
FLX_API void                      flx_text_free(flx_context* ctx, char* text);

#ifdef __cplusplus
}
#endif
#endif
