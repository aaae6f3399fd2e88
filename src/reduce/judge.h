// How a run is recorded and how a reduced one is judged against the full order.
//
//   e(t) = sqrt(mean_i |q_i - q_i,full|^2)/D,            D the rest pose's box diagonal
//   E    = max_t(elastic + kinetic)/the same of the full order, elastic by all true constraints
// Exploded: e > 1, or not finite. Distorted: e > 0.5 or E > 3. The limits are this project's.
#ifndef FLX_REDUCE_JUDGE_H
#define FLX_REDUCE_JUDGE_H

#include "reduce/system.h"

typedef struct flx_run_record
{
    flx_pd_system* system;
    int32_t        frames;  // room for frames 0 .. frames
    int32_t        count;   // frames there: 0 .. count - 1
    double*        q;       // [frames + 1][n][3] m: as flx_training takes it
    double*        elastic; // [frames + 1] J
    double*        kinetic; // [frames + 1] J
} flx_run_record;

flx_status flx__record_create(flx_pd_system* system, int32_t frames, flx_run_record* out);
void       flx__record_release(flx_run_record* record);
/// Add the next frame. States of any model of this system: energies are the full system's. No heap.
void flx__record_put(flx_run_record* record, const flx_pd_state* state);
/// Record the state and, by full-order frames, what follows until there is no more room. FLX_ERR_NONFINITE.
flx_status flx__record_run(flx_run_record* record, const flx_pd_drive* drive, int32_t rounds, flx_pd_state* state);

typedef struct flx_verdict
{
    double error;     // largest e of the frames judged; INFINITY when the run stopped before or is not finite
    double energy;    // E
    bool   exploded;  // "X"
    bool   distorted; // "d"; an exploded run is not also distorted
} flx_verdict;

/// Frames 0 .. frames, both records of one system; the full one has them all.
flx_verdict flx__judge(const flx_run_record* full, const flx_run_record* run, int32_t frames);

/// sqrt(mean |a_i - b_i|^2)/D. Of a pose and the first one: the motion.
double flx__pose_distance(const flx_pd_system* system, const double* a, const double* b);
/// linear [3], kg m/s; angular [3] about the origin, kg m^2/s
void flx__pd_momentum(const flx_pd_system* system, const flx_pd_state* state, double linear[3], double angular[3]);

#endif
