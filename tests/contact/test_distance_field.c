#include "contact/distance_field.h"
#include "mesh/surfaces.h"

static flx_triangle_bvh* tree_of(flx_context* ctx, const surface* s)
{
    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &bvh));
    return bvh;
}

static void box_of(const surface* s, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; ++k) lo[k] = INFINITY, hi[k] = -INFINITY;
    for (int32_t t = 0; t < 3 * s->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
        {
            lo[k] = fmin(lo[k], s->x[3 * s->triangle[t] + k]);
            hi[k] = fmax(hi[k], s->x[3 * s->triangle[t] + k]);
        }
}

static double exact(const flx_triangle_bvh* bvh, const double p[3])
{
    flx_closest hit;
    assert_true(flx__triangle_bvh_closest(bvh, p, INFINITY, &hit));
    return flx__triangle_bvh_winding(bvh, p) > 0.5 ? -hit.distance : hit.distance;
}

static const double box_lo[3] = {-1, -1, -1}, box_hi[3] = {1, 1, 1};

static void nodes_in_the_band_hold_the_exact_distance_and_others_at_least_the_band(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(2);
    surface             s     = surface_sphere(20);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    const double        cell = 0.1, band = 0.3;
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, cell, band, &field));
    int exact_nodes = 0, far_nodes = 0;
    for (int i = 0; i <= 26; ++i)
        for (int j = 0; j <= 26; ++j)
            for (int k = 0; k <= 26; ++k)
            {
                const double p[3] = {-1.3 + cell * i, -1.3 + cell * j, -1.3 + cell * k};
                const double d = exact(bvh, p), v = flx__distance_field_sample(field, p, NULL);
                if (fabs(d) < 1e-9) continue;
                if (fabs(d) < band - 1e-9)
                {
                    CHECK_NEAR(v, d, 1e-6); // a float, and a position along the cell rounded by 1e-16
                    ++exact_nodes;
                }
                else
                {
                    assert_true(d < 0 ? v < -band + 1e-6 : v > band - 1e-6);
                    CHECK_NEAR(v, d, cell); // sweeping is of first order, worst in the middle
                    ++far_nodes;
                }
            }
    assert_true(exact_nodes > 5000 && far_nodes > 5000);
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

/// Largest error of value and gradient within the band of a torus, away from its middle circle.
static void torus_error(double cell, double* value, double* slope)
{
    flx_context*        ctx   = test_context(2);
    surface             s     = surface_torus(360, 240, 1, 0.4);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    double              lo[3], hi[3];
    uint64_t            seed = 1;
    box_of(&s, lo, hi);
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, lo, hi, cell, 0.25, &field));
    *value = *slope = 0;
    for (int q = 0; q < 6000; ++q)
    {
        const double u = 2 * M_PI * test_random(&seed), v = 2 * M_PI * test_random(&seed);
        const double d = 0.3 * (test_random(&seed) - 0.5), r = 0.4 + d;
        const double n[3] = {cos(v) * cos(u), cos(v) * sin(u), sin(v)};
        const double p[3] = {cos(u) + r * n[0], sin(u) + r * n[1], r * n[2]};
        double       g[3], error = 0;
        *value = fmax(*value, fabs(flx__distance_field_sample(field, p, g) - exact(bvh, p)));
        for (int k = 0; k < 3; ++k) error += (g[k] - n[k]) * (g[k] - n[k]);
        *slope = fmax(*slope, sqrt(error));
    }
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void error_falls_with_the_square_of_the_cell_or_faster(void** state)
{
    (void)state;
    double value[2], slope[2];
    torus_error(0.08, &value[0], &slope[0]);
    torus_error(0.04, &value[1], &slope[1]);
    print_message("value %.2g -> %.2g m, gradient %.2g -> %.2g\n", value[0], value[1], slope[0], slope[1]);
    CHECK_BELOW(value[0], 0.1 * 0.08); // a tenth of a cell
    CHECK_BELOW(value[1], value[0] / 3.5);
    CHECK_BELOW(slope[1], 0.03); // the facets turn by 1.5 to 3 degrees
}

static void value_and_gradient_are_continuous_across_cells(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    surface             s     = surface_cube(); // with kinks at its edges and middle planes
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    const double        lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    const double        cell = 0.125; // faces at multiples of it: exact in binary
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, lo, hi, cell, 0.25, &field));
    uint64_t seed  = 2;
    double   worst = 0, size = 0;
    for (int q = 0; q < 20000; ++q)
    {
        double p[3], a[3], b[3];
        for (int k = 0; k < 3; ++k) p[k] = -0.25 + 1.5 * test_random(&seed);
        const int axis = q % 3;
        p[axis]        = cell * rint(p[axis] / cell);
        const double h = 1e-7 * cell, x = p[axis];
        p[axis]         = x - h;
        const double va = flx__distance_field_sample(field, p, a);
        p[axis]         = x + h;
        const double vb = flx__distance_field_sample(field, p, b);
        CHECK_NEAR(va, vb, 4 * h);
        if (fabs(x + 0.25) < 1e-9 || fabs(x - 1.25) < 1e-9) continue; // the grid ends: the value only
        for (int k = 0; k < 3; ++k)
        {
            worst = fmax(worst, fabs(a[k] - b[k]));
            size  = fmax(size, fabs(a[k]));
        }
    }
    CHECK_BELOW(worst, 1e-5); // second derivatives of about 1 / cell times 2 h: 1e-6
    CHECK_BELOW(size, 1.6);   // unit length, with overshoot at kinks
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void gradient_is_the_derivative_inside_and_outside_the_grid(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    surface             s     = surface_sphere(12);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0.1, 0.2, &field));
    uint64_t seed = 3;
    for (int q = 0; q < 3000; ++q)
    {
        double p[3], g[3];
        for (int k = 0; k < 3; ++k) p[k] = 5 * (test_random(&seed) - 0.5);
        flx__distance_field_sample(field, p, g);
        for (int k = 0; k < 3; ++k)
        {
            const double x = p[k], h = 1e-6;
            p[k]               = x + h;
            const double above = flx__distance_field_sample(field, p, NULL);
            p[k]               = x - h;
            const double below = flx__distance_field_sample(field, p, NULL);
            p[k]               = x;
            CHECK_NEAR(g[k], (above - below) / (2 * h), 1e-4); // h / cell, next to the grid's border too
        }
    }
    const double away[3] = {10, 0, 0};
    CHECK_NEAR(flx__distance_field_sample(field, away, NULL), 9, 0.1);
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void values_grow_away_from_the_surface(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    surface             s     = surface_sphere(20);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    const double        lo[3] = {-3, -3, -3}, hi[3] = {3, 3, 3};
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, lo, hi, 0.1, 0.2, &field));
    uint64_t seed = 4;
    for (int q = 0; q < 300; ++q)
    {
        double n[3], size = 0, last = -INFINITY;
        for (int k = 0; k < 3; ++k) n[k] = test_random(&seed) - 0.5;
        for (int k = 0; k < 3; ++k) size += n[k] * n[k];
        for (double r = 0.15; r < 6; r += 0.05) // through the grid and out of it
        {
            double p[3];
            for (int k = 0; k < 3; ++k) p[k] = r * n[k] / sqrt(size);
            const double v = flx__distance_field_sample(field, p, NULL);
            assert_true(v > last);
            last = v;
        }
    }
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void signs_are_right_around_spot(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(2);
    surface             s     = surface_obj(shared_or_skip("data/spot/spot_triangulated.obj"), NULL);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    double              lo[3], hi[3], size = 0;
    box_of(&s, lo, hi);
    for (int k = 0; k < 3; ++k) size = fmax(size, hi[k] - lo[k]);
    const double cell = size / 96;
    CHECK_OK(flx__distance_field_create(ctx, "s", bvh, lo, hi, cell, 4 * cell, &field));
    uint64_t seed   = 5;
    int      inside = 0, near = 0;
    for (int q = 0; q < 10000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = lo[k] + (hi[k] - lo[k]) * test_random(&seed);
        const double d = exact(bvh, p), v = flx__distance_field_sample(field, p, NULL);
        if (d < 0) ++inside;
        if (fabs(d) < 4 * cell) ++near;
        if (fabs(d) > 0.15 * cell) assert_true((d < 0) == (v < 0)); // nearer, a kink in the cell may decide
        if (fabs(d) < 3 * cell) CHECK_NEAR(v, d, 0.3 * cell);
    }
    assert_true(inside > 1000 && near > 1000);
    flx__distance_field_destroy(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void flipped_doubled_and_holed_surfaces_have_their_inside_below_zero(void** state)
{
    (void)state;
    const double none[3] = {0, 0, 0};
    for (int kind = 0; kind < 4; ++kind)
    {
        flx_context* ctx = test_context(2);
        surface      s   = surface_sphere(16);
        if (kind == 0 || kind == 1)
            for (int32_t t = 0; t < s.triangle_count; t += 1 + kind) surface_flip(&s, t);
        if (kind == 2)
        {
            surface twice = surface_both(&s, &s, none);
            surface_free(&s);
            s = twice;
        }
        if (kind == 3) s.triangle_count -= 12; // a hole four cells wide
        flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
        flx_distance_field* field = NULL;
        CHECK_OK(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0.05, 0.1, &field));
        uint64_t seed = 6;
        for (int q = 0; q < 5000; ++q)
        {
            double p[3], r = 0;
            for (int k = 0; k < 3; ++k) p[k] = 2.2 * (test_random(&seed) - 0.5);
            for (int k = 0; k < 3; ++k) r += p[k] * p[k];
            r = sqrt(r);
            if (fabs(r - 0.99) < (kind == 3 ? 0.08 : 0.02))
                continue; // facets; the film over the hole is inside the ball
            assert_true((flx__distance_field_sample(field, p, NULL) < 0) == (r < 1));
        }
        flx__distance_field_destroy(field);
        flx__triangle_bvh_destroy(bvh);
        surface_free(&s);
        flx_context_destroy(ctx);
    }
}

static void a_grid_away_from_the_surface_knows_its_side(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    surface             s     = surface_sphere(16);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    for (int outside = 0; outside < 2; ++outside)
    {
        const double lo[3] = {outside * 3 - 0.2, -0.2, -0.2}, hi[3] = {outside * 3 + 0.2, 0.2, 0.2};
        CHECK_OK(flx__distance_field_create(ctx, "s", bvh, lo, hi, 0.1, 0.1, &field));
        const double p[3] = {outside * 3 + 0.1, 0.05, 0};
        CHECK_NEAR(flx__distance_field_sample(field, p, NULL), exact(bvh, p), 0.06); // swept from the rim: first order
        flx__distance_field_destroy(field);
    }
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void bad_settings_and_surfaces_without_inside_are_refused(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    surface             s     = surface_sphere(16);
    flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
    flx_distance_field* field = NULL;
    CHECK_FAILS(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 1e-4, 0.1, &field), FLX_ERR_SETTING);
    assert_non_null(strstr(flx_context_error(ctx), "more than 2^31"));
    CHECK_FAILS(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0, 0.1, &field), FLX_ERR_SETTING);
    CHECK_FAILS(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, NAN, 0.1, &field), FLX_ERR_SETTING);
    CHECK_FAILS(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0.1, -1, &field), FLX_ERR_SETTING);
    CHECK_FAILS(flx__distance_field_create(ctx, "s", bvh, box_hi, box_lo, 0.1, 0.1, &field), FLX_ERR_SETTING);
    flx__triangle_bvh_destroy(bvh);
    s.triangle_count /= 2; // half a ball
    bvh = tree_of(ctx, &s);
    CHECK_FAILS(flx__distance_field_create(ctx, "s.obj", bvh, box_lo, box_hi, 0.1, 0.1, &field), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "s.obj: open"));
    assert_null(field);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void same_bits_for_every_worker_count_and_clean_failures(void** state)
{
    (void)state;
    surface  s     = surface_torus(40, 20, 0.7, 0.25);
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5)
    {
        flx_context*        ctx   = test_context(workers);
        flx_triangle_bvh*   bvh   = tree_of(ctx, &s);
        flx_distance_field* field = NULL;
        const int64_t       held  = flx_context_bytes_now(ctx);
        int64_t             tries = 0;
        for (; workers == 3; ++tries)
        {
            flx_context_fail_allocation(ctx, tries);
            const flx_status status = flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0.1, 0.2, &field);
            flx_context_fail_allocation(ctx, -1);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_null(field);
            assert_int_equal(flx_context_bytes_now(ctx), held);
        }
        assert_int_equal(tries, workers == 3 ? 5 : 0);
        if (!field) CHECK_OK(flx__distance_field_create(ctx, "s", bvh, box_lo, box_hi, 0.1, 0.2, &field));
        uint64_t seed = 7, hash = FLX_HASH_START;
        for (int q = 0; q < 5000; ++q)
        {
            double p[3], out[4];
            for (int k = 0; k < 3; ++k) p[k] = 2.5 * (test_random(&seed) - 0.5);
            out[0] = flx__distance_field_sample(field, p, out + 1);
            hash   = flx__hash(hash, out, sizeof out);
        }
        if (workers == 1) first = hash;
        assert_true(hash == first);
        flx__distance_field_destroy(field);
        flx__triangle_bvh_destroy(bvh);
        flx_context_destroy(ctx);
    }
    surface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_in_the_band_hold_the_exact_distance_and_others_at_least_the_band),
        cmocka_unit_test(error_falls_with_the_square_of_the_cell_or_faster),
        cmocka_unit_test(value_and_gradient_are_continuous_across_cells),
        cmocka_unit_test(gradient_is_the_derivative_inside_and_outside_the_grid),
        cmocka_unit_test(values_grow_away_from_the_surface),
        cmocka_unit_test(signs_are_right_around_spot),
        cmocka_unit_test(flipped_doubled_and_holed_surfaces_have_their_inside_below_zero),
        cmocka_unit_test(a_grid_away_from_the_surface_knows_its_side),
        cmocka_unit_test(bad_settings_and_surfaces_without_inside_are_refused),
        cmocka_unit_test(same_bits_for_every_worker_count_and_clean_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
