// Cloth that may touch everywhere: the contact law without an inverse, and what it costs in memory.
#include "solver/scenes.h"

#include <math.h>

/// Sheet of n x n squares on [-0.5, 0.5]^2 above a ball of radius 0.25 m and a floor.
static void open_draped(fixture* f, int n, int32_t workers, const char* contact, int override_count,
                        const char* const* overrides)
{
    char yaml[1200];
    snprintf(yaml, sizeof yaml,
             "flexor: 1\n"
             "gravity: 9.81\n"
             "bodies:\n"
             "  - name: sheet\n"
             "    cloth: sheet.obj\n"
             "    material: {area_density: 0.2 kg/m2}\n"
             "    constraints: [{strain: 100 N/m, min: 0.98, max: 1.02}, {bending: 50 uN m}]\n"
             "obstacles:\n"
             "  - {name: ball, sphere: {center: [0, 0, -0.26], radius: 0.25}}\n"
             "  - {name: floor, plane: {point: [0, 0, -0.1], normal: [0, 0.1, 1]}}\n"
             "%s"
             "solver: {mode: dynamic, outer: 5, substeps: 4, damping: 1}\n"
             "run: {frames: 90, fps: 30}\n",
             contact);
    fixture_start(f, workers);
    fixture_sheet(f, "sheet.obj", (const int[2]){n, n}, (const double[3]){-0.5, -0.5, 0}, 1.0 / n);
    fixture_open(f, yaml, override_count, overrides);
}

static const char plain[]  = "contact: [{body: sheet, obstacle: ball, offset: 5 mm}, {body: sheet, obstacle: floor}]\n";
static const char spread[] = "contact:\n"
                             "  - {body: sheet, obstacle: ball, offset: 5 mm, spacing: 25 mm}\n"
                             "  - {body: sheet, obstacle: floor, spacing: 40 mm}\n";

/// Of the last solve: how far, in cells, gaps are from what the law allows for the forces; forces only push.
static double off_the_law(const fixture* f)
{
    const flx_solver* s     = f->solver;
    double            worst = 0;
    for (int32_t i = 0; i < s->contact.count; ++i)
    {
        const flx_contact* c      = &s->contact.contact[i];
        const double       lambda = f->state->push[c->proxy];
        const double       gap    = flx__contact_gap_at(c, s->delta, 0) + lambda / flx__contact_stiffness(s, c);
        assert_true(lambda >= 0);
        worst = fmax(worst, lambda > 0 ? fabs(gap) : -gap);
    }
    return worst / f->model->cell;
}

static void the_law_holds_at_the_end_of_every_step(void** state)
{
    (void)state;
    const char* const laid_out[] = {plain, spread};
    for (int k = 0; k < 2; ++k)
        for (int precision = 0; precision < 2; ++precision)
        {
            const char* const sets[]  = {precision ? "precision=double" : "precision=single"};
            const double      allowed = 1e-5; // of a cell: contact_tolerance
            flx_step_stats    stats;
            fixture           f;
            int32_t           most = 0;
            open_draped(&f, 30, 2, laid_out[k], 1, sets);
            assert_true(f.model->contact_everywhere && f.solver->schur_inverse == NULL);
            for (int step = 0; step < 40; ++step)
            {
                fixture_steps(&f, 1, &stats);
                assert_int_equal(stats.unsolved + stats.lost, 0);
                if (!(off_the_law(&f) <= allowed)) fail_msg("step %d: off by %g cells", step, off_the_law(&f));
                if (stats.active > most) most = stats.active;
            }
            assert_true(most > 100);
            fixture_end(&f);
        }
}

/// Steps from equal states, with and without Sigma^-1 held: the largest difference of a position, in cells.
static double differs_from_the_inverse_held(const char* contact, int override_count, const char* const* overrides)
{
    fixture     f;
    flx_solver* held = NULL;
    flx_state*  there;
    double      worst = 0;
    int32_t     both  = 0;
    open_draped(&f, 22, 2, contact, override_count, overrides);
    flx_context* ctx            = f.ctx;
    f.model->contact_everywhere = false;
    CHECK_OK(flx_solver_create(ctx, f.model, NULL, NULL, NULL, &held));
    assert_true(held->schur_inverse != NULL);
    f.model->contact_everywhere = true;
    CHECK_OK(flx_state_create(ctx, f.model, &there));
    for (int step = 0; step < 60; ++step)
    {
        flx_step_stats stats;
        flx_state_copy(there, f.state);
        fixture_steps(&f, 1, &stats);
        CHECK_OK(flx_solver_step(held, there, NULL));
        for (int32_t i = 0; i < 3 * f.model->vertex_count; ++i) worst = fmax(worst, fabs(f.state->x[i] - there->x[i]));
        both += stats.active > 20;
    }
    assert_true(both > 20);
    worst /= f.model->cell;
    flx_state_destroy(there);
    flx_solver_destroy(held);
    fixture_end(&f);
    return worst;
}

static void it_moves_as_with_the_inverse_held(void** state)
{
    (void)state;
    // the answer is one, whoever finds it: what gaps off by 1e-9 cells let a vertex move, times the condition of a
    // sheet
    const char* const exact[] = {"outer=1", "precision=double", "contact_tolerance=1e-9"};
    CHECK_BELOW(differs_from_the_inverse_held(plain, 3, exact), 1e-6);
    CHECK_BELOW(differs_from_the_inverse_held(spread, 3, exact), 1e-6);
    // as shipped, with what the first four of five iterations leave to the next: 7e-5 and 8e-4 when this was written
    CHECK_BELOW(differs_from_the_inverse_held(plain, 0, NULL), 3e-4);
    CHECK_BELOW(differs_from_the_inverse_held(spread, 0, NULL), 3e-3);
}

/// A vertex meets several triangles and its edges meet others: more rows than directions that A knows apart.
static void the_law_holds_where_many_contacts_share_vertices(void** state)
{
    (void)state;
    fixture        f;
    flx_step_stats stats;
    int32_t        most = 0;
    fixture_start(&f, 2);
    fixture_sheets(&f, "layers.obj", (const int[2]){15, 15}, (const double[3]){-0.2, -0.2, 0}, 0.4 / 15, 2, 0.006);
    fixture_open(&f,
                 "flexor: 1\n"
                 "bodies: [{name: layers, cloth: layers.obj, constraints: [{strain: 60 N/m}, {bending: 1 mN m}]}]\n"
                 "fix:\n"
                 "  - {region: {box: {min: [-1, -1, -1], max: [-0.19, 1, 1]}}}\n"
                 "  - {region: {box: {min: [0.19, -1, -1], max: [1, 1, 1]}}}\n"
                 "loads:\n"
                 "  - {region: {box: {min: [-0.1, -1, -1], max: [1, 1, 0.001]}}, force: [0, 0.1, 3]}\n"
                 "  - {region: {box: {min: [-1, -1, 0.001], max: [0.1, 1, 1]}}, force: [0.1, 0, -3]}\n"
                 "contact: [{self: layers, offset: 4 mm}]\n"
                 "solver: {mode: dynamic, outer: 2}\nrun: {frames: 10, fps: 60}\n",
                 0, NULL);
    assert_true(f.model->contact_everywhere);
    for (int step = 0; step < 30; ++step)
    {
        fixture_steps(&f, 1, &stats);
        assert_int_equal(stats.unsolved + stats.lost, 0);
        assert_true(off_the_law(&f) <= 1e-5);
        if (stats.active > most) most = stats.active;
    }
    assert_true(most > 200);
    fixture_end(&f);
}

static void a_large_sheet_takes_little_memory_and_gives_the_same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 3; ++workers)
    {
        fixture        f;
        flx_step_stats stats;
        open_draped(&f, 100, workers, plain, 0, NULL);
        assert_int_equal(flx_model_get_info(f.model).prone_count, 101 * 101);
        // Sigma^-1 alone would be 416 MB in single precision
        assert_true(flx_solver_get_info(f.solver).bytes < 64000000);
        flx_context*  ctx    = f.ctx;
        const int64_t before = flx_context_allocation_count(ctx);
        fixture_steps(&f, 10, &stats);
        assert_true(flx_context_allocation_count(ctx) == before);
        assert_true(stats.active > 50);
        assert_true(off_the_law(&f) <= 1e-5);
        if (workers == 1) first = flx_state_hash(f.state);
        assert_true(flx_state_hash(f.state) == first);
        fixture_end(&f);
    }
}

static void a_small_region_of_a_sheet_is_eliminated_to_its_inverse(void** state)
{
    (void)state;
    fixture f;
    open_draped(
        &f, 20, 1,
        "contact: {body: sheet, obstacle: ball, region: {box: {min: [-0.21, -0.21, -1], max: [0.21, 0.21, 1]}}}\n", 0,
        NULL);
    assert_int_equal(flx_model_get_info(f.model).prone_count, 81);
    assert_false(f.model->contact_everywhere);
    assert_non_null(f.solver->schur_inverse);
    fixture_end(&f);
}

static void only_the_dense_method_has_a_limit_and_names_the_way_out(void** state)
{
    (void)state;
    fixture f;
    open_draped(&f, 8, 1, plain, 0, NULL);
    fixture_close_parts(&f);
    fixture_sheet(&f, "sheet.obj", (const int[2]){150, 150}, (const double[3]){-0.5, -0.5, 0}, 1.0 / 150);
    char              path[128];
    flx_scene*        scene   = NULL;
    flx_model*        model   = NULL;
    flx_scene_options options = flx_scene_options_default();
    flx_context*      ctx     = f.ctx;
    snprintf(path, sizeof path, "%s/scene.yaml", f.folder);
    CHECK_OK(flx_scene_read(ctx, path, &options, &scene));
    CHECK_OK(flx_model_compile(ctx, scene, NULL, NULL, &model));
    assert_true(model->contact_everywhere);
    flx_model_destroy(model);
    scene->contact[0].law = scene->contact[1].law = FLX_LAW_SPRING;
    assert_int_equal(flx_model_compile(ctx, scene, NULL, NULL, &model), FLX_ERR_SCENE);
    assert_non_null(strstr(flx_context_error(ctx), "22801"));
    assert_non_null(strstr(flx_context_error(ctx), "20000"));
    assert_non_null(strstr(flx_context_error(ctx), "unilateral"));
    flx_scene_destroy(ctx, scene);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_holds_at_the_end_of_every_step),
        cmocka_unit_test(it_moves_as_with_the_inverse_held),
        cmocka_unit_test(the_law_holds_where_many_contacts_share_vertices),
        cmocka_unit_test(a_large_sheet_takes_little_memory_and_gives_the_same_bits_for_any_number_of_workers),
        cmocka_unit_test(a_small_region_of_a_sheet_is_eliminated_to_its_inverse),
        cmocka_unit_test(only_the_dense_method_has_a_limit_and_names_the_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
