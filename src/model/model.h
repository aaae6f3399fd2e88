// The compiled model, open to the solver and recording rooms. Written by compile.c and its helpers, read-only after.
//
// Two numberings. The user's: bodies one after the other, vertices in file (or lattice) order. The solver's: only
// vertices that an element uses, in elimination order, the collision-prone ones last. Elements are tets and the
// triangles of cloth.
#ifndef FLX_MODEL_MODEL_H
#define FLX_MODEL_MODEL_H

#include "base/base.h"
#include "constraints/constraints.h"
#include "contact/contact.h"
#include "flexor/mesh.h"
#include "flexor/model.h"
#include "kernels/kernels.h"
#include "mesh/embedding.h"
#include "mesh/lattice.h"
#include "sparse/sparse.h"

/// One body: where its parts lie in the concatenated arrays, and what embeds points into it.
typedef struct flx_body
{
    int32_t          vertex_first, vertex_count; // user's numbering
    int32_t          tet_first, tet_count;
    int32_t          surface_vertex_first, surface_vertex_count;
    int32_t          surface_triangle_first, surface_triangle_count;
    double           cell;    // m: lattice cell, or mean edge length
    double           mu;      // Pa: with `young` of the mean
    double*          young;   // [tet_count] Pa; NULL: 2 mu everywhere
    flx_mesh*        mesh;    // groups, while compiling; NULL with a lattice
    double           density; // kg/m^3
    flx_lattice*     lattice; // one of lattice and locator is there, unless it is cloth
    flx_tet_locator* locator;
    bool             is_cloth;
    int32_t          cloth_first, cloth_count; // triangles in the model's `cloth`
    double           tension;                  // N/m: of cloth, the sum of its springs' and strains' stiffness
    double           area_density;             // kg/m^2, of cloth
    int32_t* source_triangle;    // lattice bodies: [surface_triangle_count] triangle of the input surface; else NULL
    flx_triangle_bvh* bvh;       // of the body's own surface as embedded, at rest
    flx_triangle_bvh* whole_bvh; // of the surface before cropping: closed, so that inside is known
    double            box_min[3], box_max[3]; // of the vertices, m
} flx_body;

/// A zero-rest-length spring from an embedded point to a place that moves with a bone, or stays.
typedef struct flx_spring
{
    int32_t vertex[4]; // solver's numbering
    double  weight[4];
    double  stiffness;   // N/m
    double  rest[3];     // m: the target in the bone's rest frame
    double  offset[3];   // m: rest less the point itself at rest; exactly 0 for a spring made where the point is
    int32_t bone;        // -1 = fixed place
    double  from, until; // s; until < 0 = for ever
} flx_spring;

/// Total force on a set of vertices, shared evenly.
typedef struct flx_load
{
    int32_t  count;
    int32_t* vertex;   // solver's numbering
    double   share[3]; // N per vertex
    double   from, until;
} flx_load;

/// Proxies of one `contact:` entry and what they are tested against.
typedef struct flx_contact_group
{
    int32_t             desc; // index into scene->contact
    int32_t             body;
    int32_t             obstacle; // -1 = self
    int32_t             proxy_first, proxy_count;
    double              stiffness;      // N/m
    double              margin, offset; // m
    flx_distance_field* field;          // self: rest distance around the region
    int32_t*            search;         // self: tets that may be hit; of cloth: its triangles in `cloth`
    int32_t             search_count;
    double              exclude, depth; // m
    int32_t             point_count;    // self, of cloth: vertices that may touch; the other proxies are edges
    int32_t             memory_first;   // self, of cloth: in the state's `sides`
} flx_contact_group;

struct flx_model
{
    flx_context*     ctx;
    const flx_scene* scene; // must outlive the model
    uint64_t         hash;
    double           size; // m, diagonal of everything at rest
    double           cell; // m, smallest of the bodies'
    double           ms_order;

    int32_t   body_count;
    flx_body* body;

    // user's numbering
    int32_t  user_vertex_count, tet_count;
    double*  user_rest; // [user_vertex_count][3] m
    int32_t* user_tet;  // [tet_count][4]
    int32_t* tet_body;  // [tet_count]
    float*   fill;      // [tet_count] share that is material: 1 but for the rim of a lattice
    int32_t* of_user;   // [user_vertex_count] solver's vertex, -1 = used by nothing

    // solver's numbering: free vertices [0, free_count), prone ones after
    int32_t  vertex_count, free_count, prone_count;
    int32_t* user_of;   // [vertex_count]
    double*  x_rest;    // [vertex_count][3] m
    double*  mass;      // [vertex_count] kg, lumped
    int32_t* tet;       // [tet_count][4]
    double*  rest_inv;  // [tet_count][9] Dm^-1, 1/m
    double*  stiffness; // [tet_count] 2 mu volume, N m

    // element patches: alpha touch free vertices, beta only prone ones
    flx_patches alpha, beta;
    int32_t*    beta_tet;                 // [beta.tet_count] ascending
    int32_t *   alpha_first, *alpha_slot; // [vertex_count + 1], local entries of alpha that are this vertex
    int32_t *   beta_first, *beta_slot;   // [prone_count + 1], of vertex free_count + i

    // cloth, and constraints of all bodies; vertices in the solver's numbering
    int32_t                cloth_count;
    int32_t*               cloth; // [cloth_count][3]
    int32_t                batch_count;
    flx_constraint_batch*  batch;  // one for each constraint of each body
    flx_constraint_gather* gather; // [batch_count]

    int32_t     spring_count;
    flx_spring* spring;
    int32_t *   spring_first, *spring_entry; // [vertex_count + 1]; entry = 4 spring + corner

    int32_t   load_count;
    flx_load* load;

    // surface, all bodies
    int32_t       surface_vertex_count, surface_triangle_count;
    int32_t*      surface_triangle; // [..][3]
    flx_embedded* surface;          // [..] tet and weights; of cloth the tet is -1
    int32_t*      surface_corner;   // [..][4] the vertices that the weights belong to, solver's numbering
    double*       surface_rest;     // [..][3] m
    int32_t       embedded_outside; // surface vertices outside every tet

    // contact
    int32_t            group_count;
    flx_contact_group* group;
    int32_t            proxy_count;
    flx_proxy*         proxy;         // solver's numbering
    int32_t*           proxy_surface; // [proxy_count] a surface vertex (the nearest, for sampled proxies)
    int32_t            solid_count;   // = scene->obstacle_count
    flx_solid**        solid;
    bool               region_proposed;
    int32_t            memory_count;       // of the state's `sides`
    bool               contact_everywhere; // so much of the cloth may touch that every vertex counts as prone
};

/// Where the pieces of a compile meet before the solver's numbering exists: everything in the user's numbering.
typedef struct flx_build
{
    flx_model*      model;
    flx_progress_fn progress;
    void*           user;
    uint8_t*        prone; // [user_vertex_count]
} flx_build;

/// FLX_ERR_CANCELLED when the callback says so.
flx_status flx__build_progress(const flx_build* build, const char* what, double done);

flx_status flx__build_bodies(flx_build* build); // bodies.c: meshes, lattices, embedding; user's numbering
flx_status flx__build_fill(flx_build* build);   // fill.c: how much of each tet is material
/// element_values.c: `count` numbers above 0, flx__free() them; `what` names the body. FLX_ERR_FORMAT with file and
/// line, FLX_ERR_IO, FLX_ERR_MEMORY.
flx_status flx__element_values(flx_context* ctx, const char* path, int32_t count, const char* what, double** out);
double     flx__negative_share(const double phi[4]);
flx_status flx__build_springs(flx_build* build);     // attach.c: spring vertices in the user's numbering
flx_status flx__build_loads(flx_build* build);       // attach.c
flx_status flx__build_constraints(flx_build* build); // constrain.c: batches in the user's numbering
flx_status flx__build_contact(flx_build* build);     // region.c: proxies, prone vertices, search tets
flx_status flx__build_elements(flx_build* build);    // elements.c: masses, rest inverses, patches; after numbering
flx_status flx__build_self_fields(flx_build* build); // region.c: rest distance fields around self-contact regions

/// Unit outward vertex normals, weighted by area; region.c
void flx__vertex_normals(int32_t vertex_count, const double* x, int32_t triangle_count, const int32_t* triangle,
                         double* normal);

/// Points where a body may touch itself or an obstacle, found by bending its surface with the bones. region.c calls it
/// for `region: auto`. out hit [surface_vertex_count of the body].
flx_status flx__propose_region(flx_build* build, int32_t contact, uint8_t* hit);

/// Embed a rest-space point into a body with tets. Returns the distance outside. Tet indices are the model's.
double flx__body_embed(const flx_model* model, int32_t body, const double p[3], int32_t surface_triangle,
                       flx_embedded* out);
/// The same by vertices (user's numbering), for any body: in cloth the nearest triangle's, at its distance. A vertex of
/// weight 0 may repeat another. INFINITY: nothing is near.
double flx__body_corners(const flx_model* model, int32_t body, const double p[3], int32_t surface_triangle,
                         int32_t vertex[4], double weight[4]);
/// 1 for every vertex (user's numbering) that an element uses; flx__free() it.
flx_status flx__used_vertices(const flx_model* model, uint8_t** out);
/// FLX_ERR_SCENE: the region of "fix[3]" (section and index) holds none of a body, and where the body lies.
flx_status flx__fail_empty_region(const flx_model* model, const char* section, int32_t index, int32_t body);
/// N/m: `factor` times what a body resists with across one cell.
double flx__body_stiffness(const flx_body* body, double factor);

/// A = K + springs active at `time` + inertia * diag(mass), lower triangle in the solver's order. assemble.c
flx_status flx__model_assemble(const flx_model* model, double time, double inertia, flx_csc* out);
bool       flx__spring_active(const flx_spring* spring, double time);

void flx__patches_release(flx_context* ctx, flx_patches* patches);

#endif
