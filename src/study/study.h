// The study of reduced constraint projections: its plan, its results, and what is said about them.
//
// A trial is one (experiment, method, number of modes, reduced constraints). It is run on the training load for three
// times the training horizon and on the unseen load for as long, beside the full order. [MPB]
#ifndef FLX_STUDY_STUDY_H
#define FLX_STUDY_STUDY_H

#include "flexor/study.h"
#include "reduce/trial.h"

#define FLX_STUDY_MODES 8    // numbers of modes in a plan
#define FLX_STUDY_BATCHES 16 // bases studied: eleven experiments, one of them with three constraints
#define FLX_STUDY_RANKS 12   // numbers of modes on a curve of reconstruction
#define FLX_STUDY_HORIZON 3  // how often the training horizon
#define FLX_STUDY_OK_ERROR .05

#define FLX_STUDY_ALL (-1)    // as a part: all constraints are reduced
#define FLX_STUDY_RICH (-2)   // the same, learnt from all training runs of the experiment
#define FLX_STUDY_WIDE (-3)   // from its own run alone, at half as many modes again as the largest number
#define FLX_STUDY_VARIED (-4) // from that and FLX_STUDY_RUNS varied ones, at as many
#define FLX_STUDY_RUNS 4

typedef enum flx_study_load
{
    FLX_STUDY_TRAIN = 0, // what was learnt from
    FLX_STUDY_LONG,      // the same load on and on
    FLX_STUDY_UNSEEN,    // another load, as long
    FLX_STUDY_LOADS
} flx_study_load;

extern const char* const flx__study_load_name[FLX_STUDY_LOADS];

/// A method of the plan, with the elements it is given for each mode.
typedef struct flx_study_method
{
    flx_reduction method;
    int32_t       each;   // m = each r; 0: the method's own number
    int32_t       inside; // k = inside r of a subspace; 0: k is r, or there is none
    bool          main;   // drawn as curves and named in sentences; the others are in tables
    bool          varied; // learnt from varied runs too
    bool          rich;   // learnt from all training runs too, at the largest number of modes
    const char*   label;
} flx_study_method;

extern const flx_study_method flx__study_methods[];
extern const int32_t          flx__study_method_count;
const flx_study_method*       flx__study_method_of(flx_reduction method); // NULL: not part of a plan

/// What a small disturbance of the state becomes. Of the full order and of trials at the middle number of modes.
typedef struct flx_study_stability
{
    bool    known;
    double  growth;   // of a disturbance in a frame, at the middle of the training run
    double  share[3]; // of the direction that grows most along x, y, z; sum 1
    double  radius;   // spectral radius of a round; NAN: not measured
    int32_t unstable; // eigenvalues of a round outside of the unit circle
    int32_t slack;    // those with a real part above 1: directions whose stiffness is negative
} flx_study_stability;

typedef struct flx_study_trial
{
    int32_t             experiment; // index into flx_study.experiment
    flx_reduction       method;
    int32_t             asked;   // r, modes asked for of each constraint
    uint32_t            batches; // reduced ones
    int32_t             part;    // the one constraint that is reduced, or one of the following
    flx_trial           numbers; // norm, elements, ... ; its verdict is not used
    bool                judged[FLX_STUDY_LOADS];
    flx_verdict         verdict[FLX_STUDY_LOADS];
    int32_t             frames; // of the curves
    double*             error;  // [frames + 1] e(t) of the training load; NAN after the end of a run
    double*             energy; // [frames + 1] of the full order's largest
    flx_study_stability stability;
} flx_study_trial;

typedef enum flx_study_scheme
{
    FLX_STUDY_POD = 0, // orthogonal projection: the best that one vector of coefficients can do
    FLX_STUDY_BLOCK,   // coefficients of x, y and z each
    FLX_STUDY_SCALAR,
    FLX_STUDY_ELEMENTS, // whole elements, two for each mode, least squares
    FLX_STUDY_SCHEMES
} flx_study_scheme;

/// A constraint's projections as snapshots: how they decay and how well each scheme gets them back.
typedef struct flx_study_basis
{
    int32_t     experiment;
    int32_t     batch;
    const char* type;
    int32_t     sigma_count, rank;
    double*     sigma; // [sigma_count]
    int32_t     count;
    int32_t     r[FLX_STUDY_RANKS];
    double      error[FLX_STUDY_SCHEMES][FLX_STUDY_RANKS]; // relative, over all training snapshots
    double      norm[FLX_STUDY_RANKS][3];                  // |(P^T V_d)^-1| of x, y, z; may be infinite
    double      scalar_norm[FLX_STUDY_RANKS], element_norm[FLX_STUDY_RANKS];
} flx_study_basis;

/// A number that the page states.
typedef struct flx_study_claim
{
    char   figure[24], key[96];
    double value;
    char   text[32]; // as printed
} flx_study_claim;

typedef struct flx_study_picture
{
    char     caption[160];
    int32_t  group; // flx_study_pictures
    uint8_t* rgb;   // [height][width][3]
} flx_study_picture;

#define FLX_STUDY_PICTURE_WIDTH 300
#define FLX_STUDY_PICTURE_HEIGHT 240

typedef struct flx_study_experiment
{
    char                id[8];
    char                title[128];
    int32_t             frames; // F
    int32_t             vertices, elements;
    double              motion;        // largest distance from the start in the training run, of the size
    double              unseen_motion; // of the unseen load over the long horizon, rigid part taken out
    double              full_ms;
    int32_t             batch_count;
    const char*         type[FLX_EXPERIMENT_BATCHES];
    flx_study_stability stability; // of the full order
} flx_study_experiment;

typedef struct flx_study
{
    flx_context* ctx;
    // plan
    int32_t                 side;
    int32_t                 experiment_count;
    flx_study_experiment    experiment[FLX_EXPERIMENT_COUNT];
    int32_t                 method_count;
    const flx_study_method* method[FLX_REDUCTION_COUNT];
    int32_t                 mode_count;
    int32_t                 modes[FLX_STUDY_MODES];
    int32_t                 wide;   // modes of FLX_STUDY_WIDE and FLX_STUDY_VARIED
    int32_t                 middle; // of modes: 20, or the largest below
    int64_t                 steps, done;
    double                  begin;
    flx_progress_fn         progress;
    void*                   user;
    // results
    int64_t            trial_count, trial_capacity;
    flx_study_trial*   trial;
    int32_t            basis_count;
    flx_study_basis    basis[FLX_STUDY_BATCHES];
    int64_t            picture_count, picture_capacity;
    flx_study_picture* picture;
    int64_t            claim_count, claim_capacity;
    flx_study_claim*   claim;
    double             seconds;
} flx_study;

/// Checks the options and makes the plan. FLX_ERR_ARGUMENT.
flx_status flx__study_create(flx_context* ctx, const flx_study_options* options, flx_study** out);
void       flx__study_destroy(flx_study* study); // NULL is welcome
/// Everything is run. FLX_ERR_CANCELLED, FLX_ERR_MEMORY.
flx_status flx__study_run(flx_study* study, flx_progress_fn progress, void* user);

/// NULL when there is none.
const flx_study_trial* flx__study_find(const flx_study* study, const char* experiment, flx_reduction method,
                                       int32_t asked, int32_t part);
/// OK: train e at most 5 %, and on all loads neither exploded nor distorted.
bool flx__study_fine(const flx_study_trial* trial);

// Parts of flx__study_run(), each for one experiment.
flx_status flx__study_bases(flx_study* study, int32_t experiment, const flx_trial_bench* bench);  // bases.c
flx_status flx__study_trials(flx_study* study, int32_t experiment, const flx_trial_bench* bench); // trials.c
flx_status flx__study_steady(flx_study* study, const flx_trial_bench* bench, const flx_reduced_model* model,
                             flx_study_stability* out, double* direction); // stability.c; model NULL: full order
flx_status flx__study_draw(flx_study* study, const flx_trial_bench* bench, const double* q, const double* value,
                           int32_t group, const char* caption); // pictures.c
flx_status flx__study_round(flx_study* study, const flx_trial_bench* bench, const flx_reduced_model* model,
                            flx_study_stability* out);          // round.c: radius and counts; model NULL: full order
bool       flx__study_step(flx_study* study, const char* what); // false: stop

// What is written. `path` ends in .html.
flx_status flx__study_write_page(flx_study* study, const char* path, bool overwrite);         // page.c
flx_status flx__study_write_csv(const flx_study* study, const char* path, bool overwrite);    // csv.c
flx_status flx__study_write_claims(const flx_study* study, const char* path, bool overwrite); // csv.c

#endif
