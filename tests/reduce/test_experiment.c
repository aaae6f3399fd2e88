// The eleven experiments against an independent implementation: dense numpy, factored by LAPACK, same definitions. Its
// figures were printed with the digits that stand here.
#include "reduce/lab.h"

typedef struct expected
{
    const char* id;
    int32_t     side;
    double      motion[2], elastic[2], kinetic[2]; // at frames F/2 and F; 0: not given
} expected;

static const expected values[] = {
    {"B1w", 30, {.150, .626}, {2.205, .841}, {1733.08, 7520.51}},
    {"B2", 30, {.066, .121}, {72.448, 85.735}, {120.90, 88.30}},
    {"S1", 30, {.089, .125}, {30528.0, 61498.4}, {6.29, .001}},
    {"S2", 30, {.161, .251}, {19677.5, 29878.8}, {49.1, 2.3}},
    {"T1", 30, {.087, .124}, {22487.9, 44953.1}, {6.1, .001}},
    {"T2", 30, {.006, .007}, {5045.78, 5046.45}, {206.29, 206.26}},
    {"V1", 30, {.121, .165}, {10804.5, 20759.2}, {.83, 0}},
    {"V2", 30, {.056, .106}, {14.561, 46.003}, {8.954, 12.558}},
    {"C1", 15, {0}, {20.725, 20.114}, {0}},
    {"B1w", 15, {0}, {.932, .442}, {0}},
    {"B2", 15, {0}, {285.885, 274.645}, {0}},
    {"S1", 15, {0}, {31562.1, 63613.7}, {0}},
    {"S2", 15, {0}, {23097.0, 36194.3}, {0}},
    {"T1", 15, {0}, {22439.4, 44877.2}, {0}},
    {"T2", 15, {0}, {5047.49, 5047.43}, {0}},
    {"T3", 15, {0}, {18095.3, 29460.4}, {0}},
};

/// Within 1e-3 of the value, or half a unit of the digits it was printed with.
static void check_value(const expected* v, const char* what, double got, double wanted, double half_unit)
{
    if (wanted == 0) return;
    if (!(fabs(got - wanted) <= 1e-3 * fabs(wanted) + half_unit))
        fail_msg("%s of %d x %d: %s is %.6g, not %.6g", v->id, v->side, v->side, what, got, wanted);
}

static void the_full_order_gives_the_prototypes_values(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k)
    {
        const expected* v = &values[k];
        lab             l;
        const int32_t   frames = strcmp(v->id, "B1w") == 0 || strcmp(v->id, "B2") == 0 ? 25 : 100;
        lab_open(&l, 2, v->id, v->side, frames, FLX_RUN_TRAIN);
        assert_int_equal(l.e->frames, frames);
        lab_run(&l);
        for (int i = 0; i < 2; ++i)
        {
            const int32_t t = i == 0 ? frames / 2 : frames;
            const double* q = l.record.q + (int64_t)t * 3 * l.e->system->n;
            check_value(v, "motion", flx__pose_distance(l.e->system, q, l.record.q), v->motion[i], 5e-4);
            check_value(v, "elastic energy", l.record.elastic[t], v->elastic[i], 5e-4);
            check_value(v, "kinetic energy", l.record.kinetic[t], v->kinetic[i], v->kinetic[i] < 10 ? 5e-2 : 5e-3);
        }
        lab_close(&l);
    }
}

static void the_cloth_and_the_box_have_the_elements_they_should(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "C1", 30, 0, FLX_RUN_TRAIN);
    assert_int_equal(l.e->system->batch[0].count, 900);
    assert_int_equal(l.e->system->batch[1].count, 2581);
    assert_int_equal(l.e->system->batch[2].count, 1682);
    assert_int_equal(l.e->batch_frames[0], 25);
    assert_int_equal(l.e->batch_frames[1], 100);
    assert_int_equal(l.e->system->held_count, 2);
    assert_int_equal(l.e->system->held[0], 0);
    assert_int_equal(l.e->system->held[1], 29);
    CHECK_NEAR(l.e->system->size, sqrt(2.0), 1e-15);
    lab_close(&l);
    lab_open(&l, 1, "V1", 30, 0, FLX_RUN_TRAIN);
    assert_int_equal(l.e->system->n, 144);
    assert_int_equal(l.e->system->batch[0].count, 432);
    lab_close(&l);
}

static void a_box_is_closed_and_its_boundary_looks_outward(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "V2", 30, 0, FLX_RUN_TRAIN);
    double volume = 0.0, area[3] = {0};
    for (int32_t t = 0; t < l.e->triangle_count; ++t)
    {
        const double* p[3];
        for (int c = 0; c < 3; ++c) p[c] = l.e->system->x_rest + 3 * (int64_t)l.e->triangle[3 * t + c];
        for (int c = 0; c < 3; ++c)
        {
            const int    a = (c + 1) % 3, b = (c + 2) % 3;
            const double normal =
                0.5 * ((p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]));
            area[c] += normal;
            volume += normal * (p[0][c] + p[1][c] + p[2][c]) / 9.0;
        }
    }
    CHECK_NEAR(volume, 0.375 * 0.375, 1e-14); // divergence theorem
    for (int c = 0; c < 3; ++c) CHECK_NEAR(area[c], 0.0, 1e-14);
    lab_close(&l);
}

static void masses_have_mean_one_and_pokes_add_up(void** state)
{
    (void)state;
    for (int32_t k = 0; k < FLX_EXPERIMENT_COUNT; ++k)
    {
        lab l;
        lab_open(&l, 1, flx__experiment_id(k), 15, 0, FLX_RUN_TRAIN);
        const flx_pd_system* s   = l.e->system;
        double               sum = 0.0;
        for (int32_t i = 0; i < s->n; ++i) sum += s->mass[i];
        CHECK_NEAR(sum / s->n, 1.0, 1e-13);
        for (int32_t r = 0; r < l.e->run_count; ++r)
            if (l.e->run[r].share)
            {
                double share = 0.0;
                for (int32_t i = 0; i < s->n; ++i) share += l.e->run[r].share[i];
                CHECK_NEAR(share, 1.0, 1e-14);
            }
        lab_close(&l);
    }
}

/// Unseen and further training runs move the body otherwise than the training run, by more than the reference's noise.
static void every_run_differs_from_the_training_run(void** state)
{
    (void)state;
    for (int32_t k = 0; k < FLX_EXPERIMENT_COUNT; ++k)
    {
        lab train, other;
        lab_open(&train, 1, flx__experiment_id(k), 8, 10, FLX_RUN_TRAIN);
        lab_run(&train);
        assert_true(train.e->run_count >= 2 && train.e->run_count <= FLX_RUN_MOST);
        for (int32_t r = 1; r < train.e->run_count; ++r)
        {
            lab_open(&other, 1, flx__experiment_id(k), 8, 10, r);
            lab_run(&other);
            const double* last = train.record.q + 10 * 3 * (int64_t)train.e->system->n;
            if (flx__pose_distance(train.e->system, last, other.state.q) < 1e-4)
                fail_msg("%s: run %d is as the training run", train.e->id, r);
            lab_close(&other);
        }
        lab_close(&train);
    }
}

static void the_twist_turns_back_and_goes_the_other_way(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "S2", 15, 0, FLX_RUN_TRAIN);
    double* const at[3]    = {calloc(90, sizeof(double)), calloc(90, sizeof(double)), calloc(90, sizeof(double))};
    const int32_t frame[3] = {100, 200, 300}; // a quarter turn, none, a quarter turn back
    for (int i = 0; i < 3; ++i)
    {
        for (int32_t k = 0; k < 30; ++k)
            memcpy(at[i] + 3 * k, l.e->system->x_rest + 3 * (int64_t)l.e->system->held[k], 3 * sizeof(double));
        l.drive.targets(l.drive.user, frame[i], at[i]);
    }
    for (int32_t k = 0; k < 30; ++k)
    {
        const double* rest = l.e->system->x_rest + 3 * (int64_t)l.e->system->held[k];
        const double  side = rest[0] > 0.5 ? -1.0 : 1.0;
        CHECK_NEAR(at[0][3 * k], rest[0], 0.0);
        CHECK_NEAR(at[0][3 * k + 1], side * (rest[2] - 0.5), 1e-15);
        CHECK_NEAR(at[0][3 * k + 2], 0.5, 1e-15);
        CHECK_NEAR(at[1][3 * k + 1], 0.0, 1e-15);
        CHECK_NEAR(at[1][3 * k + 2], rest[2], 1e-15);
        CHECK_NEAR(at[2][3 * k + 1], -at[0][3 * k + 1], 1e-15);
    }
    for (int i = 0; i < 3; ++i) free(at[i]);
    lab_close(&l);
}

static void a_mistaken_name_or_size_is_refused(void** state)
{
    (void)state;
    flx_context*        ctx  = test_context(1);
    flx_experiment_size size = flx__experiment_size_default();
    flx_experiment*     e    = NULL;
    CHECK_FAILS(flx__experiment_create(ctx, "S9", &size, &e), FLX_ERR_ARGUMENT);
    assert_null(e);
    size.cloth_side = 3;
    CHECK_FAILS(flx__experiment_create(ctx, "S1", &size, &e), FLX_ERR_ARGUMENT);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    flx_context*              ctx   = test_context(1);
    const flx_experiment_size size  = {.cloth_side = 5, .box_cells = 1};
    const char* const         ids[] = {"C1", "T2", "V2"};
    for (int i = 0; i < 3; ++i)
        for (int64_t n = 0;; ++n)
        {
            flx_experiment* e = NULL;
            flx_context_fail_allocation(ctx, n);
            const flx_status status = flx__experiment_create(ctx, ids[i], &size, &e);
            flx_context_fail_allocation(ctx, -1);
            flx__experiment_destroy(e);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_null(e);
        }
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_full_order_gives_the_prototypes_values),
        cmocka_unit_test(the_cloth_and_the_box_have_the_elements_they_should),
        cmocka_unit_test(a_box_is_closed_and_its_boundary_looks_outward),
        cmocka_unit_test(masses_have_mean_one_and_pokes_add_up),
        cmocka_unit_test(every_run_differs_from_the_training_run),
        cmocka_unit_test(the_twist_turns_back_and_goes_the_other_way),
        cmocka_unit_test(a_mistaken_name_or_size_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
