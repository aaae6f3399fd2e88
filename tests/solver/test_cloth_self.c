// Cloth that touches itself: layers keep their distance and their order, by forces that add up to nothing.
#include "solver/scenes.h"

#include "contact/cloth_contact.h"

static void write_file(const fixture* f, const char* name, const char* text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE* out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
}

static int64_t crossings(const fixture* f)
{
    const flx_model_info info = flx_model_get_info(f->model);
    double*              x    = malloc(3 * sizeof(double) * (size_t)info.surface_vertex_count);
    int64_t              count;
    flx_context*         ctx = f->ctx;
    flx_state_surface_positions(f->state, x);
    CHECK_OK(flx_surface_crossings(ctx, info.surface_vertex_count, x, info.surface_triangle_count,
                                   flx_model_surface_triangles(f->model), &count));
    free(x);
    return count;
}

static void a_pressed_triangle_rests_at_the_offset_and_bears_the_force(void** state)
{
    (void)state;
    fixture f;
    fixture_start(&f, 1);
    write_file(&f, "two.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 0.02\nv 0.3 0.2 0.02\nv 0.2 0.3 0.02\nf 1 2 3\nf 4 5 6\n");
    fixture_open(&f,
                 "flexor: 1\n"
                 "bodies: [{name: two, cloth: two.obj, constraints: {strain: 500 N/m}}]\n"
                 "fix: {region: {box: {min: [-1, -1, -1], max: [1, 1, 0.001]}}, stiffness: 1e7}\n"
                 "loads: {region: {box: {min: [-1, -1, 0.01], max: [1, 1, 1]}}, force: [0, 0, -3]}\n"
                 "contact: {self: two, offset: 4 mm}\n"
                 "solver: {mode: dynamic, outer: 4, damping: 30, precision: double}\nrun: {fps: 60}\n",
                 0, NULL);
    flx_step_stats stats;
    double         x[18], force[18], v[18];
    fixture_steps(&f, 120, &stats);
    assert_int_equal(stats.active, 3);
    flx_state_positions(f.state, x);
    flx_state_velocities(f.state, v);
    flx_state_surface_contact_force(f.state, force);
    for (int i = 3; i < 6; ++i)
    {
        CHECK_NEAR(x[3 * i + 2], 0.004, 2.5e-5);                       // m: 1 N on a contact of 50 000 N/m
        CHECK_NEAR(force[3 * i + 2], 1, 1e-3);                         // N; what little is still on its way
        for (int k = 0; k < 3; ++k) CHECK_NEAR(v[3 * i + k], 0, 1e-4); // m/s
    }
    fixture_end(&f);
}

#define LAYERS                                                                                                         \
    "flexor: 1\n"                                                                                                      \
    "bodies: [{name: layers, cloth: layers.obj, constraints: [{strain: 100 N/m}, {bending: 1 mN m}]}]\n"               \
    "fix: {region: {box: {min: [-1, -1, -1], max: [1, 1, 0.001]}}, stiffness: 1e5}\n"                                  \
    "loads: {region: {box: {min: [-1, -1, 0.001], max: [1, 1, 1]}}, force: [0, 0, -400], until: 0.02}\n"               \
    "contact: {self: layers, offset: 4 mm}\n"                                                                          \
    "solver: {mode: dynamic, outer: 5, damping: 1}\nrun: {fps: 60}\n"

static void layers_cannot_pass_each_other_however_fast(void** state)
{
    (void)state;
    for (int fast = 0; fast < 3; ++fast)
    {
        fixture f;
        char    speed[64];
        fixture_start(&f, 2);
        fixture_sheets(&f, "layers.obj", (const int[2]){6, 6}, (const double[3]){0, 0, 0}, 0.05, 2, 0.02);
        // after the first step 1, 3 or 12 m/s: 17, 50 or 200 mm a step, 4 to 50 times the offset
        snprintf(speed, sizeof speed, "loads[0].force=[0, 0, %d]", (const int[]){-30, -100, -400}[fast]);
        fixture_open(&f, LAYERS, 1, (const char* const[]){speed});
        int32_t touched = 0;
        for (int k = 0; k < 60; ++k)
        {
            flx_step_stats stats;
            fixture_steps(&f, 1, &stats);
            touched += stats.active;
            if (fast < 2 || k > 10) assert_int_equal(crossings(&f), 0); // what got through came back
        }
        assert_true(touched > 20);
        double x[3 * 98];
        flx_state_positions(f.state, x);
        for (int i = 49; i < 98; ++i) // but for what slipped over the rim
        {
            const double* p = x + 3 * i;
            assert_true(p[2] > 0 || fmin(p[0], p[1]) < 0 || fmax(p[0], p[1]) > 0.3);
        }
        fixture_end(&f);
    }
}

static void contact_moves_no_momentum_out_of_the_cloth(void** state)
{
    (void)state;
    fixture f;
    fixture_start(&f, 2);
    fixture_sheets(&f, "layers.obj", (const int[2]){6, 6}, (const double[3]){0, 0, 0}, 0.05, 2, 0.02);
    fixture_open(&f,
                 "flexor: 1\n"
                 "bodies: [{name: layers, cloth: layers.obj, constraints: [{strain: 100 N/m}, {bending: 1 mN m}]}]\n"
                 "contact: {self: layers, offset: 4 mm}\n"
                 "solver: {mode: dynamic, outer: 4, precision: double}\nrun: {fps: 60}\n",
                 0, NULL);
    double v[3 * 98];
    for (int i = 0; i < 98; ++i)
    {
        v[3 * i]     = 0.1 * sin(i);
        v[3 * i + 1] = 0.1 * cos(3.0 * i);
        v[3 * i + 2] = i < 49 ? 0 : -1;
    }
    flx_state_set_velocities(f.state, v);
    double  before[3] = {0};
    int32_t touched   = 0;
    for (int step = 0; step <= 30; ++step)
    {
        double p[3] = {0}, scale = 0;
        for (int32_t i = 0; i < f.model->vertex_count; ++i)
            for (int k = 0; k < 3; ++k)
            {
                p[k] += f.model->mass[i] * f.state->v[3 * i + k];
                scale += f.model->mass[i] * fabs(f.state->v[3 * i + k]);
            }
        for (int k = 0; k < 3 && step == 0; ++k) before[k] = p[k];
        for (int k = 0; k < 3; ++k) CHECK_NEAR(p[k], before[k], 1e-11 * scale); // v is a difference of positions
        flx_step_stats stats;
        fixture_steps(&f, 1, &stats);
        touched += stats.active;
    }
    assert_true(touched > 30);
    fixture_end(&f);
}

#define STRIP                                                                                                          \
    "flexor: 1\ngravity: 9.81\n"                                                                                       \
    "bodies:\n  - {name: strip, cloth: strip.obj, rotate: [86, 0, 0], translate: [0, 0, 0.01],\n"                      \
    "     constraints: [{strain: 200 N/m}, {bending: 50 uN m}]}\n"                                                     \
    "obstacles:\n"                                                                                                     \
    "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"                                                \
    "  - {name: wall, plane: {point: [0, -0.06, 0], normal: [0, 1, 0]}}\n"                                             \
    "  - {name: other, plane: {point: [0, 0.06, 0], normal: [0, -1, 0]}}\n"                                            \
    "contact:\n"                                                                                                       \
    "  - {self: strip, offset: 4 mm}\n"                                                                                \
    "  - {body: strip, obstacle: floor, offset: 2 mm}\n"                                                               \
    "  - {body: strip, obstacle: wall, offset: 2 mm}\n"                                                                \
    "  - {body: strip, obstacle: other, offset: 2 mm}\n"                                                               \
    "solver: {mode: dynamic, outer: 4, substeps: 3, damping: 1}\nrun: {fps: 30}\n"

static void a_strip_that_falls_on_itself_lies_in_folds_without_a_crossing(void** state)
{
    (void)state;
    fixture f;
    fixture_start(&f, 2);
    fixture_sheet(&f, "strip.obj", (const int[2]){4, 24}, (const double[3]){0, 0, 0}, 0.025);
    fixture_open(&f, STRIP, 0, NULL);
    flx_step_stats stats;
    for (int step = 0; step < 150; ++step)
    {
        fixture_steps(&f, 1, &stats);
        if (step % 3 == 2) assert_int_equal(crossings(&f), 0);
    }
    int32_t folded = 0;
    for (int32_t i = 0; i < f.model->group[0].proxy_count; ++i)
        folded += f.state->push[f.model->group[0].proxy_first + i] > 0;
    assert_true(folded > 10); // layers do lie on each other
    assert_int_equal(stats.unsolved, 0);
    CHECK_BELOW(stats.penetration, 4e-4); // m: a tenth of the offset
    fixture_end(&f);
}

static void tangled_cloth_resumes_bit_for_bit(void** state)
{
    (void)state;
    fixture straight, resumed;
    for (int i = 0; i < 2; ++i)
    {
        fixture* f = i == 0 ? &straight : &resumed;
        fixture_start(f, 2 - i);
        fixture_sheets(f, "layers.obj", (const int[2]){6, 6}, (const double[3]){0, 0, 0}, 0.05, 2, 0.02);
        fixture_open(f, LAYERS, 2,
                     (const char* const[]){"outer=1", "contact[0].stiffness=20"}); // so soft that vertices get through
    }
    int remembered = 0;
    for (int step = 0; step < 20; ++step)
    {
        fixture_steps(&straight, 1, NULL);
        const int64_t bytes = flx_state_bytes(straight.state);
        void*         block = malloc((size_t)bytes);
        flx_state_write(straight.state, block);
        if (step > 0)
        {
            fixture_steps(&resumed, 1, NULL); // from what was read after the step before
            assert_true(flx_state_hash(resumed.state) == flx_state_hash(straight.state));
        }
        flx_context* ctx = resumed.ctx;
        CHECK_OK(flx_state_read(ctx, resumed.state, block, bytes));
        free(block);
        for (int32_t i = 0; i < straight.model->memory_count; ++i) remembered += straight.state->sides[i] != 0;
    }
    assert_true(remembered > 0); // sides were among what a state keeps
    fixture_end(&straight);
    fixture_end(&resumed);
}

static void refused(const char* contact, const char* obj, const char* why)
{
    fixture f;
    char    yaml[400];
    fixture_start(&f, 1);
    write_file(&f, "two.obj", obj);
    snprintf(yaml, sizeof yaml,
             "flexor: 1\nbodies: [{name: gown, cloth: two.obj, constraints: {strain: 500 N/m}}]\ncontact: {%s}\n"
             "solver: {mode: dynamic}\n",
             contact);
    assert_true(fixture_try_open(&f, yaml, 0, NULL) != FLX_OK);
    if (!strstr(flx_context_error(f.ctx), why)) fail_msg("'%s' does not say '%s'", flx_context_error(f.ctx), why);
    fixture_end(&f);
}

static void what_cannot_be_done_is_refused_by_name(void** state)
{
    (void)state;
    static const char one[]  = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";
    static const char book[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 1 1\nv 0 -1 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n";
    refused("self: gown", one, "contact[0]: body 'gown' is cloth, which has no inside: give the offset");
    refused("self: gown, offset: 4 mm, spacing: 1 mm", one, "leave spacing out");
    refused("self: gown, offset: 4 mm", book, "three triangles meet at the edge between vertices 1 and 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pressed_triangle_rests_at_the_offset_and_bears_the_force),
        cmocka_unit_test(layers_cannot_pass_each_other_however_fast),
        cmocka_unit_test(contact_moves_no_momentum_out_of_the_cloth),
        cmocka_unit_test(a_strip_that_falls_on_itself_lies_in_folds_without_a_crossing),
        cmocka_unit_test(tangled_cloth_resumes_bit_for_bit),
        cmocka_unit_test(what_cannot_be_done_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
