// Reduced models on the laboratory's experiments, 15 x 15 vertices.
#include "test.h"

#include "math/rotation.h"
#include "reduce/lab_shapes.h"
#include "reduce/model_file.h"
#include "reduce/trial.h"

static flx_trial_bench open_bench(flx_context* ctx, const char* id, int32_t side)
{
    flx_trial_bench     bench;
    flx_experiment_size size = flx__experiment_size_default();
    size.cloth_side          = side;
    CHECK_OK(flx__trial_bench_create(ctx, id, &size, 1, &bench));
    return bench;
}

static flx_reduced_model* train(const flx_trial_bench* bench, flx_reduction method, int32_t modes, int32_t elements)
{
    flx_context*          ctx     = bench->experiment->system->ctx;
    flx_reduction_options options = flx__reduction_options_default(method, modes);
    flx_reduced_model*    model   = NULL;
    options.elements              = elements;
    options.force                 = true;
    CHECK_OK(flx__trial_train(bench, &options, &model));
    return model;
}

static flx_trial try_run(const flx_trial_bench* bench, const flx_reduced_model* model, int32_t run)
{
    flx_context* ctx = bench->experiment->system->ctx;
    flx_trial    trial;
    CHECK_OK(flx__trial_run(bench, model, run, bench->experiment->frames, &trial));
    return trial;
}

static void close_all(flx_context* ctx, flx_trial_bench* bench, flx_reduced_model* model)
{
    flx__reduced_model_destroy(model);
    flx__trial_bench_release(ctx, bench);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

// --- rounds never raise the energy of secs ------------------------------------------------------------------------

typedef struct descent
{
    flx_pd_system*           system;
    const flx_reduced_model* model;
    const double*            inertia; // [n][3] of the frame
    double                   first, last, worst;
} descent;

static void watch_energy(void* user, int32_t frame, int32_t round, const double* q)
{
    descent*     d   = user;
    flx_context* ctx = d->system->ctx;
    double       energy;
    (void)frame;
    CHECK_OK(flx__secs_energy(d->system, d->model, d->inertia, q, &energy));
    if (round == 0) d->first = energy;
    if (round > 0) d->worst = fmax(d->worst, (energy - d->last) / fabs(d->first));
    d->last = energy;
}

static void check_descent(flx_reduction method, const char* id, uint32_t batches)
{
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, id, 15);
    flx_pd_system*        system  = bench.experiment->system;
    flx_reduction_options options = flx__reduction_options_default(method, 10);
    flx_reduced_model*    model   = NULL;
    flx_reduced_solver*   solver  = NULL;
    flx_pd_state          state;
    const flx_pd_drive    drive   = flx__experiment_drive(bench.experiment, FLX_RUN_UNSEEN);
    double*               inertia = malloc(3 * (size_t)system->n * sizeof *inertia);
    double*               q       = malloc(3 * (size_t)system->n * sizeof *q);
    options.batches               = batches;
    options.force                 = true; // a coarse C1 is below the bound: slack modes, yet no round raises the energy
    CHECK_OK(flx__trial_train(&bench, &options, &model));
    CHECK_OK(flx__reduced_solver_create(system, model, &solver));
    CHECK_OK(flx__experiment_start(bench.experiment, FLX_RUN_UNSEEN, &state));
    flx__reduced_start(solver, &state);
    flx__reduced_read(solver, &state); // the nearest in a subspace
    descent d = {.system = system, .model = model, .inertia = inertia};
    for (int frame = 0; frame < 12; ++frame)
    {
        flx__pd_predict(system, &drive, &state, inertia, q);
        CHECK_OK(flx__reduced_frame(solver, &drive, FLX_LAB_ROUNDS, watch_energy, &d));
        flx__reduced_read(solver, &state);
    }
    print_message("%s, %s: energy rose by %.2g at most\n", flx__reduction_name(method), id, d.worst);
    CHECK_BELOW(d.worst, 1e-10); // of the first round's energy: rounding

    free(inertia);
    free(q);
    flx__reduced_solver_destroy(solver);
    flx__pd_state_release(ctx, &state);
    close_all(ctx, &bench, model);
}

static void no_round_raises_the_energy_of_secs(void** state)
{
    (void)state;
    static const flx_reduction methods[] = {FLX_REDUCTION_SECS, FLX_REDUCTION_W_SECS};
    static const char* const   ids[]     = {"S2", "T2", "B2", "V2", "C1"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
        for (size_t k = 0; k < sizeof ids / sizeof *ids; ++k) check_descent(methods[i], ids[k], UINT32_MAX);
}

static void nor_with_one_batch_reduced_and_the_others_whole(void** state)
{
    (void)state;
    check_descent(FLX_REDUCTION_SECS, "C1", 1U << 1); // springs
}

// --- symmetry -------------------------------------------------------------------------------------------------------

typedef struct sheet
{
    flx_pd_system* system;
    flx_pd_state   state;
} sheet;

/// A free sheet of stiff springs that spins about `axis` with 2 rad/s, after a turn by `turn` about (1, 2, 3).
static sheet spinning_sheet(flx_context* ctx, const double axis[3], double turn)
{
    sheet                s     = {0};
    flx_lab_shape        shape = {0};
    flx_constraint_batch batch;
    int32_t              count = 0, *edge = NULL;
    const double         about[3] = {1 / sqrt(14.0), 2 / sqrt(14.0), 3 / sqrt(14.0)};
    double               R[9], stiff[1500];
    CHECK_OK(flx__lab_cloth(ctx, 15, &shape));
    CHECK_OK(flx__triangle_edges(ctx, shape.triangle_count, shape.triangle, &count, &edge));
    assert_true(count <= 1500);
    for (int32_t j = 0; j < count; ++j) stiff[j] = 1e6;
    CHECK_OK(flx__edge_springs(ctx, shape.x, count, edge, stiff, &batch));
    CHECK_OK(flx__pd_system_create(ctx, shape.n, shape.x, shape.mass, 1.0 / 60.0, 1, &batch, 0, NULL, 1e8, &s.system));
    CHECK_OK(flx__pd_state_create(s.system, &s.state));
    flx__axis_rotation(about, turn, R);
    for (int32_t v = 0; v < shape.n; ++v)
    {
        const double x[3] = {shape.x[3 * v] - 0.5, shape.x[3 * v + 1], shape.x[3 * v + 2] - 0.5};
        double       u[3];
        for (int d = 0; d < 3; ++d)
            u[d] = 2.0 * (axis[(d + 1) % 3] * x[(d + 2) % 3] - axis[(d + 2) % 3] * x[(d + 1) % 3]);
        for (int d = 0; d < 3; ++d)
        {
            s.state.q[3 * v + d] = R[3 * d] * x[0] + R[3 * d + 1] * x[1] + R[3 * d + 2] * x[2];
            s.state.v[3 * v + d] = R[3 * d] * u[0] + R[3 * d + 1] * u[1] + R[3 * d + 2] * u[2];
        }
    }
    flx__free(ctx, edge);
    flx__lab_shape_release(ctx, &shape);
    return s;
}

static void sheet_close(flx_context* ctx, sheet* s)
{
    flx__pd_state_release(ctx, &s->state);
    flx__pd_system_destroy(s->system);
}

#define SPIN_FRAMES 50

static flx_reduced_model* train_spin(flx_context* ctx, const double axis[3], flx_reduction method, flx_run_record* full)
{
    sheet                 s       = spinning_sheet(ctx, axis, 0.0);
    flx_reduced_model*    model   = NULL;
    flx_reduction_options options = flx__reduction_options_default(method, 10);
    options.force                 = true;
    CHECK_OK(flx__record_create(s.system, SPIN_FRAMES, full));
    CHECK_OK(flx__record_run(full, NULL, FLX_LAB_ROUNDS, &s.state));
    const flx_training training = {.frame_count = full->count, .q = full->q};
    CHECK_OK(flx__reduce_train(s.system, &training, &options, &model));
    flx__record_release(full);
    sheet_close(ctx, &s);
    return model;
}

/// Largest change of angular momentum from what the full order has at the same frame, relative to the start's.
static double momentum_error(flx_context* ctx, const double axis[3], const flx_reduced_model* model)
{
    sheet               full = spinning_sheet(ctx, axis, 0.0), reduced = spinning_sheet(ctx, axis, 0.0);
    flx_reduced_solver* solver = NULL;
    double              p[3], start[3], worst = 0.0;
    CHECK_OK(flx__reduced_solver_create(reduced.system, model, &solver));
    flx__reduced_start(solver, &reduced.state);
    flx__pd_momentum(full.system, &full.state, p, start);
    const double size = sqrt(start[0] * start[0] + start[1] * start[1] + start[2] * start[2]);
    for (int frame = 0; frame < SPIN_FRAMES; ++frame)
    {
        double a[3], b[3];
        CHECK_OK(flx__pd_frame(full.system, NULL, FLX_LAB_ROUNDS, &full.state, NULL, NULL));
        (void)flx__reduced_frame(solver, NULL, FLX_LAB_ROUNDS, NULL, NULL);
        flx__reduced_read(solver, &reduced.state);
        flx__pd_momentum(full.system, &full.state, p, a);
        flx__pd_momentum(reduced.system, &reduced.state, p, b);
        for (int d = 0; d < 3; ++d) worst = fmax(worst, fabs(a[d] - b[d]) / size);
        for (int d = 0; d < 3; ++d) CHECK_NEAR(p[d], 0.0, 1e-6 * size); // linear momentum is exact: S 1 = 0
    }
    flx__reduced_solver_destroy(solver);
    sheet_close(ctx, &full);
    sheet_close(ctx, &reduced);
    return worst;
}

static void a_free_spin_keeps_its_angular_momentum(void** state)
{
    (void)state;
    flx_context*   ctx     = test_context(1);
    const double   axis[3] = {0.6, 0.8, 0.0};
    flx_run_record full;
    for (int i = 0; i < 2; ++i)
    {
        const flx_reduction method = i == 0 ? FLX_REDUCTION_SECS : FLX_REDUCTION_W_SECS;
        flx_reduced_model*  model  = train_spin(ctx, axis, method, &full);
        const double        error  = momentum_error(ctx, axis, model);
        print_message("angular momentum, %s: %.2g\n", flx__reduction_name(method), error);
        CHECK_BELOW(error, 1e-4);
        flx__reduced_model_destroy(model);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

/// The basis is shared by the axes, so a turned start moves as the first one did, turned: to rounding, though no
/// training frame was ever near.
static void check_turned_start(flx_reduction method)
{
    flx_context*       ctx     = test_context(1);
    const double       axis[3] = {0.6, 0.8, 0.0}, about[3] = {1 / sqrt(14.0), 2 / sqrt(14.0), 3 / sqrt(14.0)};
    flx_run_record     full;
    flx_reduced_model* model = train_spin(ctx, axis, method, &full);
    sheet              s[2]  = {spinning_sheet(ctx, axis, 0.0), spinning_sheet(ctx, axis, 1.3)};
    double             R[9];
    flx__axis_rotation(about, 1.3, R);
    for (int i = 0; i < 2; ++i)
    {
        flx_reduced_solver* solver = NULL;
        CHECK_OK(flx__reduced_solver_create(s[i].system, model, &solver));
        flx__reduced_start(solver, &s[i].state);
        for (int frame = 0; frame < 30; ++frame) CHECK_OK(flx__reduced_frame(solver, NULL, FLX_LAB_ROUNDS, NULL, NULL));
        flx__reduced_read(solver, &s[i].state);
        flx__reduced_solver_destroy(solver);
    }
    for (int32_t v = 0; v < s[0].system->n; ++v)
        for (int d = 0; d < 3; ++d)
        {
            const double* x = s[0].state.q + 3 * v;
            CHECK_NEAR(s[1].state.q[3 * v + d], R[3 * d] * x[0] + R[3 * d + 1] * x[1] + R[3 * d + 2] * x[2], 1e-9);
        }
    for (int i = 0; i < 2; ++i) sheet_close(ctx, &s[i]);
    flx__reduced_model_destroy(model);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_turned_start_gives_the_turned_motion(void** state)
{
    (void)state;
    check_turned_start(FLX_REDUCTION_SECS);
    check_turned_start(FLX_REDUCTION_W_SECS);
}

// --- exactness -----------------------------------------------------------------------------------------------

/// With as many modes as rows, or as vertices, nothing is left out: also a load that was not trained on is exact.
static void full_rank_is_exact(void** state)
{
    (void)state;
    static const flx_reduction methods[] = {FLX_REDUCTION_SECS, FLX_REDUCTION_GPDS, FLX_REDUCTION_W,
                                            FLX_REDUCTION_W_SECS};
    flx_context*               ctx       = test_context(1);
    flx_trial_bench            bench     = open_bench(ctx, "S2", 6);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        flx_reduced_model* model = train(&bench, methods[i], 200, 200);
        const flx_trial    trial = try_run(&bench, model, FLX_RUN_UNSEEN);
        // W starts a frame with held vertices on their targets but for (m/h^2)/w_a = 4e-5
        print_message("full rank, %s: e %.2g\n", flx__reduction_name(methods[i]), trial.verdict.error);
        CHECK_BELOW(trial.verdict.error, flx__reduction_in_subspace(methods[i]) ? 1e-4 : 1e-7);
        flx__reduced_model_destroy(model);
    }
    close_all(ctx, &bench, NULL);
}

/// Whatever the basis, the body can be moved, turned and stretched as a whole.
static void subspaces_hold_every_affine_pose(void** state)
{
    (void)state;
    static const double map[12] = {0.9, 0.2, -0.3, 0.1, 1.2, 0.4, 0.3, -0.2, 0.8, 1.0, -2.0, 3.0};
    flx_context*        ctx     = test_context(1);
    flx_trial_bench     bench   = open_bench(ctx, "V2", 6);
    flx_pd_system*      system  = bench.experiment->system;
    for (int32_t handles = 0; handles <= 6; handles += 6)
    {
        flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_W, 10);
        flx_reduced_model*    model   = NULL;
        flx_reduced_solver*   solver  = NULL;
        flx_pd_state          pose, back;
        options.handles = handles;
        CHECK_OK(flx__trial_train(&bench, &options, &model));
        CHECK_OK(flx__reduced_solver_create(system, model, &solver));
        CHECK_OK(flx__pd_state_create(system, &pose));
        CHECK_OK(flx__pd_state_create(system, &back));
        for (int32_t v = 0; v < system->n; ++v)
            for (int d = 0; d < 3; ++d)
            {
                const double* x   = system->x_rest + 3 * v;
                pose.q[3 * v + d] = map[3 * d] * x[0] + map[3 * d + 1] * x[1] + map[3 * d + 2] * x[2] + map[9 + d];
            }
        flx__reduced_start(solver, &pose);
        flx__reduced_read(solver, &back);
        for (int32_t k = 0; k < 3 * system->n; ++k) CHECK_NEAR(back.q[k], pose.q[k], 1e-12);
        const flx_trial trial = try_run(&bench, model, FLX_RUN_UNSEEN);
        print_message("V2 in a subspace of %d: e %.2g\n", model->subspace, trial.verdict.error);
        assert_int_equal(model->subspace, handles > 0 ? 4 * handles : 10);
        CHECK_BELOW(trial.verdict.error, handles > 0 ? 0.2 : 0.02); // the motion is 0.26; six handles are stiff
        flx__pd_state_release(ctx, &pose);
        flx__pd_state_release(ctx, &back);
        flx__reduced_solver_destroy(solver);
        flx__reduced_model_destroy(model);
    }
    close_all(ctx, &bench, NULL);
}

// --- what works and what does not ----------------------------------------------------------------------------

static void secs_follows_what_it_was_trained_on_and_stays_sane_where_not(void** state)
{
    (void)state;
    static const struct
    {
        const char* id;
        double      train; // 15 x 15 wrinkles earlier than 30 x 30: limits are twice what was measured
    } cases[] = {{"S1", 8e-3}, {"S2", 5e-2}, {"T2", 1.3e-2}, {"T3", 4e-2}, {"B2", 1.6e-2}, {"V1", 6e-3}, {"V2", 2e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        flx_context*       ctx    = test_context(1);
        flx_trial_bench    bench  = open_bench(ctx, cases[i].id, 15);
        flx_reduced_model* model  = train(&bench, FLX_REDUCTION_SECS, 10, 50);
        const flx_trial    seen   = try_run(&bench, model, FLX_RUN_TRAIN);
        const flx_trial    unseen = try_run(&bench, model, FLX_RUN_UNSEEN);
        print_message("secs r = 10, m = 50: %-3s e %.2g, E %.3g; unseen e %.2g, E %.3g; least %.2g\n", cases[i].id,
                      seen.verdict.error, seen.verdict.energy, unseen.verdict.error, unseen.verdict.energy, seen.least);
        CHECK_BELOW(seen.verdict.error, cases[i].train);
        CHECK_BELOW(seen.verdict.energy, 1.6);
        CHECK_BELOW(unseen.verdict.energy, 1.6);
        assert_true(!unseen.verdict.exploded && !unseen.verdict.distorted);
        close_all(ctx, &bench, model);
    }
}

/// A poke elsewhere than any that was seen: 1.2e-2 from one run, 0.7e-2 from five.
static void more_runs_to_learn_from_help_with_a_load_not_seen(void** state)
{
    (void)state;
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, "T2", 15);
    flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_SECS, 40);
    flx_reduced_model *   one = train(&bench, FLX_REDUCTION_SECS, 40, 200), *all = NULL;
    options.elements = 200;
    CHECK_OK(flx__trial_train_on_all(&bench, &options, &all));
    CHECK_BELOW(try_run(&bench, all, FLX_RUN_UNSEEN).verdict.error,
                0.8 * try_run(&bench, one, FLX_RUN_UNSEEN).verdict.error);
    flx__reduced_model_destroy(one);
    close_all(ctx, &bench, all);
}

static void block_deim_amplifies_and_fails_where_whole_elements_do_not(void** state)
{
    (void)state;
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, "T2", 15);
    flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_BLOCK_DEIM, 10);
    flx_reduced_model*    model   = NULL;
    CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT); // the norm is beyond any use
    assert_null(model);
    assert_non_null(strstr(flx_context_error(ctx), "norm"));

    model                 = train(&bench, FLX_REDUCTION_BLOCK_DEIM, 10, 0);
    const flx_trial block = try_run(&bench, model, FLX_RUN_TRAIN);
    flx__reduced_model_destroy(model);
    model               = train(&bench, FLX_REDUCTION_GPD, 10, 20);
    const flx_trial gpd = try_run(&bench, model, FLX_RUN_TRAIN);
    print_message("T2, r = 10: block norm %.2g, e %.2g; gpd norm %.2g, e %.2g\n", block.norm, block.verdict.error,
                  gpd.norm, gpd.verdict.error);
    assert_true(block.norm > 1e3);
    assert_true(block.verdict.exploded || block.verdict.distorted);
    CHECK_BELOW(gpd.norm, 20.0);
    CHECK_BELOW(gpd.verdict.error, 1e-2);
    close_all(ctx, &bench, model);
}

/// Falling free, a sheet's projections differ by rounding only: there is one mode. Whoever keeps the rounding, as
/// published, has modes of noise, and inverses as large as 1/rounding.
static void rounding_is_no_mode_unless_asked_for(void** state)
{
    (void)state;
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, "B1", 15);
    flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_GPD, 10);
    flx_reduced_model *   clean = NULL, *noisy = NULL;
    CHECK_OK(flx__trial_train(&bench, &options, &clean));
    assert_int_equal(clean->modes, 1);
    CHECK_BELOW(try_run(&bench, clean, FLX_RUN_UNSEEN).verdict.error, 1e-11);
    options.method     = FLX_REDUCTION_BLOCK_DEIM;
    options.truncation = 0;
    options.force      = true;
    CHECK_OK(flx__trial_train(&bench, &options, &noisy));
    assert_int_equal(noisy->modes, 10);
    assert_true(noisy->batch[0].norm > 1e10);
    flx__reduced_model_destroy(noisy);
    close_all(ctx, &bench, clean);
}

static void too_few_elements_are_refused_unless_forced(void** state)
{
    (void)state;
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, "S2", 15);
    flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_SECS, 20);
    flx_reduced_model*    model   = NULL;
    options.elements              = 15; // springs have one row each: G cannot have rank 20
    CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT);
    assert_null(model);
    assert_non_null(strstr(flx_context_error(ctx), "eigenvalue"));
    options.force = true;
    CHECK_OK(flx__trial_train(&bench, &options, &model));
    CHECK_BELOW(model->batch[0].least, 0.03);
    close_all(ctx, &bench, model);
}

static void mistakes_are_refused(void** state)
{
    (void)state;
    flx_context*          ctx     = test_context(1);
    flx_trial_bench       bench   = open_bench(ctx, "B2", 6);
    flx_reduction_options options = flx__reduction_options_default(FLX_REDUCTION_SECS, 0);
    flx_reduced_model*    model   = NULL;
    CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT);
    options = flx__reduction_options_default(FLX_REDUCTION_COUNT, 4);
    CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT);
    options          = flx__reduction_options_default(FLX_REDUCTION_GPD, 4);
    options.elements = -1;
    CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT);
    static const struct
    {
        flx_reduction method;
        int32_t       subspace, handles;
        const char*   text;
    } wrong[] = {{FLX_REDUCTION_GPD, 10, 0, "keeps positions whole"},
                 {FLX_REDUCTION_W_SECS, 3, 0, "outside [4, 36]"},
                 {FLX_REDUCTION_W_SECS, 37, 0, "outside [4, 36]"},
                 {FLX_REDUCTION_W_GPD, -1, 0, "outside [4, 36]"},
                 {FLX_REDUCTION_W, 8, 2, "one of them"},
                 {FLX_REDUCTION_GPD, 0, 2, "keeps positions whole"},
                 {FLX_REDUCTION_W, 0, -1, "outside [1, 36]"},
                 {FLX_REDUCTION_W, 0, 37, "outside [1, 36]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
    {
        options          = flx__reduction_options_default(wrong[i].method, 4);
        options.subspace = wrong[i].subspace;
        options.handles  = wrong[i].handles;
        CHECK_FAILS(flx__trial_train(&bench, &options, &model), FLX_ERR_ARGUMENT);
        assert_non_null(strstr(flx_context_error(ctx), wrong[i].text));
    }
    close_all(ctx, &bench, NULL);
}

// --- modes r and a subspace k -------------------------------------------------------------------------------------

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

// --- what a round costs --------------------------------------------------------------------------------------

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

// --- files ---------------------------------------------------------------------------------------------------

static const char* scratch_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/flexor-test-model-%ld.h5", (long)getpid());
    return path;
}

static void a_model_comes_back_from_its_file_bit_for_bit(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    flx_trial_bench bench = open_bench(ctx, "C1", 8);
    const char*     path  = scratch_path();
    for (int method = 0; method < FLX_REDUCTION_COUNT; ++method)
    {
        flx_reduced_model *model = train(&bench, (flx_reduction)method, 6, 20), *back = NULL;
        CHECK_OK(flx__model_file_write(model, path, true));
        CHECK_OK(flx__model_file_read(ctx, path, bench.experiment->system, &back));
        const flx_trial a = try_run(&bench, model, FLX_RUN_TRAIN), b = try_run(&bench, back, FLX_RUN_TRAIN);
        assert_memory_equal(&a.verdict.error, &b.verdict.error, sizeof(double));
        assert_memory_equal(&a.norm, &b.norm, sizeof(double));
        assert_memory_equal(&a.least, &b.least, sizeof(double));
        assert_string_equal(back->batch[1].type, "spring");
        flx__reduced_model_destroy(model);
        flx__reduced_model_destroy(back);
    }
    unlink(path);
    close_all(ctx, &bench, NULL);
}

static void a_model_of_another_mesh_is_refused(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    flx_trial_bench     bench = open_bench(ctx, "S2", 8), other = open_bench(ctx, "S2", 9);
    flx_reduced_model * model = train(&bench, FLX_REDUCTION_SECS, 4, 20), *back = NULL;
    flx_reduced_solver* solver = NULL;
    const char*         path   = scratch_path();
    CHECK_OK(flx__model_file_write(model, path, false));
    CHECK_FAILS(flx__model_file_write(model, path, false), FLX_ERR_EXISTS);
    CHECK_FAILS(flx__model_file_read(ctx, path, other.experiment->system, &back), FLX_ERR_ARGUMENT);
    assert_null(back);
    assert_non_null(strstr(flx_context_error(ctx), "another system"));
    CHECK_FAILS(flx__reduced_solver_create(other.experiment->system, model, &solver), FLX_ERR_ARGUMENT);
    assert_null(solver);
    unlink(path);
    flx__trial_bench_release(ctx, &other);
    close_all(ctx, &bench, model);
}

static void a_damaged_file_is_refused(void** state)
{
    (void)state;
    flx_context*       ctx   = test_context(1);
    flx_trial_bench    bench = open_bench(ctx, "S2", 6);
    flx_reduced_model *model = train(&bench, FLX_REDUCTION_SECS, 4, 20), *back = NULL;
    const char*        path = scratch_path();
    struct stat        info;
    CHECK_OK(flx__model_file_write(model, path, true));
    assert_int_equal(stat(path, &info), 0);
    for (off_t keep = info.st_size - 1; keep > 1; keep -= 1 + info.st_size / 97)
    {
        assert_int_equal(truncate(path, keep), 0);
        CHECK_FAILS(flx__model_file_read(ctx, path, NULL, &back), FLX_ERR_FORMAT);
        assert_null(back);
    }
    unlink(path);
    CHECK_FAILS(flx__model_file_read(ctx, path, NULL, &back), FLX_ERR_IO);
    close_all(ctx, &bench, model);
}

// --- memory --------------------------------------------------------------------------------------------------

static flx_status everything(const flx_trial_bench* bench, flx_reduction method)
{
    flx_status            status  = FLX_OK;
    flx_reduction_options options = flx__reduction_options_default(method, 3);
    flx_reduced_model*    model   = NULL;
    flx_reduced_solver*   solver  = NULL;
    options.elements              = 8;
    options.force                 = true;
    FLX_TRY(flx__trial_train(bench, &options, &model));
    FLX_TRY(flx__reduced_solver_create(bench->experiment->system, model, &solver));
done:
    flx__reduced_solver_destroy(solver);
    flx__reduced_model_destroy(model);
    return status;
}

static void every_refused_allocation_is_reported_and_nothing_is_lost(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    flx_trial_bench bench = open_bench(ctx, "B2", 5);
    const int64_t   held  = flx_context_bytes_now(ctx);
    for (int method = 0; method < FLX_REDUCTION_COUNT; ++method)
        for (int64_t k = 0;; ++k)
        {
            flx_context_fail_allocation(ctx, k);
            const flx_status status = everything(&bench, (flx_reduction)method);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            if (status == FLX_OK) break;
            if (status != FLX_ERR_MEMORY)
                fail_msg("%s, allocation %lld: %s", flx__reduction_name((flx_reduction)method), (long long)k,
                         flx_context_error(ctx));
        }
    close_all(ctx, &bench, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_round_raises_the_energy_of_secs),
        cmocka_unit_test(nor_with_one_batch_reduced_and_the_others_whole),
        cmocka_unit_test(a_free_spin_keeps_its_angular_momentum),
        cmocka_unit_test(a_turned_start_gives_the_turned_motion),
        cmocka_unit_test(full_rank_is_exact),
        cmocka_unit_test(subspaces_hold_every_affine_pose),
        cmocka_unit_test(secs_follows_what_it_was_trained_on_and_stays_sane_where_not),
        cmocka_unit_test(more_runs_to_learn_from_help_with_a_load_not_seen),
        cmocka_unit_test(block_deim_amplifies_and_fails_where_whole_elements_do_not),
        cmocka_unit_test(rounding_is_no_mode_unless_asked_for),
        cmocka_unit_test(too_few_elements_are_refused_unless_forced),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(a_subspace_has_a_size_of_its_own),
        cmocka_unit_test(rounds_with_and_without_coordinates_agree),
        cmocka_unit_test(single_precision_is_near_double),
        cmocka_unit_test(an_action_is_part_of_its_round),
        cmocka_unit_test(a_free_fall_in_a_subspace_is_exact),
        cmocka_unit_test(a_round_costs_the_same_on_a_larger_mesh),
        cmocka_unit_test(a_subspace_touches_the_mesh_only_when_asked_for_it),
        cmocka_unit_test(forces_that_change_are_noticed),
        cmocka_unit_test(a_steady_force_is_asked_for_once),
        cmocka_unit_test(batches_are_reduced_one_at_a_time),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(a_model_comes_back_from_its_file_bit_for_bit),
        cmocka_unit_test(a_model_of_another_mesh_is_refused),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(every_refused_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
