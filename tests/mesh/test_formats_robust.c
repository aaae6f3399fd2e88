// What must hold for every format: cut off anywhere, altered anywhere, out of memory anywhere, under any locale, and
// written and read back.
#include "mesh_test.h"

#include <dirent.h>
#include <locale.h>

static char folder[256];

static int open_folder(void** state)
{
    snprintf(folder, sizeof folder, "%s/flexor-formats-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? open_context(state) : -1;
}

static int entry_count(bool remove)
{
    DIR* d = opendir(folder);
    int  n = 0;
    for (struct dirent* e; (e = readdir(d));)
    {
        if (e->d_name[0] == '.') continue;
        ++n;
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (remove) unlink(path);
    }
    closedir(d);
    return n;
}

static int close_folder(void** state)
{
    (void)entry_count(true);
    rmdir(folder);
    return close_context(state);
}

static const char* in_folder(const char* name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char* name, const char* data, size_t bytes)
{
    unlink(in_folder(name)); // truncating a file instead makes some file systems flush it
    FILE* f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

// --- one small file a format --------------------------------------------------------------------------
// All numbers have one digit, so that a cut never leaves another valid number.

static const char tet_medit[] =
    "MeshVersionFormatted 2\nDimension 3\n# a comment\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
    "1 1 1 0\nEdges\n1\n1 2 0\nTriangles\n1\n1 3 2 7\nTetrahedra\n2\n1 2 3 4 1\n2 3 4 5 2\nEnd\n";
static const char tet_gmsh22[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a b\"\n$EndPhysicalNames\n"
    "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n$Elements\n3\n"
    "1 2 2 2 1 1 3 2\n2 4 2 1 1 1 2 3 4\n3 4 2 1 1 2 3 4 5\n$EndElements\n";
static const char tet_gmsh41[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 3 0\n$EndEntities\n"
    "$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
    "$Elements\n1 2 1 2\n3 1 4 2\n1 1 2 3 4\n2 2 3 4 5\n$EndElements\n";
static const char surface_ply[] =
    "ply\nformat ascii 1.0\ncomment c\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nelement face 2\n"
    "property list uchar int vertex_indices\nend_header\n0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n3 0 1 2\n"
    "3 0 2 3\n";
static const char surface_off[] = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";
static const char surface_stl[] =
    "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\n"
    "endfacet\nendsolid s\n";
static const char surface_obj[] =
    "# c\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvn 0 0 1\no q\ng a b\n"
    "usemtl m\nf 1/1/1 2/1/1 3//1 4/1\nf -5 -4 \\\n -1\n";
static const char tet_node[] = "# c\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n";
static const char tet_ele[]  = "2 4 1\n1 1 2 3 4 7\n2 2 3 4 5 8\n";

typedef struct sample
{
    const char* name;
    char*       data;
    size_t      bytes;
    bool        prefix_is_valid; // a shorter file may be a whole one of its own: OBJ, Medit after a section
} sample;

#define SAMPLE_COUNT 16
static sample samples[SAMPLE_COUNT];
static int    sample_count;

static void add_sample(const char* name, const void* data, size_t bytes, bool prefix_is_valid)
{
    sample* s = samples + sample_count++;
    *s        = (sample){.name = name, .data = malloc(bytes), .bytes = bytes, .prefix_is_valid = prefix_is_valid};
    memcpy(s->data, data, bytes);
}

static void put_bytes(char** at, const void* data, size_t bytes, bool swap)
{
    for (size_t i = 0; i < bytes; ++i) (*at)[i] = ((const char*)data)[swap ? bytes - 1 - i : i];
    *at += bytes;
}

static void put_text(char** at, const char* text)
{
    memcpy(*at, text, strlen(text));
    *at += strlen(text);
}

static void put_i32(char** at, int32_t v, bool swap)
{
    put_bytes(at, &v, 4, swap);
}
static void put_u64(char** at, uint64_t v)
{
    put_bytes(at, &v, 8, false);
}
static void put_f64(char** at, double v, bool swap)
{
    put_bytes(at, &v, 8, swap);
}
static void put_f32(char** at, float v, bool swap)
{
    put_bytes(at, &v, 4, swap);
}

static const double corner[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};

static void add_gmsh22_binary(const char* name, bool swap)
{
    static const int32_t tets[2][4] = {{1, 2, 3, 4}, {2, 3, 4, 5}};
    char                 data[1024], *at = data;
    put_text(&at, "$MeshFormat\n2.2 1 8\n");
    put_i32(&at, 1, swap);
    put_text(&at, "\n$EndMeshFormat\n$Nodes\n5\n");
    for (int i = 0; i < 5; ++i)
    {
        put_i32(&at, i + 1, swap);
        for (int d = 0; d < 3; ++d) put_f64(&at, corner[i][d], swap);
    }
    put_text(&at, "\n$EndNodes\n$Elements\n2\n");
    put_i32(&at, 4, swap);
    put_i32(&at, 2, swap);
    put_i32(&at, 2, swap);
    for (int i = 0; i < 2; ++i)
    {
        put_i32(&at, i + 1, swap);
        put_i32(&at, 3, swap);
        put_i32(&at, 1, swap);
        for (int k = 0; k < 4; ++k) put_i32(&at, tets[i][k], swap);
    }
    put_text(&at, "\n$EndElements\n");
    add_sample(name, data, (size_t)(at - data), false);
}

static void add_gmsh41_binary(void)
{
    char data[1024], *at = data;
    put_text(&at, "$MeshFormat\n4.1 1 8\n");
    put_i32(&at, 1, false);
    put_text(&at, "\n$EndMeshFormat\n$Entities\n");
    for (int i = 0; i < 4; ++i) put_u64(&at, i == 3);
    put_i32(&at, 1, false);
    for (int i = 0; i < 6; ++i) put_f64(&at, i >= 3, false);
    put_u64(&at, 1);
    put_i32(&at, 3, false);
    put_u64(&at, 0);
    put_text(&at, "\n$EndEntities\n$Nodes\n");
    const uint64_t nodes[4] = {1, 5, 1, 5};
    for (int i = 0; i < 4; ++i) put_u64(&at, nodes[i]);
    put_i32(&at, 3, false);
    put_i32(&at, 1, false);
    put_i32(&at, 0, false);
    put_u64(&at, 5);
    for (int i = 0; i < 5; ++i) put_u64(&at, (uint64_t)i + 1);
    for (int i = 0; i < 15; ++i) put_f64(&at, corner[i / 3][i % 3], false);
    put_text(&at, "\n$EndNodes\n$Elements\n");
    const uint64_t elements[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; ++i) put_u64(&at, elements[i]);
    put_i32(&at, 3, false);
    put_i32(&at, 1, false);
    put_i32(&at, 4, false);
    put_u64(&at, 1);
    for (int i = 0; i < 5; ++i) put_u64(&at, i == 0 ? 1 : (uint64_t)i);
    put_text(&at, "\n$EndElements\n");
    add_sample("binary41.msh", data, (size_t)(at - data), false);
}

static void add_binary_surfaces(void)
{
    char data[1024], *at = data;
    put_text(
        &at,
        "ply\nformat binary_big_endian 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 2\nproperty uchar flag\nproperty list uchar int vertex_indices\nend_header\n");
    for (int i = 0; i < 15; ++i) put_f32(&at, (float)corner[i / 3][i % 3], true);
    for (int i = 0; i < 2; ++i)
    {
        put_text(&at, "\1\3");
        for (int k = 0; k < 3; ++k) put_i32(&at, i + k, true);
    }
    add_sample("big.ply", data, (size_t)(at - data), false);

    memset(data, 0, 84);
    at              = data + 80;
    const int32_t n = 2;
    put_i32(&at, n, false);
    for (int i = 0; i < n; ++i)
    {
        for (int k = 0; k < 3; ++k) put_f32(&at, 0.0f, false);
        for (int k = 0; k < 9; ++k) put_f32(&at, (float)corner[i + k / 3][k % 3], false);
        put_bytes(&at, "\0\0", 2, false);
    }
    add_sample("binary.stl", data, (size_t)(at - data), false);
}

static int make_samples(void** state)
{
    (void)state;
    add_sample("a.mesh", tet_medit, sizeof tet_medit - 1, true);
    add_sample("a22.msh", tet_gmsh22, sizeof tet_gmsh22 - 1, false);
    add_sample("a41.msh", tet_gmsh41, sizeof tet_gmsh41 - 1, false);
    add_sample("a.ply", surface_ply, sizeof surface_ply - 1, false);
    add_sample("a.off", surface_off, sizeof surface_off - 1, false);
    add_sample("a.stl", surface_stl, sizeof surface_stl - 1, false);
    add_sample("a.obj", surface_obj, sizeof surface_obj - 1, true);
    add_sample("t.node", tet_node, sizeof tet_node - 1, false);
    add_sample("t.ele", tet_ele, sizeof tet_ele - 1, false);
    add_gmsh22_binary("le22.msh", false);
    add_gmsh22_binary("be22.msh", true);
    add_gmsh41_binary();
    add_binary_surfaces();
    return 0;
}

static int drop_samples(void** state)
{
    (void)state;
    for (int i = 0; i < sample_count; ++i) free(samples[i].data);
    return 0;
}

static void put_companion(const char* name) // the other file of a TetGen pair, whole
{
    if (strcmp(name, "t.node") == 0) put_file("t.ele", tet_ele, sizeof tet_ele - 1);
    if (strcmp(name, "t.ele") == 0) put_file("t.node", tet_node, sizeof tet_node - 1);
}

// --- tests ------------------------------------------------------------------------------------------

static void every_sample_is_read(void** state)
{
    (void)state;
    for (int i = 0; i < sample_count; ++i)
    {
        put_file(samples[i].name, samples[i].data, samples[i].bytes);
        put_companion(samples[i].name);
        flx_mesh* m = read_at(in_folder(samples[i].name));
        assert_true(m->vertex_count >= 3);
        assert_true(m->triangle_count + m->tet_count >= 1);
        flx_mesh_destroy(ctx, m);
    }
}

// Cut at every byte: refused, or (only a line end or an optional word is missing) the same mesh.
static void a_file_cut_anywhere_is_refused_or_read_right(void** state)
{
    (void)state;
    for (int i = 0; i < sample_count; ++i)
    {
        const sample* s = samples + i;
        put_file(s->name, s->data, s->bytes);
        put_companion(s->name);
        flx_mesh* whole   = read_at(in_folder(s->name));
        int       refused = 0;
        for (size_t bytes = 0; bytes < s->bytes; ++bytes)
        {
            flx_mesh* m = NULL;
            put_file(s->name, s->data, bytes);
            const flx_status status = flx_mesh_read(ctx, in_folder(s->name), NULL, &m);
            if (status == FLX_OK && !s->prefix_is_valid) check_same_mesh(m, whole);
            if (status == FLX_OK && s->prefix_is_valid) // what is there is as in the whole file
            {
                assert_true(m->vertex_count <= whole->vertex_count && m->tet_count <= whole->tet_count);
                assert_memory_equal(m->x, whole->x, 3 * (size_t)m->vertex_count * sizeof *m->x);
            }
            if (status != FLX_OK)
            {
                assert_int_equal(status, FLX_ERR_FORMAT);
                assert_null(m);
                ++refused;
            }
            flx_mesh_destroy(ctx, m);
        }
        if (!s->prefix_is_valid && refused < (int)s->bytes * 8 / 10)
            fail_msg("%s: only %d cuts refused", s->name, refused);
        flx_mesh_destroy(ctx, whole);
    }
}

// Altered bytes: refused or read, never a crash and never an index outside (the sanitizers and the doctor look).
static void a_file_altered_anywhere_never_breaks_the_reader(void** state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < sample_count; ++i)
        for (int round = 0; round < 200; ++round)
        {
            const sample* s    = samples + i;
            char*         copy = malloc(s->bytes);
            memcpy(copy, s->data, s->bytes);
            const int changes = 1 + (int)(4.0 * test_random(&seed));
            for (int k = 0; k < changes; ++k)
            {
                const size_t at = (size_t)((double)s->bytes * test_random(&seed));
                copy[at]        = test_random(&seed) < 0.5 ? "0123456789-. \n$#/"[(int)(17.0 * test_random(&seed))]
                                                           : (char)(unsigned char)(256.0 * test_random(&seed));
            }
            put_file(s->name, copy, s->bytes);
            put_companion(s->name);
            flx_mesh*        m      = NULL;
            const flx_status status = flx_mesh_read(ctx, in_folder(s->name), NULL, &m);
            assert_true(status == FLX_OK || status == FLX_ERR_FORMAT || status == FLX_ERR_UNSUPPORTED);
            assert_true((status == FLX_OK) == (m != NULL));
            if (m)
            {
                for (int32_t k = 0; k < 3 * m->triangle_count; ++k)
                    assert_in_range(m->triangle[k], 0, m->vertex_count - 1);
                for (int32_t k = 0; k < 4 * m->tet_count; ++k) assert_in_range(m->tet[k], 0, m->vertex_count - 1);
                for (int32_t k = 0; k < 3 * m->vertex_count; ++k) assert_true(isfinite(m->x[k]));
            }
            flx_mesh_destroy(ctx, m);
            free(copy);
        }
}

static void every_failed_allocation_is_clean(void** state)
{
    (void)state;
    const int64_t held = flx_context_bytes_now(ctx);
    for (int i = 0; i < sample_count; ++i)
    {
        put_file(samples[i].name, samples[i].data, samples[i].bytes);
        put_companion(samples[i].name);
        flx_mesh_options o = flx_mesh_options_default();
        o.weld             = true;
        o.weld_tolerance   = 1e-6;
        for (int64_t n = 0;; ++n)
        {
            flx_mesh* m = NULL;
            flx_context_fail_allocation(ctx, n);
            const flx_status status = flx_mesh_read(ctx, in_folder(samples[i].name), &o, &m);
            flx_context_fail_allocation(ctx, -1);
            flx_mesh_destroy(ctx, m);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_null(m);
            assert_true(n < 1000);
        }
    }
}

// --- writing ----------------------------------------------------------------------------------------

// Coordinates whose shortest form needs anything from 1 to 17 digits, tiny and huge ones, and a negative zero.
static flx_mesh* hard_mesh(void)
{
    put_file("hard.msh", tet_gmsh22, sizeof tet_gmsh22 - 1);
    flx_mesh* m    = read_at(in_folder("hard.msh"));
    uint64_t  seed = 7;
    for (int i = 0; i < 15; ++i)
        m->x[i] = (test_random(&seed) - 0.5) * pow(10.0, floor(20.0 * test_random(&seed)) - 10.0);
    m->x[0] = 0.1;
    m->x[1] = 1.0 / 3.0;
    m->x[2] = 5e-324;
    m->x[3] = 1.7976931348623157e308;
    m->x[4] = -0.0;
    return m;
}

static void check_same_groups(const flx_mesh* a, const flx_mesh* b)
{
    for (int32_t i = 0; i < a->group_count; ++i)
    {
        const flx_mesh_group *g = a->group + i, *h = group_named(b, g->name);
        assert_int_equal(g->triangle_count, h->triangle_count);
        assert_int_equal(g->tet_count, h->tet_count);
        assert_memory_equal(g->triangle, h->triangle, (size_t)g->triangle_count * sizeof *g->triangle);
        assert_memory_equal(g->tet, h->tet, (size_t)g->tet_count * sizeof *g->tet);
    }
}

static void what_is_written_is_read_back_exactly(void** state)
{
    (void)state;
    flx_mesh* m = hard_mesh();
    CHECK_OK(flx_mesh_write(ctx, in_folder("out.msh"), m, false));
    flx_mesh* back = read_at(in_folder("out.msh"));
    check_same_mesh(back, m);
    check_same_groups(m, back);
    assert_int_equal(m->group_count, back->group_count);
    flx_mesh_destroy(ctx, back);

    CHECK_OK(flx_mesh_write(ctx, in_folder("out.mesh"), m, false));
    back = read_at(in_folder("out.mesh"));
    check_same_mesh(back, m);
    flx_mesh_destroy(ctx, back);
    flx_mesh_destroy(ctx, m);

    put_file("a.mesh", tet_medit, sizeof tet_medit - 1); // references keep their numbers
    m = read_at(in_folder("a.mesh"));
    CHECK_OK(flx_mesh_write(ctx, in_folder("b.mesh"), m, false));
    back = read_at(in_folder("b.mesh"));
    check_same_mesh(back, m);
    check_same_groups(m, back);
    flx_mesh_destroy(ctx, back);
    flx_mesh_destroy(ctx, m);
}

static void surfaces_are_read_back_exactly(void** state)
{
    (void)state;
    flx_mesh* hard = hard_mesh();
    put_file("a.obj", surface_obj, sizeof surface_obj - 1);
    flx_mesh* m = read_at(in_folder("a.obj"));
    memcpy(m->x, hard->x, 15 * sizeof *m->x);
    static const char* const names[] = {"out.obj", "out.ply"};
    for (int i = 0; i < 2; ++i)
    {
        CHECK_OK(flx_mesh_write(ctx, in_folder(names[i]), m, false));
        flx_mesh* back = read_at(in_folder(names[i]));
        check_same_mesh(back, m);
        if (i == 0) check_same_groups(m, back);
        flx_mesh_destroy(ctx, back);
    }
    for (int i = 0; i < 15; ++i) m->x[i] = corner[i / 3][i % 3]; // STL holds single precision
    CHECK_OK(flx_mesh_write(ctx, in_folder("out.stl"), m, false));
    flx_mesh* back = read_at(in_folder("out.stl"));
    assert_int_equal(back->triangle_count, m->triangle_count);
    for (int32_t i = 0; i < 3 * m->triangle_count; ++i)
        for (int d = 0; d < 3; ++d) assert_true(m->x[3 * m->triangle[i] + d] == back->x[3 * back->triangle[i] + d]);
    flx_mesh_destroy(ctx, back);
    flx_mesh_destroy(ctx, m);
    flx_mesh_destroy(ctx, hard);
}

static void surface_formats_get_the_boundary_of_tets(void** state)
{
    (void)state;
    put_file("a.mesh", tet_medit, sizeof tet_medit - 1);
    flx_mesh* m = read_at(in_folder("a.mesh"));
    CHECK_OK(flx_mesh_write(ctx, in_folder("out.obj"), m, false));
    CHECK_SAID("6 boundary triangles are written");
    flx_mesh* back = read_at(in_folder("out.obj"));
    check_counts(back, 5, 6, 0);
    assert_true(examine(back).closed);
    flx_mesh_destroy(ctx, back);
    flx_mesh_destroy(ctx, m);
}

static void writing_refuses_what_it_should(void** state)
{
    (void)state;
    flx_mesh* m = hard_mesh();
    CHECK_OK(flx_mesh_write(ctx, in_folder("x.msh"), m, false));
    CHECK_FAILS(flx_mesh_write(ctx, in_folder("x.msh"), m, false), FLX_ERR_EXISTS);
    CHECK_OK(flx_mesh_write(ctx, in_folder("x.msh"), m, true));
    CHECK_FAILS(flx_mesh_write(ctx, in_folder("x.vtk"), m, false), FLX_ERR_ARGUMENT);
    CHECK_FAILS(flx_mesh_write(ctx, in_folder("none/x.msh"), m, false), FLX_ERR_IO);
    m->x[7] = NAN;
    CHECK_FAILS(flx_mesh_write(ctx, in_folder("y.msh"), m, false), FLX_ERR_ARGUMENT);
    assert_int_equal(entry_count(false), 2); // hard.msh, x.msh and nothing half done
    flx_mesh_destroy(ctx, m);
}

static void a_full_disk_is_said_and_leaves_nothing(void** state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    flx_mesh* m = hard_mesh();
    assert_int_equal(symlink("/dev/full", in_folder("full.msh")), 0);
    CHECK_FAILS(flx_mesh_write(ctx, in_folder("full.msh"), m, true), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "disk is full"));
    assert_int_equal(entry_count(false), 2); // hard.msh and the link
    flx_mesh_destroy(ctx, m);
}

static void a_failed_allocation_leaves_no_file(void** state)
{
    (void)state;
    flx_mesh*                m       = hard_mesh();
    static const char* const names[] = {"out.obj", "out.ply", "out.stl", "out.mesh", "out.msh"};
    for (int i = 0; i < 5; ++i)
        for (int64_t n = 0;; ++n)
        {
            flx_context_fail_allocation(ctx, n);
            const flx_status status = flx_mesh_write(ctx, in_folder(names[i]), m, false);
            flx_context_fail_allocation(ctx, -1);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_int_equal(entry_count(false), 1 + i);
            assert_true(n < 1000);
        }
    flx_mesh_destroy(ctx, m);
}

// --- locale -----------------------------------------------------------------------------------------

// Build a German locale where none is installed; false where that cannot be done.
static bool set_comma_locale(void)
{
    char command[1024], text[16];
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    {
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' >/dev/null 2>&1", in_folder("de_DE.UTF-8"));
        if (system(command) != 0 && access(in_folder("de_DE.UTF-8"), F_OK) != 0) return false;
        setenv("LOCPATH", folder, 1);
        if (!setlocale(LC_ALL, "de_DE.UTF-8")) return false;
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    return strcmp(text, "1,5") == 0;
}

static void numbers_do_not_depend_on_the_locale(void** state)
{
    (void)state;
    (void)shared_or_skip("cases/02-decimal-comma-locale");
    static const char* const names[] = {"frac.node", "frac.mesh", "frac.msh", "frac.obj"};
    flx_mesh*                before  = hard_mesh();
    flx_mesh *               m = NULL, *back = NULL;
    const bool               comma = set_comma_locale();
    if (comma)
        for (int i = 0; i < 4; ++i)
        {
            char path[128];
            snprintf(path, sizeof path, "cases/02-decimal-comma-locale/%s", names[i]);
            m                         = read_shared(path);
            const flx_doctor_report r = examine(m);
            assert_true((m->tet_count ? r.volume : r.enclosed_volume) == 0.0703125);
            flx_mesh_destroy(ctx, m);
        }
    if (comma)
    {
        CHECK_OK(flx_mesh_write(ctx, in_folder("out.msh"), before, false));
        back = read_at(in_folder("out.msh"));
        check_same_mesh(back, before);
    }
    setlocale(LC_ALL, "C");
    if (comma)
    {
        m = read_at(in_folder("out.msh")); // and it means the same where the point is the decimal sign
        check_same_mesh(m, before);
        flx_mesh_destroy(ctx, m);
    }
    flx_mesh_destroy(ctx, back);
    flx_mesh_destroy(ctx, before);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", in_folder("de_DE.UTF-8"));
    if (system(command) != 0) print_message("a locale was left in %s\n", folder);
    if (!comma)
    {
        print_message("skipped: no locale with a decimal comma can be had here\n");
        skip();
    }
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_sample_is_read),
        FOLDER_TEST(a_file_cut_anywhere_is_refused_or_read_right),
        FOLDER_TEST(a_file_altered_anywhere_never_breaks_the_reader),
        FOLDER_TEST(every_failed_allocation_is_clean),
        FOLDER_TEST(what_is_written_is_read_back_exactly),
        FOLDER_TEST(surfaces_are_read_back_exactly),
        FOLDER_TEST(surface_formats_get_the_boundary_of_tets),
        FOLDER_TEST(writing_refuses_what_it_should),
        FOLDER_TEST(a_full_disk_is_said_and_leaves_nothing),
        FOLDER_TEST(a_failed_allocation_leaves_no_file),
        FOLDER_TEST(numbers_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, make_samples, drop_samples);
}
