// The scenes that come with the program.
#include "test.h"

#include "flexor/scene.h"

static flx_scene* read_scene(flx_context* ctx, const char* name, bool skip_files, const char* data)
{
    char              path[1024];
    flx_scene*        scene   = NULL;
    flx_scene_options options = flx_scene_options_default();
    options.skip_files        = skip_files;
    options.data_path         = data;
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", FLX_SOURCE_DIR, name);
    CHECK_OK(flx_scene_read(ctx, path, &options, &scene));
    assert_string_equal(scene->name, name);
    return scene;
}

static void scenes_with_their_meshes_are_right(void** state)
{
    (void)state;
    static const char* const names[] = {"beam",          "block-on-floor", "ball-drop",  "cloth-corners",
                                        "cloth-on-ball", "cloth-twist",    "cloth-fold", "bar-twist"};
    flx_context*             ctx     = test_context(1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    {
        flx_scene* scene = read_scene(ctx, names[i], false, NULL);
        assert_true(scene->gravity[2] == (strcmp(names[i], "bar-twist") == 0 ? 0.0 : -9.81));
        flx_scene_destroy(ctx, scene);
    }
    flx_context_destroy(ctx);
}

static void the_elbow_folds_towards_the_upper_arm_and_is_held(void** state)
{
    (void)state;
    static const char* const names[] = {"elbow", "elbow-small"};
    static const int32_t     tets[]  = {625000, 40000};
    flx_context*             ctx     = test_context(1);
    for (int i = 0; i < 2; ++i)
    {
        flx_scene* s = read_scene(ctx, names[i], true, NULL); // arm.obj is made later
        double     R[9], t[3];
        assert_int_equal(s->body->lattice_tets, tets[i]);
        assert_true(s->run.frames == 74 && s->run.fps == 30.0 && s->attach->points == 4000);
        for (int frame = 0; frame <= s->run.frames; ++frame)
        {
            const double angle = (frame < 44 ? frame * 2.5 : 110.0) * 3.14159265358979323846 / 180.0;
            flx_scene_bone_pose(s, 1, frame / s->run.fps, R, t);
            const double* far = s->bone[1].shape.b; // the end away from the elbow
            double        y[3];
            for (int k = 0; k < 3; ++k) y[k] = R[3 * k] * far[0] + R[3 * k + 1] * far[1] + R[3 * k + 2] * far[2] + t[k];
            // the axis lies 12 mm in front of the bones' middle
            CHECK_NEAR(y[0], 0.28 + (far[0] - 0.28) * cos(angle) + 0.012 * sin(angle), 1e-14); // m; a few roundings
            CHECK_NEAR(y[1], 0.0, 1e-14);
            CHECK_NEAR(y[2], 0.012 + (far[0] - 0.28) * sin(angle) - 0.012 * cos(angle), 1e-14); // upwards
        }
        flx_scene_destroy(ctx, s);
    }
    flx_context_destroy(ctx);
}

static void a_persons_forearm_goes_on_bending_the_way_it_is_bent(void** state)
{
    (void)state;
    const char* base = shared_or_skip("data/makehuman/base.obj");
    assert_non_null(base);
    flx_context* ctx = test_context(1);
    flx_scene*   s   = read_scene(ctx, "makehuman-arm", false, FLX_SHARED_DIR "/data");
    assert_int_equal(s->bone_count, 3);
    const double* elbow  = s->motion[0].about;
    const double* wrist  = s->bone[1].shape.b;
    const double* upper  = s->bone[0].shape.a;
    double        before = 0.0;
    double        R[9], t[3], y[3] = {0};
    for (int frame = 0; frame <= s->run.frames; ++frame)
    {
        flx_scene_bone_pose(s, 1, frame / s->run.fps, R, t);
        for (int k = 0; k < 3; ++k)
            y[k] = R[3 * k] * wrist[0] + R[3 * k + 1] * wrist[1] + R[3 * k + 2] * wrist[2] + t[k];
        double dot = 0.0, a2 = 0.0, b2 = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            const double a = elbow[k] - upper[k], b = y[k] - elbow[k];
            dot += a * b;
            a2 += a * a;
            b2 += b * b;
        }
        const double bend = acos(dot / sqrt(a2 * b2)) * 180.0 / 3.14159265358979323846; // degrees from straight
        if (frame == 0)
            CHECK_NEAR(bend, 46.9, 0.1); // as the mesh is posed
        else if (frame <= 24)
            CHECK_NEAR(bend - before, 2.5, 1e-3); // the axis is perpendicular to the arm: five digits
        else
            CHECK_NEAR(bend, before, 1e-9);
        before = bend;
    }
    CHECK_NEAR(before, 106.9, 0.1);
    assert_true(y[1] > elbow[1] + 0.03 && y[2] > elbow[2] + 0.1); // the hand is up and in front
    double hand_R[9], hand_t[3];
    flx_scene_bone_pose(s, 2, 1e3, hand_R, hand_t); // the hand goes with the forearm
    assert_memory_equal(hand_R, R, sizeof R);
    assert_memory_equal(hand_t, t, sizeof t);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_with_their_meshes_are_right),
        cmocka_unit_test(the_elbow_folds_towards_the_upper_arm_and_is_held),
        cmocka_unit_test(a_persons_forearm_goes_on_bending_the_way_it_is_bent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
