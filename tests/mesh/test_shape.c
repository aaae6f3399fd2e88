#include "mesh/shape.h"
#include "test.h"

static void regions_hold_what_their_formulas_say(void** state)
{
    (void)state;
    const flx_shape none = {.kind = FLX_SHAPE_NONE}, all = {.kind = FLX_SHAPE_ALL}, mesh = {.kind = FLX_SHAPE_MESH},
                    propose = {.kind = FLX_SHAPE_AUTO};
    const flx_shape plane   = {.kind = FLX_SHAPE_PLANE, .a = {0, 0, 1}, .b = {0, 0, 1}};
    const flx_shape sphere  = {.kind = FLX_SHAPE_SPHERE, .a = {1, 2, 3}, .radius = 0.5};
    const flx_shape box     = {.kind = FLX_SHAPE_BOX, .a = {0, 0, 0}, .b = {1, 2, 3}};
    const flx_shape capsule = {.kind = FLX_SHAPE_CAPSULE, .a = {0, 0, 0}, .b = {2, 0, 0}, .radius = 0.5};
    uint64_t        seed    = 1;
    for (int i = 0; i < 5000; ++i)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = 5 * test_random(&seed) - 1;
        assert_false(flx__shape_contains(&none, p));
        assert_false(flx__shape_contains(&mesh, p));
        assert_true(flx__shape_contains(&all, p) && flx__shape_contains(&propose, p));
        assert_int_equal(flx__shape_contains(&plane, p), p[2] < 1);
        assert_int_equal(flx__shape_contains(&sphere, p), hypot(hypot(p[0] - 1, p[1] - 2), p[2] - 3) < 0.5);
        assert_int_equal(flx__shape_contains(&box, p),
                         p[0] > 0 && p[0] < 1 && p[1] > 0 && p[1] < 2 && p[2] > 0 && p[2] < 3);
        const double along = p[0] < 0 ? p[0] : p[0] > 2 ? p[0] - 2 : 0;
        assert_int_equal(flx__shape_contains(&capsule, p), hypot(hypot(along, p[1]), p[2]) < 0.5);
    }
}

static void the_border_belongs_to_the_region(void** state)
{
    (void)state;
    const flx_shape box      = {.kind = FLX_SHAPE_BOX, .a = {0, 0, 0}, .b = {1, 1, 1}};
    const flx_shape point    = {.kind = FLX_SHAPE_CAPSULE, .a = {1, 1, 1}, .b = {1, 1, 1}, .radius = 1};
    const double    c[3]     = {1, 1, 0};
    const double    nan_p[3] = {NAN, 0.5, 0.5};
    assert_true(flx__shape_contains(&box, c));
    assert_true(flx__shape_contains(&point, c)); // a capsule without length is a sphere
    assert_false(flx__shape_contains(&box, nan_p));
    assert_false(flx__shape_contains(&point, nan_p));
}

static void a_pose_undone_gives_the_point_back(void** state)
{
    (void)state;
    const double c = cos(0.7), s = sin(0.7);
    const double R[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, t[3] = {1, -2, 3}, x[3] = {0.3, 0.4, 0.5};
    double       y[3], z[3] = {0.3, 0.4, 0.5};
    flx__pose_apply(R, t, x, y);
    CHECK_NEAR(y[0], c * 0.3 - s * 0.4 + 1, 1e-15);
    CHECK_NEAR(y[1], s * 0.3 + c * 0.4 - 2, 1e-15);
    CHECK_NEAR(y[2], 3.5, 1e-15);
    flx__pose_apply(R, t, z, z); // in place
    assert_memory_equal(y, z, sizeof y);
    flx__pose_undo(R, t, z, z);
    for (int k = 0; k < 3; ++k) CHECK_NEAR(z[k], x[k], 1e-15);
    flx__pose_rotate(R, x, y);
    CHECK_NEAR(y[0], c * 0.3 - s * 0.4, 1e-15);
    CHECK_NEAR(hypot(hypot(y[0], y[1]), y[2]), hypot(hypot(x[0], x[1]), x[2]), 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_hold_what_their_formulas_say),
        cmocka_unit_test(the_border_belongs_to_the_region),
        cmocka_unit_test(a_pose_undone_gives_the_point_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
