#include "test.h"

#include "matrices.h"

static void check_order(const edges* e, const uint8_t* prone)
{
    flx_context* ctx   = test_context(2);
    flx_graph    graph = edges_graph(e);
    int32_t*     order = malloc(((size_t)e->n + 1) * sizeof *order);
    int32_t*     again = malloc(((size_t)e->n + 1) * sizeof *again);
    uint8_t*     seen  = calloc((size_t)e->n + 1, 1);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order));
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, again));

    bool prone_began = false;
    for (int32_t k = 0; k < e->n; ++k)
    {
        assert_in_range(order[k], 0, e->n - 1);
        assert_int_equal(seen[order[k]], 0);
        assert_int_equal(order[k], again[k]);
        seen[order[k]] = 1;
        if (prone && prone[order[k]])
            prone_began = true;
        else
            assert_false(prone_began);
    }
    free(order);
    free(again);
    free(seen);
    graph_free(&graph);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void every_vertex_appears_once_and_prone_ones_come_last(void** state)
{
    (void)state;
    edges    e     = edges_lattice(6, 5, 4, NULL, NULL);
    uint8_t* prone = calloc((size_t)e.n, 1);
    check_order(&e, NULL);
    check_order(&e, prone);
    for (int32_t v = 0; v < e.n; ++v) prone[v] = v % 3 == 0;
    check_order(&e, prone);
    memset(prone, 1, (size_t)e.n);
    check_order(&e, prone);
    free(prone);
    edges_free(&e);
}

static void isolated_vertices_and_several_components_are_ordered(void** state)
{
    (void)state;
    edges lonely = edges_new(7);
    check_order(&lonely, NULL);
    edges_free(&lonely);

    edges one = edges_new(1);
    check_order(&one, NULL);
    edges_free(&one);

    edges none = edges_new(0);
    check_order(&none, NULL);
    edges_free(&none);

    edges parts = edges_new(300); // rings of ten with every eleventh vertex alone
    for (int32_t r = 0; r < 27; ++r)
        for (int32_t k = 0; k < 10; ++k) edges_spring(&parts, 11 * r + k, 11 * r + (k + 1) % 10, 1.0);
    uint8_t prone[300];
    for (int32_t v = 0; v < 300; ++v) prone[v] = v % 7 == 2;
    check_order(&parts, NULL);
    check_order(&parts, prone);
    edges_free(&parts);
}

static void nested_dissection_fills_less_than_the_natural_order(void** state)
{
    (void)state;
    flx_context*       ctx     = test_context(1);
    edges              e       = edges_lattice(10, 10, 10, NULL, NULL);
    flx_graph          graph   = edges_graph(&e);
    int32_t*           order   = malloc((size_t)e.n * sizeof *order);
    flx_factor_options options = {.single = true};
    int64_t            nonzeros[2];
    for (int32_t v = 0; v < e.n; ++v) e.diagonal[v] += 0.1;
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, NULL, order));
    for (int pass = 0; pass < 2; ++pass)
    {
        flx_csc     a = edges_matrix(&e, pass == 0 ? NULL : order);
        flx_factor* f = NULL;
        CHECK_OK(flx__factor_create(ctx, &a, a.n, &options, NULL, &f));
        nonzeros[pass] = flx__factor_get_info(f).nonzeros;
        flx__factor_destroy(f);
        csc_free(&a);
    }
    // a 10 x 10 x 10 lattice has half-bandwidth ~ 221 in its natural order; dissection more than halves the fill
    CHECK_BELOW((double)nonzeros[1], 0.6 * (double)nonzeros[0]);
    free(order);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(1);
    edges        e     = edges_lattice(2, 2, 2, NULL, NULL);
    flx_graph    graph = edges_graph(&e);
    int32_t      order[64];
    uint8_t      prone[64] = {1, 0, 1};
    int64_t      countdown = 0;
    for (;; ++countdown)
    {
        flx_context_fail_allocation(ctx, countdown);
        const flx_status status = flx__order_nested_dissection(ctx, &graph, prone, order);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
    }
    assert_true(countdown > 10);
    graph_free(&graph);
    edges_free(&e);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vertex_appears_once_and_prone_ones_come_last),
        cmocka_unit_test(isolated_vertices_and_several_components_are_ordered),
        cmocka_unit_test(nested_dissection_fills_less_than_the_natural_order),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
