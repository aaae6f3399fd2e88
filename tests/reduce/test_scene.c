// Reduction of scenes, through the public interface.
#include "solver/fixture.h"

#include "reduce/judge.h"
#include "reduce/scene_system.h"
#include "reduce/snapshots.h"

#define TWIST                                                                                                          \
    "flexor: 1\ngravity: 9.81\n"                                                                                       \
    "bodies:\n"                                                                                                        \
    "  - {name: sheet, cloth: sheet.obj, material: {area_density: 200 g/m2},\n"                                        \
    "     constraints: [{strain: 100 N/m}, {bending: 50 uN m}]}\n"                                                     \
    "  - {name: bar, tets: bar.mesh, material: {young: 50 kPa, density: 1000 kg/m3}}\n"                                \
    "bones:\n"                                                                                                         \
    "  - {name: rod, capsule: {from: [0, 0, 0], to: [0, 0.8, 0], radius: 5 mm}}\n"                                     \
    "fix:\n"                                                                                                           \
    "  - {body: sheet, region: {box: {min: [-0.01, -1, -1], max: [0.01, 9, 9]}}, bone: rod}\n"                         \
    "  - {body: bar, region: {box: {min: [-0.01, -1, -1], max: [0.01, 9, 9]}}, bone: rod}\n"                           \
    "motion:\n"                                                                                                        \
    "  - {bone: rod, about: [0, 0, 0], axis: [0, 1, 0], keys: [{time: 0}, {time: 0.5 s, angle: 40}]}\n"                \
    "solver: {mode: dynamic, precision: double, substeps: 2, damping: 0.5}\n"                                          \
    "run: {frames: 15, fps: 30}\n"

static void open_twist(fixture* f, int override_count, const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_sheet(f, "sheet.obj", (const int[2]){8, 8}, (const double[3]){0, 0, 0}, 0.1);
    fixture_box(f, "bar.mesh", (const int[3]){6, 2, 2}, (const double[3]){0, 1, 0}, 0.1, 1, 0);
    fixture_open(f, TWIST, override_count, overrides);
}

/// Both minimise the same energy from the same start, one by increments and its own kernels, the other by plain rounds:
/// they agree round by round.
static void the_system_of_a_scene_is_what_the_solver_solves(void** state)
{
    (void)state;
    static const char* const many[] = {"outer=20"};
    fixture                  f;
    open_twist(&f, 1, many);
    flx_context*     ctx = f.ctx;
    flx_scene_system scene;
    flx_pd_state     s;
    CHECK_OK(flx__scene_system_create(ctx, f.model, &scene));
    CHECK_OK(flx__pd_state_create(scene.system, &s));
    const flx_pd_drive drive = flx__scene_system_drive(&scene);
    for (int step = 0; step < 4; ++step)
    {
        fixture_steps(&f, 1, NULL);
        CHECK_OK(flx__pd_frame(scene.system, &drive, 20, &s, NULL, NULL));
        for (int64_t k = 0; k < 3 * (int64_t)f.model->vertex_count; ++k) s.v[k] *= scene.keep;
        double worst = 0;
        for (int64_t k = 0; k < 3 * (int64_t)f.model->vertex_count; ++k)
            worst = fmax(worst, fabs(s.q[k] - f.state->x[k]));
        CHECK_BELOW(worst, 1e-9); // m; a stiffness range of 1e6 costs six digits
    }
    flx__pd_state_release(ctx, &s);
    flx__scene_system_release(&scene);
    fixture_end(&f);
}

static void a_scene_is_learnt_written_read_and_run(void** state)
{
    (void)state;
    fixture f;
    open_twist(&f, 0, NULL);
    flx_context*       ctx   = f.ctx;
    flx_reduction_desc desc  = flx_reduction_desc_default();
    flx_reduced_model *model = NULL, *back = NULL;
    flx_reduced*       reduced = NULL;
    char               path[128];
    desc.modes = 12;
    CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
    snprintf(path, sizeof path, "%s/model.h5", f.folder);
    CHECK_OK(flx_reduced_model_write(model, path, false));
    CHECK_OK(flx_reduced_model_read(ctx, path, &back));
    const flx_reduction_info info = flx_reduced_model_get_info(back);
    assert_string_equal(info.method, "secs");
    assert_int_equal(info.rounds, 20);
    assert_int_equal(info.batch_count, 4);
    print_message("error on the training run: %.2g\n", info.error);
    CHECK_BELOW(info.error, 1.5e-3); // twice what was measured
    assert_string_equal(flx_reduced_model_get_batch(back, 0).constraint, "tet_strain");
    assert_in_range(flx_reduced_model_get_batch(back, 1).elements, 12, 60); // at most five for each mode
    assert_string_equal(flx_reduced_model_get_batch(back, 3).constraint, "attachment");
    assert_int_equal(flx_reduced_model_get_batch(back, 3).modes, 0);

    CHECK_OK(flx_reduced_create(ctx, f.model, back, &reduced));
    const int64_t before = flx_context_allocation_count(ctx);
    for (int step = 0; step < 30; ++step) CHECK_OK(flx_reduced_step(reduced, f.state, NULL));
    assert_int_equal(flx_context_allocation_count(ctx), before); // no heap in a step
    assert_int_equal(flx_state_step_count(f.state), 30);
    CHECK_NEAR(flx_state_time(f.state), 0.5, 1e-12);
    flx_reduced_destroy(reduced);
    flx_reduced_model_destroy(model);
    flx_reduced_model_destroy(back);
    fixture_end(&f);
}

/// Attachments are linear: x0 holds them, and rounds stay as short as without any.
static void check_methods(const char* precision, size_t count, const char* const* methods)
{
    const char* const overrides[] = {precision};
    fixture           f;
    open_twist(&f, 1, overrides);
    flx_context* ctx = f.ctx;
    for (size_t i = 0; i < count; ++i)
    {
        flx_reduction_desc desc  = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        desc.method              = methods[i];
        desc.elements            = 80;
        desc.force               = true;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
        print_message("%s: %.2g\n", methods[i], flx_reduced_model_get_info(model).error);
        CHECK_BELOW(flx_reduced_model_get_info(model).error, 0.1); // the rod carries the end by 0.3 of the diagonal
        flx_reduced_model_destroy(model);
    }
    fixture_end(&f);
}

static void every_method_runs_a_scene_with_moving_attachments(void** state)
{
    (void)state;
    static const char* const all[]    = {"secs", "gpd", "gpds", "w", "w_ecsw", "w_mixed", "w_gpd", "w_secs"};
    static const char* const inside[] = {"w_ecsw", "w_gpd", "w_secs"}; // rounds of these are in the scene's precision
    check_methods("solver.precision=double", sizeof all / sizeof *all, all);
    check_methods("solver.precision=single", sizeof inside / sizeof *inside, inside);
}

static void a_reduced_model_of_another_scene_is_refused(void** state)
{
    (void)state;
    static const char* const stiffer[] = {"bodies[1].material.young=60 kPa"};
    fixture                  f, g;
    open_twist(&f, 0, NULL);
    open_twist(&g, 1, stiffer);
    flx_context*       ctx     = f.ctx;
    flx_reduced_model* model   = NULL;
    flx_reduced*       reduced = NULL;
    CHECK_OK(flx_reduced_model_train(ctx, f.model, NULL, NULL, NULL, &model));
    assert_int_equal(flx_reduced_create(g.ctx, g.model, model, &reduced), FLX_ERR_ARGUMENT);
    assert_null(reduced);
    assert_non_null(strstr(flx_context_error(g.ctx), "another system"));
    flx_reduced_model_destroy(model);
    fixture_end(&f);
    fixture_end(&g);
}

/// Largest distance between the engine's steps and the reduced ones from the same start, part of the box diagonal.
static double distance_to_engine(fixture* f, const flx_reduced_model* model, int steps)
{
    flx_scene_system scene;
    flx_context*     ctx     = f->ctx;
    flx_reduced*     reduced = NULL;
    flx_state*       state   = NULL;
    double           most    = 0;
    CHECK_OK(flx__scene_system_create(ctx, f->model, &scene));
    CHECK_OK(flx_reduced_create(ctx, f->model, model, &reduced));
    CHECK_OK(flx_state_create(ctx, f->model, &state));
    for (int step = 0; step < steps; ++step)
    {
        fixture_steps(f, 1, NULL);
        CHECK_OK(flx_reduced_step(reduced, state, NULL));
        most = fmax(most, flx__pose_distance(scene.system, state->x, f->state->x));
    }
    flx_state_destroy(state);
    flx_reduced_destroy(reduced);
    flx__scene_system_release(&scene);
    return most;
}

/// The air pushes by where the surface is and how fast it goes, in a reduced step as in the engine's.
static void wind_blows_as_in_the_engine(void** state)
{
    (void)state;
    static const char* const windy[]   = {"wind={velocity: [1, 2, 4], drag: 2}", "outer=20"};
    static const char* const still[]   = {"outer=20"};
    static const char* const methods[] = {"secs", "w"};
    fixture                  f, g;
    open_twist(&g, 1, still);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        open_twist(&f, 2, windy);
        flx_context*       ctx   = f.ctx;
        flx_reduction_desc desc  = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        desc.method              = methods[i];
        desc.modes               = 40;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
        const double error = distance_to_engine(&f, model, 30);
        print_message("%s: %.2g\n", methods[i], error);
        CHECK_NEAR(flx_reduced_model_get_info(model).error, error, 1e-12); // what is reported is against the engine
        CHECK_BELOW(error, 2e-3);
        flx_reduced_model_destroy(model);
        if (i == 0)
        {
            fixture_steps(&g, 30, NULL);
            double moved = 0;
            for (int64_t k = 0; k < 3 * (int64_t)f.model->vertex_count; ++k)
                moved = fmax(moved, fabs(f.state->x[k] - g.state->x[k]));
            print_message("wind moves a vertex by %.2g m\n", moved);
            assert_true(moved > 0.1);
        }
        fixture_end(&f);
    }
    fixture_end(&g);
}

static void snapshots_of_a_windy_scene_are_the_engines_steps(void** state)
{
    (void)state;
    static const char* const windy[] = {"wind.drag=2", "outer=5"};
    fixture                  f;
    open_twist(&f, 2, windy);
    flx_context*         ctx     = f.ctx;
    flx_snapshot_desc    desc    = flx_snapshot_desc_default();
    flx_scene_system     scene   = {0};
    flx_snapshots*       set     = NULL;
    flx_snapshot_options options = flx__snapshot_options_default("train");
    char                 stem[128], path[160];
    int32_t              files = 0;
    snprintf(stem, sizeof stem, "%s/s", f.folder);
    snprintf(path, sizeof path, "%s_0000.h5", stem);
    desc.rounds = 5, desc.frames = 3, desc.every = 2;
    CHECK_OK(flx_reduction_snapshots(ctx, f.model, &desc, stem, NULL, NULL, &files));
    assert_int_equal(files, 1);
    desc.frames = 100000000; // known before the run
    CHECK_FAILS(flx_reduction_snapshots(ctx, f.model, &desc, stem, NULL, NULL, NULL), FLX_ERR_EXISTS);
    desc.kind = "last";
    CHECK_FAILS(flx_reduction_snapshots(ctx, f.model, &desc, stem, NULL, NULL, NULL), FLX_ERR_UNSUPPORTED);

    CHECK_OK(flx__scene_system_create(ctx, f.model, &scene));
    CHECK_OK(flx__snapshots_create(scene.system, &options, &set));
    CHECK_OK(flx__snapshots_read(set, path));
    assert_int_equal(set->columns, 4); // steps 0, 2, 4 and 6
    fixture_steps(&f, 6, NULL);
    const int64_t length = 3 * (int64_t)f.model->vertex_count;
    assert_memory_equal(set->q + 3 * length, f.state->x, (size_t)length * sizeof(double));
    flx__snapshots_destroy(set);
    flx__scene_system_release(&scene);
    fixture_end(&f);
}

/// Fixes begin, end and are carried: in a subspace the part that holds is taken out of a small matrix and put back.
static void fixes_begin_and_end_as_in_the_engine(void** state)
{
    (void)state;
    static const char* const timed[]   = {"fix[0].from=0.1 s", "fix[1].until=0.25 s", "outer=20",
                                          "bodies[1].velocity=[0, 0, 0.5]", "motion[0].keys[1].angle=60"};
    static const char* const methods[] = {"w", "w_ecsw", "w_gpd", "w_secs"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        fixture f;
        open_twist(&f, 5, timed);
        flx_context*       ctx   = f.ctx;
        flx_reduction_desc desc  = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        desc.method              = methods[i];
        desc.modes               = 60;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
        const double error = distance_to_engine(&f, model, 30);
        print_message("%s: %.2g\n", methods[i], error);
        CHECK_NEAR(flx_reduced_model_get_info(model).error, error, 1e-12);
        CHECK_BELOW(error, i == 0 ? 1e-4 : 1e-2);
        flx_reduced_model_destroy(model);
        fixture_end(&f);
    }
}

/// Without inertia; steps begin by following the bones, or not.
static void quasistatic_scenes_are_learnt(void** state)
{
    (void)state;
    static const char* const still[] = {"solver.mode=quasistatic", "outer=20", "follow=none"};
    for (int with = 2; with <= 3; ++with)
    {
        fixture f;
        open_twist(&f, with, still);
        flx_context*       ctx   = f.ctx;
        flx_reduction_desc desc  = flx_reduction_desc_default();
        flx_reduced_model* model = NULL;
        desc.method              = "w";
        desc.modes               = 60;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
        const double error = distance_to_engine(&f, model, 15);
        print_message("quasi-static, %s: %.2g\n", with == 2 ? "following the rod" : "not", error);
        CHECK_BELOW(error, 1e-4);
        flx_reduced_model_destroy(model);
        desc.runs = 1; // nothing to push by
        CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_UNSUPPORTED);
        assert_non_null(strstr(flx_context_error(ctx), "velocities"));
        fixture_end(&f);
    }
}

/// What falls freely has few modes; those that single precision would add are rounding, and no elements hold them.
static void rounding_is_not_learnt(void** state)
{
    (void)state;
    static const char* const falls[] = {"fix[0].from=100 s", "fix[1].from=100 s", "solver.precision=single"};
    fixture                  f;
    open_twist(&f, 3, falls);
    flx_context*       ctx   = f.ctx;
    flx_reduction_desc desc  = flx_reduction_desc_default();
    flx_reduced_model* model = NULL;
    desc.method              = "w_secs";
    CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
    for (int32_t b = 0; b < 3; ++b) assert_in_range(flx_reduced_model_get_batch(model, b).modes, 1, 4);
    flx_reduced_model_destroy(model);
    fixture_end(&f);
}

/// A matrix that nothing holds any more is singular but for rounding, whose sign is chance.
static void what_nothing_holds_is_said(void** state)
{
    (void)state;
    static const char* const ends[] = {"solver.mode=quasistatic", "fix[0].until=0.25 s", "fix[1].until=0.25 s"};
    for (int32_t modes = 10; modes <= 40; modes += 10)
    {
        fixture f;
        open_twist(&f, 3, ends);
        flx_context*       ctx     = f.ctx;
        flx_reduction_desc desc    = flx_reduction_desc_default();
        flx_reduced_model* model   = NULL;
        flx_reduced*       reduced = NULL;
        desc.method                = "w";
        desc.modes                 = modes;
        desc.frames                = 5;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model));
        CHECK_OK(flx_reduced_create(ctx, f.model, model, &reduced));
        for (int step = 0; step < 7; ++step) CHECK_OK(flx_reduced_step(reduced, f.state, NULL));
        CHECK_FAILS(flx_reduced_step(reduced, f.state, NULL), FLX_ERR_UNHELD); // the 8th ends at 0.267 s
        flx_reduced_destroy(reduced);
        flx_reduced_model_destroy(model);
        fixture_end(&f);
    }
}

static void what_a_method_does_not_know_is_refused_by_name(void** state)
{
    (void)state;
    static const struct
    {
        const char *set, *says;
    } cases[] = {{"solver.mode=quasistatic", "quasi-static"}, {"fix[0].until=1 s", "fixes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        fixture f;
        open_twist(&f, 1, &cases[i].set);
        flx_context*       ctx   = f.ctx;
        flx_reduced_model* model = NULL;
        CHECK_FAILS(flx_reduced_model_train(ctx, f.model, NULL, NULL, NULL, &model), FLX_ERR_UNSUPPORTED);
        assert_null(model);
        assert_non_null(strstr(flx_context_error(ctx), cases[i].says));
        assert_non_null(strstr(flx_context_error(ctx), "w_secs")); // the way out
        fixture_end(&f);
    }
}

static bool note_last_varied(void* user, const char* what, double done)
{
    if (strstr(what, "varied") && done == 1.0) snprintf(user, 64, "%s", what);
    return true;
}

/// Pushed in the rounds of system.h and, where there is wind, in the engine's steps; either is one more thing to hold,
/// so the scene's own run is followed within 1 %, not as well as by a model of nothing else.
static void varied_runs_are_learnt_from_too(void** state)
{
    (void)state;
    static const char* const windy[] = {"wind={velocity: [1, 2, 4], drag: 2}"};
    for (int wind = 0; wind < 2; ++wind)
    {
        fixture f;
        open_twist(&f, wind, windy);
        flx_context*       ctx  = f.ctx;
        flx_reduction_desc desc = flx_reduction_desc_default();
        flx_reduced_model *own = NULL, *model = NULL, *back = NULL;
        char               said[64] = "", path[128];
        desc.modes                  = 30;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, note_last_varied, said, &own));
        assert_string_equal(said, "");
        desc.runs = 2;
        CHECK_OK(flx_reduced_model_train(ctx, f.model, &desc, note_last_varied, said, &model));
        assert_string_equal(said, "varied run 2 of 2");
        snprintf(path, sizeof path, "%s/model.h5", f.folder);
        CHECK_OK(flx_reduced_model_write(model, path, false));
        CHECK_OK(flx_reduced_model_read(ctx, path, &back));
        assert_int_equal(flx_reduced_model_get_info(own).runs, 0);
        assert_int_equal(flx_reduced_model_get_info(back).runs, 2);
        print_message("own run alone: %.2g, with two varied: %.2g\n", flx_reduced_model_get_info(own).error,
                      flx_reduced_model_get_info(back).error);
        assert_true(flx_reduced_model_get_info(back).error != flx_reduced_model_get_info(own).error);
        CHECK_BELOW(flx_reduced_model_get_info(back).error, 1e-2);
        flx_reduced_model_destroy(own);
        flx_reduced_model_destroy(model);
        flx_reduced_model_destroy(back);
        fixture_end(&f);
    }
}

static bool stop_in_varied(void* user, const char* what, double done)
{
    (void)user;
    return !strstr(what, "varied") || done < 0.4;
}

static bool stop_soon(void* user, const char* what, double done)
{
    (void)user, (void)what;
    return done < 0.4;
}

static void training_can_be_cancelled_and_checks_its_description(void** state)
{
    (void)state;
    fixture f;
    open_twist(&f, 0, NULL);
    flx_context*       ctx   = f.ctx;
    flx_reduction_desc desc  = flx_reduction_desc_default();
    flx_reduced_model* model = NULL;
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, stop_soon, NULL, &model), FLX_ERR_CANCELLED);
    desc.method = "magic";
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    desc      = flx_reduction_desc_default();
    desc.runs = 1;
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, stop_in_varied, NULL, &model), FLX_ERR_CANCELLED);
    desc.runs = -1;
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    desc.runs = 101;
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    desc        = flx_reduction_desc_default();
    desc.rounds = 0;
    CHECK_FAILS(flx_reduced_model_train(ctx, f.model, &desc, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    assert_null(model);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_of_a_scene_is_what_the_solver_solves),
        cmocka_unit_test(a_scene_is_learnt_written_read_and_run),
        cmocka_unit_test(every_method_runs_a_scene_with_moving_attachments),
        cmocka_unit_test(a_reduced_model_of_another_scene_is_refused),
        cmocka_unit_test(wind_blows_as_in_the_engine),
        cmocka_unit_test(snapshots_of_a_windy_scene_are_the_engines_steps),
        cmocka_unit_test(fixes_begin_and_end_as_in_the_engine),
        cmocka_unit_test(quasistatic_scenes_are_learnt),
        cmocka_unit_test(varied_runs_are_learnt_from_too),
        cmocka_unit_test(rounding_is_not_learnt),
        cmocka_unit_test(what_nothing_holds_is_said),
        cmocka_unit_test(what_a_method_does_not_know_is_refused_by_name),
        cmocka_unit_test(training_can_be_cancelled_and_checks_its_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
