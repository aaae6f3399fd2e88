// What every type of constraint promises of its energy and force.
#include "fixture.h"

static const double limits[][2] = {{1, 1}, {0.9, 1.1}};
enum
{
    LIMITS = sizeof limits / sizeof limits[0]
};

/// Both sides are sums of a few hundred terms; central differences of step h lose eps E/h and h^2 of the third
/// derivative, about 1e-9 each with h = 1e-5 here.
static void force_is_minus_the_gradient(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int k = 0; k < KINDS; ++k)
        for (int l = 0; l < LIMITS; ++l)
        {
            specimen     s     = specimen_make(ctx, (kind)k, 2, limits[l][0], limits[l][1]);
            double*      q     = shaken(&s.body, 0.08, 3 + (uint64_t)k);
            double*      f     = malloc(3 * (size_t)s.body.n * sizeof *f);
            const double h     = 1e-5;
            double       scale = 0;
            (void)energy_and_force(ctx, &s, q, f);
            for (int32_t i = 0; i < 3 * s.body.n; ++i) scale = fmax(scale, fabs(f[i]));
            assert_true(scale > 1e-3);
            for (int32_t i = 0; i < 3 * s.body.n; ++i)
            {
                const double at   = q[i];
                q[i]              = at + h;
                const double up   = energy_and_force(ctx, &s, q, NULL);
                q[i]              = at - h;
                const double down = energy_and_force(ctx, &s, q, NULL);
                q[i]              = at;
                if (!(fabs(f[i] + (up - down) / (2 * h)) < 1e-6 * scale))
                    fail_msg("%s %d: force %g, -gradient %g", s.batch.type->name, l, f[i], -(up - down) / (2 * h));
            }
            free(q);
            free(f);
            specimen_free(ctx, &s);
        }
    flx_context_destroy(ctx);
}

/// Coefficients are of the order of 10, weights of 5: what is left is rounding.
static void rest_has_no_energy_and_no_force(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    for (int k = 0; k < KINDS; ++k)
        for (int l = 0; l < LIMITS; ++l)
        {
            specimen s = specimen_make(ctx, (kind)k, 3, limits[l][0], limits[l][1]);
            double*  f = malloc(3 * (size_t)s.body.n * sizeof *f);
            CHECK_BELOW(energy_and_force(ctx, &s, s.body.x, f), 1e-24);
            for (int32_t i = 0; i < 3 * s.body.n; ++i) CHECK_NEAR(f[i], 0, 1e-11);
            free(f);
            specimen_free(ctx, &s);
        }
    flx_context_destroy(ctx);
}

static void a_rigid_motion_keeps_the_energy_and_turns_the_force(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    uint64_t     seed = 11;
    for (int k = 0; k < ATTACHMENT; ++k)
        for (int l = 0; l < LIMITS; ++l)
        {
            specimen     s     = specimen_make(ctx, (kind)k, 3, limits[l][0], limits[l][1]);
            const size_t bytes = 3 * (size_t)s.body.n * sizeof(double);
            double*      q     = shaken(&s.body, 0.1, 5);
            double *     moved = malloc(bytes), *f = malloc(bytes), *g = malloc(bytes);
            double       R[9];
            const double shift[3] = {1, -2, 3};
            random_rotation(&seed, R);
            for (int32_t v = 0; v < s.body.n; ++v)
            {
                flx__apply3(R, q + 3 * v, moved + 3 * v);
                for (int i = 0; i < 3; ++i) moved[3 * v + i] += shift[i];
            }
            const double before = energy_and_force(ctx, &s, q, f), after = energy_and_force(ctx, &s, moved, g);
            CHECK_NEAR(after, before, 1e-11 * before); // positions of 4 lose eps 4/0.3 of a strain
            double scale = 0;
            for (int32_t i = 0; i < 3 * s.body.n; ++i) scale = fmax(scale, fabs(f[i]));
            for (int32_t v = 0; v < s.body.n; ++v)
            {
                double turned[3];
                flx__apply3(R, f + 3 * v, turned);
                for (int i = 0; i < 3; ++i) CHECK_NEAR(g[3 * v + i], turned[i], 1e-11 * scale);
            }
            free(q);
            free(moved);
            free(f);
            free(g);
            specimen_free(ctx, &s);
        }
    flx_context_destroy(ctx);
}

// --- two elements with known answers ---------------------------------------------------------------------------

static double energy_of(flx_context* ctx, flx_constraint_batch* batch, const double* q)
{
    double z[64], p[64];
    assert_true(z_size(batch) <= 64);
    flx__constraints_measure(ctx, batch, q, z);
    flx__constraints_project(ctx, batch, z, p);
    const double e = flx__constraints_energy(ctx, batch, z, p);
    flx__constraint_batch_release(ctx, batch);
    return e;
}

static void two_springs_store_what_hooke_says(void** state)
{
    (void)state;
    flx_context*         ctx     = test_context(1);
    const double         x[]     = {0, 0, 0, 1, 0, 0, 3, 0, 0};
    const double         q[]     = {0, 0, 0, 0, 1.5, 0, 0, 1.5, 1.5}; // 1 -> 1.5, 2 -> 1.5
    const int32_t        edges[] = {0, 1, 1, 2};
    const double         w[]     = {8, 4};
    flx_constraint_batch b;
    CHECK_OK(flx__edge_springs(ctx, x, 2, edges, w, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), 4 * 0.25 + 2 * 0.25, 1e-15);
    flx_context_destroy(ctx);
}

/// The unit square of two triangles becomes 1.5 x 0.5: stretches 1.5 and 0.5, area 1/2 each.
static void two_triangles_pay_for_what_is_beyond_the_limits(void** state)
{
    (void)state;
    flx_context*         ctx    = test_context(1);
    const double         x[]    = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1};
    const double         q[]    = {0, 0, 0, 0, 1.5, 0, 0.5, 1.5, 0, 0.5, 0, 0};
    const int32_t        t[]    = {0, 2, 1, 0, 3, 2};
    const double         w[]    = {8, 4};
    const double         axes[] = {1, 0, 0, 0, 0, 1};
    flx_constraint_batch b;
    CHECK_OK(flx__triangle_strains(ctx, x, 2, t, w, 1, 1, NULL, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), (2 + 1) * (0.25 + 0.25), 1e-14);
    CHECK_OK(flx__triangle_strains(ctx, x, 2, t, w, 0.8, 1.2, axes, &b));
    double z[12];
    flx__constraints_measure(ctx, &b, q, z);
    const double along[] = {0, 1.5, 0, 0.5, 0, 0}; // d/dx and d/dz of both
    for (int i = 0; i < 12; ++i) CHECK_NEAR(z[i], along[i % 6], 1e-15);
    CHECK_NEAR(energy_of(ctx, &b, q), (2 + 1) * (0.09 + 0.09), 1e-14);
    CHECK_OK(flx__triangle_strains(ctx, x, 2, t, w, 0, 1, NULL, &b)); // pressing is free
    CHECK_NEAR(energy_of(ctx, &b, q), (2 + 1) * 0.25, 1e-14);
    flx_context_destroy(ctx);
}

/// A strip of two triangles folded about its diagonal. Vertex 0 sees the two others through right angles at 45 degrees.
static void a_fold_has_the_curvature_of_its_cotangents(void** state)
{
    (void)state;
    flx_context*         ctx = test_context(1);
    const double         x[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1};
    const int32_t        t[] = {0, 2, 1, 0, 3, 2};
    flx_constraint_batch b;
    CHECK_OK(flx__bendings(ctx, 4, x, 2, t, NULL, &b));
    assert_int_equal(b.count, 4);
    // vertex 0: A = 1/3; the diagonal is opposite right angles, the sides opposite 45 degrees: S q = 3/2 (q1 + q3 - 2
    // q0)
    double z[12];
    flx__constraints_measure(ctx, &b, x, z);
    const double expected[] = {1.5, 0, 1.5};
    for (int i = 0; i < 3; ++i) CHECK_NEAR(z[i], expected[i], 1e-15);
    CHECK_NEAR(b.weight[0], 1 / 3.0, 1e-15);
    CHECK_NEAR(b.weight[1], 1 / 6.0, 1e-15);
    CHECK_NEAR(b.param[0], 1.5 * sqrt(2), 1e-15);
    flx__constraint_batch_release(ctx, &b);
    flx_context_destroy(ctx);
}

/// A cube's corner tetrahedron and its mirror image, stretched to 2 x 1 x 1/4.
static void two_tets_pay_for_stretch_and_for_volume(void** state)
{
    (void)state;
    flx_context*         ctx = test_context(1);
    const double         x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1};
    const double         q[] = {0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0.25, 0, 0, -0.25};
    const int32_t        t[] = {0, 1, 2, 3, 0, 2, 1, 4};
    const double         w[] = {12, 6}; // times 1/6
    flx_constraint_batch b;
    CHECK_OK(flx__tet_strains(ctx, x, 2, t, w, 1, 1, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), (1 + 0.5) * (1 + 0.75 * 0.75), 1e-14);
    // det F = 1/2; with s_i (s_i - sigma_i) = mu, mu = 1/4: s0 = (2 + sqrt 5)/2, s1 = (1 + sqrt 2)/2,
    // s2 = (1/4 + sqrt(17/16))/2
    const double s[3]  = {1 + sqrt(5) / 2, 0.5 + sqrt(2) / 2, (0.25 + sqrt(17.0 / 16)) / 2};
    const double d     = s[0] * s[1] * s[2];
    const double moved = pow(s[0] - 2, 2) + pow(s[1] - 1, 2) + pow(s[2] - 0.25, 2);
    CHECK_OK(flx__tet_volumes(ctx, x, 2, t, w, d, d + 1, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), (1 + 0.5) * moved, 1e-13);
    CHECK_OK(flx__tet_volumes(ctx, x, 2, t, w, 0.4, 0.6, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), 0, 0);
    flx_context_destroy(ctx);
}

static void an_attachment_is_a_spring_to_its_target(void** state)
{
    (void)state;
    flx_context*         ctx      = test_context(1);
    const double         q[]      = {0, 0, 0, 2, 0, 0};
    const int32_t        vertex[] = {0, 1, 1, 0};
    const double         share[] = {0.5, 0.5, 0.75, 0.25}, target[] = {1, 1, 0, 1.5, 0, 2}, w[] = {2, 4};
    flx_constraint_batch b;
    CHECK_OK(flx__attachments(ctx, 2, 2, vertex, share, target, w, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), 1 * 1 + 2 * 4, 1e-15);
    CHECK_OK(flx__attachments(ctx, 2, 1, vertex, NULL, target, w, &b));
    CHECK_NEAR(energy_of(ctx, &b, q), 1 * (1 + 1) + 2 * (0.25 + 4), 1e-15);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_is_minus_the_gradient),
        cmocka_unit_test(rest_has_no_energy_and_no_force),
        cmocka_unit_test(a_rigid_motion_keeps_the_energy_and_turns_the_force),
        cmocka_unit_test(two_springs_store_what_hooke_says),
        cmocka_unit_test(two_triangles_pay_for_what_is_beyond_the_limits),
        cmocka_unit_test(a_fold_has_the_curvature_of_its_cotangents),
        cmocka_unit_test(two_tets_pay_for_stretch_and_for_volume),
        cmocka_unit_test(an_attachment_is_a_spring_to_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
