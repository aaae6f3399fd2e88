// Nearest rotations of every kernel against an independent double-precision answer.
#include "test.h"

#include "kernels/kernels.h"
#include "math/mat3.h"
#include "math/rotation.h"

static double normal(uint64_t* seed)
{
    const double u = test_random(seed) + 1e-12, v = test_random(seed);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void random_rotation(uint64_t* seed, double R[9])
{
    double q[4], norm = 0;
    for (int i = 0; i < 4; ++i) q[i] = normal(seed), norm += q[i] * q[i];
    norm           = sqrt(norm);
    const double w = q[0] / norm, x = q[1] / norm, y = q[2] / norm, z = q[3] / norm;
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, r, sizeof r);
}

/// F = U diag(sigma) V^T with random rotations U, V
static void compose(uint64_t* seed, const double sigma[3], double F[9], double best[9])
{
    double U[9], V[9], Vt[9], D[9];
    random_rotation(seed, U);
    random_rotation(seed, V);
    flx__transpose3(V, Vt);
    for (int i = 0; i < 9; ++i) D[i] = U[i] * sigma[i % 3];
    flx__mul3(D, Vt, F);
    flx__mul3(U, Vt, best); // the nearest rotation when sigma0 >= sigma1 >= |sigma2|
}

static double trace_of_product(const double R[9], const double F[9])
{
    double t = 0;
    for (int i = 0; i < 9; ++i) t += R[i] * F[i];
    return t;
}

static double orthonormality_error(const double R[9])
{
    double Rt[9], P[9], worst = fabs(flx__det3(R) - 1);
    flx__transpose3(R, Rt);
    flx__mul3(Rt, R, P);
    for (int i = 0; i < 9; ++i) worst = fmax(worst, fabs(P[i] - (i % 4 == 0)));
    return worst;
}

typedef struct sample
{
    double F[9], best[9], sigma[3];
} sample;

enum
{
    SAMPLES = 1000000
};

static const double hard[][3] = {
    {1, 1, 1},        {1, 1, -1},         {1, 1, 0},           {1, 0, 0},        {0, 0, 0},
    {2, 1, 1},        {2, 1, -1},         {1, 0.5, -0.5},      {1, 0.5, -0.499}, {1, 1e-3, 0},
    {1, 1e-4, -1e-4}, {1e-6, 1e-6, 1e-6}, {1e6, 1e6, 1},       {1e6, 1, 1e-6},   {1, 1e-6, 1e-6},
    {3, 2, -1.999},   {1, 1, -0.9999999}, {1e-6, 5e-7, -4e-7}, {1e6, 9e5, -8e5},
};

static void make(uint64_t* seed, int k, sample* s)
{
    double sigma[3];
    if (k % 4 == 0) // hard ones, each in many orientations
        memcpy(sigma, hard[(k / 4) % (int)(sizeof hard / sizeof hard[0])], sizeof sigma);
    else if (k % 4 == 1) // near a rotation, as most elements are
        for (int i = 0; i < 3; ++i) sigma[i] = 1 + 0.2 * (2 - i) + 0.19 * test_random(seed);
    else // anything, inverted ones included
    {
        sigma[0] = exp(4 * (test_random(seed) - 0.5));
        sigma[1] = sigma[0] * test_random(seed);
        sigma[2] = sigma[1] * (2 * test_random(seed) - 1);
    }
    memcpy(s->sigma, sigma, sizeof sigma);
    compose(seed, sigma, s->F, s->best);
}

static void reference_is_optimal_and_orthonormal(void** state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 100000; ++k)
    {
        sample s;
        make(&seed, k, &s);
        double R[9];
        flx__nearest_rotation(s.F, R);
        CHECK_BELOW(orthonormality_error(R), 1e-13); // rounding of a normalised quaternion
        const double best = s.sigma[0] + s.sigma[1] + s.sigma[2];
        CHECK_BELOW(best - trace_of_product(R, s.F), 1e-13 * s.sigma[0] + 1e-300); // rounding of F itself
        double sv[3];
        flx__singular_values3(s.F, sv);
        for (int i = 0; i < 3; ++i) CHECK_NEAR(sv[i], s.sigma[i], 2e-14 * s.sigma[0]);
    }
}

typedef struct bounds
{
    double ortho; // off R^T R = I and det R = 1: a few roundings
    double loss;  // of tr(R^T F), relative to sigma_0: quadratic in the error of R
    double angle; // |R - R*| where the answer is well determined: error / gap
} bounds;

static void check(const char* name, const bounds* limit, int number, const sample* s, const double F[9],
                  const double best[9], const double R[9])
{
    double distance = 0;
    for (int j = 0; j < 9; ++j) distance = fmax(distance, fabs(R[j] - s->best[j]));
    if (!(orthonormality_error(R) <= limit->ortho))
        fail_msg("%s sample %d (sigma %g %g %g): off orthonormal by %g", name, number, s->sigma[0], s->sigma[1],
                 s->sigma[2], orthonormality_error(R));
    const double loss = trace_of_product(best, F) - trace_of_product(R, F);
    if (!(loss <= limit->loss * fmax(s->sigma[0], 1e-6))) // H = F - I carries an absolute rounding of 1
        fail_msg("%s sample %d (sigma %g %g %g): loses %g of tr(R^T F)", name, number, s->sigma[0], s->sigma[1],
                 s->sigma[2], loss);
    const double gap = (s->sigma[1] + s->sigma[2]) / fmax(1, s->sigma[0]);
    if (gap > 0.05 && s->sigma[0] > 0.05 && !(distance <= limit->angle / gap))
        fail_msg("%s sample %d (sigma %g %g %g): R off by %g", name, number, s->sigma[0], s->sigma[1], s->sigma[2],
                 distance);
}

/// Both precisions and every instruction set of this machine, against the double-precision optimum of the very matrix
/// that the kernel saw.
static void every_kernel_finds_the_nearest_rotation_of_a_million_matrices(void** state)
{
    (void)state;
    const bounds single = {2e-6, 2e-6, 4e-6}, twice = {1e-14, 1e-14, 2e-13};
    flx_kernels  kernel[FLX_ISA_COUNT];
    int          kernel_count = 0;
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        kernel[kernel_count] = flx__kernels_for(chosen);
        assert_string_equal(kernel[kernel_count].name, flx__isa_name((flx_isa)isa));
        ++kernel_count;
    }

    enum
    {
        BATCH = 1000
    };
    static sample s[BATCH];
    static float  hf[9 * BATCH], wf[9 * BATCH];
    static double hd[9 * BATCH], wd[9 * BATCH], F[9 * BATCH], best[9 * BATCH];
    uint64_t      seed = 7;
    for (int k0 = 0; k0 < SAMPLES; k0 += BATCH)
    {
        for (int i = 0; i < BATCH; ++i)
        {
            make(&seed, k0 + i, &s[i]);
            for (int j = 0; j < 9; ++j)
            {
                hd[9 * i + j] = s[i].F[j] - (j % 4 == 0);
                hf[9 * i + j] = (float)hd[9 * i + j];
                F[9 * i + j]  = (double)hf[9 * i + j] + (j % 4 == 0);
            }
            flx__nearest_rotation(F + 9 * i, best + 9 * i);
        }
        for (int k = 0; k < kernel_count; ++k)
        {
            kernel[k].rotation_f32(BATCH, hf, wf);
            for (int i = 0; i < BATCH; ++i)
            {
                double R[9];
                for (int j = 0; j < 9; ++j) R[j] = (double)wf[9 * i + j] + (j % 4 == 0);
                check(kernel[k].name, &single, k0 + i, &s[i], F + 9 * i, best + 9 * i, R);
            }
        }
        kernel[0].rotation_f64(BATCH, hd, wd);
        for (int i = 0; i < BATCH; ++i)
        {
            double R[9];
            for (int j = 0; j < 9; ++j) R[j] = wd[9 * i + j] + (j % 4 == 0);
            check("double", &twice, k0 + i, &s[i], s[i].F, s[i].best, R);
        }
    }
}

static void rest_is_exactly_the_identity_and_small_strains_keep_their_digits(void** state)
{
    (void)state;
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        const flx_kernels k     = flx__kernels_for(chosen);
        float             h[18] = {0}, w[18];
        // a tiny spin plus a tiny stretch: W must be the spin to single precision, relative to its own size
        h[9 + 1] = -1e-6f, h[9 + 3] = 1e-6f, h[9 + 4] = 2e-6f;
        k.rotation_f32(2, h, w);
        for (int i = 0; i < 9; ++i) assert_true(w[i] == 0);
        CHECK_NEAR(w[9 + 3], 1e-6, 5e-12); // second-order terms are 1e-12
        CHECK_NEAR(w[9 + 4], 0, 5e-12);
    }
}

/// What a lane's neighbours are, easy or hopeless, must not show in its bits: patches could not be packed freely.
static void a_rotation_does_not_depend_on_what_stands_beside_it(void** state)
{
    (void)state;
    enum
    {
        COUNT = 4096
    };
    static float h[9 * COUNT], w[9 * COUNT], alone[9];
    uint64_t     seed = 11;
    for (int k = 0; k < COUNT; ++k)
    {
        sample s;
        make(&seed, k, &s);
        for (int j = 0; j < 9; ++j) h[9 * k + j] = (float)(s.F[j] - (j % 4 == 0));
    }
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        const flx_kernels kernel = flx__kernels_for(chosen);
        kernel.rotation_f32(COUNT, h, w);
        for (int k = 0; k < COUNT; ++k)
        {
            kernel.rotation_f32(1, h + 9 * k, alone);
            assert_memory_equal(alone, w + 9 * k, sizeof alone);
        }
    }
}

static void nan_and_infinity_end_in_a_number_or_nan_but_end(void** state)
{
    (void)state;
    const flx_kernels k    = flx__kernels_for(FLX_ISA_SCALAR);
    double            h[9] = {NAN, 0, 0, 0, 1, 0, 0, INFINITY, 0}, w[9];
    k.rotation_f64(1, h, w);
    for (int i = 0; i < 9; ++i) assert_true(w[i] == 0); // the identity, by contract of flx__nearest_rotation
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_optimal_and_orthonormal),
        cmocka_unit_test(every_kernel_finds_the_nearest_rotation_of_a_million_matrices),
        cmocka_unit_test(rest_is_exactly_the_identity_and_small_strains_keep_their_digits),
        cmocka_unit_test(a_rotation_does_not_depend_on_what_stands_beside_it),
        cmocka_unit_test(nan_and_infinity_end_in_a_number_or_nan_but_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
