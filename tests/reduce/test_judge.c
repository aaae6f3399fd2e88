#include "reduce/lab.h"

/// A copy of a lab's record, changed by the tests.
static flx_run_record copy_of(const flx_run_record* r)
{
    flx_context*   ctx = r->system->ctx;
    flx_run_record out;
    CHECK_OK(flx__record_create(r->system, r->frames, &out));
    memcpy(out.q, r->q, (size_t)r->count * 3 * (size_t)r->system->n * sizeof *r->q);
    memcpy(out.elastic, r->elastic, (size_t)r->count * sizeof *r->elastic);
    memcpy(out.kinetic, r->kinetic, (size_t)r->count * sizeof *r->kinetic);
    out.count = r->count;
    return out;
}

static void a_run_judged_against_itself_has_no_error(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T2", 10, 5, FLX_RUN_TRAIN);
    lab_run(&l);
    const flx_verdict v = flx__judge(&l.record, &l.record, 5);
    assert_true(v.error == 0.0 && v.energy == 1.0 && !v.exploded && !v.distorted);
    lab_close(&l);
}

static void a_shift_in_one_frame_is_its_length_over_the_size(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T2", 10, 5, FLX_RUN_TRAIN);
    lab_run(&l);
    const int32_t  n   = l.e->system->n;
    flx_run_record run = copy_of(&l.record);
    for (int32_t i = 0; i < n; ++i) run.q[3 * (3 * (int64_t)n + i) + 1] += 0.3;
    CHECK_NEAR(flx__judge(&l.record, &run, 5).error, 0.3 / sqrt(2.0), 1e-14);
    CHECK_NEAR(flx__judge(&l.record, &run, 2).error, 0.0, 0.0); // frames after the horizon do not count
    for (int32_t i = 0; i < n; ++i) run.q[3 * (3 * (int64_t)n + i) + 1] += 0.5;
    flx_verdict v = flx__judge(&l.record, &run, 5);
    assert_true(v.distorted && !v.exploded);
    for (int32_t i = 0; i < n; ++i) run.q[3 * (3 * (int64_t)n + i) + 1] += 0.8;
    v = flx__judge(&l.record, &run, 5);
    assert_true(v.exploded && !v.distorted);
    flx__record_release(&run);
    lab_close(&l);
}

static void energy_is_compared_by_its_maximum_over_time(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T2", 10, 5, FLX_RUN_TRAIN);
    lab_run(&l);
    flx_run_record run  = copy_of(&l.record);
    double         most = 0.0;
    for (int32_t t = 0; t <= 5; ++t) most = fmax(most, run.elastic[t] + run.kinetic[t]);
    run.kinetic[4] = 3.5 * most - run.elastic[4];
    flx_verdict v  = flx__judge(&l.record, &run, 5);
    CHECK_NEAR(v.energy, 3.5, 1e-12);
    assert_true(v.distorted && !v.exploded);
    run.kinetic[4] = NAN;
    v              = flx__judge(&l.record, &run, 5);
    assert_true(isinf(v.energy) && v.distorted);
    flx__record_release(&run);
    lab_close(&l);
}

static void what_stops_or_is_not_finite_has_exploded(void** state)
{
    (void)state;
    lab l;
    lab_open(&l, 1, "T2", 10, 5, FLX_RUN_TRAIN);
    lab_run(&l);
    flx_run_record run = copy_of(&l.record);
    run.count          = 3;
    flx_verdict v      = flx__judge(&l.record, &run, 5);
    assert_true(v.exploded && isinf(v.error));
    run.count = 6;
    run.q[7]  = NAN;
    v         = flx__judge(&l.record, &run, 5);
    assert_true(v.exploded && isinf(v.error));
    flx__record_release(&run);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_judged_against_itself_has_no_error),
        cmocka_unit_test(a_shift_in_one_frame_is_its_length_over_the_size),
        cmocka_unit_test(energy_is_compared_by_its_maximum_over_time),
        cmocka_unit_test(what_stops_or_is_not_finite_has_exploded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
