// Methods in a subspace: a size of its own, rounds with and without coordinates, precision, actions within rounds.
#include "models.h"

#include "reduce/lab_shapes.h"

static flx_reduced_model* train_in(const flx_trial_bench* bench, flx_reduction method, int32_t modes, int32_t subspace)
{
    flx_context*          ctx     = bench->experiment->system->ctx;
    flx_reduction_options options = flx__reduction_options_default(method, modes);
    flx_reduced_model*    model   = NULL;
    options.subspace              = subspace;
    options.force                 = true;
    CHECK_OK(flx__trial_train(bench, &options, &model));
    return model;
}

static void a_subspace_has_a_size_of_its_own(void** state)
{
    (void)state;
    static const flx_reduction methods[] = {FLX_REDUCTION_W_GPD, FLX_REDUCTION_W_BLOCK_DEIM, FLX_REDUCTION_W_SECS};
    flx_context*               ctx       = test_context(1);
    flx_trial_bench            bench     = open_bench(ctx, "S2", 10);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        flx_reduced_model* model = train_in(&bench, methods[i], 6, 18);
        assert_int_equal(model->modes, 6);
        assert_int_equal(model->subspace, 18);
        flx__reduced_model_destroy(model);
        model = train_in(&bench, methods[i], 6, 0);
        assert_int_equal(model->subspace, 6);
        flx__reduced_model_destroy(model);
    }
    flx_reduced_model* model = train_in(&bench, FLX_REDUCTION_W_ECSW, 6, 9); // no modes of its own
    assert_int_equal(model->subspace, 9);
    assert_int_equal(model->batch[0].element_count, 45);
    close_all(ctx, &bench, model);
}

static void look_and_leave(void* user, int32_t frame, int32_t round, double* a)
{
    (void)frame, (void)round, (void)a;
    ++*(int*)user;
}

/// Rounds in coefficients alone, and with a between for whoever acts on it: the same but for rounding.
static void rounds_with_and_without_coordinates_agree(void** state)
{
    (void)state;
    static const flx_reduction methods[]  = {FLX_REDUCTION_W_GPD, FLX_REDUCTION_W_BLOCK_DEIM, FLX_REDUCTION_W_SECS,
                                             FLX_REDUCTION_W_ECSW};
    static const int32_t       sizes[][2] = {{5, 12}, {12, 5}}; // either form is the shorter one
    flx_context*               ctx        = test_context(1);
    flx_trial_bench            bench      = open_bench(ctx, "C1", 8);
    const flx_pd_drive         drive      = flx__experiment_drive(bench.experiment, FLX_RUN_UNSEEN);
    flx_pd_system*             system     = bench.experiment->system;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
        for (size_t k = 0; k < 2; ++k)
        {
            flx_reduced_model*  model     = train_in(&bench, methods[i], sizes[k][0], sizes[k][1]);
            flx_reduced_solver* solver[2] = {NULL};
            flx_pd_state        s[2];
            int                 seen = 0;
            for (int j = 0; j < 2; ++j)
            {
                CHECK_OK(flx__reduced_solver_create(system, model, &solver[j]));
                CHECK_OK(flx__experiment_start(bench.experiment, FLX_RUN_UNSEEN, &s[j]));
                flx__reduced_start(solver[j], &s[j]);
            }
            flx__reduced_set_action(solver[1], look_and_leave, &seen);
            for (int frame = 0; frame < 2; ++frame) // block DEIM lets rounding grow fast
                for (int j = 0; j < 2; ++j) CHECK_OK(flx__reduced_frame(solver[j], &drive, FLX_LAB_ROUNDS, NULL, NULL));
            assert_int_equal(seen, 2 * (1 + FLX_LAB_ROUNDS)); // the first iterate, too
            for (int j = 0; j < 2; ++j) flx__reduced_read(solver[j], &s[j]);
            for (int64_t v = 0; v < 3 * (int64_t)system->n; ++v)
                CHECK_NEAR(s[1].q[v], s[0].q[v], methods[i] == FLX_REDUCTION_W_BLOCK_DEIM ? 1e-6 : 1e-9);
            for (int j = 0; j < 2; ++j)
            {
                flx__pd_state_release(ctx, &s[j]);
                flx__reduced_solver_destroy(solver[j]);
            }
            flx__reduced_model_destroy(model);
        }
    close_all(ctx, &bench, NULL);
}

/// Rounds in single precision, with the same model and the same load: positions differ by rounding only.
static void single_precision_is_near_double(void** state)
{
    (void)state;
    static const flx_reduction methods[] = {FLX_REDUCTION_W_SECS, FLX_REDUCTION_W_GPD, FLX_REDUCTION_W_ECSW};
    static const char* const   ids[]     = {"T2", "V1"}; // held with 1e8 N/m; a cloth that wrinkles magnifies rounding
    flx_context*               ctx       = test_context(2);
    for (size_t e = 0; e < sizeof ids / sizeof *ids; ++e)
    {
        flx_trial_bench    bench  = open_bench(ctx, ids[e], 15);
        const flx_pd_drive drive  = flx__experiment_drive(bench.experiment, FLX_RUN_UNSEEN);
        flx_pd_system*     system = bench.experiment->system;
        for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
        {
            flx_reduced_model*  model     = train_in(&bench, methods[i], 10, 20);
            flx_reduced_solver* solver[2] = {NULL};
            flx_pd_state        s[2];
            double              worst = 0.0;
            for (int j = 0; j < 2; ++j)
            {
                CHECK_OK(flx__reduced_solver_create_in(
                    system, model, j == 0 ? FLX_PRECISION_DOUBLE : FLX_PRECISION_SINGLE, &solver[j]));
                CHECK_OK(flx__experiment_start(bench.experiment, FLX_RUN_UNSEEN, &s[j]));
                flx__reduced_start(solver[j], &s[j]);
            }
            for (int frame = 0; frame < 50; ++frame)
            {
                for (int j = 0; j < 2; ++j)
                {
                    CHECK_OK(flx__reduced_frame(solver[j], &drive, FLX_LAB_ROUNDS, NULL, NULL));
                    flx__reduced_read(solver[j], &s[j]);
                }
                worst = fmax(worst, flx__pose_distance(system, s[0].q, s[1].q));
            }
            print_message("%s, %s: single precision is %.2g from double\n", ids[e], flx__reduction_name(methods[i]),
                          worst);
            CHECK_BELOW(worst, 1e-5); // of the box diagonal; measured: 2e-7
            assert_true(worst > 0.0); // it is another precision
            for (int j = 0; j < 2; ++j)
            {
                flx__pd_state_release(ctx, &s[j]);
                flx__reduced_solver_destroy(solver[j]);
            }
            flx__reduced_model_destroy(model);
        }
        flx__trial_bench_release(ctx, &bench);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void lift_by_a_metre(void* user, int32_t frame, int32_t round, double* a)
{
    const double* up = user; // [k] W^T M 1
    (void)frame;
    for (int32_t i = 0; i < 8 && round + 1 == FLX_LAB_ROUNDS; ++i) a[3 * i + 1] += up[i];
}

/// What acts in the last round is where the frame ends, and its velocity.
static void an_action_is_part_of_its_round(void** state)
{
    (void)state;
    flx_context*        ctx    = test_context(1);
    flx_trial_bench     bench  = open_bench(ctx, "B2", 8);
    flx_pd_system*      system = bench.experiment->system;
    flx_reduced_model*  model  = train_in(&bench, FLX_REDUCTION_W_SECS, 4, 8);
    flx_reduced_solver* solver = NULL;
    flx_pd_state        s;
    double              up[8] = {0};
    for (int32_t v = 0; v < system->n; ++v)
        for (int32_t i = 0; i < 8; ++i) up[i] += system->mass[v] * model->w[8 * v + i];
    CHECK_OK(flx__reduced_solver_create(system, model, &solver));
    CHECK_OK(flx__pd_state_create(system, &s));
    flx__reduced_start(solver, &s);
    flx__reduced_set_action(solver, lift_by_a_metre, up);
    CHECK_OK(flx__reduced_frame(solver, NULL, FLX_LAB_ROUNDS, NULL, NULL));
    flx__reduced_read(solver, &s);
    for (int32_t v = 0; v < system->n; ++v)
    {
        CHECK_NEAR(s.q[3 * v + 1], system->x_rest[3 * v + 1] + 1.0, 1e-9);
        CHECK_NEAR(s.v[3 * v + 1], 60.0, 1e-7);
    }
    flx__reduced_solver_destroy(solver);
    flx__pd_state_release(ctx, &s);
    close_all(ctx, &bench, model);
}

/// Free fall of a flat sheet has one mode, and no method may add to it.
static void a_free_fall_in_a_subspace_is_exact(void** state)
{
    (void)state;
    flx_context*       ctx   = test_context(1);
    flx_trial_bench    bench = open_bench(ctx, "B1", 15);
    flx_reduced_model* model = train_in(&bench, FLX_REDUCTION_W_SECS, 10, 20);
    CHECK_BELOW(try_run(&bench, model, FLX_RUN_UNSEEN).verdict.error, 1e-10);
    close_all(ctx, &bench, model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subspace_has_a_size_of_its_own),
        cmocka_unit_test(rounds_with_and_without_coordinates_agree),
        cmocka_unit_test(single_precision_is_near_double),
        cmocka_unit_test(an_action_is_part_of_its_round),
        cmocka_unit_test(a_free_fall_in_a_subspace_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
