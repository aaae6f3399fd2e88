// One reduced run of an experiment beside the full order, in numbers.
#ifndef FLX_REDUCE_TRIAL_H
#define FLX_REDUCE_TRIAL_H

#include "reduce/experiment.h"
#include "reduce/judge.h"
#include "reduce/reduced_solver.h"

#define FLX_TRIAL_RUNS 2 // FLX_RUN_TRAIN, FLX_RUN_UNSEEN

/// An experiment with its full-order runs over `frames` frames, to train on (the first F of the training run) and to
/// judge by.
typedef struct flx_trial_bench
{
    flx_experiment* experiment;
    flx_run_record  full[FLX_TRIAL_RUNS];
    double          full_ms; // of a full-order frame
} flx_trial_bench;

/// horizon: how often F; 1 for the training horizon, 3 for beyond it.
flx_status flx__trial_bench_create(flx_context* ctx, const char* id, const flx_experiment_size* size, int32_t horizon,
                                   flx_trial_bench* out);
void       flx__trial_bench_release(flx_context* ctx, flx_trial_bench* bench);

flx_status flx__trial_train(const flx_trial_bench* bench, const flx_reduction_options* options,
                            flx_reduced_model** out);

/// The same from every training run of the experiment, each F frames, of which every FLX_LAB_STRIDE-th is learnt from.
flx_status flx__trial_train_on_all(const flx_trial_bench* bench, const flx_reduction_options* options,
                                   flx_reduced_model** out);

/// The same from the training run and `runs` varied ones (varied.h), F frames each. Of these every
/// FLX_LAB_STRIDE-th is learnt from, of the training run all.
flx_status flx__trial_train_varied(const flx_trial_bench* bench, const flx_reduction_options* options, int32_t runs,
                                   flx_reduced_model** out);

typedef struct flx_trial
{
    flx_verdict verdict;
    double      norm;        // largest |M| of the model's batches; 0: no fit
    double      least;       // smallest eigenvalue of G; 1: no cubature
    int32_t     modes;       // of all batches
    int32_t     elements;    // of all batches
    int32_t     all;         // elements there are
    double      offline_s;   // training
    double      frame_ms;    // reading positions included
    double      projections; // a round
} flx_trial;

/// `frames` frames of a run; a run that stops finite no more is a verdict, not an error.
flx_status flx__trial_run(const flx_trial_bench* bench, const flx_reduced_model* model, int32_t run, int32_t frames,
                          flx_trial* out);

#endif
