// A laboratory experiment as a scene for the engine itself: what `flx_solver` needs for a step of the same work.
#ifndef FLX_BENCH_REDUCED_ENGINE_H
#define FLX_BENCH_REDUCED_ENGINE_H

#include "reduce/experiment.h"

/// Medians of `frames` steps, ms: `ms[0]` in single precision, ms[1] in double. The mesh, the masses, the stiffnesses
/// and the rounds are the experiment's; the motion is like it, by keys. Files go to `folder`. FLX_ERR_UNSUPPORTED for
/// experiments without a scene.
flx_status engine_steps(flx_context* ctx, const flx_experiment* e, const char* folder, int32_t frames, double ms[2]);

#endif
