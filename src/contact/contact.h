// Contacts as rows, and finding them. Detection never allocates: everything is sized at create.
#ifndef FLX_CONTACT_CONTACT_H
#define FLX_CONTACT_CONTACT_H

#include "base/base.h"
#include "contact/distance_field.h"
#include "contact/solid.h"
#include "mesh/embedding.h"

#define FLX_CONTACT_CORNERS 16 // own tet 4, a partner triangle's corners up to 12

/// One contact: a proxy against an obstacle's surface point or against a partner point of the same body.
///   p - y = sum_i weight[i] x[vertex[i]] - target,    gap = normal . (p - y)   (negative: penetrating)
/// Own corners have weights that sum to 1; a partner's come with negative sign and sum to -1 (target is then
/// offset * normal: 0 when no distance is kept). The solver adds rows of squeezed elements (solver/detect.c): proxy -1,
/// partner the element, weights that sum to 0.
typedef struct flx_contact
{
    int32_t proxy;    // index in the caller's proxy list
    int32_t obstacle; // index of the obstacle, -1 = self contact
    int32_t partner;  // self contact: rest-surface triangle from which the partner point was found, of cloth a triangle
                      // or an edge of the group; else -1
    int32_t vertex[FLX_CONTACT_CORNERS]; // -1 = unused
    double  weight[FLX_CONTACT_CORNERS];
    double  normal[3]; // unit, from the partner (obstacle) towards the proxy's side
    double  target[3]; // m
    double  gap;       // m, at the positions it was found at, less the kept offset
} flx_contact;

/// A collision proxy: a point of the body's surface.
typedef struct flx_proxy
{
    int32_t vertex[4]; // corners of its tet
    double  weight[4];
    double  rest[3];   // m
    double  normal[3]; // outward surface normal at rest
} flx_proxy;

// --- against obstacles ----------------------------------------------------------------------------------

typedef struct flx_obstacle_pose
{
    double R[9], t[3];
} flx_obstacle_pose;

/// Each proxy nearer than `margin` to the solid (or inside it) gives one contact, in proxy order. x [n][3].
/// `offset` is kept between the surfaces. Parallel; same result for any number of workers.
/// scratch: at least proxy_count int32. Returns the number found (never more than proxy_count = capacity of out).
int32_t flx__obstacle_contacts(flx_context* ctx, const flx_solid* solid, const flx_obstacle_pose* pose,
                               int32_t obstacle, int32_t proxy_count, const flx_proxy* proxy, const double* x,
                               double margin, double offset, int32_t* scratch, flx_contact* out);

// --- rest-pose level-set self contact [MZS*11] -------------------------------------------------------------

/// What self contact needs to know of a body at rest. Arrays must outlive the object.
typedef struct flx_self_contact_desc
{
    const double*    x_rest; // [vertex_count][3] m
    int32_t          vertex_count;
    const int32_t*   tet; // [tet_count][4]
    int32_t          tet_count;
    int32_t          search_count; // tets that may be hit: all with material near the surface in and around the region
    const int32_t*   search;       // [search_count] indices into tet, ascending
    int32_t          proxy_count;
    const flx_proxy* proxy;

    const flx_distance_field* field;            // rest pose, of the surface below
    const flx_triangle_bvh*   bvh;              // of the surface below: finds the surface point exactly
    const int32_t*            surface_triangle; // [..][3] vertices of the embedded surface
    const flx_embedded*       surface;          // [..] embedding of each surface vertex (tet indices into `tet`)
    const uint8_t*            prone;            // [vertex_count] vertices that contact rows may act on; NULL = all

    double exclude; // m: partner points nearer than this to the proxy in the rest pose are its own neighbourhood,
                    // unless the two surfaces face each other at rest already (closed lips)
    double margin; // m: how far along its normal a free proxy is probed; candidates have a gap up to 1.5 margin
    double offset; // m: distance kept
    double depth;  // m: deeper penetrations are taken as mistaken partners and skipped; > 0
} flx_self_contact_desc;

typedef struct flx_self_contact flx_self_contact;

flx_status flx__self_contact_create(flx_context* ctx, const flx_self_contact_desc* desc, flx_self_contact** out);
void       flx__self_contact_destroy(flx_self_contact* self);

/// Find the contacts at positions x [vertex_count][3], at most one a proxy, in proxy order. For each proxy: the
/// deformed search tets that contain it (and are not its own neighbourhood) -> back to rest by their weights ->
/// distance field: inside? -> nearest surface point Y (bvh) -> from there down to the point of the deformed skin
/// nearest to p: partner point y, its row by the embedding of the triangle's corners (up to 12 vertices), normal by the
/// way from y to p and the skin's interpolated normals. Where parts touch or overlap at rest, the row is that of the
/// tet that contains Y (4 vertices) and the normal F^-T grad phi at Y, normalised. When the proxy itself is free, the
/// probe p + (margin + offset) n (n: deformed surface normal at the proxy) is tried: it gives candidates with positive
/// gap. Rebuilds or refits its acceleration structure each call. No heap; parallel; same bits for any number of
/// workers. Capacity of out: proxy_count. Returns the number found.
int32_t flx__self_contact_find(flx_self_contact* self, const double* x, flx_contact* out);
/// Contacts the last find left out because their partner row acts on a vertex that is not prone: a region too small.
int32_t flx__self_contact_skipped(const flx_self_contact* self);

/// Proxies that lie inside other material of the body already at rest, and how deep the deepest is: how far under its
/// skin the other surface lies, m, at most `depth`; may be NULL. find() counts the gap of such pairs from the rest
/// pose. Reports, changes nothing. No heap; parallel.
int32_t flx__self_contact_rest_overlaps(flx_self_contact* self, double* deepest);

#endif
