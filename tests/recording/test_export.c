#include "fixture.h"

#include <locale.h>
#include <signal.h>
#include <sys/resource.h>

#define FRAMES 6
#define POINTS (SURFACE_VERTICES - 1)

typedef struct exporting
{
    place              p;
    flx_recording*     recording;
    flx_export_options options;
} exporting;

static void exporting_open(exporting* e)
{
    place_open(&e->p);
    flx_context* ctx = e->p.ctx;
    CHECK_OK(bar_record(ctx, &e->p.bar, e->p.path, 0, FRAMES, false, false));
    CHECK_OK(flx_recording_open(ctx, e->p.path, &e->recording));
    e->options = flx_export_options_default();
}

static void exporting_close(exporting* e)
{
    flx_recording_close(e->recording);
    place_close(&e->p);
}

static flx_status export_to(exporting* e, const char* name)
{
    return flx_export(e->p.ctx, e->recording, in(&e->p, name), &e->options);
}

// Number of files beside the recording.
static int exported(const exporting* e)
{
    return count_names(e->p.folder, "") - 2 - 1 - FRAMES;
}

static uint32_t word(const unsigned char* p, bool big)
{
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static float real(const unsigned char* p, bool big)
{
    const uint32_t w = word(p, big);
    float          f;
    memcpy(&f, &w, 4);
    return f;
}

// The k-th compact point is surface vertex k, or k + 1 behind the lonely one.
static int vertex_of(int point)
{
    return point < LONELY ? point : point + 1;
}

static void check_point(exporting* e, const unsigned char* data, bool big, int point, int step)
{
    bar* b = &e->p.bar;
    bar_move(b, step);
    const double* x = b->surface_x[vertex_of(point)];
    assert_true(real(data, big) == (float)x[0]);
    assert_true(real(data + 4, big) == (float)x[2]); // y-up: (x, z, -y)
    assert_true(real(data + 8, big) == -(float)x[1]);
}

// --- caches -----------------------------------------------------------------------------------------

static void pc2_has_the_documented_layout_and_numbers_vertices_like_its_obj(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    e.options.first  = 1;
    e.options.every  = 2;
    CHECK_OK(export_to(&e, "x.pc2"));
    assert_int_equal(exported(&e), 2);

    long           bytes;
    unsigned char* d = slurp(in(&e.p, "x.pc2"), &bytes);
    assert_int_equal(bytes, 32 + 3 * POINTS * 12);
    assert_memory_equal(d, "POINTCACHE2\0", 12);
    assert_int_equal(word(d + 12, false), 1);
    assert_int_equal(word(d + 16, false), POINTS);
    assert_true(real(d + 20, false) == 1); // start
    assert_true(real(d + 24, false) == 2); // frames a sample
    assert_int_equal(word(d + 28, false), 3);
    for (int k = 0; k < 3; ++k)
        for (int v = 0; v < POINTS; ++v) check_point(&e, d + 32 + 12 * (k * POINTS + v), false, v, 1 + 2 * k);
    free(d);

    char* text = (char*)slurp(in(&e.p, "x.obj"), &bytes);
    assert_non_null(strstr(text, "\no a_bar\n"));
    int         v = 0, f = 0;
    const char* line = text;
    for (; line && *line; line = strchr(line, '\n'), line += line != NULL)
    {
        float x[3];
        int   c[3];
        if (sscanf(line, "v %f %f %f", &x[0], &x[1], &x[2]) == 3)
        {
            const double* rest = e.p.bar.surface_rest[vertex_of(v++)];
            assert_true(x[0] == (float)rest[0] && x[1] == (float)rest[2] && x[2] == -(float)rest[1]);
        }
        else if (sscanf(line, "f %d %d %d", &c[0], &c[1], &c[2]) == 3)
        {
            for (int i = 0; i < 3; ++i) assert_int_equal(vertex_of(c[i] - 1), e.p.bar.triangles[f][i]);
            ++f;
        }
        else
            assert_true(*line == '#' || *line == 'o'); // nothing else is in it
    }
    assert_int_equal(v, POINTS);
    assert_int_equal(f, TRIANGLES);
    free(text);
    exporting_close(&e);
}

static void mdd_is_big_endian_with_times_in_seconds(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    CHECK_OK(export_to(&e, "x.mdd"));
    long           bytes;
    unsigned char* d = slurp(in(&e.p, "x.mdd"), &bytes);
    assert_int_equal(bytes, 8 + FRAMES * 4 + FRAMES * POINTS * 12);
    assert_int_equal(word(d, true), FRAMES);
    assert_int_equal(word(d + 4, true), POINTS);
    for (int k = 0; k < FRAMES; ++k) assert_true(real(d + 8 + 4 * k, true) == (float)(k / 30.0));
    for (int k = 0; k < FRAMES; ++k)
        for (int v = 0; v < POINTS; ++v) check_point(&e, d + 8 + 4 * FRAMES + 12 * (k * POINTS + v), true, v, k);
    free(d);
    assert_true(exists(in(&e.p, "x.obj")));

    // after PC2 the mesh is there already: it is kept
    CHECK_OK(export_to(&e, "y.pc2"));
    CHECK_OK(export_to(&e, "y.mdd"));
    assert_int_equal(exported(&e), 5);
    assert_true(same_file(in(&e.p, "x.obj"), in(&e.p, "y.obj")));
    exporting_close(&e);
}

static void axes_and_scale_are_as_asked(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    e.options.y_up   = false;
    e.options.scale  = 100;
    CHECK_OK(export_to(&e, "z.pc2"));
    bar_move(&e.p.bar, 0);
    long           bytes;
    unsigned char* d = slurp(in(&e.p, "z.pc2"), &bytes);
    for (int c = 0; c < 3; ++c)
        assert_true(real(d + 32 + 12 + 4 * c, false) == 100.0f * (float)e.p.bar.surface_x[1][c]);
    free(d);
    flx_recording_close(e.recording);

    e.p.bar.topology.up_axis = 1; // a y-up scene needs no turn
    e.options.y_up           = true;
    e.options.scale          = 1;
    CHECK_OK(bar_record(ctx, &e.p.bar, e.p.path, 0, FRAMES, true, false));
    CHECK_OK(flx_recording_open(ctx, e.p.path, &e.recording));
    CHECK_OK(export_to(&e, "y.pc2"));
    bar_move(&e.p.bar, 0);
    d = slurp(in(&e.p, "y.pc2"), &bytes);
    for (int c = 0; c < 3; ++c) assert_true(real(d + 32 + 12 + 4 * c, false) == (float)e.p.bar.surface_x[1][c]);
    free(d);
    exporting_close(&e);
}

// --- ParaView ---------------------------------------------------------------------------------------

// The bytes of an appended array, by its name in the header; checks the 64-bit byte count before them.
static const unsigned char* appended(const unsigned char* file, const char* name, uint64_t bytes)
{
    char key[64];
    snprintf(key, sizeof key, "Name=\"%s\"", name);
    const char* at = strstr((const char*)file, key);
    if (!at) fail_msg("no array %s", name);
    const char* offset = strstr(at, "offset=\"");
    const char* data   = strstr((const char*)file, "<AppendedData encoding=\"raw\">\n_");
    if (!offset || !data) fail_msg("array %s is not appended", name);
    const unsigned char* p =
        (const unsigned char*)data + strlen("<AppendedData encoding=\"raw\">\n_") + strtol(offset + 8, NULL, 10);
    assert_int_equal(word(p, false) | (uint64_t)word(p + 4, false) << 32, bytes);
    return p + 8;
}

static void vtu_arrays_lie_where_their_offsets_say(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    bar*         b   = &e.p.bar;
    CHECK_OK(export_to(&e, "x.pvd"));
    assert_int_equal(exported(&e), 4 * FRAMES + 1);
    bar_move(b, 4);

    long           bytes;
    unsigned char* d = slurp(in(&e.p, "x_0004.vtu"), &bytes);
    assert_non_null(strstr((char*)d, "byte_order=\"LittleEndian\" header_type=\"UInt64\""));
    assert_non_null(strstr((char*)d, "<Piece NumberOfPoints=\"24\" NumberOfCells=\"25\">"));
    assert_non_null(strstr((char*)d, "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">0.1333333333333333"));
    const unsigned char* x      = appended(d, "Points", VERTICES * 12);
    const unsigned char* u      = appended(d, "displacement", VERTICES * 12);
    const unsigned char* tet    = appended(d, "connectivity", TETS * 16);
    const unsigned char* end    = appended(d, "offsets", TETS * 4);
    const unsigned char* type   = appended(d, "types", TETS);
    const unsigned char* strain = appended(d, "strain", TETS * 4);
    const unsigned char* ratio  = appended(d, "volume_ratio", TETS * 4);
    const unsigned char* body   = appended(d, "body", TETS * 4);
    for (int v = 0; v < VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(real(x + 12 * v + 4 * c, false) == (float)b->x[v][c]);
            assert_true(real(u + 12 * v + 4 * c, false) == (float)(b->x[v][c] - b->rest[v][c]));
        }
    for (int t = 0; t < TETS; ++t)
    {
        for (int k = 0; k < 4; ++k) assert_int_equal(word(tet + 16 * t + 4 * k, false), b->tets[t][k]);
        assert_int_equal(word(end + 4 * t, false), 4 * (t + 1));
        assert_int_equal(type[t], 10);
        assert_true(real(strain + 4 * t, false) == (float)b->strain[t]);
        assert_true(real(ratio + 4 * t, false) == (float)b->volume_ratio[t]);
        assert_int_equal(word(body + 4 * t, false), b->tet_body[t]);
    }
    static const char tail[] = "\n</AppendedData>\n</VTKFile>\n"; // right behind the last array
    assert_ptr_equal(body + TETS * 4, d + bytes - strlen(tail));
    assert_string_equal((char*)d + bytes - strlen(tail), tail);
    free(d);

    d                          = slurp(in(&e.p, "x_surface_0004.vtu"), &bytes);
    x                          = appended(d, "Points", SURFACE_VERTICES * 12);
    u                          = appended(d, "displacement", SURFACE_VERTICES * 12);
    const unsigned char* force = appended(d, "contact_force", SURFACE_VERTICES * 12);
    type                       = appended(d, "types", TRIANGLES);
    for (int v = 0; v < SURFACE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(real(x + 12 * v + 4 * c, false) == (float)b->surface_x[v][c]); // the scene's axes
            assert_true(real(u + 12 * v + 4 * c, false) == (float)(b->surface_x[v][c] - b->surface_rest[v][c]));
            assert_true(real(force + 12 * v + 4 * c, false) == (float)b->contact_force[v][c]);
        }
    assert_int_equal(type[TRIANGLES - 1], 5);
    free(d);

    d                           = slurp(in(&e.p, "x_obstacles_0004.vtu"), &bytes);
    x                           = appended(d, "Points", OBSTACLE_VERTICES * 12);
    const unsigned char* corner = appended(d, "connectivity", OBSTACLE_TRIANGLES * 12);
    const unsigned char* solid  = appended(d, "solid", OBSTACLE_TRIANGLES * 4);
    for (int v = 0; v < OBSTACLE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) assert_true(real(x + 12 * v + 4 * c, false) == (float)b->obstacle_x[v][c]);
    for (int t = 0; t < OBSTACLE_TRIANGLES; ++t)
    {
        for (int k = 0; k < 3; ++k) assert_int_equal(word(corner + 12 * t + 4 * k, false), b->obstacle_triangles[t][k]);
        assert_int_equal(word(solid + 4 * t, false), t / 4);
    }
    free(d);
    d = slurp(in(&e.p, "x_bones_0004.vtu"), &bytes);
    x = appended(d, "Points", BONE_VERTICES * 12);
    for (int v = 0; v < BONE_VERTICES; ++v)
        for (int c = 0; c < 3; ++c) assert_true(real(x + 12 * v + 4 * c, false) == (float)b->bone_x[v][c]);
    free(d);

    char* text = (char*)slurp(in(&e.p, "x.pvd"), &bytes);
    assert_non_null(strstr(text, "<VTKFile type=\"Collection\" version=\"0.1\">"));
    assert_non_null(strstr(text, "<DataSet timestep=\"0.1\" part=\"0\" file=\"x_0003.vtu\"/>\n"
                                 "<DataSet timestep=\"0.1\" part=\"1\" file=\"x_surface_0003.vtu\"/>\n"
                                 "<DataSet timestep=\"0.1\" part=\"2\" file=\"x_obstacles_0003.vtu\"/>\n"
                                 "<DataSet timestep=\"0.1\" part=\"3\" file=\"x_bones_0003.vtu\"/>\n"));
    free(text);
    exporting_close(&e);
}

// --- sequences --------------------------------------------------------------------------------------

static void ply_files_are_binary_and_one_a_frame(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    e.options.first  = 2;
    CHECK_OK(export_to(&e, "x_%03d.ply"));
    assert_int_equal(exported(&e), FRAMES - 2);
    assert_false(exists(in(&e.p, "x_001.ply")));
    long           bytes;
    unsigned char* d    = slurp(in(&e.p, "x_003.ply"), &bytes);
    unsigned char* body = (unsigned char*)strstr((char*)d, "end_header\n");
    assert_non_null(body);
    assert_memory_equal(d, "ply\nformat binary_little_endian 1.0\n", 36);
    assert_non_null(strstr((char*)d, "element vertex 24\n"));
    assert_non_null(strstr((char*)d, "element face 40\n"));
    body += strlen("end_header\n");
    assert_int_equal(bytes, body - d + POINTS * 12 + TRIANGLES * 13);
    bar_move(&e.p.bar, 3);
    for (int v = 0; v < POINTS; ++v)
        for (int c = 0; c < 3; ++c) // the scene's axes
            assert_true(real(body + 12 * v + 4 * c, false) == (float)e.p.bar.surface_x[vertex_of(v)][c]);
    for (int t = 0; t < TRIANGLES; ++t)
    {
        const unsigned char* face = body + POINTS * 12 + 13 * t;
        assert_int_equal(face[0], 3);
        for (int k = 0; k < 3; ++k)
            assert_int_equal(vertex_of((int)word(face + 1 + 4 * k, false)), e.p.bar.triangles[t][k]);
    }
    free(d);

    CHECK_OK(export_to(&e, "x_%d.obj"));
    assert_true(exists(in(&e.p, "x_2.obj")) && exists(in(&e.p, "x_5.obj")) && !exists(in(&e.p, "x_6.obj")));
    char* text = (char*)slurp(in(&e.p, "x_5.obj"), &bytes);
    bar_move(&e.p.bar, 5);
    float x[3];
    assert_int_equal(sscanf(strstr(text, "\nv "), "\nv %f %f %f", &x[0], &x[1], &x[2]), 3);
    assert_true(x[0] == (float)e.p.bar.surface_x[0][0] && x[1] == (float)e.p.bar.surface_x[0][2]);
    free(text);
    exporting_close(&e);
}

static void the_pattern_is_parsed_and_never_a_format(void** state)
{
    (void)state;
    static const char* const bad[] = {
        "x_%s.ply",    "x_%n.ply",     "x_%d_%d.ply",          "x_%.ply",   "x_%-4d.ply", "x_%ld.ply",
        "x_%5.2f.ply", "x_%0099d.ply", "x_%999999999999d.ply", "x_%*d.ply", "x%"};
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) CHECK_FAILS(export_to(&e, bad[i]), FLX_ERR_ARGUMENT);
    CHECK_FAILS(export_to(&e, "x.ply"), FLX_ERR_ARGUMENT); // six frames, one name
    assert_int_equal(exported(&e), 0);

    e.options.first = e.options.last = 4;
    CHECK_OK(export_to(&e, "x.ply")); // one frame may have a plain name
    CHECK_OK(export_to(&e, "100%%_%04u.ply"));
    CHECK_OK(export_to(&e, "%i.PLY"));
    CHECK_OK(export_to(&e, "%20d.ply"));
    assert_true(exists(in(&e.p, "100%_0004.ply")));
    assert_true(exists(in(&e.p, "4.PLY")));
    assert_true(exists(in(&e.p, "                   4.ply")));
    assert_int_equal(mkdir(in(&e.p, "50 % d %s"), 0777), 0); // a folder is taken as it stands
    CHECK_OK(export_to(&e, "50 % d %s/\xC3\xBC %d.obj"));
    assert_true(exists(in(&e.p, "50 % d %s/\xC3\xBC 4.obj")));
    CHECK_OK(export_to(&e, "50 % d %s/100% & more.pvd")); // no number is looked for here
    assert_true(exists(in(&e.p, "50 % d %s/100% & more_0004.vtu")));
    exporting_close(&e);
}

// --- whole or not at all ----------------------------------------------------------------------------

static void what_is_there_is_not_overwritten_unless_asked_and_nothing_is_begun(void** state)
{
    (void)state;
    static const char* const forms[][2] = {
        {"a.pc2", "a.obj"}, {"a.pc2", "a.pc2"},         {"b.mdd", "b.mdd"},     {"c.pvd", "c_surface_0005.vtu"},
        {"c.pvd", "c.pvd"}, {"d_%02d.ply", "d_05.ply"}, {"e_%d.obj", "e_5.obj"}};
    exporting e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    {
        const char* there = in(&e.p, forms[i][1]);
        spill(there, "mine", 4);
        CHECK_FAILS(export_to(&e, forms[i][0]), FLX_ERR_EXISTS);
        assert_int_equal(exported(&e), 1);
        long           bytes;
        unsigned char* d = slurp(there, &bytes);
        assert_int_equal(bytes, 4);
        free(d);
        unlink(there);
    }
    CHECK_OK(export_to(&e, "a.pc2"));
    CHECK_FAILS(export_to(&e, "a.pc2"), FLX_ERR_EXISTS);
    e.options.overwrite = true;
    CHECK_OK(export_to(&e, "a.pc2"));
    assert_int_equal(mkdir(in(&e.p, "f.pc2"), 0777), 0);
    CHECK_FAILS(export_to(&e, "f.pc2"), FLX_ERR_IO); // a folder of that name
    CHECK_FAILS(export_to(&e, "no/such/f.pc2"), FLX_ERR_IO);
    assert_int_equal(exported(&e), 3);
    exporting_close(&e);
}

static void a_damaged_frame_or_a_full_disk_leaves_nothing_behind_and_nothing_replaced(void** state)
{
    (void)state;
    static const char* const forms[] = {"a.pc2", "a.mdd", "a.pvd", "a_%d.ply", "a_%d.obj"};
    exporting                e;
    exporting_open(&e);
    flx_context* ctx    = e.p.ctx;
    e.options.overwrite = true;
    for (size_t i = 0; i < 5; ++i) CHECK_OK(export_to(&e, forms[i]));
    const int before     = exported(&e);
    char      kept[5][8] = {"a.pc2", "a.mdd", "a.pvd", "a_1.ply", "a_1.obj"};
    for (int i = 0; i < 5; ++i) spill(in(&e.p, kept[i]), kept[i], 5); // to see that they are not touched

    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small            = limit;
    small.rlim_cur   = 700;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < 5; ++i)
    {
        setrlimit(RLIMIT_FSIZE, &small);
        const flx_status status = export_to(&e, forms[i]);
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(status, FLX_ERR_IO);
        assert_int_equal(exported(&e), before);
    }
    signal(SIGXFSZ, old);

    long           bytes;
    unsigned char* d = slurp(in(&e.p, "run.frames/frame_000004.h5"), &bytes);
    spill(in(&e.p, "run.frames/frame_000004.h5"), d, bytes - 1);
    free(d);
    for (size_t i = 0; i < 5; ++i)
    {
        CHECK_FAILS(export_to(&e, forms[i]), FLX_ERR_FORMAT);
        assert_non_null(strstr(flx_context_error(ctx), "frame_000004.h5: cut short"));
        assert_int_equal(exported(&e), before);
        d = slurp(in(&e.p, kept[i]), &bytes);
        assert_int_equal(bytes, 5);
        free(d);
    }
    exporting_close(&e);
}

static void options_out_of_range_are_refused_by_name(void** state)
{
    (void)state;
    exporting e;
    exporting_open(&e);
    flx_context*             ctx  = e.p.ctx;
    const flx_export_options good = e.options;
#define REFUSED(field, value, word)                                                                                    \
    e.options       = good;                                                                                            \
    e.options.field = (value);                                                                                         \
    CHECK_FAILS(export_to(&e, "x.pc2"), FLX_ERR_ARGUMENT);                                                             \
    assert_non_null(strstr(flx_context_error(ctx), word));
    REFUSED(scale, 0, "scale = 0")
    REFUSED(scale, NAN, "scale = ")
    REFUSED(scale, INFINITY, "scale = inf")
    REFUSED(every, 0, "every = 0")
    REFUSED(first, -1, "frames 0 to 5")
    REFUSED(first, FRAMES, "frames 0 to 5")
    REFUSED(last, FRAMES, "frames 0 to 5")
    REFUSED(last, -2, "frames 0 to 5")
    REFUSED(struct_size, 3, "options")
#undef REFUSED
    e.options = good;
    CHECK_FAILS(export_to(&e, "x.abc"), FLX_ERR_ARGUMENT);
    CHECK_FAILS(export_to(&e, "x"), FLX_ERR_ARGUMENT);
    CHECK_FAILS(export_to(&e, "x.pc2/y"), FLX_ERR_ARGUMENT);
    assert_int_equal(exported(&e), 0);
    CHECK_OK(flx_export(ctx, e.recording, in(&e.p, "x.PC2"), NULL)); // default options

    flx_recording* empty = NULL;
    CHECK_OK(bar_record(ctx, &e.p.bar, in(&e.p, "empty"), 0, 0, false, false));
    CHECK_OK(flx_recording_open(ctx, in(&e.p, "empty"), &empty));
    CHECK_FAILS(flx_export(ctx, empty, in(&e.p, "x2.pc2"), NULL), FLX_ERR_ARGUMENT);
    flx_recording_close(empty);
    exporting_close(&e);
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    static const char* const forms[] = {"a.pc2", "a.mdd", "a.pvd", "a_%d.ply", "a_%d.obj"};
    exporting                e;
    exporting_open(&e);
    flx_context*  ctx  = e.p.ctx;
    const int64_t held = flx_context_bytes_now(ctx);
    for (size_t i = 0; i < 5; ++i)
    {
        e.options.last   = 1; // fewer allocations, the same places
        const int before = exported(&e);
        int64_t   n      = 0;
        for (; n < 1000; ++n)
        {
            flx_context_fail_allocation(ctx, n);
            const flx_status status = export_to(&e, forms[i]);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_int_equal(exported(&e), before);
        }
        assert_in_range(n, 10, 999);
    }
    exporting_close(&e);
}

static void numbers_do_not_follow_the_locale(void** state)
{
    (void)state;
    static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    exporting                e;
    exporting_open(&e);
    flx_context* ctx   = e.p.ctx;
    bool         found = false;
    for (size_t i = 0; i < 4 && !found; ++i) found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found) // none installed: one may be made
    {
        char command[512];
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", e.p.folder);
        setenv("LOCPATH", e.p.folder, 1);
        found = system(command) == 0 && setlocale(LC_ALL, names[0]) != NULL;
        unsetenv("LOCPATH");
    }
    if (!found)
    {
        print_message("skipped: there is no locale with a decimal comma\n");
        exporting_close(&e);
        skip();
    }
    char comma[8];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    assert_string_equal(comma, "0,5");
    CHECK_OK(bar_record(ctx, &e.p.bar, in(&e.p, "comma"), 0, 2, false, false));
    CHECK_OK(export_to(&e, "x.pvd"));
    CHECK_OK(export_to(&e, "x.pc2"));
    setlocale(LC_ALL, "C");
    CHECK_OK(export_to(&e, "y.pc2"));
    assert_true(same_file(in(&e.p, "x.obj"), in(&e.p, "y.obj")));
    long  bytes;
    char* text = (char*)slurp(in(&e.p, "comma.xdmf"), &bytes);
    assert_non_null(strstr(text, "<Time Value=\"0.0333333333333333\"/>"));
    free(text);
    text = (char*)slurp(in(&e.p, "x.pvd"), &bytes);
    assert_non_null(strstr(text, "timestep=\"0.0333333333333333\""));
    free(text);
    exporting_close(&e);
}

// With FLEXOR_EXPORT_DIR set, leaves one of each there for tests/interop/check_exports.py.
static void one_of_each_can_be_left_for_other_programs(void** state)
{
    (void)state;
    static const char* const forms[] = {"bar.pc2", "bar.mdd", "bar.pvd", "bar_%04d.ply", "bar_%04d.obj"};
    const char*              target  = getenv("FLEXOR_EXPORT_DIR");
    exporting                e;
    exporting_open(&e);
    flx_context* ctx = e.p.ctx;
    char         own[sizeof e.p.folder];
    memcpy(own, e.p.folder, sizeof own);
    if (target) snprintf(e.p.folder, sizeof e.p.folder, "%s", target);
    e.options.overwrite = target != NULL;
    CHECK_OK(bar_record(ctx, &e.p.bar, in(&e.p, "bar"), 0, FRAMES, target != NULL, false));
    for (size_t i = 0; i < 5; ++i) CHECK_OK(export_to(&e, forms[i]));
    assert_int_equal(count_names(e.p.folder, "bar"), 2 + 2 + 1 + 1 + 4 * FRAMES + 2 * FRAMES);
    memcpy(e.p.folder, own, sizeof own); // what is removed is the test's own folder
    exporting_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pc2_has_the_documented_layout_and_numbers_vertices_like_its_obj),
        cmocka_unit_test(mdd_is_big_endian_with_times_in_seconds),
        cmocka_unit_test(axes_and_scale_are_as_asked),
        cmocka_unit_test(vtu_arrays_lie_where_their_offsets_say),
        cmocka_unit_test(ply_files_are_binary_and_one_a_frame),
        cmocka_unit_test(the_pattern_is_parsed_and_never_a_format),
        cmocka_unit_test(what_is_there_is_not_overwritten_unless_asked_and_nothing_is_begun),
        cmocka_unit_test(a_damaged_frame_or_a_full_disk_leaves_nothing_behind_and_nothing_replaced),
        cmocka_unit_test(options_out_of_range_are_refused_by_name),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
        cmocka_unit_test(one_of_each_can_be_left_for_other_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
