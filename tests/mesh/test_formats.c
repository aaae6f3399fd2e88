// One test a folder of ../shared/cases on file formats; each states what that folder's README expects.
#include "mesh_test.h"

#define CASE(path) "cases/" path

static void case_01_line_endings_do_not_matter(void** state)
{
    (void)state;
    static const char* const names[] = {"crlf", "cr_only", "no_final_newline", "crlf_no_final", "trailing_blanks_tabs"};
    flx_mesh*                lf      = read_shared(CASE("01-obj-line-endings/lf.obj"));
    check_counts(lf, 8, 12, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, CASE("01-obj-line-endings/%s.obj"), names[i]);
        flx_mesh* other = read_shared(path);
        check_same_mesh(other, lf);
        flx_mesh_destroy(ctx, other);
    }
    const flx_doctor_report r = examine(lf);
    assert_true(r.closed);
    CHECK_NEAR(r.enclosed_volume, 1.0, 1e-14); // a sum of twelve terms of size 1
    flx_mesh_destroy(ctx, lf);
}

static void case_02_decimal_commas_are_refused(void** state)
{
    (void)state;
    check_refused(CASE("02-decimal-comma-locale/written_by_broken_tool.obj"), FLX_ERR_FORMAT,
                  ".obj:1: x of vertex 1: '0,000000'");
    check_refused(CASE("02-decimal-comma-locale/written_by_broken_tool.stl"), FLX_ERR_FORMAT, ".stl:4:");
}

static void case_04_obj_indices(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("04-obj-indices/negative.obj"));
    check_counts(m, 6, 2, 0);
    for (int i = 0; i < 6; ++i) assert_int_equal(m->triangle[i], i);
    assert_true(m->x[3 * 3 + 2] == 5.0);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("04-obj-indices/forward_ref.obj"));
    check_counts(m, 3, 1, 0);
    flx_mesh_destroy(ctx, m);

    check_refused(CASE("04-obj-indices/zero.obj"), FLX_ERR_FORMAT, "zero.obj:4:");
    check_refused(CASE("04-obj-indices/past_end.obj"), FLX_ERR_FORMAT, "past_end.obj:4:");
    check_refused(CASE("04-obj-indices/neg_past_start.obj"), FLX_ERR_FORMAT, "neg_past_start.obj:4:");
    check_refused(CASE("04-obj-indices/overflow.obj"), FLX_ERR_FORMAT, "overflow.obj:4:");
    check_refused(CASE("04-obj-indices/two_corners.obj"), FLX_ERR_FORMAT, "two_corners.obj:4:");
    check_refused(CASE("04-obj-indices/slashes.obj"), FLX_ERR_FORMAT, "slashes.obj:5:");
}

// Area of the outline by its area vector, and of the triangles; all normals agree with the outline's.
static void check_split(const char* path, double area)
{
    flx_mesh* m    = read_shared(path);
    double    N[3] = {0}, sum = 0.0;
    assert_int_equal(m->triangle_count, m->vertex_count - 2);
    for (int pass = 0; pass < 2; ++pass)
        for (int32_t i = 0; i < m->triangle_count; ++i)
        {
            const double *a = m->x + 3 * m->triangle[3 * i], *b = m->x + 3 * m->triangle[3 * i + 1],
                         *c = m->x + 3 * m->triangle[3 * i + 2];
            double n[3];
            for (int d = 0; d < 3; ++d)
            {
                const int e = (d + 1) % 3, f = (d + 2) % 3;
                n[d] = 0.5 * ((b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]));
            }
            if (pass == 0)
                for (int d = 0; d < 3; ++d) N[d] += n[d];
            else
            {
                assert_true(n[0] * N[0] + n[1] * N[1] + n[2] * N[2] > 0.0);
                sum += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            }
        }
    const double outline =
        sqrt(N[0] * N[0] + N[1] * N[1] + N[2] * N[2]); // the sum of signed areas does not depend on the split
    CHECK_NEAR(sum, outline, 1e-12 * outline);
    if (area > 0.0) CHECK_NEAR(sum, area, 1e-6); // the README gives six decimals
    flx_mesh_destroy(ctx, m);
}

static void case_05_polygons_keep_their_area_and_direction(void** state)
{
    (void)state;
    check_split(CASE("05-ngons-concave-mixed/L.obj"), 3.0);
    check_split(CASE("05-ngons-concave-mixed/L_reversed.obj"), 3.0);
    check_split(CASE("05-ngons-concave-mixed/star.obj"), 1.116792);
    check_split(CASE("05-ngons-concave-mixed/C66.obj"), 0.0);
}

static void case_05_mixed_polygons_share_their_vertices(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("05-ngons-concave-mixed/mixed.obj"));
    check_counts(m, 8, 6, 0);
    const flx_doctor_report r = examine(m);
    assert_int_equal(r.component_count, 1);
    assert_int_equal(r.boundary_edges, 8);
    assert_int_equal(r.vertex_on_edge.count, 0);
    assert_int_equal(m->triangle_number[0], 1); // polygons give several triangles of one number
    assert_int_equal(m->triangle_number[5], 3);
    flx_mesh_destroy(ctx, m);
}

static void case_05_the_diagonal_is_the_same_on_every_run_and_from_every_corner(void** state)
{
    (void)state;
    flx_mesh* first = read_shared(CASE("05-ngons-concave-mixed/saddle_quad.obj"));
    flx_mesh* again = read_shared(CASE("05-ngons-concave-mixed/saddle_quad.obj"));
    check_counts(first, 4, 2, 0);
    check_same_mesh(first, again);
    // both diagonals are as long; the one with the smallest vertex is taken
    int uses[4] = {0};
    for (int i = 0; i < 6; ++i) uses[first->triangle[i]] += 1;
    assert_int_equal(uses[0], 2);
    assert_int_equal(uses[2], 2);
    flx_mesh_destroy(ctx, first);
    flx_mesh_destroy(ctx, again);
}

static void case_05_repeated_corners_are_dropped_with_a_notice(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("05-ngons-concave-mixed/repeat_corner.obj"));
    check_counts(m, 3, 2, 0);
    CHECK_SAID("3 repeated corners");
    CHECK_SAID("the first is face 2");
    flx_mesh_destroy(ctx, m);
}

static void case_06_byte_order_marks_and_other_encodings(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("06-bom-utf16-encoding/bom.obj"));
    check_counts(m, 3, 1, 0);
    flx_mesh_destroy(ctx, m);
    m = read_shared(CASE("06-bom-utf16-encoding/bom.off"));
    check_counts(m, 3, 1, 0);
    flx_mesh_destroy(ctx, m);
    m = read_shared(CASE("06-bom-utf16-encoding/bom.msh"));
    check_counts(m, 8, 0, 5);
    flx_mesh_destroy(ctx, m);
    m = read_shared(CASE("06-bom-utf16-encoding/utf8_comment.obj"));
    check_counts(m, 3, 1, 0);
    assert_int_equal(group_named(m, "Körper")->triangle_count, 1);
    flx_mesh_destroy(ctx, m);
    m = read_shared(CASE("06-bom-utf16-encoding/latin1_comment.obj"));
    check_counts(m, 3, 1, 0);
    flx_mesh_destroy(ctx, m);
    check_refused(CASE("06-bom-utf16-encoding/utf16le.obj"), FLX_ERR_FORMAT, "UTF-16");
    check_refused(CASE("06-bom-utf16-encoding/utf16be.obj"), FLX_ERR_FORMAT, "UTF-16");
    check_refused(CASE("06-bom-utf16-encoding/nul_bytes.obj"), FLX_ERR_FORMAT, "nul_bytes.obj:2:");
}

static void case_07_free_format_is_free(void** state)
{
    (void)state;
    static const char* const names[] = {"dimension_on_next_line", "comments_with_keywords", "split_coords",
                                        "extra_sections", "no_end"};
    flx_mesh*                plain   = read_shared(CASE("07-blank-lines-comments-keywords/plain.mesh"));
    check_counts(plain, 8, 0, 5);
    CHECK_NEAR(examine(plain).volume, 1.0, 1e-14);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, CASE("07-blank-lines-comments-keywords/%s.mesh"), names[i]);
        flx_mesh* m = read_shared(path);
        assert_int_equal(m->tet_count, 5);
        assert_memory_equal(m->tet, plain->tet, 20 * sizeof *m->tet);
        assert_memory_equal(m->x, plain->x, 24 * sizeof *m->x);
        if (strcmp(names[i], "extra_sections") == 0) assert_int_equal(group_named(m, "ref_7")->triangle_count, 1);
        flx_mesh_destroy(ctx, m);
    }
    flx_mesh_destroy(ctx, plain);

    flx_mesh* comments = read_shared(CASE("07-blank-lines-comments-keywords/comments.off"));
    flx_mesh* header   = read_shared(CASE("07-blank-lines-comments-keywords/counts_on_header.off"));
    check_counts(comments, 8, 12, 0);
    check_same_mesh(comments, header);
    flx_mesh_destroy(ctx, comments);
    flx_mesh_destroy(ctx, header);
}

static void case_09_gmsh_blocks_and_physicals(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("09-gmsh-blocks-physicals-mixed-types/blocks41.msh"));
    check_counts(m, 8, 2, 5);
    assert_int_equal(group_named(m, "skin")->triangle_count, 2);
    assert_int_equal(group_named(m, "soft tissue")->tet_count, 5);
    assert_int_equal(group_named(m, "physical_9")->tet_count, 3); // the second physical of entity 1
    assert_int_equal(m->tet_number[0], 4);
    CHECK_NEAR(examine(m).volume, 1.0, 1e-14);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("09-gmsh-blocks-physicals-mixed-types/mixed22.msh"));
    check_counts(m, 12, 2, 5);
    CHECK_SAID("1 hexahedra, 1 prisms, 0 pyramids");
    CHECK_SAID("1 quadrangles");
    CHECK_SAID("1 points and 1 lines");
    assert_int_equal(group_named(m, "skin ü")->triangle_count, 2);
    assert_int_equal(group_named(m, "edge with spaces")->triangle_count, 0);
    const flx_doctor_report r = examine(m);
    assert_int_equal(r.unreferenced.count, 4);
    assert_int_equal(r.unreferenced.number[0], 9);
    CHECK_SAID("4 vertices are used by no element");
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("09-gmsh-blocks-physicals-mixed-types/only_surface.msh"));
    check_counts(m, 8, 12, 0); // a surface; who needs tets refuses it
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("09-gmsh-blocks-physicals-mixed-types/tet10.msh"));
    check_counts(m, 10, 0, 1);
    CHECK_SAID("higher order");
    flx_mesh_destroy(ctx, m);
}

static void case_10_gmsh_binary_equals_text(void** state)
{
    (void)state;
    flx_mesh*                text   = read_shared(CASE("06-bom-utf16-encoding/bom.msh")); // the same cube as text
    static const char* const good[] = {"cube22_le", "cube22_be", "cube41_le", "crlf_text_lines_only"};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, CASE("10-gmsh-binary/%s.msh"), good[i]);
        flx_mesh* m = read_shared(path);
        check_same_mesh(m, text);
        CHECK_NEAR(examine(m).volume, 1.0, 1e-14);
        flx_mesh_destroy(ctx, m);
    }
    flx_mesh_destroy(ctx, text);
    check_refused(CASE("10-gmsh-binary/cube22_truncated.msh"), FLX_ERR_FORMAT, "8 nodes are announced");
    check_refused(CASE("10-gmsh-binary/cube41_truncated.msh"), FLX_ERR_FORMAT, "8 nodes are announced");
    check_refused(CASE("10-gmsh-binary/crlf_damaged.msh"), FLX_ERR_FORMAT, "byte 393");
    check_refused(CASE("10-gmsh-binary/data_size_4.msh"), FLX_ERR_FORMAT, "data size 4");
}

static void case_12_stl_size_decides(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("12-stl-solid-binary/solid_header_binary.stl"));
    check_counts(m, 8, 12, 0);
    const flx_doctor_report r = examine(m);
    assert_true(r.closed);
    CHECK_NEAR(r.enclosed_volume, 1.0, 1e-14);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("12-stl-solid-binary/upper_two_solids.stl"));
    assert_int_equal(m->triangle_count, 2);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("12-stl-solid-binary/empty_solid.stl"));
    check_counts(m, 0, 0, 0);
    CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, NULL), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "neither triangles nor tetrahedra"));
    flx_mesh_destroy(ctx, m);

    check_refused(CASE("12-stl-solid-binary/truncated.stl"), FLX_ERR_FORMAT, "12 facets are announced");
    check_refused(CASE("12-stl-solid-binary/count_too_big.stl"), FLX_ERR_FORMAT, "facets are announced");
}

static void case_13_counts_are_checked_before_anything_is_allocated(void** state)
{
    (void)state;
    const double before = flx__now();
    check_refused(CASE("13-huge-or-negative-counts/huge.off"), FLX_ERR_FORMAT, "huge.off:2:");
    check_refused(CASE("13-huge-or-negative-counts/huge.msh"), FLX_ERR_FORMAT, "huge.msh:5:");
    check_refused(CASE("13-huge-or-negative-counts/huge41.msh"), FLX_ERR_FORMAT, "huge41.msh:5:");
    check_refused(CASE("13-huge-or-negative-counts/huge.mesh"), FLX_ERR_FORMAT, "huge.mesh:4:");
    check_refused(CASE("13-huge-or-negative-counts/huge.ply"), FLX_ERR_FORMAT, "huge.ply:3:");
    check_refused(CASE("13-huge-or-negative-counts/negative.node"), FLX_ERR_FORMAT, "negative.node:1:");
    check_refused(CASE("13-huge-or-negative-counts/negative.ele"), FLX_ERR_FORMAT, "-4 is not allowed");
    check_refused(CASE("13-huge-or-negative-counts/face_count.off"), FLX_ERR_FORMAT, "face_count.off:6:");
    CHECK_BELOW(flx__now() - before, 1.0);                       // s, for all of them
    CHECK_BELOW((double)flx_context_bytes_peak(ctx), 1000000.0); // far below the 100 MB that are allowed
}

static void case_14_what_is_not_finite_is_refused(void** state)
{
    (void)state;
    check_refused(CASE("14-nan-inf-coordinates/nan.obj"), FLX_ERR_FORMAT, "nan.obj:1: x of vertex 1: 'nan'");
    check_refused(CASE("14-nan-inf-coordinates/nan_last.obj"), FLX_ERR_FORMAT, "nan_last.obj:3: y of vertex 3: 'NaN'");
    check_refused(CASE("14-nan-inf-coordinates/inf.node"), FLX_ERR_FORMAT, "inf.node:4: y of node 3: 'inf'");
    check_refused(CASE("14-nan-inf-coordinates/inf.ele"), FLX_ERR_FORMAT, "inf.node:4:");
    check_refused(CASE("14-nan-inf-coordinates/overflow.obj"), FLX_ERR_FORMAT,
                  "overflow.obj:2: x of vertex 2: '1e400'");
    check_refused(CASE("14-nan-inf-coordinates/unused_nan.obj"), FLX_ERR_FORMAT, "unused_nan.obj:4:");
}

static void case_15_paths_of_every_kind_open(void** state)
{
    (void)state;
    static const char* const names[] = {
        "sub/a.obj",         "./sub/../sub/a.obj", "sub\\a.obj", "dir with blanks/tri one.obj", "ş_ğ_网格_ö/сетка.obj",
        "-leading-dash.obj", "many.dots.v1.2.OBJ"};
    char folder[1024], before[1024], path[2048];
    snprintf(folder, sizeof folder, "%s", shared_or_skip(CASE("15-paths")));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        flx_mesh* m = read_at(path);
        check_counts(m, 3, 1, 0);
        if (strchr(names[i], '\\')) CHECK_SAID("sub/a.obj is read instead");
        flx_mesh_destroy(ctx, m);
    }
    assert_non_null(getcwd(before, sizeof before)); // relative paths, also one that begins with a dash
    assert_int_equal(chdir(folder), 0);
    flx_mesh* m = read_at("-leading-dash.obj");
    flx_mesh_destroy(ctx, m);
    assert_int_equal(chdir(before), 0);
}

static void check_message(const char* path, flx_status status, const char* text)
{
    flx_mesh* m = NULL;
    CHECK_FAILS(flx_mesh_read(ctx, path, NULL, &m), status);
    assert_null(m);
    if (!strstr(flx_context_error(ctx), text)) fail_msg("'%s' does not hold '%s'", flx_context_error(ctx), text);
}

static void case_15_a_directory_an_empty_and_a_missing_file_are_told_apart(void** state)
{
    (void)state;
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s", shared_or_skip(CASE("15-paths")));
    snprintf(path, sizeof path, "%s/sub", folder);
    check_message(path, FLX_ERR_IO, "is a directory");
    snprintf(path, sizeof path, "%s/empty.obj", folder);
    check_message(path, FLX_ERR_FORMAT, "is empty");
    snprintf(path, sizeof path, "%s/missing.obj", folder);
    check_message(path, FLX_ERR_IO, "no such file");
    check_message("C:\\models\\a.obj", FLX_ERR_IO, "C:\\models\\a.obj: no such file");
}

static void case_42_long_lines(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("42-long-lines-and-deep-files/long_comment.obj"));
    check_counts(m, 3, 1, 0);
    flx_mesh_destroy(ctx, m);
    check_split(CASE("42-long-lines-and-deep-files/long_face.obj"), 0.0);
    m = read_shared(CASE("42-long-lines-and-deep-files/continued.obj"));
    check_counts(m, 4, 2, 0);
    flx_mesh_destroy(ctx, m);
    m          = read_shared(CASE("42-long-lines-and-deep-files/border.obj"));
    double sum = 0.0;
    assert_int_equal(m->vertex_count, 3000);
    for (int i = 0; i < 3000; ++i) sum += m->x[3 * i];
    assert_true(sum == 4498500.0); // whole numbers: exact
    flx_mesh_destroy(ctx, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MESH_TEST(case_01_line_endings_do_not_matter),
        MESH_TEST(case_02_decimal_commas_are_refused),
        MESH_TEST(case_04_obj_indices),
        MESH_TEST(case_05_polygons_keep_their_area_and_direction),
        MESH_TEST(case_05_mixed_polygons_share_their_vertices),
        MESH_TEST(case_05_the_diagonal_is_the_same_on_every_run_and_from_every_corner),
        MESH_TEST(case_05_repeated_corners_are_dropped_with_a_notice),
        MESH_TEST(case_06_byte_order_marks_and_other_encodings),
        MESH_TEST(case_07_free_format_is_free),
        MESH_TEST(case_09_gmsh_blocks_and_physicals),
        MESH_TEST(case_10_gmsh_binary_equals_text),
        MESH_TEST(case_12_stl_size_decides),
        MESH_TEST(case_13_counts_are_checked_before_anything_is_allocated),
        MESH_TEST(case_14_what_is_not_finite_is_refused),
        MESH_TEST(case_15_paths_of_every_kind_open),
        MESH_TEST(case_15_a_directory_an_empty_and_a_missing_file_are_told_apart),
        MESH_TEST(case_42_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
