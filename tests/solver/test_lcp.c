#include "test.h"

#include "solver/lcp.h"

/// B = G G^T + lift I with G [k][m]
static void random_spd(uint64_t* seed, int k, int m, double lift, double* b)
{
    double* g = malloc(sizeof(double) * (size_t)(k * m));
    for (int i = 0; i < k * m; ++i) g[i] = test_random(seed) - 0.5;
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j)
        {
            double sum = i == j ? lift : 0;
            for (int l = 0; l < m; ++l) sum += g[i * m + l] * g[j * m + l];
            b[i * k + j] = sum;
        }
    free(g);
}

static void check_conditions(int k, const double* b, const double* q, const double* lambda, double tolerance)
{
    double scale = 0;
    for (int i = 0; i < k; ++i) scale = fmax(scale, fabs(q[i]));
    for (int i = 0; i < k; ++i)
    {
        double w = q[i];
        for (int j = 0; j < k; ++j) w += b[i * k + j] * lambda[j];
        assert_true(lambda[i] >= 0);
        assert_true(w >= -tolerance * scale);
        if (lambda[i] > 0) assert_true(fabs(w) <= tolerance * scale);
    }
}

static void conditions_hold_for_random_problems_from_any_first_guess(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(2);
    uint64_t     seed = 1;
    flx_lcp      lcp;
    CHECK_OK(flx__lcp_create(ctx, 200, &lcp));
    static double b[200 * 200], q[200], lambda[200], other[200];
    for (int trial = 0; trial < 60; ++trial)
    {
        const int k = 1 + trial * 3, m = trial % 3 == 0   ? k
                                         : trial % 3 == 1 ? k / 2 + 1
                                                          : 3; // full rank to rank 3 + lift
        random_spd(&seed, k, m, trial % 3 == 0 ? 0.01 : 1e-3, b);
        for (int i = 0; i < k; ++i) q[i] = test_random(&seed) - 0.6, lambda[i] = test_random(&seed) - 0.5, other[i] = 0;
        assert_true(flx__lcp_solve(ctx, &lcp, k, b, k, q, 10000, lambda) >= 0);
        check_conditions(k, b, q, lambda, 1e-8); // rounding times the condition number of B
        assert_true(flx__lcp_solve(ctx, &lcp, k, b, k, q, 10000, other) >= 0);
        for (int i = 0; i < k; ++i) CHECK_NEAR(lambda[i], other[i], 1e-6 * (1 + fabs(lambda[i])));
    }
    flx__lcp_release(ctx, &lcp);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void answer_is_the_best_of_all_active_sets(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 9;
    flx_lcp      lcp;
    CHECK_OK(flx__lcp_create(ctx, 2, &lcp));
    for (int trial = 0; trial < 1000; ++trial)
    {
        double b[4], q[2], lambda[2] = {0, 0};
        random_spd(&seed, 2, 2, 1e-3, b);
        for (int i = 0; i < 2; ++i) q[i] = test_random(&seed) - 0.5;
        flx__lcp_solve(ctx, &lcp, 2, b, 2, q, 100, lambda);
        // minimum of 1/2 l B l + q l over the four faces of the quadrant
        const double det        = b[0] * b[3] - b[1] * b[2];
        double       best       = 0;
        const double face[3][2] = {{fmax(-q[0] / b[0], 0), 0},
                                   {0, fmax(-q[1] / b[3], 0)},
                                   {(-q[0] * b[3] + q[1] * b[1]) / det, (-q[1] * b[0] + q[0] * b[2]) / det}};
        for (int k = 0; k < 3; ++k)
        {
            const double x = face[k][0], y = face[k][1];
            if (x < 0 || y < 0) continue;
            best = fmin(best, 0.5 * (b[0] * x * x + 2 * b[1] * x * y + b[3] * y * y) + q[0] * x + q[1] * y);
        }
        const double x = lambda[0], y = lambda[1];
        CHECK_NEAR(0.5 * (b[0] * x * x + 2 * b[1] * x * y + b[3] * y * y) + q[0] * x + q[1] * y, best,
                   1e-9 * (1 + fabs(best)));
    }
    flx__lcp_release(ctx, &lcp);
    flx_context_destroy(ctx);
}

static void too_few_changes_are_said_and_give_no_pulling_force(void** state)
{
    (void)state;
    flx_context*  ctx  = test_context(1);
    uint64_t      seed = 4;
    flx_lcp       lcp;
    static double b[100 * 100], q[100], lambda[100];
    CHECK_OK(flx__lcp_create(ctx, 100, &lcp));
    random_spd(&seed, 100, 100, 1e-3, b);
    for (int i = 0; i < 100; ++i) q[i] = test_random(&seed) - 0.5, lambda[i] = i % 2;
    assert_int_equal(flx__lcp_solve(ctx, &lcp, 100, b, 100, q, 1, lambda), -1);
    for (int i = 0; i < 100; ++i) assert_true(lambda[i] >= 0);
    flx__lcp_release(ctx, &lcp);
    flx_context_destroy(ctx);
}

static void every_failing_allocation_is_clean(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int64_t k = 0;; ++k)
    {
        flx_lcp lcp;
        flx_context_fail_allocation(ctx, k);
        const flx_status status = flx__lcp_create(ctx, 10, &lcp);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK)
        {
            assert_int_equal(k, 4);
            flx__lcp_release(ctx, &lcp);
            break;
        }
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_hold_for_random_problems_from_any_first_guess),
        cmocka_unit_test(answer_is_the_best_of_all_active_sets),
        cmocka_unit_test(too_few_changes_are_said_and_give_no_pulling_force),
        cmocka_unit_test(every_failing_allocation_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
