// All ways to solve one step agree.
#include "fixture.h"

// Two blocks, one pressed into a ball from above: springs in all directions, a region at the bottom.
static const char press_yaml[] = "flexor: 1\n"
                                 "gravity: 9.81\n"
                                 "bodies:\n"
                                 "  - {name: block, tets: block.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}\n"
                                 "fix: {body: block, region: {box: {min: [-1, -1, 0.199], max: [1, 1, 1]}}}\n"
                                 "obstacles: [{name: ball, sphere: {center: [0.1, 0.1, -0.08], radius: 0.1}}]\n"
                                 "contact: [{body: block, obstacle: ball, region: {box: {min: [-1, -1, -1], max: [1, "
                                 "1, 0.001]}}, law: spring, stiffness: 1000}]\n"
                                 "run: {frames: 10, fps: 30}\n";

static void open_press(fixture* f, int override_count, const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_box(f, "block.mesh", (const int[3]){6, 6, 6}, (const double[3]){0, 0, 0}, 0.2 / 6, 1, 0);
    fixture_open(f, press_yaml, override_count, overrides);
}

static void run(int override_count, const char* const* overrides, int steps, double* x, flx_step_stats* stats)
{
    fixture f;
    open_press(&f, override_count, overrides);
    fixture_steps(&f, steps, stats);
    flx_state_positions(f.state, x);
    fixture_end(&f);
}

enum
{
    VERTICES = 7 * 7 * 7
};

static double difference(const double* a, const double* b)
{
    double worst = 0;
    for (int i = 0; i < 3 * VERTICES; ++i) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static void one_iteration_of_compliance_refactor_and_full_are_equal(void** state)
{
    (void)state;
    static double  compliance[3 * VERTICES], other[3 * VERTICES], rest[3 * VERTICES];
    flx_step_stats stats;
    for (int precision = 0; precision < 2; ++precision)
    {
        // relative to the motion: rounding times the condition of Sigma
        const double      tolerance = precision ? 1e-9 : 1e-4;
        const char* const p         = precision ? "precision=double" : "precision=single";
        for (int steps = 1; steps <= 4; ++steps)
        {
            run(2, (const char* const[]){p, "strategy=compliance"}, steps, compliance, &stats);
            assert_true(stats.active > 5);
            assert_true(stats.contact_force[2] > 0);
            run(2, (const char* const[]){p, "strategy=refactor"}, steps, other, &stats);
            run(2, (const char* const[]){p, "strategy=compliance"}, 0, rest, NULL);
            const double motion = difference(compliance, rest);
            assert_true(motion > 1e-3);
            CHECK_BELOW(difference(compliance, other), tolerance * motion);
            run(2, (const char* const[]){"precision=double", "strategy=full"}, steps, other, &stats);
            CHECK_BELOW(difference(compliance, other), tolerance * motion);
        }
    }
}

static void conjugate_gradients_reach_the_exact_answer(void** state)
{
    (void)state;
    static double a[3 * VERTICES], b[3 * VERTICES];
    run(2, (const char* const[]){"precision=double", "strategy=full"}, 3, a, NULL);
    run(4, (const char* const[]){"precision=double", "strategy=pcg", "pcg_tolerance=1e-11", "pcg_iterations=2000"}, 3,
        b, NULL);
    CHECK_BELOW(difference(a, b), 1e-9); // m, of a block of 0.2 m: the tolerance asked for
}

static void an_empty_region_gives_plain_projective_dynamics(void** state)
{
    (void)state;
    static double a[3 * VERTICES], b[3 * VERTICES];
    // the region is there, the ball is far away: nested iterations with nothing to do
    run(4, (const char* const[]){"precision=double", "outer=3", "inner=1", "obstacles[0].sphere.center=[0.1, 0.1, -5]"},
        3, a, NULL);
    run(4,
        (const char* const[]){"precision=double", "outer=3", "strategy=full",
                              "obstacles[0].sphere.center=[0.1, 0.1, -5]"},
        3, b, NULL);
    CHECK_BELOW(difference(a, b), 1e-13); // m: the same arithmetic up to rounding
}

static void more_inner_iterations_bring_the_region_nearer_to_its_equilibrium(void** state)
{
    (void)state;
    static double far[3 * VERTICES], one[3 * VERTICES], five[3 * VERTICES];
    run(3, (const char* const[]){"precision=double", "outer=400", "contact[0].law=unilateral"}, 1, far, NULL);
    run(4, (const char* const[]){"precision=double", "outer=2", "inner=1", "contact[0].law=unilateral"}, 1, one, NULL);
    run(4, (const char* const[]){"precision=double", "outer=2", "inner=5", "contact[0].law=unilateral"}, 1, five, NULL);
    assert_true(difference(five, far) < difference(one, far));
}

static void strategies_that_know_springs_only_refuse_other_laws(void** state)
{
    (void)state;
    static const char* const names[] = {"strategy=refactor", "strategy=full", "strategy=pcg"};
    for (int i = 0; i < 3; ++i)
    {
        fixture f;
        fixture_start(&f, 1);
        fixture_box(&f, "block.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
        const flx_status status =
            fixture_try_open(&f, press_yaml, 2, (const char* const[]){names[i], "contact[0].law=unilateral"});
        assert_int_equal(status, FLX_ERR_SETTING);
        assert_non_null(strstr(flx_context_error(f.ctx), "law: spring"));
        fixture_end(&f);
    }
}

static void nothing_holds_it_is_said_with_body_and_vertex(void** state)
{
    (void)state;
    fixture f;
    fixture_start(&f, 1);
    fixture_box(&f, "two.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 2, 1);
    const flx_status status = fixture_try_open(
        &f,
        "flexor: 1\nbodies: [{name: pair, tets: two.mesh, material: {young: 1 kPa, density: 1000 kg/m3}}]\n"
        "fix: {body: pair, region: {box: {min: [-1, -1, -1], max: [0.5, 1, 0.01]}}}\n"
        "run: {frames: 1, fps: 30}\n",
        0, NULL);
    assert_int_equal(status, FLX_ERR_UNHELD);
    assert_non_null(strstr(flx_context_error(f.ctx), "body 'pair'"));
    assert_non_null(strstr(flx_context_error(f.ctx), "vertex 28")); // the first of the second box
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_iteration_of_compliance_refactor_and_full_are_equal),
        cmocka_unit_test(conjugate_gradients_reach_the_exact_answer),
        cmocka_unit_test(an_empty_region_gives_plain_projective_dynamics),
        cmocka_unit_test(more_inner_iterations_bring_the_region_nearer_to_its_equilibrium),
        cmocka_unit_test(strategies_that_know_springs_only_refuse_other_laws),
        cmocka_unit_test(nothing_holds_it_is_said_with_body_and_vertex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
