/// @file
/// A model: a scene compiled into what the solver needs. Immutable after compile, so states and solvers can share it.
#ifndef FLEXOR_MODEL_H
#define FLEXOR_MODEL_H

#include "flexor/base.h"
#include "flexor/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flx_model flx_model;

typedef struct flx_model_info
{
    int32_t  body_count;
    int32_t  vertex_count;         ///< simulated vertices of all bodies, unreferenced ones included
    int32_t  tet_count;
    int32_t  prone_count;          ///< collision-prone vertices n_2
    int32_t  proxy_count;          ///< collision proxies
    int32_t  attachment_count;     ///< springs to bones and fixed places
    int32_t  surface_vertex_count; ///< of all embedded or boundary surfaces
    int32_t  surface_triangle_count;
    bool     region_proposed;      ///< a contact region was proposed by the engine
    double   cell;                 ///< m: smallest lattice cell, or mean edge of conforming bodies
    double   size;                 ///< m: diagonal of the bounding box
    uint64_t hash;                 ///< of everything that decides the motion, solver settings apart
} flx_model_info;

/// Progress of a long call: `what` is a short phrase, `done` in [0, 1]. Return false to cancel.
typedef bool (*flx_progress_fn)(void* user, const char* what, double done);

/// Read the meshes, run the doctor on them, build lattices, embeddings, attachments, proxies, masses, distance fields.
/// `progress` may be NULL. The scene must outlive the model, which keeps reading its motions and settings.
///
/// Returns FLX_ERR_IO, FLX_ERR_FORMAT, FLX_ERR_UNSUPPORTED (a mesh format), FLX_ERR_MESH, FLX_ERR_SCENE,
/// FLX_ERR_SETTING (a lattice with too many tets, a shape without size), FLX_ERR_ARGUMENT (a scene made by hand with a
/// value out of range), FLX_ERR_MEMORY, FLX_ERR_CANCELLED. Whether anything holds the bodies is not looked at here:
/// flx_solver_create() does.
FLX_API FLX_MUST_CHECK flx_status flx_model_compile(flx_context* ctx, const flx_scene* scene, flx_progress_fn progress,
                                                    void* user, flx_model** out);
FLX_API void                      flx_model_destroy(flx_model* model);
FLX_API flx_model_info            flx_model_get_info(const flx_model* model);
FLX_API const flx_scene*          flx_model_scene(const flx_model* model);

/// Topology in the user's numbering: bodies one after the other, each in the order of its file (or of its lattice).
/// All pointers belong to the model. [tet_count][4], [surface_triangle_count][3], [vertex_count][3].
FLX_API const int32_t* flx_model_tets(const flx_model* model);
FLX_API const int32_t* flx_model_surface_triangles(const flx_model* model);
FLX_API const double*  flx_model_rest_positions(const flx_model* model); ///< m
FLX_API const int32_t* flx_model_tet_body(const flx_model* model);       ///< [tet_count] body of each tet

#ifdef __cplusplus
}
#endif
#endif
