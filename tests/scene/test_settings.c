// The solver's settings: one table for defaults, ranges and words.
#include "test.h"

#include "flexor/scene.h"

static void defaults_are_within_their_ranges(void** state)
{
    (void)state;
    flx_context*       ctx = test_context(1);
    const flx_settings s   = flx_settings_default();
    CHECK_OK(flx_settings_check(ctx, &s));
    assert_int_equal(s.struct_size, sizeof s);
    assert_true(s.outer == 1 && s.inner == 1 && s.substeps == 1 && s.mode == FLX_MODE_QUASISTATIC);
    flx_context_destroy(ctx);
}

static void settings_are_set_by_name_from_text(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_settings s   = flx_settings_default();
    CHECK_OK(flx_settings_set(ctx, &s, "outer", "5"));
    CHECK_OK(flx_settings_set(ctx, &s, "pcg_iterations", "2 k"));
    CHECK_OK(flx_settings_set(ctx, &s, "damping", "0.5 1/s"));
    CHECK_OK(flx_settings_set(ctx, &s, "tolerance", "1 um"));
    CHECK_OK(flx_settings_set(ctx, &s, "mode", "dynamic"));
    CHECK_OK(flx_settings_set(ctx, &s, "strategy", "pcg"));
    CHECK_OK(flx_settings_set(ctx, &s, "precision", "double"));
    assert_true(s.outer == 5 && s.pcg_iterations == 2000 && s.damping == 0.5 && s.tolerance == 1e-6);
    assert_true(s.mode == FLX_MODE_DYNAMIC && s.strategy == FLX_STRATEGY_PCG && s.precision == FLX_PRECISION_DOUBLE);
    flx_context_destroy(ctx);
}

static void refused(const char* name, const char* value, const char* message)
{
    flx_context*       ctx    = test_context(1);
    const flx_settings before = flx_settings_default();
    flx_settings       s      = before;
    CHECK_FAILS(flx_settings_set(ctx, &s, name, value), FLX_ERR_SETTING);
    assert_string_equal(flx_context_error(ctx), message);
    assert_memory_equal(&s, &before, sizeof s);
    flx_context_destroy(ctx);
}

static void wrong_settings_are_refused_and_change_nothing(void** state)
{
    (void)state;
    refused("outer", "0", "solver.outer is 0; allowed is 1 to 10000");
    refused("outer", "10001", "solver.outer is 10001; allowed is 1 to 10000");
    refused("outer", "2.5", "solver.outer is 2.5; wanted is a whole number");
    refused("outer", "many", "solver.outer is 'many', which is not a number");
    refused("damping", "nan", "solver.damping is 'nan'; wanted is a finite number");
    refused("damping", "-1", "solver.damping is -1; allowed is 0 to 1000000 1/s");
    refused("mode", "static", "solver.mode is 'static'; allowed is quasistatic or dynamic");
    refused("oter", "3", "unknown setting 'oter'; did you mean 'outer'?");
    refused("zebra", "3", "unknown setting 'zebra'");
    refused("dt", "3",
            "unknown setting 'dt': the time step is 1 / (fps x substeps); set run.fps (above 0) and "
            "solver.substeps (1 to 1000)");
}

static void checking_finds_what_a_program_wrote_into_the_struct(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_settings s   = flx_settings_default();
    s.inner          = -3;
    CHECK_FAILS(flx_settings_check(ctx, &s), FLX_ERR_SETTING);
    assert_string_equal(flx_context_error(ctx), "solver.inner is -3; allowed is 1 to 1000");
    s         = flx_settings_default();
    s.damping = NAN;
    CHECK_FAILS(flx_settings_check(ctx, &s), FLX_ERR_SETTING);
    s           = flx_settings_default();
    s.tolerance = INFINITY;
    CHECK_FAILS(flx_settings_check(ctx, &s), FLX_ERR_SETTING);
    s          = flx_settings_default();
    s.strategy = (flx_strategy)4;
    CHECK_FAILS(flx_settings_check(ctx, &s), FLX_ERR_SETTING);
    assert_string_equal(flx_context_error(ctx), "solver.strategy is 4; allowed is compliance|refactor|full|pcg");
    s             = flx_settings_default();
    s.struct_size = 8;
    CHECK_FAILS(flx_settings_check(ctx, &s), FLX_ERR_ARGUMENT);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_within_their_ranges),
        cmocka_unit_test(settings_are_set_by_name_from_text),
        cmocka_unit_test(wrong_settings_are_refused_and_change_nothing),
        cmocka_unit_test(checking_finds_what_a_program_wrote_into_the_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
