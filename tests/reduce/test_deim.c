#include "reduce/matrices.h"

#include "reduce/deim.h"
#include "reduce/interpolation.h"

#define FORCED 1e300

static flx_interpolation_desc operator_of(int64_t rows, int32_t r, const double* v, const int64_t* point)
{
    return (flx_interpolation_desc){
        .rows = rows, .r = r, .v = v, .sample_count = r, .sample = point, .bound = FORCED, .force = true};
}

static double inverse_norm(flx_context* ctx, int64_t rows, int32_t r, const double* v, const int64_t* point)
{
    const flx_interpolation_desc desc = operator_of(rows, r, v, point);
    flx_interpolation            i;
    CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
    const double norm = i.norm;
    flx__interpolation_release(ctx, &i);
    return norm;
}

static void assert_distinct(int32_t r, const int64_t* point, int64_t rows)
{
    for (int32_t a = 0; a < r; ++a)
    {
        assert_true(point[a] >= 0 && point[a] < rows);
        for (int32_t b = 0; b < a; ++b) assert_true(point[a] != point[b]);
    }
}

static void greedy_points_of_a_small_basis_are_those_found_by_hand(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    // mode 0 is largest in row 2; mode 1 minus 1/4 of mode 0 is (0.75, -3.5, 0, 1.5): row 1
    const double v[8] = {1, -2, 4, 2, 1, -4, 1, 2};
    int64_t      point[2];
    CHECK_OK(flx__deim_points(ctx, 4, 2, v, point));
    assert_int_equal(point[0], 2);
    assert_int_equal(point[1], 1);
    const double dependent[8] = {1, -2, 4, 2, 2, -4, 8, 4};
    CHECK_FAILS(flx__deim_points(ctx, 4, 2, dependent, point), FLX_ERR_ARGUMENT);
    flx_context_destroy(ctx);
}

/// As algorithm 1 says: solve with the points so far, take the largest residual.
static void slow_points(flx_context* ctx, int64_t rows, int32_t r, const double* v, int64_t* point)
{
    double* residual = new_matrix(rows, 1);
    for (int32_t l = 0; l < r; ++l)
    {
        memcpy(residual, v + l * rows, sizeof(double) * (size_t)rows);
        if (l > 0)
        {
            const flx_interpolation_desc desc = operator_of(rows, l, v, point);
            flx_interpolation            i;
            CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
            for (int32_t k = 0; k < l; ++k)
            {
                double c = 0;
                for (int32_t j = 0; j < l; ++j) c += i.solve[k + j * l] * v[point[j] + l * rows];
                for (int64_t row = 0; row < rows; ++row) residual[row] -= c * v[row + k * rows];
            }
            flx__interpolation_release(ctx, &i);
        }
        point[l] = 0;
        for (int64_t row = 1; row < rows; ++row)
            if (fabs(residual[row]) > fabs(residual[point[l]])) point[l] = row;
    }
    free(residual);
}

static void elimination_chooses_what_the_papers_algorithm_chooses(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 11;
    for (int trial = 0; trial < 5; ++trial)
    {
        int64_t fast[15], slow[15];
        double* v = orthonormal_matrix(&seed, 120, 15);
        CHECK_OK(flx__deim_points(ctx, 120, 15, v, fast));
        slow_points(ctx, 120, 15, v, slow);
        assert_memory_equal(fast, slow, sizeof fast);
        free(v);
    }
    flx_context_destroy(ctx);
}

static void interpolation_is_exact_on_the_span_and_bounded_by_its_norm_elsewhere(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 12;
    enum
    {
        ROWS = 200,
        R    = 12
    };
    double *v = orthonormal_matrix(&seed, ROWS, R), *c = random_matrix(&seed, R, 1), *p = product(ROWS, R, 1, v, c);
    double* other = random_matrix(&seed, ROWS, 1);
    for (int method = 0; method < 2; ++method)
    {
        int64_t point[R];
        CHECK_OK((method ? flx__qdeim_points : flx__deim_points)(ctx, ROWS, R, v, point));
        assert_distinct(R, point, ROWS);
        const flx_interpolation_desc desc = operator_of(ROWS, R, v, point);
        flx_interpolation            i;
        CHECK_OK(flx__interpolation_create(ctx, &desc, &i));
        double* map   = product(ROWS, R, R, v, i.solve);
        double  error = 0, best = 0, along[R];
        for (int k = 0; k < R; ++k) along[k] = column_dot(ROWS, v + k * ROWS, other, NULL);
        for (int row = 0; row < ROWS; ++row)
        {
            double on_span = 0, off = 0, projected = 0;
            for (int k = 0; k < R; ++k)
            {
                on_span += map[row + k * ROWS] * p[point[k]];
                off += map[row + k * ROWS] * other[point[k]];
                projected += v[row + k * ROWS] * along[k];
            }
            CHECK_NEAR(on_span, p[row], 1e-13 * i.norm);
            error += pow(off - other[row], 2), best += pow(projected - other[row], 2);
        }
        assert_true(sqrt(error) <= i.norm * sqrt(best) * (1 + 1e-12)); // lemma 3.2
        assert_true(error >= best);
        free(map);
        flx__interpolation_release(ctx, &i);
    }
    free(v), free(c), free(p), free(other), flx_context_destroy(ctx);
}

static void pivoted_points_have_a_smaller_norm_than_random_ones(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 13;
    double*      v    = orthonormal_matrix(&seed, 300, 10);
    int64_t      q[10], d[10], random[10];
    CHECK_OK(flx__qdeim_points(ctx, 300, 10, v, q));
    CHECK_OK(flx__deim_points(ctx, 300, 10, v, d));
    const double q_norm = inverse_norm(ctx, 300, 10, v, q), d_norm = inverse_norm(ctx, 300, 10, v, d);
    for (int trial = 0; trial < 20; ++trial)
    {
        for (int k = 0; k < 10; ++k) random[k] = 30 * k + (int64_t)(30 * test_random(&seed));
        const double norm = inverse_norm(ctx, 300, 10, v, random);
        assert_true(norm > q_norm && norm > d_norm);
    }
    CHECK_BELOW(q_norm, sqrt(300 - 10 + 1) * 2); // far below the proven sqrt(n - r + 1) 2^r
    free(v);
    flx_context_destroy(ctx);
}

// --- 3-vectors ---------------------------------------------------------------------------------------------------

static void block_points_follow_the_joint_residual(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    // Three rows. Mode 0: lengths 3, 5, 4.5, so row 1. Mode 1 by each axis, with c = v_1[row 1] / v_0[row 1] = (1, 2,
    // 0): row 0: (1,3,0) - c (1,2,2) = (0,-1,0);  row 2: (4,4,5) - c (4,2,0.5) = (0,0,5), so row 2
    const double v[18] = {1, 2, 2, 3, 4, 0.1, 4, 2, 0.5, 1, 3, 0, 3, 8, 0, 4, 4, 5};
    int64_t      point[2];
    CHECK_OK(flx__block_deim_points(ctx, 3, 2, v, point));
    assert_int_equal(point[0], 1);
    assert_int_equal(point[1], 2);
    flx_context_destroy(ctx);
}

/// Snapshots of a sheet that moves in x and z while y holds what rounding left: columns orthonormal as a whole.
static double* flat_basis(uint64_t* seed, int64_t rows, int32_t r, double y)
{
    double* v = random_matrix(seed, 3 * rows, r);
    for (int64_t i = 0; i < rows * r; ++i) v[3 * i + 1] *= y;
    for (int64_t j = 0; j < r; ++j)
        for (int64_t k = 0; k <= j; ++k)
        {
            double*      x     = v + j * 3 * rows;
            double*      b     = v + k * 3 * rows;
            const double along = column_dot(3 * rows, x, b, NULL);
            for (int64_t i = 0; i < 3 * rows; ++i) x[i] = k < j ? x[i] - along * b[i] : x[i] / sqrt(along);
        }
    return v;
}

static void an_empty_direction_makes_the_blocks_norm_explode(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 14;
    enum
    {
        ROWS = 80,
        R    = 8
    };
    for (int zero = 0; zero < 2; ++zero)
    {
        double*           v = flat_basis(&seed, ROWS, R, zero ? 0 : 1e-12);
        int64_t           point[R], scalar[R];
        flx_interpolation split[3];
        CHECK_OK(flx__block_deim_points(ctx, ROWS, R, v, point));
        assert_distinct(R, point, ROWS);
        flx_interpolation_desc desc = operator_of(ROWS, R, v, point);
        CHECK_OK(flx__block_interpolation_create(ctx, &desc, split));
        assert_true(split[1].norm > 1e6);
        assert_true(zero ? isinf(split[1].norm) : isfinite(split[1].norm));
        CHECK_BELOW(split[0].norm, 1e4); // where something moves it is bad, not absurd
        for (int d = 0; d < 3; ++d) flx__interpolation_release(ctx, &split[d]);

        desc.force = false, desc.bound = 1e6;
        CHECK_FAILS(flx__block_interpolation_create(ctx, &desc, split), FLX_ERR_ARGUMENT);
        assert_non_null(strstr(flx_context_error(ctx), "along y"));
        assert_non_null(strstr(flx_context_error(ctx), "above the bound 1e+06"));
        assert_null(split[0].solve);

        CHECK_OK(flx__deim_points(ctx, 3 * ROWS, R, v, scalar)); // the same basis unsplit is harmless
        CHECK_BELOW(inverse_norm(ctx, 3 * ROWS, R, v, scalar), 100);
        free(v);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void more_points_than_rows_and_refused_memory_are_survived(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 15;
    double*      v    = flat_basis(&seed, 20, 5, 0); // singular: reaches the least-norm way too
    int64_t      point[5];
    CHECK_FAILS(flx__deim_points(ctx, 3, 5, v, point), FLX_ERR_ARGUMENT);
    CHECK_FAILS(flx__qdeim_points(ctx, 3, 5, v, point), FLX_ERR_ARGUMENT);
    CHECK_FAILS(flx__block_deim_points(ctx, 3, 5, v, point), FLX_ERR_ARGUMENT);
    flx_status (*const choose[3])(flx_context*, int64_t, int32_t, const double*,
                                  int64_t*) = {flx__deim_points, flx__qdeim_points, flx__block_deim_points};
    for (int k = 0; k < 3; ++k)
    {
        flx_status status = FLX_ERR_MEMORY;
        int        tried  = 0;
        for (; status != FLX_OK; ++tried)
        {
            flx_context_fail_allocation(ctx, tried);
            status = choose[k](ctx, k < 2 ? 60 : 20, 5, v, point);
            flx_context_fail_allocation(ctx, -1);
            assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
        }
        assert_true(tried > 1);
    }
    free(v);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_points_of_a_small_basis_are_those_found_by_hand),
        cmocka_unit_test(elimination_chooses_what_the_papers_algorithm_chooses),
        cmocka_unit_test(interpolation_is_exact_on_the_span_and_bounded_by_its_norm_elsewhere),
        cmocka_unit_test(pivoted_points_have_a_smaller_norm_than_random_ones),
        cmocka_unit_test(block_points_follow_the_joint_residual),
        cmocka_unit_test(an_empty_direction_makes_the_blocks_norm_explode),
        cmocka_unit_test(more_points_than_rows_and_refused_memory_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
