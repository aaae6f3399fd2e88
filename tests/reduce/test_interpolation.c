#include "reduce/matrices.h"

#include "reduce/interpolation.h"

enum
{
    ROWS    = 100,
    R       = 6,
    SAMPLES = 15
};

static const int64_t sample[SAMPLES] = {3, 7, 12, 20, 21, 33, 40, 48, 51, 60, 66, 71, 80, 88, 97};

static flx_interpolation_desc plain(const double* v)
{
    return (flx_interpolation_desc){
        .rows = ROWS, .r = R, .v = v, .sample_count = SAMPLES, .sample = sample, .bound = 1e4};
}

static void gappy_operator_is_the_pseudo_inverse(void** state)
{
    (void)state;
    flx_context*                 ctx  = test_context(1);
    uint64_t                     seed = 31;
    double*                      v    = orthonormal_matrix(&seed, ROWS, R);
    const flx_interpolation_desc desc = plain(v);
    flx_interpolation            i;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    double ptv[SAMPLES * R];
    for (int k = 0; k < R; ++k)
        for (int s = 0; s < SAMPLES; ++s) ptv[s + k * SAMPLES] = v[sample[s] + k * ROWS];
    double *left = product(R, SAMPLES, R, i.solve, ptv), *right = product(SAMPLES, R, SAMPLES, ptv, i.solve);
    for (int a = 0; a < R; ++a)
        for (int b = 0; b < R; ++b) CHECK_NEAR(left[a + b * R], a == b, 1e-13 * i.condition); // C P^T V = I
    for (int a = 0; a < SAMPLES; ++a)
        for (int b = 0; b < SAMPLES; ++b) // P^T V C is symmetric: the least-squares inverse, and no other left inverse
            CHECK_NEAR(right[a + b * SAMPLES], right[b + a * SAMPLES], 1e-13 * i.condition);
    assert_true(i.norm >= 1 && i.condition >= 1); // rows of an orthonormal basis have singular values <= 1
    flx__interpolation_release(ctx, &i);
    free(v), free(left), free(right);
    flx_context_destroy(ctx);
}

static void norm_and_condition_are_those_of_a_known_operator(void** state)
{
    (void)state;
    flx_context*           ctx      = test_context(1);
    const double           v[8]     = {0, 3, 0, 0, 0, 0, 0, 0.001}; // rows 1 and 3 carry one mode each
    const int64_t          point[2] = {1, 3};
    flx_interpolation_desc desc     = {.rows = 4, .r = 2, .v = v, .sample_count = 2, .sample = point, .bound = 1001};
    flx_interpolation      i;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    CHECK_NEAR(i.norm, 1000, 1e-9);
    CHECK_NEAR(i.condition, 3000, 1e-9);
    CHECK_NEAR(i.solve[0], 1.0 / 3, 1e-15);
    CHECK_NEAR(i.solve[3], 1000, 1e-12);
    flx__interpolation_release(ctx, &i);
    desc.bound = 999;
    CHECK_FAILS(flx__interpolation_create(ctx, &desc, &i), FLX_ERR_ARGUMENT);
    assert_non_null(strstr(flx_context_error(ctx), "norm 1000, above the bound 999"));
    assert_null(i.solve);
    desc.force = true;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    flx__interpolation_release(ctx, &i);

    const int64_t twice[2] = {1, 1}; // the same row two times: mode 1 is not seen
    desc.sample            = twice;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    assert_true(isinf(i.norm) && isinf(i.condition));
    CHECK_NEAR(i.solve[0], 1.0 / 6, 1e-15); // least squares of least norm: the mean of both readings, over 3
    CHECK_NEAR(i.solve[1], 0, 1e-15);
    flx__interpolation_release(ctx, &i);
    desc.force = false, desc.bound = 1e300;
    CHECK_FAILS(flx__interpolation_create(ctx, &desc, &i), FLX_ERR_ARGUMENT);
    flx_context_destroy(ctx);
}

static void map_minimises_its_objective_and_tames_the_norm(void** state)
{
    (void)state;
    flx_context*           ctx  = test_context(1);
    uint64_t               seed = 32;
    double *               v = orthonormal_matrix(&seed, ROWS, R), *y = random_matrix(&seed, SAMPLES, 1);
    const double           sigma[R] = {1, 0.3, 0.1, 0.03, 0.01, 0.003};
    flx_interpolation_desc desc     = plain(v);
    flx_interpolation      none, some, tiny;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &none));
    desc.sigma = sigma, desc.lambda = 1e-3;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &some));
    desc.lambda = 1e-18;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &tiny));
    assert_true(some.norm < none.norm);
    for (int k = 0; k < R * SAMPLES; ++k) CHECK_NEAR(tiny.solve[k], none.solve[k], 1e-9); // lambda 1e-18 x (1/0.003)^2

    double* a = product(R, SAMPLES, 1, some.solve, y);
    for (int k = 0; k < R; ++k) // gradient: V^T P (P^T V a - y) + lambda (sigma_0/sigma)^2 a = 0
    {
        double gradient = 1e-3 / (sigma[k] * sigma[k]) * a[k];
        for (int s = 0; s < SAMPLES; ++s)
        {
            double misfit = -y[s];
            for (int l = 0; l < R; ++l) misfit += v[sample[s] + l * ROWS] * a[l];
            gradient += v[sample[s] + k * ROWS] * misfit;
        }
        CHECK_NEAR(gradient, 0, 1e-13);
    }
    desc.lambda = 1e-3, desc.sample_count = 3; // fewer samples than modes: the prior decides the rest
    flx_interpolation few;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &few));
    flx__interpolation_release(ctx, &few);
    desc.lambda = 0;
    CHECK_FAILS(flx__interpolation_create(ctx, &desc, &few), FLX_ERR_ARGUMENT);
    flx__interpolation_release(ctx, &none);
    flx__interpolation_release(ctx, &some);
    flx__interpolation_release(ctx, &tiny);
    free(v), free(y), free(a);
    flx_context_destroy(ctx);
}

static void every_refused_allocation_is_survived(void** state)
{
    (void)state;
    flx_context*           ctx      = test_context(1);
    uint64_t               seed     = 33;
    double*                v        = orthonormal_matrix(&seed, 3 * ROWS, R);
    const double           sigma[R] = {1, 1, 1, 1, 1, 1};
    flx_interpolation_desc desc     = plain(v);
    flx_status             status   = FLX_ERR_MEMORY;
    int                    tried    = 0;
    desc.force                      = true;
    for (; status != FLX_OK; ++tried)
    {
        flx_interpolation one, three[3] = {0};
        flx_context_fail_allocation(ctx, tried);
        desc.lambda = 1e-6, desc.sigma = sigma;
        status      = flx__interpolation_create(ctx, &desc, &one);
        desc.lambda = 0;
        if (status == FLX_OK) status = flx__block_interpolation_create(ctx, &desc, three);
        flx_context_fail_allocation(ctx, -1);
        assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
        flx__interpolation_release(ctx, &one);
        for (int d = 0; d < 3; ++d) flx__interpolation_release(ctx, &three[d]);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_true(tried > 40);
    free(v);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gappy_operator_is_the_pseudo_inverse),
        cmocka_unit_test(norm_and_condition_are_those_of_a_known_operator),
        cmocka_unit_test(map_minimises_its_objective_and_tames_the_norm),
        cmocka_unit_test(every_refused_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
