// A folder of its own for each test program, and scenes written into it.
#ifndef FLX_TESTS_SCENE_TEST_H
#define FLX_TESTS_SCENE_TEST_H

#include "test.h"

#include "flexor/scene.h"

static inline char* scene_folder(void)
{
    static char folder[] = "/tmp/flexor-scene-XXXXXX";
    return folder;
}

/// Go to a new empty folder, so that messages can name plain "scene.yaml". Pass to cmocka as group setup.
static inline int scene_folder_enter(void** state)
{
    (void)state; // left alone: a test's own initial state would lose to it
    char* folder = scene_folder();
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int scene_folder_leave(void** state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", scene_folder());
    return chdir("/") == 0 ? system(command) : -1;
}

static inline void write_file(const char* path, const void* data, size_t bytes)
{
    unlink(path); // a new file: some file systems write an old one through to the disk when it is cut to nothing
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) fail_msg("cannot write %s", path);
}

/// Read a scene from text, with files not looked for, and overrides up to NULL.
static inline flx_status read_text(flx_context* ctx, const char* text, const char* const* overrides, flx_scene** out)
{
    write_file("scene.yaml", text, strlen(text));
    flx_scene_options options = flx_scene_options_default();
    options.skip_files        = true;
    options.overrides         = overrides;
    while (overrides && overrides[options.override_count]) ++options.override_count;
    return flx_scene_read(ctx, "scene.yaml", &options, out);
}

/// The text must be refused with exactly this message.
static inline void check_message(const char* text, const char* const* overrides, flx_status status, const char* message)
{
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(read_text(ctx, text, overrides, &scene), status);
    assert_null(scene);
    assert_string_equal(flx_context_error(ctx), message);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

#endif
