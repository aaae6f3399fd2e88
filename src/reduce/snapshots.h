// Snapshots of full-order runs: positions q, and of each batch the measures z = S q and the projections p.
//
// A set is either what reduced models are trained on or what they are tested with, never both: it carries its name, its
// files carry it too, and a file of the other set is refused. Runs with different loads may go into one set.
//
// Size: a snapshot holds 8 (3 n + 2 rounds sum_b 3 count_b rows_b) bytes: 65 kB, 180 kB and 225 kB for the bending,
// spring and strain cloths of 30 x 30 vertices, 20 times nearly as much with all rounds (0.4 GB for 100 frames of
// strain). At most `most_bytes` are held; with a stem, full sets go to files <stem>_0000.h5, ... and start anew, while
// one is written the same again is needed for its image.
#ifndef FLX_REDUCE_SNAPSHOTS_H
#define FLX_REDUCE_SNAPSHOTS_H

#include "flexor/model.h"
#include "reduce/system.h"

typedef enum flx_snapshot_kind
{
    FLX_SNAPSHOT_FRAMES = 0, // q at the ends of frames and the start of a run; z and p of that q
    FLX_SNAPSHOT_LAST_ROUND, // q at the ends of frames; z and p as in their last local step
    FLX_SNAPSHOT_ALL_ROUNDS  // q at the ends of frames; z and p as in every local step
} flx_snapshot_kind;

typedef struct flx_snapshot_options
{
    flx_snapshot_kind kind;
    const char*       set;        // "train" or "test"
    int32_t           every;      // frames that are a multiple of this
    int32_t           rounds;     // local/global rounds of a frame
    double            keep;       // of velocities after a frame: damping; 1 keeps all
    int64_t           most_bytes; // held in memory
    const char*       stem;       // of files; NULL: none, FLX_ERR_MEMORY when more than most_bytes are wanted
    bool              overwrite;
} flx_snapshot_options;
flx_snapshot_options flx__snapshot_options_default(const char* set); // frame ends, every one, 20 rounds, 1 GB, no files

/// Growing column-major matrices, a snapshot each column of q: [n][3]. The columns of z[b] and p[b], [count][rows][3],
/// that belong to column k are k rounds .. (k + 1) rounds - 1.
typedef struct flx_snapshots
{
    flx_pd_system*       system;
    flx_snapshot_options options; // set and stem are copies
    int32_t              rounds;  // columns of z and p for each of q: 1, or all rounds
    int32_t              columns; // of q, held now
    int32_t              capacity;
    int32_t              runs;  // added so far
    int32_t              parts; // files written so far
    double*              q;
    double**             z;     // [batch_count]
    double**             p;     // [batch_count]
    int32_t*             frame; // [columns] of the run
    int32_t*             run;   // [columns] 0, 1, ... in the order they were added
} flx_snapshots;

/// FLX_ERR_ARGUMENT for a set that is neither, or a bound below two snapshots; FLX_ERR_MEMORY.
flx_status flx__snapshots_create(flx_pd_system* system, const flx_snapshot_options* options, flx_snapshots** out);
void       flx__snapshots_destroy(flx_snapshots* snapshots);

/// Run `frames` frames from `state`, which moves, and record them as one more run. `progress` may be NULL.
/// Returns FLX_ERR_NONFINITE (frames before are kept), FLX_ERR_MEMORY, FLX_ERR_IO, FLX_ERR_EXISTS, FLX_ERR_CANCELLED.
flx_status flx__snapshots_add_run(flx_snapshots* snapshots, const flx_pd_drive* drive, int32_t frames,
                                  flx_pd_state* state, flx_progress_fn progress, void* user);

/// One pose q [n][3] of a run made elsewhere; kind FLX_SNAPSHOT_FRAMES. Its run is `runs`, which the caller counts.
flx_status flx__snapshots_add_pose(flx_snapshots* snapshots, int32_t frame, const double* q);

/// FLX_ERR_EXISTS when a file that a run of so many frames would be written to is there and shall not be overwritten:
/// to know before the run. Nothing happens without a stem.
flx_status flx__snapshots_claim(const flx_snapshots* snapshots, int32_t frames);
/// Write what is held to the stem's next file, and hold nothing. Nothing happens when nothing is held.
flx_status flx__snapshots_flush(flx_snapshots* snapshots);
/// Add the snapshots of a file. FLX_ERR_FORMAT for a file of another set, kind or system; as above.
flx_status flx__snapshots_read(flx_snapshots* snapshots, const char* path);

#endif
