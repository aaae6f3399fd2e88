// Hostile and unlucky scenes: too many mistakes, too deep, cut off anywhere, memory that runs out.
#include "scene_test.h"

static void twenty_mistakes_are_shown_and_the_others_counted(void** state)
{
    (void)state;
    char text[4000] = "flexor: 1\nbodies: {surface: a.obj}\ncontact:\n";
    for (int i = 0; i < 27; ++i) strcat(text, "  - {self: body0, lw: spring}\n");
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(read_text(ctx, text, NULL, &scene), FLX_ERR_SCENE);
    const char* error = flx_context_error(ctx);
    int         shown = 0;
    for (const char* p = error; (p = strstr(p, ": error: ")); ++p) ++shown;
    assert_int_equal(shown, 20);
    const char* end = "\n... and 7 more";
    assert_string_equal(error + strlen(error) - strlen(end), end);
    assert_non_null(strstr(error, "scene.yaml:4:19: error: unknown key 'lw' in contact[0]; did you mean 'law'?\n"));
    flx_context_destroy(ctx);
}

static void long_mistakes_are_cut_off_between_two_of_them(void** state)
{
    (void)state;
    static char text[40000] = "flexor: 1\nbodies: {surface: a.obj}\nobstacles:\n";
    for (int i = 0; i < 20; ++i)
    {
        strcat(text, "  - {");
        for (int k = 0; k < 100; ++k) strcat(text, "\xE6\x89\x8B"); // three bytes each, so that texts get long
        strcat(text, ": 1}\n");
    }
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(read_text(ctx, text, NULL, &scene), FLX_ERR_SCENE);
    const char* error = flx_context_error(ctx);
    int         shown = 0;
    for (const char* p = error; (p = strstr(p, ": error: ")); ++p) ++shown;
    char end[40];
    snprintf(end, sizeof end, "\n... and %d more", 60 - shown); // each item: unknown key, no name, no shape
    assert_in_range(shown, 5, 19);
    assert_string_equal(error + strlen(error) - strlen(end), end);
    flx_context_destroy(ctx);
}

static void a_hundred_thousand_mistakes_take_no_longer_than_reading_them(void** state)
{
    (void)state;
    const int count = 100000;
    char*     text  = malloc((size_t)count * 12 + 100);
    char*     p     = text + sprintf(text, "flexor: 1\nbodies: {surface: a.obj}\nrun: {");
    for (int i = 0; i < count; ++i) p += sprintf(p, "k%d: 1, ", i);
    strcpy(p, "}\n");
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    const double start = flx__now();
    CHECK_FAILS(read_text(ctx, text, NULL, &scene), FLX_ERR_SCENE);
    CHECK_BELOW(flx__now() - start, 20.0); // s; 0.3 measured without sanitizers
    assert_non_null(strstr(flx_context_error(ctx), "... and 99980 more"));
    flx_context_destroy(ctx);
    free(text);
}

static void nesting_stops_at_32_levels(void** state)
{
    (void)state;
    char deep[4096] = "flexor: 1\nbodies: {surface: a.obj}\nrun: ";
    for (int i = 0; i < 900; ++i) strcat(deep, "[");
    for (int i = 0; i < 900; ++i) strcat(deep, "]");
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(read_text(ctx, deep, NULL, &scene), FLX_ERR_SCENE);
    assert_non_null(strstr(flx_context_error(ctx), "scene.yaml:3:37: error: nested more than 32 levels deep\n"));
    flx_context_destroy(ctx);
}

static const char* const whole = "# a scene of every kind of thing\n"
                                 "flexor: 1\n"
                                 "name: \"x\\u00e9\"\n"
                                 "joints: [{name: elbow, at: [0.28, 0, 0]}]\n"
                                 "bodies:\n"
                                 "  - name: arm\n"
                                 "    surface: arm.obj\n"
                                 "    lattice: {tets: 640 k}\n"
                                 "    crop: [{box: {min: [0, 0, 0], max: [1, 1, 1]}}]\n"
                                 "    material: {young: 30 kPa}\n"
                                 "bones:\n"
                                 "  - {name: a, capsule: {from: [0, 0, 0], to: elbow, radius: 11 mm}}\n"
                                 "  - {name: b, capsule: {from: elbow, to: [1, 0, 0], radius: 11 mm}, parent: a}\n"
                                 "attach: {body: arm, bones: [a, b]}\n"
                                 "motion: [{bone: b, about: elbow, axis: [0, 1, 0], degrees_per_frame: 2.5, to: 110}]\n"
                                 "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]\n"
                                 "contact: [{obstacle: floor, region: all}, {self: arm}]\n"
                                 "solver: {mode: dynamic}\n"
                                 "run: {frames: 3}\n"
                                 "cameras: [{name: side, from: [0, 1, 0], at: elbow}]\n";

static void a_scene_cut_off_at_any_byte_is_read_or_refused(void** state)
{
    (void)state;
    const size_t length = strlen(whole);
    char*        cut    = malloc(length + 1);
    flx_context* ctx    = test_context(1);
    int          read   = 0;
    for (size_t n = 0; n <= length; ++n)
    {
        flx_scene* scene = NULL;
        memcpy(cut, whole, n);
        cut[n]                  = '\0';
        const flx_status status = read_text(ctx, cut, NULL, &scene);
        if (status == FLX_OK)
            ++read;
        else
        {
            assert_true(status == FLX_ERR_SCENE || status == FLX_ERR_SETTING);
            assert_int_equal(strncmp(flx_context_error(ctx), "scene.yaml", 10), 0);
        }
        assert_true((scene != NULL) == (status == FLX_OK));
        flx_scene_destroy(ctx, scene);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    assert_in_range(read, 8, length); // after each section that is complete, at least
    flx_context_destroy(ctx);
    free(cut);
}

static void a_scene_with_any_byte_changed_is_read_or_refused(void** state)
{
    (void)state;
    static const char odd[]   = {'\0', '\t', '\n', ' ', '"', '\'', '[',    '{',   '}',
                                 ':',  '-',  '&',  '*', '!', '%',  '\x80', '\xFF'};
    const size_t      length  = strlen(whole);
    char*             bent    = malloc(length);
    flx_context*      ctx     = test_context(1);
    flx_scene_options options = flx_scene_options_default();
    options.skip_files        = true;
    uint64_t seed             = 7;
    for (size_t n = 0; n < length; ++n)
    {
        flx_scene* scene = NULL;
        memcpy(bent, whole, length);
        bent[n] = odd[(size_t)(test_random(&seed) * sizeof odd)];
        write_file("scene.yaml", bent, length);
        const flx_status status = flx_scene_read(ctx, "scene.yaml", &options, &scene);
        assert_true(status == FLX_OK || status == FLX_ERR_SCENE || status == FLX_ERR_SETTING);
        flx_scene_destroy(ctx, scene);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_context_destroy(ctx);
    free(bent);
}

static void every_failed_allocation_fails_cleanly(void** state)
{
    (void)state;
    static const char* const overrides[] = {"outer=3", "bodies[0].material.young=50 kPa",
                                            "loads={region: all, force: [0, 0, 1]}", NULL};
    flx_context*             ctx         = test_context(1);
    flx_scene*               scene       = NULL;
    const int64_t            before      = flx_context_allocation_count(ctx);
    CHECK_OK(read_text(ctx, whole, overrides, &scene));
    const int64_t wanted = flx_context_allocation_count(ctx) - before;
    flx_scene_destroy(ctx, scene);
    assert_in_range(wanted, 4, 1000);
    for (int64_t n = 0; n < wanted; ++n)
    {
        flx_context_fail_allocation(ctx, n);
        CHECK_FAILS(read_text(ctx, whole, overrides, &scene), FLX_ERR_MEMORY);
        flx_context_fail_allocation(ctx, -1);
        assert_null(scene);
        assert_non_null(strstr(flx_context_error(ctx), "out of memory"));
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_context_destroy(ctx);
}

static void every_failed_allocation_fails_cleanly_with_joints_from_a_mesh(void** state)
{
    (void)state;
    const char* obj  = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\ng j\nf 1 2 3\nf 1 3 4\n";
    const char* text = "flexor: 1\nbodies: {surface: rig.obj}\njoints: {name: elbow, mesh: rig.obj, group: j}\n";
    write_file("rig.obj", obj, strlen(obj));
    flx_context*  ctx    = test_context(1);
    flx_scene*    scene  = NULL;
    const int64_t before = flx_context_allocation_count(ctx);
    CHECK_OK(read_text(ctx, text, NULL, &scene));
    const int64_t wanted = flx_context_allocation_count(ctx) - before;
    flx_scene_destroy(ctx, scene);
    for (int64_t n = 0; n < wanted; ++n)
    {
        flx_context_fail_allocation(ctx, n);
        CHECK_FAILS(read_text(ctx, text, NULL, &scene), FLX_ERR_MEMORY);
        flx_context_fail_allocation(ctx, -1);
        assert_null(scene);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_mistakes_are_shown_and_the_others_counted),
        cmocka_unit_test(long_mistakes_are_cut_off_between_two_of_them),
        cmocka_unit_test(a_hundred_thousand_mistakes_take_no_longer_than_reading_them),
        cmocka_unit_test(nesting_stops_at_32_levels),
        cmocka_unit_test(a_scene_cut_off_at_any_byte_is_read_or_refused),
        cmocka_unit_test(a_scene_with_any_byte_changed_is_read_or_refused),
        cmocka_unit_test(every_failed_allocation_fails_cleanly),
        cmocka_unit_test(every_failed_allocation_fails_cleanly_with_joints_from_a_mesh),
    };
    return cmocka_run_group_tests(tests, scene_folder_enter, scene_folder_leave);
}
