// Which triangles of a cloth lie next to which.
#ifndef FLX_CONTACT_CLOTH_TOPOLOGY_H
#define FLX_CONTACT_CLOTH_TOPOLOGY_H

#include "base/base.h"

typedef struct flx_cloth_topology
{
    int32_t  triangle_count, edge_count;
    int32_t* corner;            // [triangle_count][3], neighbours turn the same way
    int32_t* across;            // [triangle_count][3] triangle behind the edge from corner k to the next one, -1 = rim
    int32_t* edge;              // [edge_count][2] vertices
    int32_t* flap;              // [edge_count][2] vertices opposite the edge, -1 = rim
    int32_t *ring_first, *ring; // [vertex_count + 1], triangles at a vertex, ascending
    uint8_t* rim;               // [vertex_count] 1 for vertices of an edge that only one triangle has
} flx_cloth_topology;

/// Edges come in an order that does not depend on how vertices are numbered. FLX_ERR_MESH when an edge has three
/// triangles, or a surface has one side only (a Moebius strip), for which `who` names the cloth and `first` is the
/// vertex that its file calls 1; FLX_ERR_MEMORY. Release it also when the call fails.
flx_status flx__cloth_topology_create(flx_context* ctx, int32_t vertex_count, int32_t triangle_count,
                                      const int32_t* triangle, const char* who, int32_t first, flx_cloth_topology* out);
void       flx__cloth_topology_release(flx_context* ctx, flx_cloth_topology* topology);

#endif
