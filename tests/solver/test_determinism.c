// The same bits: for any number of workers, after a resume, after a reset.
#include "solver/scenes.h"

static const char* const modes[]      = {"mode=quasistatic", "mode=dynamic"};
static const char* const precisions[] = {"precision=single", "precision=double"};

/// Steps a scene; contacts must be at work at the end, or nothing was shown.
static uint64_t run_hash(int scene, int32_t workers, int override_count, const char* const* overrides, int steps)
{
    fixture        f;
    flx_step_stats stats;
    open_scene(&f, scene, workers, override_count, overrides);
    fixture_steps(&f, steps, &stats);
    assert_true(stats.active >= 3);
    const uint64_t hash = flx_state_hash(f.state);
    fixture_end(&f);
    return hash;
}

static void same_for_workers(int scene, int steps)
{
    static const int32_t workers[] = {1, 2, 3, 8};
    for (int mode = 0; mode < 2; ++mode)
        for (int precision = 0; precision < 2; ++precision)
        {
            const char* const sets[] = {modes[mode], precisions[precision], "outer=2", "inner=2"};
            uint64_t          first  = 0;
            for (int i = 0; i < 4; ++i)
            {
                const uint64_t hash = run_hash(scene, workers[i], 4, sets, steps);
                if (i == 0) first = hash;
                if (hash != first)
                    fail_msg("%s, %s, %s: %d workers give another result than 1", test_scenes[scene].name, modes[mode],
                             precisions[precision], workers[i]);
            }
        }
}

static void same_bits_for_any_number_of_workers_with_self_contact(void** state)
{
    (void)state;
    same_for_workers(SCENE_PAIR, 8);
}

static void same_bits_for_any_number_of_workers_with_a_moving_obstacle(void** state)
{
    (void)state;
    same_for_workers(SCENE_PRESS, 8);
}

static void same_bits_for_any_number_of_workers_in_a_lattice(void** state)
{
    (void)state;
    same_for_workers(SCENE_BALL, 8);
}

static void same_bits_for_any_number_of_workers_with_bones(void** state)
{
    (void)state;
    same_for_workers(SCENE_LIMB, 8);
}

static void same_bits_for_any_number_of_workers_in_cloth_that_touches_itself(void** state)
{
    (void)state;
    same_for_workers(SCENE_LAYERS, 8);
}

static void same_bits_for_any_number_of_workers_with_contact_everywhere(void** state)
{
    (void)state;
    same_for_workers(SCENE_SHEET, 8);
}

static void same_bits_for_any_number_of_workers_with_the_papers_strategies(void** state)
{
    (void)state;
    static const char* const strategies[] = {"strategy=compliance", "strategy=refactor", "strategy=full",
                                             "strategy=pcg"};
    for (int i = 0; i < 4; ++i)
    {
        const char* const sets[] = {"contact[0].law=spring", strategies[i]};
        const uint64_t    one    = run_hash(SCENE_PRESS, 1, 2, sets, 4);
        if (run_hash(SCENE_PRESS, 3, 2, sets, 4) != one)
            fail_msg("%s: 3 workers give another result than 1", strategies[i]);
    }
}

static void resume_equals_the_straight_run_bit_for_bit(void** state)
{
    (void)state;
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
        for (int mode = 0; mode < 2; ++mode)
            for (int precision = 0; precision < 2; ++precision)
            {
                const char* const sets[] = {modes[mode], precisions[precision]};
                fixture           straight, resumed;
                flx_step_stats    stats;
                open_scene(&straight, scene, 2, 2, sets);
                open_scene(&resumed, scene, 1, 2, sets);
                fixture_steps(&straight, 6, &stats);
                assert_true(stats.active >= 3);
                const int64_t bytes = flx_state_bytes(straight.state);
                void*         block = malloc((size_t)bytes);
                flx_state_write(straight.state, block);
                flx_context* ctx = resumed.ctx;
                CHECK_OK(flx_state_read(ctx, resumed.state, block, bytes));
                free(block);
                assert_true(flx_state_hash(resumed.state) == flx_state_hash(straight.state));
                assert_int_equal(flx_state_step_count(resumed.state), 6);
                for (int k = 0; k < 6; ++k)
                {
                    fixture_steps(&straight, 1, NULL);
                    fixture_steps(&resumed, 1, NULL);
                    if (flx_state_hash(resumed.state) != flx_state_hash(straight.state))
                        fail_msg("%s, %s, %s: step %d after the resume differs", test_scenes[scene].name, modes[mode],
                                 precisions[precision], k + 1);
                }
                fixture_end(&straight);
                fixture_end(&resumed);
            }
}

static void a_reset_scene_gives_equal_bits(void** state)
{
    (void)state;
    // case 38: the solver keeps nothing of the run before
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
    {
        fixture    f;
        flx_state* start = NULL;
        open_scene(&f, scene, 2, 1, (const char* const[]){"mode=dynamic"});
        flx_context* ctx = f.ctx;
        CHECK_OK(flx_state_create(ctx, f.model, &start));
        fixture_steps(&f, 10, NULL);
        const uint64_t first = flx_state_hash(f.state);
        for (int k = 0; k < 3; ++k)
        {
            flx_state_copy(f.state, start);
            assert_true(flx_state_time(f.state) == 0);
            fixture_steps(&f, 10, NULL);
            assert_true(flx_state_hash(f.state) == first);
        }
        flx_state_destroy(start);
        fixture_end(&f);
    }
}

static void a_state_of_another_model_is_refused(void** state)
{
    (void)state;
    fixture f, other;
    open_scene(&f, SCENE_PRESS, 1, 0, NULL);
    open_scene(&other, SCENE_PRESS, 1, 1, (const char* const[]){"bodies[0].material.young=21 kPa"});
    fixture_steps(&other, 2, NULL);
    const int64_t bytes = flx_state_bytes(other.state);
    char*         block = malloc((size_t)bytes);
    flx_state_write(other.state, block);
    const uint64_t before = flx_state_hash(f.state);
    flx_context*   ctx    = f.ctx;
    CHECK_FAILS(flx_state_read(ctx, f.state, block, bytes), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "another model"));
    assert_true(flx_state_hash(f.state) == before);
    // cut off at any length, and with a wrong head
    ctx = other.ctx;
    for (int64_t cut = 0; cut < bytes; cut += cut < 64 ? 1 : 997)
        CHECK_FAILS(flx_state_read(ctx, other.state, block, cut), FLX_ERR_FORMAT);
    block[0] ^= 1;
    CHECK_FAILS(flx_state_read(ctx, other.state, block, bytes), FLX_ERR_FORMAT);
    free(block);
    fixture_end(&f);
    fixture_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_number_of_workers_with_self_contact),
        cmocka_unit_test(same_bits_for_any_number_of_workers_with_a_moving_obstacle),
        cmocka_unit_test(same_bits_for_any_number_of_workers_in_a_lattice),
        cmocka_unit_test(same_bits_for_any_number_of_workers_with_bones),
        cmocka_unit_test(same_bits_for_any_number_of_workers_in_cloth_that_touches_itself),
        cmocka_unit_test(same_bits_for_any_number_of_workers_with_contact_everywhere),
        cmocka_unit_test(same_bits_for_any_number_of_workers_with_the_papers_strategies),
        cmocka_unit_test(resume_equals_the_straight_run_bit_for_bit),
        cmocka_unit_test(a_reset_scene_gives_equal_bits),
        cmocka_unit_test(a_state_of_another_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
