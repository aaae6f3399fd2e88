// Models in files, and memory that is refused while they are made.
#include "models.h"

#include "reduce/model_file.h"

static const char* scratch_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/flexor-test-model-%ld.h5", (long)getpid());
    return path;
}

static void a_model_comes_back_from_its_file_bit_for_bit(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    flx_trial_bench bench = open_bench(ctx, "C1", 8);
    const char*     path  = scratch_path();
    for (int method = 0; method < FLX_REDUCTION_COUNT; ++method)
    {
        flx_reduced_model *model = train(&bench, (flx_reduction)method, 6, 20), *back = NULL;
        CHECK_OK(flx__model_file_write(model, path, true));
        CHECK_OK(flx__model_file_read(ctx, path, bench.experiment->system, &back));
        const flx_trial a = try_run(&bench, model, FLX_RUN_TRAIN), b = try_run(&bench, back, FLX_RUN_TRAIN);
        assert_memory_equal(&a.verdict.error, &b.verdict.error, sizeof(double));
        assert_memory_equal(&a.norm, &b.norm, sizeof(double));
        assert_memory_equal(&a.least, &b.least, sizeof(double));
        assert_string_equal(back->batch[1].type, "spring");
        flx__reduced_model_destroy(model);
        flx__reduced_model_destroy(back);
    }
    unlink(path);
    close_all(ctx, &bench, NULL);
}

static void a_model_of_another_mesh_is_refused(void** state)
{
    (void)state;
    flx_context*        ctx   = test_context(1);
    flx_trial_bench     bench = open_bench(ctx, "S2", 8), other = open_bench(ctx, "S2", 9);
    flx_reduced_model * model = train(&bench, FLX_REDUCTION_SECS, 4, 20), *back = NULL;
    flx_reduced_solver* solver = NULL;
    const char*         path   = scratch_path();
    CHECK_OK(flx__model_file_write(model, path, false));
    CHECK_FAILS(flx__model_file_write(model, path, false), FLX_ERR_EXISTS);
    CHECK_FAILS(flx__model_file_read(ctx, path, other.experiment->system, &back), FLX_ERR_ARGUMENT);
    assert_null(back);
    assert_non_null(strstr(flx_context_error(ctx), "another system"));
    CHECK_FAILS(flx__reduced_solver_create(other.experiment->system, model, &solver), FLX_ERR_ARGUMENT);
    assert_null(solver);
    unlink(path);
    flx__trial_bench_release(ctx, &other);
    close_all(ctx, &bench, model);
}

static void a_damaged_file_is_refused(void** state)
{
    (void)state;
    flx_context*       ctx   = test_context(1);
    flx_trial_bench    bench = open_bench(ctx, "S2", 6);
    flx_reduced_model *model = train(&bench, FLX_REDUCTION_SECS, 4, 20), *back = NULL;
    const char*        path = scratch_path();
    struct stat        info;
    CHECK_OK(flx__model_file_write(model, path, true));
    assert_int_equal(stat(path, &info), 0);
    for (off_t keep = info.st_size - 1; keep > 1; keep -= 1 + info.st_size / 97)
    {
        assert_int_equal(truncate(path, keep), 0);
        CHECK_FAILS(flx__model_file_read(ctx, path, NULL, &back), FLX_ERR_FORMAT);
        assert_null(back);
    }
    unlink(path);
    CHECK_FAILS(flx__model_file_read(ctx, path, NULL, &back), FLX_ERR_IO);
    close_all(ctx, &bench, model);
}

static void a_file_of_another_layout_is_refused_as_such(void** state)
{
    (void)state;
    flx_context*       ctx   = test_context(1);
    flx_trial_bench    bench = open_bench(ctx, "S2", 6);
    flx_reduced_model *model = train(&bench, FLX_REDUCTION_SECS, 4, 20), *back = NULL;
    const char*        path = scratch_path();
    CHECK_OK(flx__model_file_write(model, path, true));
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0); // where the header says its version
    assert_int_equal(fputc(1, file), 1);
    fclose(file);
    CHECK_FAILS(flx__model_file_read(ctx, path, NULL, &back), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "format version 1"));
    unlink(path);
    close_all(ctx, &bench, model);
}

// --- memory --------------------------------------------------------------------------------------------------

static flx_status everything(const flx_trial_bench* bench, flx_reduction method)
{
    flx_status            status  = FLX_OK;
    flx_reduction_options options = flx__reduction_options_default(method, 3);
    flx_reduced_model*    model   = NULL;
    flx_reduced_solver*   solver  = NULL;
    options.elements              = 8;
    options.force                 = true;
    FLX_TRY(flx__trial_train(bench, &options, &model));
    FLX_TRY(flx__reduced_solver_create(bench->experiment->system, model, &solver));
done:
    flx__reduced_solver_destroy(solver);
    flx__reduced_model_destroy(model);
    return status;
}

static void every_refused_allocation_is_reported_and_nothing_is_lost(void** state)
{
    (void)state;
    flx_context*    ctx   = test_context(1);
    flx_trial_bench bench = open_bench(ctx, "B2", 5);
    const int64_t   held  = flx_context_bytes_now(ctx);
    for (int method = 0; method < FLX_REDUCTION_COUNT; ++method)
        for (int64_t k = 0;; ++k)
        {
            flx_context_fail_allocation(ctx, k);
            const flx_status status = everything(&bench, (flx_reduction)method);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            if (status == FLX_OK) break;
            if (status != FLX_ERR_MEMORY)
                fail_msg("%s, allocation %lld: %s", flx__reduction_name((flx_reduction)method), (long long)k,
                         flx_context_error(ctx));
        }
    close_all(ctx, &bench, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_comes_back_from_its_file_bit_for_bit),
        cmocka_unit_test(a_model_of_another_mesh_is_refused),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(a_file_of_another_layout_is_refused_as_such),
        cmocka_unit_test(every_refused_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
