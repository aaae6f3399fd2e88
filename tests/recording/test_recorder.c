#include "checks.h"

#include "recording/recording_reader.h"

static void what_is_read_is_what_was_recorded(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 7, false, false));

    flx_recording* recording = NULL;
    CHECK_OK(flx_recording_open(ctx, p.path, &recording));
    const flx_recording_info info = flx_recording_get_info(recording);
    assert_int_equal(info.frame_count, 7);
    assert_int_equal(info.vertex_count, VERTICES);
    assert_int_equal(info.tet_count, TETS);
    assert_int_equal(info.surface_vertex_count, SURFACE_VERTICES);
    assert_int_equal(info.surface_triangle_count, TRIANGLES);
    assert_int_equal(info.body_count, 2);
    assert_int_equal(info.up_axis, 2);
    assert_true(info.fps == 30);
    assert_true(info.model_hash == p.bar.topology.model_hash);
    assert_string_equal(flx_recording_scene_name(recording), "a bar");
    assert_memory_equal(flx_recording_tets(recording), p.bar.tets, sizeof p.bar.tets);
    assert_memory_equal(flx_recording_tet_body(recording), p.bar.tet_body, sizeof p.bar.tet_body);
    assert_memory_equal(flx_recording_surface_triangles(recording), p.bar.triangles, sizeof p.bar.triangles);
    assert_memory_equal(flx_recording_rest(recording), p.bar.rest, sizeof p.bar.rest);
    assert_memory_equal(flx_recording_surface_rest(recording), p.bar.surface_rest, sizeof p.bar.surface_rest);
    for (int k = 0; k < 7; ++k) check_frame(ctx, recording, k, &p.bar, k);

    flx_frame nothing = {0}; // all arrays may be left out
    CHECK_OK(flx_recording_frame(recording, 3, &nothing));
    assert_true(nothing.time == 0.1);
    flx_recording_close(recording);
    place_close(&p);
}

static void other_programs_find_plain_hdf5_files_that_the_sidecar_names(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 3, false, false));
    assert_int_equal(check_sidecar(in(&p, "run.xdmf"), p.folder), 3);

    const hid_t file = H5Fopen(in(&p, "run.frames/frame_000002.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    double      time = 0;
    float       x[VERTICES][3];
    const hid_t attribute = H5Aopen(file, "time", H5P_DEFAULT);
    const hid_t dataset   = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t type      = H5Dget_type(dataset);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, &time) >= 0);
    assert_true(H5Tequal(type, H5T_IEEE_F32LE) > 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    bar_move(&p.bar, 2);
    assert_true(time == p.bar.frame.time);
    for (int v = 0; v < VERTICES; ++v) assert_true(x[v][1] == (float)p.bar.x[v][1]);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Aclose(attribute);
    H5Fclose(file);
    place_close(&p);
}

static void the_sidecar_has_one_entry_a_frame_with_exact_dimensions(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 2, false, false));
    long  bytes;
    char* text = (char*)slurp(in(&p, "run.xdmf"), &bytes);
    assert_non_null(strstr(text, "<Time Value=\"0.0333333333333333\"/>"));
    assert_non_null(strstr(text,
                           "TopologyType=\"Tetrahedron\" NumberOfElements=\"25\"><DataItem Format=\"HDF\" "
                           "NumberType=\"Int\" Precision=\"4\" Dimensions=\"25 4\">run.frames/topology.h5:/tets<"));
    assert_non_null(strstr(text, "Dimensions=\"24 3\">run.frames/frame_000001.h5:/x<"));
    assert_non_null(strstr(text, "Dimensions=\"25 3\">run.frames/frame_000001.h5:/surface/contact_force<"));
    assert_non_null(strstr(text, "Dimensions=\"25\">run.frames/frame_000001.h5:/tet/volume_ratio<"));
    assert_non_null(strstr(text, "Dimensions=\"8 3\">run.frames/frame_000001.h5:/obstacles/x<"));
    assert_non_null(strstr(text, "Dimensions=\"4 3\">run.frames/topology.h5:/bones/triangles<"));
    free(text);
    place_close(&p);
}

static void a_recording_is_found_by_any_of_its_names(void** state)
{
    (void)state;
    static const char* const names[] = {"run", "run.xdmf", "run.h5", "run.frames", "run.frames/"};
    place                    p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    for (size_t i = 0; i < 5; ++i)
    {
        CHECK_OK(bar_record(ctx, &p.bar, in(&p, names[i]), 0, 1, i > 0, false));
        check_recording(ctx, in(&p, names[4 - i]), &p.bar, 1);
    }
    assert_int_equal(count_names(p.folder, "run"), 2); // run.xdmf and run.frames, nothing else
    place_close(&p);
}

static void paths_may_hold_blanks_percent_signs_ampersands_and_any_letters(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx  = p.ctx;
    const char*  name = "Lauf \xC3\xBC"
                        "ber 100 %d & <mehr>";
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, name), 0, 2, false, false));
    check_recording(ctx, in(&p, name), &p.bar, 2);
    char sidecar[600];
    snprintf(sidecar, sizeof sidecar, "%s.xdmf", in(&p, name));
    long  bytes;
    char* text = (char*)slurp(sidecar, &bytes);
    assert_non_null(strstr(text, "Lauf \xC3\xBC"
                                 "ber 100 %d &amp; &lt;mehr&gt;.frames/frame_000001.h5:/x"));
    free(text);
    place_close(&p);
}

static void what_is_there_is_replaced_only_when_asked(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 5, false, false));
    CHECK_FAILS(bar_record(ctx, &p.bar, p.path, 0, 2, false, false), FLX_ERR_EXISTS);
    check_recording(ctx, p.path, &p.bar, 5);
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 2, true, false));
    check_recording(ctx, p.path, &p.bar, 2);
    assert_int_equal(count_names(p.folder, "frame_"), 2);
    assert_int_equal(check_sidecar(in(&p, "run.xdmf"), p.folder), 2);

    spill(in(&p, "other.xdmf"), "mine", 4); // a file of that name that is no recording
    CHECK_FAILS(bar_record(ctx, &p.bar, in(&p, "other"), 0, 2, false, false), FLX_ERR_EXISTS);
    spill(in(&p, "third.frames"), "mine", 4);
    CHECK_FAILS(bar_record(ctx, &p.bar, in(&p, "third"), 0, 2, true, false), FLX_ERR_IO);
    CHECK_FAILS(bar_record(ctx, &p.bar, in(&p, "no/such/run"), 0, 2, true, false), FLX_ERR_IO);
    CHECK_FAILS(bar_record(ctx, &p.bar, in(&p, ".xdmf"), 0, 2, true, false), FLX_ERR_ARGUMENT);
    place_close(&p);
}

static void a_resumed_recording_equals_the_straight_one_byte_for_byte(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "straight"), 0, 9, false, false));
    for (int resume = 0; resume <= 6; ++resume) // from the rest pose, the middle, and right behind the last frame
    {
        CHECK_OK(bar_record(ctx, &p.bar, in(&p, "twice"), 0, 6, true, false));
        CHECK_OK(bar_record(ctx, &p.bar, in(&p, "twice"), resume, 9, false, true));
        for (int k = 0; k < 9; ++k)
        {
            char name[64];
            snprintf(name, sizeof name, "straight.frames/frame_%06d.h5", k);
            const char* a = in(&p, name);
            snprintf(name, sizeof name, "twice.frames/frame_%06d.h5", k);
            assert_true(same_file(a, in(&p, name)));
        }
        assert_int_equal(check_sidecar(in(&p, "twice.xdmf"), p.folder), 9);
        assert_int_equal(count_names(in(&p, "twice.frames"), "frame_"), 9);
    }
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "twice"), 3, 4, false, true)); // stopped early: later frames are gone
    check_recording(ctx, in(&p, "twice"), &p.bar, 4);
    assert_int_equal(check_sidecar(in(&p, "twice.xdmf"), p.folder), 4);
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "new"), 0, 2, false, true)); // nothing to continue: a new one
    check_recording(ctx, in(&p, "new"), &p.bar, 2);
    place_close(&p);
}

static void a_recording_of_another_model_is_not_continued(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 3, false, false));
    p.bar.topology.model_hash += 1;
    CHECK_FAILS(bar_record(ctx, &p.bar, p.path, 3, 5, true, true), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "another model"));
    p.bar.topology.model_hash -= 1;
    check_recording(ctx, p.path, &p.bar, 3);

    // nor is a frame of another model, put there by hand, taken for one of this
    p.bar.topology.model_hash += 1;
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "other"), 0, 3, false, false));
    assert_int_equal(rename(in(&p, "other.frames/frame_000001.h5"), in(&p, "run.frames/frame_000001.h5")), 0);
    flx_recording* recording = NULL;
    flx_frame      frame     = {0};
    CHECK_OK(flx_recording_open(ctx, p.path, &recording));
    CHECK_FAILS(flx_recording_frame(recording, 1, &frame), FLX_ERR_FORMAT);
    CHECK_OK(flx_recording_frame(recording, 2, &frame));
    flx_recording_close(recording);
    place_close(&p);
}

static void a_time_recorded_twice_replaces_that_frame_and_what_follows(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx      = p.ctx;
    flx_recorder* recorder = NULL;
    CHECK_OK(flx__recorder_create(ctx, p.path, &p.bar.topology, false, false, &recorder));
    static const int steps[] = {0, 1, 2, 3, 3, 1, 2};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i)
    {
        bar_move(&p.bar, steps[i]);
        p.bar.frame.time *= 1 + 1e-15; // as rounding of accumulated steps would
        CHECK_OK(flx__recorder_frame(recorder, &p.bar.frame));
        p.bar.frame.time = NAN;
        CHECK_FAILS(flx__recorder_frame(recorder, &p.bar.frame), FLX_ERR_ARGUMENT);
    }
    CHECK_OK(flx_recorder_close(recorder));
    assert_int_equal(count_names(p.folder, "frame_"), 3);
    assert_int_equal(check_sidecar(in(&p, "run.xdmf"), p.folder), 3);
    place_close(&p);
}

static void log_text(void* user, flx_log_level level, const char* text)
{
    if (level <= FLX_LOG_WARNING) snprintf(user, 512, "%s", text);
}

static void frames_missing_between_recording_and_checkpoint_are_told(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    char             heard[512] = "";
    flx_context_desc desc       = flx_context_desc_default();
    desc.worker_count           = 1;
    desc.log                    = log_text;
    desc.log_user               = heard;
    flx_context* ctx            = NULL;
    assert_int_equal(flx_context_create(&desc, &ctx), FLX_OK);
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 3, false, false));
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 3, 4, false, true));
    assert_string_equal(heard, "");
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 6, 7, false, true));
    assert_non_null(strstr(heard, "nothing was recorded between 0.1 s and 0.2 s"));
    flx_context_destroy(ctx);
    place_close(&p);
}

static void a_recording_can_be_read_while_it_is_written(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx      = p.ctx;
    flx_recorder* recorder = NULL;
    CHECK_OK(flx__recorder_create(ctx, p.path, &p.bar.topology, false, false, &recorder));
    for (int k = 0; k < 4; ++k)
    {
        check_recording(ctx, p.path, &p.bar, k);
        assert_int_equal(check_sidecar(in(&p, "run.xdmf"), p.folder), k);
        bar_move(&p.bar, k);
        CHECK_OK(flx__recorder_frame(recorder, &p.bar.frame));
    }
    check_recording(ctx, p.path, &p.bar, 4);
    CHECK_OK(flx_recorder_close(recorder));
    place_close(&p);
}

static void meshes_without_tets_or_without_a_surface_are_recorded_too(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*   ctx       = p.ctx;
    flx_recording* recording = NULL;
    flx_frame      frame     = {0};
    p.bar.topology.tet_count = 0;
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "cloth"), 0, 2, false, false));
    CHECK_OK(flx_recording_open(ctx, in(&p, "cloth"), &recording));
    CHECK_OK(flx_recording_frame(recording, 1, &frame));
    flx_recording_close(recording);
    assert_int_equal(check_sidecar(in(&p, "cloth.xdmf"), p.folder), 2);

    p.bar.topology.tet_count            = TETS;
    p.bar.topology.surface_vertex_count = p.bar.topology.surface_triangle_count = 0;
    CHECK_OK(bar_record(ctx, &p.bar, in(&p, "bare"), 0, 2, false, false));
    CHECK_OK(flx_recording_open(ctx, in(&p, "bare"), &recording));
    CHECK_OK(flx_recording_frame(recording, 1, &frame));
    flx_recording_close(recording);
    assert_int_equal(check_sidecar(in(&p, "bare.xdmf"), p.folder), 2);
    p.bar.topology.fps = 0;
    CHECK_FAILS(bar_record(ctx, &p.bar, in(&p, "still"), 0, 2, false, false), FLX_ERR_ARGUMENT);
    place_close(&p);
}

static void long_recordings_keep_a_sidecar_that_is_right_though_not_always_new(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx      = p.ctx;
    flx_recorder* recorder = NULL;
    // few bytes a frame: this is about their number
    p.bar.topology.tet_count = p.bar.topology.surface_triangle_count = p.bar.topology.surface_vertex_count = 0;
    CHECK_OK(flx__recorder_create(ctx, p.path, &p.bar.topology, false, false, &recorder));
    for (int k = 0; k < 1030; ++k)
    {
        bar_move(&p.bar, k);
        CHECK_OK(flx__recorder_frame(recorder, &p.bar.frame));
    }
    flx_recording* recording = NULL;
    CHECK_OK(flx_recording_open(ctx, p.path, &recording));
    assert_int_equal(flx_recording_get_info(recording).frame_count, 1030);
    double time = 0;
    CHECK_OK(flx__recording_time(recording, 1029, &time));
    assert_true(time == 1029 / 30.0);
    flx_recording_close(recording);
    CHECK_OK(flx_recorder_close(recorder));
    long  bytes;
    char* text = (char*)slurp(in(&p, "run.xdmf"), &bytes);
    assert_non_null(strstr(text, "frame 1029"));
    free(text);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_recorded),
        cmocka_unit_test(other_programs_find_plain_hdf5_files_that_the_sidecar_names),
        cmocka_unit_test(the_sidecar_has_one_entry_a_frame_with_exact_dimensions),
        cmocka_unit_test(a_recording_is_found_by_any_of_its_names),
        cmocka_unit_test(paths_may_hold_blanks_percent_signs_ampersands_and_any_letters),
        cmocka_unit_test(what_is_there_is_replaced_only_when_asked),
        cmocka_unit_test(a_resumed_recording_equals_the_straight_one_byte_for_byte),
        cmocka_unit_test(a_recording_of_another_model_is_not_continued),
        cmocka_unit_test(a_time_recorded_twice_replaces_that_frame_and_what_follows),
        cmocka_unit_test(frames_missing_between_recording_and_checkpoint_are_told),
        cmocka_unit_test(a_recording_can_be_read_while_it_is_written),
        cmocka_unit_test(meshes_without_tets_or_without_a_surface_are_recorded_too),
        cmocka_unit_test(long_recordings_keep_a_sidecar_that_is_right_though_not_always_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
