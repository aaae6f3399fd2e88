// Further training runs that nobody had to design: the own run once more, pushed about by smooth random accelerations.
//
//   before a frame   v_i += h a u(x_i),   u(x) = sum of random waves at rest positions, at most two along the longest
//   side d = RMS distance to the own run's pose at the same time, rigid part taken out [Kabsch76] a doubles frame by
//   frame until d, growing on as it does, would pass its aim before the push ends: then the body is let go. Five pushes
//   a run, each with another u.
// The aim is a part of the own run's motion, so a varied run stays in reach of it whatever the stiffness, and costs as
// much as it. u is a function of the place, not of the mesh: a finer mesh gets the same pushes.
#ifndef FLX_REDUCE_VARIED_H
#define FLX_REDUCE_VARIED_H

#include "reduce/system.h"

/// For a cubature that learns from such runs: flx_reduction_options.match. Their frames outweigh G = I otherwise (S2,
/// C1: energy off by 137 and 54 % instead of 70 and 13 %).
#define FLX_VARIED_MATCH 1.0

typedef struct flx_varied
{
    flx_pd_system* system;
    int32_t        frames; // of a run
    int32_t        stride; // the own run is known at frames 0, stride, 2 stride, ...
    const double*  own;    // [frames/stride + 1][n][3] m
    uint64_t       seed;   // of the run
    double*        u;      // [n][3] of RMS 1
    double         aim;    // of d, of the size
    double         least;  // m/s^2: what would do it without any stiffness
    double         amount; // m/s^2: a; 0: let go
    double         reached;
    double         d; // when last seen
    int32_t        push;
} flx_varied;

/// Run number `run` (0, 1, ...); `own` stays the caller's. FLX_ERR_MEMORY.
flx_status flx__varied_create(flx_pd_system* system, int32_t frames, int32_t stride, const double* own, int32_t run,
                              flx_varied* out);
void       flx__varied_release(flx_varied* varied);
/// Before frame number `frame` (1, 2, ...): v [n][3] changes.
void flx__varied_push(flx_varied* varied, int32_t frame, double* v);
/// After it: q [n][3] is where it ended.
void flx__varied_watch(flx_varied* varied, int32_t frame, const double* q);

/// min over rotations R and shifts of RMS |a - R b|, of the size.
double flx__shape_distance(const flx_pd_system* system, const double* a, const double* b);

#endif
