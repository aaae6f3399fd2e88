#include "reduce/matrices.h"

#include "reduce/decompose.h"
#include "reduce/interpolation.h"
#include "reduce/sampling.h"

enum
{
    COUNT = 60,
    EACH  = 6,
    ROWS  = COUNT * EACH,
    R     = 14
};

/// log det(H) of delta I + the chosen elements' Gram matrix, straight from eigenvalues.
static double log_det(flx_context* ctx, const double* v, int32_t m, const int32_t* element, double delta)
{
    double gram[R * R], value[R], sum = 0;
    for (int a = 0; a < R; ++a)
        for (int b = 0; b < R; ++b)
        {
            gram[a + b * R] = a == b ? delta : 0;
            for (int32_t l = 0; l < m; ++l)
                gram[a + b * R] +=
                    column_dot(EACH, v + element[l] * EACH + a * ROWS, v + element[l] * EACH + b * ROWS, NULL);
        }
    CHECK_OK(flx__symmetric_eigen(ctx, R, gram, value, NULL));
    for (int i = 0; i < R; ++i) sum += log(value[i]);
    return sum;
}

static void every_choice_is_the_one_of_largest_determinant(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(2);
    uint64_t     seed  = 21;
    double*      v     = orthonormal_matrix(&seed, ROWS, R);
    const double delta = 1e-10; // mean eigenvalue of V^T V is 1
    int32_t      element[12], trial[12];
    CHECK_OK(flx__d_optimal_elements(ctx, COUNT, EACH, R, v, 12, element));
    for (int m = 1; m <= 12; ++m)
    {
        const double chosen = log_det(ctx, v, m, element, delta);
        memcpy(trial, element, sizeof trial);
        for (int32_t j = 0; j < COUNT; ++j)
        {
            bool taken = false;
            for (int l = 0; l + 1 < m; ++l) taken |= element[l] == j;
            trial[m - 1] = j;
            // eigenvalues of 1e-10 carry rounding of 1e-16: 1e-6 relative, in at most R of them
            if (!taken) assert_true(log_det(ctx, v, m, trial, delta) <= chosen + 1e-4);
        }
    }
    free(v);
    flx_context_destroy(ctx);
}

static double operator_norm(flx_context* ctx, const double* v, int32_t m, const int32_t* element)
{
    int64_t           row[ROWS];
    flx_interpolation i;
    flx__element_rows(m, element, EACH, row);
    const flx_interpolation_desc desc = {
        .rows = ROWS, .r = R, .v = v, .sample_count = m * EACH, .sample = row, .bound = 1e9, .force = true};
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    const double norm = i.norm;
    flx__interpolation_release(ctx, &i);
    return norm;
}

static void d_optimal_elements_beat_random_ones(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 22;
    double*      v    = orthonormal_matrix(&seed, ROWS, R);
    int32_t      element[COUNT];
    double       before = INFINITY;
    for (int m = 4; m <= 12; m += 4)
    {
        CHECK_OK(flx__d_optimal_elements(ctx, COUNT, EACH, R, v, m, element));
        const double chosen = operator_norm(ctx, v, m, element);
        assert_true(chosen < before); // more elements, less amplification
        before     = chosen;
        int better = 0;
        for (int trial = 0; trial < 100; ++trial)
        {
            for (int l = 0; l < m; ++l) element[l] = l * COUNT / m + (int32_t)(test_random(&seed) * COUNT / m);
            better += operator_norm(ctx, v, m, element) < chosen;
        }
        assert_true(better <= 2); // the determinant is not the norm, but nearly always agrees with it
    }
    CHECK_OK(flx__d_optimal_elements(ctx, COUNT, EACH, R, v, COUNT, element)); // all of them: each once
    CHECK_NEAR(operator_norm(ctx, v, COUNT, element), 1, 1e-13);
    free(v);
    flx_context_destroy(ctx);
}

static void elements_that_see_nothing_come_last(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 23;
    double*      v    = random_matrix(&seed, 10 * 3, 4);
    int32_t      element[10];
    for (int j = 0; j < 10; j += 2)
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 4; ++k) v[3 * j + i + 30 * k] = 0;
    CHECK_OK(flx__d_optimal_elements(ctx, 10, 3, 4, v, 10, element));
    for (int l = 0; l < 10; ++l) assert_int_equal(element[l] % 2, l < 5 ? 1 : 0);
    for (int l = 5; l < 10; ++l) assert_int_equal(element[l], 2 * (l - 5)); // ties: lowest first
    v[7] = NAN;
    CHECK_FAILS(flx__d_optimal_elements(ctx, 10, 3, 4, v, 3, element), FLX_ERR_NONFINITE);
    CHECK_FAILS(flx__d_optimal_elements(ctx, 10, 3, 4, v, 11, element), FLX_ERR_ARGUMENT);
    free(v);
    flx_context_destroy(ctx);
}

static void farthest_points_of_a_line_are_its_ends_then_its_middle(void** state)
{
    (void)state;
    flx_context* ctx      = test_context(1);
    double       x[3 * 9] = {0};
    int32_t      point[9];
    for (int i = 0; i < 9; ++i) x[3 * i] = i == 8 ? 8.5 : i;
    CHECK_OK(flx__farthest_points(ctx, 9, x, 9, point));
    assert_int_equal(point[0], 8);
    assert_int_equal(point[1], 0);
    assert_int_equal(point[2], 4);
    for (int a = 0; a < 9; ++a)
        for (int b = 0; b < a; ++b) assert_true(point[a] != point[b]);
    memset(x, 0, sizeof x); // all in one place: each still comes once
    CHECK_OK(flx__farthest_points(ctx, 9, x, 9, point));
    for (int a = 0; a < 9; ++a) assert_int_equal(point[a], a);
    flx_context_destroy(ctx);
}

static void same_choice_for_any_number_of_workers(void** state)
{
    (void)state;
    int32_t element[2][50];
    for (int k = 0; k < 2; ++k)
    {
        flx_context* ctx  = test_context(1 + 3 * k);
        uint64_t     seed = 25;
        double*      v    = random_matrix(&seed, 900, 11);
        CHECK_OK(flx__d_optimal_elements(ctx, 300, 3, 11, v, 50, element[k]));
        free(v);
        flx_context_destroy(ctx);
    }
    assert_memory_equal(element[0], element[1], sizeof element[0]);
}

static void every_refused_allocation_is_survived(void** state)
{
    (void)state;
    flx_context* ctx    = test_context(1);
    uint64_t     seed   = 26;
    double*      v      = random_matrix(&seed, 90, 5);
    flx_status   status = FLX_ERR_MEMORY;
    int          tried  = 0;
    int32_t      element[4];
    for (; status != FLX_OK; ++tried)
    {
        flx_context_fail_allocation(ctx, tried);
        status = flx__d_optimal_elements(ctx, 30, 3, 5, v, 4, element);
        if (status == FLX_OK) status = flx__farthest_points(ctx, 30, v, 4, element);
        flx_context_fail_allocation(ctx, -1);
        assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_true(tried > 8);
    free(v);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_is_the_one_of_largest_determinant),
        cmocka_unit_test(d_optimal_elements_beat_random_ones),
        cmocka_unit_test(elements_that_see_nothing_come_last),
        cmocka_unit_test(farthest_points_of_a_line_are_its_ends_then_its_middle),
        cmocka_unit_test(same_choice_for_any_number_of_workers),
        cmocka_unit_test(every_refused_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
