// What mechanics says, and the engine must.
#include "fixture.h"

/// Mean z displacement of the face at x = 1 m.
static double tip_of(const fixture* f)
{
    double  tip   = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < f->model->vertex_count; ++i)
        if (f->model->x_rest[3 * i] > 0.999999) tip += f->state->x[3 * i + 2] - f->model->x_rest[3 * i + 2], ++count;
    return tip / count;
}

/// Local/global rounds until no vertex moves more than the tolerance in one. Rounds bend a slender beam slowly, each a
/// fixed part of what is left, (h/2L)^2; every other step the rest is guessed from the last two as a geometric series,
/// which only sets where the next rounds start.
static void settle(fixture* f)
{
    const int32_t  values = 3 * f->model->vertex_count;
    double*        before = malloc(sizeof(double) * (size_t)values);
    double*        change = calloc((size_t)values, sizeof(double));
    flx_step_stats stats;
    for (int k = 0; k < 400; ++k)
    {
        memcpy(before, f->state->x, sizeof(double) * (size_t)values);
        fixture_steps(f, 1, &stats);
        if (stats.motion <= f->solver->settings.tolerance) break;
        double along = 0, size = 0;
        for (int32_t i = 0; i < values; ++i)
        {
            const double now = f->state->x[i] - before[i];
            along += now * change[i];
            size += change[i] * change[i];
            change[i] = now;
        }
        const double part = size > 0 ? along / size : 0;
        if (k % 2 == 0 || part <= 0 || part >= 1) continue;
        for (int32_t i = 0; i < values; ++i) f->state->x[i] += part / (1 - part) * change[i], change[i] = 0;
    }
    free(before);
    free(change);
    assert_true(stats.motion <= f->solver->settings.tolerance);
}

/// Tip deflection under a small end load of a cantilever of length L = 1 m and thickness h = L/8, `across` bricks thick
/// and one wide (nu = 0: the width does not matter), divided by Euler-Bernoulli's P L^3 / (3 E I) with E = 2 mu.
static double cantilever_ratio(int across)
{
    fixture f;
    fixture_start(&f, 2);
    const double h = 0.125, edge = h / across, inertia = edge * h * h * h / 12;
    const double tip = 1e-3, load = tip * 3 * 1e6 * inertia; // small: 1 mm
    fixture_bricks(&f, "beam.mesh", (const int[3]){8 * across, 1, across}, (const double[3]){0, 0, 0},
                   (const double[3]){edge, edge, edge});
    char yaml[600];
    snprintf(yaml, sizeof yaml,
             "flexor: 1\n"
             "bodies: [{name: beam, tets: beam.mesh, material: {young: 1 MPa, density: 1000 kg/m3}}]\n"
             "fix: {body: beam, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}, stiffness: 1e7}\n"
             "loads: {body: beam, region: {box: {min: [0.999999, -1, -1], max: [2, 1, 1]}}, force: [0, 0, %.17g]}\n"
             "solver: {outer: 150, tolerance: 4e-10}\n"
             "run: {frames: 1, fps: 30}\n",
             -load);
    fixture_open(&f, yaml, 0, NULL);
    settle(&f);
    const double coarse          = -tip_of(&f) / tip;
    f.solver->settings.tolerance = 1e-10; // a quarter: the answer is converged when it stays
    settle(&f);
    const double ratio = -tip_of(&f) / tip;
    CHECK_NEAR(coarse, ratio, 1e-3);
    fixture_end(&f);
    return ratio;
}

static void cantilever_converges_to_euler_bernoulli(void** state)
{
    (void)state;
    // Euler-Bernoulli knows no shear, which adds 0.6 (h/L)^2 with nu = 0: 0.94 % here, that a fine mesh must show
    double before = 1;
    for (int across = 2; across <= 10; across += 4)
    {
        const double ratio = cantilever_ratio(across), error = fabs(ratio - 1);
        print_message("    %d elements across: %.2f %% off\n", across, 100 * error);
        CHECK_BELOW(error, before);
        assert_true(ratio < 1 + 0.6 / 64); // displacements too small on every mesh: linear elements are too stiff
        before = error;
    }
    CHECK_BELOW(before, 0.02);
}

static const char free_yaml[] =
    "flexor: 1\n"
    "bodies: [{name: b, tets: b.mesh, material: {young: 30 kPa, density: 1000 kg/m3}, velocity: [1, 0.5, 2]}]\n"
    "solver: {mode: dynamic, outer: 2}\n"
    "run: {frames: 1, fps: 100}\n";

static void open_free(fixture* f, int override_count, const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_box(f, "b.mesh", (const int[3]){4, 3, 2}, (const double[3]){0, 0, 0}, 0.05, 1, 0);
    fixture_open(f, free_yaml, override_count, overrides);
}

static void momentum(const fixture* f, double p[3], double center[3])
{
    double mass = 0;
    for (int c = 0; c < 3; ++c) p[c] = center[c] = 0;
    for (int32_t i = 0; i < f->model->vertex_count; ++i)
    {
        mass += f->model->mass[i];
        for (int c = 0; c < 3; ++c)
        {
            p[c] += f->model->mass[i] * f->state->v[3 * i + c];
            center[c] += f->model->mass[i] * f->state->x[3 * i + c];
        }
    }
    for (int c = 0; c < 3; ++c) center[c] /= mass;
}

static void free_fall_follows_the_schemes_closed_form(void** state)
{
    (void)state;
    for (int precision = 0; precision < 2; ++precision)
    {
        fixture           f;
        const char* const sets[] = {precision ? "precision=double" : "precision=single", "gravity=9.81"};
        open_free(&f, 2, sets);
        double p[3], c0[3], c[3];
        momentum(&f, p, c0);
        const double h = 0.01;
        for (int k = 1; k <= 200; ++k)
        {
            fixture_steps(&f, 1, NULL);
            momentum(&f, p, c);
            // backward Euler: v_k = v_0 - g k h,  z_k = z_0 + v_0 k h - g h^2 k (k + 1) / 2
            CHECK_NEAR(c[2], c0[2] + 2 * k * h - 9.81 * h * h * k * (k + 1) / 2, 1e-9); // m, after a fall of 16 m
            CHECK_NEAR(c[0], c0[0] + 1 * k * h, 1e-9);
        }
        // and it falls without changing shape; in single precision each step rounds its motion, up to 0.18 m, by 6e-8
        // of itself: 1e-8 m, which velocities remember: after 200 steps and 60 body sizes 7e-8 m, and 3e-7 m are
        // allowed
        const double shape = 1e-6 * f.model->size;
        for (int32_t i = 0; i < f.model->vertex_count; ++i)
            for (int k = 0; k < 3; ++k)
                CHECK_NEAR(f.state->x[3 * i + k] - c[k], f.model->x_rest[3 * i + k] - c0[k], precision ? 1e-10 : shape);
        fixture_end(&f);
    }
}

/// Stretched along x by `stretch`, turning about z with 3 rad/s.
static void pull_and_spin(fixture* f, double stretch)
{
    double p[3], c[3];
    momentum(f, p, c);
    for (int32_t i = 0; i < f->model->vertex_count; ++i)
    {
        double* x = f->state->x + 3 * i;
        double* v = f->state->v + 3 * i;
        x[0] += stretch * (x[0] - c[0]);
        v[0] -= 3 * (x[1] - c[1]), v[1] += 3 * (x[0] - c[0]);
    }
}

static void momentum_is_kept_over_a_thousand_free_steps(void** state)
{
    (void)state;
    // pre-stretched by a fifth, spinning and thrown: inner forces at work all the time (case 28)
    for (int precision = 0; precision < 2; ++precision)
    {
        fixture           f;
        const char* const sets[] = {precision ? "precision=double" : "precision=single"};
        open_free(&f, 1, sets);
        double p0[3], p[3], c0[3], c[3];
        pull_and_spin(&f, 0.2);
        momentum(&f, p0, c0);
        const double size = flx__norm3(p0);
        for (int k = 1; k <= 1000; ++k)
        {
            fixture_steps(&f, 1, NULL);
            momentum(&f, p, c);
            // single precision: forces of an element sum to zero up to its rounding, which then walks randomly
            const double tolerance = precision ? 1e-9 : 1e-5;
            for (int a = 0; a < 3; ++a) CHECK_NEAR(p[a], p0[a], tolerance * size);
            for (int a = 0; a < 3; ++a)
                CHECK_NEAR(c[a], c0[a] + 0.01 * k * p0[a] / (0.2 * 0.15 * 0.1 * 1000),
                           precision ? 1e-9 : 1e-5 * k * 0.01);
        }
        fixture_end(&f);
    }
}

static double spin_of(const fixture* f)
{
    double p[3], c[3], spin = 0;
    momentum(f, p, c);
    for (int32_t i = 0; i < f->model->vertex_count; ++i)
    {
        const double* x = f->state->x + 3 * i;
        const double* v = f->state->v + 3 * i;
        spin += f->model->mass[i] * ((x[0] - c[0]) * v[1] - (x[1] - c[1]) * v[0]);
    }
    return spin;
}

static void spin_never_grows_and_shrinks_less_with_smaller_steps(void** state)
{
    (void)state;
    // implicit Euler takes spin away: about (omega h)^2 of it a step
    double kept[2];
    for (int fine = 0; fine < 2; ++fine)
    {
        fixture           f;
        const char* const sets[] = {"outer=20", "precision=double", fine ? "run.fps=200" : "run.fps=100"};
        open_free(&f, 3, sets);
        pull_and_spin(&f, 0);
        const double start = spin_of(&f);
        double       last  = start;
        for (int k = 0; k < (fine ? 200 : 100); ++k) // 1 s, half a turn
        {
            fixture_steps(&f, 1, NULL);
            const double now = spin_of(&f);
            assert_true(now > 0);
            CHECK_BELOW(now, last * (1 + 1e-9));
            last = now;
        }
        kept[fine] = last / start;
        fixture_end(&f);
    }
    assert_true(kept[0] > 0.8 && kept[1] > kept[0]);
    CHECK_NEAR(1 - kept[1], 0.5 * (1 - kept[0]), 0.1 * (1 - kept[0])); // first order in h
}

static void open_block(fixture* f, int override_count, const char* const* overrides)
{
    fixture_start(f, 2);
    fixture_box(f, "block.mesh", (const int[3]){5, 5, 5}, (const double[3]){-0.1, -0.1, 0}, 0.04, 1, 0);
    fixture_open(f,
                 "flexor: 1\n"
                 "gravity: 9.81\n"
                 "bodies: [{name: block, tets: block.mesh, material: {young: 50 kPa, density: 1000 kg/m3}}]\n"
                 "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]\n"
                 "contact: [{body: block, obstacle: floor, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.001]}}, "
                 "stiffness: 20000}]\n"
                 "run: {frames: 1, fps: 60}\n",
                 override_count, overrides);
}

/// Contact forces carry the weight, nothing sinks deeper than the springs allow, nothing switches after settling.
static void block_rests(int override_count, const char* const* overrides, int settle, int watch)
{
    fixture f;
    open_block(&f, override_count, overrides);
    flx_step_stats stats;
    const double   weight = 0.2 * 0.2 * 0.2 * 1000 * 9.81;
    fixture_steps(&f, settle, &stats);
    double speed = 0;
    for (int k = 0; k < watch; ++k)
    {
        fixture_steps(&f, 1, &stats);
        assert_int_equal(stats.switched, 0);
        CHECK_NEAR(stats.contact_force[2], weight, 1e-3 * weight);
        // 36 proxies of 20000 N/m share the weight; the corners of a soft block carry more than the middle
        CHECK_BELOW(stats.penetration, weight / 20000);
    }
    for (int32_t i = 0; i < 3 * f.model->vertex_count; ++i) speed = fmax(speed, fabs(f.state->v[i]));
    CHECK_BELOW(speed, 1e-3); // m/s (case 29)
    for (int32_t i = 0; i < f.model->vertex_count; ++i) assert_true(f.state->x[3 * i + 2] > -weight / 20000);
    fixture_end(&f);
}

static void block_on_floor_carries_its_weight_and_comes_to_rest(void** state)
{
    (void)state;
    block_rests(3, (const char* const[]){"mode=quasistatic", "proximal=100", "outer=20"}, 40, 40);
    block_rests(3, (const char* const[]){"mode=dynamic", "outer=10", "damping=2"}, 240, 120);
    block_rests(4, (const char* const[]){"mode=dynamic", "outer=10", "damping=2", "precision=double"}, 240, 60);
}

static void rest_shape_does_not_depend_on_the_time_step(void** state)
{
    (void)state;
    // case 27: the static tip of a held beam, dynamic steps run to rest
    double      tip[3];
    const char* rates[3] = {"run.fps=30", "run.fps=60", "run.fps=120"};
    for (int k = 0; k < 3; ++k)
    {
        fixture f;
        fixture_start(&f, 2);
        fixture_box(&f, "beam.mesh", (const int[3]){10, 2, 2}, (const double[3]){0, 0, 0}, 0.05, 1, 0);
        fixture_open(&f,
                     "flexor: 1\ngravity: 9.81\n"
                     "bodies: [{name: beam, tets: beam.mesh, material: {young: 200 kPa, density: 1000 kg/m3}}]\n"
                     "fix: {body: beam, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
                     "solver: {mode: dynamic, outer: 20, damping: 5}\nrun: {frames: 1, fps: 30}\n",
                     1, &rates[k]);
        fixture_steps(&f, 90 << k, NULL); // 3 s: the swing has died to e^-7
        tip[k] = 0;
        for (int32_t i = 0; i < f.model->vertex_count; ++i)
            if (f.model->x_rest[3 * i] > 0.499)
                tip[k] = fmin(tip[k], f.state->x[3 * i + 2] - f.model->x_rest[3 * i + 2]);
        fixture_end(&f);
    }
    assert_true(tip[0] < -0.01);
    CHECK_NEAR(tip[1], tip[0], 0.01 * fabs(tip[0]));
    CHECK_NEAR(tip[2], tip[0], 0.01 * fabs(tip[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilever_converges_to_euler_bernoulli),
        cmocka_unit_test(free_fall_follows_the_schemes_closed_form),
        cmocka_unit_test(momentum_is_kept_over_a_thousand_free_steps),
        cmocka_unit_test(spin_never_grows_and_shrinks_less_with_smaller_steps),
        cmocka_unit_test(block_on_floor_carries_its_weight_and_comes_to_rest),
        cmocka_unit_test(rest_shape_does_not_depend_on_the_time_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
