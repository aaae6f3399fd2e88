// The numbers of a run, gathered frame by frame, told at the end.
#ifndef FLEXOR_CLI_SUMMARY_H
#define FLEXOR_CLI_SUMMARY_H

#include "cli.h"

enum
{
    PHASE_LOCAL,
    PHASE_FORWARD,
    PHASE_INNER,
    PHASE_DETECT,
    PHASE_BACKWARD,
    PHASE_TOTAL,
    PHASE_COUNT
};
extern const char* const phase_names[PHASE_COUNT];

#define SETTLED_FRAMES 10 // at the end, over which switching contacts are counted

typedef struct summary
{
    int32_t         frames, capacity;
    double*         ms[PHASE_COUNT]; // [capacity] of each frame
    int32_t*        passes;          // [capacity] forward substitutions of each frame, as many backward ones
    int32_t*        switched;        // [capacity]
    double          step_seconds, wall_seconds, setup_seconds;
    int32_t         max_candidates, max_active, max_inverted;
    int64_t         lost, unsolved;  // over the whole run
    double          max_penetration; // m
    flx_step_stats  last;
    int64_t         crossings; // of the embedded surface at the last frame; -1 = not counted
    flx_model_info  model;
    flx_solver_info solver;
    uint64_t        state_hash;
    int64_t         bytes_peak, rss_peak;
    double          read_bandwidth; // bytes/s, measured after the run; 0 = not
    bool            diverged, interrupted;
} summary;

bool   summary_create(summary* s, int32_t frames);
void   summary_release(summary* s);
void   summary_add(summary* s, const flx_step_stats* frame);
double quantile_of(const double* values, int32_t count, double share); // between neighbours by weight; NaN for none
double median_of(const double* values, int32_t count);
double mean_of(const double* values, int32_t count);
/// Bytes/s at which PHASE_FORWARD or PHASE_BACKWARD read the factor's panels, median of the frames; NaN without panels.
double pass_rate(const summary* s, int phase);
void   summary_print(cli* c, const summary* s, const flx_scene* scene);
void   summary_json(json* j, const cli* c, const summary* s);
/// One frame's numbers as members of an open object.
void stats_json(json* j, const flx_step_stats* stats);
void add_stats(flx_step_stats* frame, const flx_step_stats* step, bool first);

#endif
