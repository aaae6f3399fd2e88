// Trained models on an experiment of the laboratory, tried beside its full order.
#ifndef FLX_TESTS_REDUCE_MODELS_H
#define FLX_TESTS_REDUCE_MODELS_H

#include "test.h"

#include "reduce/trial.h"

static inline flx_trial_bench open_bench(flx_context* ctx, const char* id, int32_t side)
{
    flx_trial_bench     bench;
    flx_experiment_size size = flx__experiment_size_default();
    size.cloth_side          = side;
    CHECK_OK(flx__trial_bench_create(ctx, id, &size, 1, &bench));
    return bench;
}

static inline flx_reduced_model* train(const flx_trial_bench* bench, flx_reduction method, int32_t modes,
                                       int32_t elements)
{
    flx_context*          ctx     = bench->experiment->system->ctx;
    flx_reduction_options options = flx__reduction_options_default(method, modes);
    flx_reduced_model*    model   = NULL;
    options.elements              = elements;
    options.force                 = true;
    CHECK_OK(flx__trial_train(bench, &options, &model));
    return model;
}

static inline flx_trial try_run(const flx_trial_bench* bench, const flx_reduced_model* model, int32_t run)
{
    flx_context* ctx = bench->experiment->system->ctx;
    flx_trial    trial;
    CHECK_OK(flx__trial_run(bench, model, run, bench->experiment->frames, &trial));
    return trial;
}

static inline void close_all(flx_context* ctx, flx_trial_bench* bench, flx_reduced_model* model)
{
    flx__reduced_model_destroy(model);
    flx__trial_bench_release(ctx, bench);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

#endif
