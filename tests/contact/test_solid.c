#include "contact/solid.h"
#include "mesh/surfaces.h"

static flx_solid* solid_of(flx_context* ctx, const flx_shape* shape)
{
    flx_solid* solid = NULL;
    CHECK_OK(flx__solid_create(ctx, shape, &solid));
    return solid;
}

static const flx_shape plane   = {.kind = FLX_SHAPE_PLANE, .a = {0, 0, 1}, .b = {0, 3, 4}}; // normal not of unit length
static const flx_shape sphere  = {.kind = FLX_SHAPE_SPHERE, .a = {1, 2, 3}, .radius = 0.5};
static const flx_shape capsule = {.kind = FLX_SHAPE_CAPSULE, .a = {0, 0, 0}, .b = {1, 1, 0}, .radius = 0.25};
static const flx_shape box     = {.kind = FLX_SHAPE_BOX, .a = {-1, 0, 1}, .b = {1, 3, 2}};
static const flx_shape* const analytic[4] = {&plane, &sphere, &capsule, &box};

static void distances_are_those_of_the_formulas(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_solid*   s[4];
    for (int i = 0; i < 4; ++i) s[i] = solid_of(ctx, analytic[i]);
    uint64_t seed = 1;
    for (int q = 0; q < 3000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = 6 * test_random(&seed) - 2;
        CHECK_NEAR(flx__solid_distance(s[0], p, NULL), 0.6 * p[1] + 0.8 * (p[2] - 1), 1e-14);
        CHECK_NEAR(flx__solid_distance(s[1], p, NULL), hypot(hypot(p[0] - 1, p[1] - 2), p[2] - 3) - 0.5, 1e-14);
        double least = INFINITY;
        for (int i = 0; i <= 20000; i += q < 20 ? 1 : 20000) // the segment by brute force, for a few
            least = fmin(least, hypot(hypot(p[0] - i / 20000.0, p[1] - i / 20000.0), p[2]));
        if (q < 20) CHECK_NEAR(flx__solid_distance(s[2], p, NULL), least - 0.25, 1e-8);
        double nearest[3], d2 = 0, inner = INFINITY;
        for (int k = 0; k < 3; ++k)
        {
            nearest[k] = fmin(fmax(p[k], box.a[k]), box.b[k]);
            d2 += (p[k] - nearest[k]) * (p[k] - nearest[k]);
            inner = fmin(inner, fmin(p[k] - box.a[k], box.b[k] - p[k]));
        }
        CHECK_NEAR(flx__solid_distance(s[3], p, NULL), d2 > 0 ? sqrt(d2) : -inner, 1e-14);
    }
    for (int i = 0; i < 4; ++i) flx__solid_destroy(s[i]);
    flx_context_destroy(ctx);
}

static void gradients_are_unit_and_equal_finite_differences(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 2;
    for (int i = 0; i < 4; ++i)
    {
        flx_solid* s      = solid_of(ctx, analytic[i]);
        int        agreed = 0;
        for (int q = 0; q < 2000; ++q)
        {
            double p[3], g[3], size = 0, error = 0;
            for (int k = 0; k < 3; ++k) p[k] = 6 * test_random(&seed) - 2;
            flx__solid_distance(s, p, g);
            for (int k = 0; k < 3; ++k)
            {
                const double x = p[k], h = 1e-6;
                p[k]               = x + h;
                const double above = flx__solid_distance(s, p, NULL);
                p[k]               = x - h;
                const double below = flx__solid_distance(s, p, NULL);
                p[k]               = x;
                error              = fmax(error, fabs(g[k] - (above - below) / (2 * h)));
                size += g[k] * g[k];
            }
            CHECK_NEAR(size, 1, 1e-12);
            agreed += error < 1e-5; // h^2 times curvature, and rounding
        }
        assert_true(agreed >= 1995); // a few may straddle a ridge
        flx__solid_destroy(s);
    }
    flx_context_destroy(ctx);
}

static void gradients_are_unit_vectors_where_the_nearest_point_is_not_unique(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    const flx_shape point = {.kind = FLX_SHAPE_CAPSULE, .a = {1, 1, 1}, .b = {1, 1, 1}, .radius = 0.5};
    const struct
    {
        const flx_shape* shape;
        double           p[3], distance;
    } hard[] = {
        {&sphere, {1, 2, 3}, -0.5},           // centre
        {&capsule, {0.5, 0.5, 0}, -0.25},     // on the axis
        {&capsule, {0, 0, 0}, -0.25},         // its end
        {&point, {1, 1, 1}, -0.5},            // without length
        {&box, {0, 1.5, 1.5}, -0.5},          // middle
        {&box, {1, 3, 2}, 0},                 // corner
        {&box, {1, 3, 1.5}, 0},               // edge
        {&box, {0, 0, 1.5}, 0},               // face
        {&box, {2, 4, 3}, 1.7320508075688772} // beyond the corner
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; ++i)
    {
        flx_solid* s = solid_of(ctx, hard[i].shape);
        double     g[3];
        CHECK_NEAR(flx__solid_distance(s, hard[i].p, g), hard[i].distance, 1e-15);
        CHECK_NEAR(g[0] * g[0] + g[1] * g[1] + g[2] * g[2], 1, 1e-14);
        flx__solid_destroy(s);
    }
    flx_context_destroy(ctx);
}

static void areas_are_right(void** state)
{
    (void)state;
    flx_context* ctx     = test_context(1);
    const double area[4] = {INFINITY, 4 * M_PI * 0.25, 4 * M_PI * 0.0625 + 2 * M_PI * 0.25 * sqrt(2), 2 * (6 + 3 + 2)};
    for (int i = 0; i < 4; ++i)
    {
        flx_solid* s = solid_of(ctx, analytic[i]);
        if (i == 0)
            assert_true(flx__solid_area(s) == INFINITY);
        else
            CHECK_NEAR(flx__solid_area(s), area[i], 1e-13);
        flx__solid_destroy(s);
    }
    flx_context_destroy(ctx);
}

static void bad_shapes_are_refused_with_the_value(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(1);
    flx_solid*   solid = NULL;
    flx_shape    s     = sphere;
    s.radius           = 0;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_SETTING);
    s        = capsule;
    s.radius = NAN;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_SETTING);
    s      = plane;
    s.b[1] = s.b[2] = 0;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_SETTING);
    s      = box;
    s.b[1] = -1;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_SETTING);
    assert_non_null(strstr(flx_context_error(ctx), "along y: from 0 to -1"));
    s.kind = FLX_SHAPE_ALL;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_ARGUMENT);
    s = (flx_shape){.kind = FLX_SHAPE_MESH, .path = (char*)"/nowhere/there-is-nothing.obj"};
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_IO);
    s.path = NULL;
    CHECK_FAILS(flx__solid_create(ctx, &s, &solid), FLX_ERR_ARGUMENT);
    assert_null(solid);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

// --- sampling ------------------------------------------------------------------------------------------------

static double nearest_other(const double* x, int32_t count, int32_t i)
{
    double least = INFINITY;
    for (int32_t j = 0; j < count; ++j)
        if (j != i)
            least = fmin(least,
                         hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]));
    return least;
}

/// No two points nearer than half the mean spacing, and that mean close to what the area allows.
static void check_spacing(const double* x, int32_t count, double area)
{
    double mean = 0, least = INFINITY;
    for (int32_t i = 0; i < count; ++i)
    {
        const double d = nearest_other(x, count, i);
        mean += d / count;
        least = fmin(least, d);
    }
    const double densest = sqrt(area / (2 * sqrt(3.0) * count)) * 2; // spacing of a triangular lattice
    print_message("least %.3f, mean %.3f of the densest packing\n", least / densest, mean / densest);
    assert_true(least > 0.5 * mean);
    assert_true(mean > 0.65 * densest); // random points would give 0.47
}

static void samples_are_even_exact_in_number_and_on_the_surface(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int i = 1; i < 4; ++i)
    {
        flx_solid*    s     = solid_of(ctx, analytic[i]);
        const int32_t count = 1500;
        static double x[3 * 1500 + 1];
        x[3 * count] = -7;
        CHECK_OK(flx__solid_sample(ctx, s, count, x));
        assert_true(x[3 * count] == -7);
        for (int32_t j = 0; j < count; ++j) CHECK_NEAR(flx__solid_distance(s, &x[3 * j], NULL), 0, 1e-14);
        check_spacing(x, count, flx__solid_area(s));
        for (int32_t few = 0; few < 20; ++few)
        {
            for (int32_t j = 0; j < 3 * few + 3; ++j) x[j] = -7;
            CHECK_OK(flx__solid_sample(ctx, s, few, x));
            for (int32_t j = 0; j < few; ++j) CHECK_NEAR(flx__solid_distance(s, &x[3 * j], NULL), 0, 1e-14);
            assert_true(x[3 * few] == -7);
        }
        flx__solid_destroy(s);
    }
    flx_solid* s = solid_of(ctx, &plane);
    double     x[3];
    CHECK_FAILS(flx__solid_sample(ctx, s, 1, x), FLX_ERR_ARGUMENT);
    flx__solid_destroy(s);
    flx_context_destroy(ctx);
}

static void surface_samples_say_where_they_lie(void** state)
{
    (void)state;
    flx_context*   ctx   = test_context(2);
    surface        t     = surface_torus(30, 20, 1, 0.4);
    const int32_t  count = 800;
    double         area  = 0;
    static double  x[3 * 800], w[3 * 800], y[3 * 800];
    static int32_t on[800];
    CHECK_OK(flx__surface_sample(ctx, t.x, t.triangle_count, t.triangle, count, x, on, w));
    for (int32_t i = 0; i < count; ++i)
    {
        assert_true(on[i] >= 0 && on[i] < t.triangle_count);
        for (int k = 0; k < 3; ++k)
        {
            double sum = 0;
            for (int c = 0; c < 3; ++c) sum += w[3 * i + c] * t.x[3 * t.triangle[3 * on[i] + c] + k];
            CHECK_NEAR(sum, x[3 * i + k], 1e-15);
            assert_true(w[3 * i + k] >= 0 && w[3 * i + k] <= 1);
        }
    }
    area = 4 * M_PI * M_PI * 0.4;
    check_spacing(x, count, area);
    CHECK_OK(flx__surface_sample(ctx, t.x, t.triangle_count, t.triangle, count, y, NULL, NULL));
    assert_memory_equal(x, y, sizeof x);
    CHECK_FAILS(flx__surface_sample(ctx, t.x, 0, t.triangle, 5, y, NULL, NULL), FLX_ERR_MESH);
    CHECK_FAILS(flx__surface_sample(ctx, t.x, t.triangle_count, t.triangle, -1, y, NULL, NULL), FLX_ERR_ARGUMENT);
    for (int32_t i = 0; i < 3 * t.triangle_count; ++i) t.triangle[i] = i % 2;
    CHECK_FAILS(flx__surface_sample(ctx, t.x, t.triangle_count, t.triangle, 5, y, NULL, NULL), FLX_ERR_MESH);
    surface_free(&t);
    flx_context_destroy(ctx);
}

static void samples_have_the_same_bits_for_every_worker_count_and_fail_cleanly(void** state)
{
    (void)state;
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5)
    {
        flx_context*  ctx  = test_context(workers);
        flx_solid*    s    = solid_of(ctx, &box);
        const int64_t held = flx_context_bytes_now(ctx);
        static double x[900];
        int64_t       tries = 0;
        for (;; ++tries)
        {
            flx_context_fail_allocation(ctx, tries);
            const flx_status status = flx__solid_sample(ctx, s, 300, x);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
        }
        assert_int_equal(tries, 10);
        const uint64_t hash = flx__hash(FLX_HASH_START, x, sizeof x);
        if (workers == 1) first = hash;
        assert_true(hash == first);
        flx__solid_destroy(s);
        flx_context_destroy(ctx);
    }
}

// --- surfaces --------------------------------------------------------------------------------------------------

static void tessellations_are_closed_outward_and_on_the_surface(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int i = 0; i < 4; ++i)
    {
        flx_solid* s = solid_of(ctx, analytic[i]);
        int32_t    vertex_count, triangle_count, *triangle;
        double*    x;
        CHECK_OK(flx__solid_surface(ctx, s, 2.0, &vertex_count, &x, &triangle_count, &triangle));
        for (int32_t v = 0; v < vertex_count; ++v) CHECK_NEAR(flx__solid_distance(s, &x[3 * v], NULL), 0, 1e-14);
        double area = 0;
        for (int32_t t = 0; t < triangle_count; ++t)
        {
            double c[9], n[3], middle[3], g[3];
            for (int k = 0; k < 9; ++k) c[k] = x[3 * triangle[3 * t + k / 3] + k % 3];
            for (int k = 0; k < 3; ++k)
            {
                const int a = (k + 1) % 3, b = (k + 2) % 3;
                n[k]      = (c[3 + a] - c[a]) * (c[6 + b] - c[b]) - (c[3 + b] - c[b]) * (c[6 + a] - c[a]);
                middle[k] = (c[k] + c[3 + k] + c[6 + k]) / 3;
            }
            const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            area += 0.5 * size;
            flx__solid_distance(s, middle, g);
            if (i != 3) assert_true(g[0] * n[0] + g[1] * n[1] + g[2] * n[2] > 0.9 * size);
        }
        CHECK_NEAR(area, i == 0 ? 4.0 : flx__solid_area(s), i == 0 || i == 3 ? 1e-12 : 0.01 * flx__solid_area(s));
        if (i > 0)
        {
            flx_triangle_bvh* bvh = NULL;
            double            sign, threshold;
            CHECK_OK(flx__triangle_bvh_create(ctx, vertex_count, x, triangle_count, triangle, &bvh));
            CHECK_OK(flx__surface_orientation(ctx, bvh, "s", &sign, &threshold));
            assert_true(sign == 1 && threshold == 0.5);
            flx__triangle_bvh_destroy(bvh);
        }
        flx__free(ctx, x);
        flx__free(ctx, triangle);
        flx__solid_destroy(s);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_mesh_from_a_file_is_a_solid(void** state)
{
    (void)state;
    const char*     path  = shared_or_skip("data/spot/spot_triangulated.obj");
    surface         spot  = surface_obj(path, NULL);
    flx_context*    ctx   = test_context(2);
    const flx_shape shape = {.kind = FLX_SHAPE_MESH, .path = (char*)path, .scale = 0.1};
    flx_solid*      s     = solid_of(ctx, &shape);
    for (int32_t i = 0; i < 3 * spot.vertex_count; ++i) spot.x[i] *= 0.1;

    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, spot.vertex_count, spot.x, spot.triangle_count, spot.triangle, &bvh));
    const double cell = 0.255 / 96; // its diagonal is about 0.255 m
    uint64_t     seed = 3;
    for (int q = 0; q < 3000; ++q)
    {
        double      p[3], g[3];
        flx_closest hit;
        for (int k = 0; k < 3; ++k) p[k] = 0.2 * (test_random(&seed) - 0.5);
        assert_true(flx__triangle_bvh_closest(bvh, p, INFINITY, &hit));
        const double d = flx__solid_distance(s, p, g), w = flx__triangle_bvh_winding(bvh, p);
        if (hit.distance < 3 * cell) CHECK_NEAR(fabs(d), hit.distance, 0.4 * cell);
        if (hit.distance > 0.3 * cell) assert_true((d < 0) == (w > 0.5));
        assert_true(g[0] == g[0] && g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > 0);
    }
    static double x[3 * 500];
    CHECK_OK(flx__solid_sample(ctx, s, 500, x));
    for (int i = 0; i < 500; ++i)
    {
        flx_closest hit;
        assert_true(flx__triangle_bvh_closest(bvh, &x[3 * i], 1e-12, &hit));
    }
    flx__triangle_bvh_destroy(bvh);
    flx__solid_destroy(s);
    surface_free(&spot);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_formulas),
        cmocka_unit_test(gradients_are_unit_and_equal_finite_differences),
        cmocka_unit_test(gradients_are_unit_vectors_where_the_nearest_point_is_not_unique),
        cmocka_unit_test(areas_are_right),
        cmocka_unit_test(bad_shapes_are_refused_with_the_value),
        cmocka_unit_test(samples_are_even_exact_in_number_and_on_the_surface),
        cmocka_unit_test(surface_samples_say_where_they_lie),
        cmocka_unit_test(samples_have_the_same_bits_for_every_worker_count_and_fail_cleanly),
        cmocka_unit_test(tessellations_are_closed_outward_and_on_the_surface),
        cmocka_unit_test(a_mesh_from_a_file_is_a_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
