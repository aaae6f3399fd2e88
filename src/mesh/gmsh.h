// What the Gmsh reader's three files share: read_gmsh.c (sections), read_gmsh22.c and read_gmsh41.c (nodes, elements).
#ifndef FLX_MESH_GMSH_H
#define FLX_MESH_GMSH_H

#include "mesh/draft.h"

typedef enum gmsh_shape
{
    GMSH_UNKNOWN,
    GMSH_POINT,
    GMSH_LINE,
    GMSH_TRIANGLE,
    GMSH_QUAD,
    GMSH_TET,
    GMSH_HEX,
    GMSH_PRISM,
    GMSH_PYRAMID,
    GMSH_SHAPE_COUNT
} gmsh_shape;

typedef struct gmsh_type
{
    gmsh_shape shape;
    int32_t    nodes;
    bool       curved; // has nodes beyond the corners
} gmsh_type;

// Node tag -> vertex, in order of tag.
typedef struct gmsh_tag
{
    int64_t tag;
    int32_t vertex;
} gmsh_tag;

// Tris, tets and quads wait here until all nodes are known: sections may come in any order.
typedef struct gmsh_reader
{
    flx_draft* d;
    flx_text   t;
    bool       is41, binary, big_endian;

    int64_t   tag_count, tag_capacity;
    gmsh_tag* tag;
    bool      tags_sorted;

    // (dimension, physical number) -> group; made on first use
    flx_tuple_table physical;
    // (dimension, entity) -> first of its physicals in `listed`: listed[i] of them follow
    flx_tuple_table entity;
    int64_t         listed_count, listed_capacity;
    int32_t*        listed;

    int64_t  seen[GMSH_SHAPE_COUNT]; // elements by shape
    int64_t  curved;                 // triangles and tets of higher order
    bool     has_nodes, has_elements;
    int64_t  quad_count, quad_capacity, quad_tag_capacity, quad_group_capacity;
    int32_t* quad;       // [quad_count][4] vertices
    int64_t* quad_tag;   // [quad_count]
    int32_t* quad_group; // [quad_count] first physical's group, -1 = none
} gmsh_reader;

gmsh_type flx__gmsh_type(int64_t number); ///< shape GMSH_UNKNOWN when not known

flx_status flx__gmsh_add_node(gmsh_reader* r, int64_t tag, const double x[3]);
/// One element; node [type.nodes] are tags. physical [physical_count] numbers in the dimension of the shape.
flx_status flx__gmsh_add_element(gmsh_reader* r, gmsh_type type, int64_t tag, const int64_t* node,
                                 int32_t physical_count, const int32_t* physical);
/// After the last node: sort, refuse repeated tags.
flx_status flx__gmsh_nodes_done(gmsh_reader* r);

/// Binary: refuse when fewer bytes are left.
flx_status flx__gmsh_need(gmsh_reader* r, int64_t bytes, const char* what);
int32_t    flx__gmsh_take_i32(gmsh_reader* r); // after flx__gmsh_need
int64_t    flx__gmsh_take_size(gmsh_reader* r);
double     flx__gmsh_take_f64(gmsh_reader* r);
flx_status flx__gmsh_fail(gmsh_reader* r, const char* text, int64_t value); ///< at line or byte; text holds one %lld

flx_status flx__gmsh22_nodes(gmsh_reader* r);
flx_status flx__gmsh22_elements(gmsh_reader* r);
flx_status flx__gmsh41_entities(gmsh_reader* r);
flx_status flx__gmsh41_nodes(gmsh_reader* r);
flx_status flx__gmsh41_elements(gmsh_reader* r);

#endif
