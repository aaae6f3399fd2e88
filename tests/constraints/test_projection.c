// Projections find the nearest point of their manifold, on every instruction set, and survive anything.
#include "fixture.h"

#include "constraints/projections.h"

static const flx_constraint_type* const types[] = {&flx__edge_spring, &flx__bending,    &flx__triangle_strain,
                                                   &flx__tet_strain,  &flx__tet_volume, &flx__attachment};
enum
{
    TYPES = sizeof types / sizeof types[0]
};

static double distance2(const double* a, const double* b, int count)
{
    double d = 0;
    for (int i = 0; i < count; ++i) d += (a[i] - b[i]) * (a[i] - b[i]);
    return d;
}

/// z = sum_k s[k] u_k v_k^T, `rows` x 3, by random rotations.
static void compose(uint64_t* seed, int rows, const double s[3], double* z)
{
    double U[9], V[9];
    random_rotation(seed, V);
    random_rotation(seed, U);
    if (rows == 2)
    {
        const double angle   = between(seed, -3.1, 3.1);
        const double turn[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
        memcpy(U, turn, sizeof turn);
    }
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < 3; ++i)
        {
            z[3 * r + i] = 0;
            for (int k = 0; k < rows; ++k) z[3 * r + i] += s[k] * U[3 * r + k] * V[3 * i + k];
        }
}

/// A random point of the manifold, and z anywhere.
static void random_point(uint64_t* seed, const flx_constraint_type* type, const double* param, double* m)
{
    double s[3] = {between(seed, param[0], param[1]), between(seed, param[0], param[1]),
                   between(seed, param[0], param[1])};
    if (type->params == 1) s[0] = param[0];
    if (type == &flx__tet_volume)
    {
        s[0] = exp(between(seed, -1.5, 1.5)), s[1] = exp(between(seed, -1.5, 1.5));
        s[2] = between(seed, param[0], param[1]) / (s[0] * s[1]);
    }
    if (type->rows > 1)
        compose(seed, type->rows, s, m);
    else
    {
        double R[9];
        random_rotation(seed, R);
        for (int i = 0; i < 3; ++i) m[i] = s[0] * R[3 * i];
    }
    if (type == &flx__attachment) memcpy(m, param, 3 * sizeof *m);
}

static void random_param(uint64_t* seed, const flx_constraint_type* type, double* param)
{
    param[0] = between(seed, 0.3, 1);
    param[1] = test_random(seed) < 0.5 ? param[0] : param[0] + between(seed, 0, 0.6);
    param[2] = 0.7;
    if (type->params == 1 && test_random(seed) < 0.1) param[0] = 0;
}

/// Is p of the manifold? By its singular values, to `tolerance`.
static void check_on_manifold(const flx_constraint_type* type, const double* param, const double* p, double tolerance)
{
    double F[9] = {0}, s[3];
    memcpy(F, p, 3 * (size_t)type->rows * sizeof *p);
    flx__singular_values3(F, s);
    if (type->params == 1) CHECK_NEAR(s[0], param[0], tolerance);
    if (type == &flx__triangle_strain || type == &flx__tet_strain)
        for (int k = 0; k < type->rows; ++k)
            if (!(s[k] >= param[0] - tolerance && s[k] <= param[1] + tolerance))
                fail_msg("%s: stretch %d is %.17g, limits %g %g", type->name, k, s[k], param[0], param[1]);
    const double det = s[0] * s[1] * s[2];
    if (type == &flx__tet_volume && !(det >= param[0] * (1 - tolerance) && det <= param[1] * (1 + tolerance)))
        fail_msg("determinant %.17g, limits %g %g", det, param[0], param[1]);
}

static void the_projection_is_the_nearest_point(void** state)
{
    (void)state;
    uint64_t seed = 1;
    for (int t = 0; t < TYPES; ++t)
        for (int trial = 0; trial < 300; ++trial)
        {
            const flx_constraint_type* type = types[t];
            const int                  size = 3 * type->rows;
            double                     param[3], z[9], p[9], m[9];
            random_param(&seed, type, param);
            for (int i = 0; i < size; ++i) z[i] = between(&seed, -1.5, 1.5);
            if (trial % 3 == 0) // near the manifold, where steps are small
            {
                random_point(&seed, type, param, z);
                for (int i = 0; i < size; ++i) z[i] += between(&seed, -0.1, 0.1);
            }
            type->project(1, z, param, p);
            check_on_manifold(type, param, p, 1e-12);
            const double nearest = distance2(z, p, size);
            for (int k = 0; k < 1000; ++k)
            {
                random_point(&seed, type, param, m);
                if (!(distance2(z, m, size) >= nearest * (1 - 1e-12)))
                    fail_msg("%s: %g^2 to p, %g^2 to another", type->name, nearest, distance2(z, m, size));
            }
        }
}

/// Two families of volumes compete when an element is blown up to six or seven times its volume: compare with a search
/// over all s. Steps of 1/400 find the squared distance to about 1e-4.
static void the_nearest_volume_is_the_best_of_all_stretches(void** state)
{
    (void)state;
    uint64_t     seed   = 4;
    const double one[2] = {1, 1};
    for (int trial = 0; trial < 60; ++trial)
    {
        double sigma[3], z[9], p[9];
        for (int k = 0; k < 3; ++k) sigma[k] = trial % 2 ? between(&seed, 1.6, 2.1) : between(&seed, 0.2, 3);
        if (trial % 5 == 4) sigma[2] = -sigma[2];
        compose(&seed, 3, sigma, z);
        flx__singular_values3(z, sigma); // now the negative one is the least
        flx__tet_volume.project(1, z, one, p);
        double best = INFINITY;
        for (double a = 0.0025; a < 4; a += 0.0025)
            for (double b = 0.0025; b < 4; b += 0.0025)
            {
                const double c = 1 / (a * b);
                best           = fmin(best, pow(a - sigma[0], 2) + pow(b - sigma[1], 2) + pow(c - sigma[2], 2));
            }
        CHECK_BELOW(distance2(z, p, 9), best + 1e-12);
        CHECK_NEAR(distance2(z, p, 9), best, 2e-4 * (1 + best));
    }
}

/// Along a path from an inverted element through flat ones to a swollen one, p moves no further than a multiple of z.
static void volume_is_continuous_through_flat_and_inverted_elements(void** state)
{
    (void)state;
    const double limits[2] = {0.9, 1.1};
    double       before[9], p[9];
    for (int i = 0; i <= 4000; ++i)
    {
        const double a    = -1 + 3e-3 / 4 * i; // -1 .. 2
        const double z[9] = {a, 0.1, 0, 0, 1, 0.2, 0.05, 0, 1.1};
        flx__tet_volume.project(1, z, limits, p);
        if (i > 0) CHECK_BELOW(sqrt(distance2(p, before, 9)), 20 * 3e-3 / 4);
        memcpy(before, p, sizeof p);
    }
}

static void anything_ends_finite(void** state)
{
    (void)state;
    static const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 1e-320, 1e300, -1.7e308, 1e-200, 1, -1};
    const int           many  = (int)(sizeof odd / sizeof odd[0]);
    uint64_t            seed  = 8;
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        for (int t = 0; t < TYPES; ++t)
            for (int trial = 0; trial < 2000; ++trial)
            {
                double z[9], p[9] = {0}, param[3] = {0.9, 1.1, 1};
                for (int i = 0; i < 9; ++i) z[i] = odd[(int)(test_random(&seed) * (trial % 2 ? many : 2))];
                flx__projection_for(chosen, types[t])(1, z, param, p);
                for (int i = 0; i < 3 * types[t]->rows; ++i)
                    if (!isfinite(p[i]))
                        fail_msg("%s: %g from %g %g %g %g %g %g %g %g %g", types[t]->name, p[i], z[0], z[1], z[2], z[3],
                                 z[4], z[5], z[6], z[7], z[8]);
            }
    }
}

static void flat_and_inverted_elements_come_back_right_side_out(void** state)
{
    (void)state;
    uint64_t     seed         = 6;
    const double stretch[][3] = {{1, 1, 0},      {1, 0, 0},         {0, 0, 0}, {1, 1, -1},
                                 {1, 0.5, -0.2}, {1, 1e-9, -1e-12}, {2, 2, -2}};
    for (int t = 3; t < 5; ++t)
        for (size_t k = 0; k < sizeof stretch / sizeof stretch[0]; ++k)
        {
            double       z[9], p[9];
            const double param[2] = {0.9, 1.1};
            compose(&seed, 3, stretch[k], z);
            types[t]->project(1, z, param, p);
            check_on_manifold(types[t], param, p, 1e-12);
        }
}

// --- kernels against the reference ---------------------------------------------------------------------------

enum
{
    COUNT = 1003 // not a multiple of any number of lanes
};

/// Singular values of all kinds: equal, nearly so, flat, inverted, within the limits, far from them.
static void hard_case(uint64_t* seed, const flx_constraint_type* type, double* z)
{
    double       s[3] = {exp(between(seed, -1, 1)), 0, 0};
    const double pick = test_random(seed), shift = exp(between(seed, -40, 0));
    s[1] = pick < 0.3 ? s[0] * (1 + shift) : pick < 0.5 ? s[0] * shift : s[0] * test_random(seed);
    s[2] = s[1] * (pick < 0.2 ? 1 - shift : 2 * test_random(seed) - 1);
    if (pick > 0.97) s[1] = s[2] = 0;
    if (type->rows > 1)
        compose(seed, type->rows, s, z);
    else
        for (int i = 0; i < 3; ++i) z[i] = s[0] * between(seed, -1, 1);
}

/// A kernel's p is as near as the reference's and on the manifold; where p is well determined it is the same.
static void every_kernel_agrees_with_the_reference(void** state)
{
    (void)state;
    static double z[9 * COUNT], param[3 * COUNT], p[9 * COUNT], q[9 * COUNT];
    uint64_t      seed = 12;
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        for (int t = 0; t < 4; ++t)
            for (int round = 0; round < 20; ++round)
            {
                const flx_constraint_type* type = types[t];
                const int                  size = 3 * type->rows, params = type->params;
                for (int j = 0; j < COUNT; ++j)
                {
                    double one[3];
                    random_param(&seed, type, one);
                    memcpy(param + params * j, one, (size_t)params * sizeof *one);
                    hard_case(&seed, type, z + size * j);
                }
                type->project(COUNT, z, param, p);
                flx__projection_for(chosen, type)(COUNT, z, param, q);
                for (int j = 0; j < COUNT; ++j)
                {
                    const double *zj = z + size * j, *pj = p + size * j, *qj = q + size * j;
                    const double  reference = sqrt(distance2(zj, pj, size)), kernel = sqrt(distance2(zj, qj, size));
                    check_on_manifold(type, param + params * j, qj, 1e-13);
                    CHECK_NEAR(kernel, reference, 1e-13);
                    double F[9] = {0}, s[3];
                    memcpy(F, zj, (size_t)size * sizeof *F);
                    flx__singular_values3(F, s);
                    const double gap = type->rows == 1 ? 1 : type->rows == 2 ? s[1] : s[1] + s[2];
                    if (gap > 1e-3) CHECK_BELOW(sqrt(distance2(pj, qj, size)), 1e-14 / gap); // few roundings / gap
                }
            }
    }
}

static void a_result_does_not_depend_on_place_or_neighbours(void** state)
{
    (void)state;
    static double z[9 * COUNT], param[3 * COUNT], p[9 * COUNT];
    uint64_t      seed = 13;
    for (int isa = 0; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        for (int t = 0; t < TYPES; ++t)
        {
            const flx_constraint_type* type = types[t];
            const int                  size = 3 * type->rows, params = type->params;
            for (int j = 0; j < COUNT; ++j)
            {
                for (int i = 0; i < params; ++i) param[params * j + i] = 0.9 + 0.2 * i;
                hard_case(&seed, type, z + size * j);
                if (j % 97 == 5) z[size * j] = NAN;
            }
            flx__projection_for(chosen, type)(COUNT, z, param, p);
            for (int j = 0; j < COUNT; ++j)
            {
                double alone[9];
                flx__projection_for(chosen, type)(1, z + size * j, param + params * j, alone);
                assert_memory_equal(alone, p + size * j, (size_t)size * sizeof *p);
            }
            for (int j = 0; j < COUNT - 5; j += 5) // other blocks, in place
            {
                double shifted[9 * 5];
                memcpy(shifted, z + size * j, 5 * (size_t)size * sizeof *z);
                flx__projection_for(chosen, type)(5, shifted, param + params * j, shifted);
                assert_memory_equal(shifted, p + size * j, 5 * (size_t)size * sizeof *p);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_projection_is_the_nearest_point),
        cmocka_unit_test(the_nearest_volume_is_the_best_of_all_stretches),
        cmocka_unit_test(volume_is_continuous_through_flat_and_inverted_elements),
        cmocka_unit_test(anything_ends_finite),
        cmocka_unit_test(flat_and_inverted_elements_come_back_right_side_out),
        cmocka_unit_test(every_kernel_agrees_with_the_reference),
        cmocka_unit_test(a_result_does_not_depend_on_place_or_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
