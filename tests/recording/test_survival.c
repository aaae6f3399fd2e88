// Killed, out of room, damaged, out of memory: what was recorded stays readable.
#include "checks.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "recording/h5.h"
#include "recording/sealed.h"

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
        for (long n = 0; n < bytes; ++n)
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
    const bool is_bones = strncmp(dataset, "bones/", 6) == 0;
    CHECK_OK(flx__h5_put_integer(h5, "obstacle_count", 0));
    CHECK_OK(flx__h5_put_integer(h5, "obstacle_vertex_count", 0));
    CHECK_OK(flx__h5_put_integer(h5, "obstacle_triangle_count", 0));
    CHECK_OK(flx__h5_put_integer(h5, "bone_count", is_bones));
    CHECK_OK(flx__h5_put_integer(h5, "bone_vertex_count", is_bones ? 3 : 0));
    CHECK_OK(flx__h5_put_integer(h5, "bone_triangle_count", is_bones));
    const int32_t tet[4] = {0, 1, 2, 3}, body[1] = {0};
    const double  rest[12] = {0};
    const bool    is_tets = strcmp(dataset, "tets") == 0, is_bodies = strcmp(dataset, "tet_body") == 0;
    CHECK_OK(is_tets ? flx__h5_put(h5, "tets", FLX__H5_I32, rows, columns, data)
                     : flx__h5_put(h5, "tets", FLX__H5_I32, 1, 4, tet));
    CHECK_OK(is_bodies ? flx__h5_put(h5, "tet_body", FLX__H5_I32, rows, columns, data)
                       : flx__h5_put(h5, "tet_body", FLX__H5_I32, 1, 0, body));
    if (is_bones)
    {
        const int32_t triangle[3] = {0, 1, 2}, shape[1] = {7}, owner[1] = {0};
        const bool    is_owner = strcmp(dataset, "bones/triangle_solid") == 0;
        CHECK_OK(flx__h5_put(h5, "bones/shape", FLX__H5_I32, 1, 0, shape));
        CHECK_OK(flx__h5_put(h5, "bones/rest", FLX__H5_F64, 3, 3, rest));
        CHECK_OK(is_owner ? flx__h5_put(h5, "bones/triangles", FLX__H5_I32, 1, 3, triangle)
                          : flx__h5_put(h5, "bones/triangles", FLX__H5_I32, rows, columns, data));
        CHECK_OK(is_owner ? flx__h5_put(h5, "bones/triangle_solid", FLX__H5_I32, rows, columns, data)
                          : flx__h5_put(h5, "bones/triangle_solid", FLX__H5_I32, 1, 0, owner));
    }
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

    replace_topology(&p, "bones/triangles", 1, 3, good);
    CHECK_OK(flx_recording_open(ctx, p.path, &recording));
    flx_recording_close(recording);
    replace_topology(&p, "bones/triangles", 1, 3, good + 1); // vertex 3 of 3
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    replace_topology(&p, "bones/triangles", 2, 3, good);
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    replace_topology(&p, "bones/triangle_solid", 1, 0, good + 1); // bone 1 of 1
    CHECK_FAILS(flx_recording_open(ctx, p.path, &recording), FLX_ERR_FORMAT);
    assert_null(recording);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_any_instant_every_frame_that_is_there_is_whole),
        cmocka_unit_test(a_full_disk_is_said_and_loses_nothing),
        cmocka_unit_test(a_file_size_limit_is_said_and_loses_nothing),
        cmocka_unit_test(files_cut_short_or_damaged_are_refused_without_a_crash_or_noise),
        cmocka_unit_test(shapes_and_indices_are_checked_before_a_caller_can_trip_over_them),
        cmocka_unit_test(every_allocation_may_fail_and_frames_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
