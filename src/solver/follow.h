// Which bones the quasi-static warm start goes along with, and how they move.
#ifndef FLX_SOLVER_FOLLOW_H
#define FLX_SOLVER_FOLLOW_H

#include "model/model.h"

/// bone [bone_count] := those that move and hold something; returns how many.
int32_t flx__followers(const flx_model* model, int32_t* bone);
/// The rigid motion x -> R x + t of a bone between two times; false: it stands still, R and t are not written.
bool flx__bone_motion(const flx_scene* scene, int32_t bone, double from, double to, double R[9], double t[3]);

#endif
