// What a round touches, and that it is the same for any mesh and any number of threads.
#include "models.h"

static flx_reduced_counts counts_of(flx_context* ctx, const char* id, int32_t side, flx_reduction method,
                                    uint32_t batches, bool loaded)
{
    flx_trial_bench       bench   = open_bench(ctx, id, side);
    flx_reduction_options options = flx__reduction_options_default(method, 8);
    flx_reduced_model*    model   = NULL;
    flx_reduced_solver*   solver  = NULL;
    flx_pd_state          state;
    flx_pd_drive          drive = flx__experiment_drive(bench.experiment, FLX_RUN_TRAIN);
    if (!loaded) drive.force = NULL;
    options.elements = 30;
    options.force    = true;
    options.batches  = batches;
    CHECK_OK(flx__trial_train(&bench, &options, &model));
    CHECK_OK(flx__reduced_solver_create(bench.experiment->system, model, &solver));
    CHECK_OK(flx__experiment_start(bench.experiment, FLX_RUN_TRAIN, &state));
    flx__reduced_start(solver, &state);
    const int64_t allocations = flx_context_allocation_count(ctx);
    for (int frame = 0; frame < 5; ++frame) CHECK_OK(flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, NULL, NULL));
    assert_int_equal(flx_context_allocation_count(ctx), allocations); // no heap in a frame
    const flx_reduced_counts counts = flx__reduced_counts_of(solver);
    flx__reduced_solver_destroy(solver);
    flx__pd_state_release(ctx, &state);
    flx__reduced_model_destroy(model);
    flx__trial_bench_release(ctx, &bench);
    return counts;
}

static void a_round_costs_the_same_on_a_larger_mesh(void** state)
{
    (void)state;
    static const flx_reduction methods[] = {FLX_REDUCTION_SECS,   FLX_REDUCTION_GPD,   FLX_REDUCTION_GPDS,
                                            FLX_REDUCTION_W_ECSW, FLX_REDUCTION_W_GPD, FLX_REDUCTION_W_SECS};
    flx_context*               ctx       = test_context(1);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        const flx_reduced_counts small = counts_of(ctx, "S2", 10, methods[i], UINT32_MAX, true);
        const flx_reduced_counts large = counts_of(ctx, "S2", 16, methods[i], UINT32_MAX, true);
        assert_int_equal(small.rounds, 5 * FLX_LAB_ROUNDS);
        assert_int_equal(small.projections, 30 * small.rounds);
        assert_int_equal(large.projections, small.projections);
        assert_int_equal(small.round_entries, 0);
        assert_int_equal(large.round_entries, 0);
        assert_int_equal(large.solves, flx__reduction_in_subspace(methods[i]) ? 0 : 5); // one a frame
    }
    flx_context_destroy(ctx);
}

static void a_subspace_touches_the_mesh_only_when_asked_for_it(void** state)
{
    (void)state;
    flx_context*             ctx  = test_context(1);
    const flx_reduced_counts free = counts_of(ctx, "S2", 10, FLX_REDUCTION_W_ECSW, UINT32_MAX, false);
    assert_int_equal(free.frame_entries, 0);
    assert_int_equal(free.read_entries, 0);
    const flx_reduced_counts loaded = counts_of(ctx, "S2", 10, FLX_REDUCTION_W_ECSW, UINT32_MAX, true);
    assert_true(loaded.frame_entries > 0); // forces come as n vectors
    flx_context_destroy(ctx);
}

static void pull_sideways_later(void* user, int32_t frame, double* f)
{
    const flx_pd_system* system = user;
    for (int32_t i = 0; i < system->n; ++i) f[3 * i + (frame < 4 ? 1 : 2)] += 9.81 * system->mass[i];
}

/// A subspace keeps the projection of forces that stay as they are: like a solver that starts anew every frame.
static void forces_that_change_are_noticed(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(2);
    flx_trial_bench     bench = open_bench(ctx, "S2", 10);
    flx_reduced_model*  model = train(&bench, FLX_REDUCTION_W_ECSW, 6, 30);
    flx_reduced_solver *kept = NULL, *anew = NULL;
    flx_pd_state        a, b, start, positions;
    flx_pd_system*      system = bench.experiment->system;
    const flx_pd_drive  drive  = {.user = system, .force = pull_sideways_later};
    CHECK_OK(flx__pd_state_create(system, &a));
    CHECK_OK(flx__pd_state_create(system, &b));
    CHECK_OK(flx__pd_state_create(system, &start));
    CHECK_OK(flx__reduced_solver_create(system, model, &kept));
    flx__reduced_start(kept, &a);
    for (int frame = 0; frame < 6; ++frame)
    {
        flx__reduced_read(kept, &start);
        CHECK_OK(flx__reduced_solver_create(system, model, &anew));
        flx__reduced_start(anew, &start);
        CHECK_OK(flx__reduced_frame(anew, &drive, FLX_LAB_ROUNDS, NULL, NULL));
        CHECK_OK(flx__reduced_frame(kept, &drive, FLX_LAB_ROUNDS, NULL, NULL));
        flx__reduced_read(kept, &a);
        positions = (flx_pd_state){.q = b.q};
        flx__reduced_read(anew, &positions);
        assert_int_equal(positions.frame, frame + 1);
        for (int64_t k = 0; k < 3 * (int64_t)system->n; ++k) CHECK_NEAR(a.q[k], b.q[k], 1e-9); // rounding of a start
        flx__reduced_solver_destroy(anew);
    }
    flx__reduced_solver_destroy(kept);
    flx__pd_state_release(ctx, &a);
    flx__pd_state_release(ctx, &b);
    flx__pd_state_release(ctx, &start);
    close_all(ctx, &bench, model);
}

static void count_and_pull(void* user, int32_t frame, double* f)
{
    (void)frame;
    ++*(int*)user;
    f[0] += 1.0;
}

/// A force that says it is steady is asked for once, and again after another drive.
static void a_steady_force_is_asked_for_once(void** state)
{
    (void)state;
    flx_context*        ctx      = test_context(1);
    flx_trial_bench     bench    = open_bench(ctx, "S2", 6);
    flx_reduced_model*  model    = train(&bench, FLX_REDUCTION_W_ECSW, 6, 30);
    flx_reduced_solver* solver   = NULL;
    int                 calls[3] = {0};
    const flx_pd_drive  steady   = {.user = &calls[0], .force = count_and_pull, .steady = true},
                       other     = {.user = &calls[1], .force = count_and_pull, .steady = true},
                       moody     = {.user = &calls[2], .force = count_and_pull};
    flx_pd_state s;
    CHECK_OK(flx__reduced_solver_create(bench.experiment->system, model, &solver));
    CHECK_OK(flx__pd_state_create(bench.experiment->system, &s));
    flx__reduced_start(solver, &s);
    for (int i = 0; i < 3; ++i) CHECK_OK(flx__reduced_frame(solver, &steady, 1, NULL, NULL));
    assert_int_equal(calls[0], 1);
    for (int i = 0; i < 3; ++i) CHECK_OK(flx__reduced_frame(solver, &other, 1, NULL, NULL));
    assert_int_equal(calls[1], 1);
    for (int i = 0; i < 3; ++i) CHECK_OK(flx__reduced_frame(solver, &moody, 1, NULL, NULL));
    assert_int_equal(calls[2], 3);
    CHECK_OK(flx__reduced_frame(solver, &steady, 1, NULL, NULL));
    assert_int_equal(calls[0], 2);
    flx__reduced_start(solver, &s);
    CHECK_OK(flx__reduced_frame(solver, &steady, 1, NULL, NULL));
    assert_int_equal(calls[0], 2);
    flx__reduced_solver_destroy(solver);
    flx__pd_state_release(ctx, &s);
    close_all(ctx, &bench, model);
}

static void batches_are_reduced_one_at_a_time(void** state)
{
    (void)state;
    flx_context*             ctx = test_context(1);
    const flx_reduced_counts one = counts_of(ctx, "C1", 8, FLX_REDUCTION_SECS, 1U << 1, true);
    // 64 bendings and 98 strains are whole, 30 of 161 springs stand for all
    assert_int_equal(one.projections, one.rounds * (64 + 98 + 30));
    assert_int_equal(one.solves, one.rounds);
    assert_true(one.round_entries > 0);
    flx_context_destroy(ctx);
}

static void same_bits_for_every_thread_count(void** state)
{
    (void)state;
    uint64_t first[4] = {0};
    for (int32_t workers = 1; workers <= 3; ++workers)
    {
        static const flx_reduction methods[4] = {FLX_REDUCTION_SECS, FLX_REDUCTION_W_ECSW, FLX_REDUCTION_W_GPD,
                                                 FLX_REDUCTION_W_SECS};
        flx_context*               ctx        = test_context(workers);
        flx_trial_bench            bench      = open_bench(ctx, "T3", 10);
        for (int i = 0; i < 4; ++i)
        {
            flx_reduced_model*  model  = train(&bench, methods[i], 10, 40);
            flx_reduced_solver* solver = NULL;
            flx_pd_state        s;
            const flx_pd_drive  drive = flx__experiment_drive(bench.experiment, FLX_RUN_TRAIN);
            CHECK_OK(flx__reduced_solver_create(bench.experiment->system, model, &solver));
            CHECK_OK(flx__experiment_start(bench.experiment, FLX_RUN_TRAIN, &s));
            flx__reduced_start(solver, &s);
            for (int f = 0; f < 10; ++f) CHECK_OK(flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, NULL, NULL));
            flx__reduced_read(solver, &s);
            const uint64_t hash = flx__hash(FLX_HASH_START, s.q, 3 * (int64_t)bench.experiment->system->n * 8);
            if (workers == 1) first[i] = hash;
            assert_true(hash == first[i]);
            flx__reduced_solver_destroy(solver);
            flx__pd_state_release(ctx, &s);
            flx__reduced_model_destroy(model);
        }
        close_all(ctx, &bench, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_costs_the_same_on_a_larger_mesh),
        cmocka_unit_test(a_subspace_touches_the_mesh_only_when_asked_for_it),
        cmocka_unit_test(forces_that_change_are_noticed),
        cmocka_unit_test(a_steady_force_is_asked_for_once),
        cmocka_unit_test(batches_are_reduced_one_at_a_time),
        cmocka_unit_test(same_bits_for_every_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
