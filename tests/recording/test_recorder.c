#include "fixture.h"

#include <hdf5.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "recording/h5.h"
#include "recording/recording_reader.h"
#include "recording/sealed.h"

// --- helpers ----------------------------------------------------------------------------------------

typedef struct frame_data
{
    flx_frame frame;
    double    x[VERTICES][3];
    float     surface_x[SURFACE_VERTICES][3], force[SURFACE_VERTICES][3], displacement[SURFACE_VERTICES][3];
    float     strain[TETS], volume_ratio[TETS], vertex_displacement[VERTICES][3];
} frame_data;

static void frame_data_point(frame_data* d)
{
    d->frame = (flx_frame){.x                   = d->x[0],
                           .surface_x           = d->surface_x[0],
                           .contact_force       = d->force[0],
                           .displacement        = d->displacement[0],
                           .strain              = d->strain,
                           .volume_ratio        = d->volume_ratio,
                           .vertex_displacement = d->vertex_displacement[0]};
}

// Every number of frame `index` is what the bar had at step k, rounded to single precision.
static void check_frame(flx_context* ctx, flx_recording* recording, int32_t index, bar* b, int k)
{
    frame_data d;
    frame_data_point(&d);
    CHECK_OK(flx_recording_frame(recording, index, &d.frame));
    bar_move(b, k);
    assert_true(d.frame.time == b->frame.time);
    assert_int_equal(d.frame.step, k);
    assert_memory_equal(&d.frame.stats, &b->frame.stats, sizeof b->frame.stats);
    for (int v = 0; v < VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(d.x[v][c] == (float)b->x[v][c]);
            assert_true(d.vertex_displacement[v][c] == (float)(b->x[v][c] - b->rest[v][c]));
        }
    for (int v = 0; v < SURFACE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(d.surface_x[v][c] == (float)b->surface_x[v][c]);
            assert_true(d.force[v][c] == (float)b->contact_force[v][c]);
            assert_true(d.displacement[v][c] == (float)(b->surface_x[v][c] - b->surface_rest[v][c]));
        }
    for (int e = 0; e < TETS; ++e)
    {
        assert_true(d.strain[e] == (float)b->strain[e]);
        assert_true(d.volume_ratio[e] == (float)b->volume_ratio[e]);
    }
}

static void check_recording(flx_context* ctx, const char* path, bar* b, int frames)
{
    flx_recording* recording = NULL;
    CHECK_OK(flx_recording_open(ctx, path, &recording));
    assert_int_equal(flx_recording_get_info(recording).frame_count, frames);
    for (int k = 0; k < frames; ++k) check_frame(ctx, recording, k, b, k);
    flx_recording_close(recording);
}

// The sidecar is whole XML by its outline, and every dataset it names is in the file it names, as the HDF5 library sees
// the file on disk. Returns the number of frames in it.
static int check_sidecar(const char* xdmf, const char* folder)
{
    long  bytes;
    char* text = (char*)slurp(xdmf, &bytes);
    assert_non_null(strstr(text, "<?xml version=\"1.0\""));
    assert_non_null(strstr(text, "</Grid>\n </Domain>\n</Xdmf>\n"));
    int frames = 0;
    for (const char* p = text; (p = strstr(p, "<Time ")); ++p) ++frames;
    char last[1024] = "";
    for (const char* p = text; (p = strstr(p, "\">")); ++p)
    {
        char        file[512], dataset[256], path[1024];
        const char *colon = strchr(p, ':'), *end = strchr(p, '<');
        if (!colon || colon > end || strncmp(colon - 3, ".h5", 3) != 0) continue;
        snprintf(file, sizeof file, "%.*s", (int)(colon - p - 2), p + 2);
        snprintf(dataset, sizeof dataset, "%.*s", (int)(end - colon - 1), colon + 1);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (!exists(path)) fail_msg("%s names %s, which is not there", xdmf, path);
        if (strcmp(path, last) == 0) continue; // one dataset of each file is opened: the test is to stay quick
        snprintf(last, sizeof last, "%s", path);
        const hid_t h = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (h < 0 || H5Lexists(h, dataset, H5P_DEFAULT) <= 0) fail_msg("%s has no %s", path, dataset);
        H5Fclose(h);
    }
    free(text);
    return frames;
}

// --- promises ---------------------------------------------------------------------------------------

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

static void record_for_ever(place* p, bool append)
{
    flx_context*  ctx      = test_context(1);
    flx_recorder* recorder = NULL;
    const bool    go_on    = append && exists(in(p, "run.frames/frame_000001.h5"));
    if (flx__recorder_create(ctx, p->path, &p->bar.topology, true, append, &recorder) != FLX_OK) _exit(1);
    for (int k = go_on ? 2 : 0;; k = k == 20 ? 2 : k + 1) // goes back in time too, so that frames are dropped
    {
        bar_move(&p->bar, k);
        if (flx__recorder_frame(recorder, &p->bar.frame) != FLX_OK) _exit(2);
    }
}

static void killed_at_any_instant_every_frame_that_is_there_is_whole(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx  = p.ctx;
    uint64_t     seed = 2024;
    int          some = 0;
    for (int round = 0; round < 60; ++round)
    {
        const pid_t child = fork();
        if (child == 0) record_for_ever(&p, round % 3 == 2);
        if (round % 4 == 0) // far into the recording, however slow the machine is
            for (int wait = 0; wait < 10000 && !exists(in(&p, "run.frames/frame_000004.h5")); ++wait) usleep(1000);
        usleep((useconds_t)(test_random(&seed) * (round % 2 ? 3000 : 20000)));
        kill(child, SIGKILL);
        int how = 0;
        waitpid(child, &how, 0);
        assert_true(WIFSIGNALED(how)); // it had not failed before
        flx_recording* recording = NULL;
        if (!exists(in(&p, "run.frames/topology.h5"))) continue; // killed before there was a recording
        CHECK_OK(flx_recording_open(ctx, p.path, &recording));
        const int32_t frames = flx_recording_get_info(recording).frame_count;
        for (int32_t k = 0; k < frames; ++k) check_frame(ctx, recording, k, &p.bar, k);
        flx_recording_close(recording);
        const int named = exists(in(&p, "run.xdmf")) ? check_sidecar(in(&p, "run.xdmf"), p.folder) : 0;
        assert_true(named <= frames);                  // never a file that is not there
        const char* folder     = in(&p, "run.frames"); // no frames behind a gap
        const int   unfinished = count_names(folder, ".part") - count_names(folder, "topology.h5.");
        assert_int_equal(count_names(folder, "frame_") - unfinished, frames);
        some += frames > 3;
    }
    assert_true(some > 5); // the test did see recordings of some length
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 3, true, false));
    assert_int_equal(count_names(p.folder, ".part"), 0); // what killed runs left is cleaned up
    place_close(&p);
}

static void check_full_disk(place* p, int recorded, flx_status status)
{
    assert_int_equal(status, FLX_ERR_IO);
    assert_int_equal(count_names(p->folder, ".part"), 0);
    check_recording(p->ctx, p->path, &p->bar, recorded);
    assert_int_equal(check_sidecar(in(p, "run.xdmf"), p->folder), recorded);
}

static void a_full_disk_is_said_and_loses_nothing(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    // a view of the file systems of our own: the mount cannot outlive this program
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", p.folder, "tmpfs", 0, "size=300k") != 0)
    {
        print_message("skipped: no file system may be mounted here\n");
        place_close(&p);
        skip();
    }
    flx_context*  ctx      = p.ctx;
    flx_recorder* recorder = NULL;
    CHECK_OK(flx__recorder_create(ctx, p.path, &p.bar.topology, false, false, &recorder));
    flx_status status = FLX_OK;
    int        k      = 0;
    for (; k < 1000; ++k)
    {
        bar_move(&p.bar, k);
        if ((status = flx__recorder_frame(recorder, &p.bar.frame)) != FLX_OK) break;
    }
    assert_non_null(strstr(flx_context_error(ctx), "disk is full"));
    assert_in_range(k, 5, 100);
    check_full_disk(&p, k, status);
    const int filler = open(in(&p, "filler"), O_CREAT | O_WRONLY, 0600);
    while (write(filler, p.bar.x, 512) == 512)
    {
    }
    close(filler);
    bar_move(&p.bar, 2); // replacing an earlier frame must not lose it or those after it
    status = flx__recorder_frame(recorder, &p.bar.frame);
    check_full_disk(&p, k, status);
    unlink(in(&p, "filler"));
    bar_move(&p.bar, 2);
    status = flx__recorder_frame(recorder, &p.bar.frame);
    assert_int_equal(status, FLX_OK); // there is room again
    CHECK_OK(flx_recorder_close(recorder));
    check_recording(ctx, p.path, &p.bar, 3);

    umount(p.folder);
    place_close(&p);
}

static void a_file_size_limit_is_said_and_loses_nothing(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*  ctx      = p.ctx;
    flx_recorder* recorder = NULL;
    CHECK_OK(flx__recorder_create(ctx, p.path, &p.bar.topology, false, false, &recorder));
    for (int k = 0; k < 3; ++k)
    {
        bar_move(&p.bar, k);
        CHECK_OK(flx__recorder_frame(recorder, &p.bar.frame));
    }
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small            = before;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < 8192; limit += 997) // stops the frame at many places, and then the sidecar
    {
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        bar_move(&p.bar, 3);
        const flx_status status = flx__recorder_frame(recorder, &p.bar.frame);
        setrlimit(RLIMIT_FSIZE, &before);
        check_full_disk(&p, 3, status);
    }
    signal(SIGXFSZ, old);
    bar_move(&p.bar, 3);
    CHECK_OK(flx__recorder_frame(recorder, &p.bar.frame)); // there is room again: it goes on
    CHECK_OK(flx_recorder_close(recorder));
    check_recording(ctx, p.path, &p.bar, 4);
    place_close(&p);
}

static flx_status open_and_read(flx_context* ctx, const char* path)
{
    flx_recording* recording = NULL;
    flx_frame      frame     = {0};
    flx_status     status    = flx_recording_open(ctx, path, &recording);
    if (status == FLX_OK) status = flx_recording_frame(recording, 0, &frame);
    flx_recording_close(recording);
    return status;
}

static void files_cut_short_or_damaged_are_refused_without_a_crash_or_noise(void** state)
{
    (void)state;
    static const char* const victims[] = {"run.frames/topology.h5", "run.frames/frame_000000.h5"};
    place                    p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 1, false, false));

    fflush(stderr);
    const int kept  = dup(STDERR_FILENO);
    const int noise = open(in(&p, "noise"), O_CREAT | O_RDWR, 0600);
    dup2(noise, STDERR_FILENO);
    uint64_t seed = 7;
    int      bad  = 0;
    for (int i = 0; i < 2; ++i)
    {
        long           bytes;
        const char*    victim = victims[i];
        unsigned char* whole  = slurp(in(&p, victim), &bytes);
        for (long n = 0; n < bytes; n += n < 600 ? 7 : 61)
        {
            spill(in(&p, victim), whole, n);
            bad += open_and_read(ctx, p.path) != FLX_ERR_FORMAT;
        }
        for (int k = 0; k < 300; ++k)
        {
            const long at = (long)(test_random(&seed) * (double)(k < 40 ? 64 : bytes));
            if (at >= 64 && at < FLX__SEAL_BYTES) continue; // unused
            whole[at] ^= (unsigned char)(1 << k % 8);
            spill(in(&p, victim), whole, bytes);
            bad += open_and_read(ctx, p.path) != FLX_ERR_FORMAT;
            whole[at] ^= (unsigned char)(1 << k % 8);
        }
        unsigned char* longer = malloc((size_t)bytes + 1);
        memcpy(longer, whole, (size_t)bytes + 1);
        spill(in(&p, victim), longer, bytes + 1);
        bad += open_and_read(ctx, p.path) != FLX_ERR_FORMAT;
        free(longer);

        // under a valid seal, but not HDF5, or HDF5 cut short
        const flx__seal seal = {.model_hash = p.bar.topology.model_hash};
        for (long n = 1; n < bytes - FLX__SEAL_BYTES; n += 173)
        {
            flx_file* file = NULL;
            bad += flx__sealed_begin(ctx, in(&p, victim), i == 0 ? FLX__SEAL_TOPOLOGY : FLX__SEAL_FRAME, &seal,
                                     n % 2 ? whole + FLX__SEAL_BYTES : whole, n, true, &file) != FLX_OK;
            bad += flx__file_commit(file) != FLX_OK;
            bad += open_and_read(ctx, p.path) != FLX_ERR_FORMAT;
        }
        spill(in(&p, victim), whole, bytes);
        bad += open_and_read(ctx, p.path) != FLX_OK;
        free(whole);
    }
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_int_equal(lseek(noise, 0, SEEK_END), 0); // HDF5 printed nothing
    close(noise);
    assert_int_equal(bad, 0);

    CHECK_FAILS(open_and_read(ctx, in(&p, "nothing")), FLX_ERR_IO);
    place_close(&p);
}

static void replace_topology(place* p, const char* dataset, int64_t rows, int64_t columns, const int32_t* data)
{
    flx_context* ctx   = p->ctx;
    flx__h5*     h5    = NULL;
    void*        image = NULL;
    int64_t      bytes = 0;
    flx_file*    file  = NULL;
    const double fps   = 30;
    CHECK_OK(flx__h5_create(ctx, 4096, FLX__SEAL_BYTES, &h5));
    CHECK_OK(flx__h5_put_text(h5, "scene", "made up"));
    CHECK_OK(flx__h5_put_text(h5, "up_axis", "z"));
    CHECK_OK(flx__h5_put_hash(h5, "model_hash", 1));
    CHECK_OK(flx__h5_put_reals(h5, "fps", 1, &fps));
    CHECK_OK(flx__h5_put_integer(h5, "body_count", 1));
    CHECK_OK(flx__h5_put_integer(h5, "vertex_count", 4));
    CHECK_OK(flx__h5_put_integer(h5, "tet_count", 1));
    CHECK_OK(flx__h5_put_integer(h5, "surface_vertex_count", 0));
    CHECK_OK(flx__h5_put_integer(h5, "surface_triangle_count", 0));
    const int32_t tet[4] = {0, 1, 2, 3}, body[1] = {0};
    const double  rest[12] = {0};
    const bool    is_tets  = strcmp(dataset, "tets") == 0;
    CHECK_OK(is_tets ? flx__h5_put(h5, "tets", FLX__H5_I32, rows, columns, data)
                     : flx__h5_put(h5, "tets", FLX__H5_I32, 1, 4, tet));
    CHECK_OK(!is_tets ? flx__h5_put(h5, "tet_body", FLX__H5_I32, rows, columns, data)
                      : flx__h5_put(h5, "tet_body", FLX__H5_I32, 1, 0, body));
    CHECK_OK(flx__h5_put(h5, "rest", FLX__H5_F64, 4, 3, rest));
    CHECK_OK(flx__h5_image(h5, &image, &bytes));
    flx__h5_close(h5);
    const flx__seal seal = {.model_hash = 1};
    CHECK_OK(
        flx__sealed_begin(ctx, in(p, "run.frames/topology.h5"), FLX__SEAL_TOPOLOGY, &seal, image, bytes, true, &file));
    CHECK_OK(flx__file_commit(file));
    flx__free(ctx, image);
}

static void shapes_and_indices_are_checked_before_a_caller_can_trip_over_them(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context*   ctx       = p.ctx;
    flx_recording* recording = NULL;
    CHECK_OK(bar_record(ctx, &p.bar, p.path, 0, 0, false, false));
    const int32_t good[8] = {0, 1, 2, 3, 0, 1, 2, 3}, high[4] = {0, 1, 2, 4}, low[4] = {0, -1, 2, 3};

    replace_topology(&p, "tets", 1, 4, good);
    CHECK_OK(flx_recording_open(ctx, p.path, &recording));
    flx_frame frame = {0};
    CHECK_FAILS(flx_recording_frame(recording, 0, &frame), FLX_ERR_ARGUMENT); // it has no frames
    flx_recording_close(recording);

    replace_topology(&p, "tets", 1, 4, high);
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    assert_non_null(strstr(flx_context_error(ctx), "tets holds index 4, outside [0, 4)"));
    replace_topology(&p, "tets", 1, 4, low);
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    replace_topology(&p, "tets", 2, 4, good); // would overrun the array
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    replace_topology(&p, "tets", 4, 0, good);
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    replace_topology(&p, "tet_body", 1, 0, good + 1); // body 1 of 1
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    assert_null(recording);
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

static flx_status write_and_read(flx_context* ctx, place* p)
{
    flx_status status = bar_record(ctx, &p->bar, p->path, 0, 2, true, false);
    if (status == FLX_OK) status = bar_record(ctx, &p->bar, p->path, 1, 3, false, true);
    flx_recording* recording = NULL;
    frame_data     d;
    frame_data_point(&d);
    if (status == FLX_OK) status = flx_recording_open(ctx, p->path, &recording);
    if (status == FLX_OK) status = flx_recording_frame(recording, 2, &d.frame);
    flx_recording_close(recording);
    return status;
}

static void every_allocation_may_fail_and_frames_stay_whole(void** state)
{
    (void)state;
    place p;
    place_open(&p);
    flx_context* ctx = p.ctx;
    int64_t      n   = 0;
    for (; n < 2000; ++n)
    {
        flx_context_fail_allocation(ctx, n);
        const flx_status status = write_and_read(ctx, &p);
        flx_context_fail_allocation(ctx, -1);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_int_equal(count_names(p.folder, ".part"), 0);
        if (exists(in(&p, "run.frames/topology.h5")) && exists(in(&p, "run.frames/frame_000000.h5")))
            CHECK_OK(open_and_read(ctx, p.path));
    }
    assert_in_range(n, 50, 1999);
    check_recording(ctx, p.path, &p.bar, 3);
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
        cmocka_unit_test(killed_at_any_instant_every_frame_that_is_there_is_whole),
        cmocka_unit_test(a_full_disk_is_said_and_loses_nothing),
        cmocka_unit_test(a_file_size_limit_is_said_and_loses_nothing),
        cmocka_unit_test(files_cut_short_or_damaged_are_refused_without_a_crash_or_noise),
        cmocka_unit_test(shapes_and_indices_are_checked_before_a_caller_can_trip_over_them),
        cmocka_unit_test(meshes_without_tets_or_without_a_surface_are_recorded_too),
        cmocka_unit_test(every_allocation_may_fail_and_frames_stay_whole),
        cmocka_unit_test(long_recordings_keep_a_sidecar_that_is_right_though_not_always_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
