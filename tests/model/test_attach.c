// What holds and pulls a body: fixed regions, bones, loads.
#include "model_fixture.h"

static const char head[] = "flexor: 1\nbodies: [{name: b, tets: b.mesh, material: {young: 30 kPa, density: 800 "
                           "kg/m3}}]\nrun: {frames: 1, fps: 30}\n";

static flx_status open_with(fixture* f, model_log* log, const char* more)
{
    char yaml[2048];
    snprintf(yaml, sizeof yaml, "%s%s", head, more);
    model_start(f, log);
    fixture_box(f, "b.mesh", (const int[3]){4, 3, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    return model_try(f, yaml);
}

static void loads_sum_to_the_force_over_the_region(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    assert_int_equal(open_with(&f, &log,
                               "loads:\n"
                               "  - {body: b, region: {box: {min: [0.39, -1, -1], max: [1, 1, 1]}}, force: [1, -2, "
                               "3.5], from: 1, until: 2}\n"
                               "  - {body: b, region: all, force: [0, 0, 7]}\n"),
                     FLX_OK);
    const flx_model* m = f.model;
    assert_int_equal(m->load_count, 2);
    static const double force[2][3] = {{1, -2, 3.5}, {0, 0, 7}};
    const int32_t       count[2]    = {4 * 3, m->vertex_count};
    for (int i = 0; i < 2; ++i)
    {
        const flx_load* l = &m->load[i];
        assert_int_equal(l->count, count[i]);
        for (int c = 0; c < 3; ++c) CHECK_NEAR(l->share[c] * l->count, force[i][c], 1e-12);
        for (int32_t k = 0; k < l->count; ++k)
        {
            assert_in_range(l->vertex[k], 0, m->vertex_count - 1);
            if (i == 0) CHECK_NEAR(m->x_rest[3 * l->vertex[k]], 0.4, 1e-12);
            for (int32_t j = 0; j < k; ++j) assert_true(l->vertex[j] != l->vertex[k]);
        }
    }
    assert_true(m->load[0].from == 1 && m->load[0].until == 2 && m->load[1].until < 0);
    model_end(&f);
}

static void regions_that_hold_nothing_are_refused_by_name(void** state)
{
    (void)state;
    static const char* const more[] = {
        "fix: {body: b, region: {sphere: {center: [5, 5, 5], radius: 0.1}}}\n",
        "loads: {body: b, region: {sphere: {center: [5, 5, 5], radius: 0.1}}, force: [1, 0, 0]}\n",
        "contact: [{self: b, region: {sphere: {center: [5, 5, 5], radius: 0.1}}}]\n",
    };
    static const char* const named[] = {"fix[0]", "loads[0]", "contact[0]"};
    for (int i = 0; i < 3; ++i)
    {
        fixture   f;
        model_log log;
        assert_int_equal(open_with(&f, &log, more[i]), FLX_ERR_SCENE);
        assert_null(f.model);
        assert_non_null(strstr(flx_context_error(f.ctx), named[i]));
        assert_non_null(strstr(flx_context_error(f.ctx), "'b'"));
        assert_non_null(strstr(flx_context_error(f.ctx), "reaches from (")); // where a region would hold something
        model_end(&f);
    }
}

static void bones_outside_the_body_are_refused_and_those_that_stick_out_counted(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    assert_int_equal(open_with(&f, &log,
                               "bones: [{name: far, capsule: {from: [2, 0, 0], to: [3, 0, 0], radius: 10 mm}}]\n"
                               "attach: {body: b, bones: [far], points: 30}\n"),
                     FLX_ERR_SCENE);
    assert_non_null(strstr(flx_context_error(f.ctx), "attach[0]: none of the 30 points"));
    assert_non_null(strstr(flx_context_error(f.ctx), "'b'"));
    model_end(&f);

    assert_int_equal(
        open_with(&f, &log,
                  "bones: [{name: half, capsule: {from: [0.2, 0.15, 0.1], to: [0.6, 0.15, 0.1], radius: 30 mm}}]\n"
                  "attach: {body: b, bones: [half], points: 400}\n"),
        FLX_OK);
    // the axis is half inside; round ends make it a little more or less
    assert_in_range(f.model->spring_count, 150, 250);
    char text[64];
    snprintf(text, sizeof text, "%d of 400 points", 400 - f.model->spring_count);
    if (!strstr(log.text, text)) fail_msg("'%s' is not said in: %s", text, log.text);
    for (int32_t s = 0; s < f.model->spring_count; ++s) assert_true(f.model->spring[s].rest[0] < 0.4 + 1e-8);
    model_end(&f);
}

static void points_are_shared_between_bones_by_area(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    // sides 2 pi r l, ends 4 pi r^2: the second has 1.75 times the surface of the first
    assert_int_equal(
        open_with(&f, &log,
                  "bones:\n"
                  "  - {name: short, capsule: {from: [0.1, 0.1, 0.1], to: [0.14, 0.1, 0.1], radius: 20 mm}}\n"
                  "  - {name: long, capsule: {from: [0.1, 0.2, 0.1], to: [0.2, 0.2, 0.1], radius: 20 mm}}\n"
                  "attach: {body: b, bones: [short, long], points: 1100}\n"),
        FLX_OK);
    int32_t of[2] = {0};
    assert_int_equal(f.model->spring_count, 1100);
    for (int32_t s = 0; s < 1100; ++s) ++of[f.model->spring[s].bone];
    CHECK_NEAR(of[0], 400, 2);
    CHECK_NEAR(of[1], 700, 2);
    model_end(&f);
}

static void fixed_vertices_are_held_for_their_time(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    assert_int_equal(open_with(&f, &log,
                               "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.01]}}, stiffness: 12, "
                               "from: 0.5, until: 1.5}\n"),
                     FLX_OK);
    assert_int_equal(f.model->spring_count, 5 * 4);
    for (int32_t s = 0; s < f.model->spring_count; ++s)
    {
        const flx_spring* p = &f.model->spring[s];
        assert_true(p->stiffness == 12 && p->weight[0] == 1 && p->weight[1] == 0);
        for (int c = 0; c < 3; ++c)
            assert_true(p->rest[c] == f.model->x_rest[3 * p->vertex[0] + c] && p->offset[c] == 0);
        assert_false(flx__spring_active(p, 0.49));
        assert_true(flx__spring_active(p, 0.5) && flx__spring_active(p, 1.49));
        assert_false(flx__spring_active(p, 1.5));
    }
    model_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_sum_to_the_force_over_the_region),
        cmocka_unit_test(regions_that_hold_nothing_are_refused_by_name),
        cmocka_unit_test(bones_outside_the_body_are_refused_and_those_that_stick_out_counted),
        cmocka_unit_test(points_are_shared_between_bones_by_area),
        cmocka_unit_test(fixed_vertices_are_held_for_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
