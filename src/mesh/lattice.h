// A body-centred-cubic lattice around a closed surface.
//
// BCC: nodes at cell corners and cell centres; each face shared by two kept cells gives 4 tets (two centres + a face
// edge): 12 tets per cell in the interior [LabelleShewchuk07]. Tets that touch the body are kept. A tet in which
// unconnected parts of the body meet is kept once for each part, so that what is not joined can part (lips open).
#ifndef FLX_MESH_LATTICE_H
#define FLX_MESH_LATTICE_H

#include "base/base.h"
#include "flexor/scene.h"
#include "mesh/embedding.h"
#include "mesh/triangle_bvh.h"

typedef struct flx_lattice_options
{
    double           cell;        // m, edge of a cubic cell; 0 = find it from target_tets
    int64_t          target_tets; // met within 2 %, if cell is 0
    int32_t          crop_count;  // keep only what lies inside one of these; 0 = everything
    const flx_shape* crop;
} flx_lattice_options;

typedef struct flx_lattice
{
    double   cell;
    double   origin[3];
    int32_t  grid[3]; // cells along x, y, z
    int32_t  vertex_count;
    int32_t  tet_count;
    double*  x;            // [vertex_count][3] m
    int32_t* tet;          // [tet_count][4] positive volume
    int32_t  cell_count;   // kept cells, copies counted
    int32_t  copied_cells; // grid cells that were kept more than once
    // the surface that is embedded: the input's, less what was cropped away
    int32_t       surface_vertex_count;
    int32_t       surface_triangle_count;
    int32_t*      surface_vertex;   // [surface_vertex_count] vertex of the input
    int32_t*      surface_triangle; // [surface_triangle_count][3] into the list above
    flx_embedded* surface;          // [surface_vertex_count]
    void*         lookup;           // for flx__lattice_embed
} flx_lattice;

/// `bvh` is of the same surface (x, triangle). Progress may be NULL.
/// Returns FLX_ERR_MESH (no inside, crop leaves nothing), FLX_ERR_SETTING (cell not positive, or more than 50 M tets
/// would result: says how many and what cell would do), FLX_ERR_MEMORY.
flx_status flx__lattice_create(flx_context* ctx, const char* path, int32_t vertex_count, const double* x,
                               int32_t triangle_count, const int32_t* triangle, const flx_triangle_bvh* bvh,
                               const flx_lattice_options* options, flx_lattice** out);
void       flx__lattice_destroy(flx_context* ctx, flx_lattice* lattice);

/// Embed a rest-space point. Where a cell has copies, the copy whose piece of the body contains p, or whose piece is
/// nearest; `triangle` (of the input surface) picks the copy that holds that triangle, -1 = unknown.
/// Returns the distance outside the lattice (0 = contained; otherwise the nearest kept tet, extrapolated). No heap.
double flx__lattice_embed(const flx_lattice* lattice, const double p[3], int32_t triangle, flx_embedded* out);

#endif
