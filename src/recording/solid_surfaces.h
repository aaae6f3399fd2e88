// The surfaces of a scene's obstacles and bones, and where they are at a time.
#ifndef FLX_RECORDING_SOLID_SURFACES_H
#define FLX_RECORDING_SOLID_SURFACES_H

#include "model/model.h"
#include "recording/frame_source.h"

/// A plane, which has no end, is a square of this many cells a side, two triangles each: pictures leave out triangles
/// that reach behind the eye. The first corner of the first triangle and the last of the last are opposite corners of
/// the square.
#define FLX__PLANE_CELLS 16

typedef struct flx__solid_surfaces flx__solid_surfaces;

flx_status flx__solid_surfaces_create(flx_context* ctx, const flx_model* model, flx__solid_surfaces** out);
void       flx__solid_surfaces_destroy(flx__solid_surfaces* s);
/// The arrays belong to `s`.
flx_recording_solids flx__solid_surfaces_get(const flx__solid_surfaces* s, flx_solid_kind kind);
/// Vertices at `time`, [vertex_count][3] m; good until the next call. No heap.
const double* flx__solid_surfaces_at(flx__solid_surfaces* s, const flx_scene* scene, flx_solid_kind kind, double time);

#endif
