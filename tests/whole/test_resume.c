// A run that is interrupted and resumed from its checkpoint file equals the straight run.
#include "solver/scenes.h"

static void resume_from_a_checkpoint_equals_the_straight_run_bit_for_bit(void** state)
{
    (void)state;
    for (int scene = 0; scene < SCENE_COUNT; ++scene)
        for (int mode = 0; mode < 2; ++mode)
        {
            const char* const sets[] = {mode ? "mode=dynamic" : "mode=quasistatic", "inner=2"};
            fixture           straight, resumed;
            flx_step_stats    stats;
            char              path[128];
            open_scene(&straight, scene, 2, 2, sets);
            fixture_steps(&straight, 5, &stats);
            assert_true(stats.active >= 3);
            snprintf(path, sizeof path, "%s/at5.checkpoint", straight.folder);
            flx_context* ctx = straight.ctx;
            CHECK_OK(flx_checkpoint_write(ctx, path, straight.state));
            const uint64_t at5 = flx_state_hash(straight.state);
            fixture_steps(&straight, 5, NULL);

            open_scene(&resumed, scene, 1, 2, sets); // everything anew, as another process would
            ctx = resumed.ctx;
            CHECK_OK(flx_checkpoint_read(ctx, path, resumed.state));
            assert_true(flx_state_hash(resumed.state) == at5);
            fixture_steps(&resumed, 5, NULL);
            assert_true(flx_state_hash(resumed.state) == flx_state_hash(straight.state));
            assert_true(flx_state_time(resumed.state) == flx_state_time(straight.state));
            fixture_end(&resumed);
            fixture_end(&straight);
        }
}

static void a_checkpoint_of_another_model_is_refused_and_the_state_kept(void** state)
{
    (void)state;
    fixture f, other;
    char    path[128];
    open_scene(&f, SCENE_PRESS, 1, 0, NULL);
    open_scene(&other, SCENE_PRESS, 1, 1, (const char* const[]){"bodies[0].material.density=1001"});
    fixture_steps(&f, 2, NULL);
    const uint64_t before = flx_state_hash(f.state);
    snprintf(path, sizeof path, "%s/other.checkpoint", f.folder);
    flx_context* ctx = other.ctx;
    CHECK_OK(flx_checkpoint_write(ctx, path, other.state));
    ctx = f.ctx;
    CHECK_FAILS(flx_checkpoint_read(ctx, path, f.state), FLX_ERR_FORMAT);
    assert_true(flx_state_hash(f.state) == before);
    fixture_end(&f);
    fixture_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_from_a_checkpoint_equals_the_straight_run_bit_for_bit),
        cmocka_unit_test(a_checkpoint_of_another_model_is_refused_and_the_state_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
