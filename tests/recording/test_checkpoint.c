#include "fixture.h"

#include <signal.h>
#include <sys/resource.h>

#include "recording/sealed.h"

#define PAYLOAD 3001

static void fill(unsigned char* payload, int seed)
{
    for (int i = 0; i < PAYLOAD; ++i) payload[i] = (unsigned char)(i * 31 + i / 256 + seed);
}

static flx_status load(flx_context* ctx, const char* path, unsigned char* out)
{
    char*            block   = NULL;
    const void*      payload = NULL;
    int64_t          bytes   = 0;
    const flx_status status  = flx__checkpoint_load(ctx, path, &block, &payload, &bytes);
    if (status == FLX_OK && bytes == PAYLOAD && out) memcpy(out, payload, PAYLOAD);
    if (status == FLX_OK && bytes != PAYLOAD) fail_msg("%lld bytes came back", (long long)bytes);
    if (status != FLX_OK && (block || payload || bytes)) fail_msg("a failed load left something");
    flx__free(ctx, block);
    return status;
}

static void a_state_comes_back_as_it_was_saved(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx = p.ctx;
    unsigned char saved[PAYLOAD], back[PAYLOAD];
    for (int k = 0; k < 3; ++k) // the newest replaces the one before
    {
        fill(saved, k);
        CHECK_OK(flx__checkpoint_save(ctx,
                                      in(&p, "Pr\xC3\xBC"
                                             "f 1 %d.flx"),
                                      0.5, 12, saved, PAYLOAD));
        CHECK_OK(load(ctx,
                      in(&p, "Pr\xC3\xBC"
                             "f 1 %d.flx"),
                      back));
        assert_memory_equal(back, saved, PAYLOAD);
    }
    assert_int_equal(count_names(p.folder, ""), 1);
    CHECK_FAILS(load(ctx, in(&p, "none"), NULL), FLX_ERR_IO);
    CHECK_FAILS(flx__checkpoint_save(ctx, in(&p, "no/such"), 0, 0, saved, PAYLOAD), FLX_ERR_IO);
    place_close(&p);
}

static void the_header_is_as_documented(void** state)
{
    (void)state;
    static const unsigned char expected[64] = {
        'F', 'L', 'X', 'S', 'T', 'A', 'T',  'E',  1, 0, 0, 0, 0, 2, 0, 0, // version 1, 512 bytes
        2,   0,   0,   0,   0,   0,   0,    0,                            // payload bytes
        0,   0,   0,   0,   0,   0,   0,    0,                            // checksum, compared below
        0,   0,   0,   0,   0,   0,   0,    0,                            // model hash
        0,   0,   0,   0,   0,   0,   0xE0, 0x3F,                         // 0.5 s
        12,  0,   0,   0,   0,   0,   0,    0                             // step
    };
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, "ab", 2));
    long           bytes;
    unsigned char* file = slurp(in(&p, "c"), &bytes);
    assert_int_equal(bytes, FLX__SEAL_BYTES + 2);
    assert_memory_equal(file, expected, 24);
    assert_memory_equal(file + 32, expected + 32, 24);
    assert_memory_equal(file + FLX__SEAL_BYTES, "ab", 2);
    const uint64_t sum = flx__checksum("ab", 2);
    for (int i = 0; i < 8; ++i) assert_int_equal(file[24 + i], sum >> (8 * i) & 255);
    for (int i = 64; i < FLX__SEAL_BYTES; ++i) assert_int_equal(file[i], 0);
    free(file);
    place_close(&p);
}

static void the_checksum_sees_every_bit_and_the_order_of_words(void** state)
{
    (void)state;
    unsigned char data[200];
    uint64_t      seen[1 + 8 * sizeof data];
    int           count = 0;
    for (int i = 0; i < 200; ++i) data[i] = (unsigned char)(i < 100 ? i * 31 + 1 : 0);
    seen[count++] = flx__checksum(data, sizeof data);
    for (size_t bit = 0; bit < 8 * sizeof data; ++bit)
    {
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        seen[count++] = flx__checksum(data, sizeof data);
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < i; ++k) assert_true(seen[i] != seen[k]);
    for (int64_t n = 100; n < 200; ++n) // zeros more or less at the end
        assert_true(flx__checksum(data, n) != flx__checksum(data, n + 1 > 200 ? 99 : n + 1));
    unsigned char other[200];
    memcpy(other, data, sizeof data);
    memcpy(other, data + 32, 32), memcpy(other + 32, data, 32);
    assert_true(flx__checksum(other, 200) != flx__checksum(data, 200));
    memcpy(other, data, sizeof data);
    memcpy(other, data + 8, 8), memcpy(other + 8, data, 8);
    assert_true(flx__checksum(other, 200) != flx__checksum(data, 200));
}

static void a_checkpoint_cut_at_any_byte_is_refused(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx = p.ctx;
    unsigned char saved[PAYLOAD];
    fill(saved, 0);
    CHECK_OK(flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, saved, PAYLOAD));
    long           bytes;
    unsigned char* whole = slurp(in(&p, "c"), &bytes);
    for (long n = 0; n < bytes; ++n)
    {
        spill(in(&p, "c"), whole, n);
        CHECK_FAILS(load(ctx, in(&p, "c"), NULL), FLX_ERR_FORMAT);
        if (n >= 8) assert_non_null(strstr(flx_context_error(ctx), "cut short"));
    }
    whole = realloc(whole, (size_t)bytes + 1);
    spill(in(&p, "c"), whole, bytes + 1);
    CHECK_FAILS(load(ctx, in(&p, "c"), NULL), FLX_ERR_FORMAT);
    free(whole);
    place_close(&p);
}

static void a_flipped_bit_is_noticed_wherever_it_is(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx = p.ctx;
    unsigned char saved[PAYLOAD];
    fill(saved, 0);
    CHECK_OK(flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, saved, PAYLOAD));
    long           bytes;
    unsigned char* whole = slurp(in(&p, "c"), &bytes);
    for (long i = 0; i < bytes; ++i)
    {
        if (i >= 64 && i < FLX__SEAL_BYTES) continue; // unused
        whole[i] ^= (unsigned char)(1 << i % 8);
        spill(in(&p, "c"), whole, bytes);
        CHECK_FAILS(load(ctx, in(&p, "c"), NULL), FLX_ERR_FORMAT);
        whole[i] ^= (unsigned char)(1 << i % 8);
    }
    free(whole);
    place_close(&p);
}

static void other_files_are_called_what_they_are(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    spill(in(&p, "text"), "v 0 0 0\nv 1 0 0\n", 16);
    CHECK_FAILS(load(ctx, in(&p, "text"), NULL), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "is not a Flexor checkpoint"));
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 1, false, false)); // the same seal, another kind
    CHECK_FAILS(load(ctx, in(&p, "run.frames/frame_000000.h5"), NULL), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "is not a Flexor checkpoint"));

    CHECK_OK(flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, "ab", 2));
    long           bytes;
    unsigned char* whole = slurp(in(&p, "c"), &bytes);
    whole[8]             = 2;
    spill(in(&p, "c"), whole, bytes);
    CHECK_FAILS(load(ctx, in(&p, "c"), NULL), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "version 2; this program reads version 1"));
    free(whole);
    place_close(&p);
}

static void save_for_ever(const char* path)
{
    flx_context*   ctx     = test_context(1);
    const size_t   bytes   = 400000; // several writes
    unsigned char* payload = malloc(bytes);
    for (int k = 0;; k = (k + 1) & 255)
    {
        memset(payload, k, bytes);
        if (flx__checkpoint_save(ctx, path, k, k, payload, (int64_t)bytes) != FLX_OK) _exit(1);
    }
}

static void killed_at_any_instant_there_is_the_old_one_or_the_new_one(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx  = p.ctx;
    uint64_t     seed = 99;
    int          seen = 0;
    for (int round = 0; round < 60; ++round)
    {
        const pid_t child = fork();
        if (child == 0) save_for_ever(in(&p, "c"));
        usleep((useconds_t)(test_random(&seed) * 20000));
        kill(child, SIGKILL);
        int how = 0;
        waitpid(child, &how, 0);
        assert_true(WIFSIGNALED(how));
        if (!exists(in(&p, "c"))) continue;
        char*       block   = NULL;
        const void* payload = NULL;
        int64_t     bytes   = 0;
        CHECK_OK(flx__checkpoint_load(ctx, in(&p, "c"), &block, &payload, &bytes));
        assert_int_equal(bytes, 400000);
        for (int64_t i = 1; i < bytes; ++i)
            if (((const char*)payload)[i] != *(const char*)payload) fail_msg("a mixture");
        flx__free(ctx, block);
        ++seen;
    }
    assert_true(seen > 20);
    place_close(&p);
}

static void without_room_for_the_new_one_the_old_one_stays(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx = p.ctx;
    unsigned char saved[PAYLOAD], other[PAYLOAD], back[PAYLOAD];
    fill(saved, 0);
    fill(other, 1);
    CHECK_OK(flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, saved, PAYLOAD));
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small            = before;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < PAYLOAD + FLX__SEAL_BYTES; limit += 500)
    {
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        const flx_status status = flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, other, PAYLOAD);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, FLX_ERR_IO);
        assert_int_equal(count_names(p.folder, ""), 1);
        CHECK_OK(load(ctx, in(&p, "c"), back));
        assert_memory_equal(back, saved, PAYLOAD);
    }
    signal(SIGXFSZ, old);
    if (exists("/dev/full"))
    {
        CHECK_FAILS(flx__checkpoint_save(ctx, "/dev/full", 0.5, 12, saved, PAYLOAD), FLX_ERR_IO);
        assert_non_null(strstr(flx_context_error(ctx), "disk is full"));
    }
    place_close(&p);
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx = p.ctx;
    unsigned char saved[PAYLOAD];
    fill(saved, 0);
    int64_t n = 0;
    for (; n < 100; ++n)
    {
        flx_context_fail_allocation(ctx, n);
        flx_status status = flx__checkpoint_save(ctx, in(&p, "c"), 0.5, 12, saved, PAYLOAD);
        if (status == FLX_OK) status = load(ctx, in(&p, "c"), NULL);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_true(count_names(p.folder, "") == exists(in(&p, "c")));
    }
    assert_in_range(n, 3, 99);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_comes_back_as_it_was_saved),
        cmocka_unit_test(the_header_is_as_documented),
        cmocka_unit_test(the_checksum_sees_every_bit_and_the_order_of_words),
        cmocka_unit_test(a_checkpoint_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_flipped_bit_is_noticed_wherever_it_is),
        cmocka_unit_test(other_files_are_called_what_they_are),
        cmocka_unit_test(killed_at_any_instant_there_is_the_old_one_or_the_new_one),
        cmocka_unit_test(without_room_for_the_new_one_the_old_one_stays),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
