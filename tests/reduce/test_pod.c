#include "reduce/matrices.h"

#include "reduce/pod.h"

static void low_rank_snapshots_are_held_exactly_by_as_many_modes(void** state)
{
    (void)state;
    flx_context*    ctx      = test_context(2);
    uint64_t        seed     = 1;
    const double    sigma[5] = {8, 4, 2, 1, 0.5};
    double*         x        = matrix_with(&seed, 90, 20, 5, sigma);
    flx_pod_options options  = flx__pod_options_default();
    for (int method = 0; method < 2; ++method)
    {
        flx_pod pod;
        double  error;
        options.method     = method ? FLX_POD_RANDOM : FLX_POD_EXACT;
        options.most_modes = method ? 8 : 0;
        CHECK_OK(flx__pod_create(ctx, 90, 20, x, &options, &pod));
        assert_int_equal(pod.rank, 5); // the other 15 are rounding: 1e-16 of sigma_0
        for (int i = 0; i < 5; ++i) CHECK_NEAR(pod.sigma[i], sigma[i], 1e-13);
        for (int rank = 0; rank <= 5; ++rank) // Eckart, Young: what is left are the dropped singular values
        {
            double left = 0, all = 0;
            for (int i = 0; i < 5; ++i) all += sigma[i] * sigma[i], left += i >= rank ? sigma[i] * sigma[i] : 0;
            CHECK_OK(flx__pod_error(ctx, &pod, rank, NULL, 20, x, &error));
            CHECK_NEAR(error, sqrt(left / all), 1e-14);
        }
        flx__pod_release(ctx, &pod);
    }
    free(x);
    flx_context_destroy(ctx);
}

static void modes_are_orthonormal_in_the_weights_and_best_in_them(void** state)
{
    (void)state;
    flx_context*    ctx  = test_context(1);
    uint64_t        seed = 2;
    double *        x = random_matrix(&seed, 60, 12), *weight = new_matrix(60, 1);
    flx_pod_options options = flx__pod_options_default();
    for (int i = 0; i < 60; ++i) weight[i] = pow(10, 4 * test_random(&seed) - 2);
    options.row_weight = weight;
    flx_pod pod, plain;
    CHECK_OK(flx__pod_create(ctx, 60, 12, x, &options, &pod));
    assert_int_equal(pod.rank, 12);
    for (int a = 0; a < 12; ++a)
        for (int b = 0; b < 12; ++b)
            CHECK_NEAR(column_dot(60, pod.mode + a * 60, pod.mode + b * 60, weight), a == b, 1e-13);
    double all = 0, left = 0, error;
    for (int i = 0; i < 12; ++i) all += pod.sigma[i] * pod.sigma[i], left += i >= 4 ? pod.sigma[i] * pod.sigma[i] : 0;
    CHECK_OK(flx__pod_error(ctx, &pod, 4, weight, 12, x, &error));
    CHECK_NEAR(error, sqrt(left / all), 1e-13);

    options.row_weight = NULL; // the unweighted one is another subspace
    CHECK_OK(flx__pod_create(ctx, 60, 12, x, &options, &plain));
    CHECK_OK(flx__pod_error(ctx, &plain, 12, NULL, 12, x, &error));
    CHECK_BELOW(error, 1e-13);
    assert_true(fabs(plain.sigma[0] - pod.sigma[0]) > 0.1);
    flx__pod_release(ctx, &pod);
    flx__pod_release(ctx, &plain);
    free(x), free(weight);
    flx_context_destroy(ctx);
}

static void affine_pod_keeps_the_mean_apart(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    uint64_t        seed  = 3;
    double *        shift = random_matrix(&seed, 30, 1), *mode = orthonormal_matrix(&seed, 30, 1), x[30 * 5];
    flx_pod_options options = flx__pod_options_default();
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 30; ++i) x[i + 30 * j] = shift[i] + (j - 2) * mode[i]; // amplitudes of mean 0
    options.affine = true;
    flx_pod pod;
    CHECK_OK(flx__pod_create(ctx, 30, 5, x, &options, &pod));
    assert_int_equal(pod.rank, 1);
    CHECK_NEAR(pod.sigma[0], sqrt(10), 1e-13); // 4 + 1 + 0 + 1 + 4
    const double sign = column_dot(30, mode, pod.mode, NULL) < 0 ? -1 : 1;
    for (int i = 0; i < 30; ++i)
    {
        CHECK_NEAR(pod.mean[i], shift[i], 1e-14);
        CHECK_NEAR(pod.mode[i], sign * mode[i], 1e-13);
    }
    flx__pod_release(ctx, &pod);
    free(shift), free(mode);
    flx_context_destroy(ctx);
}

static void noise_is_cut_at_the_truncation_and_zero_snapshots_have_no_modes(void** state)
{
    (void)state;
    flx_context*    ctx      = test_context(1);
    uint64_t        seed     = 4;
    const double    sigma[4] = {1, 1e-9, 1e-10, 3e-12}; // the last as found in a falling sheet: not a motion
    double*         x        = matrix_with(&seed, 70, 9, 4, sigma);
    flx_pod_options options  = flx__pod_options_default();
    flx_pod         pod;
    CHECK_OK(flx__pod_create(ctx, 70, 9, x, &options, &pod));
    assert_int_equal(pod.rank, 3);
    assert_int_equal(pod.sigma_count, 9);
    CHECK_NEAR(pod.sigma[3], 3e-12, 1e-14); // kept to be looked at
    flx__pod_release(ctx, &pod);
    options.most_modes = 2;
    CHECK_OK(flx__pod_create(ctx, 70, 9, x, &options, &pod));
    assert_int_equal(pod.rank, 2);
    flx__pod_release(ctx, &pod);

    memset(x, 0, sizeof(double) * 70 * 9);
    CHECK_OK(flx__pod_create(ctx, 70, 9, x, &options, &pod));
    assert_int_equal(pod.rank, 0);
    flx__pod_release(ctx, &pod);
    x[70 * 4 + 3] = INFINITY;
    CHECK_FAILS(flx__pod_create(ctx, 70, 9, x, &options, &pod), FLX_ERR_NONFINITE);
    assert_non_null(strstr(flx_context_error(ctx), "snapshot 4"));
    free(x);
    flx_context_destroy(ctx);
}

static void the_range_finder_comes_as_near_as_the_singular_values_allow(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 5;
    double       sigma[40];
    for (int i = 0; i < 40; ++i) sigma[i] = pow(0.7, i);
    double*         x       = matrix_with(&seed, 200, 60, 40, sigma);
    flx_pod_options options = flx__pod_options_default();
    flx_pod         exact, random;
    double          e, r;
    options.most_modes = 10;
    CHECK_OK(flx__pod_create(ctx, 200, 60, x, &options, &exact));
    options.method = FLX_POD_RANDOM;
    CHECK_OK(flx__pod_create(ctx, 200, 60, x, &options, &random));
    CHECK_OK(flx__pod_error(ctx, &exact, 10, NULL, 60, x, &e));
    CHECK_OK(flx__pod_error(ctx, &random, 10, NULL, 60, x, &r));
    assert_true(r >= e * (1 - 1e-12));
    CHECK_BELOW(r, e * (1 + 1e-6)); // two power iterations: (sigma_20 / sigma_10)^10 ~ 2e-16 in the square
    for (int i = 0; i < 10; ++i) CHECK_NEAR(random.sigma[i], exact.sigma[i], 1e-9);
    flx__pod_release(ctx, &exact);
    flx__pod_release(ctx, &random);
    free(x);
    flx_context_destroy(ctx);
}

static void split_axes_become_columns(void** state)
{
    (void)state;
    const double flattened[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; // two rows, two snapshots
    const double expected[12]  = {1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12};
    double       split[12];
    flx__pod_split_axes(2, 2, flattened, split);
    assert_memory_equal(split, expected, sizeof expected);
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    uint64_t hash[2] = {0};
    for (int k = 0; k < 2; ++k)
    {
        flx_context*    ctx     = test_context(1 + 3 * k);
        uint64_t        seed    = 6;
        double*         x       = random_matrix(&seed, 150, 40);
        flx_pod_options options = flx__pod_options_default();
        flx_pod         pod;
        options.most_modes = 12;
        for (int method = 0; method < 2; ++method)
        {
            options.method = method ? FLX_POD_RANDOM : FLX_POD_EXACT;
            CHECK_OK(flx__pod_create(ctx, 150, 40, x, &options, &pod));
            hash[k] = flx__hash(hash[k], pod.mode, (int64_t)sizeof(double) * 150 * 12);
            flx__pod_release(ctx, &pod);
        }
        free(x);
        flx_context_destroy(ctx);
    }
    assert_true(hash[0] == hash[1]);
}

static void every_refused_allocation_is_survived(void** state)
{
    (void)state;
    flx_context*    ctx     = test_context(1);
    uint64_t        seed    = 7;
    double*         x       = random_matrix(&seed, 30, 8);
    flx_pod_options options = flx__pod_options_default();
    options.affine          = true;
    options.most_modes      = 3;
    for (int method = 0; method < 2; ++method)
    {
        flx_status status = FLX_ERR_MEMORY;
        int        tried  = 0;
        options.method    = method ? FLX_POD_RANDOM : FLX_POD_EXACT;
        for (; status != FLX_OK; ++tried)
        {
            flx_pod pod;
            double  error;
            flx_context_fail_allocation(ctx, tried);
            status = flx__pod_create(ctx, 30, 8, x, &options, &pod);
            if (status == FLX_OK) status = flx__pod_error(ctx, &pod, 3, NULL, 8, x, &error);
            flx_context_fail_allocation(ctx, -1);
            assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
            flx__pod_release(ctx, &pod);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
        }
        assert_true(tried > 8);
    }
    free(x);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rank_snapshots_are_held_exactly_by_as_many_modes),
        cmocka_unit_test(modes_are_orthonormal_in_the_weights_and_best_in_them),
        cmocka_unit_test(affine_pod_keeps_the_mean_apart),
        cmocka_unit_test(noise_is_cut_at_the_truncation_and_zero_snapshots_have_no_modes),
        cmocka_unit_test(the_range_finder_comes_as_near_as_the_singular_values_allow),
        cmocka_unit_test(split_axes_become_columns),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(every_refused_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
