// Making a lattice: its size, crop, orientation, refusals, memory, the same bits.
#include "lattice_test.h"

static void the_wanted_number_of_tets_is_met_within_two_percent(void** state)
{
    (void)state;
    flx_context*    ctx      = test_context(2);
    surface         body[]   = {sphere(0.03, 24), torus(10.0, 2.0, 60, 20), box(0, 0, 0, 1, 0.1, 0.1)};
    const int64_t   wanted[] = {3000, 20000, 50000};
    const flx_shape half     = {.kind = FLX_SHAPE_BOX, .a = {-1e3, -1e3, -1e3}, .b = {0.02, 1e3, 1e3}};
    for (int i = 0; i < 3; ++i)
        for (int n = 0; n < 3; ++n)
            for (int cropped = 0; cropped < (n == 1 ? 2 : 1); ++cropped)
            {
                const flx_lattice_options o = {.target_tets = wanted[n], .crop_count = cropped, .crop = &half};
                flx_lattice*              l = NULL;
                CHECK_OK(make(ctx, &body[i], &o, &l));
                assert_true(fabs((double)l->tet_count / (double)wanted[n] - 1.0) <= 0.02);
                flx__lattice_destroy(ctx, l);
            }
    for (int i = 0; i < 3; ++i) surface_free(&body[i]);
    flx_context_destroy(ctx);
}

static void a_crop_keeps_what_lies_inside_and_the_surface_that_goes_with_it(void** state)
{
    (void)state;
    flx_context*              ctx     = test_context(2);
    surface                   s       = sphere(1.0, 40);
    const flx_shape           crop[2] = {{.kind = FLX_SHAPE_BOX, .a = {-2, -2, 0.3}, .b = {2, 2, 2}},
                                         {.kind = FLX_SHAPE_SPHERE, .a = {0, 0, -1}, .radius = 0.3}};
    const flx_lattice_options o       = {.cell = 0.1, .crop_count = 2, .crop = crop};
    flx_lattice*              l       = NULL;
    CHECK_OK(make(ctx, &s, &o, &l));
    assert_int_equal(components(l), 2);
    for (int32_t t = 0; t < l->tet_count; ++t)
    {
        double z = 0.0, r2 = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            double mean = 0.0;
            for (int c = 0; c < 4; ++c) mean += 0.25 * l->x[3 * l->tet[4 * t + c] + k];
            if (k == 2) z = mean;
            r2 += (mean + (k == 2)) * (mean + (k == 2));
        }
        assert_true(z >= 0.3 || r2 <= 0.09);
    }
    assert_true(l->surface_vertex_count > 300 && l->surface_vertex_count < s.vertex_count);
    char* used = calloc((size_t)l->surface_vertex_count, 1);
    for (int32_t i = 0; i < 3 * l->surface_triangle_count; ++i) used[l->surface_triangle[i]] = 1;
    for (int32_t i = 0; i < l->surface_vertex_count; ++i)
    {
        const double* p = s.x + 3 * l->surface_vertex[i];
        assert_true(used[i] && l->surface[i].tet >= 0);
        assert_true(i == 0 || l->surface_vertex[i] > l->surface_vertex[i - 1]);
        assert_true(p[2] > 0.2 || (p[2] + 1) * (p[2] + 1) + p[0] * p[0] + p[1] * p[1] < 0.16); // a cell of slack
        for (int c = 0; c < 4; ++c) assert_true(l->surface[i].weight[c] >= -1e-5);
    }
    free(used);
    flx__lattice_destroy(ctx, l);

    const flx_shape           nowhere = {.kind = FLX_SHAPE_SPHERE, .a = {9, 9, 9}, .radius = 1};
    const flx_lattice_options lost    = {.cell = 0.1, .crop_count = 1, .crop = &nowhere};
    CHECK_FAILS(make(ctx, &s, &lost, &l), FLX_ERR_MESH);
    assert_null(l);
    surface_free(&s);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static uint64_t hash_of(const flx_lattice* l)
{
    uint64_t h = flx__hash(FLX_HASH_START, l->x, 24 * (int64_t)l->vertex_count);
    h          = flx__hash(h, l->tet, 16 * (int64_t)l->tet_count);
    for (int32_t i = 0; i < l->surface_vertex_count; ++i)
    {
        h = flx__hash(h, &l->surface[i].tet, sizeof l->surface[i].tet);
        h = flx__hash(h, l->surface[i].weight, sizeof l->surface[i].weight);
    }
    return h;
}

static void turned_inside_out_doubled_and_seamed_surfaces_give_the_same_lattice(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    surface      s = torus(1.0, 0.35, 40, 16), out = {0}, twice = {0}, soup = {0};
    flx_lattice* l = lattice_with_cell(ctx, &s, 0.12);
    append(&out, &s);
    append(&twice, &s);
    for (int32_t t = 0; t < s.triangle_count; ++t)
    {
        const int32_t* c        = s.triangle + 3 * t;
        out.triangle[3 * t + 1] = c[2];
        out.triangle[3 * t + 2] = c[1];
        add_triangle(&twice, c[0], c[1], c[2]);
        for (int i = 0; i < 3; ++i) add_vertex(&soup, s.x[3 * c[i]], s.x[3 * c[i] + 1], s.x[3 * c[i] + 2]);
        add_triangle(&soup, 3 * t, 3 * t + 1, 3 * t + 2);
    }
    const surface* variant[3] = {&out, &twice, &soup};
    for (int i = 0; i < 3; ++i)
    {
        flx_lattice* other = lattice_with_cell(ctx, variant[i], 0.12);
        assert_int_equal(other->tet_count, l->tet_count);
        assert_int_equal(other->vertex_count, l->vertex_count);
        assert_memory_equal(other->tet, l->tet, 16 * (size_t)l->tet_count);
        assert_memory_equal(other->x, l->x, 24 * (size_t)l->vertex_count);
        flx__lattice_destroy(ctx, other);
    }

    // a few triangles missing: slightly open, and half of a cell of holes must not tear or tie anything
    surface open = {0};
    append(&open, &s);
    open.triangle_count -= 3;
    flx_lattice* other = lattice_with_cell(ctx, &open, 0.12);
    assert_int_equal(components(other), 1);
    assert_int_equal(euler(other), 0);
    assert_true(abs(other->tet_count - l->tet_count) < l->tet_count / 50);
    flx__lattice_destroy(ctx, other);

    flx__lattice_destroy(ctx, l);
    surface_free(&s);
    surface_free(&out);
    surface_free(&twice);
    surface_free(&soup);
    surface_free(&open);
    flx_context_destroy(ctx);
}

static void the_same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    surface s = sphere(1.0, 30), other = box(-1, -1, 1.01, 1, 1, 1.4);
    append(&s, &other);
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5)
    {
        flx_context*              ctx = test_context(workers);
        const flx_lattice_options o   = {.target_tets = 30000};
        flx_lattice*              l   = NULL;
        CHECK_OK(make(ctx, &s, &o, &l));
        assert_int_equal(components(l), 2);
        if (workers == 1) first = hash_of(l);
        assert_true(hash_of(l) == first);
        flx__lattice_destroy(ctx, l);
        flx_context_destroy(ctx);
    }
    surface_free(&s);
    surface_free(&other);
}

static void sizes_that_make_no_sense_are_refused_with_what_would_do(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(1);
    surface      s     = box(0, 0, 0, 1, 1, 1);
    flx_lattice* l     = NULL;
    const double bad[] = {-0.1, NAN, INFINITY, 1e-4, 1e-300};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        const flx_lattice_options o = {.cell = bad[i]};
        CHECK_FAILS(make(ctx, &s, &o, &l), FLX_ERR_SETTING);
        assert_null(l);
    }
    const flx_lattice_options fine = {.cell = 1e-4};
    CHECK_FAILS(make(ctx, &s, &fine, &l), FLX_ERR_SETTING);
    assert_non_null(strstr(flx_context_error(ctx), "would do"));
    const int64_t targets[] = {0, -5, 50000001};
    for (int i = 0; i < 3; ++i)
    {
        const flx_lattice_options o = {.target_tets = targets[i]};
        CHECK_FAILS(make(ctx, &s, &o, &l), FLX_ERR_SETTING);
    }
    s.x[4]                        = NAN;
    flx_triangle_bvh*         bvh = NULL;
    const flx_lattice_options o   = {.cell = 0.1};
    surface                   ok  = box(0, 0, 0, 1, 1, 1);
    CHECK_OK(flx__triangle_bvh_create(ctx, ok.vertex_count, ok.x, ok.triangle_count, ok.triangle, &bvh));
    CHECK_FAILS(flx__lattice_create(ctx, "nan.obj", s.vertex_count, s.x, s.triangle_count, s.triangle, bvh, &o, &l),
                FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "vertex 2"));
    flx__triangle_bvh_destroy(bvh);
    surface_free(&ok);
    surface_free(&s);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    surface      s = sphere(1.0, 10), other = box(-1, -1, 1.01, 1, 1, 1.4);
    append(&s, &other);
    flx_triangle_bvh* bvh = NULL;
    CHECK_OK(flx__triangle_bvh_create(ctx, s.vertex_count, s.x, s.triangle_count, s.triangle, &bvh));
    const int64_t             before = flx_context_bytes_now(ctx);
    const flx_lattice_options o      = {.cell = 0.4};
    for (int64_t n = 0;; ++n)
    {
        flx_lattice* l = (flx_lattice*)&s;
        flx_context_fail_allocation(ctx, n);
        const flx_status status =
            flx__lattice_create(ctx, "s", s.vertex_count, s.x, s.triangle_count, s.triangle, bvh, &o, &l);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK)
        {
            assert_true(n > 30);
            flx__lattice_destroy(ctx, l);
            break;
        }
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_null(l);
        assert_int_equal(flx_context_bytes_now(ctx), before);
    }
    flx__triangle_bvh_destroy(bvh);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    surface_free(&s);
    surface_free(&other);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wanted_number_of_tets_is_met_within_two_percent),
        cmocka_unit_test(a_crop_keeps_what_lies_inside_and_the_surface_that_goes_with_it),
        cmocka_unit_test(turned_inside_out_doubled_and_seamed_surfaces_give_the_same_lattice),
        cmocka_unit_test(the_same_bits_for_any_number_of_workers),
        cmocka_unit_test(sizes_that_make_no_sense_are_refused_with_what_would_do),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
