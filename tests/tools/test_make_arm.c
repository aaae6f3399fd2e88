#include "flexor/mesh.h"
#include "test.h"

#include <sys/wait.h>

// Where the test writes: a folder of its own, removed at the end.
static char folder[] = "flexor-arm-XXXXXX";

static const char* in_folder(const char* name)
{
    static char path[2][256];
    static int  turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int make_arm(const char* arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s 2>/dev/null", FLX_MAKE_ARM, arguments);
    const int result = system(command);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

static char* read_all(const char* path, long* bytes)
{
    FILE* f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = ftell(f);
    rewind(f);
    char* data = malloc((size_t)*bytes + 1);
    assert_int_equal(fread(data, 1, (size_t)*bytes, f), *bytes);
    fclose(f);
    return data;
}

static void the_arm_is_a_closed_outward_surface_that_does_not_cross_itself(void** state)
{
    (void)state;
    static const char* const cell[3]     = {"3mm", "0.6 cm", "0.008"};
    static const int32_t     least[3]    = {30000, 8000, 4000};
    static const int32_t     greatest[3] = {60000, 20000, 10000};
    flx_context*             ctx         = test_context(2);
    for (int i = 0; i < 3; ++i)
    {
        char              arguments[512];
        flx_mesh*         mesh    = NULL;
        flx_mesh_options  options = flx_mesh_options_default();
        flx_doctor_report report;
        const char*       path = in_folder("arm.obj");
        snprintf(arguments, sizeof arguments, "-o '%s' --cell '%s'", path, cell[i]);
        assert_int_equal(make_arm(arguments), 0);
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
    char             arguments[512];
    snprintf(arguments, sizeof arguments, "-o '%s'", path);
    assert_int_equal(make_arm(arguments), 0);
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
    char arguments[512];
    for (int i = 0; i < 2; ++i)
    {
        snprintf(arguments, sizeof arguments, "--cell 5mm '%s'", in_folder(i ? "b.obj" : "a.obj"));
        assert_int_equal(make_arm(arguments), 0);
    }
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
    char arguments[512];
    long bytes = 0;
    assert_int_equal(make_arm("--cell 9km"), 2);
    assert_int_equal(make_arm("--cell nan"), 2);
    assert_int_equal(make_arm("--cell"), 2);
    assert_int_equal(make_arm("--colour red"), 2);
    snprintf(arguments, sizeof arguments, "--cell 5mm -o '%s'", in_folder("missing/arm.obj"));
    assert_int_equal(make_arm(arguments), 1);
    assert_null(read_all(in_folder("missing/arm.obj"), &bytes));
    assert_int_equal(make_arm("--help >/dev/null"), 0);
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    static const char* const name[] = {"arm.obj", "a.obj", "b.obj"};
    (void)state;
    for (int i = 0; i < 3; ++i) unlink(in_folder(name[i]));
    return rmdir(folder);
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
