// Inside the self contact of cloth: the object, and one vertex's or one edge's contacts.
#ifndef FLX_CONTACT_CLOTH_CONTACT_INTERNAL_H
#define FLX_CONTACT_CLOTH_CONTACT_INTERNAL_H

#include "contact/cloth_contact.h"
#include "contact/cloth_topology.h"
#include "contact/deformed_bvh.h"

#define FLX_CLOTH_TOUCHING 1e-4 // of the offset: nearer than this the way between two points has no direction

struct flx_cloth_contact
{
    flx_context*           ctx;
    flx_cloth_contact_desc desc;
    flx_cloth_topology     top;
    int32_t*               box;    // [triangles + edges][4] for the trees below
    int32_t*               search; // [max(triangles, edges)] 0, 1, 2, ...
    flx_deformed_bvh *     triangles, *edges;
    uint8_t*               sharp; // [edge_count] may be a ridge, of the last find
    uint8_t*               found; // [proxy_count] of the last find
};

/// Everything goes straight from here to there.
typedef struct flx_cloth_motion
{
    flx_cloth_contact* cloth;
    const double *     from, *x; // [vertex_count][3] m
} flx_cloth_motion;

/// What a vertex has to do with one point of the surface.
typedef struct flx_cloth_pair
{
    flx_contact contact; // partner -1: nothing
    double      memory;  // to be kept; 0 = nothing
} flx_cloth_pair;

/// Distance that a pair keeps; 0 when it is sewn together at rest.
double flx__cloth_kept(const flx_cloth_contact* cloth, double rest);

/// cloth_points.c: the contacts of a point, each in a place of its own: two for the face that is pushed, two for the
/// other, the deeper first. memory [FLX_CLOTH_PARTNERS] of the point.
void flx__cloth_point(const flx_cloth_motion* m, int32_t point, const double* memory,
                      flx_cloth_pair place[FLX_CLOTH_PARTNERS]);

/// cloth_edges.c: might the edge be a ridge in some direction? The contact of an edge with one of a higher number; asks
/// `sharp` of both.
bool flx__cloth_sharp(const flx_cloth_contact* cloth, const double* x, int32_t edge);
void flx__cloth_edge(const flx_cloth_motion* m, int32_t edge, flx_contact* out);

static inline const double* flx__cloth_at(const double* x, int32_t vertex)
{
    return x + 3 * (int64_t)vertex;
}

#endif
