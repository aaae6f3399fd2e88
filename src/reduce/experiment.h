// The laboratory: experiments on which reduced models are compared with the full order.
//
//   id   constraints, weights                       set-up and load of the training run                            F
//   C1   bending 1e-1, spring 1e6, strain 1e-2      two corners held, starts flat, gravity       [MPB] fig. 4    100
//   B1   bending 1                                  free fall from flat                          [MPB] fig. 5     25
//   B1w  bending 1                                  free fall of a wave 0.1 sin(pi x) sin(2 pi z)                 25
//   B2   bending 1                                  poke (0, 2000, 0) N at (.5, .5), frames 1-5  [MPB] fig. 5     25
//   S1   spring 1e6                                 gravity; one end pulled by 0.3 |sin(pi f/200)| [MPB] fig. 6  100
//   S2   spring 1e6                                 ends twisted by +-pi/2 sin(pi f/200)         [MPB] fig. 6    100
//   T1   strain 1e6                                 as S1                                        [MPB] fig. 7    100
//   T2   strain 1e6                                 10 % stretched, poke (0, 5e4, 0) sin(2 pi f/50) [MPB] fig. 7 100
//   T3   strain 1e6                                 as S2                                                        100
//   V1   tet strain 2e6                             both ends twisted as S2                                      100
//   V2   tet strain 3e5                             one end held, gravity                                        100
//
// The paper names the experiments, the weights of figure 4 and no more: loads, sizes and horizons are this project's.
// B1w, T3, V1 and V2 are not in the paper.
//
// The cloth is n x n vertices on [0, 1]^2 in x and z, y up, vertex i n + j at (i, j)/(n - 1); a cell has the triangles
// (a, c, b) and (a, d, c) of its corners a, b, c, d = (i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1). The box is
// [0, 1] x [0, c/l]^2 with c cells across and l = round(8 c/3) along, six tets a cell [Kuhn60]. Masses are lumped areas
// or volumes divided by their mean, so the mean mass is 1 kg. h = 1/60 s, 20 rounds a frame, no damping, held_weight
// 1e8 N/m, g = 9.81 m/s^2 along -y. "Ends" are the vertices of least and of largest x.
#ifndef FLX_REDUCE_EXPERIMENT_H
#define FLX_REDUCE_EXPERIMENT_H

#include "reduce/system.h"

#define FLX_EXPERIMENT_COUNT 11
#define FLX_EXPERIMENT_BATCHES 3
#define FLX_LAB_ROUNDS 20
#define FLX_LAB_STRIDE 4 // of several training runs every 4th frame is recorded

typedef enum flx_hold
{
    FLX_HOLD_NOTHING = 0,
    FLX_HOLD_CORNERS,  // the two of x = 0
    FLX_HOLD_LEFT,     // the end of x = 0
    FLX_HOLD_PULLED,   // both ends, the right one at x + pull |sin(pi f/200)|
    FLX_HOLD_TWISTED,  // both ends, turned about the middle line along x by -+pi/2 sin(speed pi f/200)
    FLX_HOLD_STRETCHED // both ends, at 1.1 x; the run starts there too
} flx_hold;

/// One run: what drives it and where it starts.
typedef struct flx_lab_load
{
    double  gravity[3]; // m/s^2
    double  poke;       // N, along y, spread over weights (1 - (d/0.2)^2)^2 that sum to 1
    double  poke_at[2]; // x, z of its middle at rest
    double  pull;       // m
    double  speed;      // of the twist; 1: a quarter turn of each end in 100 frames
    int32_t wave[2];    // start at y = 0.1 sin(wave[0] pi x) sin(wave[1] pi z); 0: flat
} flx_lab_load;

typedef enum flx_run
{
    FLX_RUN_TRAIN  = 0,
    FLX_RUN_UNSEEN = 1,
    FLX_RUN_MORE   = 2 // this and those after it: further training runs, to go with FLX_RUN_TRAIN
} flx_run;
#define FLX_RUN_MOST 6

typedef struct flx_experiment flx_experiment;

/// A run of an experiment, as the drive's user.
typedef struct flx_experiment_run
{
    const flx_experiment* of;
    flx_lab_load          load;
    double*               share; // [n] of the poke, sum 1; NULL: no poke
} flx_experiment_run;

struct flx_experiment
{
    const char*    id;
    const char*    title;
    flx_pd_system* system;
    flx_hold       hold;
    bool           brief;                                // a poke of frames 1 to 5; otherwise sin(2 pi f/50)
    int32_t        frames;                               // F of training; 3 F is the long horizon
    int32_t        batch_frames[FLX_EXPERIMENT_BATCHES]; // training frames of each batch's snapshots: F, in C1 25 for
                                                         // bending
    int32_t            run_count;                        // at least 2
    flx_experiment_run run[FLX_RUN_MOST];

    int32_t  triangle_count; // of the cloth, or of the box's boundary (for pictures)
    int32_t* triangle;       // [triangle_count][3]
};

typedef struct flx_experiment_size
{
    int32_t cloth_side; // n; 30, in tests 15, for speed 100
    int32_t box_cells;  // c; 3 (432 tets), for speed 11 (21054 tets)
} flx_experiment_size;
flx_experiment_size flx__experiment_size_default(void);

/// Ids by index: "C1", "B1", "B1w", "B2", "S1", "S2", "T1", "T2", "T3", "V1", "V2".
const char* flx__experiment_id(int32_t index);

/// FLX_ERR_ARGUMENT for an unknown id or a size below 4 vertices or 1 cell; FLX_ERR_MEMORY.
flx_status flx__experiment_create(flx_context* ctx, const char* id, const flx_experiment_size* size,
                                  flx_experiment** out);
void       flx__experiment_destroy(flx_experiment* experiment);

/// The start of a run, frame 0, and what drives it. The experiment must outlive both.
flx_status   flx__experiment_start(const flx_experiment* experiment, int32_t run, flx_pd_state* out);
flx_pd_drive flx__experiment_drive(const flx_experiment* experiment, int32_t run);

#endif
