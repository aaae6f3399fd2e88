// Self contact of cloth: its vertices against its triangles, its edges against each other.
#ifndef FLX_CONTACT_CLOTH_CONTACT_H
#define FLX_CONTACT_CLOTH_CONTACT_H

#include "contact/contact.h"

#define FLX_CLOTH_PARTNERS 4 // contacts that one vertex may have at once: two on each face

/// Arrays must outlive the object.
typedef struct flx_cloth_contact_desc
{
    const double*    x_rest; // [vertex_count][3] m
    int32_t          vertex_count;
    int32_t          triangle_count;
    const int32_t*   triangle; // [triangle_count][3] vertices of the surfaces that may touch
    int32_t          point_count;
    int32_t          proxy_count; // FLX_CLOTH_PARTNERS for each point, then one for each edge of flx_cloth_topology
    const flx_proxy* proxy;       // of weight 1 at the point's vertex; of an edge, at its two ends
    double           margin;      // m: candidates have a gap up to this
    double           offset;      // m: distance kept, > 0: how thick the cloth is
    double           depth;       // m: how far on the wrong side a vertex may be and not be given up
} flx_cloth_contact_desc;

typedef struct flx_cloth_contact flx_cloth_contact;

/// Copies what it needs of the triangles. FLX_ERR_SETTING, FLX_ERR_ARGUMENT, FLX_ERR_MESH (see flx_cloth_topology),
/// FLX_ERR_MEMORY.
flx_status flx__cloth_contact_create(flx_context* ctx, const flx_cloth_contact_desc* desc, flx_cloth_contact** out);
void       flx__cloth_contact_destroy(flx_cloth_contact* cloth);

/// Sides that vertices belong to but are not on, as of the positions `from` below: what a run must remember of its
/// past. [FLX_CLOTH_PARTNERS point_count]: +-(triangle + 1), the sign is the side; 0 = none.
int64_t flx__cloth_contact_memory(const flx_cloth_contact* cloth);

/// A step begins at positions `from` [vertex_count][3], which must stay as they are until it is settled.
void flx__cloth_contact_begin(flx_cloth_contact* cloth, const double* from);

/// Find the contacts at positions x [vertex_count][3], at most one a proxy, in proxy order. Everything went straight to
/// x from where the step began; a pair keeps the side that it was on there, or that `memory` holds. What is found does
/// not depend on the calls before. No heap; parallel; same bits for any number of workers. Capacity of out:
/// proxy_count. Returns the number found.
int32_t flx__cloth_contact_find(flx_cloth_contact* cloth, const double* x, const double* memory, flx_contact* out);

/// The step ends at x: memory becomes that of x. Parallel, no heap.
void flx__cloth_contact_settle(flx_cloth_contact* cloth, const double* x, double* memory);

#endif
