// Obstacles of every shape, fixed and moving, against a block; and bodies that overlap before anything moves.
#include "solver/fixture.h"

// --- a block held at its top, an obstacle that reaches 2 cm into its bottom ----------------------------------------

// All end with their highest point at z = 0.1 m, under the middle of the block, whose bottom is at 0.08 m.
enum
{
    PLANE,
    SPHERE,
    CAPSULE,
    BOX,
    MESH,
    SHAPES
};

static const char* const shapes[SHAPES] = {
    "plane: {point: [0, 0, 0.1], normal: [0, 0, 1]}",
    "sphere: {center: [0, 0, 0], radius: 0.1}",
    "capsule: {from: [0, -0.5, 0], to: [0, 0.5, 0], radius: 0.1}",
    "box: {min: [-0.3, -0.3, -0.1], max: [0.3, 0.3, 0.1]}",
    "mesh: '" FLX_SOURCE_DIR "/scenes/ball.obj'", // the sphere, in 1280 triangles
};

static double distance(int shape, const double x[3])
{
    const double out[2] = {fabs(x[0]) - 0.3, fabs(x[1]) - 0.3};
    switch (shape)
    {
    case CAPSULE:
        return sqrt(x[0] * x[0] + x[2] * x[2]) - 0.1; // the block is far from its ends
    case SPHERE:
    case MESH:
        return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.1;
    case BOX:
        return fmax(fmax(out[0], out[1]), x[2] - 0.1);
    default:
        return x[2] - 0.1;
    }
}

typedef struct outcome
{
    double  force[3]; // N, on the block
    double* x;        // [vertex_count][3]
    int32_t vertex_count;
} outcome;

/// Thirty steps. The obstacle is there from the beginning, or it comes from below and turns by 20 degrees on its way.
static outcome press(int shape, bool moving)
{
    static const char* const motion =
        "motion:\n"
        "  - {obstacle: o, about: [0, 0, 0], axis: [0, 1, 0], keys: [{time: 0, angle: -20, translate: [0, 0, -0.15]},\n"
        "     {time: 0.2}]}\n";
    char           yaml[2048];
    fixture        f;
    flx_step_stats stats   = {0};
    double         deepest = 0.0;
    outcome        out     = {0};
    snprintf(yaml, sizeof yaml,
             "flexor: 1\n"
             "bodies: [{name: block, tets: block.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}]\n"
             "fix: {body: block, region: {box: {min: [-1, -1, 0.279], max: [1, 1, 1]}}}\n"
             "obstacles: [{name: o, %s}]\n%s"
             "contact: [{body: block, obstacle: o, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.081]}}}]\n"
             "solver: {outer: 20}\n"
             "run: {frames: 30, fps: 60}\n",
             shapes[shape], moving ? motion : "");
    fixture_start(&f, 2);
    fixture_box(&f, "block.mesh", (const int[3]){8, 8, 8}, (const double[3]){-0.1, -0.1, 0.08}, 0.025, 1, 0);
    fixture_open(&f, yaml, 0, NULL);
    for (int step = 1; step <= 30; ++step)
    {
        fixture_steps(&f, 1, &stats);
        deepest = fmax(deepest, stats.penetration);
        if (step > 25) assert_int_equal(stats.switched, 0);
        if (moving && step == 1) assert_int_equal(stats.active, 0); // still far below
    }
    assert_true(stats.active > 0);
    CHECK_BELOW(stats.motion, 1e-6); // m: at rest
    CHECK_BELOW(deepest, 1e-3);      // m, after any step: contacts are stiff against the block
    assert_int_equal(stats.inverted, 0);
    memcpy(out.force, stats.contact_force, sizeof out.force);
    out.vertex_count = flx_model_get_info(f.model).vertex_count;
    out.x            = malloc(3 * sizeof(double) * (size_t)out.vertex_count);
    flx_state_positions(f.state, out.x);
    for (int32_t v = 0; v < out.vertex_count; ++v) // facets of the mesh lie up to 0.5 mm inside of the ball
        assert_true(distance(shape, out.x + 3 * v) > (shape == MESH ? -1e-3 : -5e-4));
    fixture_end(&f);
    return out;
}

static void every_shape_pushes_the_block_out_of_itself_fixed_or_moving(void** state)
{
    (void)state;
    outcome at[SHAPES];
    for (int shape = 0; shape < SHAPES; ++shape)
    {
        at[shape]           = press(shape, false);
        const outcome moved = press(shape, true);
        double        most  = 0.0;
        for (int32_t i = 0; i < 3 * moved.vertex_count; ++i) most = fmax(most, fabs(moved.x[i] - at[shape].x[i]));
        assert_true(at[shape].force[2] > 1.0);                                                      // N, upwards
        assert_true(fabs(at[shape].force[0]) < (shape == MESH ? 0.03 : 1e-3) * at[shape].force[2]); // facets lean
        CHECK_NEAR(moved.force[2], at[shape].force[2], 1e-4 * at[shape].force[2]); // N: the same equilibrium
        CHECK_BELOW(most, 1e-6);                                                   // m
        free(moved.x);
    }
    CHECK_NEAR(at[BOX].force[2], at[PLANE].force[2], 1e-3 * at[PLANE].force[2]);    // under the block both are flat
    CHECK_NEAR(at[MESH].force[2], at[SPHERE].force[2], 0.05 * at[SPHERE].force[2]); // N: 1280 facets for a sphere
    assert_true(at[SPHERE].force[2] < at[CAPSULE].force[2] && at[CAPSULE].force[2] < at[PLANE].force[2]);
    for (int shape = 0; shape < SHAPES; ++shape) free(at[shape].x);
}

// --- overlaps before anything moves ----------------------------------------------------------------------------------

static void lips_that_overlap_at_rest_are_not_thrown_apart(void** state)
{
    (void)state;
    const char*    path = shared_or_skip("cases/32-initial-self-intersection/lips_overlap_2mm.mesh");
    char           yaml[2048];
    fixture        f;
    flx_step_stats stats = {0};
    snprintf(yaml, sizeof yaml,
             "flexor: 1\n"
             "gravity: 9.81\n"
             "bodies: [{name: lips, tets: '%s', material: {young: 20 kPa, density: 1000 kg/m3}}]\n"
             "fix:\n"
             "  - {body: lips, region: {box: {min: [-1, -1, -1], max: [0.0001, 1, 1]}}}\n"
             "contact: [{self: lips, region: all}]\n"
             "solver: {mode: dynamic}\n"
             "run: {frames: 60, fps: 60}\n",
             path);
    fixture_start(&f, 2);
    fixture_open(&f, yaml, 0, NULL);
    const int32_t n    = flx_model_get_info(f.model).vertex_count;
    double*       x    = malloc(3 * sizeof(double) * (size_t)n);
    const double* r    = flx_model_rest_positions(f.model);
    double        most = 0.0;
    fixture_steps(&f, 1, &stats);
    flx_state_positions(f.state, x);
    for (int32_t i = 0; i < 3 * n; ++i) most = fmax(most, fabs(x[i] - r[i]));
    CHECK_BELOW(most, 0.002 + 9.81 / 3600.0); // m: the overlap, and a step's fall
    for (int frame = 2; frame <= 60; ++frame) fixture_steps(&f, 1, &stats);
    flx_state_positions(f.state, x);
    most = 0.0;
    for (int32_t i = 0; i < 3 * n; ++i) most = fmax(most, fabs(x[i] - r[i]));
    CHECK_BELOW(most, 0.06); // m: they hang down, at most as far as they are long
    assert_int_equal(stats.inverted, 0);
    free(x);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_pushes_the_block_out_of_itself_fixed_or_moving),
        cmocka_unit_test(lips_that_overlap_at_rest_are_not_thrown_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
