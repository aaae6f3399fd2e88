// Promises of sparse/factor_cache.h: a found order or factor has the bits of a new one; small systems are left alone.
#include "test.h"

#include "matrices.h"
#include "sparse/factor_cache.h"
#include "sparse/factor_internal.h"

#include <dirent.h>

static char  folder[256];
static edges large; // 22815 unknowns, a little more than what is kept

static flx_context* cache_context(int32_t workers)
{
    flx_context_desc desc = flx_context_desc_default();
    flx_context*     ctx  = NULL;
    desc.worker_count     = workers;
    desc.cache_dir        = folder;
    if (flx_context_create(&desc, &ctx) != FLX_OK) fail_msg("no context");
    return ctx;
}

/// Count the files, and remove them, or flip a byte at `flip_at`.
static int for_files(bool remove_them, long flip_at)
{
    int  count = 0;
    DIR* d     = opendir(folder);
    for (struct dirent* e; d && (e = readdir(d));)
    {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.') continue;
        ++count;
        if (remove_them) assert_int_equal(unlink(path), 0);
        if (flip_at < 0) continue;
        FILE* f = fopen(path, "r+b");
        fseek(f, flip_at, SEEK_SET);
        const int byte = fgetc(f);
        fseek(f, flip_at, SEEK_SET);
        fputc(byte ^ 64, f);
        fclose(f);
    }
    if (d) closedir(d);
    return count;
}

static int make_matrices(void** state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/flexor-factors-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    large = edges_lattice(22, 22, 22, NULL, NULL);
    for (int32_t v = 0; v < large.n; ++v) large.diagonal[v] += 0.01;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_matrices(void** state)
{
    (void)state;
    edges_free(&large);
    for_files(true, -1);
    return rmdir(folder);
}

// --- orders -------------------------------------------------------------------------------------------------

static void an_order_is_found_again_for_the_same_graph_and_flags_only(void** state)
{
    (void)state;
    flx_context* plain = test_context(1);
    flx_context* ctx   = cache_context(2);
    flx_graph    graph = edges_graph(&large);
    uint8_t*     prone = calloc((size_t)large.n, 1);
    int32_t*     order[3];
    for (int k = 0; k < 3; ++k) order[k] = malloc((size_t)large.n * sizeof **order);
    for (int32_t v = 0; v < 500; ++v) prone[v * 3] = 1;

    assert_int_equal(flx__order_nested_dissection(plain, &graph, prone, order[0]), FLX_OK);
    assert_int_equal(for_files(false, -1), 0);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order[1]));
    assert_int_equal(for_files(false, -1), 1);
    flx__cache_entry entry;
    assert_true(flx__order_load(ctx, &graph, prone, order[2], &entry));
    assert_memory_equal(order[0], order[1], (size_t)large.n * sizeof **order);
    assert_memory_equal(order[0], order[2], (size_t)large.n * sizeof **order);

    prone[1] = 1;
    assert_false(flx__order_load(ctx, &graph, prone, order[2], &entry));
    assert_false(flx__order_load(ctx, &graph, NULL, order[2], &entry));
    prone[1]           = 0;
    const int32_t keep = graph.adjacent[5];
    graph.adjacent[5]  = keep + 1;
    assert_false(flx__order_load(ctx, &graph, prone, order[2], &entry));
    graph.adjacent[5] = keep;

    for_files(false, 5000);
    memset(order[2], 0, (size_t)large.n * sizeof **order);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order[2]));
    assert_memory_equal(order[0], order[2], (size_t)large.n * sizeof **order);
    assert_true(flx__order_load(ctx, &graph, prone, order[2], &entry)); // replaced

    // a sound file of an order that is none: written by nobody, but it must not lead out of an array
    order[2][7] = large.n;
    flx__order_save(ctx, &entry);
    assert_false(flx__order_load(ctx, &graph, prone, order[2], &entry));
    order[2][7] = order[2][8];
    flx__order_save(ctx, &entry);
    assert_false(flx__order_load(ctx, &graph, prone, order[2], &entry));

    for (int k = 0; k < 3; ++k) free(order[k]);
    free(prone);
    graph_free(&graph);
    for_files(true, -1);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
    flx_context_destroy(plain);
}

// --- factors ------------------------------------------------------------------------------------------------

static flx_csc nested(const edges* e)
{
    flx_context* ctx   = test_context(1);
    flx_graph    graph = edges_graph(e);
    int32_t*     order = malloc((size_t)e->n * sizeof *order);
    uint8_t*     prone = calloc((size_t)e->n, 1);
    memset(prone, 1, 100);
    CHECK_OK(flx__order_nested_dissection(ctx, &graph, prone, order));
    const flx_csc a = edges_matrix(e, order);
    free(order);
    free(prone);
    graph_free(&graph);
    flx_context_destroy(ctx);
    return a;
}

/// What a caller does: find it, or make it and keep it. *made: whether it was made. The hash is of panels and Sigma.
static flx_status hash_of_factor(flx_context* ctx, const flx_csc* a, bool single, bool* made, uint64_t* hash)
{
    flx_status         status  = FLX_OK;
    flx_factor*        f       = NULL;
    const int64_t      n2      = 100;
    flx_factor_keep    keep    = {.what = 1, .beside_bytes = n2 * n2 * (int64_t)sizeof(double)};
    flx_factor_options options = {.single = single, .keep_double = !single, .keep = &keep};
    FLX_TRY(flx__factor_create(ctx, a, a->n - (int32_t)n2, &options, NULL, &f));
    *made = !keep.beside;
    if (*made)
    {
        keep.beside = flx__factor_take_schur(f);
        flx__factor_save(f, &keep, keep.beside);
    }
    const flx__panels* p = &f->panels;
    *hash = flx__hash(FLX_HASH_START, single ? (void*)p->single : (void*)p->twice, p->length * (single ? 4 : 8));
    *hash = flx__hash(*hash, keep.beside, keep.beside_bytes);
done:
    flx__free(ctx, keep.beside);
    flx__factor_destroy(f);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    return status;
}

static void check_factor(flx_context* ctx, const flx_csc* a, bool single, bool should_be_made, uint64_t expected)
{
    bool     made = false;
    uint64_t hash = 0;
    CHECK_OK(hash_of_factor(ctx, a, single, &made, &hash));
    assert_int_equal(made, should_be_made);
    assert_true(hash == expected);
}

static void a_factor_is_found_again_bit_for_bit(void** state)
{
    (void)state;
    flx_context* plain = test_context(1);
    flx_context* ctx   = cache_context(2);
    flx_csc      a     = nested(&large);
    bool         made  = false;
    uint64_t     hash[2];
    for (int single = 0; single < 2; ++single)
    {
        assert_int_equal(hash_of_factor(plain, &a, single, &made, &hash[single]), FLX_OK);
        check_factor(ctx, &a, single, true, hash[single]);
        check_factor(ctx, &a, single, false, hash[single]);
        assert_int_equal(for_files(false, -1), single + 1);
    }
    for_files(false, 3000000); // in the panels
    check_factor(ctx, &a, true, true, hash[1]);
    check_factor(ctx, &a, true, false, hash[1]);
    for_files(false, 60); // in the header
    check_factor(ctx, &a, true, true, hash[1]);
    check_factor(ctx, &a, true, false, hash[1]);

    uint64_t other = 0;
    a.value[0]     = nextafter(a.value[0], 1e9); // the last bit of one entry
    CHECK_OK(hash_of_factor(ctx, &a, true, &made, &other));
    assert_true(made);

    csc_free(&a);
    for_files(true, -1);
    flx_context_destroy(ctx);
    flx_context_destroy(plain);
}

static void small_systems_and_those_that_fail_are_not_kept(void** state)
{
    (void)state;
    flx_context* ctx   = cache_context(1);
    edges        small = edges_lattice(6, 6, 6, NULL, NULL);
    bool         made  = false;
    uint64_t     hash  = 0;
    for (int32_t v = 0; v < small.n; ++v) small.diagonal[v] += 0.01;
    flx_csc a = nested(&small);
    CHECK_OK(hash_of_factor(ctx, &a, true, &made, &hash));
    csc_free(&a);
    edges_free(&small);

    a                   = nested(&large);
    a.value[a.first[9]] = 1e-3; // indefinite
    CHECK_FAILS(hash_of_factor(ctx, &a, true, &made, &hash), FLX_ERR_UNHELD);
    assert_int_equal(for_files(false, -1), 0);
    csc_free(&a);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_or_does_without(void** state)
{
    (void)state;
    flx_context* ctx  = cache_context(1);
    flx_csc      a    = nested(&large);
    bool         made = false;
    uint64_t     hash = 0, again = 0;
    CHECK_OK(hash_of_factor(ctx, &a, true, &made, &hash));
    int64_t failed = 0, without = 0;
    for (int64_t countdown = 0;; ++countdown) // of a factor that is there
    {
        flx_context_fail_allocation(ctx, countdown);
        const flx_status status = hash_of_factor(ctx, &a, true, &made, &again);
        flx_context_fail_allocation(ctx, -1);
        if (status != FLX_OK)
        {
            assert_int_equal(status, FLX_ERR_MEMORY);
            ++failed;
            continue;
        }
        assert_true(again == hash);
        if (!made) break;
        ++without;
    }
    assert_true(failed > 20 && without == 0);
    csc_free(&a);
    for_files(true, -1);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_found_again_for_the_same_graph_and_flags_only),
        cmocka_unit_test(a_factor_is_found_again_bit_for_bit),
        cmocka_unit_test(small_systems_and_those_that_fail_are_not_kept),
        cmocka_unit_test(every_failed_allocation_is_reported_or_does_without),
    };
    return cmocka_run_group_tests(tests, make_matrices, drop_matrices);
}
