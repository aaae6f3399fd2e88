#include "reduce/matrices.h"

#include "reduce/decompose.h"
#include "reduce/nnls.h"

static double objective(int rows, int cols, const double* g, const double* b, const double* xi)
{
    double sum = 0;
    for (int i = 0; i < rows; ++i)
    {
        double r = b[i];
        for (int j = 0; j < cols; ++j) r -= g[i + j * rows] * xi[j];
        sum += r * r;
    }
    return sqrt(sum);
}

/// The best of all sets of columns whose plain least squares are positive.
static double brute_force(flx_context* ctx, int rows, int cols, const double* g, const double* b)
{
    double best = objective(rows, 0, g, b, NULL);
    for (int set = 1; set < 1 << cols; ++set)
    {
        double a[20 * 8], rhs[20], x[8], xi[8] = {0};
        int    count    = 0, of[8];
        bool   positive = true;
        for (int j = 0; j < cols; ++j)
            if (set >> j & 1) memcpy(a + rows * count, g + rows * j, sizeof(double) * (size_t)rows), of[count++] = j;
        memcpy(rhs, b, sizeof(double) * (size_t)rows);
        CHECK_OK(flx__least_squares(ctx, rows, count, a, 1, rhs, x));
        for (int k = 0; k < count; ++k) positive &= x[k] >= 0, xi[of[k]] = x[k];
        if (positive) best = fmin(best, objective(rows, cols, g, b, xi));
    }
    return best;
}

static void small_problems_end_at_the_best_of_all_active_sets(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 41;
    for (int trial = 0; trial < 60; ++trial)
    {
        const int       rows = 8 + trial % 12, cols = 1 + trial % 8;
        double *        g = random_matrix(&seed, rows, cols), *b = random_matrix(&seed, rows, 1), xi[8], scale = 1;
        flx_nnls_result result;
        for (int j = 0; j < cols; ++j, scale *= 0.1) // columns of very different lengths: the answer only scales
            for (int i = 0; i < rows; ++i) g[i + j * rows] = (g[i + j * rows] + 0.2 * b[i]) * scale;
        CHECK_OK(flx__nnls(ctx, rows, cols, g, b, &(flx_nnls_options){0}, xi, &result));
        const double best = brute_force(ctx, rows, cols, g, b), size = objective(rows, 0, g, b, NULL);
        CHECK_NEAR(objective(rows, cols, g, b, xi), best, 1e-12 * size);
        CHECK_NEAR(result.residual, best / size, 1e-12);
        for (int j = 0; j < cols; ++j) assert_true(xi[j] >= 0);
        free(g), free(b);
    }
    flx_context_destroy(ctx);
}

static void conditions_of_the_minimum_hold_on_large_problems(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(2);
    uint64_t     seed = 42;
    enum
    {
        ROWS = 300,
        COLS = 500
    };
    double *g = random_matrix(&seed, ROWS, COLS), *b = random_matrix(&seed, ROWS, 1), xi[COLS], r[ROWS];
    for (int j = 0; j < COLS; ++j) // overlapping bumps, as elements that share vertices: neighbours replace each other
        for (int i = 0; i < ROWS; ++i)
            g[i + j * ROWS] = 0.1 * g[i + j * ROWS] + exp(-pow(20 * ((double)i / ROWS - (double)j / COLS), 2));
    for (int i = 0; i < ROWS; ++i) b[i] += 1;
    flx_nnls_result result;
    CHECK_OK(flx__nnls(ctx, ROWS, COLS, g, b, &(flx_nnls_options){0}, xi, &result));
    const double size     = sqrt(column_dot(ROWS, b, b, NULL));
    int          nonzeros = 0;
    memcpy(r, b, sizeof r);
    for (int j = 0; j < COLS; ++j)
        for (int i = 0; i < ROWS; ++i) r[i] -= g[i + j * ROWS] * xi[j];
    for (int j = 0; j < COLS; ++j)
    {
        const double* column = g + j * ROWS;
        const double  w = column_dot(ROWS, column, r, NULL) / (size * sqrt(column_dot(ROWS, column, column, NULL)));
        nonzeros += xi[j] > 0;
        assert_true(xi[j] >= 0);
        assert_true(w <= 2e-12);
        if (xi[j] > 0) assert_true(fabs(w) <= 2e-12); // the solver's own limit, and rounding of these sums
    }
    assert_true(nonzeros > 40 && nonzeros < ROWS);
    assert_int_equal(nonzeros, result.nonzeros);
    assert_true(result.rounds >= result.nonzeros + 5); // some entered and left: the factor was taken apart too
    CHECK_NEAR(result.residual, sqrt(column_dot(ROWS, r, r, NULL)) / size, 1e-13);
    free(g), free(b);
    flx_context_destroy(ctx);
}

static void sparse_positive_weights_are_recovered(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 43;
    double *     g = random_matrix(&seed, 200, 400), *truth = new_matrix(400, 1), xi[400];
    for (int k = 0; k < 12; ++k) truth[33 * k + 1] = 1 + k;
    double*         b = product(200, 400, 1, g, truth);
    flx_nnls_result result;
    CHECK_OK(flx__nnls(ctx, 200, 400, g, b, &(flx_nnls_options){.residual = 1e-13}, xi, &result));
    for (int j = 0; j < 400; ++j) CHECK_NEAR(xi[j], truth[j], 1e-11);
    CHECK_BELOW(result.residual, 1e-13);
    free(g), free(truth), free(b);
    flx_context_destroy(ctx);
}

static void stops_at_as_many_nonzeros_and_at_the_residual_asked_for(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 44;
    double *     g = random_matrix(&seed, 80, 120), *b = new_matrix(80, 1), xi[120], before = 1;
    for (int j = 0; j < 120; ++j)
        for (int i = 0; i < 80; ++i) b[i] += g[i + j * 80]; // all weights 1: a full sum to be sampled
    flx_nnls_result result;
    for (int most = 1; most <= 30; ++most)
    {
        int nonzeros = 0;
        CHECK_OK(flx__nnls(ctx, 80, 120, g, b, &(flx_nnls_options){.most_nonzeros = most}, xi, &result));
        for (int j = 0; j < 120; ++j) nonzeros += xi[j] > 0;
        assert_int_equal(nonzeros, most);
        assert_int_equal(result.nonzeros, most);
        assert_true(result.residual < before && result.slope > 0);
        before = result.residual;
    }
    CHECK_OK(flx__nnls(ctx, 80, 120, g, b, &(flx_nnls_options){.residual = 0.3}, xi, &result));
    assert_true(result.residual <= 0.3 && result.residual > 0.2 && result.nonzeros < 80);
    free(g), free(b);
    flx_context_destroy(ctx);
}

static void dependent_zero_and_useless_columns_do_no_harm(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 45;
    double *     g = random_matrix(&seed, 30, 9), *b = new_matrix(30, 1), xi[9];
    for (int i = 0; i < 30; ++i)
    {
        b[i]          = 2 * g[i] + g[i + 30];
        g[i + 60]     = 1e5 * g[i];       // a copy, scaled
        g[i + 90]     = g[i] + g[i + 30]; // a sum of two
        g[i + 4 * 30] = 0;                // nothing
        g[i + 5 * 30] = -b[i];            // the wrong way
    }
    flx_nnls_result result;
    CHECK_OK(flx__nnls(ctx, 30, 9, g, b, &(flx_nnls_options){0}, xi, &result));
    CHECK_BELOW(result.residual, 1e-13);
    assert_true(xi[4] == 0 && xi[5] == 0);
    memset(b, 0, sizeof(double) * 30);
    CHECK_OK(flx__nnls(ctx, 30, 9, g, b, &(flx_nnls_options){0}, xi, &result));
    for (int j = 0; j < 9; ++j) assert_true(xi[j] == 0);
    assert_true(result.nonzeros == 0 && result.residual == 0);
    g[31] = NAN;
    CHECK_FAILS(flx__nnls(ctx, 30, 9, g, b, &(flx_nnls_options){0}, xi, NULL), FLX_ERR_NONFINITE);
    CHECK_FAILS(flx__nnls(ctx, 0, 9, g, b, &(flx_nnls_options){0}, xi, NULL), FLX_ERR_ARGUMENT);
    free(g), free(b);
    flx_context_destroy(ctx);
}

static void nearly_dependent_columns_still_reach_the_least_squares_answer(void** state)
{
    (void)state;
    flx_context* ctx      = test_context(1);
    uint64_t     seed     = 46;
    const double sigma[5] = {1, 1e-1, 1e-2, 1e-3, 3e-5}; // squared: 1e-9, near what the factor still takes for rank
    double *     g = matrix_with(&seed, 40, 5, 5, sigma), truth[5] = {1, 2, 3, 4, 5}, *b = product(40, 5, 1, g, truth);
    double       xi[5];
    CHECK_OK(flx__nnls(ctx, 40, 5, g, b, &(flx_nnls_options){0}, xi, NULL));
    for (int j = 0; j < 5; ++j) CHECK_NEAR(xi[j], truth[j], 1e-10); // 3e4 x 1e-16 and a margin; normal equations: 1e-7
    free(g), free(b);
    flx_context_destroy(ctx);
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    double xi[2][400];
    for (int k = 0; k < 2; ++k)
    {
        flx_context* ctx  = test_context(1 + 3 * k);
        uint64_t     seed = 47;
        double *     g = random_matrix(&seed, 1500, 400), *b = random_matrix(&seed, 1500, 1);
        CHECK_OK(flx__nnls(ctx, 1500, 400, g, b, &(flx_nnls_options){.most_nonzeros = 60}, xi[k], NULL));
        free(g), free(b);
        flx_context_destroy(ctx);
    }
    assert_memory_equal(xi[0], xi[1], sizeof xi[0]);
}

static void every_refused_allocation_is_survived(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 48;
    double *     g = random_matrix(&seed, 30, 20), *b = random_matrix(&seed, 30, 1), xi[20];
    flx_status   status = FLX_ERR_MEMORY;
    int          tried  = 0;
    for (; status != FLX_OK; ++tried)
    {
        flx_context_fail_allocation(ctx, tried);
        status = flx__nnls(ctx, 30, 20, g, b, &(flx_nnls_options){0}, xi, NULL);
        flx_context_fail_allocation(ctx, -1);
        assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_true(tried > 8);
    free(g), free(b);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_end_at_the_best_of_all_active_sets),
        cmocka_unit_test(conditions_of_the_minimum_hold_on_large_problems),
        cmocka_unit_test(sparse_positive_weights_are_recovered),
        cmocka_unit_test(stops_at_as_many_nonzeros_and_at_the_residual_asked_for),
        cmocka_unit_test(dependent_zero_and_useless_columns_do_no_harm),
        cmocka_unit_test(nearly_dependent_columns_still_reach_the_least_squares_answer),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(every_refused_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
