#include "flexor/mesh.h"
#include "tools/program.h"

static void the_arm_is_a_closed_outward_surface_that_does_not_cross_itself(void** state)
{
    (void)state;
    static const char* const cell[3]     = {"3mm", "0.6 cm", "0.008"};
    static const int32_t     least[3]    = {30000, 8000, 4000};
    static const int32_t     greatest[3] = {60000, 20000, 10000};
    flx_context*             ctx         = test_context(2);
    for (int i = 0; i < 3; ++i)
    {
        flx_mesh*         mesh    = NULL;
        flx_mesh_options  options = flx_mesh_options_default();
        flx_doctor_report report;
        const char*       path = in_folder("arm.obj");
        assert_int_equal(run_program(FLX_MAKE_ARM, "-o '%s' --cell '%s'", path, cell[i]), 0);
        CHECK_OK(flx_mesh_read(ctx, path, &options, &mesh));
        CHECK_OK(flx_mesh_doctor(ctx, mesh, &options, &report));
        assert_true(report.closed);
        assert_int_equal(report.component_count, 1);
        assert_int_equal(report.self_crossings, 0);
        assert_int_equal(report.nonmanifold_edges + report.flipped_edges + report.bowtie_vertices, 0);
        assert_int_equal(report.degenerate.count + report.repeated_triangle.count + report.unreferenced.count, 0);
        assert_in_range(report.triangle_count, least[i], greatest[i]);
        CHECK_NEAR(report.enclosed_volume, 2.66e-3, 0.04e-3); // m3, positive: outward; coarse facets lose a little
        CHECK_NEAR(report.box_min[0], 0.0, 1e-3);             // m, the axis that scenes rely on
        CHECK_NEAR(report.box_max[0], 0.66, 1e-3);
        flx_mesh_destroy(ctx, mesh);
    }
    flx_context_destroy(ctx);
}

static void its_triangles_are_well_shaped(void** state)
{
    (void)state;
    flx_context*     ctx     = test_context(2);
    flx_mesh*        mesh    = NULL;
    flx_mesh_options options = flx_mesh_options_default();
    const char*      path    = in_folder("arm.obj");
    assert_int_equal(run_program(FLX_MAKE_ARM, "-o '%s'", path), 0);
    CHECK_OK(flx_mesh_read(ctx, path, &options, &mesh));
    double worst = 1.0, sum = 0.0;
    for (int32_t t = 0; t < mesh->triangle_count; ++t)
    {
        double u[3], v[3], edges2 = 0.0, area2 = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            const int32_t* c = mesh->triangle + 3 * t;
            u[k]             = mesh->x[3 * c[1] + k] - mesh->x[3 * c[0] + k];
            v[k]             = mesh->x[3 * c[2] + k] - mesh->x[3 * c[0] + k];
            edges2 += u[k] * u[k] + v[k] * v[k] + (u[k] - v[k]) * (u[k] - v[k]);
        }
        for (int k = 0; k < 3; ++k)
        {
            const double n = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            area2 += n * n;
        }
        const double quality = 2.0 * sqrt(3.0 * area2) / edges2; // 1 = equilateral
        worst                = fmin(worst, quality);
        sum += quality;
    }
    assert_true(worst > 0.4);
    assert_true(sum / mesh->triangle_count > 0.85);
    flx_mesh_destroy(ctx, mesh);
    flx_context_destroy(ctx);
}

static void the_same_command_writes_the_same_bytes(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i)
        assert_int_equal(run_program(FLX_MAKE_ARM, "--cell 5mm '%s'", in_folder(i ? "b.obj" : "a.obj")), 0);
    long  a_bytes = 0, b_bytes = 0;
    char* a = read_all(in_folder("a.obj"), &a_bytes);
    char* b = read_all(in_folder("b.obj"), &b_bytes);
    assert_true(a && b && a_bytes == b_bytes && a_bytes > 100000);
    assert_memory_equal(a, b, (size_t)a_bytes);
    free(a);
    free(b);
}

static void nonsense_is_refused_and_touches_nothing(void** state)
{
    (void)state;
    long bytes = 0;
    assert_int_equal(run_program(FLX_MAKE_ARM, "--cell 9km"), 2);
    assert_int_equal(run_program(FLX_MAKE_ARM, "--cell nan"), 2);
    assert_int_equal(run_program(FLX_MAKE_ARM, "--cell"), 2);
    assert_int_equal(run_program(FLX_MAKE_ARM, "--colour red"), 2);
    assert_int_equal(run_program(FLX_MAKE_ARM, "--cell 5mm -o '%s'", in_folder("missing/arm.obj")), 1);
    assert_null(read_all(in_folder("missing/arm.obj"), &bytes));
    assert_int_equal(run_program(FLX_MAKE_ARM, "--help"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_arm_is_a_closed_outward_surface_that_does_not_cross_itself),
        cmocka_unit_test(its_triangles_are_well_shaped),
        cmocka_unit_test(the_same_command_writes_the_same_bytes),
        cmocka_unit_test(nonsense_is_refused_and_touches_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
