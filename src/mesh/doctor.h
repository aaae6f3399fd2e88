// What the doctor's files share: doctor.c (the flow, vertices, messages), doctor_tets.c, doctor_surface.c.
#ifndef FLX_MESH_DOCTOR_H
#define FLX_MESH_DOCTOR_H

#include "base/base.h"
#include "flexor/mesh.h"

// An element is flat when it is thinner than this fraction of its longest edge, or than the rounding of its
// coordinates.
#define FLX_FLAT 1e-11
// Vertices and faces touch within this fraction of the edge they may lie on.
#define FLX_TOUCH 1e-9

typedef struct flx_doctor
{
    flx_context*       ctx;
    flx_mesh*          mesh;
    flx_doctor_report* report;
    bool               is_group, may_be_open; // as in flx_mesh_options
    const char*        name;                  // of the mesh, for messages
    double             largest;               // m, of all |coordinates|: rounding is a multiple of it
    bool*              drop_tet;              // [tet_count] to be dropped with options->repair; NULL until needed
    bool*              drop_triangle;
} flx_doctor;

void    flx__doctor_note(flx_doctor_list* list, int64_t number);
int64_t flx__tet_number(const flx_mesh* mesh, int32_t tet);
int64_t flx__triangle_number(const flx_mesh* mesh, int32_t triangle);

/// Turns tets, fills the tet part of the report, marks flat and repeated ones.
flx_status flx__doctor_tets(flx_doctor* d);
/// Boundary faces of the tets that touch each other without being joined, and overlap by orientation.
flx_status flx__doctor_inner_faces(flx_doctor* d, int32_t triangle_count, const int32_t* triangle);
/// Triangles of a surface without tets: flat and repeated ones are marked.
flx_status flx__doctor_triangles(flx_doctor* d);
/// Area, volume, edges, vertices of a surface: the mesh's triangles, or the boundary of its tets.
flx_status flx__doctor_surface(flx_doctor* d, int32_t triangle_count, const int32_t* triangle);
/// Vertices that lie on a boundary edge of the surface.
flx_status flx__doctor_vertices_on_edges(flx_doctor* d, int32_t triangle_count, const int32_t* triangle);

#endif
