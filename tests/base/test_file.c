// Promises of base/file.h: whole or not at all, reasons told apart, numbers with a point in every locale.
#include "test.h"

#include "base/file.h"

#include <dirent.h>
#include <locale.h>

static flx_context* ctx;
static char         folder[256];

static int open_folder(void** state)
{
    (void)state;
    ctx = test_context(1);
    snprintf(folder, sizeof folder, "%s/flexor-file-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int entry_count(void)
{
    DIR* d = opendir(folder);
    int  n = 0;
    for (struct dirent* e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int close_folder(void** state)
{
    (void)state;
    DIR* d = opendir(folder);
    for (struct dirent* e; (e = readdir(d));)
    {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    closedir(d);
    rmdir(folder);
    const int64_t held = flx_context_bytes_now(ctx);
    flx_context_destroy(ctx);
    return held == 0 ? 0 : -1;
}

static const char* in_folder(const char* name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char* name, const char* text, bool overwrite)
{
    flx_file* file = NULL;
    CHECK_OK(flx__file_begin(ctx, in_folder(name), overwrite, &file));
    CHECK_OK(flx__file_write(file, text, (int64_t)strlen(text)));
    CHECK_OK(flx__file_commit(file));
}

static void check_text(const char* name, const char* text)
{
    char*   data  = NULL;
    int64_t bytes = 0;
    CHECK_OK(flx__file_read_all(ctx, in_folder(name), &data, &bytes));
    assert_int_equal(bytes, strlen(text));
    assert_string_equal(data, text);
    flx__free(ctx, data);
}

static void appears_at_commit_and_not_before(void** state)
{
    (void)state;
    flx_file* file = NULL;
    CHECK_OK(flx__file_begin(ctx, in_folder("a b ö.txt"), false, &file));
    CHECK_OK(flx__file_printf(file, "%s %d", "one", 1));
    assert_int_not_equal(access(in_folder("a b ö.txt"), F_OK), 0);
    CHECK_OK(flx__file_commit(file));
    check_text("a b ö.txt", "one 1");
    assert_int_equal(entry_count(), 1);
}

static void abort_leaves_nothing(void** state)
{
    (void)state;
    flx_file* file = NULL;
    CHECK_OK(flx__file_begin(ctx, in_folder("x"), false, &file));
    CHECK_OK(flx__file_printf(file, "half"));
    flx__file_abort(file);
    flx__file_abort(NULL);
    assert_int_equal(entry_count(), 0);
}

static void does_not_overwrite_unless_asked(void** state)
{
    (void)state;
    flx_file* file = NULL;
    write_text("x", "old", false);
    CHECK_FAILS(flx__file_begin(ctx, in_folder("x"), false, &file), FLX_ERR_EXISTS);
    CHECK_FAILS(flx__file_claim(ctx, in_folder("x"), false), FLX_ERR_EXISTS);
    CHECK_OK(flx__file_claim(ctx, in_folder("x"), true));
    CHECK_OK(flx__file_claim(ctx, in_folder("z"), false));
    assert_null(file);
    check_text("x", "old");
    write_text("x", "new", true);
    check_text("x", "new");

    // also when it came into being meanwhile
    CHECK_OK(flx__file_begin(ctx, in_folder("y"), false, &file));
    write_text("y", "theirs", false);
    CHECK_FAILS(flx__file_commit(file), FLX_ERR_EXISTS);
    check_text("y", "theirs");
    assert_int_equal(entry_count(), 2);
}

static void a_link_keeps_pointing_at_the_new_file(void** state)
{
    (void)state;
    write_text("real", "old", false);
    char link_path[512];
    snprintf(link_path, sizeof link_path, "%s", in_folder("link"));
    assert_int_equal(symlink("real", link_path), 0);
    write_text("link", "new", true);
    check_text("real", "new");
}

static void a_full_disk_is_said_and_sticks(void** state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
    {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    flx_file* file = NULL;
    CHECK_OK(flx__file_begin(ctx, "/dev/full", false, &file));
    char block[40000] = {0};
    for (int i = 0; i < 3; ++i)
        if (flx__file_write(file, block, sizeof block) != FLX_OK) break;
    assert_int_equal(flx__file_printf(file, "more"), FLX_ERR_IO);
    CHECK_FAILS(flx__file_commit(file), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "disk is full"));
}

static void a_missing_folder_is_said(void** state)
{
    (void)state;
    flx_file* file = NULL;
    CHECK_FAILS(flx__file_begin(ctx, in_folder("none/x"), false, &file), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "folder does not exist"));
    CHECK_FAILS(flx__file_begin(ctx, folder, true, &file), FLX_ERR_IO); // a directory
}

static void long_text_passes_the_buffer(void** state)
{
    (void)state;
    const int length = 200000;
    char*     text   = flx__alloc(ctx, length + 1, 1);
    for (int i = 0; i < length; ++i) text[i] = (char)('a' + i % 23);
    text[length] = '\0';

    flx_file* file = NULL;
    CHECK_OK(flx__file_begin(ctx, in_folder("long"), false, &file));
    CHECK_OK(flx__file_printf(file, "%s", text));
    CHECK_OK(flx__file_printf(file, "%s", text + 140000));
    CHECK_OK(flx__file_write(file, text, 65536));
    CHECK_OK(flx__file_commit(file));

    char*   data  = NULL;
    int64_t bytes = 0;
    CHECK_OK(flx__file_read_all(ctx, in_folder("long"), &data, &bytes));
    assert_int_equal(bytes, 200000 + 60000 + 65536);
    assert_memory_equal(data, text, 200000);
    assert_memory_equal(data + 200000, text + 140000, 60000);
    assert_memory_equal(data + 260000, text, 65536);
    flx__free(ctx, data);
    flx__free(ctx, text);
}

static void reasons_of_a_failed_read_differ(void** state)
{
    (void)state;
    char*   data  = NULL;
    int64_t bytes = 0;
    CHECK_FAILS(flx__file_read_all(ctx, in_folder("none"), &data, &bytes), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "no such file"));
    CHECK_FAILS(flx__file_read_all(ctx, folder, &data, &bytes), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "is a directory"));
    write_text("empty", "", false);
    CHECK_FAILS(flx__file_read_all(ctx, in_folder("empty"), &data, &bytes), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "is empty"));
    write_text("secret", "x", false);
    assert_int_equal(chmod(in_folder("secret"), 0), 0);
    if (access(in_folder("secret"), R_OK) != 0) // root may read everything
    {
        CHECK_FAILS(flx__file_read_all(ctx, in_folder("secret"), &data, &bytes), FLX_ERR_IO);
        assert_non_null(strstr(flx_context_error(ctx), "permission denied"));
    }
    assert_null(data);
}

static void numbers_have_a_point_in_every_locale(void** state)
{
    (void)state;
    // Any locale with a decimal comma will do; where none is installed the C locale alone is checked.
    const char* const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "pl_PL.UTF-8"};
    bool              comma   = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !comma; ++i) comma = setlocale(LC_ALL, names[i]) != NULL;
    if (!comma) print_message("no locale with a decimal comma is installed: C alone is checked\n");

    flx_file* file = NULL;
    char      text[32];
    CHECK_OK(flx__file_begin(ctx, in_folder("n"), false, &file));
    CHECK_OK(flx__file_printf(file, "%.3f", 1234.5));
    CHECK_OK(flx__file_commit(file));
    flx__print_c(text, sizeof text, "%g", 0.25);
    setlocale(LC_ALL, "C");
    check_text("n", "1234.500");
    assert_string_equal(text, "0.25");
}

static void every_failed_allocation_is_clean(void** state)
{
    (void)state;
    const int64_t held = flx_context_bytes_now(ctx);
    for (int64_t n = 0;; ++n)
    {
        flx_file* file = NULL;
        flx_context_fail_allocation(ctx, n);
        flx_status status = flx__file_begin(ctx, in_folder("m"), true, &file);
        if (status == FLX_OK) status = flx__file_commit(file);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), held);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_int_equal(entry_count(), 0);
        assert_true(n < 100);
    }
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(appears_at_commit_and_not_before),     FILE_TEST(abort_leaves_nothing),
        FILE_TEST(does_not_overwrite_unless_asked),      FILE_TEST(a_link_keeps_pointing_at_the_new_file),
        FILE_TEST(a_full_disk_is_said_and_sticks),       FILE_TEST(a_missing_folder_is_said),
        FILE_TEST(long_text_passes_the_buffer),          FILE_TEST(reasons_of_a_failed_read_differ),
        FILE_TEST(numbers_have_a_point_in_every_locale), FILE_TEST(every_failed_allocation_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
