// The local step and the matrix: forces, energy, K, against each other and against what mechanics says.
#include "fixture.h"

#include "math/rotation.h"

static const char beam_yaml[] = "flexor: 1\n"
                                "bodies:\n"
                                "  - {name: beam, tets: beam.mesh, material: {young: 30 kPa, density: 1000 kg/m3}}\n"
                                "fix: {body: beam, region: {box: {min: [-1 mm, -1, -1], max: [1 mm, 1, 1]}}}\n"
                                "solver: {precision: double, outer: 1}\n"
                                "run: {frames: 1, fps: 30}\n";

static void open_beam(fixture* f, int32_t workers, int override_count, const char* const* overrides)
{
    fixture_start(f, workers);
    fixture_box(f, "beam.mesh", (const int[3]){8, 2, 2}, (const double[3]){0, 0, 0}, 0.05, 1, 0);
    fixture_open(f, beam_yaml, override_count, overrides);
}

/// r at positions x (solver's numbering) into out [3 n], gravity and springs included.
static void residual_at(fixture* f, const double* x, double* out)
{
    flx_solver* s = f->solver;
    memcpy(s->x, x, 3 * sizeof(double) * (size_t)s->n);
    flx__residual(s, 0);
    for (int c = 0; c < 3; ++c)
        for (int32_t i = 0; i < s->n; ++i) out[3 * i + c] = s->r[c][i];
}

static void shake(const fixture* f, double size, double* x, uint64_t seed)
{
    for (int32_t i = 0; i < 3 * f->model->vertex_count; ++i)
        x[i] = f->model->x_rest[i] + size * (test_random(&seed) - 0.5);
}

static void no_force_at_rest_and_nothing_moves_bit_for_bit(void** state)
{
    (void)state;
    for (int precision = 0; precision < 2; ++precision)
    {
        fixture           f;
        const char* const sets[] = {precision ? "precision=double" : "precision=single"};
        open_beam(&f, 2, 1, sets);
        const uint64_t before = flx__hash(FLX_HASH_START, f.state->x, 24 * (int64_t)f.model->vertex_count);
        flx_step_stats stats;
        fixture_steps(&f, 100, &stats);
        assert_true(stats.residual == 0);
        assert_true(flx__hash(FLX_HASH_START, f.state->x, 24 * (int64_t)f.model->vertex_count) == before);
        fixture_end(&f);
    }
}

static void forces_are_the_energys_negative_gradient(void** state)
{
    (void)state;
    fixture f;
    open_beam(&f, 1, 0, NULL);
    const int32_t n = f.model->vertex_count;
    double *      x = malloc(24 * (size_t)n), *r = malloc(24 * (size_t)n);
    shake(&f, 0.03, x, 3); // edges are 0.05 m: large strains, a few inverted elements
    residual_at(&f, x, r);
    double scale = 0;
    for (int32_t i = 0; i < 3 * n; ++i) scale = fmax(scale, fabs(r[i]));
    const double h = 1e-7; // central difference: error h^2 E'''/6 + rounding 1e-16 E/h
    for (int32_t i = 0; i < 3 * n; i += 7)
    {
        const double keep = x[i];
        x[i]              = keep + h;
        const double up   = flx__reference_energy(f.solver, x, 0, NULL);
        x[i]              = keep - h;
        const double down = flx__reference_energy(f.solver, x, 0, NULL);
        x[i]              = keep;
        CHECK_NEAR(r[i], -(up - down) / (2 * h), 2e-6 * scale);
    }
    free(x);
    free(r);
    fixture_end(&f);
}

static void rigid_motion_changes_no_energy_and_no_force(void** state)
{
    (void)state;
    fixture f;
    // no springs in the way: a free body in dynamic mode
    fixture_start(&f, 1);
    fixture_box(&f, "beam.mesh", (const int[3]){6, 2, 2}, (const double[3]){0, 0, 0}, 0.05, 1, 0);
    fixture_open(&f,
                 "flexor: 1\nbodies: [{name: b, tets: beam.mesh, material: {young: 30 kPa, density: 1000 kg/m3}}]\n"
                 "solver: {mode: dynamic, precision: double}\nrun: {frames: 1, fps: 30}\n",
                 0, NULL);
    const int32_t n = f.model->vertex_count;
    double *      x = malloc(24 * (size_t)n), *r = malloc(24 * (size_t)n);
    uint64_t      seed = 5;
    for (int k = 0; k < 20; ++k)
    {
        double axis[3], R[9];
        for (int c = 0; c < 3; ++c) axis[c] = test_random(&seed) - 0.5;
        const double size = flx__norm3(axis);
        for (int c = 0; c < 3; ++c) axis[c] /= size;
        flx__axis_rotation(axis, 6.28 * test_random(&seed), R);
        for (int32_t i = 0; i < n; ++i)
        {
            flx__apply3(R, f.model->x_rest + 3 * i, x + 3 * i);
            for (int c = 0; c < 3; ++c) x[3 * i + c] += 3 * c - 1.5;
        }
        // inertia is left out by standing where it wants us
        memcpy(f.solver->x_inertial, x, 24 * (size_t)n);
        residual_at(&f, x, r);
        const double stiff = f.model->body[0].mu * f.model->cell; // N/m times m: the scale of a force at strain 1
        for (int32_t i = 0; i < 3 * n; ++i) CHECK_BELOW(fabs(r[i]), 1e-10 * stiff * f.model->size);
        CHECK_BELOW(flx__reference_energy(f.solver, x, 0, NULL), 1e-20 * stiff);
    }
    free(x);
    free(r);
    fixture_end(&f);
}

static void stiffness_is_symmetric_with_translations_as_its_null_space(void** state)
{
    (void)state;
    fixture f;
    open_beam(&f, 1, 0, NULL);
    // K alone: springs are off before time -1, no inertia
    f.model->spring[0].from = 0;
    flx_csc a;
    for (int32_t i = 0; i < f.model->spring_count; ++i) f.model->spring[i].from = 10;
    assert_int_equal(flx__model_assemble(f.model, 0, 0, &a), FLX_OK);
    const int32_t n     = a.n;
    double*       row   = calloc((size_t)n, sizeof(double));
    double        scale = 0;
    for (int32_t j = 0; j < n; ++j)
        for (int64_t k = a.first[j]; k < a.first[j + 1]; ++k)
        {
            if (k > a.first[j]) assert_true(a.row[k] > a.row[k - 1]);
            row[a.row[k]] += a.value[k];
            if (a.row[k] != j) row[j] += a.value[k];
            scale = fmax(scale, fabs(a.value[k]));
        }
    for (int32_t i = 0; i < n; ++i) CHECK_BELOW(fabs(row[i]), 1e-13 * scale); // K 1 = 0
    // and nothing else: with one spring the factorization goes through
    f.model->spring[0].from = 0;
    flx_csc b;
    assert_int_equal(flx__model_assemble(f.model, 0, 0, &b), FLX_OK);
    flx_factor* factor = NULL;
    assert_int_equal(flx__factor_create(f.ctx, &b, n, &(flx_factor_options){.keep_double = true}, NULL, &factor),
                     FLX_OK);
    flx__factor_destroy(factor);
    // without it, it does not
    int32_t bad = -1;
    assert_int_equal(flx__factor_create(f.ctx, &a, n, &(flx_factor_options){.keep_double = true}, &bad, &factor),
                     FLX_ERR_UNHELD);
    assert_in_range(bad, 0, n - 1);
    flx__csc_release(f.ctx, &a);
    flx__csc_release(f.ctx, &b);
    free(row);
    fixture_end(&f);
}

static void affine_boundary_gives_affine_inside(void** state)
{
    (void)state;
    fixture f;
    fixture_start(&f, 1);
    fixture_box(&f, "box.mesh", (const int[3]){4, 4, 4}, (const double[3]){0, 0, 0}, 0.25, 1, 0);
    // all six faces held
    fixture_open(&f,
                 "flexor: 1\nbodies: [{name: b, tets: box.mesh, material: {young: 10 kPa, density: 1000 kg/m3}}]\n"
                 "fix:\n"
                 "  - {body: b, region: {box: {min: [-1, -1, -1], max: [1e-3, 2, 2]}}, stiffness: 1e9}\n"
                 "  - {body: b, region: {box: {min: [0.999, -1, -1], max: [2, 2, 2]}}, stiffness: 1e9}\n"
                 "  - {body: b, region: {box: {min: [-1, -1, -1], max: [2, 1e-3, 2]}}, stiffness: 1e9}\n"
                 "  - {body: b, region: {box: {min: [-1, 0.999, -1], max: [2, 2, 2]}}, stiffness: 1e9}\n"
                 "  - {body: b, region: {box: {min: [-1, -1, -1], max: [2, 2, 1e-3]}}, stiffness: 1e9}\n"
                 "  - {body: b, region: {box: {min: [-1, -1, 0.999], max: [2, 2, 2]}}, stiffness: 1e9}\n"
                 "solver: {precision: double, outer: 200}\nrun: {frames: 1, fps: 30}\n",
                 0, NULL);
    const double F[9] = {1.1, 0.05, 0, -0.02, 0.95, 0.03, 0.01, 0, 1.05};
    for (int32_t i = 0; i < f.model->spring_count; ++i)
    {
        flx_spring* s = &f.model->spring[i];
        double      moved[3];
        flx__apply3(F, s->rest, moved);
        flx__sub3(moved, s->rest, s->offset);
        memcpy(s->rest, moved, sizeof moved);
    }
    fixture_steps(&f, 1, NULL);
    for (int32_t i = 0; i < f.model->vertex_count; ++i)
    {
        double want[3];
        flx__apply3(F, f.model->x_rest + 3 * i, want);
        for (int c = 0; c < 3; ++c)
            CHECK_NEAR(f.state->x[3 * i + c], want[c], 1e-5); // springs of 1e9 N/m against 1e4 Pa x 0.25 m give by 1e-6
    }
    fixture_end(&f);
}

static void objective_never_rises_over_a_hundred_plain_rounds(void** state)
{
    (void)state;
    for (int precision = 0; precision < 2; ++precision)
    {
        fixture           f;
        const char* const sets[] = {precision ? "precision=double" : "precision=single", "gravity=9.81"};
        open_beam(&f, 1, 2, sets);
        double* x = malloc(24 * (size_t)f.model->vertex_count);
        shake(&f, 0.06, x, 11);
        memcpy(f.state->x, x, 24 * (size_t)f.model->vertex_count);
        double before = INFINITY, first = 0;
        for (int k = 0; k < 100; ++k)
        {
            flx_step_stats stats;
            fixture_steps(&f, 1, &stats);
            if (k == 0) first = stats.energy;
            // single precision rounds the energy of the start to 1e-7 of itself
            CHECK_BELOW(stats.energy, before + (precision ? 1e-12 : 1e-7) * fabs(first));
            before = stats.energy;
        }
        CHECK_BELOW(before, 0.1 * first); // and it falls
        free(x);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_force_at_rest_and_nothing_moves_bit_for_bit),
        cmocka_unit_test(forces_are_the_energys_negative_gradient),
        cmocka_unit_test(rigid_motion_changes_no_energy_and_no_force),
        cmocka_unit_test(stiffness_is_symmetric_with_translations_as_its_null_space),
        cmocka_unit_test(affine_boundary_gives_affine_inside),
        cmocka_unit_test(objective_never_rises_over_a_hundred_plain_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
