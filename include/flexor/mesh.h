/// @file
/// Meshes as users bring them: one vertex list, triangles, tetrahedra, named groups.
#ifndef FLEXOR_MESH_H
#define FLEXOR_MESH_H

#include "flexor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A named set of triangles or tets: OBJ `g`/`o`/`usemtl`, Gmsh physical group, Medit reference.
typedef struct flx_mesh_group
{
    char*    name;
    int32_t  triangle_count;
    int32_t  tet_count;
    int32_t* triangle; ///< [triangle_count] indices into flx_mesh.triangle, ascending
    int32_t* tet;      ///< [tet_count]      indices into flx_mesh.tet, ascending
} flx_mesh_group;

/// A mesh in the order of its file: vertex i of the file is vertex i here, also when nothing uses it.
typedef struct flx_mesh
{
    int32_t         vertex_count;
    int32_t         triangle_count;
    int32_t         tet_count;
    int32_t         group_count;
    double*         x;              ///< [vertex_count][3]   m (after scaling)
    int32_t*        triangle;       ///< [triangle_count][3] counter-clockwise seen from outside
    int32_t*        tet;            ///< [tet_count][4]      positive volume after the doctor's repair
    int64_t*        tet_number;     ///< [tet_count]         element number in the file, for messages; may be NULL
    int64_t*        triangle_number;///< [triangle_count]    face number in the file (polygons give several); may be NULL
    flx_mesh_group* group;          ///< [group_count]
    char*           path;           ///< where it came from, for messages; may be NULL
} flx_mesh;

typedef struct flx_mesh_options
{
    size_t struct_size;
    double scale;          ///< coordinates are multiplied by this: file unit to m; default 1
    bool   weld;           ///< merge vertices with equal bits (STL is always welded); default false
    double weld_tolerance; ///< with weld: as a fraction of the bounding box diagonal; default 0 (exact)
    bool   repair;         ///< drop flat and repeated elements instead of refusing; default false
    bool   may_be_open;    ///< it needs no inside (cloth): the doctor does not note that it is open; default false
    const char* group;     ///< only this group's elements; vertices keep their order, and the doctor does not note those
                           ///< of other groups; default NULL: the whole file
} flx_mesh_options;

FLX_API flx_mesh_options flx_mesh_options_default(void);

/// Read OBJ, PLY, STL, OFF, Gmsh .msh (2.2, 4.1; ASCII and binary), Medit .mesh, TetGen .node + .ele. The format is
/// found from the content first, the extension second. Polygons are split into triangles.
///
/// Returns FLX_ERR_IO (cannot be opened), FLX_ERR_FORMAT (with file and line or byte), FLX_ERR_UNSUPPORTED (a format or
/// element type that is not read: the text says what to do), FLX_ERR_MESH (no such group, or nothing in it),
/// FLX_ERR_ARGUMENT (an option out of range), FLX_ERR_MEMORY.
/// A file without any element is read; the doctor refuses it.
FLX_API FLX_MUST_CHECK flx_status flx_mesh_read(flx_context* ctx, const char* path, const flx_mesh_options* options,
                                                flx_mesh** out);
/// Write by extension: .obj, .ply (binary), .stl (binary), .mesh (Medit), .msh (Gmsh 4.1 ASCII). Whole or not at all.
/// The first three get the boundary of a mesh that has tets. Read back, coordinates are the same bits (STL: as float).
///
/// Returns FLX_ERR_EXISTS (there already, without `overwrite`), FLX_ERR_IO (disk full says so), FLX_ERR_ARGUMENT
/// (unknown extension, a vertex that is not finite), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_mesh_write(flx_context* ctx, const char* path, const flx_mesh* mesh,
                                                 bool overwrite);
FLX_API void                      flx_mesh_destroy(flx_context* ctx, flx_mesh* mesh);

/// What the doctor found. All numbers refer to the file; the lists hold at most FLX_DOCTOR_LIST entries.
#define FLX_DOCTOR_LIST 16
typedef struct flx_doctor_list
{
    int64_t count;                   ///< how many in all
    int64_t number[FLX_DOCTOR_LIST]; ///< the first of them, as numbered in the file (1-based there, 1-based here)
} flx_doctor_list;

typedef struct flx_doctor_report
{
    int32_t vertex_count, triangle_count, tet_count;
    double  box_min[3], box_max[3]; ///< m

    flx_doctor_list unreferenced;   ///< vertices that no element uses
    flx_doctor_list duplicate;      ///< vertices at exactly the place of an earlier one
    int32_t         component_count;

    // tets
    double          volume;         ///< m^3, of all tets after reorientation
    flx_doctor_list reoriented;     ///< tets that were given with negative volume and were turned
    flx_doctor_list flat;           ///< zero volume to rounding, or a repeated corner
    flx_doctor_list sliver;         ///< thin but valid: smallest dihedral angle below 1 degree
    flx_doctor_list repeated_tet;   ///< same four corners as an earlier one
    flx_doctor_list shared_face;    ///< tets on a face that three or more share
    int64_t         inner_boundary_faces; ///< boundary faces that lie inside: non-conforming neighbours
    double          min_volume, mean_volume; ///< m^3
    double          min_dihedral_deg;
    int64_t         worst_tet;      ///< number in the file

    // surfaces: the triangles, or the boundary of the tets where there are any
    double          area;           ///< m^2
    double          enclosed_volume;///< m^3, signed, by the divergence theorem
    bool            closed;         ///< every edge has two triangles
    int64_t         boundary_edges, nonmanifold_edges, flipped_edges;
    int64_t         bowtie_vertices;
    flx_doctor_list degenerate;     ///< triangles without area
    flx_doctor_list repeated_triangle;
    flx_doctor_list vertex_on_edge; ///< T-junctions: vertices that lie on an edge they do not belong to
    int64_t         self_crossings; ///< pairs of triangles that cross; -1: not counted (too large, or asked not to)
} flx_doctor_report;

/// Examine a mesh, and repair what can be repaired without guessing: tets with negative volume are turned (in place).
/// With options->repair, flat and repeated elements are dropped (in place, vertex numbering kept).
/// Notices go to the log.
///
/// Returns FLX_ERR_MESH when the mesh cannot be simulated (flat elements or repeated tets without repair, no elements at
/// all), with element numbers; `report` (may be NULL) is filled also then. Also FLX_ERR_ARGUMENT (options of another
/// size), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_mesh_doctor(flx_context* ctx, flx_mesh* mesh, const flx_mesh_options* options,
                                                  flx_doctor_report* report);

/// Fill a closed surface with a body-centred-cubic lattice, the one that a scene's `lattice:` makes: tets and boundary
/// triangles. Give `cell` (m, the other 0) or `tet_count` (about this many).
///
/// Returns FLX_ERR_MESH (no inside: says why), FLX_ERR_SETTING (no size, or too many tets), FLX_ERR_ARGUMENT (a
/// triangle names a vertex that is not there), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_lattice_mesh(flx_context* ctx, const flx_mesh* surface, double cell,
                                                   int32_t tet_count, flx_mesh** out);

/// Has a surface an inside? Lattices, obstacles and bones need one; small holes and doubled parts do no harm.
///
/// Returns FLX_ERR_MESH (says why not), FLX_ERR_ARGUMENT (a triangle names a vertex that is not there), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_surface_has_inside(flx_context* ctx, const flx_mesh* surface);

/// How many pairs of a surface's triangles cross, exactly; triangles that share a vertex count only when they cross
/// elsewhere too. x [vertex_count][3], triangle [triangle_count][3].
FLX_API FLX_MUST_CHECK flx_status flx_surface_crossings(flx_context* ctx, int32_t vertex_count, const double* x,
                                                        int32_t triangle_count, const int32_t* triangle, int64_t* count);

#ifdef __cplusplus
}
#endif
#endif
