// The quasi-static warm start in a subspace: before a step's rounds, a goes along with the bones.
#ifndef FLX_REDUCE_REDUCED_FOLLOW_H
#define FLX_REDUCE_REDUCED_FOLLOW_H

#include "reduce/model.h"
#include "reduce/scene_system.h"

typedef struct flx_reduced_follow flx_reduced_follow;

/// NULL when the scene's steps do not begin so. Scene and model must outlive it.
flx_status flx__reduced_follow_create(flx_scene_system* scene, const flx_reduced_model* model,
                                      flx_reduced_follow** out);
void       flx__reduced_follow_destroy(flx_reduced_follow* follow); // NULL is welcome
/// a [k][3] goes along with the motion during the step that ends at frame * h. No heap.
void flx__reduced_follow(flx_reduced_follow* follow, int32_t frame, double* a);

#endif
