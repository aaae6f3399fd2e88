// Promises of base/cache.h: what was kept comes back bit for bit or not at all, and the folder may do what it likes.
#include "test.h"

#include "base/cache.h"

#include <dirent.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>

enum
{
    NUMBERS = 3000000, // 24 MB: several pieces, the last one not full
    LETTERS = 77
};

static char    folder[256], cache_dir[300];
static char    said[1024]; // the log's last line
static int     warnings, notices;
static double* numbers;
static char    letters[LETTERS];

static void hear(void* user, flx_log_level level, const char* text)
{
    (void)user;
    warnings += level == FLX_LOG_WARNING;
    notices += level == FLX_LOG_NOTICE;
    snprintf(said, sizeof said, "%s", text);
}

static flx_context* cache_context(const char* dir, int64_t limit)
{
    flx_context_desc desc = flx_context_desc_default();
    flx_context*     ctx  = NULL;
    desc.worker_count     = 2;
    desc.cache_dir        = dir;
    desc.log              = hear;
    if (limit > 0) desc.cache_bytes = limit;
    if (flx_context_create(&desc, &ctx) != FLX_OK) fail_msg("no context");
    warnings = notices = 0;
    return ctx;
}

static void empty_folder(const char* path)
{
    DIR* d = opendir(path);
    for (struct dirent* e; d && (e = readdir(d));)
    {
        char inner[600];
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.') continue;
        if (unlink(inner) != 0 && rmdir(inner) != 0)
        {
            empty_folder(inner);
            rmdir(inner);
        }
    }
    if (d) closedir(d);
}

static int open_folder(void** state)
{
    (void)state;
    uint64_t seed = 1;
    snprintf(folder, sizeof folder, "%s/flexor-cache-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(cache_dir, sizeof cache_dir, "%s/deep/below", folder); // two folders that are not there yet
    numbers = malloc(NUMBERS * sizeof *numbers);
    for (int i = 0; i < NUMBERS; ++i) numbers[i] = test_random(&seed);
    for (int i = 0; i < LETTERS; ++i) letters[i] = (char)i;
    return 0;
}

static int close_folder(void** state)
{
    (void)state;
    free(numbers);
    empty_folder(folder);
    return rmdir(folder);
}

/// All of it, or only the letters.
static flx__cache_entry entry_of(uint64_t key, double* some_numbers, char* some_letters)
{
    flx__cache_entry e = {.kind = "test", .key = {{key, 7}}, .part_count = some_numbers ? 2 : 1};
    e.part[0]          = (flx__cache_part){some_letters, LETTERS};
    e.part[1]          = (flx__cache_part){some_numbers, NUMBERS * (int64_t)sizeof *numbers};
    return e;
}

static void keep(flx_context* ctx, uint64_t key, bool all)
{
    const flx__cache_entry e = entry_of(key, all ? numbers : NULL, letters);
    flx__cache_write(ctx, &e);
}

/// Whether it is found, and then as it was.
static bool found(flx_context* ctx, uint64_t key, bool all)
{
    double*          some_numbers          = all ? malloc(NUMBERS * sizeof *numbers) : NULL;
    char             some_letters[LETTERS] = {0};
    flx__cache_entry e                     = entry_of(key, some_numbers, some_letters);
    const bool       good                  = flx__cache_open(ctx, &e) && flx__cache_read(ctx, &e);
    if (good)
    {
        assert_memory_equal(some_letters, letters, LETTERS);
        assert_true(!all || memcmp(some_numbers, numbers, NUMBERS * sizeof *numbers) == 0);
    }
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    assert_int_equal(e.descriptor, -1);
    free(some_numbers);
    return good;
}

static const char* file_of(uint64_t key)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/test-%016llx%016llx.flexor-cache", cache_dir, (unsigned long long)key, 7ULL);
    return path;
}

static int64_t size_of(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

static void flip(const char* path, int64_t at)
{
    FILE* f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    const int byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 1, f);
    fclose(f);
}

static void what_was_kept_is_found_by_other_contexts(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(cache_dir, 0);
    assert_false(found(ctx, 1, true));
    keep(ctx, 1, true);
    assert_true(found(ctx, 1, true));
    assert_false(found(ctx, 2, true));
    flx_context_destroy(ctx);
    ctx = cache_context(cache_dir, 0);
    assert_true(found(ctx, 1, true));
    assert_int_equal(warnings + notices, 0);
    flx_context_destroy(ctx);
}

static void without_a_folder_nothing_is_kept(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(NULL, 0);
    assert_false(flx__cache_wanted(ctx));
    keep(ctx, 1, false);
    assert_false(found(ctx, 1, false));
    assert_int_equal(warnings + notices, 0);
    flx_context_destroy(ctx);
}

static void any_damaged_byte_is_seen_warned_of_once_and_repaired(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(cache_dir, 0);
    keep(ctx, 3, false);
    const int64_t bytes = size_of(file_of(3));
    assert_in_range(bytes, LETTERS, LETTERS + 200);
    for (int64_t at = 0; at < bytes; ++at)
    {
        flip(file_of(3), at);
        warnings = 0;
        if (found(ctx, 3, false)) fail_msg("byte %lld is wrong and nobody noticed", (long long)at);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(said, file_of(3)));
        keep(ctx, 3, false); // as the caller does who made it anew
        assert_true(found(ctx, 3, false));
        assert_int_equal(warnings, 1);
    }
    keep(ctx, 4, true); // a byte in each piece of a large one
    for (int64_t at = 1000; at < size_of(file_of(4)); at += 4 << 20)
    {
        flip(file_of(4), at);
        assert_false(found(ctx, 4, true));
        flip(file_of(4), at);
    }
    assert_true(found(ctx, 4, true));
    assert_int_equal(notices, 0);
    flx_context_destroy(ctx);
}

static void a_file_of_any_other_length_is_refused(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(cache_dir, 0);
    keep(ctx, 5, false);
    const int64_t bytes = size_of(file_of(5));
    for (int64_t length = bytes + 3; length >= 0; --length)
    {
        if (length == bytes) continue;
        keep(ctx, 5, false);
        assert_int_equal(truncate(file_of(5), length), 0);
        warnings = 0;
        assert_false(found(ctx, 5, false));
        assert_int_equal(warnings, 1);
    }
    flx_context_destroy(ctx);
}

static void other_versions_sizes_and_strange_things_are_refused(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(cache_dir, 0);
    keep(ctx, 6, false);
    flip(file_of(6), 8); // the format's number follows the eight bytes of magic
    assert_false(found(ctx, 6, false));
    assert_non_null(strstr(said, "another version"));

    keep(ctx, 6, false); // a whole file, but not of what is wanted
    assert_false(found(ctx, 6, true));
    keep(ctx, 7, false);
    char from[400];
    snprintf(from, sizeof from, "%s", file_of(6));
    assert_int_equal(rename(from, file_of(7)), 0); // another key's
    assert_false(found(ctx, 7, false));

    FILE* f = fopen(file_of(6), "w");
    for (int i = 0; i < 1000; ++i) fputs("this is a diary\n", f);
    fclose(f);
    assert_false(found(ctx, 6, false));
    assert_non_null(strstr(said, "not a file of this cache"));

    assert_int_equal(unlink(file_of(6)), 0);
    assert_int_equal(mkfifo(file_of(6), 0600), 0); // nobody writes to it: reading must not wait
    assert_false(found(ctx, 6, false));
    assert_int_equal(unlink(file_of(6)), 0);
    assert_int_equal(mkdir(file_of(6), 0700), 0);
    assert_false(found(ctx, 6, false));
    assert_int_equal(warnings, 6);
    assert_int_equal(notices, 0);
    keep(ctx, 6, false); // a folder is not replaced
    assert_int_equal(notices, 1);
    assert_int_equal(rmdir(file_of(6)), 0);
    flx_context_destroy(ctx);
}

static void where_nothing_can_be_written_is_said_once(void** state)
{
    (void)state;
    char inside[400];
    snprintf(inside, sizeof inside, "%s/file", folder);
    FILE* f = fopen(inside, "w");
    fclose(f);
    snprintf(inside, sizeof inside, "%s/file/flexor", folder); // a file is where the folder should be
    for (int twice = 0; twice < 2; ++twice)
    {
        flx_context* ctx = cache_context(twice ? "/dev/full/flexor" : inside, 0);
        keep(ctx, 1, false);
        keep(ctx, 2, false);
        assert_false(found(ctx, 1, false));
        assert_int_equal(notices, 1);
        assert_int_equal(warnings, 0);
        flx_context_destroy(ctx);
    }
    if (geteuid() == 0) return; // the superuser may write everywhere
    flx_context* ctx = cache_context(cache_dir, 0);
    keep(ctx, 1, false);
    assert_int_equal(chmod(cache_dir, 0500), 0);
    keep(ctx, 8, false);
    assert_true(found(ctx, 1, false)); // reading goes on
    assert_false(found(ctx, 8, false));
    assert_int_equal(notices, 1);
    assert_int_equal(chmod(cache_dir, 0700), 0);
    flx_context_destroy(ctx);
}

static void a_folder_may_be_deleted_at_any_time(void** state)
{
    (void)state;
    flx_context*     ctx          = cache_context(cache_dir, 0);
    double*          some_numbers = malloc(NUMBERS * sizeof *numbers);
    char             some_letters[LETTERS];
    flx__cache_entry e = entry_of(9, some_numbers, some_letters);
    keep(ctx, 9, true);
    assert_true(flx__cache_open(ctx, &e));
    empty_folder(folder);
    assert_true(flx__cache_read(ctx, &e)); // an open file stays
    assert_memory_equal(some_numbers, numbers, NUMBERS * sizeof *numbers);
    assert_false(found(ctx, 9, true));
    keep(ctx, 9, true);
    assert_true(found(ctx, 9, true));
    assert_int_equal(warnings + notices, 0);
    free(some_numbers);
    flx_context_destroy(ctx);
}

static void set_age(const char* path, int seconds)
{
    const struct utimbuf then = {time(NULL) - seconds, time(NULL) - seconds};
    assert_int_equal(utime(path, &then), 0);
}

static void the_longest_unused_make_room_and_nothing_else_is_touched(void** state)
{
    (void)state;
    empty_folder(cache_dir);
    flx_context* ctx = cache_context(cache_dir, 1000); // five of 189 bytes
    for (uint64_t key = 1; key <= 5; ++key)
    {
        keep(ctx, key, false);
        set_age(file_of(key), 100 - (int)key);
    }
    char mine[500], alive[500], killed[500];
    snprintf(mine, sizeof mine, "%s/mine.txt", cache_dir);
    snprintf(alive, sizeof alive, "%s.99-0.part", file_of(6));
    snprintf(killed, sizeof killed, "%s.98-0.part", file_of(6));
    const char* const others[] = {mine, killed, alive};
    for (int i = 0; i < 3; ++i)
    {
        FILE* f = fopen(others[i], "w");
        fclose(f);
        if (i < 2) set_age(others[i], 200000); // two days
    }
    assert_true(found(ctx, 1, false)); // used: 2 is the oldest now
    keep(ctx, 6, false);
    for (uint64_t key = 1; key <= 6; ++key) assert_int_equal(size_of(file_of(key)) > 0, key != 2);
    assert_int_equal(size_of(mine), 0);
    assert_int_equal(size_of(alive), 0);
    assert_int_equal(size_of(killed), -1); // what a killed run left
    keep(ctx, 7, true);                    // larger than all that is allowed
    assert_int_equal(size_of(file_of(7)), -1);
    assert_true(size_of(file_of(1)) > 0);
    assert_int_equal(warnings + notices, 0);
    flx_context_destroy(ctx);
    assert_int_equal(unlink(mine), 0);
}

static void processes_at_once_see_whole_files_only(void** state)
{
    (void)state;
    enum
    {
        PROCESSES = 3
    };
    pid_t child[PROCESSES];
    for (int k = 0; k < PROCESSES; ++k)
    {
        child[k] = fork();
        if (child[k] != 0) continue;
        // room for one large file: each drives the others' out all the time
        flx_context* ctx  = cache_context(cache_dir, NUMBERS * (int64_t)sizeof *numbers + 1000);
        int          hits = 0;
        for (int i = 0; i < 15; ++i)
        {
            keep(ctx, 10 + (uint64_t)(k + i) % 2, true);
            hits += found(ctx, 10 + (uint64_t)i % 2, true);
        }
        _exit(warnings == 0 && notices == 0 && hits >= 0 ? 0 : 1);
    }
    for (int k = 0; k < PROCESSES; ++k)
    {
        int status = 0;
        assert_int_equal(waitpid(child[k], &status, 0), child[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void without_memory_there_is_no_cache(void** state)
{
    (void)state;
    flx_context* ctx = cache_context(cache_dir, 0);
    keep(ctx, 12, false);
    int64_t countdown = 0;
    for (bool good = false; !good; ++countdown)
    {
        flx_context_fail_allocation(ctx, countdown);
        good = found(ctx, 12, false);
        flx_context_fail_allocation(ctx, -1);
    }
    assert_in_range(countdown, 3, 10); // the path and the digests of the pieces
    for (countdown = 0; size_of(file_of(13)) < 0; ++countdown)
    {
        flx_context_destroy(ctx);
        ctx = cache_context(cache_dir, 0);
        flx_context_fail_allocation(ctx, countdown);
        keep(ctx, 13, false);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_in_range(countdown, 4, 20);
    assert_int_equal(warnings, 0);
    flx_context_destroy(ctx);
}

static void digests_tell_contents_lengths_and_parts_apart(void** state)
{
    (void)state;
    unsigned char text[200] = {0};
    flx__digest   seen[1600 + 200];
    int           count = 0;
    for (int length = 0; length < 200; ++length) // zeros of every length
    {
        seen[count] = (flx__digest){0};
        flx__digest_add(&seen[count++], text, length);
    }
    for (int bit = 0; bit < 1600; ++bit)
    {
        text[bit / 8] ^= (unsigned char)(1 << bit % 8);
        seen[count] = (flx__digest){0};
        flx__digest_add(&seen[count++], text, 200);
        text[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < i; ++j)
            assert_true(seen[i].word[0] != seen[j].word[0] && seen[i].word[1] != seen[j].word[1]);
    flx__digest once = {0}, twice = {0};
    flx__digest_add(&once, text, 200);
    flx__digest_add(&twice, text, 100);
    flx__digest_add(&twice, text + 100, 100);
    assert_true(once.word[0] != twice.word[0] && once.word[1] != twice.word[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_found_by_other_contexts),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
        cmocka_unit_test(any_damaged_byte_is_seen_warned_of_once_and_repaired),
        cmocka_unit_test(a_file_of_any_other_length_is_refused),
        cmocka_unit_test(other_versions_sizes_and_strange_things_are_refused),
        cmocka_unit_test(where_nothing_can_be_written_is_said_once),
        cmocka_unit_test(a_folder_may_be_deleted_at_any_time),
        cmocka_unit_test(the_longest_unused_make_room_and_nothing_else_is_touched),
        cmocka_unit_test(processes_at_once_see_whole_files_only),
        cmocka_unit_test(without_memory_there_is_no_cache),
        cmocka_unit_test(digests_tell_contents_lengths_and_parts_apart),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
