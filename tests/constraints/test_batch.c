// Building, assembling, errors, memory and workers.
#include "fixture.h"

static void a_sheet_has_the_elements_of_the_paper_s_cloth(void** state)
{
    (void)state;
    flx_context* ctx        = test_context(1);
    const double axes[6]    = {1, 0, 0, 0, 0, 1};
    body         b          = sheet(30);
    int32_t      edge_count = 0;
    int32_t*     edge       = NULL;
    CHECK_OK(flx__triangle_edges(ctx, b.count, b.element, &edge_count, &edge));
    assert_int_equal(edge_count, 2581); // 2 x 30 x 29 + 29 x 29
    const int32_t first[6] = {0, 31, 31, 30, 30, 0};
    assert_memory_equal(edge, first, sizeof first);
    flx_constraint_batch spring, strain, bend;
    CHECK_OK(flx__edge_springs(ctx, b.x, edge_count, edge, NULL, &spring));
    CHECK_OK(flx__triangle_strains(ctx, b.x, b.count, b.element, NULL, 1, 1, axes, &strain));
    CHECK_OK(flx__bendings(ctx, b.n, b.x, b.count, b.element, NULL, &bend));
    assert_int_equal(spring.count, 2581);
    assert_int_equal(strain.count, 1682);
    assert_int_equal(bend.count, 900);
    double area = 0, share = 0;
    for (int32_t j = 0; j < strain.count; ++j) area += strain.weight[j];
    for (int32_t j = 0; j < bend.count; ++j) share += bend.weight[j];
    CHECK_NEAR(area, 1, 1e-13);
    CHECK_NEAR(share, 1, 1e-13);
    for (int32_t i = 1; i < 29; ++i) // a flat sheet bends nowhere inside
        for (int32_t j = 1; j < 29; ++j) assert_true(bend.param[30 * i + j] == 0);
    assert_true(bend.param[5] > 1);
    flx__constraint_batch_release(ctx, &spring);
    flx__constraint_batch_release(ctx, &strain);
    flx__constraint_batch_release(ctx, &bend);
    flx__free(ctx, edge);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    body_free(&b);
    flx_context_destroy(ctx);
}

static void the_matrix_is_the_sum_of_all_products(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int family = 0; family < 2; ++family)
    {
        body                 b           = body_for(family ? TET_STRAIN : SPRING, 3);
        int32_t              batch_count = 0;
        flx_constraint_batch batch[KINDS];
        flx_csc              a;
        double*              dense    = calloc((size_t)b.n * (size_t)b.n, sizeof *dense);
        double*              diagonal = malloc((size_t)b.n * sizeof *diagonal);
        for (int32_t v = 0; v < b.n; ++v) dense[v * b.n + v] = diagonal[v] = 2 + v;
        for (int k0 = 0; k0 < KINDS; ++k0)
        {
            if (is_solid((kind)k0) != (family == 1)) continue;
            const int32_t i = batch_count++;
            CHECK_OK(specimen_build(ctx, (kind)k0, &b, 1, 1, &batch[i]));
            const int rows = batch[i].type->rows;
            for (int32_t j = 0; j < batch[i].count; ++j)
                for (int r = 0; r < rows; ++r)
                {
                    double* s = calloc((size_t)b.n, sizeof *s);
                    for (int32_t k = batch[i].first[j]; k < batch[i].first[j + 1]; ++k)
                        s[batch[i].vertex[k]] += batch[i].coefficient[k * rows + r];
                    for (int32_t k = batch[i].first[j]; k < batch[i].first[j + 1]; ++k)
                        for (int32_t l = batch[i].first[j]; l < batch[i].first[j + 1]; ++l)
                            dense[batch[i].vertex[k] * b.n + batch[i].vertex[l]] +=
                                batch[i].weight[j] * s[batch[i].vertex[k]] * s[batch[i].vertex[l]];
                    free(s);
                }
        }
        CHECK_OK(flx__constraints_assemble(ctx, b.n, diagonal, batch_count, batch, &a));
        assert_int_equal(a.n, b.n);
        for (int32_t v = 0; v < b.n; ++v)
        {
            const double scale = dense[v * b.n + v];
            assert_int_equal(a.row[a.first[v]], v);
            for (int64_t p = a.first[v]; p < a.first[v + 1]; ++p)
            {
                if (p > a.first[v]) assert_true(a.row[p] > a.row[p - 1]);
                CHECK_NEAR(a.value[p], dense[v * b.n + a.row[p]], 1e-13 * scale);
                dense[v * b.n + a.row[p]] = 0;
            }
            for (int32_t u = v; u < b.n; ++u) assert_true(dense[v * b.n + u] == 0); // nothing is missing
        }
        for (int32_t i = 0; i < batch_count; ++i) flx__constraint_batch_release(ctx, &batch[i]);
        flx__free(ctx, a.first);
        flx__free(ctx, a.row);
        flx__free(ctx, a.value);
        free(dense);
        free(diagonal);
        body_free(&b);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void an_empty_batch_and_no_diagonal_are_welcome(void** state)
{
    (void)state;
    flx_context*         ctx  = test_context(2);
    const double         x[9] = {0};
    flx_constraint_batch b;
    flx_csc              a;
    CHECK_OK(flx__edge_springs(ctx, x, 0, NULL, NULL, &b));
    flx__constraints_measure(ctx, &b, x, NULL);
    flx__constraints_project(ctx, &b, NULL, NULL);
    CHECK_NEAR(flx__constraints_energy(ctx, &b, NULL, NULL), 0, 0);
    CHECK_OK(flx__constraints_assemble(ctx, 3, NULL, 1, &b, &a));
    assert_int_equal(a.first[3], 3);
    CHECK_NEAR(a.value[2], 0, 0);
    flx__free(ctx, a.first);
    flx__free(ctx, a.row);
    flx__free(ctx, a.value);
    flx__constraint_batch_release(ctx, &b);
    flx_context_destroy(ctx);
}

/// Enough constraints for several chunks.
static void same_bits_for_any_number_of_workers_and_no_heap(void** state)
{
    (void)state;
    for (int k = 0; k < KINDS; ++k)
    {
        uint64_t hash[3];
        for (int32_t workers = 1; workers <= 3; ++workers)
        {
            flx_context* ctx = test_context(workers);
            specimen     s   = specimen_make(ctx, (kind)k, k < TET_STRAIN ? 60 : 9, 0.95, 1.05);
            double*      q   = shaken(&s.body, 0.2, 7);
            double*      z   = malloc(z_size(&s.batch) * sizeof *z);
            double*      p   = malloc(z_size(&s.batch) * sizeof *p);
            double*      f   = calloc(3 * (size_t)s.body.n, sizeof *f);
            assert_true(s.batch.count > 3000);
            const int64_t allocations = flx_context_allocation_count(ctx);
            flx__constraints_measure(ctx, &s.batch, q, z);
            flx__constraints_project(ctx, &s.batch, z, p);
            flx__constraints_gather(ctx, &s.batch, &s.gather, p, f);
            const double e = flx__constraints_energy(ctx, &s.batch, z, p);
            assert_int_equal(flx_context_allocation_count(ctx), allocations);
            uint64_t h        = flx__hash(FLX_HASH_START, p, (int64_t)(z_size(&s.batch) * sizeof *p));
            h                 = flx__hash(h, f, 3 * (int64_t)s.body.n * (int64_t)sizeof *f);
            hash[workers - 1] = flx__hash(h, &e, sizeof e);
            flx__constraints_project(ctx, &s.batch, z, z); // in place
            assert_memory_equal(z, p, z_size(&s.batch) * sizeof *z);
            free(q);
            free(z);
            free(p);
            free(f);
            specimen_free(ctx, &s);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
            flx_context_destroy(ctx);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

// --- what cannot be built ----------------------------------------------------------------------------------------

static const flx_constraint_batch nothing;

static void check_message(flx_context* ctx, const flx_constraint_batch* b, const char* text)
{
    assert_memory_equal(b, &nothing, sizeof nothing);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    if (!strstr(flx_context_error(ctx), text)) fail_msg("'%s' does not hold '%s'", flx_context_error(ctx), text);
}

static void elements_without_measure_are_named(void** state)
{
    (void)state;
    flx_context*         ctx     = test_context(1);
    const double         x[]     = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0};
    const int32_t        edge[]  = {0, 1, 1, 5}; // 5 is where 1 is
    const int32_t        t[]     = {0, 1, 2, 0, 1, 4};
    const int32_t        tet[]   = {0, 1, 2, 3, 0, 2, 1, 3};
    const double         nan3[]  = {0, 0, 0, 1, NAN, 1};
    const double         bad[]   = {1, -2};
    const double         axes[6] = {1, 0, 0, 0, 0, 1};
    flx_constraint_batch b;
    CHECK_FAILS(flx__edge_springs(ctx, x, 2, edge, NULL, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "edge 2 between vertices 2 and 6 has length 0 m");
    CHECK_FAILS(flx__triangle_strains(ctx, x, 2, t, NULL, 1, 1, NULL, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "triangle 2 has area 0 m^2");
    CHECK_FAILS(flx__triangle_strains(ctx, x, 1, t, NULL, 1, 1, axes, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "triangle 1 does not lie in the plane");
    CHECK_FAILS(flx__bendings(ctx, 6, x, 2, t, NULL, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "triangle 2 has area 0 m^2");
    CHECK_FAILS(flx__bendings(ctx, 4, x, 2, t, NULL, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "triangle 2 names vertex 5 of 4");
    CHECK_FAILS(flx__tet_strains(ctx, x, 2, tet, NULL, 1, 1, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "tetrahedron 2 has volume -0.166667 m^3");
    CHECK_FAILS(flx__tet_volumes(ctx, x, 2, tet, NULL, 1, 1, &b), FLX_ERR_MESH);
    check_message(ctx, &b, "tetrahedron 2 has volume -0.166667 m^3");
    CHECK_FAILS(flx__attachments(ctx, 2, 1, edge, NULL, nan3, NULL, &b), FLX_ERR_ARGUMENT);
    check_message(ctx, &b, "attachment 2 has the target 1 nan 1");
    CHECK_FAILS(flx__edge_springs(ctx, x, 2, tet, bad, &b), FLX_ERR_SETTING);
    check_message(ctx, &b, "edge 2 has stiffness -2; it must be finite and not negative");
    CHECK_FAILS(flx__triangle_strains(ctx, x, 1, t, NULL, 1.1, 1, NULL, &b), FLX_ERR_SETTING);
    check_message(ctx, &b, "triangle stretch limits [1.1, 1]");
    CHECK_FAILS(flx__tet_strains(ctx, x, 1, tet, NULL, 0, 1, &b), FLX_ERR_SETTING);
    check_message(ctx, &b, "tetrahedron stretch limits [0, 1]");
    CHECK_FAILS(flx__tet_volumes(ctx, x, 1, tet, NULL, NAN, 1, &b), FLX_ERR_SETTING);
    check_message(ctx, &b, "tetrahedron volume limits [nan, 1]");
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int k = 0; k < KINDS; ++k)
    {
        body                  b = body_for((kind)k, 2);
        flx_constraint_batch  batch;
        flx_constraint_gather gather = {0};
        flx_csc               a;
        int64_t               countdown = 0;
        for (flx_status status = FLX_ERR_MEMORY; status != FLX_OK; ++countdown)
        {
            flx_context_fail_allocation(ctx, countdown);
            status = specimen_build(ctx, (kind)k, &b, 1, 1, &batch);
            if (status != FLX_OK)
            {
                assert_int_equal(status, FLX_ERR_MEMORY);
                assert_memory_equal(&batch, &nothing, sizeof nothing);
                assert_int_equal(flx_context_bytes_now(ctx), 0);
            }
        }
        assert_true(countdown > 5);
        const int64_t held = flx_context_bytes_now(ctx);
        for (countdown = 0; countdown < 3; ++countdown)
        {
            flx_context_fail_allocation(ctx, countdown);
            CHECK_FAILS(flx__constraint_gather_create(ctx, &batch, b.n, &gather), FLX_ERR_MEMORY);
            assert_null(gather.first);
            assert_int_equal(flx_context_bytes_now(ctx), held);
        }
        for (countdown = 0; countdown < 8; ++countdown) // gathers, slots, first, 3 of the gather, row, value
        {
            flx_context_fail_allocation(ctx, countdown);
            CHECK_FAILS(flx__constraints_assemble(ctx, b.n, NULL, 1, &batch, &a), FLX_ERR_MEMORY);
            assert_null(a.first);
            assert_int_equal(flx_context_bytes_now(ctx), held);
        }
        flx_context_fail_allocation(ctx, -1);
        flx__constraint_batch_release(ctx, &batch);
        body_free(&b);
    }
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_has_the_elements_of_the_paper_s_cloth),
        cmocka_unit_test(the_matrix_is_the_sum_of_all_products),
        cmocka_unit_test(an_empty_batch_and_no_diagonal_are_welcome),
        cmocka_unit_test(same_bits_for_any_number_of_workers_and_no_heap),
        cmocka_unit_test(elements_without_measure_are_named),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
