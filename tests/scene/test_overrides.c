// --set: values from the command line go through the same table, and say where they come from when they are wrong.
#include "scene_test.h"

static const char* const plain = "flexor: 1\n"
                                 "bodies:\n"
                                 "  - {name: arm, surface: a.obj}\n"
                                 "  - {name: leg, surface: b.obj}\n"
                                 "fix: {body: arm, region: all}\n"
                                 "run: {frames: 5}\n";

static void any_value_can_be_set(void** state)
{
    (void)state;
    static const char* const overrides[] = {"solver.outer=3",
                                            "inner=4",
                                            "gravity=9.81",
                                            "name=other",
                                            "run.frames=10",
                                            "bodies[0].material.young=50 kPa",
                                            "bodies[leg].repair=true",
                                            "bodies[1].translate=[1, 2 mm, 3]",
                                            "fix.stiffness=7",
                                            "fix[0].from=1 s",
                                            "cameras=[{name: top, from: [1, 0, 3], at: [0, 0, 0]}]",
                                            "outer=5",
                                            NULL};
    flx_context*             ctx         = test_context(1);
    flx_scene*               s           = NULL;
    CHECK_OK(read_text(ctx, plain, overrides, &s));
    assert_true(s->settings.outer == 5 && s->settings.inner == 4); // the last one counts
    assert_true(s->gravity[2] == -9.81 && s->run.frames == 10);
    assert_string_equal(s->name, "other");
    assert_true(s->body[0].material.young == 50e3 && s->body[1].repair && !s->body[0].repair);
    assert_true(s->body[1].translate[1] == 0.002);
    assert_true(s->fix->stiffness == 7.0 && s->fix->from == 1.0);
    assert_int_equal(s->camera_count, 1);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

static void refused(const char* override, flx_status status, const char* message)
{
    const char* const overrides[] = {override, NULL};
    check_message(plain, overrides, status, message);
}

static void a_wrong_value_is_shown_on_the_command_line(void** state)
{
    (void)state;
    refused("outer=0", FLX_ERR_SETTING,
            "--set outer=0: error: solver.outer is 0; allowed is 1 to 10000\n"
            "      | outer=0\n"
            "      |       ^");
    refused("oter=3", FLX_ERR_SCENE,
            "--set oter=3: error: unknown key 'oter' in solver; did you mean 'outer'?\n"
            "      | oter=3\n"
            "      | ^~~~");
    refused(
        "bodies[0].material.yuong=3", FLX_ERR_SCENE,
        "--set bodies[0].material.yuong=3: error: unknown key 'yuong' in bodies[0].material; did you mean 'young'?\n"
        "      | bodies[0].material.yuong=3\n"
        "      |                    ^~~~~");
    refused("bodies[0].material={young: 3, densty: 4}", FLX_ERR_SCENE,
            "--set bodies[0].material={young: 3, densty: 4}: error: unknown key 'densty' in bodies[0].material; did "
            "you mean "
            "'density'?\n"
            "      | bodies[0].material={young: 3, densty: 4}\n"
            "      |                               ^~~~~~");
    refused("run.frames=", FLX_ERR_SCENE,
            "--set run.frames=: error: run.frames has no value; give one, or remove the key\n"
            "      | run.frames=\n"
            "      |     ^~~~~~");
    refused("run.frames=[", FLX_ERR_SCENE,
            "--set run.frames=[: error: did not find expected node content while parsing a flow node\n"
            "      | run.frames=[\n"
            "      |             ^");
}

static void a_path_to_nowhere_says_what_there_is(void** state)
{
    (void)state;
    refused("bodies[2].scale=3", FLX_ERR_SCENE,
            "--set bodies[2].scale=3: error: there is no bodies[2]; the scene has bodies[0] to bodies[1]\n"
            "      | bodies[2].scale=3\n"
            "      | ^~~~~~");
    refused("bodies[hand].scale=3", FLX_ERR_SCENE,
            "--set bodies[hand].scale=3: error: nothing in bodies is named 'hand'\n"
            "      | bodies[hand].scale=3\n"
            "      | ^~~~~~");
    refused("bodies.scale=3", FLX_ERR_SCENE,
            "--set bodies.scale=3: error: bodies is a list; say which item, as in bodies[0].scale\n"
            "      | bodies.scale=3\n"
            "      |        ^~~~~");
    refused("run.frames.x=3", FLX_ERR_SCENE,
            "--set run.frames.x=3: error: 'x' cannot be set: frames is a value, not a section\n"
            "      | run.frames.x=3\n"
            "      |            ^");
    refused("fix[1].from=3", FLX_ERR_SCENE,
            "--set fix[1].from=3: error: there is no fix[1]; the scene has only one, fix[0]\n"
            "      | fix[1].from=3\n"
            "      | ^~~");
    refused("loads[0].from=3", FLX_ERR_SCENE,
            "--set loads[0].from=3: error: there is no loads[0]: the scene has no list 'loads'\n"
            "      | loads[0].from=3\n"
            "      | ^~~~~");
    refused("frames 3", FLX_ERR_SCENE,
            "--set frames 3: error: this sets nothing; wanted is key=value\n"
            "      | frames 3\n"
            "      | ^~~~~~~~");
    refused("run..frames=3", FLX_ERR_SCENE,
            "--set run..frames=3: error: this is no path to a value; wanted is key.key=value or key[0].key=value\n"
            "      | run..frames=3\n"
            "      |     ^");
}

static void mistakes_of_the_file_come_before_those_of_the_command_line(void** state)
{
    (void)state;
    static const char* const overrides[] = {"inner=0", "run.fps=0", NULL};
    check_message("flexor: 1\nbodies: {surface: a.obj, scale: 0}\n", overrides, FLX_ERR_SETTING,
                  "scene.yaml:2:33: error: bodies[0].scale is 0; allowed is above 0 and at most 1000000\n"
                  "    2 | bodies: {surface: a.obj, scale: 0}\n"
                  "      |                                 ^\n"
                  "--set inner=0: error: solver.inner is 0; allowed is 1 to 1000\n"
                  "      | inner=0\n"
                  "      |       ^\n"
                  "--set run.fps=0: error: run.fps is 0; allowed is above 0 and at most 1000000 1/s\n"
                  "      | run.fps=0\n"
                  "      |         ^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_value_can_be_set),
        cmocka_unit_test(a_wrong_value_is_shown_on_the_command_line),
        cmocka_unit_test(a_path_to_nowhere_says_what_there_is),
        cmocka_unit_test(mistakes_of_the_file_come_before_those_of_the_command_line),
    };
    return cmocka_run_group_tests(tests, scene_folder_enter, scene_folder_leave);
}
