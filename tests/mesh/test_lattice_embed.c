// Points in a lattice: the right copy, the nearest tet, no heap.
#include "lattice_test.h"

static void embedding_picks_the_copy_on_the_right_side_of_a_gap(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    surface      s = box(0, 0, 0, 1, 0.7, 0.5), other = box(0, 0, 0.52, 1, 0.7, 1.0);
    append(&s, &other);
    flx_lattice* l     = lattice_with_cell(ctx, &s, 0.1);
    int32_t*     label = malloc(sizeof(int32_t) * (size_t)l->vertex_count);
    assert_int_equal(components_below(l, INFINITY, label), 2);
    const int32_t lower = label[l->tet[4 * l->surface[0].tet]];
    uint64_t      seed  = 5;
    for (int i = 0; i < 5000; ++i)
    {
        const double p[3] = {test_random(&seed), 0.7 * test_random(&seed), 0.4 + 0.22 * test_random(&seed)};
        flx_embedded e;
        assert_true(flx__lattice_embed(l, p, -1, &e) == 0.0);
        // in the gap only one of the two may have a tet at p
        if (p[2] < 0.5 || p[2] > 0.52) assert_true((label[l->tet[4 * e.tet]] == lower) == (p[2] < 0.51));
        for (int k = 0; k < 3; ++k)
        {
            double back = 0.0;
            for (int c = 0; c < 4; ++c) back += e.weight[c] * l->x[3 * l->tet[4 * e.tet + c] + k];
            CHECK_NEAR(back, p[k], 1e-13); // rounding at size 1
        }
    }
    const double far[3] = {3.0, 0.35, 0.25};
    flx_embedded e;
    const double distance = flx__lattice_embed(l, far, -1, &e);
    assert_true(distance > 1.8 && distance <= 2.0); // the lattice reaches past x = 1 by less than two cells
    double back = 0.0;
    for (int c = 0; c < 4; ++c) back += e.weight[c] * l->x[3 * l->tet[4 * e.tet + c]];
    CHECK_NEAR(back, 3.0, 1e-11); // extrapolated by 20 cells
    const double nowhere[3] = {0, NAN, 0};
    assert_true(flx__lattice_embed(l, nowhere, -1, &e) == INFINITY && e.tet == -1);
    free(label);
    flx__lattice_destroy(ctx, l);
    surface_free(&s);
    surface_free(&other);
    flx_context_destroy(ctx);
}

static void points_outside_go_to_the_nearest_tet_as_a_full_search_finds_it(void** state)
{
    (void)state;
    flx_context*     ctx  = test_context(2);
    surface          s    = torus(1.0, 0.25, 40, 16);
    flx_lattice*     l    = lattice_with_cell(ctx, &s, 0.15);
    flx_tet_locator* full = NULL;
    CHECK_OK(flx__tet_locator_create(ctx, l->vertex_count, l->x, l->tet_count, l->tet, &full));
    uint64_t seed = 11;
    for (int i = 0; i < 1000; ++i)
    {
        double       p[3];
        flx_embedded a, b;
        for (int k = 0; k < 3; ++k) p[k] = (i < 500 ? 3.0 : 10.0) * (test_random(&seed) - 0.5);
        const double expected = flx__tet_locator_find(full, p, &a);
        CHECK_NEAR(flx__lattice_embed(l, p, -1, &b), expected, 1e-11);
        CHECK_NEAR(flx__tet_distance2(l->x, l->tet + 4 * b.tet, p, b.weight), expected * expected, 1e-10);
    }
    flx__tet_locator_destroy(full);
    flx__lattice_destroy(ctx, l);
    surface_free(&s);
    flx_context_destroy(ctx);
}

static void a_query_touches_no_heap(void** state)
{
    (void)state;
    flx_context*  ctx   = test_context(1);
    surface       s     = sphere(1.0, 10);
    flx_lattice*  l     = lattice_with_cell(ctx, &s, 0.2);
    const int64_t count = flx_context_allocation_count(ctx);
    uint64_t      seed  = 1;
    for (int i = 0; i < 1000; ++i)
    {
        flx_embedded e;
        const double p[3] = {3 * test_random(&seed), 3 * test_random(&seed), 3 * test_random(&seed)};
        flx__lattice_embed(l, p, -1, &e);
    }
    assert_int_equal(flx_context_allocation_count(ctx), count);
    flx__lattice_destroy(ctx, l);
    surface_free(&s);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedding_picks_the_copy_on_the_right_side_of_a_gap),
        cmocka_unit_test(points_outside_go_to_the_nearest_tet_as_a_full_search_finds_it),
        cmocka_unit_test(a_query_touches_no_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
