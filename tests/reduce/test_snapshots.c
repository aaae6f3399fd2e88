#include "reduce/lab.h"
#include "reduce/snapshots.h"

static flx_snapshots* record(lab* l, const flx_snapshot_options* options, int32_t frames)
{
    flx_context*   ctx = l->ctx;
    flx_snapshots* s   = NULL;
    flx_pd_state   st;
    CHECK_OK(flx__snapshots_create(l->e->system, options, &s));
    CHECK_OK(flx__experiment_start(l->e, FLX_RUN_TRAIN, &st));
    CHECK_OK(flx__snapshots_add_run(s, &l->drive, frames, &st, NULL, NULL));
    assert_int_equal(st.frame, frames);
    flx__pd_state_release(ctx, &st);
    return s;
}

static int64_t length_of(const flx_snapshots* s, int32_t b)
{
    return 3 * (int64_t)s->system->batch[b].count * s->system->batch[b].type->rows;
}

static void assert_same(const double* a, const double* b, int64_t count)
{
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void snapshots_of_frames_are_states_and_their_projections(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 2, "C1", 8, 6, FLX_RUN_TRAIN);
    lab_run(&l);
    const flx_snapshot_options options = flx__snapshot_options_default("train");
    flx_snapshots*             s       = record(&l, &options, 6);
    const int64_t              n3      = 3 * (int64_t)l.e->system->n;
    assert_int_equal(s->columns, 7);
    assert_int_equal(s->runs, 1);
    assert_same(s->q, l.record.q, 7 * n3);
    for (int32_t k = 0; k < 7; ++k)
    {
        assert_int_equal(s->frame[k], k);
        flx__pd_project(l.e->system, s->q + k * n3);
        for (int32_t b = 0; b < 3; ++b)
        {
            assert_same(s->z[b] + k * length_of(s, b), l.e->system->z[b], length_of(s, b));
            assert_same(s->p[b] + k * length_of(s, b), l.e->system->p[b], length_of(s, b));
        }
    }
    flx__snapshots_destroy(s);
    lab_close(&l);
}

static void the_last_of_all_rounds_is_the_last_round(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T3", 8, 0, FLX_RUN_TRAIN);
    flx_snapshot_options options = flx__snapshot_options_default("test");
    options.every                = 2;
    options.kind                 = FLX_SNAPSHOT_ALL_ROUNDS;
    flx_snapshots* all           = record(&l, &options, 5);
    options.kind                 = FLX_SNAPSHOT_LAST_ROUND;
    flx_snapshots* last          = record(&l, &options, 5);
    const int64_t  length        = length_of(all, 0);
    assert_int_equal(all->columns, 2);
    assert_int_equal(all->rounds, 20);
    assert_int_equal(last->columns, 2);
    for (int32_t k = 0; k < 2; ++k)
    {
        assert_int_equal(all->frame[k], 2 * (k + 1));
        assert_same(all->p[0] + (20 * k + 19) * length, last->p[0] + k * length, length);
        assert_same(all->z[0] + (20 * k + 19) * length, last->z[0] + k * length, length);
        assert_true(memcmp(all->p[0] + 20 * k * length, last->p[0] + k * length, (size_t)length * 8) != 0);
    }
    flx__snapshots_destroy(all);
    flx__snapshots_destroy(last);
    lab_close(&l);
}

static void runs_of_one_set_are_told_apart(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "S1", 8, 0, FLX_RUN_TRAIN);
    flx_context*         ctx     = l.ctx;
    flx_snapshot_options options = flx__snapshot_options_default("train");
    options.every                = FLX_LAB_STRIDE;
    flx_snapshots* s             = record(&l, &options, 8);
    flx_pd_state   st;
    CHECK_OK(flx__experiment_start(l.e, FLX_RUN_MORE, &st));
    const flx_pd_drive drive = flx__experiment_drive(l.e, FLX_RUN_MORE);
    CHECK_OK(flx__snapshots_add_run(s, &drive, 8, &st, NULL, NULL));
    const int32_t frame[6] = {0, 4, 8, 0, 4, 8};
    assert_int_equal(s->columns, 6);
    for (int32_t k = 0; k < 6; ++k)
    {
        assert_int_equal(s->frame[k], frame[k]);
        assert_int_equal(s->run[k], k / 3);
    }
    flx__pd_state_release(ctx, &st);
    flx__snapshots_destroy(s);
    lab_close(&l);
}

static void remove_parts(const char* stem)
{
    char path[300];
    for (int k = 0; k < 100; ++k)
    {
        snprintf(path, sizeof path, "%s_%04d.h5", stem, k);
        if (unlink(path) != 0) break;
    }
}

static void files_give_back_the_same_bits_and_memory_stays_bounded(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "C1", 8, 0, FLX_RUN_TRAIN);
    flx_context*         ctx     = l.ctx;
    flx_snapshot_options options = flx__snapshot_options_default("train");
    char                 stem[200], path[300];
    snprintf(stem, sizeof stem, "/tmp/flexor_snapshots_%d", (int)getpid());

    flx_snapshots* memory = record(&l, &options, 10);
    options.stem          = stem;
    options.most_bytes    = 90000; // four of them
    flx_snapshots* files  = record(&l, &options, 10);
    assert_true(files->parts >= 2);
    CHECK_OK(flx__snapshots_flush(files));
    assert_int_equal(files->columns, 0);

    options.stem         = NULL;
    options.most_bytes   = INT64_C(1) << 30;
    flx_snapshots* again = NULL;
    CHECK_OK(flx__snapshots_create(l.e->system, &options, &again));
    for (int32_t k = 0; k < files->parts; ++k)
    {
        snprintf(path, sizeof path, "%s_%04d.h5", stem, k);
        CHECK_OK(flx__snapshots_read(again, path));
    }
    assert_int_equal(again->columns, memory->columns);
    assert_memory_equal(again->frame, memory->frame, (size_t)memory->columns * sizeof(int32_t));
    assert_same(again->q, memory->q, (int64_t)memory->columns * 3 * l.e->system->n);
    for (int32_t b = 0; b < 3; ++b)
    {
        assert_same(again->z[b], memory->z[b], memory->columns * length_of(memory, b));
        assert_same(again->p[b], memory->p[b], memory->columns * length_of(memory, b));
    }

    options.set         = "test"; // what was trained on is not taken for a test
    flx_snapshots* test = NULL;
    CHECK_OK(flx__snapshots_create(l.e->system, &options, &test));
    CHECK_FAILS(flx__snapshots_read(test, path), FLX_ERR_FORMAT);
    assert_int_equal(test->columns, 0);

    options.set            = "train"; // nor is a file written over
    options.stem           = stem;
    flx_snapshots* refused = record(&l, &options, 1);
    CHECK_FAILS(flx__snapshots_flush(refused), FLX_ERR_EXISTS);
    assert_int_equal(refused->columns, 2);

    remove_parts(stem);
    flx__snapshots_destroy(memory);
    flx__snapshots_destroy(files);
    flx__snapshots_destroy(again);
    flx__snapshots_destroy(test);
    flx__snapshots_destroy(refused);
    lab_close(&l);
}

static void more_than_the_bound_without_a_file_is_refused(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T1", 8, 0, FLX_RUN_TRAIN);
    flx_context*         ctx     = l.ctx;
    flx_snapshot_options options = flx__snapshot_options_default("train");
    flx_snapshots*       s       = NULL;
    options.most_bytes           = 200000;
    CHECK_OK(flx__snapshots_create(l.e->system, &options, &s));
    CHECK_FAILS(flx__snapshots_add_run(s, &l.drive, 100, &l.state, NULL, NULL), FLX_ERR_MEMORY);
    assert_true(s->columns > 2 && s->columns < 100);
    flx__snapshots_destroy(s);
    options.most_bytes = 1000;
    CHECK_FAILS(flx__snapshots_create(l.e->system, &options, &s), FLX_ERR_ARGUMENT);
    options = flx__snapshot_options_default("both");
    CHECK_FAILS(flx__snapshots_create(l.e->system, &options, &s), FLX_ERR_ARGUMENT);
    assert_null(s);
    lab_close(&l);
}

static void every_failed_allocation_is_reported(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "C1", 5, 0, FLX_RUN_TRAIN);
    flx_context*         ctx     = l.ctx;
    flx_snapshot_options options = flx__snapshot_options_default("train");
    const int64_t        held    = flx_context_bytes_now(ctx);
    char                 stem[200];
    snprintf(stem, sizeof stem, "/tmp/flexor_snapshots_f%d", (int)getpid());
    options.stem      = stem;
    options.overwrite = true;
    for (int64_t n = 0;; ++n)
    {
        flx_snapshots* s = NULL;
        l.state.frame    = 0;
        flx_context_fail_allocation(ctx, n);
        flx_status status = flx__snapshots_create(l.e->system, &options, &s);
        if (status == FLX_OK) status = flx__snapshots_add_run(s, &l.drive, 3, &l.state, NULL, NULL);
        if (status == FLX_OK) status = flx__snapshots_flush(s);
        flx_context_fail_allocation(ctx, -1);
        flx__snapshots_destroy(s);
        assert_int_equal(flx_context_bytes_now(ctx), held);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
    }
    remove_parts(stem);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_of_frames_are_states_and_their_projections),
        cmocka_unit_test(the_last_of_all_rounds_is_the_last_round),
        cmocka_unit_test(runs_of_one_set_are_told_apart),
        cmocka_unit_test(files_give_back_the_same_bits_and_memory_stays_bounded),
        cmocka_unit_test(more_than_the_bound_without_a_file_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
