// Small matrices in double precision: the references that the wide kernels and the squeezed-element rows stand on.
#include "test.h"

#include "math/mat3.h"
#include "math/rotation.h"

static void random_matrix(uint64_t* seed, double size, double F[9])
{
    for (int i = 0; i < 9; ++i) F[i] = size * (2 * test_random(seed) - 1);
}

static void stretches_take_their_directions_onto_each_other(void** state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 20000; ++k)
    {
        double F[9], sigma[3], U[3][3], V[3][3], product = 1;
        random_matrix(&seed, pow(10, 6 * test_random(&seed) - 3), F);
        flx__stretches(F, sigma, U, V);
        const double size = fmax(fabs(sigma[0]), fmax(fabs(sigma[1]), fabs(sigma[2])));
        for (int i = 0; i < 3; ++i)
        {
            double image[3];
            flx__apply3(F, V[i], image);
            for (int c = 0; c < 3; ++c) CHECK_NEAR(image[c], sigma[i] * U[i][c], 1e-13 * size); // rounding of F V
            for (int j = 0; j < 3; ++j)
            {
                CHECK_NEAR(flx__dot3(U[i], U[j]), i == j, 1e-13);
                CHECK_NEAR(flx__dot3(V[i], V[j]), i == j, 1e-13);
            }
            product *= sigma[i];
        }
        CHECK_NEAR(product, flx__det3(F), 1e-12 * size * size * size);
    }
}

static void least_stretch_in_closed_form_agrees_to_half_the_digits(void** state)
{
    (void)state;
    uint64_t seed = 4;
    for (int k = 0; k < 20000; ++k)
    {
        double F[9], sigma[3];
        random_matrix(&seed, 1, F);
        if (k % 3 == 0) // near the identity, where eigenvalues crowd
            for (int i = 0; i < 9; ++i) F[i] = 1e-4 * F[i] + (i % 4 == 0);
        flx__singular_values3(F, sigma);
        const double least = flx__least_stretch(F);
        if (sigma[2] <= 0)
            assert_true(least < 0);
        else
            CHECK_NEAR(least, sigma[2], 1e-6 * sigma[0]); // squaring F loses half of 16 digits
    }
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, bad[9] = {NAN};
    CHECK_NEAR(flx__least_stretch(identity), 1, 1e-15);
    assert_true(flx__least_stretch(bad) < 0); // watched, not passed over
}

static void axis_rotations_turn_by_the_right_hand(void** state)
{
    (void)state;
    const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    double       R[9], y[3];
    flx__axis_rotation(z, 1.5707963267948966, R);
    flx__apply3(R, x, y);
    CHECK_NEAR(y[0], 0, 1e-16);
    CHECK_NEAR(y[1], 1, 1e-16);
    flx__axis_rotation(z, 0, R);
    for (int i = 0; i < 9; ++i) assert_true(R[i] == (i % 4 == 0)); // exactly nothing
}

static void inverse_and_cofactor_agree_and_singular_matrices_are_told(void** state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 1000; ++k)
    {
        double F[9], inverse[9] = {0}, product[9], c[9];
        random_matrix(&seed, 1, F);
        if (fabs(flx__det3(F)) < 1e-3) continue;
        assert_true(flx__invert3(F, inverse));
        flx__mul3(F, inverse, product);
        for (int i = 0; i < 9; ++i) CHECK_NEAR(product[i], i % 4 == 0, 1e-11); // condition up to 1e3
        flx__cofactor3(F, c);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) CHECK_NEAR(c[3 * i + j], flx__det3(F) * inverse[3 * j + i], 1e-13);
    }
    const double flat[9] = {1, 2, 3, 2, 4, 6, 0, 0, 0};
    double       out[9]  = {7};
    assert_false(flx__invert3(flat, out));
    assert_true(out[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_take_their_directions_onto_each_other),
        cmocka_unit_test(least_stretch_in_closed_form_agrees_to_half_the_digits),
        cmocka_unit_test(axis_rotations_turn_by_the_right_hand),
        cmocka_unit_test(inverse_and_cofactor_agree_and_singular_matrices_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
