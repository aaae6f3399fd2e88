// Scripted poses: exact where they can be, and composed the way a skeleton is.
#include "test.h"

#include "flexor/scene.h"
#include "scene/pose.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double zero[3]     = {0, 0, 0};

static void move(const double R[9], const double t[3], const double x[3], double out[3])
{
    for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2] + t[i];
}

typedef struct arm_fixture
{
    flx_bone_desc     bone[3]; // shoulder at 0, elbow at x = 1, wrist at x = 2
    flx_obstacle_desc obstacle[1];
    flx_key           key[4][3];
    flx_motion_desc   motion[4];
    flx_scene         scene;
} arm_fixture;

static void arm_open(arm_fixture* f)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < 3; ++i) f->bone[i].parent = i - 1;
    f->scene = (flx_scene){
        .bone_count = 3, .bone = f->bone, .obstacle_count = 1, .obstacle = f->obstacle, .motion = f->motion};
}

/// 0 degrees at `from`, `angle` at `to`, about axis k through (x, 0, 0).
static void arm_turn(arm_fixture* f, int32_t bone, double x, int k, double angle, double from, double to)
{
    const int        m      = f->scene.motion_count++;
    flx_motion_desc* motion = &f->motion[m];
    *motion                 = (flx_motion_desc){.bone = bone, .about = {x, 0, 0}, .key_count = 2, .key = f->key[m]};
    motion->obstacle        = bone < 0 ? 0 : -1;
    motion->axis[k]         = 1.0;
    f->key[m][0].time       = from;
    f->key[m][1].time       = to;
    f->key[m][1].angle_deg  = angle;
}

static void what_does_not_move_is_the_identity_bit_for_bit(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3];
    arm_open(&f);
    flx_scene_bone_pose(&f.scene, 2, 0.7, R, t); // no motion at all
    assert_memory_equal(R, identity, sizeof R);
    assert_memory_equal(t, zero, sizeof t);
    flx_scene_obstacle_pose(&f.scene, 0, 0.7, R, t);
    assert_memory_equal(R, identity, sizeof R);
    assert_memory_equal(t, zero, sizeof t);

    arm_turn(&f, 0, 0.1, 1, 110.0, 1.0, 2.0);
    arm_turn(&f, 1, 1.1, 2, 50.0, 1.0, 2.0);
    arm_turn(&f, -1, 0.3, 0, 20.0, 1.0, 2.0);
    for (double time = 0.0; time <= 1.0; time += 0.125)
        for (int32_t b = 0; b < 3; ++b)
        {
            flx_scene_bone_pose(&f.scene, b, time, R, t); // before its motion begins
            assert_memory_equal(R, identity, sizeof R);
            assert_memory_equal(t, zero, sizeof t);
        }
    flx_scene_obstacle_pose(&f.scene, 0, 1.0, R, t);
    assert_memory_equal(R, identity, sizeof R);
}

static void a_right_angle_about_a_joint_is_exact(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3], y[3];
    arm_open(&f);
    arm_turn(&f, 1, 1.0, 1, -90.0, 0.0, 1.0);
    flx_scene_bone_pose(&f.scene, 1, 1.0, R, t);
    move(R, t, (double[]){2, 0, 0}, y);
    assert_true(y[0] == 1.0 && y[1] == 0.0 && y[2] == 1.0); // +x about -y turns to +z
    move(R, t, (double[]){1, 0, 0}, y);
    assert_true(y[0] == 1.0 && y[1] == 0.0 && y[2] == 0.0); // the joint stays
    for (int quarter = -8; quarter <= 8; ++quarter)
    {
        f.key[0][1].angle_deg = 90.0 * quarter;
        flx_scene_bone_pose(&f.scene, 1, 1.0, R, t);
        for (int i = 0; i < 9; ++i) assert_true(R[i] == 0.0 || fabs(R[i]) == 1.0);
    }
}

static void angles_change_linearly_and_are_held_after_the_last_key(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3], held[9], held_t[3];
    arm_open(&f);
    arm_turn(&f, 0, 0.0, 2, 120.0, 1.0, 3.0);
    flx_scene_bone_pose(&f.scene, 0, 2.0, R, t); // half way
    CHECK_NEAR(R[0], 0.5, 1e-15);                // cos 60, one rounding
    CHECK_NEAR(R[3], sqrt(0.75), 1e-15);         // sin 60
    flx_scene_bone_pose(&f.scene, 0, 3.0, held, held_t);
    CHECK_NEAR(held[0], -0.5, 1e-15);
    for (double time = 3.0; time < 1e6; time *= 2.0)
    {
        flx_scene_bone_pose(&f.scene, 0, time, R, t);
        assert_memory_equal(R, held, sizeof R);
        assert_memory_equal(t, held_t, sizeof t);
    }
    for (int i = 0; i <= 44; ++i) // the elbow's frames: no drift, each a rotation
    {
        flx_scene_bone_pose(&f.scene, 0, 1.0 + i / 22.0, R, t);
        CHECK_NEAR(atan2(R[3], R[0]) * 180.0 / 3.14159265358979323846, 120.0 * i / 44.0, 1e-12);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                CHECK_NEAR(R[3 * a] * R[3 * b] + R[3 * a + 1] * R[3 * b + 1] + R[3 * a + 2] * R[3 * b + 2], a == b,
                           1e-15);
    }
}

static void a_child_follows_its_parents(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3], y[3];
    arm_open(&f);
    arm_turn(&f, 0, 0.0, 2, 90.0, 0.0, 1.0);  // shoulder
    arm_turn(&f, 1, 1.0, 2, 90.0, 0.0, 1.0);  // elbow, where it was at rest
    arm_turn(&f, 2, 2.0, 2, -90.0, 0.0, 1.0); // wrist
    flx_scene_bone_pose(&f.scene, 0, 1.0, R, t);
    move(R, t, (double[]){1, 0, 0}, y);
    assert_true(y[0] == 0.0 && y[1] == 1.0); // the elbow went up
    flx_scene_bone_pose(&f.scene, 1, 1.0, R, t);
    move(R, t, (double[]){1, 0, 0}, y);
    assert_true(y[0] == 0.0 && y[1] == 1.0); // the forearm is still joined to it
    move(R, t, (double[]){2, 0, 0}, y);
    assert_true(y[0] == -1.0 && y[1] == 1.0); // and points back
    flx_scene_bone_pose(&f.scene, 2, 1.0, R, t);
    move(R, t, (double[]){2, 0, 0}, y);
    assert_true(y[0] == -1.0 && y[1] == 1.0);
    move(R, t, (double[]){3, 0, 0}, y);
    assert_true(y[0] == -1.0 && y[1] == 2.0); // the hand points up again
}

static void motions_of_one_thing_follow_in_order(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3], y[3];
    arm_open(&f);
    arm_turn(&f, -1, 0.0, 2, 90.0, 0.0, 1.0);
    arm_turn(&f, -1, 0.0, 0, 90.0, 0.0, 1.0);
    f.key[1][1].translate[2] = 5.0;
    flx_scene_obstacle_pose(&f.scene, 0, 1.0, R, t);
    move(R, t, (double[]){1, 0, 0}, y); // about z: to +y; then about x: to +z; then up by 5
    assert_true(y[0] == 0.0 && y[1] == 0.0 && y[2] == 6.0);
    flx_scene_obstacle_pose(&f.scene, 0, 0.5, R, t);
    assert_true(t[2] == 2.5);
}

static void a_hand_made_circle_of_parents_ends(void** state)
{
    (void)state;
    arm_fixture f;
    double      R[9], t[3];
    arm_open(&f);
    f.bone[0].parent = 2;
    arm_turn(&f, 0, 0.0, 2, 90.0, 0.0, 1.0);
    flx_scene_bone_pose(&f.scene, 0, 1.0, R, t);
    for (int i = 0; i < 9; ++i) assert_true(isfinite(R[i]));
}

static void placing_turns_about_x_then_y_then_z_then_moves(void** state)
{
    (void)state;
    double y[3];
    flx__place_point((double[]){90, 90, 0}, (double[]){10, 20, 30}, (double[]){0, 1, 0}, y);
    assert_true(y[0] == 11.0 && y[1] == 20.0 && y[2] == 30.0); // +y to +z to +x
    flx__place_point(zero, zero, (double[]){0.1, -0.2, 0.3}, y);
    assert_true(y[0] == 0.1 && y[1] == -0.2 && y[2] == 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_move_is_the_identity_bit_for_bit),
        cmocka_unit_test(a_right_angle_about_a_joint_is_exact),
        cmocka_unit_test(angles_change_linearly_and_are_held_after_the_last_key),
        cmocka_unit_test(a_child_follows_its_parents),
        cmocka_unit_test(motions_of_one_thing_follow_in_order),
        cmocka_unit_test(a_hand_made_circle_of_parents_ends),
        cmocka_unit_test(placing_turns_about_x_then_y_then_z_then_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
