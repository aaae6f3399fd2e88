// What the studies share: a scene opened by the public API, positions compared. A failure ends the program with the
// context's text.
#ifndef FLEXOR_BENCH_STUDY_H
#define FLEXOR_BENCH_STUDY_H

#include "flexor/flexor.h"

#include <stdio.h>
#include <stdlib.h>

/// Ends the program when a call failed.
void study_check(flx_context* ctx, flx_status status);

/// Zeroed memory, or the end of the program.
void* study_alloc(size_t count, size_t size);

/// All cores, notices and errors to stderr.
flx_context* study_context(void);

flx_scene*  study_scene(flx_context* ctx, const char* path, int override_count, char** overrides);
flx_model*  study_model(flx_context* ctx, const flx_scene* scene);
flx_solver* study_solver(flx_context* ctx, const flx_model* model, const flx_settings* settings);
flx_state*  study_state(flx_context* ctx, const flx_model* model);

#endif
