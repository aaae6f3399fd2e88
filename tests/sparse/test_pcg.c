#include "test.h"

#include "matrices.h"

typedef struct contact
{
    int32_t row;
    double  stiffness;
} contact;

static void add_contact(void* user, double* const x[3], double* const y[3])
{
    const contact* c = user;
    for (int k = 0; k < 3; ++k) y[k][c->row] += c->stiffness * x[k][c->row];
}

static edges lattice(double held)
{
    edges e = edges_lattice(9, 6, 6, NULL, NULL);
    for (int32_t v = 0; v < e.n; v += 7) e.diagonal[v] += held;
    return e;
}

static void fill(double* x, int32_t n, uint64_t seed)
{
    for (int32_t i = 0; i < n; ++i) x[i] = 2.0 * test_random(&seed) - 1.0;
}

static void rows_multiply_like_columns(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    edges        e   = lattice(1.0);
    flx_csc      a   = edges_matrix(&e, NULL);
    flx_csr      m;
    double*      x = malloc((size_t)a.n * sizeof *x);
    double*      y = malloc((size_t)a.n * sizeof *y);
    double*      z = malloc((size_t)a.n * sizeof *z);
    CHECK_OK(flx__csr_from_lower(ctx, &a, &m));
    assert_int_equal(m.first[m.n], 2 * a.first[a.n] - a.n);
    for (int32_t i = 0; i < m.n; ++i)
        for (int64_t p = m.first[i] + 1; p < m.first[i + 1]; ++p) assert_true(m.column[p - 1] < m.column[p]);
    fill(x, a.n, 1);
    csc_multiply(&a, x, y);
    flx__csr_multiply(ctx, &m, x, z);
    for (int32_t i = 0; i < a.n; ++i) CHECK_NEAR(z[i], y[i], 1e-13);
    flx__csr_release(ctx, &m);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    free(x);
    free(y);
    free(z);
    csc_free(&a);
    edges_free(&e);
    flx_context_destroy(ctx);
}

typedef struct solved
{
    int32_t  iterations;
    uint64_t hash;
} solved;

/// Solve with a contact on top, compare with the direct solve.
static solved solve_against_direct(int32_t workers, bool warm, double tolerance)
{
    flx_context*       ctx   = test_context(workers);
    edges              e     = lattice(1.0);
    contact            touch = {.row = 40, .stiffness = 25.0};
    flx_csc            a     = edges_matrix(&e, NULL);
    const int32_t      n     = a.n;
    double*            extra = calloc((size_t)n, sizeof *extra);
    double*            work  = malloc(15 * (size_t)n * sizeof *work);
    double *           x[3], *b[3];
    flx_csr            m;
    flx_factor*        f       = NULL;
    flx_factor_options options = {.keep_double = true};
    CHECK_OK(flx__csr_from_lower(ctx, &a, &m));
    extra[touch.row] = touch.stiffness;
    a.value[a.first[touch.row]] += touch.stiffness;
    CHECK_OK(flx__factor_create(ctx, &a, n, &options, NULL, &f));
    for (int c = 0; c < 3; ++c)
    {
        x[c] = malloc((size_t)n * sizeof(double));
        b[c] = malloc((size_t)n * sizeof(double));
        fill(b[c], n, 7 + (uint64_t)c);
        fill(x[c], n, 70 + (uint64_t)c);
    }
    const flx_pcg       pcg    = {.ctx            = ctx,
                                  .a              = &m,
                                  .extra_diagonal = extra,
                                  .extra          = add_contact,
                                  .extra_user     = &touch,
                                  .max_iterations = 1000,
                                  .tolerance      = tolerance,
                                  .work           = work};
    const double* const rhs[3] = {b[0], b[1], b[2]};
    solved              result;
    const int64_t       allocations = flx_context_allocation_count(ctx);
    result.iterations               = flx__pcg_solve(&pcg, rhs, x, warm);
    assert_int_equal(flx_context_allocation_count(ctx), allocations);
    assert_in_range(result.iterations, 1, 999);

    result.hash = FLX_HASH_START;
    for (int c = 0; c < 3; ++c) result.hash = flx__hash(result.hash, x[c], n * (int64_t)sizeof(double));
    flx__factor_forward_f64(f, b);
    flx__factor_backward_f64(f, b);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < n; ++i) CHECK_NEAR(x[c][i], b[c][i], 100.0 * tolerance * 30.0); // condition x |b|
    if (warm) // starting from the solution there is nothing to do
    {
        for (int c = 0; c < 3; ++c) fill(b[c], n, 7 + (uint64_t)c);
        const flx_pcg easy = {.ctx            = ctx,
                              .a              = &m,
                              .extra_diagonal = extra,
                              .extra          = add_contact,
                              .extra_user     = &touch,
                              .max_iterations = 1000,
                              .tolerance      = 10.0 * tolerance,
                              .work           = work};
        assert_int_equal(flx__pcg_solve(&easy, rhs, x, true), 0);
    }
    for (int c = 0; c < 3; ++c)
    {
        free(x[c]);
        free(b[c]);
    }
    flx__factor_destroy(f);
    flx__csr_release(ctx, &m);
    free(extra);
    free(work);
    csc_free(&a);
    edges_free(&e);
    flx_context_destroy(ctx);
    return result;
}

static void solution_equals_the_direct_one(void** state)
{
    (void)state;
    (void)solve_against_direct(2, false, 1e-11);
    (void)solve_against_direct(2, true, 1e-11);
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    const solved first = solve_against_direct(1, false, 1e-9);
    for (int32_t workers = 2; workers <= 8; workers += 1 + workers / 2)
    {
        const solved next = solve_against_direct(workers, false, 1e-9);
        assert_int_equal(next.iterations, first.iterations);
        assert_true(next.hash == first.hash);
    }
}

static void zero_right_hand_sides_and_limits_stop_at_once(void** state)
{
    (void)state;
    flx_context*  ctx  = test_context(1);
    edges         e    = lattice(1.0);
    flx_csc       a    = edges_matrix(&e, NULL);
    const int32_t n    = a.n;
    double*       work = malloc(15 * (size_t)n * sizeof *work);
    double*       b    = calloc(3 * (size_t)n, sizeof *b);
    double*       x    = malloc(3 * (size_t)n * sizeof *x);
    flx_csr       m;
    CHECK_OK(flx__csr_from_lower(ctx, &a, &m));
    flx_pcg             pcg    = {.ctx = ctx, .a = &m, .max_iterations = 50, .tolerance = 1e-12, .work = work};
    const double* const rhs[3] = {b, b + n, b + 2 * n};
    double* const       sol[3] = {x, x + n, x + 2 * n};
    fill(x, 3 * n, 4);
    assert_int_equal(flx__pcg_solve(&pcg, rhs, sol, false), 0);
    for (int32_t i = 0; i < 3 * n; ++i) assert_true(x[i] == 0.0);
    fill(b, n, 5); // one column of three
    pcg.max_iterations = 3;
    assert_int_equal(flx__pcg_solve(&pcg, rhs, sol, false), 3);
    for (int32_t i = n; i < 3 * n; ++i) assert_true(x[i] == 0.0);
    flx__csr_release(ctx, &m);
    free(work);
    free(b);
    free(x);
    csc_free(&a);
    edges_free(&e);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_of_the_rows_is_reported(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    edges        e   = lattice(1.0);
    flx_csc      a   = edges_matrix(&e, NULL);
    flx_csr      m;
    for (int64_t countdown = 0; countdown < 4; ++countdown)
    {
        flx_context_fail_allocation(ctx, countdown);
        CHECK_FAILS(flx__csr_from_lower(ctx, &a, &m), FLX_ERR_MEMORY);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_context_fail_allocation(ctx, -1);
    csc_free(&a);
    edges_free(&e);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_multiply_like_columns),
        cmocka_unit_test(solution_equals_the_direct_one),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(zero_right_hand_sides_and_limits_stop_at_once),
        cmocka_unit_test(every_failed_allocation_of_the_rows_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
