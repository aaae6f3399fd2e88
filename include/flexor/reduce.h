/// @file
/// Reduced models: learn from a full-order run of a scene, then step without visiting all of its elements.
///
/// For scenes without contact of a body with itself and without contact by springs. Contact with obstacles, fixes that
/// begin or end and quasi-static scenes need a method in a subspace, "w" and those whose name begins so. Frames are
/// Projective Dynamics with a fixed number of local and global rounds, in double precision but for rounds in a subspace,
/// which take the scene's `solver.precision`; docs/reduction.md has the methods.
#ifndef FLEXOR_REDUCE_H
#define FLEXOR_REDUCE_H

#include "flexor/base.h"
#include "flexor/model.h"
#include "flexor/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flx_reduced_model flx_reduced_model; ///< what was learnt
typedef struct flx_reduced       flx_reduced;       ///< what steps it

/// Get one from flx_reduction_desc_default(), change what you need.
typedef struct flx_reduction_desc
{
    size_t      struct_size;
    const char* method;   ///< "secs" (default), "block_deim", "deim", "qdeim", "gpd", "gpd_map", "gpds", "pou", "w",
                          ///< "w_ecsw", "w_mixed", "w_gpd", "w_block_deim", "w_secs"
    int32_t     modes;    ///< of each kind of constraint; default 20
    int32_t     subspace; ///< "w..." methods: dimension of the positions' subspace, at least 4; 0 (default): as `modes`
    int32_t     handles;  ///< "w..." methods: the subspace is that of the weights of so many handles, 4 dimensions each,
                          ///< instead of one learnt from positions; 0 (default): it is learnt
    int32_t     elements; ///< of each kind of constraint; 0 (default): five for each mode, two where a fit is made
    int32_t     rounds;   ///< local and global rounds of a step; default 20
    int32_t     frames;   ///< to learn from; 0 (default): the scene's
    int32_t     runs;     ///< to learn from beside the scene's own, 0 (default) to 100: the same pushed about at random, for
                          ///< other loads; wants three times the modes, see docs/reduction.md
    double      least;    ///< refuse elements that hold a mode with less than this, of 1; default 0.03
    double      amplify;  ///< refuse fits that amplify more than this; default 200
    bool        force;    ///< refuse neither
} flx_reduction_desc;

FLX_API flx_reduction_desc flx_reduction_desc_default(void);

/// Run the scene in full order and learn from it: in double precision, or, where it has wind, contact, fixes that begin
/// or end, or no inertia, by flx_solver_step() with `rounds` outer iterations. Errors are against that run. `desc` may
/// be NULL: the default.
///
/// Returns FLX_ERR_UNSUPPORTED (the scene has what the method does not know: the text says what, and which does),
/// FLX_ERR_ARGUMENT (a method or count that makes no sense; a model that would not hold, with the figure),
/// FLX_ERR_UNHELD (quasi-static: nothing holds a part), FLX_ERR_NONFINITE, FLX_ERR_MEMORY, FLX_ERR_CANCELLED.
FLX_API FLX_MUST_CHECK flx_status flx_reduced_model_train(flx_context* ctx, const flx_model* model,
                                                      const flx_reduction_desc* desc, flx_progress_fn progress,
                                                      void* user, flx_reduced_model** out);
FLX_API void                      flx_reduced_model_destroy(flx_reduced_model* reduction); ///< NULL is welcome

/// One file, whole or not at all. Returns FLX_ERR_EXISTS (without `overwrite`), FLX_ERR_IO, FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_reduced_model_write(const flx_reduced_model* reduction, const char* path, bool overwrite);
/// Returns FLX_ERR_IO, FLX_ERR_FORMAT (another kind of file, cut short, damaged), FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_reduced_model_read(flx_context* ctx, const char* path, flx_reduced_model** out);

/// What a scene's full-order run leaves of its projections.
typedef struct flx_snapshot_desc
{
    size_t      struct_size;
    const char* set;       ///< "train" (default) or "test": files carry it, and one of the other set is refused
    const char* kind;      ///< "frames" (default): at the positions steps end with; "last", "all": of local steps
    int32_t     every;     ///< steps; default 1
    int32_t     rounds;    ///< local and global rounds of a step; default 20
    int32_t     frames;    ///< 0 (default): the scene's
    bool        overwrite;
} flx_snapshot_desc;

FLX_API flx_snapshot_desc flx_snapshot_desc_default(void);

/// Run the scene in full order and stream positions q [steps][n][3] (m), and for each kind of constraint its measures
/// S q and projections p [steps][elements][rows][3], to HDF5 files STEM_0000.h5, STEM_0001.h5, ... of at most 1 GB.
/// Where full order is the engine's, only of kind "frames". `files` may be NULL: how many were written. Errors as flx_reduced_model_train(), and FLX_ERR_EXISTS, FLX_ERR_IO.
FLX_API FLX_MUST_CHECK flx_status flx_reduction_snapshots(flx_context* ctx, const flx_model* model,
                                                          const flx_snapshot_desc* desc, const char* stem,
                                                          flx_progress_fn progress, void* user, int32_t* files);

typedef struct flx_reduction_info
{
    const char* method;
    int32_t     vertex_count; ///< of the system
    int32_t     batch_count;
    int32_t     modes;    ///< of all constraints together
    int32_t     subspace; ///< dimension of the positions' subspace; 0: positions are whole
    int32_t     runs;     ///< varied ones that were learnt from beside the scene's own
    int32_t     rounds;   ///< of a step
    double      error;    ///< on the training run: largest RMS vertex error of a step, as part of the box diagonal
    double      seconds;  ///< of training, the full-order run not counted
} flx_reduction_info;

typedef struct flx_reduction_batch_info
{
    const char* constraint;
    int32_t     count;    ///< elements
    int32_t     elements; ///< that are projected in a round; all of them when it is not reduced
    int32_t     modes;    ///< 0: it is not reduced
    double      norm;     ///< of the fit: how much it can amplify; 0: no fit
    double      least;    ///< how well the elements hold the worst mode: 1 is exact; 0: no cubature
} flx_reduction_batch_info;

FLX_API flx_reduction_info       flx_reduced_model_get_info(const flx_reduced_model* reduction);
FLX_API flx_reduction_batch_info flx_reduced_model_get_batch(const flx_reduced_model* reduction, int32_t batch);

/// Ready to step. Model and reduction must outlive it.
///
/// Returns FLX_ERR_ARGUMENT when the reduction was trained on another scene: meshes, materials, attachments or the
/// time step differ; FLX_ERR_UNSUPPORTED as above; FLX_ERR_MEMORY.
FLX_API FLX_MUST_CHECK flx_status flx_reduced_create(flx_context* ctx, const flx_model* model,
                                                     const flx_reduced_model* reduction, flx_reduced** out);
FLX_API void                      flx_reduced_destroy(flx_reduced* reduced); ///< NULL is welcome
/// Advance one step, as long as the solver's. Touches no heap. `stats` may be NULL: time and rounds, and what is known of
/// contacts; 0 for what reduced steps do not have. Returns FLX_ERR_NONFINITE with `state` as it was.
FLX_API FLX_MUST_CHECK flx_status flx_reduced_step(flx_reduced* reduced, flx_state* state, flx_step_stats* stats);

#ifdef __cplusplus
}
#endif
#endif
