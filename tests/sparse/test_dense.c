#include "test.h"

#include "sparse/sparse.h"

static const int32_t sizes[] = {1, 2, 7, 191, 192, 193, 400};
#define SIZES 7

/// Random positive definite matrix [n][ld], full.
static double* random_spd(int32_t n, int64_t ld, uint64_t seed)
{
    double* a = calloc((size_t)(ld * n), sizeof *a);
    for (int32_t j = 0; j < n; ++j)
    {
        for (int32_t i = 0; i < j; ++i) a[i + j * ld] = a[j + i * ld] = 2.0 * test_random(&seed) - 1.0;
        a[j + j * ld] = n;
    }
    return a;
}

static void naive_cholesky(int32_t n, double* a, int64_t ld)
{
    for (int32_t k = 0; k < n; ++k)
    {
        a[k + k * ld] = sqrt(a[k + k * ld]);
        for (int32_t i = k + 1; i < n; ++i) a[i + k * ld] /= a[k + k * ld];
        for (int32_t j = k + 1; j < n; ++j)
            for (int32_t i = j; i < n; ++i) a[i + j * ld] -= a[i + k * ld] * a[j + k * ld];
    }
}

static void cholesky_equals_the_naive_one_and_leaves_the_upper_triangle(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int k = 0; k < SIZES; ++k)
    {
        const int32_t n  = sizes[k];
        const int64_t ld = n + 3;
        double*       a  = random_spd(n, ld, 1);
        double*       l  = random_spd(n, ld, 1);
        double*       o  = random_spd(n, ld, 1);
        float*        s  = malloc((size_t)(ld * n) * sizeof *s);
        for (int64_t i = 0; i < ld * n; ++i) s[i] = (float)a[i];
        naive_cholesky(n, o, ld);
        CHECK_OK(flx__dense_cholesky_f64(ctx, n, l, ld, NULL));
        CHECK_OK(flx__dense_cholesky_f32(ctx, n, s, ld, NULL));
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < n; ++i)
            {
                const double expected = i >= j ? o[i + j * ld] : a[i + j * ld];
                CHECK_NEAR(l[i + j * ld], expected, 1e-12 * sqrt(n));
                CHECK_NEAR((double)s[i + j * ld], expected, 1e-5 * sqrt(n));
            }
        free(a);
        free(l);
        free(o);
        free(s);
    }
    flx_context_destroy(ctx);
}

static void solve_inverts_the_product(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int k = 0; k < SIZES; ++k)
    {
        const int32_t n = sizes[k], columns = 1 + k;
        const int64_t ld = n + 1, ldb = n + 2;
        double*       a    = random_spd(n, ld, 3);
        double*       l    = random_spd(n, ld, 3);
        double*       x    = malloc((size_t)(ldb * columns) * sizeof *x);
        double*       b    = calloc((size_t)(ldb * columns), sizeof *b);
        float*        l32  = malloc((size_t)(ld * n) * sizeof *l32);
        float*        b32  = malloc((size_t)(ldb * columns) * sizeof *b32);
        uint64_t      seed = 8;
        for (int64_t i = 0; i < ldb * columns; ++i) x[i] = test_random(&seed);
        for (int32_t c = 0; c < columns; ++c)
            for (int32_t j = 0; j < n; ++j)
                for (int32_t i = 0; i < n; ++i) b[i + c * ldb] += a[i + j * ld] * x[j + c * ldb];
        for (int64_t i = 0; i < ldb * columns; ++i) b32[i] = (float)b[i];
        CHECK_OK(flx__dense_cholesky_f64(ctx, n, l, ld, NULL));
        for (int64_t i = 0; i < ld * n; ++i) l32[i] = (float)l[i];
        const int64_t allocations = flx_context_allocation_count(ctx);
        flx__dense_solve_f64(ctx, n, l, ld, b, ldb, columns);
        flx__dense_solve_f32(ctx, n, l32, ld, b32, ldb, columns);
        assert_int_equal(flx_context_allocation_count(ctx), allocations);
        for (int32_t c = 0; c < columns; ++c)
            for (int32_t i = 0; i < n; ++i)
            {
                CHECK_NEAR(b[i + c * ldb], x[i + c * ldb], 1e-12);
                CHECK_NEAR((double)b32[i + c * ldb], x[i + c * ldb], 1e-5);
            }
        free(a);
        free(l);
        free(x);
        free(b);
        free(l32);
        free(b32);
    }
    flx_context_destroy(ctx);
}

static void inverse_times_matrix_is_the_identity_and_symmetric(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int k = 0; k < SIZES; ++k)
    {
        const int32_t n  = sizes[k];
        const int64_t ld = n + 5;
        double*       a  = random_spd(n, ld, 5);
        double*       v  = random_spd(n, ld, 5);
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < j; ++i) v[i + j * ld] = NAN; // only the lower triangle is read
        CHECK_OK(flx__dense_inverse_f64(ctx, n, v, ld, NULL));
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < n; ++i)
            {
                double sum = 0.0;
                for (int32_t m = 0; m < n; ++m) sum += a[i + m * ld] * v[m + j * ld];
                CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-13 * n); // condition below 4
                assert_true(v[i + j * ld] == v[j + i * ld]);
            }
        float* s = malloc((size_t)(ld * n) * sizeof *s);
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < n; ++i) s[i + j * ld] = i < j ? NAN : (float)a[i + j * ld];
        CHECK_OK(flx__dense_inverse_f32(ctx, n, s, ld, NULL));
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < n; ++i)
            {
                CHECK_NEAR((double)s[i + j * ld], v[i + j * ld], 1e-5 * fabs(v[j + j * ld])); // some roundings
                assert_true(s[i + j * ld] == s[j + i * ld]);
            }
        free(s);
        free(a);
        free(v);
    }
    flx_context_destroy(ctx);
}

static void product_of_three_columns_equals_the_naive_one(void** state)
{
    (void)state;
    const char* const isas[] = {"scalar", "sse2", "avx2", "avx512"};
    for (int isa = 0; isa < 4; ++isa)
    {
        flx_context_desc desc = flx_context_desc_default();
        flx_context*     ctx  = NULL;
        desc.isa              = isas[isa];
        desc.worker_count     = 2;
        if (flx_context_create(&desc, &ctx) != FLX_OK) continue; // not on this processor
        for (int k = 0; k < SIZES; ++k)
        {
            const int32_t n  = sizes[k];
            const int64_t ld = n + k;
            double*       a  = random_spd(n, ld, 6);
            float*        s  = malloc((size_t)(ld * n) * sizeof *s);
            double *      x[3], *y[3];
            float *       x32[3], *y32[3];
            uint64_t      seed = 4;
            for (int64_t i = 0; i < ld * n; ++i) s[i] = (float)a[i];
            for (int c = 0; c < 3; ++c)
            {
                x[c]   = malloc((size_t)n * sizeof(double));
                y[c]   = malloc((size_t)n * sizeof(double));
                x32[c] = malloc((size_t)n * sizeof(float));
                y32[c] = malloc((size_t)n * sizeof(float));
                for (int32_t i = 0; i < n; ++i) x32[c][i] = (float)(x[c][i] = test_random(&seed));
            }
            flx__dense_multiply3_f64(ctx, n, a, ld, x, y);
            flx__dense_multiply3_f32(ctx, n, s, ld, x32, y32);
            for (int c = 0; c < 3; ++c)
            {
                for (int32_t i = 0; i < n; ++i)
                {
                    double sum = 0.0;
                    for (int32_t j = 0; j < n; ++j) sum += a[i + j * ld] * x[c][j];
                    CHECK_NEAR(y[c][i], sum, 1e-14 * n * n);
                    CHECK_NEAR((double)y32[c][i], sum, 1e-6 * n * n);
                }
                free(x[c]);
                free(y[c]);
                free(x32[c]);
                free(y32[c]);
            }
            free(a);
            free(s);
        }
        flx_context_destroy(ctx);
    }
}

static void matrices_that_are_not_positive_definite_are_refused_with_the_row(void** state)
{
    (void)state;
    flx_context*  ctx = test_context(2);
    const int32_t n   = 300;
    for (int32_t row = 10; row < n; row += 240)
        for (int evil = 0; evil < 3; ++evil)
        {
            double* a   = random_spd(n, n, 7);
            float*  s   = malloc((size_t)(n * n) * sizeof *s);
            int32_t bad = -1;
            if (evil == 0) a[row + row * n] = NAN;
            if (evil == 1) a[row + row * n] = -1.0;
            if (evil == 2) // a row equal to another: singular
                for (int32_t j = 0; j < n; ++j) a[row + j * n] = j == row ? a[3 + 3 * n] : a[3 + j * n];
            if (evil == 2) a[row + 3 * n] = a[3 + 3 * n];
            for (int32_t j = 0; j < n; ++j) a[j + row * n] = a[row + j * n];
            double* copy = malloc((size_t)(n * n) * sizeof *copy);
            memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
            for (int64_t i = 0; i < n * n; ++i) s[i] = (float)a[i];
            CHECK_FAILS(flx__dense_cholesky_f64(ctx, n, a, n, &bad), FLX_ERR_UNHELD);
            assert_int_equal(bad, row);
            CHECK_FAILS(flx__dense_inverse_f64(ctx, n, copy, n, &bad), FLX_ERR_UNHELD);
            assert_int_equal(bad, row);
            CHECK_FAILS(flx__dense_cholesky_f32(ctx, n, s, n, &bad), FLX_ERR_UNHELD);
            assert_int_equal(bad, row);
            free(a);
            free(s);
            free(copy);
        }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    const int32_t workers[] = {1, 2, 3, 8};
    const int32_t n         = 500;
    uint64_t      first     = 0;
    for (int k = 0; k < 4; ++k)
    {
        flx_context*  ctx   = test_context(workers[k]);
        double*       a     = random_spd(n, n, 9);
        double*       v     = random_spd(n, n, 9);
        double*       b     = malloc(3 * (size_t)n * sizeof *b);
        double*       y     = malloc(3 * (size_t)n * sizeof *y);
        float*        s     = malloc((size_t)(n * n) * sizeof *s);
        double* const x3[3] = {b, b + n, b + 2 * n};
        double* const y3[3] = {y, y + n, y + 2 * n};
        for (int64_t i = 0; i < n * n; ++i) s[i] = (float)a[i];
        for (int32_t i = 0; i < 3 * n; ++i) b[i] = sin(i);
        flx__dense_multiply3_f64(ctx, n, v, n, x3, y3);
        CHECK_OK(flx__dense_cholesky_f64(ctx, n, a, n, NULL));
        CHECK_OK(flx__dense_cholesky_f32(ctx, n, s, n, NULL));
        CHECK_OK(flx__dense_inverse_f64(ctx, n, v, n, NULL));
        float* inverse = malloc((size_t)(n * n) * sizeof *inverse);
        for (int64_t i = 0; i < n * n; ++i) inverse[i] = (float)v[i];
        CHECK_OK(flx__dense_inverse_f32(ctx, n, inverse, n, NULL));
        flx__dense_solve_f64(ctx, n, a, n, b, n, 3);
        uint64_t hash = flx__hash(FLX_HASH_START, a, (int64_t)n * n * (int64_t)sizeof *a);
        hash          = flx__hash(hash, s, (int64_t)n * n * (int64_t)sizeof *s);
        hash          = flx__hash(hash, v, (int64_t)n * n * (int64_t)sizeof *v);
        hash          = flx__hash(hash, b, 3 * n * (int64_t)sizeof *b);
        hash          = flx__hash(hash, y, 3 * n * (int64_t)sizeof *y);
        hash          = flx__hash(hash, inverse, (int64_t)n * n * (int64_t)sizeof *inverse);
        if (k == 0) first = hash;
        assert_true(hash == first);
        free(inverse);
        free(a);
        free(v);
        free(b);
        free(y);
        free(s);
        flx_context_destroy(ctx);
    }
}

static void every_failed_allocation_of_the_inverse_is_reported(void** state)
{
    (void)state;
    flx_context* ctx       = test_context(1);
    double*      a         = random_spd(20, 20, 2);
    int64_t      countdown = 0;
    for (;; ++countdown)
    {
        flx_context_fail_allocation(ctx, countdown);
        const flx_status status = flx__dense_inverse_f64(ctx, 20, a, 20, NULL);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
    }
    assert_true(countdown >= 3);
    free(a);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_equals_the_naive_one_and_leaves_the_upper_triangle),
        cmocka_unit_test(solve_inverts_the_product),
        cmocka_unit_test(inverse_times_matrix_is_the_identity_and_symmetric),
        cmocka_unit_test(product_of_three_columns_equals_the_naive_one),
        cmocka_unit_test(matrices_that_are_not_positive_definite_are_refused_with_the_row),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(every_failed_allocation_of_the_inverse_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
