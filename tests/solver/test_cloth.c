// Cloth and constraints: what they weigh, how they hang, fall, stretch and are let go.
#include "solver/scenes.h"

#define SHEET(rest) "flexor: 1\nbodies: [{name: sheet, cloth: sheet.obj, " rest "}]\n"
#define STRIP "constraints: [{strain: 500 N/m, min: 0, max: 1}]"

static void open_sheet(fixture* f, const int n[2], double h, const char* yaml, int override_count,
                       const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_sheet(f, "sheet.obj", n, (const double[3]){0, 0, 0}, h);
    fixture_open(f, yaml, override_count, overrides);
}

static double* positions(const fixture* f)
{
    double* x = malloc(3 * sizeof(double) * (size_t)flx_model_get_info(f->model).vertex_count);
    flx_state_positions(f->state, x);
    return x;
}

static void a_sheet_weighs_its_area(void** state)
{
    (void)state;
    fixture f;
    open_sheet(&f, (const int[2]){7, 5}, 0.1,
               SHEET("constraints: {spring: 1}, material: {area_density: 300 g/m2}") "solver: {mode: dynamic}\n", 0,
               NULL);
    double mass = 0;
    for (int32_t v = 0; v < f.model->vertex_count; ++v) mass += f.model->mass[v];
    CHECK_NEAR(mass, 0.7 * 0.5 * 0.3, 1e-14); // kg; a few dozen roundings
    assert_int_equal(f.model->tet_count, 0);
    assert_int_equal(flx_model_get_info(f.model).surface_vertex_count, 48);
    fixture_end(&f);
}

static void a_free_sheet_falls_as_backward_euler_says(void** state)
{
    (void)state;
    fixture f;
    open_sheet(
        &f, (const int[2]){8, 8}, 0.1,
        SHEET("constraints: [{spring: 50 N/m}, {strain: 100 N/m}, {bending: 1 mN m}]") "gravity: 9.81\nsolver: {mode: "
                                                                                       "dynamic, precision: "
                                                                                       "double}\nrun: {fps: 100}\n",
        0, NULL);
    double* rest = positions(&f);
    fixture_steps(&f, 20, NULL);
    double* x = positions(&f);
    for (int i = 0; i < 3 * 81; ++i)                                             // sum over k steps of k g h^2
        CHECK_NEAR(x[i], rest[i] - (i % 3 == 2 ? 9.81 * 1e-4 * 210 : 0), 1e-13); // m: roundings of 20 steps
    free(rest);
    free(x);
    fixture_end(&f);
}

/// A plain round never raises what a step minimises: the same step with 1, 2, ... rounds ends lower and lower.
static void energy_never_rises_over_plain_rounds(void** state)
{
    (void)state;
    double first = 0, last = INFINITY;
    for (int rounds = 1; rounds <= 24; ++rounds)
    {
        fixture        f;
        flx_step_stats stats;
        char           outer[24];
        snprintf(outer, sizeof outer, "outer=%d", rounds);
        const char* const sets[] = {outer, "precision=double", "mode=dynamic"};
        open_sheet(
            &f, (const int[2]){10, 10}, 0.1,
            SHEET(
                "constraints: [{spring: 5 N/m}, {strain: 100 N/m, min: 0.9, max: 1.1}, {bending: 10 mN m}]") "gravity: "
                                                                                                             "9."
                                                                                                             "81\nrun: "
                                                                                                             "{fps: "
                                                                                                             "10}\n"
                                                                                                             "fix: "
                                                                                                             "{region: "
                                                                                                             "{box: "
                                                                                                             "{min: "
                                                                                                             "[-1, -1, "
                                                                                                             "-1], "
                                                                                                             "max: "
                                                                                                             "[0.01, "
                                                                                                             "0.01, "
                                                                                                             "1]}}, "
                                                                                                             "stiffness"
                                                                                                             ": "
                                                                                                             "1000}\n",
            3, sets);
        double* x = positions(&f); // crumpled: stretches from 0.2 to 3, folds
        for (int i = 0; i < 3 * 121; ++i) x[i] += 0.06 * sin(12.9898 * i * i + 1);
        flx_state_set_positions(f.state, x);
        fixture_steps(&f, 1, &stats);
        assert_true(stats.energy <= last * (1 + 1e-12)); // J, rounding of its sum
        if (rounds == 1) first = stats.energy;
        last = stats.energy;
        free(x);
        fixture_end(&f);
    }
    assert_true(last < 0.1 * first); // there was something to lower
}

static void a_hanging_sheet_stretches_by_its_weight(void** state)
{
    (void)state;
    // elongation of a strip of length L that hangs from one end: rho g L^2 / (2 k); Poisson's ratio is 0
    fixture f;
    open_sheet(&f, (const int[2]){20, 4}, 0.05,
               SHEET("constraints: {strain: 40 N/m}") "gravity: [9.81, 0, 0]\nsolver: {outer: 60}\n"
                                                      "fix: {region: {box: {min: [-1, -1, -1], max: [0.01, 1, 1]}}, "
                                                      "stiffness: 1e6 N/m}\n",
               0, NULL);
    fixture_steps(&f, 4, NULL);
    double*      x    = positions(&f);
    const double want = 0.2 * 9.81 / (2 * 40);
    for (int j = 0; j < 5; ++j)
        CHECK_NEAR(x[3 * (20 + 21 * j)] - 1, want, 0.03 * want); // the lumped masses of a row are not quite even
    free(x);
    fixture_end(&f);
}

static void a_strip_hangs_as_a_catenary(void** state)
{
    (void)state;
    // ends come together from 1 m to 0.8 m: a sinh(0.4 / a) = 0.5, sag = a (cosh(0.4 / a) - 1)
    fixture f;
    open_sheet(&f, (const int[2]){40, 1}, 0.025,
               SHEET(STRIP) "gravity: 9.81\n"
                            "bones: [{name: end, capsule: {from: [1, 0, 0], to: [1, 0.025, 0], radius: 1 mm}}]\n"
                            "fix:\n"
                            "  - {region: {box: {min: [-1, -1, -1], max: [0.001, 1, 1]}}}\n"
                            "  - {region: {box: {min: [0.999, -1, -1], max: [2, 1, 1]}}, bone: end}\n"
                            "motion: [{bone: end, keys: [{time: 0}, {time: 1, translate: [-0.2, 0, 0]}]}]\n"
                            "solver: {mode: dynamic, outer: 20, damping: 2}\nrun: {fps: 60}\n",
               0, NULL);
    fixture_steps(&f, 360, NULL);
    double low = 0.1, high = 1;
    for (int i = 0; i < 60; ++i)
    {
        const double a = 0.5 * (low + high);
        if (a * sinh(0.4 / a) > 0.5)
            low = a;
        else
            high = a;
    }
    const double sag = low * (cosh(0.4 / low) - 1);
    double*      x   = positions(&f);
    CHECK_NEAR(x[3 * 20 + 2], -sag, 0.01 * sag); // 40 straight pieces, and 500 N/m stretch by 0.2 %
    CHECK_NEAR(x[3 * 20], 0.4, 2e-3);            // m: in the middle
    free(x);
    fixture_end(&f);
}

static void a_corner_that_is_let_go_falls_and_the_others_hold(void** state)
{
    (void)state;
    fixture f;
    open_sheet(&f, (const int[2]){10, 10}, 0.1,
               SHEET("constraints: [{strain: 100 N/m}, {bending: 1 mN m}]") "gravity: 9.81\n"
                                                                            "fix:\n"
                                                                            "  - {region: {box: {min: [-1, -1, -1], "
                                                                            "max: [0.01, 0.01, 1]}}}\n"
                                                                            "  - {region: {box: {min: [0.99, -1, -1], "
                                                                            "max: [2, 0.01, 1]}}}\n"
                                                                            "  - {region: {box: {min: [-1, 0.99, -1], "
                                                                            "max: [0.01, 2, 1]}}, until: 0.5 s}\n"
                                                                            "solver: {mode: dynamic, outer: 5}\nrun: "
                                                                            "{fps: 60}\n",
               0, NULL);
    fixture_steps(&f, 29, NULL);
    double* held = positions(&f);
    fixture_steps(&f, 31, NULL);
    double* gone = positions(&f);
    CHECK_NEAR(held[3 * 110 + 2], 0, 1e-3); // m: springs give a little
    assert_true(gone[3 * 110 + 2] < -0.3);
    for (int k = 0; k <= 10; k += 10)
    {
        CHECK_NEAR(held[3 * k + 2], 0, 1e-3);
        CHECK_NEAR(gone[3 * k + 2], 0, 1e-3);
    }
    free(held);
    free(gone);
    fixture_end(&f);
}

static void a_flat_sheet_falls_in_still_air_at_its_terminal_velocity(void** state)
{
    (void)state;
    // drag density / 2 v^2 = area density x g
    fixture f;
    open_sheet(
        &f, (const int[2]){6, 6}, 0.1,
        SHEET("constraints: {strain: 100 N/m}, material: {area_density: 0.3 kg/m2}") "gravity: 9.81\nwind: {drag: 1.5, "
                                                                                     "density: 1.3}\nsolver: {mode: "
                                                                                     "dynamic}\nrun: {fps: 100}\n",
        0, NULL);
    fixture_steps(&f, 300, NULL);
    double* v = malloc(3 * sizeof(double) * 49);
    flx_state_velocities(f.state, v);
    for (int i = 0; i < 49; ++i) CHECK_NEAR(v[3 * i + 2], -sqrt(2 * 0.3 * 9.81 / (1.5 * 1.3)), 1e-4); // m/s: floats
    free(v);
    fixture_end(&f);
}

static void the_wind_carries_a_sheet_no_faster_than_it_blows(void** state)
{
    (void)state;
    fixture f; // so light that the bound of a step is at work
    open_sheet(
        &f, (const int[2]){6, 6}, 0.1,
        SHEET(
            "constraints: {strain: 100 N/m}, material: {area_density: 1 g/m2}") "wind: {velocity: [0, 0, 30]}\nsolver: "
                                                                                "{mode: dynamic}\nrun: {fps: 30}\n",
        0, NULL);
    double* v = malloc(3 * sizeof(double) * 49);
    for (int k = 0; k < 5; ++k)
    {
        fixture_steps(&f, 1, NULL);
        flx_state_velocities(f.state, v);
        for (int i = 0; i < 49; ++i) assert_true(v[3 * i + 2] > 29.9 && v[3 * i + 2] < 30.001);
    }
    free(v);
    fixture_end(&f);
}

/// The load carries the sheet past the margin within the first iteration: the plane is seen in the second.
static void a_contact_first_seen_in_the_middle_of_a_step_counts(void** state)
{
    (void)state;
    fixture        f;
    flx_step_stats stats;
    open_sheet(&f, (const int[2]){4, 4}, 0.1,
               SHEET("constraints: {strain: 100 N/m}") "loads: {region: all, force: [0, 0, -100]}\n"
                                                       "obstacles: [{name: floor, plane: {point: [0, 0, -0.02], "
                                                       "normal: [0, 0, 1]}}]\n"
                                                       "contact: {body: sheet, obstacle: floor, margin: 1 mm}\n"
                                                       "solver: {mode: dynamic, outer: 3}\nrun: {fps: 60}\n",
               0, NULL);
    fixture_steps(&f, 1, &stats);
    assert_int_equal(stats.active, 25);
    CHECK_BELOW(stats.penetration, 1e-3); // m: 4 N a vertex on 10 000 N/m
    double* x = positions(&f);
    for (int i = 0; i < 25; ++i) CHECK_NEAR(x[3 * i + 2], -0.02, 1e-3); // it would have gone 0.3 m
    free(x);
    fixture_end(&f);
}

static double volume_change(const char* constraints)
{
    fixture f;
    char    yaml[800];
    fixture_start(&f, 2);
    fixture_box(&f, "bar.mesh", (const int[3]){12, 3, 3}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    snprintf(yaml, sizeof yaml,
             "flexor: 1\nbodies: [{name: bar, tets: bar.mesh, material: {young: 20 kPa}%s}]\n"
             "bones: [{name: end, capsule: {from: [1.2, 0, 0], to: [1.2, 0.1, 0], radius: 1 mm}}]\n"
             "fix:\n"
             "  - {region: {box: {min: [-1, -1, -1], max: [0.001, 1, 1]}}}\n"
             "  - {region: {box: {min: [1.199, -1, -1], max: [2, 1, 1]}}, bone: end}\n"
             "motion: [{bone: end, keys: [{time: 0}, {time: 0.1, translate: [0.3, 0, 0]}]}]\n"
             "solver: {outer: 100}\nrun: {fps: 30}\n",
             constraints);
    fixture_open(&f, yaml, 0, NULL);
    fixture_steps(&f, 6, NULL);
    const int32_t count = flx_model_get_info(f.model).tet_count;
    double*       ratio = malloc(sizeof(double) * (size_t)count);
    double        sum   = 0;
    flx_state_tet_strain(f.state, NULL, ratio);
    for (int32_t e = 0; e < count; ++e) sum += ratio[e] / count; // all are of one size
    free(ratio);
    fixture_end(&f);
    return sum;
}

static void a_bar_that_keeps_its_volume_grows_thinner_when_stretched(void** state)
{
    (void)state;
    CHECK_NEAR(volume_change(""), 1.25, 0.01);                                         // Poisson's ratio 0
    CHECK_NEAR(volume_change(", constraints: {tet_volume: 2 MPa}"), 1, 0.02);          // a hundred times the material
    assert_true(volume_change(", constraints: {tet_volume: 2 MPa, max: 1.1}") > 1.05); // free up to its limit
}

static void write_text(const fixture* f, const char* name, const char* line, int times, const char* more)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    for (int i = 0; i < times; ++i) fprintf(out, "%s\n", line);
    fputs(more, out);
    fclose(out);
}

static uint64_t run_with_values(const char* yaml, const char* values, const char* more)
{
    fixture f;
    fixture_start(&f, 1);
    fixture_sheet(&f, "sheet.obj", (const int[2]){4, 4}, (const double[3]){0, 0, 0}, 0.1);
    fixture_box(&f, "bar.mesh", (const int[3]){3, 1, 1}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    write_text(&f, "values.txt", values, 18, more);
    write_text(&f, "factors.txt", "2 # twice", 32, "");
    fixture_open(&f, yaml, 0, NULL);
    fixture_steps(&f, 3, NULL);
    const uint64_t hash = flx_state_hash(f.state);
    fixture_end(&f);
    return hash;
}

static void stiffness_may_come_from_a_file_or_be_for_a_group(void** state)
{
    (void)state;
    static const char cloth[] =
        SHEET("constraints: [{strain: %s}]") "gravity: [9.81, 0, 1]\nfix: {region: {box: {min: [-1, -1, -1], max: "
                                             "[0.01, 1, 1]}}, stiffness: 1000}\n";
    static const char bar[] = "flexor: 1\nbodies: [{tets: bar.mesh, material: {%s}}]\ngravity: 9.81\n"
                              "fix: {region: {box: {min: [-1, -1, -1], max: [0.01, 1, 1]}}, stiffness: 1e6}\n";
    char              yaml[2][600];
    snprintf(yaml[0], sizeof yaml[0], cloth, "20 N/m, file: factors.txt");
    snprintf(yaml[1], sizeof yaml[1], cloth, "40 N/m");
    assert_true(run_with_values(yaml[0], "1", "") == run_with_values(yaml[1], "1", ""));
    snprintf(yaml[0], sizeof yaml[0], bar, "young_file: values.txt");
    snprintf(yaml[1], sizeof yaml[1], bar, "young: 50 kPa");
    assert_true(run_with_values(yaml[0], "5e4", "") == run_with_values(yaml[1], "5e4", ""));
    assert_true(run_with_values(yaml[0], "6e4", "") != run_with_values(yaml[1], "6e4", ""));
}

static void refused_values(const char* yaml, const char* line, int times, const char* more, const char* why)
{
    fixture f;
    fixture_start(&f, 1);
    fixture_sheet(&f, "sheet.obj", (const int[2]){4, 4}, (const double[3]){0, 0, 0}, 0.1);
    write_text(&f, "values.txt", line, times, more);
    const flx_status got = fixture_try_open(&f, yaml, 0, NULL);
    if (got == FLX_OK || !strstr(flx_context_error(f.ctx), why))
        fail_msg("%s: %s", flx_status_name(got), flx_context_error(f.ctx));
    fixture_end(&f);
}

static void wrong_values_are_named_by_line(void** state)
{
    (void)state;
    static const char yaml[] = SHEET("constraints: [{strain: 2 N/m, file: values.txt}]") "solver: {mode: dynamic}\n";
    refused_values(yaml, "1", 31, "", "the file ends after 31 values, but body 'sheet' has 32 elements");
    refused_values(yaml, "1", 32, "7\n", "values.txt:33: more than 32 values");
    refused_values(yaml, "1", 31, "-1\n", "values.txt:32: the value of element 32 is -1");
    refused_values(yaml, "1", 4, "one\n", "values.txt:5:");
    refused_values(SHEET("constraints: [{strain: 2 N/m, group: collar}]"), "1", 1, "", "for group 'collar'");
}

static void refused(const char* yaml, flx_status status, const char* why)
{
    fixture f;
    fixture_start(&f, 1);
    fixture_sheet(&f, "sheet.obj", (const int[2]){4, 4}, (const double[3]){0, 0, 0}, 0.1);
    const flx_status got = fixture_try_open(&f, yaml, 0, NULL);
    if (got != status || !strstr(flx_context_error(f.ctx), why))
        fail_msg("%s: %s", flx_status_name(got), flx_context_error(f.ctx));
    fixture_end(&f);
}

static void what_cloth_cannot_do_is_said(void** state)
{
    (void)state;
    refused(SHEET("constraints: {strain: 1}"), FLX_ERR_UNHELD, "nothing holds the component with vertex 1");
}

static void a_cloth_by_hand_without_constraints_is_refused(void** state)
{
    (void)state;
    fixture f;
    open_sheet(&f, (const int[2]){4, 4}, 0.1, SHEET("constraints: {strain: 1}") "solver: {mode: dynamic}\n", 0, NULL);
    flx_context* ctx                  = f.ctx;
    flx_model*   model                = NULL;
    f.scene->body[0].constraint_count = 0;
    CHECK_FAILS(flx_model_compile(ctx, f.scene, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    f.scene->body[0].constraint_count   = 1;
    f.scene->body[0].constraint[0].kind = FLX_CONSTRAINT_TET_VOLUME;
    CHECK_FAILS(flx_model_compile(ctx, f.scene, NULL, NULL, &model), FLX_ERR_ARGUMENT);
    fixture_end(&f);
}

static void a_stiff_sheet_of_a_millimetre_falls_with_any_factor(void** state)
{
    (void)state;
    static const char* const strategy[] = {"strategy=refactor", "strategy=full", "strategy=pcg"};
    for (int i = 0; i < 3; ++i)
    {
        fixture f;
        open_sheet(&f, (const int[2]){12, 12}, 1e-3 / 12,
                   SHEET("translate: [0, 0, 100 um], constraints: [{strain: 200 N/m}, {bending: 50 uN m}]") //
                   "gravity: 9.81\nobstacles: {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
                   "contact: {obstacle: floor, offset: 20 um, law: spring}\n"
                   "solver: {mode: dynamic, outer: 3, substeps: 2}\n",
                   1, &strategy[i]);
        fixture_steps(&f, 40, NULL);
        double* x = positions(&f);
        for (int32_t v = 0; v < 169; ++v) CHECK_NEAR(x[3 * v + 2], 20e-6, 5e-6); // m: springs give way a little
        free(x);
        fixture_end(&f);
    }
}

/// Bending grows with 1 / size^2, mass with size^2: at a millimetre their ratio is past what single precision holds.
/// The steps are in double then, whether all of the sheet may touch, a part, or none, and at 0.3 m they stay in single.
static void a_stiff_sheet_of_a_millimetre_comes_to_rest(void** state)
{
    (void)state;
    static const char* const contact[] = {
        "contact: {obstacle: floor, offset: 20 um}\n",
        "contact: [{obstacle: floor, offset: 20 um}, {self: sheet, offset: 20 um}]\n",
        "contact: {obstacle: floor, offset: 20 um, region: {box: {min: [-1, -1, -1], max: [0.0005, 1, 1]}}}\n", ""};
    for (int i = 0; i < 5; ++i)
    {
        char           yaml[600];
        fixture        f;
        const int      layout = i % 4;
        const double   size   = i < 4 ? 1e-3 : 0.3;
        flx_step_stats stats;
        snprintf(yaml, sizeof yaml,
                 SHEET("translate: [0, 0, 100 um], constraints: [{strain: 200 N/m}, {bending: 50 uN m}]") //
                 "gravity: 9.81\nobstacles: {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
                 "solver: {mode: dynamic, outer: 3, substeps: 2}\n%s",
                 contact[layout]);
        open_sheet(&f, (const int[2]){12, 12}, size / 12, yaml, 0, NULL);
        assert_int_equal(f.solver->single, i == 4);
        fixture_steps(&f, 40, &stats);
        assert_true(layout == 3 || isfinite(stats.residual));
        double* x = positions(&f);
        for (int32_t v = 0; v < 169 && layout < 2; ++v) CHECK_NEAR(x[3 * v + 2], 20e-6, 1e-6); // m: of the offset
        free(x);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_weighs_its_area),
        cmocka_unit_test(a_free_sheet_falls_as_backward_euler_says),
        cmocka_unit_test(energy_never_rises_over_plain_rounds),
        cmocka_unit_test(a_hanging_sheet_stretches_by_its_weight),
        cmocka_unit_test(a_strip_hangs_as_a_catenary),
        cmocka_unit_test(a_corner_that_is_let_go_falls_and_the_others_hold),
        cmocka_unit_test(a_flat_sheet_falls_in_still_air_at_its_terminal_velocity),
        cmocka_unit_test(a_contact_first_seen_in_the_middle_of_a_step_counts),
        cmocka_unit_test(the_wind_carries_a_sheet_no_faster_than_it_blows),
        cmocka_unit_test(a_bar_that_keeps_its_volume_grows_thinner_when_stretched),
        cmocka_unit_test(stiffness_may_come_from_a_file_or_be_for_a_group),
        cmocka_unit_test(wrong_values_are_named_by_line),
        cmocka_unit_test(what_cloth_cannot_do_is_said),
        cmocka_unit_test(a_stiff_sheet_of_a_millimetre_falls_with_any_factor),
        cmocka_unit_test(a_stiff_sheet_of_a_millimetre_comes_to_rest),
        cmocka_unit_test(a_cloth_by_hand_without_constraints_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
