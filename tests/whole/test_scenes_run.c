// The scenes that come with the program, run. The elbow has tests of its own.
#include "test.h"

#include "contact/solid.h"
#include "flexor/flexor.h"
#include "model/model.h"

#include <math.h>

typedef struct run
{
    flx_context*   ctx;
    flx_scene*     scene;
    flx_model*     model;
    flx_solver*    solver;
    flx_state*     state;
    flx_step_stats stats;
    double*        surface; // [surface_vertex_count][3]
    int32_t        surface_count;
} run;

static void open_run(run* r, const char* name, const char* data, int32_t override_count, const char* const* overrides)
{
    char              path[1024];
    flx_scene_options options = flx_scene_options_default();
    memset(r, 0, sizeof *r);
    r->ctx                 = test_context(2);
    flx_context* ctx       = r->ctx;
    options.data_path      = data;
    options.override_count = override_count;
    options.overrides      = overrides;
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", FLX_SOURCE_DIR, name);
    CHECK_OK(flx_scene_read(ctx, path, &options, &r->scene));
    CHECK_OK(flx_model_compile(ctx, r->scene, NULL, NULL, &r->model));
    CHECK_OK(flx_solver_create(ctx, r->model, NULL, NULL, NULL, &r->solver));
    CHECK_OK(flx_state_create(ctx, r->model, &r->state));
    r->surface_count = flx_model_get_info(r->model).surface_vertex_count;
    r->surface       = malloc(sizeof(double) * 3 * (size_t)r->surface_count);
    flx_state_surface_positions(r->state, r->surface);
}

static void close_run(run* r)
{
    free(r->surface);
    flx_state_destroy(r->state);
    flx_solver_destroy(r->solver);
    flx_model_destroy(r->model);
    flx_scene_destroy(r->ctx, r->scene);
    assert_int_equal(flx_context_bytes_now(r->ctx), 0);
    flx_context_destroy(r->ctx);
}

static void run_frames(run* r, int32_t frames)
{
    flx_context*  ctx      = r->ctx;
    const bool    dynamic  = r->scene->settings.mode == FLX_MODE_DYNAMIC;
    const int32_t substeps = dynamic ? r->scene->settings.substeps : 1;
    for (int32_t k = 0; k < frames * substeps; ++k) CHECK_OK(flx_solver_step(r->solver, r->state, &r->stats));
    flx_state_surface_positions(r->state, r->surface);
    for (int64_t i = 0; i < 3 * (int64_t)r->surface_count; ++i) assert_true(isfinite(r->surface[i]));
    assert_true(isfinite(r->stats.energy) && isfinite(r->stats.residual));
}

static void extent(const run* r, int axis, double* low, double* high)
{
    *low  = INFINITY;
    *high = -INFINITY;
    for (int32_t v = 0; v < r->surface_count; ++v)
    {
        *low  = fmin(*low, r->surface[3 * v + axis]);
        *high = fmax(*high, r->surface[3 * v + axis]);
    }
}

static double weight_of(const run* r)
{
    double mass = 0;
    for (int32_t v = 0; v < r->model->vertex_count; ++v) mass += r->model->mass[v];
    return 9.81 * mass;
}

static void the_beam_bends_down_and_comes_to_rest(void** state)
{
    (void)state;
    run    r;
    double low, high;
    open_run(&r, "beam", NULL, 0, NULL);
    run_frames(&r, r.scene->run.frames);
    extent(&r, 2, &low, &high);
    // Thin beam theory: w L^4 / (8 E I) = 147 mm; this coarse mesh of linear tets is up to a fifth stiffer, and the
    // bend is not small. The lower edge was at -50 mm and turns with the tip.
    assert_true(low < -0.05 - 0.8 * 0.147 && low > -0.05 - 1.05 * 0.147);
    CHECK_NEAR(high, 0.05, 1e-3); // m: the held end stays
    extent(&r, 0, &low, &high);
    CHECK_NEAR(high, 1.0, 0.01);       // m: it bends, it does not stretch
    CHECK_BELOW(r.stats.motion, 1e-5); // m, in the last round
    assert_int_equal(r.stats.inverted, 0);
    close_run(&r);
}

static void the_block_rests_on_the_floor_with_its_weight_in_both_modes(void** state)
{
    (void)state;
    static const char* const quasistatic[] = {"mode=quasistatic", "outer=20", "run.frames=30"};
    for (int i = 0; i < 2; ++i)
    {
        run    r;
        double low, high;
        open_run(&r, "block-on-floor", NULL, i ? 3 : 0, quasistatic);
        run_frames(&r, r.scene->run.frames);
        CHECK_NEAR(r.stats.contact_force[2], 78.48, 0.001 * 78.48); // N, 8 kg
        assert_true(fabs(r.stats.contact_force[0]) < 1e-3 && fabs(r.stats.contact_force[1]) < 1e-3);
        extent(&r, 2, &low, &high);
        assert_true(low > -2e-5);               // m: 49 contacts of 234 kN/m give way by 7 um
        assert_true(high < 0.2 && high > 0.18); // m: its own weight shortens it by a twentieth at most
        assert_int_equal(r.stats.switched, 0);
        assert_int_equal(r.stats.inverted, 0);
        CHECK_BELOW(r.stats.motion, 1e-7); // m
        close_run(&r);
    }
}

static void the_ball_comes_to_rest_on_the_floor_and_sinks_into_nothing(void** state)
{
    (void)state;
    static const char* const coarse[] = {"bodies[0].lattice.tets=2 k"};
    run                      r;
    double                   low = 0, high = 0, left, right, deepest = 0, squashed = 1;
    open_run(&r, "ball-drop", NULL, 1, coarse);
    for (int frame = 0; frame < r.scene->run.frames; ++frame)
    {
        run_frames(&r, 1);
        deepest = fmax(deepest, r.stats.penetration);
        extent(&r, 2, &low, &high);
        squashed = fmin(squashed, (high - low) / 0.2);
    }
    CHECK_BELOW(deepest, 2e-3);        // m, a hundredth of the ball
    assert_true(squashed < 0.97);      // it gives way where it hits
    assert_true(low > -5e-4);          // m
    CHECK_NEAR(high - low, 0.2, 0.02); // m: round again
    extent(&r, 0, &left, &right);
    assert_true(left > 0.1 && right < 0.6);                                    // between the ramps
    CHECK_NEAR(r.stats.contact_force[2], weight_of(&r), 0.02 * weight_of(&r)); // N
    CHECK_BELOW(r.stats.motion, 1e-4);                                         // m
    assert_int_equal(r.stats.inverted, 0);
    double* v = malloc(sizeof(double) * 3 * (size_t)flx_model_get_info(r.model).vertex_count);
    flx_state_velocities(r.state, v);
    for (int32_t i = 0; i < 3 * flx_model_get_info(r.model).vertex_count; ++i) CHECK_BELOW(fabs(v[i]), 0.05); // m/s
    free(v);
    close_run(&r);
}

static void the_human_arm_compiles_and_its_hand_follows_the_bones(void** state)
{
    (void)state;
    static const char* const coarse[] = {"bodies[0].lattice.tets=20 k", "run.frames=8"};
    if (!shared_or_skip("data/makehuman/base.obj")) return;
    run    r;
    double R[9], t[3], low[3], high[3], rest_low[3], rest_high[3];
    open_run(&r, "makehuman-arm", FLX_SHARED_DIR "/data", 2, coarse);
    for (int k = 0; k < 3; ++k) extent(&r, k, &rest_low[k], &rest_high[k]);
    // one arm and nothing else of the body: right of the hip, from the middle of the upper arm to the finger tips
    assert_true(rest_low[0] > 0.2 && rest_high[0] < 0.52 && rest_low[1] > 0.1 && rest_high[1] < 0.5);
    assert_true(r.model->region_proposed && r.model->proxy_count > 0);
    assert_in_range(r.model->tet_count, 10000, 40000);
    run_frames(&r, r.scene->run.frames);
    for (int k = 0; k < 3; ++k) extent(&r, k, &low[k], &high[k]);
    flx_scene_bone_pose(r.scene, 2, flx_state_time(r.state), R, t);
    // the farthest finger tip goes with the hand's bone, to a centimetre
    int32_t       tip  = 0;
    const double* rest = r.model->surface_rest;
    for (int32_t v = 0; v < r.surface_count; ++v)
        if (rest[3 * v + 2] > rest[3 * tip + 2]) tip = v;
    double far = 0;
    for (int k = 0; k < 3; ++k)
    {
        const double goal =
            R[3 * k] * rest[3 * tip] + R[3 * k + 1] * rest[3 * tip + 1] + R[3 * k + 2] * rest[3 * tip + 2] + t[k];
        far += (r.surface[3 * tip + k] - goal) * (r.surface[3 * tip + k] - goal);
    }
    CHECK_BELOW(sqrt(far), 0.01);                             // m
    assert_true(low[1] > rest_low[1] + 0.02);                 // the hand, which was lowest, rose
    CHECK_NEAR(high[1], rest_high[1], 0.005);                 // the upper arm stays
    CHECK_BELOW(r.stats.inverted, 0.01 * r.model->tet_count); // crushed in the fold, if any
    close_run(&r);
}

/// The least distance of points spread over the cloth's triangles from the first obstacle, where that is at rest, m.
static double least_distance(const run* r)
{
    double least = INFINITY;
    for (int32_t t = 0; t < r->model->surface_triangle_count; ++t)
        for (int i = 0; i <= 4; ++i)
            for (int j = 0; i + j <= 4; ++j)
            {
                const int32_t* v = r->model->surface_triangle + 3 * (int64_t)t;
                double         p[3];
                for (int k = 0; k < 3; ++k)
                    p[k] = 0.25 * (i * r->surface[3 * v[0] + k] + j * r->surface[3 * v[1] + k] +
                                   (4 - i - j) * r->surface[3 * v[2] + k]);
                least = fmin(least, flx__solid_distance(r->model->solid[0], p, NULL));
            }
    return least;
}

static double distance_between(const double* x, int32_t a, int32_t b)
{
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += (x[3 * a + k] - x[3 * b + k]) * (x[3 * a + k] - x[3 * b + k]);
    return sqrt(sum);
}

/// Share of the cloth's edges that are longer than at rest by more than `stretch`.
static double share_stretched(const run* r, double stretch)
{
    int64_t count = 0;
    for (int64_t i = 0; i < 3 * (int64_t)r->model->surface_triangle_count; ++i)
    {
        const int32_t a = r->model->surface_triangle[i], b = r->model->surface_triangle[i % 3 < 2 ? i + 1 : i - 2];
        count += distance_between(r->surface, a, b) > stretch * distance_between(r->model->surface_rest, a, b);
    }
    return (double)count / (3.0 * r->model->surface_triangle_count);
}

static void a_strip_lays_itself_down_in_folds_without_a_crossing(void** state)
{
    (void)state;
    run     r;
    int64_t crossings;
    open_run(&r, "cloth-fold", NULL, 0, NULL);
    flx_context* ctx = r.ctx;
    for (int k = 0; k < 60; k += 5)
    {
        run_frames(&r, 5);
        CHECK_OK(flx_surface_crossings(ctx, r.surface_count, r.surface,
                                       flx_model_get_info(r.model).surface_triangle_count,
                                       flx_model_surface_triangles(r.model), &crossings));
        assert_int_equal(crossings, 0);
    }
    double highest = 0;
    for (int32_t i = 0; i < r.surface_count; ++i) highest = fmax(highest, r.surface[3 * i + 2]);
    assert_true(highest > 0.01 && highest < 0.05); // m: two or three layers, 4 mm each, and a bend
    CHECK_BELOW(r.stats.penetration, 4e-4);        // m: a tenth of the offset
    close_run(&r);
}

static void a_skirt_falls_into_place_on_a_person(void** state)
{
    (void)state;
    if (!shared_or_skip("data/makehuman/base.obj") || !shared_or_skip("data/makehuman-assets/skirthelper.obj")) return;
    run    r;
    double low, high;
    open_run(&r, "makehuman-skirt", FLX_SHARED_DIR "/data", 0, NULL);
    run_frames(&r, r.scene->run.frames);
    CHECK_BELOW(-least_distance(&r), 1e-3); // m, the legs stay under it although its triangles are 45 mm large
    CHECK_BELOW(share_stretched(&r, 1.1), 0.01);
    extent(&r, 1, &low, &high);
    CHECK_NEAR(high, 0.19, 0.01); // m, the waist
    CHECK_BELOW(r.stats.motion, 1e-3);
    close_run(&r);
}

static void a_suit_is_parted_from_the_body_it_was_drawn_to_hide(void** state)
{
    (void)state;
    const char* const needed[] = {"data/makehuman/base.obj", "data/makehuman-assets/female_elegantsuit01.obj",
                                  "data/makehuman-assets/female_elegantsuit01.mhclo"};
    char              folder[] = "/tmp/flexor-suit-XXXXXX", command[2048], jacket[128], skirt[128];
    const char* const sets[]   = {jacket, skirt, "contact[1].spacing=40 mm"};
    for (int i = 0; i < 3; ++i) shared_or_skip(needed[i]);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "'%s' '%s/%s' '%s/%s' '%s/%s' -o %s/suit.obj 2>/dev/null", FLX_FIT_GARMENT,
             FLX_SHARED_DIR, needed[0], FLX_SHARED_DIR, needed[1], FLX_SHARED_DIR, needed[2], folder);
    assert_int_equal(system(command), 0);
    snprintf(jacket, sizeof jacket, "bodies[jacket].cloth=%s/suit.obj", folder);
    snprintf(skirt, sizeof skirt, "bodies[skirt].cloth=%s/suit.obj", folder);
    run r;
    open_run(&r, "makehuman-suit", FLX_SHARED_DIR "/data", 3, sets);
    assert_int_equal(r.model->body_count, 2);
    CHECK_BELOW(least_distance(&r), -5e-3); // m: they cross at first
    run_frames(&r, 3);
    CHECK_BELOW(r.stats.penetration, 5e-4);      // m, of the offsets of 8 and 4 mm
    CHECK_BELOW(-least_distance(&r), 1e-3);      // m
    CHECK_BELOW(share_stretched(&r, 1.2), 0.02); // the body is a little larger than the suit
    close_run(&r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beam_bends_down_and_comes_to_rest),
        cmocka_unit_test(the_block_rests_on_the_floor_with_its_weight_in_both_modes),
        cmocka_unit_test(the_ball_comes_to_rest_on_the_floor_and_sinks_into_nothing),
        cmocka_unit_test(the_human_arm_compiles_and_its_hand_follows_the_bones),
        cmocka_unit_test(a_strip_lays_itself_down_in_folds_without_a_crossing),
        cmocka_unit_test(a_skirt_falls_into_place_on_a_person),
        cmocka_unit_test(a_suit_is_parted_from_the_body_it_was_drawn_to_hide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
