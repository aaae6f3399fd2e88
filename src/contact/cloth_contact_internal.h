// Inside the self contact of cloth: the object, and one vertex's or one edge's contacts.
#ifndef FLX_CONTACT_CLOTH_CONTACT_INTERNAL_H
#define FLX_CONTACT_CLOTH_CONTACT_INTERNAL_H

#include "contact/cloth_contact.h"
#include "contact/cloth_topology.h"
#include "contact/deformed_bvh.h"

#define FLX_CLOTH_ROUNDING 1e-9 // relative, of a distance
#define FLX_CLOTH_CLEAR 2.0     // of the reach: how far a search looks for what may come near in later calls
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

    // who needs no search: vertices and edges whose surroundings were clear, and have not come near since
    const double* from;      // [vertex_count][3] where the step began
    double*       last;      // [vertex_count][3] positions of the last call
    double        travelled; // m: sum over calls of the largest motion of a vertex, less the mean one
    double*       clear;     // [points + edges] m: no partner was nearer in its last search, all the way from `from`
    double*       spent;     // [points + edges] m: `travelled` at that time
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

/// Vertex or (from point_count on) edge: is nothing nearer than the reach, since nothing was and nothing can have come?
bool flx__cloth_clear(const flx_cloth_contact* cloth, int32_t which);
/// It was searched at last; nothing was nearer than `distance`.
void flx__cloth_searched(flx_cloth_contact* cloth, int32_t which, double distance);
/// How much less the distance of two things, given by their vertices, may have been on the way than it is now.
double flx__cloth_way(const flx_cloth_motion* m, int count, const int32_t* vertex, int other_count,
                      const int32_t* other);

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
