// What `flexor check` works out from a mesh and a scene before anything is compiled.
#ifndef FLEXOR_CLI_GEOMETRY_H
#define FLEXOR_CLI_GEOMETRY_H

#include "flexor/flexor.h"

typedef struct component
{
    int32_t vertex_count;
    double  low[3], high[3]; // m, where the scene puts it
    bool    fixed, attached; // by a `fix` region, near a bone of an `attach`
} component;

typedef struct estimate
{
    double tets, triangles;                                  // triangles: of cloth
    double vertices, sheet_vertices, prone, factor_nonzeros; // sheet_vertices: those of `vertices` that are cloth's
    double bytes, setup_seconds, frame_ms;
} estimate;

/// The file a body is made of.
const char* geometry_path(const flx_body_desc* body);
/// Rotate and move the vertices as the body says (scaling was done by reading).
void geometry_place(flx_mesh* mesh, const flx_body_desc* body);
bool geometry_inside(const flx_shape* shape, const double p[3]);
/// Connected parts and what holds them; malloc'ed, or NULL when memory is short.
component* geometry_components(const flx_scene* scene, int32_t body, const flx_mesh* mesh, int32_t* count);
/// Share of a body's surface (or vertices) inside its crop, and inside its contact regions.
double geometry_share_cropped(const flx_body_desc* body, const flx_mesh* mesh);
double geometry_share_in_contact(const flx_scene* scene, int32_t body, const flx_mesh* mesh);

/// What one body adds: from the surface's volume and area, or from the tets or cloth there are.
void estimate_body(estimate* e, const flx_scene* scene, int32_t body, const flx_mesh* mesh,
                   const flx_doctor_report* report);
/// Turns the counts into memory and time.
void estimate_finish(estimate* e, const flx_scene* scene);

#endif
