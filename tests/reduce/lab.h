// An experiment of the laboratory, its training run recorded.
#ifndef FLX_TESTS_REDUCE_LAB_H
#define FLX_TESTS_REDUCE_LAB_H

#include "test.h"

#include "reduce/experiment.h"
#include "reduce/judge.h"

typedef struct lab
{
    flx_context*    ctx;
    flx_experiment* e;
    flx_pd_state    state;
    flx_pd_drive    drive;
    flx_run_record  record;
} lab;

static inline void lab_open(lab* l, int32_t workers, const char* id, int32_t side, int32_t frames, int32_t run)
{
    flx_experiment_size size = flx__experiment_size_default();
    size.cloth_side          = side;
    flx_context* ctx         = test_context(workers);
    *l                       = (lab){.ctx = ctx};
    CHECK_OK(flx__experiment_create(ctx, id, &size, &l->e));
    CHECK_OK(flx__experiment_start(l->e, run, &l->state));
    CHECK_OK(flx__record_create(l->e->system, frames, &l->record));
    l->drive = flx__experiment_drive(l->e, run);
}

static inline void lab_run(lab* l)
{
    flx_context* ctx = l->ctx;
    CHECK_OK(flx__record_run(&l->record, &l->drive, FLX_LAB_ROUNDS, &l->state));
}

static inline void lab_close(lab* l)
{
    flx_context* ctx = l->ctx;
    flx__record_release(&l->record);
    flx__pd_state_release(ctx, &l->state);
    flx__experiment_destroy(l->e);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

#endif
