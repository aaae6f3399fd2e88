// What the files of the lattice share. Order of work: surface -> raster -> winding -> pieces -> glue -> embed.
//
// Integer space: one cell is 2^20 steps, so corners and centres are whole multiples of half a cell, and surface
// vertices are rounded to the nearest step. All topology (what crosses what) is decided on these integers exactly, with
// the whole lattice moved by one symbolic shift (e, e^2, e^3): no vertex ever lies on a lattice plane, no node on a
// triangle, so lattice planes that coincide with faces of the body need no special case.
#ifndef FLX_MESH_LATTICE_INTERNAL_H
#define FLX_MESH_LATTICE_INTERNAL_H

#include "mesh/lattice.h"

#define FLX_LATTICE_CELL_STEPS (INT64_C(1) << 20)
#define FLX_LATTICE_HALF_STEPS (INT64_C(1) << 19)
#define FLX_LATTICE_TET_LIMIT INT64_C(50000000)
#define FLX_LATTICE_SITE_LIMIT (INT64_C(1) << 27)

// --- grid: sites, nodes, lattice tets ---------------------------------------------------------------------
//
// A site (i, j, k) stands for the cell between corners (i, j, k) and (i+1, j+1, k+1). Node 2 site is the cell's low
// corner, node 2 site + 1 its centre. Lattice tet 12 site + 4 axis + edge lies around the face towards +axis:
// corners {centre, centre beyond, face corner edge, face corner edge + 1}.

typedef struct lattice_tet_shape
{
    int32_t corner[4][3];    // half cells, from the cell's low corner
    int32_t low[3], high[3]; // half cells, bounding box
    int32_t normal[4][3];    // of the face opposite corner f, towards corner f; small integers
    int64_t node[4];         // node number, from 2 site
    struct
    {
        int64_t tet;       // lattice tet beyond the face opposite corner f, from this one
        int8_t  face;      // which face of that one
        int8_t  corner[4]; // this one's corners there; -1 for corner f
    } across[4];
} lattice_tet_shape;

typedef struct lattice_grid
{
    double            cell, origin[3]; // m
    int32_t           cells[3];
    int32_t           sites[3]; // cells + 1
    int64_t           site_count;
    lattice_tet_shape shape[12];
} lattice_grid;

static const int8_t flx__lattice_edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/// `shift` (cells, in [0, 1)) moves the body's middle off the lattice's own points; NULL = not.
void flx__lattice_grid_make(double cell, const double box_min[3], const double box_max[3], const double* shift,
                            lattice_grid* grid);
/// Sites the grid would have; for refusing it before anything is allocated.
double flx__lattice_site_estimate(double cell, const double box_min[3], const double box_max[3]);
void   flx__lattice_node_position(const lattice_grid* grid, int64_t node, double out[3]);

static inline void flx__lattice_site_ijk(const lattice_grid* grid, int64_t site, int32_t ijk[3])
{
    ijk[0] = (int32_t)(site % grid->sites[0]);
    ijk[1] = (int32_t)(site / grid->sites[0] % grid->sites[1]);
    ijk[2] = (int32_t)(site / grid->sites[0] / grid->sites[1]);
}

// --- surface in integer space ------------------------------------------------------------------------------

typedef struct lattice_surface
{
    int32_t        vertex_count, triangle_count;
    const double*  x;        // [vertex_count][3] m, the caller's
    const int32_t* triangle; // [triangle_count][3] the caller's
    int64_t*       p;        // [vertex_count][3] steps
    int32_t*       beyond;   // [3 triangle_count] triangle across side s (corner s to s + 1); -1 = open
    double*        normal;   // [triangle_count][3] steps^2, twice the area, as the surface is given; rounded
    bool           balanced; // every edge is run as often one way as the other: the winding number is whole everywhere
    double         sign, threshold;                      // inside: sign x winding number > threshold
    double         area, volume, box_min[3], box_max[3]; // m
} lattice_surface;

flx_status flx__lattice_surface_measure(flx_context* ctx, const char* path, lattice_surface* surface);
flx_status flx__lattice_surface_connect(flx_context* ctx, lattice_surface* surface);
void       flx__lattice_surface_snap(flx_context* ctx, const lattice_grid* grid, lattice_surface* surface);
void       flx__lattice_surface_release(flx_context* ctx, lattice_surface* surface);

// --- raster: which triangle meets which lattice tet, and how -------------------------------------------------

typedef struct lattice_meet
{
    int32_t  tet;      // lattice tet
    int32_t  triangle; // of the surface
    uint32_t bits;     // see below
} lattice_meet;

#define FLX_MEET_EDGE(l) (1u << (l))          // lattice edge l of the tet passes through the triangle
#define FLX_MEET_FACE(f) (1u << (6 + (f)))    // the triangle meets the face opposite corner f
#define FLX_MEET_SIDE(s) (1u << (10 + (s)))   // the triangle's side s enters the tet
#define FLX_MEET_VERTEX(v) (1u << (13 + (v))) // the triangle's vertex v lies inside the tet
#define FLX_MEET_ABOVE(c) (1u << (16 + (c)))  // corner c of the tet is on the side the triangle's normal points to

typedef struct lattice_raster
{
    int64_t       meet_count;
    lattice_meet* meet;  // [meet_count] by lattice tet, then triangle
    int64_t*      first; // [site_count + 1] into meet
} lattice_raster;

flx_status flx__lattice_raster_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    lattice_raster* raster);
void       flx__lattice_raster_release(flx_context* ctx, lattice_raster* raster);

// --- material: which nodes are inside, which tets the surface cuts ---------------------------------------------

typedef struct lattice_material
{
    float*   winding; // [2 site_count] signed so that inside is > threshold
    float    threshold;
    int64_t  cut_count;  // lattice tets that the surface cuts
    int32_t* cut_tet;    // [cut_count] ascending
    int64_t* cut_meet;   // [cut_count + 1] into raster.meet
    int32_t* cut_first;  // [site_count + 1] into cut_tet
    int64_t  kept_count; // cut and whole tets that the crop keeps: the number of tets, copies not counted
} lattice_material;

flx_status flx__lattice_material_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                      const flx_triangle_bvh* bvh, const lattice_raster* raster,
                                      const flx_lattice_options* options, lattice_material* material);
void       flx__lattice_material_release(flx_context* ctx, lattice_material* material);

static inline bool flx__lattice_inside(const lattice_material* m, int64_t node)
{
    return m->winding[node] > m->threshold;
}
/// All four corners inside; says nothing about the surface passing through.
bool flx__lattice_tet_inside(const lattice_grid* grid, const lattice_material* material, int64_t tet);
/// The tet's centroid lies in one of the crop shapes, or there are none.
bool flx__lattice_tet_wanted(const lattice_grid* grid, const flx_lattice_options* options, int64_t tet);
/// Index of a lattice tet among the cut ones, or -1.
int64_t flx__lattice_cut_of(const lattice_material* material, int64_t tet);

// --- pieces: the connected pieces of material in each cut tet ---------------------------------------------------

typedef struct lattice_pieces
{
    int32_t* of_meet;   // [meet_count] piece of the tet that the triangle bounds there
    int32_t* of_corner; // [cut_count][4] piece that the corner lies in; -1 = outside
    int64_t* first;     // [cut_count + 1] copies, numbered through: copy = first[cut] + piece
} lattice_pieces;

flx_status flx__lattice_pieces_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    const flx_triangle_bvh* bvh, const lattice_raster* raster,
                                    const lattice_material* material, lattice_pieces* pieces);
void       flx__lattice_pieces_release(flx_context* ctx, lattice_pieces* pieces);

// --- glue: copies that share material in a face share its nodes; then vertices and tets are numbered --------------

/// Fills vertices, tets, counts and `lattice_tet` [tet_count] (lattice tet of each tet) and `copy_tet`
/// [pieces.first[cut_count]] (tet of each copy; -1 = cropped). Both are the caller's to free.
flx_status flx__lattice_glue(flx_context* ctx, const lattice_grid* grid, const lattice_raster* raster,
                             const lattice_material* material, const lattice_pieces* pieces,
                             const flx_lattice_options* options, flx_lattice* lattice, int32_t** lattice_tet,
                             int32_t** copy_tet);

// --- lookup -----------------------------------------------------------------------------------------------------

/// Takes over lattice_tet. Needs lattice->x, tet and the counts.
flx_status flx__lattice_lookup_make(flx_context* ctx, const lattice_grid* grid, const lattice_surface* surface,
                                    const lattice_raster* raster, const lattice_material* material,
                                    const lattice_pieces* pieces, const int32_t* copy_tet, int32_t* lattice_tet,
                                    flx_lattice* lattice);
void       flx__lattice_lookup_destroy(flx_context* ctx, void* lookup);

#endif
