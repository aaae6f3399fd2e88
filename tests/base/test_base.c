#include "test.h"

static void sum_squares(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    double* out = user;
    for (int64_t i = begin; i < end; ++i) out[i] = (double)i * (double)i;
}

static void every_index_is_visited_once_for_any_worker_count(void** state)
{
    (void)state;
    for (int32_t workers = 1; workers <= 8; ++workers)
    {
        flx_context*  ctx = test_context(workers);
        static double out[100003];
        for (int repeat = 0; repeat < 50; ++repeat)
        {
            memset(out, 0, sizeof out);
            flx__parallel_for(ctx, 100003, 97, sum_squares, out);
            for (int64_t i = 0; i < 100003; ++i) assert_true(out[i] == (double)i * (double)i);
        }
        flx_context_destroy(ctx);
    }
}

static void memory_is_counted_and_can_be_made_to_fail(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    double* a = flx__alloc(ctx, 1000, sizeof *a);
    assert_non_null(a);
    assert_true(((uintptr_t)a & 63) == 0);
    assert_true(flx_context_bytes_now(ctx) >= 8000);
    assert_null(flx__alloc(ctx, INT64_MAX / 4, 16));
    flx_context_fail_allocation(ctx, 0);
    assert_null(flx__alloc(ctx, 1, 1));
    flx_context_fail_allocation(ctx, -1);
    a = flx__realloc(ctx, a, 2000, sizeof *a);
    assert_non_null(a);
    flx__free(ctx, a);
    flx__free(ctx, NULL);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void unknown_instruction_sets_and_worker_counts_are_refused(void** state)
{
    (void)state;
    flx_context*     ctx  = NULL;
    flx_context_desc desc = flx_context_desc_default();
    desc.isa              = "mmx";
    assert_int_equal(flx_context_create(&desc, &ctx), FLX_ERR_ARGUMENT);
    desc              = flx_context_desc_default();
    desc.worker_count = 257;
    assert_int_equal(flx_context_create(&desc, &ctx), FLX_ERR_ARGUMENT);
    assert_null(ctx);
}

static void reading_is_measured_and_leaves_nothing_behind(void** state)
{
    (void)state;
    for (int32_t workers = 1; workers <= 3; workers += 2)
    {
        flx_context* ctx  = test_context(workers);
        const double rate = flx_context_read_bandwidth(ctx);
        assert_true(rate > 1e7 && rate < 1e13); // a floppy disk and a rack of accelerators are out of range
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        flx_context_fail_allocation(ctx, 0);
        assert_true(flx_context_read_bandwidth(ctx) == 0);
        flx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once_for_any_worker_count),
        cmocka_unit_test(memory_is_counted_and_can_be_made_to_fail),
        cmocka_unit_test(unknown_instruction_sets_and_worker_counts_are_refused),
        cmocka_unit_test(reading_is_measured_and_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
