// Obstacles and bones from a scene into a recording: where they are in every frame.
#include "solver/fixture.h"

static const char scene_yaml[] =
    "flexor: 1\n"
    "bodies:\n"
    "  - {name: box, tets: box.mesh}\n"
    "bones:\n"
    "  - {name: rod, capsule: {from: [0.1, 0.1, 0.1], to: [0.3, 0.1, 0.1], radius: 20 mm}}\n"
    "attach: {body: box, bones: [rod], points: 50}\n"
    "obstacles:\n"
    "  - {name: wall, plane: {point: [5, 5, -1], normal: [0, 0, 2]}}\n"
    "  - {name: ball, sphere: {center: [1, 0, 0], radius: 0.25}}\n"
    "  - {name: slope, plane: {point: [0, 0, -2], normal: [1, 0, 1]}}\n"
    "motion:\n"
    "  - {bone: rod, about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 30, to: 90}\n"
    "  - {obstacle: ball, keys: [{time: 0}, {time: 1, translate: [0, 0, 3]}]}\n"
    "run: {frames: 3, fps: 30}\n";

static void open_scene(fixture* f)
{
    static const int    n[3]  = {4, 2, 2};
    static const double lo[3] = {0, 0, 0};
    fixture_start(f, 1);
    fixture_box(f, "box.mesh", n, lo, 0.1, 1, 0);
    fixture_open(f, scene_yaml, 0, NULL);
}

static flx_status record(fixture* f, int frames)
{
    char          path[128];
    flx_recorder* recorder = NULL;
    snprintf(path, sizeof path, "%s/run", f->folder);
    flx_status status = flx_recorder_create(f->ctx, path, f->model, true, false, &recorder);
    for (int k = 0; k <= frames && status == FLX_OK; ++k)
    {
        status = flx_recorder_frame(recorder, f->state, NULL);
        if (status == FLX_OK && k < frames) status = flx_solver_step(f->solver, f->state, NULL);
    }
    const flx_status closed = flx_recorder_close(recorder);
    return status != FLX_OK ? status : closed;
}

static void obstacles_and_bones_are_where_their_motion_puts_them(void** state)
{
    (void)state;
    fixture f;
    open_scene(&f);
    flx_context*   ctx       = f.ctx;
    flx_recording* recording = NULL;
    char           path[128];
    snprintf(path, sizeof path, "%s/run", f.folder);
    CHECK_OK(record(&f, 3));
    CHECK_OK(flx_recording_open(ctx, path, &recording));

    const flx_recording_solids o = flx_recording_get_solids(recording, FLX_SOLID_OBSTACLE);
    const flx_recording_solids b = flx_recording_get_solids(recording, FLX_SOLID_BONE);
    assert_int_equal(o.count, 3);
    assert_int_equal(b.count, 1);
    assert_int_equal(o.shape[0], FLX_SHAPE_PLANE);
    assert_int_equal(o.shape[1], FLX_SHAPE_SPHERE);
    assert_int_equal(b.shape[0], FLX_SHAPE_CAPSULE);
    float*    ox    = malloc(sizeof(float) * 3 * (size_t)o.vertex_count);
    float*    bx    = malloc(sizeof(float) * 3 * (size_t)b.vertex_count);
    flx_frame frame = {.obstacle_x = ox, .bone_x = bx};
    for (int k = 0; k <= 3; ++k)
    {
        CHECK_OK(flx_recording_frame(recording, k, &frame));
        double low = 1e9, high = -1e9;
        for (int32_t t = 0; t < o.triangle_count; ++t)
            for (int c = 0; c < 3; ++c)
            {
                const float* p = ox + 3 * o.triangles[3 * t + c];
                if (o.triangle_solid[t] == 0)
                {
                    CHECK_NEAR(p[2], -1, 1e-6);
                    low  = fmin(low, p[0]);
                    high = fmax(high, p[0]);
                }
                if (o.triangle_solid[t] == 1) CHECK_NEAR(hypot(hypot(p[0] - 1, p[1]), p[2] - 0.1 * k), 0.25, 1e-5);
                if (o.triangle_solid[t] == 2) CHECK_NEAR(p[0] + p[2], -2, 1e-5);
            }
        // the square lies around what else there is, box [0, 1.25] in x, four of its diagonals wide, not around its
        // point
        CHECK_NEAR(0.5 * (low + high), 0.625, 1e-5);
        assert_true(high - low > 4 && high - low < 10);
        const double angle = k * 3.14159265358979323846 / 6, u[2] = {cos(angle), sin(angle)};
        double       near = 1e9, far = -1e9;
        for (int32_t v = 0; v < b.vertex_count; ++v)
        {
            const double along = bx[3 * v] * u[0] + bx[3 * v + 1] * u[1];
            near               = fmin(near, along);
            far                = fmax(far, along);
        }
        CHECK_NEAR(near, 0.08, 1e-4); // m: the rod's ends, 20 mm before and behind its axis
        CHECK_NEAR(far, 0.32, 1e-4);
    }
    free(ox);
    free(bx);
    flx_recording_close(recording);
    fixture_end(&f);
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    fixture f;
    open_scene(&f);
    const int64_t before = flx_context_bytes_now(f.ctx);
    int64_t       n      = 0;
    for (; n < 500; ++n)
    {
        flx_context_fail_allocation(f.ctx, n);
        const flx_status status = record(&f, 0);
        flx_context_fail_allocation(f.ctx, -1);
        assert_int_equal(flx_context_bytes_now(f.ctx), before);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
    }
    assert_in_range(n, 20, 499);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacles_and_bones_are_where_their_motion_puts_them),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
