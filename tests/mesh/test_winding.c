#include "mesh/surfaces.h"
#include "mesh/triangle_bvh.h"

#define FAR_ERROR 5e-3 // of the series at BETA = 3: a hundred times below the half that decides inside or outside

static flx_triangle_bvh* tree_of(flx_context* ctx, const surface* s)
{
    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &bvh));
    return bvh;
}

/// The sum over all triangles, without far field.
static double slow_winding(const surface* s, const double p[3])
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangle_count; ++t)
    {
        double r[3][3], len[3];
        for (int i = 0; i < 3; ++i)
        {
            for (int k = 0; k < 3; ++k) r[i][k] = s->x[3 * s->triangle[3 * t + i] + k] - p[k];
            len[i] = sqrt(r[i][0] * r[i][0] + r[i][1] * r[i][1] + r[i][2] * r[i][2]);
        }
        const double *a = r[0], *b = r[1], *c = r[2];
        const double  det = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                           a[2] * (b[0] * c[1] - b[1] * c[0]);
        double den = len[0] * len[1] * len[2];
        for (int k = 0; k < 3; ++k) den += a[k] * b[k] * len[2] + b[k] * c[k] * len[0] + c[k] * a[k] * len[1];
        if (det != 0) sum += 2 * atan2(det, den);
    }
    return sum / (4 * M_PI);
}

static void far_field_stays_close_to_the_exact_sum(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 1;
    surface      list[4];
    list[0]                = surface_sphere(24);
    list[1]                = surface_torus(48, 24, 1, 0.3);
    list[2]                = surface_soup(3000, 0.05, &seed);
    list[3]                = surface_sphere(24);
    list[3].triangle_count = list[3].triangle_count / 2 - 31; // half open
    double worst           = 0;
    for (int i = 0; i < 4; ++i)
    {
        flx_triangle_bvh* bvh = tree_of(ctx, &list[i]);
        for (int q = 0; q < 2000; ++q)
        {
            double p[3];
            for (int k = 0; k < 3; ++k) p[k] = 3 * (test_random(&seed) - 0.5);
            worst = fmax(worst, fabs(flx__triangle_bvh_winding(bvh, p) - slow_winding(&list[i], p)));
        }
        flx__triangle_bvh_destroy(bvh);
        surface_free(&list[i]);
    }
    print_message("largest winding error: %.2g\n", worst);
    CHECK_BELOW(worst, FAR_ERROR);
    flx_context_destroy(ctx);
}

static void closed_surfaces_count_one_inside_and_nothing_outside(void** state)
{
    (void)state;
    flx_context*      ctx  = test_context(1);
    uint64_t          seed = 2;
    surface           cube = surface_cube(), torus = surface_torus(64, 32, 1, 0.3);
    flx_triangle_bvh* bvh[2] = {tree_of(ctx, &cube), tree_of(ctx, &torus)};
    for (int q = 0; q < 4000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = 3 * (test_random(&seed) - 0.5);
        const bool in_cube = fmin(p[0], fmin(p[1], p[2])) > 0 && fmax(p[0], fmax(p[1], p[2])) < 1;
        CHECK_NEAR(flx__triangle_bvh_winding(bvh[0], p), in_cube ? 1 : 0, FAR_ERROR);
        const double tube = hypot(hypot(p[0], p[1]) - 1, p[2]);
        if (fabs(tube - 0.3) < 0.01) continue; // between the smooth torus and its facets
        CHECK_NEAR(flx__triangle_bvh_winding(bvh[1], p), tube < 0.3 ? 1 : 0, FAR_ERROR);
    }
    for (int i = 0; i < 2; ++i) flx__triangle_bvh_destroy(bvh[i]);
    surface_free(&cube);
    surface_free(&torus);
    flx_context_destroy(ctx);
}

static void points_on_the_surface_give_numbers_between(void** state)
{
    (void)state;
    flx_context*      ctx     = test_context(1);
    surface           cube    = surface_cube();
    flx_triangle_bvh* bvh     = tree_of(ctx, &cube);
    const double      p[4][3] = {{0.5, 0.25, 0}, {1, 0.3, 0.4}, {0.5, 0, 0}, {0, 0, 0}};
    const double      w[4]    = {0.5, 0.5, 0.25, 0.125}; // face, face, edge, corner
    for (int i = 0; i < 4; ++i) CHECK_NEAR(flx__triangle_bvh_winding(bvh, p[i]), w[i], 1e-12);
    flx__triangle_bvh_destroy(bvh);
    surface_free(&cube);
    flx_context_destroy(ctx);
}

static void expect_orientation(const surface* s, double sign, double threshold, const double inside[3],
                               const double outside[3])
{
    flx_context*      ctx = test_context(2);
    flx_triangle_bvh* bvh = tree_of(ctx, s);
    double            got_sign, got_threshold;
    CHECK_OK(flx__surface_orientation(ctx, bvh, "s.obj", &got_sign, &got_threshold));
    CHECK_NEAR(got_sign, sign, 0);
    CHECK_NEAR(got_threshold, threshold, 0);
    assert_true(got_sign * flx__triangle_bvh_winding(bvh, inside) > got_threshold);
    assert_true(got_sign * flx__triangle_bvh_winding(bvh, outside) < got_threshold);
    flx__triangle_bvh_destroy(bvh);
    flx_context_destroy(ctx);
}

static void expect_refusal(const surface* s, const char* text)
{
    flx_context*      ctx = test_context(2);
    flx_triangle_bvh* bvh = tree_of(ctx, s);
    double            sign, threshold;
    CHECK_FAILS(flx__surface_orientation(ctx, bvh, "s.obj", &sign, &threshold), FLX_ERR_MESH);
    if (!strstr(flx_context_error(ctx), text)) fail_msg("'%s' does not say '%s'", flx_context_error(ctx), text);
    flx__triangle_bvh_destroy(bvh);
    flx_context_destroy(ctx);
}

static const double middle[3] = {0.1, -0.2, 0.15}, away[3] = {1.2, 0.4, 0.3};

static void outward_flipped_and_doubled_surfaces_come_out_right(void** state)
{
    (void)state;
    surface s = surface_sphere(16);
    expect_orientation(&s, 1, 0.5, middle, away);

    for (int32_t t = 0; t < s.triangle_count; ++t) surface_flip(&s, t);
    expect_orientation(&s, -1, 0.5, middle, away);

    const double none[3] = {0, 0, 0};
    surface      twice   = surface_both(&s, &s, none); // same places, own vertices
    expect_orientation(&twice, -1, 1.0, middle, away);
    for (int32_t i = 0; i < 3 * s.triangle_count; ++i) twice.triangle[3 * s.triangle_count + i] = s.triangle[i];
    expect_orientation(&twice, -1, 1.0, middle, away); // shared vertices
    surface_free(&twice);
    surface_free(&s);
}

static void partly_flipped_surfaces_come_out_right_everywhere(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    surface      good = surface_sphere(16), bad = surface_sphere(16);
    uint64_t     seed = 3;
    for (int32_t t = 0; t < bad.triangle_count; ++t)
        if (test_random(&seed) < 0.3) surface_flip(&bad, t);
    expect_orientation(&bad, 1, 0.5, middle, away);
    flx_triangle_bvh *a = tree_of(ctx, &good), *b = tree_of(ctx, &bad);
    for (int q = 0; q < 2000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = 2.4 * (test_random(&seed) - 0.5);
        CHECK_NEAR(flx__triangle_bvh_winding(a, p), flx__triangle_bvh_winding(b, p), FAR_ERROR);
    }
    flx__triangle_bvh_destroy(a);
    flx__triangle_bvh_destroy(b);
    surface_free(&good);
    surface_free(&bad);
    flx_context_destroy(ctx);
}

static void cavities_and_nested_parts_keep_the_threshold(void** state)
{
    (void)state;
    surface      s = surface_sphere(16), inner = surface_sphere(10);
    const double none[3] = {0, 0, 0}, in_wall[3] = {0.1, 0.1, 0.7};
    for (int32_t i = 0; i < 3 * inner.vertex_count; ++i) inner.x[i] *= 0.5;
    surface nested = surface_both(&s, &inner, none);
    expect_orientation(&nested, 1, 0.5, middle, away); // an eyeball: counts 2, inside too
    expect_orientation(&nested, 1, 0.5, in_wall, away);
    for (int32_t t = 0; t < inner.triangle_count; ++t) surface_flip(&nested, s.triangle_count + t);
    expect_orientation(&nested, 1, 0.5, in_wall, middle); // a cavity
    surface_free(&nested);
    surface_free(&inner);
    surface_free(&s);
}

static void walls_inside_a_body_do_not_matter(void** state)
{
    (void)state;
    surface      cube      = surface_cube();
    const double beside[3] = {1, 0, 0}, inside[3] = {1.5, 0.5, 0.5}, outside[3] = {2.1, 0.5, 0.5};
    surface      two = surface_both(&cube, &cube, beside); // the wall at x = 1 is there twice, facing both ways
    expect_orientation(&two, 1, 0.5, inside, outside);
    surface_free(&two);
    surface_free(&cube);
}

static void small_holes_are_closed_and_large_ones_refused_with_the_number(void** state)
{
    (void)state;
    surface s     = surface_sphere(16);
    surface holed = surface_sphere(16);
    holed.triangle_count -= 20; // a few of the last longitude
    expect_orientation(&holed, 1, 0.5, middle, away);

    surface cube        = surface_cube();
    cube.triangle_count = 4; // two opposite faces
    expect_refusal(&cube, "s.obj: open: 8 boundary edges in 2 holes");
    expect_refusal(&cube, "the winding number at its middle is 0.33");
    cube.triangle_count = 2;
    expect_refusal(&cube, "open: 4 boundary edges");

    surface half = surface_sphere(16); // everything below the equator
    int32_t kept = 0;
    for (int32_t t = 0; t < half.triangle_count; ++t)
    {
        const int32_t* v = &half.triangle[3 * t];
        if (half.x[3 * v[0] + 2] + half.x[3 * v[1] + 2] + half.x[3 * v[2] + 2] < 0)
            memcpy(&half.triangle[3 * kept++], v, 3 * sizeof(int32_t));
    }
    half.triangle_count = kept;
    expect_refusal(&half, "no inside can be told");
    surface_free(&half);
    surface_free(&cube);
    surface_free(&holed);
    surface_free(&s);
}

static void sheets_and_mixed_parts_are_refused(void** state)
{
    (void)state;
    surface      s       = surface_sphere(12);
    const double none[3] = {0, 0, 0}, beside[3] = {3, 0, 0};
    surface      pair = surface_both(&s, &s, beside);
    for (int32_t t = 0; t < s.triangle_count; ++t) surface_flip(&pair, t);
    expect_refusal(&pair, "parts are turned inside out");
    surface_free(&pair);
    surface two_faced = surface_both(&s, &s, none);
    for (int32_t t = 0; t < s.triangle_count; ++t) surface_flip(&two_faced, t);
    expect_refusal(&two_faced, "flat: 100 %");
    surface_free(&two_faced);
    for (int32_t i = 0; i < 3 * s.triangle_count; ++i) s.triangle[i] = i % 2;
    expect_refusal(&s, "have no area");
    surface_free(&s);

    const int32_t n    = 40;
    surface       band = surface_new(2 * n, 2 * n); // Moebius
    for (int32_t i = 0; i < n; ++i)
        for (int side = 0; side < 2; ++side)
        {
            const double u = 2 * M_PI * i / n, w = (side ? 0.3 : -0.3);
            double*      x = &band.x[3 * (2 * i + side)];
            x[0] = (1 + w * cos(u / 2)) * cos(u), x[1] = (1 + w * cos(u / 2)) * sin(u), x[2] = w * sin(u / 2);
            const int32_t a = 2 * i, b = 2 * i + 1, c = i + 1 < n ? a + 2 : 1, d = i + 1 < n ? a + 3 : 0;
            const int32_t t[6] = {a, b, c, b, d, c};
            memcpy(&band.triangle[6 * i], t, sizeof t);
        }
    expect_refusal(&band, "one-sided");
    surface_free(&band);
}

static void real_bodies_have_an_inside(void** state)
{
    (void)state;
    surface      body     = surface_obj(shared_or_skip("data/makehuman/base.obj"), "body");
    const double chest[3] = {0, 3, 0}, above[3] = {0, 9.5, 0};
    expect_orientation(&body, 1, 0.5, chest, above);
    surface_free(&body);
}

static void unwelded_corners_count_as_joined(void** state)
{
    (void)state;
    surface s = surface_sphere(10), soup = surface_new(3 * s.triangle_count, s.triangle_count);
    for (int32_t i = 0; i < 3 * s.triangle_count; ++i)
    {
        soup.triangle[i] = i;
        for (int k = 0; k < 3; ++k) soup.x[3 * i + k] = s.x[3 * s.triangle[i] + k];
    }
    for (int32_t t = 0; t < s.triangle_count; t += 3) surface_flip(&soup, t);
    expect_orientation(&soup, 1, 0.5, middle, away);
    surface_free(&soup);
    surface_free(&s);
}

static void a_triangle_without_area_changes_nothing(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    surface      cube = surface_cube(), more = surface_new(9, 15);
    memcpy(more.x, cube.x, 24 * sizeof(double));
    memcpy(more.triangle, cube.triangle, 36 * sizeof(int32_t));
    const int32_t extra[9] = {0, 0, 1, 3, 3, 3, 0, 7, 8};
    memcpy(&more.triangle[36], extra, sizeof extra);
    for (int k = 0; k < 3; ++k) more.x[24 + k] = 0.5; // on the line from 0 to 7
    flx_triangle_bvh *a = tree_of(ctx, &cube), *b = tree_of(ctx, &more);
    uint64_t          seed = 4;
    for (int q = 0; q < 3000; ++q)
    {
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = q < 1000 ? 0.5 * floor(4 * test_random(&seed)) : 2 * test_random(&seed) - 0.5;
        const double w = flx__triangle_bvh_winding(b, p);
        CHECK_NEAR(w, flx__triangle_bvh_winding(a, p), FAR_ERROR);
    }
    flx__triangle_bvh_destroy(a);
    flx__triangle_bvh_destroy(b);
    surface_free(&cube);
    surface_free(&more);
    flx_context_destroy(ctx);
}

static void same_bits_for_every_worker_count(void** state)
{
    (void)state;
    surface  s     = surface_torus(60, 40, 1, 0.4);
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5)
    {
        flx_context*      ctx  = test_context(workers);
        flx_triangle_bvh* bvh  = tree_of(ctx, &s);
        uint64_t          seed = 5, hash = FLX_HASH_START;
        for (int q = 0; q < 500; ++q)
        {
            double p[3];
            for (int k = 0; k < 3; ++k) p[k] = 3 * (test_random(&seed) - 0.5);
            const double w = flx__triangle_bvh_winding(bvh, p);
            hash           = flx__hash(hash, &w, sizeof w);
        }
        if (workers == 1) first = hash;
        assert_true(hash == first);
        flx__triangle_bvh_destroy(bvh);
        flx_context_destroy(ctx);
    }
    surface_free(&s);
}

static void orientation_survives_failed_allocations(void** state)
{
    (void)state;
    flx_context*      ctx  = test_context(1);
    surface           s    = surface_sphere(8);
    flx_triangle_bvh* bvh  = tree_of(ctx, &s);
    const int64_t     held = flx_context_bytes_now(ctx);
    for (int n = 0; n < 2; ++n)
    {
        double sign, threshold;
        flx_context_fail_allocation(ctx, n);
        CHECK_FAILS(flx__surface_orientation(ctx, bvh, "s.obj", &sign, &threshold), FLX_ERR_MEMORY);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), held);
    }
    flx__triangle_bvh_destroy(bvh);
    surface_free(&s);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_field_stays_close_to_the_exact_sum),
        cmocka_unit_test(closed_surfaces_count_one_inside_and_nothing_outside),
        cmocka_unit_test(points_on_the_surface_give_numbers_between),
        cmocka_unit_test(outward_flipped_and_doubled_surfaces_come_out_right),
        cmocka_unit_test(partly_flipped_surfaces_come_out_right_everywhere),
        cmocka_unit_test(cavities_and_nested_parts_keep_the_threshold),
        cmocka_unit_test(walls_inside_a_body_do_not_matter),
        cmocka_unit_test(small_holes_are_closed_and_large_ones_refused_with_the_number),
        cmocka_unit_test(sheets_and_mixed_parts_are_refused),
        cmocka_unit_test(real_bodies_have_an_inside),
        cmocka_unit_test(unwelded_corners_count_as_joined),
        cmocka_unit_test(a_triangle_without_area_changes_nothing),
        cmocka_unit_test(same_bits_for_every_worker_count),
        cmocka_unit_test(orientation_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
