// Anderson acceleration: the same answers sooner, with an energy that never rises and bits that depend on nothing.
#include "solver/scenes.h"

static const char* const modes[]      = {"mode=quasistatic", "mode=dynamic"};
static const char* const precisions[] = {"precision=single", "precision=double"};

// bends by half its length: where plain iterations are slow and mixing them carelessly overshoots
static const char beam_yaml[] =
    "flexor: 1\n"
    "gravity: 9.81\n"
    "bodies: [{name: beam, tets: beam.mesh, material: {young: 200 kPa, density: 1000 kg/m3}}]\n"
    "fix: {body: beam, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
    "run: {frames: 10, fps: 30}\n";

static void open_beam(fixture* f, int override_count, const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_box(f, "beam.mesh", (const int[3]){20, 4, 4}, (const double[3]){0, -0.05, -0.05}, 0.025, 1, 0);
    fixture_open(f, beam_yaml, override_count, overrides);
}

/// The energy where the `outer`-th iteration of a step from rest begins.
static double energy_at(fixture* f, const flx_state* start, int outer)
{
    flx_step_stats stats;
    f->solver->settings.outer = outer;
    flx_state_copy(f->state, start);
    fixture_steps(f, 1, &stats);
    return stats.energy;
}

static void without_contacts_the_energy_never_rises(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
        for (int precision = 0; precision < 2; ++precision)
            for (int history = 1; history <= 8; history += 7)
            {
                const char* const sets[] = {modes[mode], precisions[precision], "acceleration=anderson",
                                            history == 1 ? "history=1" : "history=8"};
                fixture           f;
                flx_state*        start = NULL;
                open_beam(&f, 4, sets);
                flx_context* ctx = f.ctx;
                CHECK_OK(flx_state_create(ctx, f.model, &start));
                double before = energy_at(&f, start, 1);
                for (int outer = 2; outer <= 60; ++outer)
                {
                    const double now = energy_at(&f, start, outer);
                    // sums of single-precision element energies are good to 1e-7 of their size
                    if (!(now <= before + (precision ? 1e-12 : 1e-7) * fabs(before)))
                        fail_msg("%s, %s, history %d: energy %.17g J after %.17g J at iteration %d", modes[mode],
                                 precisions[precision], history, now, before, outer);
                    before = now;
                }
                flx_state_destroy(start);
                fixture_end(&f);
            }
}

/// Iterations of one step until no vertex moves more than 1e-12 m in one.
static int32_t settle(fixture* f)
{
    flx_step_stats stats;
    f->solver->settings.outer     = 10000;
    f->solver->settings.tolerance = 1e-12;
    fixture_steps(f, 1, &stats);
    assert_true(stats.motion <= 1e-12);
    return stats.outer;
}

static void same_equilibrium(fixture* plain, fixture* mixed, int fewer)
{
    const int32_t values = 3 * plain->model->vertex_count, slow = settle(plain), fast = settle(mixed);
    for (int32_t i = 0; i < values; ++i) CHECK_NEAR(mixed->state->x[i], plain->state->x[i], 1e-9);
    if (!(fast * fewer < slow)) fail_msg("%d iterations accelerated, %d plain: not %d times fewer", fast, slow, fewer);
    fixture_end(plain);
    fixture_end(mixed);
}

static void the_equilibrium_of_a_bent_beam_is_the_same_in_a_fifth_of_the_iterations(void** state)
{
    (void)state;
    const char* const sets[] = {"precision=double", "acceleration=anderson"};
    fixture           plain, mixed;
    open_beam(&plain, 1, sets);
    open_beam(&mixed, 2, sets);
    same_equilibrium(&plain, &mixed, 5);
}

static void the_equilibrium_in_contact_is_the_same(void** state)
{
    (void)state;
    const char* const sets[]  = {"precision=double", "inner=3", "acceleration=anderson"};
    const int         scene[] = {SCENE_PRESS, SCENE_LIMB};
    for (int k = 0; k < 2; ++k)
    {
        fixture plain, mixed;
        open_scene(&plain, scene[k], 2, 2, sets);
        open_scene(&mixed, scene[k], 2, 3, sets);
        fixture_steps(&plain, 6, NULL);
        flx_state_copy(mixed.state, plain.state);
        same_equilibrium(&plain, &mixed, 1);
    }
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
        for (int mode = 0; mode < 2; ++mode)
            for (int precision = 0; precision < 2; ++precision)
            {
                const char* const sets[] = {modes[mode], precisions[precision], "outer=6", "acceleration=anderson"};
                uint64_t          hash[3];
                for (int32_t workers = 1; workers <= 3; ++workers)
                {
                    fixture        f;
                    flx_step_stats stats;
                    open_scene(&f, scene, workers, 4, sets);
                    fixture_steps(&f, 8, &stats);
                    assert_true(stats.active >= 3);
                    hash[workers - 1] = flx_state_hash(f.state);
                    fixture_end(&f);
                }
                if (hash[1] != hash[0] || hash[2] != hash[0])
                    fail_msg("%s, %s, %s: the number of workers shows", test_scenes[scene].name, modes[mode],
                             precisions[precision]);
            }
}

static void nothing_outlives_a_step(void** state)
{
    (void)state;
    // a fresh solver goes on from a copied state with the bits of the one that made it, and no step allocates
    const char* const sets[] = {"outer=6", "acceleration=anderson"};
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
    {
        fixture straight, resumed;
        open_scene(&straight, scene, 2, 2, sets);
        open_scene(&resumed, scene, 2, 2, sets);
        const int64_t count = flx_context_allocation_count(straight.ctx);
        fixture_steps(&straight, 5, NULL);
        memcpy(resumed.state->block, straight.state->block, (size_t)straight.state->bytes);
        fixture_steps(&straight, 3, NULL);
        fixture_steps(&resumed, 3, NULL);
        assert_true(flx_state_hash(straight.state) == flx_state_hash(resumed.state));
        assert_true(flx_context_allocation_count(straight.ctx) == count);
        fixture_end(&straight);
        fixture_end(&resumed);
    }
}

static void two_iterations_are_left_as_they_are(void** state)
{
    (void)state;
    for (int outer = 2; outer <= 3; ++outer)
    {
        const char* const sets[] = {outer == 2 ? "outer=2" : "outer=3", "acceleration=anderson"};
        fixture           plain, mixed;
        open_scene(&plain, SCENE_PRESS, 2, 1, sets);
        open_scene(&mixed, SCENE_PRESS, 2, 2, sets);
        fixture_steps(&plain, 4, NULL);
        fixture_steps(&mixed, 4, NULL);
        assert_int_equal(flx_state_hash(plain.state) == flx_state_hash(mixed.state), outer == 2);
        fixture_end(&plain);
        fixture_end(&mixed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_contacts_the_energy_never_rises),
        cmocka_unit_test(the_equilibrium_of_a_bent_beam_is_the_same_in_a_fifth_of_the_iterations),
        cmocka_unit_test(the_equilibrium_in_contact_is_the_same),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(nothing_outlives_a_step),
        cmocka_unit_test(two_iterations_are_left_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
