#include "mesh/surfaces.h"
#include "mesh/triangle_bvh.h"

// --- a slow reference: the closest point by nested ternary search over the triangle's two weights is too slow to be
// exact, so the reference minimises over the plane's foot and the three segments separately ---------------------------

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double segment_distance(const double a[3], const double b[3], const double p[3])
{
    double e[3], w[3], r[3];
    for (int k = 0; k < 3; ++k) e[k] = b[k] - a[k], w[k] = p[k] - a[k];
    const double ee = dot(e, e), s = ee > 0 ? fmin(1, fmax(0, dot(w, e) / ee)) : 0;
    for (int k = 0; k < 3; ++k) r[k] = w[k] - s * e[k];
    return sqrt(dot(r, r));
}

static double slow_distance(const surface* s, int32_t t, const double p[3])
{
    const double *a = &s->x[3 * s->triangle[3 * t]], *b = &s->x[3 * s->triangle[3 * t + 1]],
                 *c = &s->x[3 * s->triangle[3 * t + 2]];
    double d        = fmin(segment_distance(a, b, p), fmin(segment_distance(b, c, p), segment_distance(c, a, p)));
    double e[3], f[3], w[3], n[3];
    for (int k = 0; k < 3; ++k) e[k] = b[k] - a[k], f[k] = c[k] - a[k], w[k] = p[k] - a[k];
    n[0] = e[1] * f[2] - e[2] * f[1], n[1] = e[2] * f[0] - e[0] * f[2], n[2] = e[0] * f[1] - e[1] * f[0];
    const double nn = dot(n, n);
    if (!(nn > 1e-20 * dot(e, e) * dot(f, f))) return d;
    double       wf[3] = {w[1] * f[2] - w[2] * f[1], w[2] * f[0] - w[0] * f[2], w[0] * f[1] - w[1] * f[0]};
    double       ew[3] = {e[1] * w[2] - e[2] * w[1], e[2] * w[0] - e[0] * w[2], e[0] * w[1] - e[1] * w[0]};
    const double u = dot(wf, n) / nn, v = dot(ew, n) / nn;
    if (u >= 0 && v >= 0 && u + v <= 1) d = fmin(d, fabs(dot(w, n)) / sqrt(nn));
    return d;
}

static void check_against_all(const surface* s, int queries, double around, uint64_t* seed)
{
    flx_context*      ctx = test_context(1);
    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &bvh));
    for (int q = 0; q < queries; ++q)
    {
        double p[3], least = INFINITY;
        for (int k = 0; k < 3; ++k) p[k] = -around + (1 + 2 * around) * test_random(seed);
        for (int32_t t = 0; t < s->triangle_count; ++t) least = fmin(least, slow_distance(s, t, p));

        flx_closest hit;
        assert_true(flx__triangle_bvh_closest(bvh, p, INFINITY, &hit));
        CHECK_NEAR(hit.distance, least, 1e-12 * (1 + around));
        CHECK_NEAR(slow_distance(s, hit.triangle, p), least, 1e-12 * (1 + around));
        CHECK_NEAR(hit.weight[0] + hit.weight[1] + hit.weight[2], 1, 1e-14);
        double from[3];
        for (int k = 0; k < 3; ++k)
        {
            double y = 0;
            for (int i = 0; i < 3; ++i) y += hit.weight[i] * s->x[3 * s->triangle[3 * hit.triangle + i] + k];
            CHECK_NEAR(hit.point[k], y, 1e-14);
            assert_true(hit.weight[k] >= -1e-15 && hit.weight[k] <= 1 + 1e-15);
            from[k] = p[k] - hit.point[k];
        }
        CHECK_NEAR(sqrt(dot(from, from)), hit.distance, 1e-12 * (1 + around));
        assert_true(flx__triangle_bvh_closest(bvh, p, least * 1.001, &hit));
        if (least > 0) assert_false(flx__triangle_bvh_closest(bvh, p, least * 0.999, &hit));
    }
    flx__triangle_bvh_destroy(bvh);
    flx_context_destroy(ctx);
}

static void closest_point_equals_the_search_over_all_triangles(void** state)
{
    (void)state;
    uint64_t seed = 1;
    for (int32_t count = 1; count < 3000; count = count * 3 + 1)
        for (int size = 0; size < 3; ++size)
        {
            surface s = surface_soup(count, size == 0 ? 0.01 : size == 1 ? 0.2 : 2.0, &seed);
            check_against_all(&s, 60, size == 2 ? 10 : 0.3, &seed);
            surface_free(&s);
        }
}

static void closest_point_is_right_with_slivers_and_points(void** state)
{
    (void)state;
    uint64_t seed = 2;
    surface  s    = surface_soup(400, 0.2, &seed);
    for (int32_t t = 0; t < 400; ++t)
        for (int k = 0; k < 3; ++k)
        {
            double *a = &s.x[9 * t], *b = &s.x[9 * t + 3], *c = &s.x[9 * t + 6];
            if (t % 4 == 0) c[k] = 0.25 * a[k] + 0.75 * b[k]; // a line
            if (t % 4 == 1) c[k] = b[k] = a[k];               // a point
            if (t % 4 == 2) c[k] = 0.5 * (a[k] + b[k]) + 1e-9 * c[k];
        }
    check_against_all(&s, 400, 0.3, &seed);
    surface_free(&s);
}

static void closest_point_on_spot(void** state)
{
    (void)state;
    uint64_t seed = 3;
    surface  s    = surface_obj(shared_or_skip("data/spot/spot_triangulated.obj"), NULL);
    check_against_all(&s, 300, 0.5, &seed);
    surface_free(&s);
}

static void ties_go_to_the_lower_triangle(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    surface      one = surface_cube(), s = surface_new(8, 12 * 50);
    memcpy(s.x, one.x, 24 * sizeof(double));
    for (int32_t t = 0; t < 12 * 50; ++t) memcpy(&s.triangle[3 * t], &one.triangle[3 * (t % 12)], 3 * sizeof(int32_t));
    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, 8, s.x, s.triangle_count, s.triangle, &bvh));
    uint64_t seed = 4;
    for (int q = 0; q < 2000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = 0.5 * floor(7 * test_random(&seed)) - 1; // corners, edge and face middles too
        flx_closest hit, first;
        int32_t     lowest = -1;
        double      least  = INFINITY;
        for (int32_t t = 0; t < 12; ++t) // each alone: no tie
        {
            flx_triangle_bvh* alone = NULL;
            if (q < 100) CHECK_OK(flx__triangle_bvh_create(ctx, 8, s.x, 1, &s.triangle[3 * t], &alone));
            if (alone && flx__triangle_bvh_closest(alone, p, INFINITY, &first) && first.distance < least)
            {
                least  = first.distance;
                lowest = t;
            }
            flx__triangle_bvh_destroy(alone);
        }
        assert_true(flx__triangle_bvh_closest(bvh, p, INFINITY, &hit));
        assert_true(hit.triangle < 12);
        if (q < 100) assert_int_equal(hit.triangle, lowest);
    }
    flx__triangle_bvh_destroy(bvh);
    surface_free(&one);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void boxes_give_every_triangle_that_meets_them_in_order(void** state)
{
    (void)state;
    flx_context*      ctx  = test_context(1);
    uint64_t          seed = 5;
    surface           s    = surface_soup(2000, 0.1, &seed);
    flx_triangle_bvh* bvh  = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, s.vertex_count, s.x, s.triangle_count, s.triangle, &bvh));
    for (int q = 0; q < 200; ++q)
    {
        double lo[3], hi[3];
        for (int k = 0; k < 3; ++k)
        {
            lo[k] = test_random(&seed);
            hi[k] = lo[k] + 0.5 * test_random(&seed) * test_random(&seed);
        }
        static int32_t expected[2000], found[2000];
        int32_t        count = 0;
        for (int32_t t = 0; t < 2000; ++t)
        {
            bool meets = true;
            for (int k = 0; k < 3; ++k)
            {
                const double a = s.x[9 * t + k], b = s.x[9 * t + 3 + k], c = s.x[9 * t + 6 + k];
                meets = meets && fmin(a, fmin(b, c)) <= hi[k] && fmax(a, fmax(b, c)) >= lo[k];
            }
            if (meets) expected[count++] = t;
        }
        assert_int_equal(flx__triangle_bvh_in_box(bvh, lo, hi, found, 2000), count);
        assert_memory_equal(found, expected, (size_t)count * sizeof(int32_t));
        const int32_t few = count / 3;
        found[few]        = -7;
        assert_int_equal(flx__triangle_bvh_in_box(bvh, lo, hi, found, few), count); // the lowest ones, no more written
        assert_memory_equal(found, expected, (size_t)few * sizeof(int32_t));
        assert_int_equal(found[few], -7);
        assert_int_equal(flx__triangle_bvh_in_box(bvh, lo, hi, NULL, 0), count);
    }
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void no_triangles_is_no_hit_and_bad_input_is_refused(void** state)
{
    (void)state;
    flx_context*      ctx = test_context(1);
    flx_triangle_bvh* bvh = NULL;
    flx_closest       hit;
    const double      p[3] = {0, 0, 0};
    CHECK_OK(flx__triangle_bvh_create(ctx, 0, NULL, 0, NULL, &bvh));
    assert_false(flx__triangle_bvh_closest(bvh, p, INFINITY, &hit));
    assert_true(flx__triangle_bvh_winding(bvh, p) == 0);
    assert_int_equal(flx__triangle_bvh_in_box(bvh, p, p, NULL, 0), 0);
    flx__triangle_bvh_destroy(bvh);

    surface s     = surface_cube();
    s.triangle[7] = 8;
    CHECK_FAILS(flx__triangle_bvh_create(ctx, 8, s.x, 12, s.triangle, &bvh), FLX_ERR_ARGUMENT);
    assert_null(bvh);
    s.triangle[7] = 3;
    s.x[4]        = NAN;
    CHECK_FAILS(flx__triangle_bvh_create(ctx, 8, s.x, 12, s.triangle, &bvh), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "vertex 2"));
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void a_failed_allocation_leaves_nothing_behind(void** state)
{
    (void)state;
    flx_context*      ctx   = test_context(2);
    surface           s     = surface_cube();
    flx_triangle_bvh* bvh   = NULL;
    int64_t           tries = 0;
    s.triangle_count        = 11; // open: loops are allocated too
    for (;; ++tries)
    {
        flx_context_fail_allocation(ctx, tries);
        const flx_status status = flx__triangle_bvh_create(ctx, 8, s.x, s.triangle_count, s.triangle, &bvh);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_null(bvh);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_true(tries > 8);
    flx__triangle_bvh_destroy(bvh);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    surface_free(&s);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_point_equals_the_search_over_all_triangles),
        cmocka_unit_test(closest_point_is_right_with_slivers_and_points),
        cmocka_unit_test(closest_point_on_spot),
        cmocka_unit_test(ties_go_to_the_lower_triangle),
        cmocka_unit_test(boxes_give_every_triangle_that_meets_them_in_order),
        cmocka_unit_test(no_triangles_is_no_hit_and_bad_input_is_refused),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
