// What a right scene becomes: structs in SI units, defaults, references, motions in seconds.
#include "scene_test.h"

static const char* const arm =
    "flexor: 1\n"
    "name: test arm\n"
    "up: y\n"
    "gravity: 9.81 m/s2\n"
    "joints:\n"
    "  - {name: elbow, at: [280 mm, 0, 0]}\n"
    "  - {name: wrist, at: [0.53, 0, 1 cm]}\n"
    "bodies:\n"
    "  - name: arm\n"
    "    surface: sub/arm.obj\n"
    "    scale: 0.1\n"
    "    rotate: [0, 90, 1 rad]\n"
    "    lattice: {tets: 640 k}\n"
    "    crop: [{box: {min: [0, 0, 0], max: [1, 1, 1]}}, {sphere: {center: wrist, radius: 190 mm}}]\n"
    "    material: {young: 50 kPa, density: 1.1 g/cm3, poisson: 0}\n"
    "    velocity: [0, 0, -20 cm/s]\n"
    "  - {name: cage, tets: /abs/cage.msh, surface: fine.ply, weld: true, weld_tolerance: 1e-4}\n"
    "bones:\n"
    "  - {name: forearm, parent: humerus, capsule: {from: elbow, to: wrist, radius: 11 mm}}\n"
    "  - {name: humerus, mesh: data:bones/humerus.stl, group: shaft, scale: 0.001}\n"
    "attach: {body: arm, bones: [humerus, forearm], points: 4 k, stiffness: 2 N/mm}\n"
    "fix:\n"
    "  - {body: cage, region: all}\n"
    "  - {body: arm, region: {plane: {point: [0, 0, 0], normal: [0, 0, 2]}}, stiffness: 5, from: 100 ms, until: 2 "
    "min}\n"
    "loads: {body: arm, region: all, force: [0, 1 kN, -3 mN]}\n"
    "motion:\n"
    "  - {bone: forearm, about: elbow, axis: [0, 0, 3], degrees_per_frame: 2.5, to: -110, start: 5, then: return}\n"
    "  - {obstacle: lid, keys: [{time: 1 s, angle: 0}, {time: 2, translate: [0, 0, -20 mm]}]}\n"
    "obstacles:\n"
    "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 3, 4]}}\n"
    "  - {name: lid, mesh: lid.stl, scale: 0.001, cell: 2 mm}\n"
    "contact:\n"
    "  - {self: arm}\n"
    "  - {body: cage, obstacle: lid, region: all, law: spring, stiffness: 3 N/mm, spacing: 4 mm, margin: auto, offset: "
    "1 mm}\n"
    "solver: {mode: dynamic, strategy: refactor, precision: double, outer: 7, damping: 0.5 1/s}\n"
    "run: {frames: 100, fps: 25, checkpoint_every: 10}\n"
    "cameras: {name: side, from: [0, 0, 3], at: elbow, width: 60 cm}\n";

static flx_scene* read_arm(flx_context* ctx)
{
    flx_scene_options options = flx_scene_options_default();
    flx_scene*        scene   = NULL;
    options.skip_files        = true;
    options.data_path         = "../data";
    write_file("scene.yaml", arm, strlen(arm));
    CHECK_OK(flx_scene_read(ctx, "./scene.yaml", &options, &scene));
    return scene;
}

static void every_section_arrives_in_si_units(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    flx_scene* const s   = read_arm(ctx);

    assert_string_equal(s->name, "test arm");
    assert_string_equal(s->path, "./scene.yaml");
    assert_int_equal(s->up_axis, 1);
    assert_true(s->gravity[0] == 0.0 && s->gravity[1] == -9.81 && s->gravity[2] == 0.0);

    assert_int_equal(s->body_count, 2);
    const flx_body_desc* body = s->body;
    assert_string_equal(body->surface, "./sub/arm.obj");
    assert_null(body->tets);
    assert_true(body->scale == 0.1 && body->rotate_deg[1] == 90.0);
    CHECK_NEAR(body->rotate_deg[2], 180.0 / 3.14159265358979323846, 1e-14); // one rounding
    assert_int_equal(body->lattice_tets, 640000);
    assert_int_equal(body->crop_count, 2);
    assert_int_equal(body->crop[0].kind, FLX_SHAPE_BOX);
    assert_int_equal(body->crop[1].kind, FLX_SHAPE_SPHERE);
    assert_true(body->crop[1].a[0] == 0.53 && body->crop[1].a[2] == 0.01 && body->crop[1].radius == 0.19);
    assert_true(body->material.young == 50e3 && body->material.density == 1100.0);
    assert_true(body->velocity[2] == -0.2);
    assert_string_equal(s->body[1].tets, "/abs/cage.msh");
    assert_string_equal(s->body[1].surface, "./fine.ply");
    assert_int_equal(s->body[1].lattice_tets, 0); // the cage is there
    assert_true(s->body[1].weld && !s->body[1].repair && s->body[1].weld_tolerance == 1e-4);

    assert_int_equal(s->bone_count, 2);
    assert_int_equal(s->bone[0].parent, 1); // declared later
    assert_int_equal(s->bone[1].parent, -1);
    assert_int_equal(s->bone[0].shape.kind, FLX_SHAPE_CAPSULE);
    assert_true(s->bone[0].shape.a[0] == 0.28 && s->bone[0].shape.b[0] == 0.53 && s->bone[0].shape.radius == 0.011);
    assert_int_equal(s->bone[1].shape.kind, FLX_SHAPE_MESH);
    assert_string_equal(s->bone[1].shape.path, "../data/bones/humerus.stl");
    assert_string_equal(s->bone[1].shape.group, "shaft");
    assert_true(s->bone[1].shape.scale == 0.001);

    assert_int_equal(s->attach_count, 1); // one section stands for a list of one
    assert_int_equal(s->attach->bone_count, 2);
    assert_true(s->attach->bone[0] == 1 && s->attach->bone[1] == 0);
    assert_int_equal(s->attach->points, 4000);
    assert_true(s->attach->stiffness == 2000.0);

    assert_int_equal(s->fix_count, 2);
    assert_true(s->fix[0].body == 1 && s->fix[0].stiffness == 0.0 && s->fix[0].from == 0.0 && s->fix[0].until < 0.0);
    assert_int_equal(s->fix[0].region.kind, FLX_SHAPE_ALL);
    assert_true(s->fix[1].region.kind == FLX_SHAPE_PLANE && s->fix[1].region.b[2] == 1.0);
    assert_true(s->fix[1].from == 0.1 && s->fix[1].until == 120.0 && s->fix[1].stiffness == 5.0);
    assert_true(s->load_count == 1 && s->load->force[1] == 1000.0 && s->load->force[2] == -0.003);

    assert_true(s->obstacle[0].shape.b[1] == 0.6 && s->obstacle[0].shape.b[2] == 0.8); // made unit length
    assert_true(s->obstacle[1].shape.kind == FLX_SHAPE_MESH && s->obstacle[1].shape.cell == 0.002);

    assert_int_equal(s->contact_count, 2);
    assert_true(s->contact[0].self && s->contact[0].body == 0 && s->contact[0].obstacle == -1);
    assert_int_equal(s->contact[0].region.kind, FLX_SHAPE_AUTO);
    assert_int_equal(s->contact[0].law, FLX_LAW_UNILATERAL);
    assert_true(!s->contact[1].self && s->contact[1].body == 1 && s->contact[1].obstacle == 1);
    assert_int_equal(s->contact[1].law, FLX_LAW_SPRING);
    assert_true(s->contact[1].stiffness == 3000.0 && s->contact[1].spacing == 0.004 && s->contact[1].margin == 0.0);
    assert_true(s->contact[1].offset == 0.001);

    assert_int_equal(s->settings.mode, FLX_MODE_DYNAMIC);
    assert_int_equal(s->settings.strategy, FLX_STRATEGY_REFACTOR);
    assert_int_equal(s->settings.precision, FLX_PRECISION_DOUBLE);
    assert_true(s->settings.outer == 7 && s->settings.inner == 1 && s->settings.damping == 0.5);
    CHECK_OK(flx_settings_check(ctx, &s->settings));
    assert_true(s->run.frames == 100 && s->run.fps == 25.0 && s->run.checkpoint_every == 10);
    assert_true(s->camera_count == 1 && s->camera->at[0] == 0.28 && s->camera->up[1] == 1.0 && s->camera->width == 0.6);

    flx_scene_destroy(ctx, s);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_rate_becomes_keys_at_the_scenes_frame_rate(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    flx_scene* const s   = read_arm(ctx);
    assert_int_equal(s->motion_count, 2);
    const flx_motion_desc* m = &s->motion[0];
    assert_true(m->bone == 0 && m->obstacle == -1 && m->about[0] == 0.28 && m->axis[2] == 1.0);
    assert_int_equal(m->key_count, 3);
    assert_true(m->key[0].time == 5.0 / 25.0 && m->key[0].angle_deg == 0.0);
    assert_true(m->key[1].time == 49.0 / 25.0 && m->key[1].angle_deg == -110.0); // 44 frames of 2.5 degrees
    assert_true(m->key[2].time == 93.0 / 25.0 && m->key[2].angle_deg == 0.0);
    assert_true(s->motion[1].obstacle == 1 && s->motion[1].bone == -1 && s->motion[1].key_count == 2);
    assert_true(s->motion[1].key[1].translate[2] == -0.02);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

static void the_shortest_scene_has_defaults_for_the_rest(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(read_text(ctx, "flexor: 1\nbodies: {surface: a.obj}\n", NULL, &s));
    assert_string_equal(s->name, "scene");
    assert_string_equal(s->body->name, "body0");
    assert_string_equal(s->body->surface, "a.obj");
    assert_true(s->up_axis == 2 && s->gravity[2] == 0.0);
    assert_true(s->body->scale == 1.0 && s->body->lattice_tets == 100000 && s->body->lattice_cell == 0.0);
    assert_true(s->body->material.young == 30e3 && s->body->material.density == 1000.0);
    assert_true(s->run.frames == 60 && s->run.fps == 30.0);
    const flx_settings defaults = flx_settings_default();
    assert_memory_equal(&s->settings, &defaults, sizeof defaults);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

static void an_unnamed_body_and_all_bones_can_be_left_out(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(read_text(ctx,
                       "flexor: 1\nbodies: {surface: a.obj}\n"
                       "bones:\n"
                       "  - {name: a, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
                       "  - {name: b, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
                       "attach: {points: 10}\n"
                       "contact: {self: body0}\n",
                       NULL, &s));
    assert_true(s->attach->body == 0 && s->attach->bone_count == 2 && s->attach->bone[1] == 1);
    assert_int_equal(s->contact->body, 0);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

static void json_passes_through_the_same_reader(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(read_text(ctx,
                       "{\"flexor\": 1, \"gravity\": [0, 0, -9.81],\n"
                       " \"bodies\": [{\"name\": \"arm\", \"surface\": \"a.obj\", \"repair\": true,\n"
                       "   \"material\": {\"young\": \"30 kPa\", \"density\": 1e3}}],\n"
                       " \"run\": {\"frames\": 7}}\n",
                       NULL, &s));
    assert_true(s->gravity[2] == -9.81 && s->body->repair && s->body->material.young == 30e3 && s->run.frames == 7);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

static void a_byte_order_mark_and_crlf_change_nothing(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(read_text(ctx,
                       "\xEF\xBB\xBF"
                       "flexor: 1\r\nbodies: {surface: a.obj}\r\nrun: {frames: 7}\r\n",
                       NULL, &s));
    assert_int_equal(s->run.frames, 7);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
    check_message("\xEF\xBB\xBF"
                  "flexor: 1\r\nbodies: {surface: a.obj}\r\nrun: {frams: 7}\r\n",
                  NULL, FLX_ERR_SCENE,
                  "scene.yaml:3:7: error: unknown key 'frams' in run; did you mean 'frames'?\n"
                  "    3 | run: {frams: 7}\n"
                  "      |       ^~~~~");
}

static void columns_count_characters_not_bytes(void** state)
{
    (void)state;
    check_message("flexor: 1\nbodies: {name: \xC3\xBC\xE6\x89\x8B, surfac: a.obj}\n", NULL, FLX_ERR_SCENE,
                  "scene.yaml:2:20: error: unknown key 'surfac' in bodies[0]; did you mean 'surface'?\n"
                  "    2 | bodies: {name: \xC3\xBC\xE6\x89\x8B, surfac: a.obj}\n"
                  "      |                    ^~~~~~");
}

static void extreme_but_right_values_are_read(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(read_text(ctx,
                       "flexor: 1\n"
                       "bodies: {surface: a.obj, material: {density: 1e-9, young: 1e9, poisson: 0.0}}\n"
                       "run: {frames: 0, fps: 1e6}\n" // a time step of 1e-6 s
                       "fix: {region: all, stiffness: auto}\n",
                       NULL, &s));
    assert_true(s->body->material.density == 1e-9 && s->body->material.young == 1e9);
    assert_true(s->run.frames == 0 && s->run.fps == 1e6 && s->fix->stiffness == 0.0);
    flx_scene_destroy(ctx, s);
    flx_context_destroy(ctx);
}

// --- files ------------------------------------------------------------------------------------------------

static void missing_files_are_reported_where_they_are_named(void** state)
{
    (void)state;
    const char* text = "flexor: 1\nbodies:\n  - surface: none.obj\n  - tets: .\n  - surface: sub\\there.obj\n";
    mkdir("sub", 0700);
    write_file("sub/there.obj", "v 0 0 0\n", 8);
    write_file("scene.yaml", text, strlen(text));
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(flx_scene_read(ctx, "scene.yaml", NULL, &scene), FLX_ERR_SCENE);
    assert_string_equal(
        flx_context_error(ctx),
        "scene.yaml:3:14: error: bodies[0].surface 'none.obj': there is no such file\n"
        "    3 |   - surface: none.obj\n"
        "      |              ^~~~~~~~\n"
        "scene.yaml:4:11: error: bodies[1].tets '.' is a folder; wanted is a file\n"
        "    4 |   - tets: .\n"
        "      |           ^");
    CHECK_FAILS(flx_scene_read(ctx, "sub/../scene.yaml", NULL, &scene), FLX_ERR_SCENE);
    assert_non_null(strstr(flx_context_error(ctx), "there is no such file (looked for sub/../none.obj)\n"));
    flx_context_destroy(ctx);
}

static void a_scene_that_cannot_be_read_says_why(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(1);
    flx_scene*   scene = NULL;
    CHECK_FAILS(flx_scene_read(ctx, "no/such.yaml", NULL, &scene), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "no/such.yaml"));
    mkdir("folder", 0700);
    CHECK_FAILS(flx_scene_read(ctx, "folder", NULL, &scene), FLX_ERR_IO);
    write_file("empty.yaml", "", 0);
    CHECK_FAILS(flx_scene_read(ctx, "empty.yaml", NULL, &scene), FLX_ERR_SCENE);
    write_file("wide.yaml",
               "\xFF\xFE"
               "f\0l\0",
               6);
    CHECK_FAILS(flx_scene_read(ctx, "wide.yaml", NULL, &scene), FLX_ERR_SCENE);
    assert_string_equal(flx_context_error(ctx), "wide.yaml: this is UTF-16 text; save it as UTF-8");
    FILE* file = fopen("big.yaml", "wb"); // 17 MB, sparse
    assert_true(file && fseek(file, 17 << 20, SEEK_SET) == 0 && fputc('x', file) == 'x' && fclose(file) == 0);
    CHECK_FAILS(flx_scene_read(ctx, "big.yaml", NULL, &scene), FLX_ERR_SCENE);
    assert_string_equal(flx_context_error(ctx),
                        "big.yaml: 17825793 bytes are too many for a scene; allowed are 16777216 (16 MiB)");
    assert_null(scene);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_joint_is_the_centre_of_its_groups_vertices(void** state)
{
    (void)state;
    const char* obj  = "v 9 9 9\nv 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\n"
                       "g other\nf 1 2 3\n"
                       "g joint-l-elbow\nf 2 3 4\nf 2 4 5\nf 2 5 3\n";
    const char* text = "flexor: 1\nbodies: {surface: rig.obj}\n"
                       "joints:\n"
                       "  - {name: elbow, mesh: rig.obj, group: joint-l-elbow, scale: 0.1, translate: [0, 0, 1]}\n"
                       "  - {name: turned, mesh: rig.obj, group: joint-l-elbow, rotate: [0, 0, 90]}\n"
                       "cameras: [{name: a, from: elbow, at: [3, 3, 3]}, {name: b, from: turned, at: [3, 3, 3]}]\n";
    write_file("rig.obj", obj, strlen(obj));
    write_file("scene.yaml", text, strlen(text));
    flx_context* ctx = test_context(1);
    flx_scene*   s   = NULL;
    CHECK_OK(flx_scene_read(ctx, "scene.yaml", NULL, &s));
    for (int k = 0; k < 3; ++k) CHECK_NEAR(s->camera[0].from[k], 0.05 + (k == 2), 1e-15); // each vertex counts once
    assert_true(s->camera[1].from[0] == -0.5 && s->camera[1].from[1] == 0.5 && s->camera[1].from[2] == 0.5);
    flx_scene_destroy(ctx, s);

    const char* wrong = "flexor: 1\nbodies: {surface: rig.obj}\n"
                        "joints: {name: elbow, mesh: rig.obj, group: joint-l-elbo}\n";
    write_file("scene.yaml", wrong, strlen(wrong));
    CHECK_FAILS(flx_scene_read(ctx, "scene.yaml", NULL, &s), FLX_ERR_SCENE);
    assert_string_equal(
        flx_context_error(ctx),
        "scene.yaml:3:45: error: joints[0].group is 'joint-l-elbo', which is not in the mesh; did you mean "
        "'joint-l-elbow'?\n"
        "    3 | joints: {name: elbow, mesh: rig.obj, group: joint-l-elbo}\n"
        "      |                                             ^~~~~~~~~~~~");
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_section_arrives_in_si_units),
        cmocka_unit_test(a_rate_becomes_keys_at_the_scenes_frame_rate),
        cmocka_unit_test(the_shortest_scene_has_defaults_for_the_rest),
        cmocka_unit_test(an_unnamed_body_and_all_bones_can_be_left_out),
        cmocka_unit_test(json_passes_through_the_same_reader),
        cmocka_unit_test(a_byte_order_mark_and_crlf_change_nothing),
        cmocka_unit_test(columns_count_characters_not_bytes),
        cmocka_unit_test(extreme_but_right_values_are_read),
        cmocka_unit_test(missing_files_are_reported_where_they_are_named),
        cmocka_unit_test(a_scene_that_cannot_be_read_says_why),
        cmocka_unit_test(a_joint_is_the_centre_of_its_groups_vertices),
    };
    return cmocka_run_group_tests(tests, scene_folder_enter, scene_folder_leave);
}
