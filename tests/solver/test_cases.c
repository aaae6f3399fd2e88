// Inputs that broke other engines, and what this one promises on them. They lie in the folder of shared inputs.
#include "fixture.h"

/// A scene of one tet mesh among the cases; `more` are further lines.
static void open_case(fixture* f, const char* mesh, const char* material, const char* more, int override_count,
                      const char* const* overrides)
{
    char        yaml[4096];
    const char* path = shared_or_skip(mesh);
    snprintf(yaml, sizeof yaml, "flexor: 1\nbodies: [{name: b, tets: '%s', material: {%s}}]\n%s", path, material, more);
    fixture_start(f, 2);
    fixture_open(f, yaml, override_count, overrides);
}

static double fastest(const fixture* f)
{
    double speed = 0;
    for (int32_t i = 0; i < f->model->vertex_count; ++i) speed = fmax(speed, flx__norm3(f->state->v + 3 * i));
    return speed;
}

static uint64_t hash_x(const fixture* f)
{
    return flx__hash(FLX_HASH_START, f->state->x, 24 * (int64_t)f->model->vertex_count);
}

static double worst_difference(const fixture* a, const fixture* b) // in the user's numbering
{
    const int32_t n = flx_model_get_info(a->model).vertex_count;
    double *      x = malloc(24 * (size_t)n), *y = malloc(24 * (size_t)n), worst = 0;
    flx_state_positions(a->state, x);
    flx_state_positions(b->state, y);
    for (int32_t i = 0; i < 3 * n; ++i) worst = fmax(worst, fabs(x[i] - y[i]));
    free(x);
    free(y);
    return worst;
}

// --- 17: orientation --------------------------------------------------------------------------------------------

static const char cube_scene[] = "gravity: 9.81\n"
                                 "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [0.1, 2, 2]}}}\n"
                                 "run: {frames: 1, fps: 30}\n";

static void tets_given_inside_out_move_like_the_others(void** state)
{
    (void)state;
    fixture           a, b;
    const char* const sets[] = {"mode=dynamic", "precision=double"};
    open_case(&a, "cases/17-negative-volume-orientation/all_negative.node", "young: 5 kPa", cube_scene, 2, sets);
    open_case(&b, "cases/17-negative-volume-orientation/mixed.node", "young: 5 kPa", cube_scene, 2, sets);
    fixture_steps(&a, 30, NULL);
    fixture_steps(&b, 30, NULL);
    CHECK_BELOW(worst_difference(&a, &b), 1e-12); // m, of a cube of 1 m that falls by a tenth
    assert_true(fastest(&a) > 1e-2);
    fixture_end(&a);
    fixture_end(&b);
}

static void one_tet_moves_the_same_in_all_its_24_orders(void** state)
{
    (void)state;
    double      first[12] = {0}, x[12];
    const char* path      = shared_or_skip("cases/17-negative-volume-orientation/perm.txt");
    FILE*       list      = fopen(path, "r");
    assert_non_null(list);
    int count = 0;
    for (int p[4]; fscanf(list, "%d %d %d %d", &p[0], &p[1], &p[2], &p[3]) == 4; ++count)
    {
        fixture f;
        char    file[128];
        fixture_start(&f, 1);
        snprintf(file, sizeof file, "%s/tet.mesh", f.folder);
        FILE* out = fopen(file, "w");
        assert_non_null(out);
        fprintf(out,
                "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 "
                "0\nTetrahedra\n1\n%d %d %d %d 1\nEnd\n",
                p[0], p[1], p[2], p[3]);
        fclose(out);
        fixture_open(&f,
                     "flexor: 1\ngravity: 9.81\nbodies: [{name: b, tets: tet.mesh, material: {young: 5 kPa}, velocity: "
                     "[1, 0, 2]}]\n"
                     "fix: {body: b, region: {sphere: {center: [1, 0, 0], radius: 0.1}}}\n"
                     "solver: {mode: dynamic, precision: double, outer: 3}\nrun: {frames: 1, fps: 30}\n",
                     0, NULL);
        fixture_steps(&f, 40, NULL);
        flx_state_positions(f.state, x);
        if (count == 0) memcpy(first, x, sizeof x);
        for (int i = 0; i < 12; ++i)
            CHECK_NEAR(x[i], first[i], 1e-11); // m, after a fall of metres: rounding of 40 steps
        fixture_end(&f);
    }
    fclose(list);
    assert_int_equal(count, 24);
}

// --- 19: unreferenced vertices ------------------------------------------------------------------------------------

static void vertices_that_no_element_uses_do_not_move_and_do_not_stop_the_solve(void** state)
{
    (void)state;
    for (int dynamic = 0; dynamic < 2; ++dynamic)
    {
        fixture           f;
        double            x[33];
        const char* const sets[] = {dynamic ? "mode=dynamic" : "mode=quasistatic"};
        open_case(&f, "cases/19-unreferenced-vertices/cube_plus3.node", "young: 5 kPa", cube_scene, 1, sets);
        fixture_steps(&f, 10, NULL);
        flx_state_positions(f.state, x);
        static const double unused[9] = {5, 5, 5, 9, 0, 0, 0.5, 0.5, 0.5};
        assert_memory_equal(x + 24, unused, sizeof unused);
        assert_true(x[3 * 1 + 2] < -1e-3); // the others do
        fixture_end(&f);
    }
}

// --- 27: iterations ---------------------------------------------------------------------------------------------

static void rest_shape_does_not_depend_on_steps_or_iterations_once_they_converged(void** state)
{
    (void)state;
    static const char        scene[]  = "gravity: 9.81\nup: y\n"
                                        "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
                                        "solver: {mode: dynamic, damping: 10}\nrun: {frames: 1, fps: 30}\n";
    static const int         rate[4]  = {30, 60, 120, 240};
    static const char* const outer[2] = {"outer=20", "outer=100"};
    double                   first    = 0;
    for (int r = 0; r < 4; ++r)
        for (int o = 0; o < 2; ++o)
        {
            fixture f;
            char    fps[32];
            snprintf(fps, sizeof fps, "run.fps=%d", rate[r]);
            open_case(&f, "cases/27-time-step-dependence/beam.mesh", "young: 100 kPa, density: 1000 kg/m3", scene, 2,
                      (const char* const[]){fps, outer[o]});
            fixture_steps(&f, 2 * rate[r], NULL); // 2 s
            double tip = 0;
            for (int32_t i = 0; i < f.model->vertex_count; ++i)
                tip = fmin(tip, f.state->x[3 * i + 1] - f.model->x_rest[3 * i + 1]);
            if (r == 0 && o == 0) first = tip;
            assert_true(tip < -1e-3);
            CHECK_NEAR(tip, first, 0.01 * fabs(first));
            fixture_end(&f);
        }
}

static void too_few_iterations_show_in_the_residual(void** state)
{
    (void)state;
    static const char        scene[] = "gravity: 9.81\nup: y\n"
                                       "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
                                       "run: {frames: 1, fps: 30}\n";
    double                   residual[3];
    static const char* const outer[3] = {"outer=20", "outer=100", "outer=400"};
    for (int i = 0; i < 3; ++i)
    {
        fixture        f;
        flx_step_stats stats;
        open_case(&f, "cases/27-time-step-dependence/beam.mesh", "young: 100 kPa", scene, 1, &outer[i]);
        fixture_steps(&f, 1, &stats);
        residual[i] = stats.residual;
        fixture_end(&f);
    }
    assert_true(residual[0] > residual[1] && residual[1] > residual[2]);
    CHECK_BELOW(residual[2], 0.02 * residual[0]);
}

// --- 28: momentum -------------------------------------------------------------------------------------------------

static void a_free_body_at_rest_does_not_move_a_bit_in_ten_thousand_steps(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i)
    {
        fixture           f;
        const char* const sets[] = {i ? "precision=double" : "precision=single"};
        open_case(&f, "cases/28-momentum-drift/ell.mesh", "young: 100 kPa",
                  "solver: {mode: dynamic}\nrun: {frames: 1, fps: 60}\n", 1, sets);
        const uint64_t before = hash_x(&f);
        fixture_steps(&f, 10000, NULL);
        assert_true(hash_x(&f) == before);
        assert_true(fastest(&f) == 0);
        fixture_end(&f);
    }
}

static void thrown_it_flies_straight_welded_or_not(void** state)
{
    (void)state;
    static const char* const mesh[2] = {"cases/28-momentum-drift/ell.mesh",
                                        "cases/28-momentum-drift/ell_unwelded.mesh"};
    for (int i = 0; i < 2; ++i)
    {
        fixture f;
        open_case(&f, mesh[i], "young: 100 kPa",
                  "solver: {mode: dynamic, precision: double}\nrun: {frames: 1, fps: 60}\n", 0, NULL);
        const flx_model*    m           = f.model;
        static const double velocity[3] = {3, -2, 1};
        for (int32_t v = 0; v < m->vertex_count; ++v) memcpy(f.state->v + 3 * v, velocity, sizeof velocity);
        for (int k = 1; k <= 300; ++k)
        {
            fixture_steps(&f, 1, NULL);
            double c[3] = {0}, c0[3] = {0}, mass = 0;
            for (int32_t v = 0; v < m->vertex_count; ++v)
            {
                mass += m->mass[v];
                for (int a = 0; a < 3; ++a)
                    c[a] += m->mass[v] * f.state->x[3 * v + a], c0[a] += m->mass[v] * m->x_rest[3 * v + a];
            }
            for (int a = 0; a < 3; ++a)
                CHECK_NEAR(c[a] / mass, c0[a] / mass + velocity[a] * k / 60, 1e-10 * k * 3 / 60 + 1e-14);
        }
        fixture_end(&f);
    }
}

static void let_go_from_a_stretch_its_middle_stays(void** state)
{
    (void)state;
    fixture f;
    open_case(&f, "cases/28-momentum-drift/ell.mesh", "young: 100 kPa",
              "solver: {mode: dynamic, precision: double, outer: 3}\nrun: {frames: 1, fps: 60}\n", 0, NULL);
    const flx_model* m     = f.model;
    double           c0[3] = {0}, mass = 0;
    for (int32_t v = 0; v < m->vertex_count; ++v)
    {
        f.state->x[3 * v] *= 1.2;
        mass += m->mass[v];
        for (int a = 0; a < 3; ++a) c0[a] += m->mass[v] * f.state->x[3 * v + a];
    }
    for (int k = 1; k <= 300; ++k)
    {
        fixture_steps(&f, 1, NULL);
        double c[3] = {0};
        for (int32_t v = 0; v < m->vertex_count; ++v)
            for (int a = 0; a < 3; ++a) c[a] += m->mass[v] * f.state->x[3 * v + a];
        for (int a = 0; a < 3; ++a) CHECK_NEAR(c[a] / mass, c0[a] / mass, 1e-12); // m
        if (k == 1) assert_true(fastest(&f) > 0.1);
    }
    fixture_end(&f);
}

// --- 29: contact jitter --------------------------------------------------------------------------------------------

static const char floor_scene[] =
    "gravity: 9.81\nup: y\n"
    "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 1, 0]}}]\n"
    "contact: [{body: b, obstacle: floor, region: {box: {min: [-1, -1, -1], max: [1, 0.06, 1]}}}]\n"
    "solver: {mode: dynamic, outer: 5, damping: 1}\nrun: {frames: 1, fps: 60}\n";

static void a_block_comes_to_rest_on_the_floor_and_no_contact_flickers(void** state)
{
    (void)state;
    static const char* const mesh[3] = {"cases/29-contact-jitter/block.mesh",
                                        "cases/29-contact-jitter/block_touching.mesh",
                                        "cases/29-contact-jitter/block_10mm_above.mesh"};
    for (int i = 0; i < 3; ++i)
    {
        fixture        f;
        flx_step_stats stats;
        open_case(&f, mesh[i], "young: 50 kPa, density: 1000 kg/m3", floor_scene, 0, NULL);
        const double weight = 0.008 * 1000 * 9.81;
        fixture_steps(&f, 180, NULL); // 3 s
        const double before = fastest(&f);
        CHECK_BELOW(before, 1e-3); // m/s
        int switched = 0;
        for (int k = 0; k < 120; ++k)
        {
            fixture_steps(&f, 1, &stats);
            switched += stats.switched;
            CHECK_NEAR(stats.contact_force[1], weight, 1e-3 * weight);
            // 25 contacts share the weight, corners more than the middle
            CHECK_BELOW(stats.penetration, weight / f.model->group[0].stiffness);
        }
        assert_int_equal(switched, 0);
        CHECK_BELOW(fastest(&f), fmax(before, 1e-6)); // and falling, down to rounding: 1e-7 m/s in single precision
        fixture_end(&f);
    }
}

/// Elastic, kinetic and potential energy, J.
static double energy_of(const fixture* f)
{
    double energy = flx_solver_energy(f->solver, f->state);
    for (int32_t v = 0; v < f->model->vertex_count; ++v)
        energy += f->model->mass[v] *
                  (0.5 * flx__dot3(f->state->v + 3 * v, f->state->v + 3 * v) + 9.81 * f->state->x[3 * v + 1]);
    return energy;
}

static void energy_on_the_floor_does_not_grow_in_a_minute(void** state)
{
    (void)state;
    fixture f;
    open_case(&f, "cases/29-contact-jitter/block_10mm_above.mesh", "young: 50 kPa, density: 1000 kg/m3", floor_scene, 2,
              (const char* const[]){"damping=0", "outer=2"});
    const double drop = 0.008 * 1000 * 9.81 * 0.01; // J, what the fall of 1 cm gives
    double       last = energy_of(&f);
    const double most = last + 1e-6 * drop;
    for (int k = 0; k < 60; ++k)
    {
        fixture_steps(&f, 60, NULL);
        const double now = energy_of(&f);
        CHECK_BELOW(now, most);
        if (k > 3) CHECK_BELOW(now, last + 1e-6 * drop); // at rest: nothing comes back
        last = now;
    }
    fixture_end(&f);
}

// --- 33: things switched on and off --------------------------------------------------------------------------

static void a_hook_switched_on_where_things_are_moves_nothing(void** state)
{
    (void)state;
    fixture f;
    open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 100 kPa",
              "fix:\n"
              "  - {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
              "  - {body: b, region: {sphere: {center: [0.2, 0.025, 0.025], radius: 0.01}}, from: 0.2, until: 0.4}\n"
              "solver: {mode: dynamic}\nrun: {frames: 1, fps: 30}\n",
              0, NULL);
    const uint64_t before = hash_x(&f);
    for (int k = 0; k < 20; ++k)
    {
        const uint64_t set = f.solver->spring_set;
        fixture_steps(&f, 1, NULL);
        if (k == 5 || k == 11) assert_true(f.solver->spring_set != set); // it came, it went
        assert_true(hash_x(&f) == before);
    }
    fixture_end(&f);
}

static void a_hook_far_away_pulls_without_overshoot(void** state)
{
    (void)state;
    // the tip hangs about 5 cm low when the hook begins to hold it where it was at rest
    for (int dynamic = 0; dynamic < 2; ++dynamic)
    {
        fixture           f;
        const char* const sets[] = {dynamic ? "mode=dynamic" : "mode=quasistatic"};
        open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 20 kPa, density: 1000 kg/m3",
                  "gravity: 9.81\nup: y\n"
                  "fix:\n"
                  "  - {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n"
                  "  - {body: b, region: {sphere: {center: [0.2, 0.025, 0.025], radius: 0.001}}, from: 1}\n"
                  "solver: {outer: 10, damping: 5}\nrun: {frames: 1, fps: 30}\n",
                  1, sets);
        int32_t tip = -1;
        for (int32_t s = 0; s < f.model->spring_count; ++s)
            if (f.model->spring[s].from == 1)
            {
                assert_int_equal(tip, -1);
                tip = f.model->spring[s].vertex[0];
            }
        fixture_steps(&f, 29, NULL);
        const double start = flx__distance3(f.state->x + 3 * tip, f.model->x_rest + 3 * tip);
        assert_true(start > 0.03);
        double last = start;
        for (int k = 0; k < 60; ++k)
        {
            fixture_steps(&f, 1, NULL);
            const double now = flx__distance3(f.state->x + 3 * tip, f.model->x_rest + 3 * tip);
            CHECK_BELOW(now, start * (1 + 1e-9));
            // never above the target by more than the spring gives under the tip's share of the weight
            assert_true(f.state->x[3 * tip + 1] < f.model->x_rest[3 * tip + 1] + 1e-3 * start);
            last = now;
        }
        CHECK_BELOW(last, 0.01 * start);
        fixture_end(&f);
    }
}

static void a_hook_that_came_and_went_leaves_no_trace(void** state)
{
    (void)state;
    // the same with and without it: the factor is the old one again
    double x[2][3 * 81];
    for (int hook = 0; hook < 2; ++hook)
    {
        fixture f;
        char    more[1024];
        snprintf(more, sizeof more,
                 "fix:\n"
                 "  - {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n%s"
                 "loads: {body: b, region: {box: {min: [0.19, -1, -1], max: [1, 1, 1]}}, force: [0, 1, 0], from: 0.5}\n"
                 "solver: {mode: dynamic, precision: double, outer: 3}\nrun: {frames: 1, fps: 30}\n",
                 hook ? "  - {body: b, region: {sphere: {center: [0.2, 0.025, 0.025], radius: 0.01}}, from: 0.1, "
                        "until: 0.4}\n"
                      : "");
        open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 100 kPa", more, 0, NULL);
        assert_int_equal(f.model->vertex_count, 81);
        fixture_steps(&f, 30, NULL);
        flx_state_positions(f.state, x[hook]);
        double moved = 0;
        for (int i = 0; i < 3 * 81; ++i) moved = fmax(moved, fabs(f.state->x[i] - f.model->x_rest[i]));
        assert_true(moved > 1e-3);
        fixture_end(&f);
    }
    for (int i = 0; i < 3 * 81; ++i) CHECK_NEAR(x[1][i], x[0][i], 1e-10); // m
}

static void when_the_last_hook_lets_go_the_step_says_so_and_the_run_can_be_reset(void** state)
{
    (void)state;
    fixture f;
    open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 100 kPa",
              "gravity: 9.81\nup: y\n"
              "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}, until: 0.1}\n"
              "run: {frames: 1, fps: 30}\n",
              0, NULL);
    flx_context* ctx   = f.ctx;
    flx_state*   start = NULL;
    CHECK_OK(flx_state_create(ctx, f.model, &start));
    fixture_steps(&f, 2, NULL);
    const uint64_t before = flx_state_hash(f.state);
    for (int again = 0; again < 2; ++again)
    {
        CHECK_FAILS(flx_solver_step(f.solver, f.state, NULL), FLX_ERR_UNHELD);
        assert_non_null(strstr(flx_context_error(ctx), "body 'b'"));
        assert_true(flx_state_hash(f.state) == before);
    }
    flx_state_copy(f.state, start);
    fixture_steps(&f, 2, NULL);
    assert_true(flx_state_hash(f.state) == before);
    flx_state_destroy(start);
    fixture_end(&f);
}

static const char bone_scene[] =
    "bones: [{name: rod, capsule: {from: [0.13, 0.025, 0.025], to: [0.18, 0.025, 0.025], radius: 10 mm}}]\n"
    "attach: {body: b, bones: [rod], points: 200, stiffness: 2 N/mm}\n"
    "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [1e-6, 1, 1]}}}\n";

static void flesh_follows_a_bone_that_jumps_by_ninety_degrees(void** state)
{
    (void)state;
    for (int dynamic = 0; dynamic < 2; ++dynamic)
        for (int wide = 0; wide < 2; ++wide)
        {
            fixture           f;
            flx_step_stats    stats;
            char              more[1024];
            const char* const sets[] = {dynamic ? "mode=dynamic" : "mode=quasistatic",
                                        wide ? "precision=double" : "precision=single"};
            snprintf(more, sizeof more,
                     "%smotion: [{bone: rod, about: [0.08, 0.025, 0.025], axis: [0, 0, 1], keys: [{time: 0}, {time: "
                     "0.03, angle: 90 deg}]}]\n"
                     "solver: {outer: 50, damping: 2}\nrun: {frames: 1, fps: 30}\n",
                     bone_scene);
            open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 30 kPa, density: 1000 kg/m3", more, 2, sets);
            fixture_steps(&f, 1, &stats); // the whole turn in one frame: 50 iterations
            assert_true(isfinite(stats.residual) && isfinite(stats.energy));
            if (!dynamic) assert_int_equal(stats.inverted, 0);
            fixture_steps(&f, 10, &stats);
            assert_int_equal(stats.inverted, 0);
            CHECK_BELOW(fastest(&f), dynamic ? 1.0 : 0.1); // m/s: no explosion
            fixture_end(&f);
        }
}

static void flesh_is_at_the_bone_of_this_frame_not_of_the_one_before(void** state)
{
    (void)state;
    fixture f;
    char    more[1024];
    snprintf(more, sizeof more,
             "%smotion: [{bone: rod, keys: [{time: 0}, {time: 1, translate: [0, 0.06, 0]}]}]\n"
             "solver: {outer: 50}\nrun: {frames: 1, fps: 30}\n",
             bone_scene);
    open_case(&f, "cases/33-pin-activation-pop/beam.mesh", "young: 30 kPa, density: 1000 kg/m3", more, 0, NULL);
    for (int k = 1; k <= 10; ++k)
    {
        fixture_steps(&f, 1, NULL);
        double mean = 0; // how far the points on the bone have gone
        for (int32_t s = 0; s < f.model->spring_count; ++s)
        {
            const flx_spring* p = &f.model->spring[s];
            if (p->bone != 0) continue;
            for (int c = 0; c < 4; ++c)
                mean += p->weight[c] / 200 * (f.state->x[3 * p->vertex[c] + 1] - f.model->x_rest[3 * p->vertex[c] + 1]);
        }
        CHECK_NEAR(mean, 0.06 * k / 30, 0.1 * 0.06 / 30); // m: a tenth of a frame's way
    }
    fixture_end(&f);
}

// --- 38: long runs -------------------------------------------------------------------------------------------

static long resident_pages(void)
{
    long  size = 0, resident = 0;
    FILE* in = fopen("/proc/self/statm", "r");
    if (!in) return 0;
    if (fscanf(in, "%ld %ld", &size, &resident) != 2) resident = 0;
    fclose(in);
    return resident;
}

static void memory_stays_flat_and_tets_positive_over_three_thousand_steps(void** state)
{
    (void)state;
    fixture        f;
    flx_step_stats stats;
    open_case(&f, "cases/38-memory-and-long-run/block.mesh", "young: 50 kPa, density: 1000 kg/m3",
              "gravity: 9.81\nup: y\n"
              "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 1, 0]}}]\n"
              "contact: [{body: b, obstacle: floor, region: all}]\n"
              "solver: {mode: dynamic, outer: 2}\nrun: {frames: 1, fps: 60}\n",
              0, NULL);
    const double top   = energy_of(&f);
    double       speed = 0;
    for (int k = 0; k < 1000; ++k)
    {
        fixture_steps(&f, 1, &stats);
        speed = fmax(speed, fastest(&f));
    }
    const long    pages = resident_pages();
    const int64_t bytes = flx_context_bytes_now(f.ctx);
    for (int k = 0; k < 2000; ++k)
    {
        fixture_steps(&f, 1, &stats);
        assert_int_equal(stats.inverted, 0);
        speed = fmax(speed, fastest(&f));
    }
    if (pages == 0) print_message("    /proc is not there: resident memory is not looked at\n");
    CHECK_BELOW((double)resident_pages(), 1.01 * (double)pages + 1);
    assert_true(flx_context_bytes_now(f.ctx) == bytes);
    CHECK_BELOW(energy_of(&f), top);
    CHECK_BELOW(speed,
                1.5 * sqrt(2 * 9.81 * 0.3)); // m/s: the fall from 0.3 m, and half as much in the bounce of a corner
    fixture_end(&f);
}

// --- 22: cloth that is not clean -----------------------------------------------------------------------------------

/// Held at the origin, pulled down by gravity; for `steps` steps.
static void drop_cloth(fixture* f, const char* mesh, int steps)
{
    char              yaml[4096];
    const char* const sets[] = {"precision=double"};
    const char*       path   = shared_or_skip(mesh);
    snprintf(yaml, sizeof yaml,
             "flexor: 1\ngravity: 9.81\nbodies: [{name: b, cloth: '%s', material: {area_density: 200 g/m2},\n"
             "  constraints: [{strain: 100 N/m}, {bending: 1 mN m}]}]\n"
             "fix: {body: b, region: {sphere: {center: [0, 0, 0], radius: 1 cm}}}\n"
             "solver: {mode: dynamic, outer: 10}\nrun: {fps: 60}\n",
             path);
    fixture_start(f, 2);
    fixture_open(f, yaml, 1, sets);
    fixture_steps(f, steps, NULL);
}

static double mass_of(const fixture* f)
{
    double mass = 0;
    for (int32_t v = 0; v < f->model->vertex_count; ++v) mass += f->model->mass[v];
    return mass;
}

static void cloth_moves_the_same_whichever_way_its_triangles_are_wound(void** state)
{
    (void)state;
    fixture a, b;
    drop_cloth(&a, "cases/22-nonmanifold-cloth/flipped.obj", 30);
    drop_cloth(&b, "cases/22-nonmanifold-cloth/consistent.obj", 30);
    assert_true(fastest(&a) > 0.1);
    CHECK_BELOW(worst_difference(&a, &b), 1e-9); // m, of a sheet of 1 m: another order of sums, thirty steps on
    fixture_end(&a);
    fixture_end(&b);
}

static void a_triangle_given_twice_weighs_once(void** state)
{
    (void)state;
    fixture f;
    drop_cloth(&f, "cases/22-nonmanifold-cloth/twice.obj", 1);
    CHECK_NEAR(mass_of(&f), 0.5 * 0.2, 1e-15); // kg: half a square metre
    fixture_end(&f);
}

static void three_sheets_on_an_edge_and_two_fans_at_a_point_stay_together(void** state)
{
    (void)state;
    static const struct
    {
        const char* mesh;
        double      area; // m^2
    } cases[] = {{"cases/22-nonmanifold-cloth/book.obj", 1.5},
                 {"cases/22-nonmanifold-cloth/bowtie.obj", 1.0},
                 {"cases/22-nonmanifold-cloth/tjunction.obj", 2.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        fixture f;
        drop_cloth(&f, cases[i].mesh, 60);
        CHECK_NEAR(mass_of(&f), cases[i].area * 0.2, 1e-14);
        for (int32_t v = 0; v < f.model->vertex_count; ++v)
            CHECK_BELOW(flx__norm3(f.state->x + 3 * v), 3.0); // m: what hangs on the origin is at most 2 m long
        assert_true(fastest(&f) > 1e-3);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tets_given_inside_out_move_like_the_others),
        cmocka_unit_test(one_tet_moves_the_same_in_all_its_24_orders),
        cmocka_unit_test(vertices_that_no_element_uses_do_not_move_and_do_not_stop_the_solve),
        cmocka_unit_test(rest_shape_does_not_depend_on_steps_or_iterations_once_they_converged),
        cmocka_unit_test(too_few_iterations_show_in_the_residual),
        cmocka_unit_test(a_free_body_at_rest_does_not_move_a_bit_in_ten_thousand_steps),
        cmocka_unit_test(thrown_it_flies_straight_welded_or_not),
        cmocka_unit_test(let_go_from_a_stretch_its_middle_stays),
        cmocka_unit_test(a_block_comes_to_rest_on_the_floor_and_no_contact_flickers),
        cmocka_unit_test(energy_on_the_floor_does_not_grow_in_a_minute),
        cmocka_unit_test(a_hook_switched_on_where_things_are_moves_nothing),
        cmocka_unit_test(a_hook_far_away_pulls_without_overshoot),
        cmocka_unit_test(a_hook_that_came_and_went_leaves_no_trace),
        cmocka_unit_test(when_the_last_hook_lets_go_the_step_says_so_and_the_run_can_be_reset),
        cmocka_unit_test(flesh_follows_a_bone_that_jumps_by_ninety_degrees),
        cmocka_unit_test(flesh_is_at_the_bone_of_this_frame_not_of_the_one_before),
        cmocka_unit_test(cloth_moves_the_same_whichever_way_its_triangles_are_wound),
        cmocka_unit_test(a_triangle_given_twice_weighs_once),
        cmocka_unit_test(three_sheets_on_an_edge_and_two_fans_at_a_point_stay_together),
        cmocka_unit_test(memory_stays_flat_and_tets_positive_over_three_thousand_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
