#include "reduce/matrices.h"

#include "reduce/decompose.h"

static void singular_values_come_back_and_the_factors_multiply_to_the_matrix(void** state)
{
    (void)state;
    flx_context*     ctx         = test_context(1);
    const double     sigma[4]    = {10, 3, 0.5, 1e-6};
    static const int shape[2][2] = {{40, 7}, {6, 30}}; // tall and wide
    for (int s = 0; s < 2; ++s)
    {
        uint64_t  seed = 3;
        const int rows = shape[s][0], cols = shape[s][1], k = rows < cols ? rows : cols;
        double *  a = matrix_with(&seed, rows, cols, 4, sigma), *copy = new_matrix(rows, cols);
        double *  u = new_matrix(rows, k), *vt = new_matrix(k, cols), values[8];
        memcpy(copy, a, sizeof(double) * (size_t)(rows * cols));
        CHECK_OK(flx__thin_svd(ctx, rows, cols, copy, values, u, vt));
        for (int i = 0; i < k; ++i) CHECK_NEAR(values[i], i < 4 ? sigma[i] : 0, 1e-14 * 10);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < rows; ++j) u[j + i * rows] *= values[i];
        double* again = product(rows, k, cols, u, vt);
        for (int i = 0; i < rows * cols; ++i) CHECK_NEAR(again[i], a[i], 1e-13); // rounding of values up to 10
        double most, least;
        CHECK_OK(flx__singular_range(ctx, rows, cols, a, &most, &least));
        CHECK_NEAR(most, 10, 1e-13);
        CHECK_NEAR(least, 0, 1e-13);
        free(a), free(copy), free(u), free(vt), free(again);
    }
    flx_context_destroy(ctx);
}

static void eigenvalues_of_the_second_difference_are_known(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    enum
    {
        N = 30
    };
    double a[N * N] = {0}, value[N], vector[N * N];
    for (int i = 0; i < N; ++i) a[i + i * N] = 2;
    for (int i = 0; i + 1 < N; ++i) a[i + 1 + i * N] = -1; // lower triangle only
    CHECK_OK(flx__symmetric_eigen(ctx, N, a, value, vector));
    for (int k = 0; k < N; ++k)
    {
        CHECK_NEAR(value[k], 2 - 2 * cos(M_PI * (k + 1) / (N + 1)), 1e-14 * N);
        for (int i = 0; i < N; ++i) // A v = value v
        {
            const double left = i > 0 ? vector[i - 1 + k * N] : 0, right = i + 1 < N ? vector[i + 1 + k * N] : 0;
            CHECK_NEAR(2 * vector[i + k * N] - left - right, value[k] * vector[i + k * N], 1e-14 * N);
        }
    }
    flx_context_destroy(ctx);
}

static void least_squares_does_not_square_the_condition(void** state)
{
    (void)state;
    flx_context* ctx      = test_context(1);
    uint64_t     seed     = 5;
    const double sigma[6] = {1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10};
    double *     a = matrix_with(&seed, 50, 6, 6, sigma), *truth = random_matrix(&seed, 6, 2);
    double *     b = product(50, 6, 2, a, truth), x[12];
    CHECK_OK(flx__least_squares(ctx, 50, 6, a, 2, b, x));
    for (int i = 0; i < 12; ++i)
        CHECK_NEAR(x[i], truth[i], 1e-4); // 1e10 x 1e-16 x a margin; squared nothing would be left
    free(a), free(truth), free(b);
    flx_context_destroy(ctx);
}

static void missing_rank_is_reported_with_the_least_norm_answer(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    double       a[6] = {1, 2, 2, 2, 4, 4}, b[3] = {5, 10, 10}, x[2]; // second column twice the first
    CHECK_FAILS(flx__least_squares(ctx, 3, 2, a, 1, b, x), FLX_ERR_ARGUMENT);
    CHECK_NEAR(x[0], 1, 1e-13); // x + 2 y = 5 nearest to the origin
    CHECK_NEAR(x[1], 2, 1e-13);
    double bad[2] = {1, NAN}, value[1];
    CHECK_FAILS(flx__thin_svd(ctx, 2, 1, bad, value, NULL, NULL), FLX_ERR_NONFINITE);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_values_come_back_and_the_factors_multiply_to_the_matrix),
        cmocka_unit_test(eigenvalues_of_the_second_difference_are_known),
        cmocka_unit_test(least_squares_does_not_square_the_condition),
        cmocka_unit_test(missing_rank_is_reported_with_the_least_norm_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
