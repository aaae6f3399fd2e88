// The doctor against ../shared/cases: each test states what that folder's README expects, or a promise of mesh.h.
#include "mesh_test.h"

#define CASE(path) "cases/" path

static void case_17_tets_of_negative_volume_are_turned(void** state)
{
    (void)state;
    flx_mesh*         m = read_shared(CASE("17-negative-volume-orientation/all_negative.ele"));
    flx_mesh*         f = read_shared(CASE("17-negative-volume-orientation/all_negative.ele"));
    flx_doctor_report r = examine(m);
    assert_int_equal(r.reoriented.count, 5);
    CHECK_SAID("5 of 5 tetrahedra had negative volume and were turned");
    CHECK_NEAR(r.volume, 1.0, 1e-14);
    assert_memory_equal(m->x, f->x, 24 * sizeof *m->x); // the numbering of vertices stays
    flx_mesh_destroy(ctx, m);
    flx_mesh_destroy(ctx, f);

    m = read_shared(CASE("17-negative-volume-orientation/mixed.node"));
    r = examine(m);
    assert_int_equal(r.reoriented.count, 2);
    assert_int_equal(r.reoriented.number[0], 2);
    assert_int_equal(r.reoriented.number[1], 5);
    CHECK_NEAR(r.volume, 1.0, 1e-14);
    CHECK_NEAR(r.enclosed_volume, 1.0, 1e-14); // by the boundary's normals: they point outward
    assert_true(r.closed);
    assert_int_equal(r.flipped_edges, 0);
    flx_mesh_destroy(ctx, m);
}

static void case_17_every_order_of_the_corners_gives_the_same_tet(void** state)
{
    (void)state;
    double   x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int32_t  order[4];
    int32_t  turned = 0;
    flx_mesh m      = {.vertex_count = 4, .tet_count = 1, .x = x, .tet = order};
    for (int32_t code = 0; code < 256; ++code)
    {
        for (int k = 0; k < 4; ++k) order[k] = code >> (2 * k) & 3;
        int seen = 0;
        for (int k = 0; k < 4; ++k) seen |= 1 << order[k];
        if (seen != 15) continue;
        const flx_doctor_report r = examine(&m);
        CHECK_NEAR(r.volume, 1.0 / 6.0, 1e-16);
        CHECK_NEAR(r.min_dihedral_deg, 54.735610317245346, 1e-12); // atan(sqrt 2), the slanted face against the others
        turned += (int32_t)r.reoriented.count;
    }
    assert_int_equal(turned, 12); // half of the 24 orders
}

static void case_18_flat_tets_are_refused_by_number_and_dropped_when_asked(void** state)
{
    (void)state;
    flx_mesh*         m = read_shared(CASE("18-degenerate-tets/flat.ele"));
    flx_doctor_report r;
    CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, &r), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "4 tetrahedra without volume: 3, 4, 5, 6"));
    assert_int_equal(r.flat.count, 4);
    for (int i = 0; i < 4; ++i) assert_int_equal(r.flat.number[i], 3 + i);
    assert_int_equal(r.worst_tet, 2); // thin but valid
    assert_int_equal(r.sliver.count, 1);
    CHECK_NEAR(r.min_volume, 1.0e-9 / 6.0, 1e-15 / 6.0); // flatness 1e-9; the coordinates have 16 digits

    flx_mesh_options o = flx_mesh_options_default();
    o.repair           = true;
    CHECK_OK(flx_mesh_doctor(ctx, m, &o, &r));
    assert_int_equal(m->tet_count, 2);
    assert_int_equal(m->tet_number[1], 2);
    assert_int_equal(m->vertex_count, 7);
    assert_int_equal(r.unreferenced.count, 2); // 6 and 7 lost their elements: as in case 19
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("18-degenerate-tets/flat.mesh"));
    CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, &r), FLX_ERR_MESH);
    assert_int_equal(r.flat.count, 2);
    assert_int_equal(r.flat.number[0], 3);
    flx_mesh_destroy(ctx, m);
}

static void case_19_unused_vertices_keep_their_place(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("19-unreferenced-vertices/cube_plus3.ele"));
    check_counts(m, 11, 0, 5);
    flx_doctor_report r = examine(m);
    assert_int_equal(r.unreferenced.count, 3);
    CHECK_SAID("3 vertices are used by no element");
    assert_int_equal(m->vertex_count, 11);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("19-unreferenced-vertices/first_unused.obj"));
    r = examine(m);
    assert_int_equal(r.unreferenced.count, 1);
    assert_int_equal(r.unreferenced.number[0], 1);
    flx_mesh_destroy(ctx, m);
}

static void case_21_soup_is_welded_or_said(void** state)
{
    (void)state;
    flx_doctor_report r = examine_shared(CASE("21-duplicate-vertices-seams/soup.obj"));
    assert_int_equal(r.vertex_count, 36);
    assert_int_equal(r.duplicate.count, 28);
    assert_int_equal(r.component_count, 12);
    CHECK_SAID("28 of 36 vertices coincide with an earlier one");
    CHECK_SAID("12 components");

    flx_mesh* m = read_welded(CASE("21-duplicate-vertices-seams/soup.obj"), 0.0);
    check_counts(m, 8, 12, 0);
    flx_mesh_destroy(ctx, m);
    m = read_shared(CASE("21-duplicate-vertices-seams/soup.stl")); // STL always is
    check_counts(m, 8, 12, 0);
    assert_true(examine(m).closed);
    flx_mesh_destroy(ctx, m);

    r = examine_shared(CASE("21-duplicate-vertices-seams/seam_sheet.obj"));
    assert_int_equal(r.vertex_count, 30);
    assert_int_equal(r.duplicate.count, 5);
    assert_int_equal(r.component_count, 2);
    m = read_welded(CASE("21-duplicate-vertices-seams/seam_sheet.obj"), 0.0);
    check_counts(m, 25, 32, 0);
    assert_int_equal(examine(m).component_count, 1);
    flx_mesh_destroy(ctx, m);
}

static void case_21_blocks_that_touch_are_two_until_welded(void** state)
{
    (void)state;
    flx_doctor_report r = examine_shared(CASE("21-duplicate-vertices-seams/touching_blocks.ele"));
    assert_int_equal(r.component_count, 2);
    CHECK_SAID("2 components");

    flx_mesh* m = read_welded(CASE("21-duplicate-vertices-seams/touching_blocks.ele"), 0.0);
    check_counts(m, 12, 0, 12);
    r = examine(m);
    assert_int_equal(r.component_count, 1);
    CHECK_NEAR(r.volume, 2.0, 1e-14);
    int32_t  count    = 0;
    int32_t* boundary = NULL;
    CHECK_OK(flx__tet_boundary(ctx, m->tet_count, m->tet, &count, &boundary));
    assert_int_equal(count, 20);
    flx__free(ctx, boundary);
    flx_mesh_destroy(ctx, m);

    m = read_welded(CASE("21-duplicate-vertices-seams/near_blocks.ele"), 0.0); // 1e-7 apart: not at the same place
    check_counts(m, 16, 0, 12);
    flx_mesh_destroy(ctx, m);
    m = read_welded(CASE("21-duplicate-vertices-seams/near_blocks.ele"), 1e-6);
    check_counts(m, 12, 0, 12);
    CHECK_SAID("16 vertices welded to 12 (tolerance 2.4494"); // 1e-6 of the diagonal, sqrt 6 m
    assert_int_equal(examine(m).component_count, 1);
    flx_mesh_destroy(ctx, m);
}

static void case_22_surfaces_that_are_not_clean_are_reported_by_kind(void** state)
{
    (void)state;
    flx_doctor_report r = examine_shared(CASE("22-nonmanifold-cloth/book.obj"));
    assert_int_equal(r.nonmanifold_edges, 1);
    r = examine_shared(CASE("22-nonmanifold-cloth/bowtie.obj"));
    assert_int_equal(r.bowtie_vertices, 1);
    r = examine_shared(CASE("22-nonmanifold-cloth/consistent.obj"));
    assert_int_equal(r.flipped_edges + r.nonmanifold_edges + r.bowtie_vertices, 0);
    r = examine_shared(CASE("22-nonmanifold-cloth/flipped.obj"));
    assert_true(r.flipped_edges > 0);
    r = examine_shared(CASE("22-nonmanifold-cloth/tjunction.obj"));
    assert_int_equal(r.vertex_on_edge.count, 1);
    assert_int_equal(r.vertex_on_edge.number[0], 5);
    CHECK_SAID("vertex 5 lies on edge 1-2");
}

static void case_22_repeated_and_flat_triangles(void** state)
{
    (void)state;
    flx_mesh*         m = read_shared(CASE("22-nonmanifold-cloth/twice.obj"));
    flx_mesh_options  o = flx_mesh_options_default();
    flx_doctor_report r = examine(m);
    assert_int_equal(r.repeated_triangle.count, 3);
    assert_int_equal(r.repeated_triangle.number[0], 2);
    CHECK_SAID("3 triangles repeat");
    o.repair = true;
    CHECK_OK(flx_mesh_doctor(ctx, m, &o, &r));
    assert_int_equal(m->triangle_count, 1);
    flx_mesh_destroy(ctx, m);

    m = read_shared(CASE("22-nonmanifold-cloth/sliver.obj"));
    CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, &r), FLX_ERR_MESH);
    assert_int_equal(r.degenerate.count, 1);
    CHECK_OK(flx_mesh_doctor(ctx, m, &o, &r));
    assert_int_equal(m->triangle_count, 1);
    flx_mesh_destroy(ctx, m);
}

static void case_23_overlapping_tets_are_reported(void** state)
{
    (void)state;
    flx_mesh*         m = read_shared(CASE("23-overlapping-tets/same_twice.msh"));
    flx_mesh_options  o = flx_mesh_options_default();
    flx_doctor_report r;
    CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, &r), FLX_ERR_MESH);
    assert_int_equal(r.repeated_tet.count, 2);
    assert_int_equal(r.repeated_tet.number[0], 6);
    assert_int_equal(r.repeated_tet.number[1], 7);
    o.repair = true;
    CHECK_OK(flx_mesh_doctor(ctx, m, &o, &r));
    assert_int_equal(m->tet_count, 5);
    flx_mesh_destroy(ctx, m);

    r = examine_shared(CASE("23-overlapping-tets/three_on_face.msh"));
    assert_int_equal(r.shared_face.count, 3);
    CHECK_SAID("3 tetrahedra are on a face that three or more share");

    r = examine_shared(CASE("23-overlapping-tets/crossing_diagonals.msh"));
    assert_int_equal(r.inner_boundary_faces, 4);
    CHECK_SAID("4 boundary faces lie inside");
    CHECK_NEAR(r.volume, 2.0, 1e-14);
}

static void the_box_area_and_volume_of_a_cube_are_exact(void** state)
{
    (void)state;
    const flx_doctor_report r = examine_shared(CASE("01-obj-line-endings/lf.obj"));
    for (int d = 0; d < 3; ++d) assert_true(r.box_max[d] - r.box_min[d] == 1.0);
    CHECK_NEAR(r.area, 6.0, 1e-14);
    assert_int_equal(r.component_count, 1);
    assert_int_equal(r.self_crossings, 0);
    assert_int_equal(r.boundary_edges + r.nonmanifold_edges + r.flipped_edges + r.bowtie_vertices, 0);
}

static void a_bad_index_or_coordinate_is_refused_by_number(void** state)
{
    (void)state;
    double            x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int32_t           t[4]  = {0, 1, 2, 4};
    flx_mesh          m     = {.vertex_count = 4, .tet_count = 1, .x = x, .tet = t};
    flx_doctor_report r;
    CHECK_FAILS(flx_mesh_doctor(ctx, &m, NULL, &r), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "tetrahedron 1 names vertex 5 of 4"));
    t[3] = 3;
    x[7] = NAN;
    CHECK_FAILS(flx_mesh_doctor(ctx, &m, NULL, &r), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "vertex 3 is not finite"));
}

static void keeping_a_group_keeps_vertices_and_numbers(void** state)
{
    (void)state;
    flx_mesh* m = read_shared(CASE("09-gmsh-blocks-physicals-mixed-types/blocks41.msh"));
    CHECK_OK(flx__mesh_keep_group(ctx, m, "physical_9"));
    check_counts(m, 8, 0, 3);
    assert_int_equal(m->tet_number[0], 4);
    assert_int_equal(group_named(m, "soft tissue")->tet_count, 3);
    assert_int_equal(group_named(m, "skin")->triangle_count, 0);
    CHECK_FAILS(flx__mesh_keep_group(ctx, m, "bone"), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "no group 'bone'; there are 'skin', 'soft tissue'"));
    flx_mesh_destroy(ctx, m);
}

static void of_a_group_the_rest_of_the_file_is_not_noted(void** state)
{
    (void)state;
    char              path[] = "/tmp/flexor-doctor-XXXXXX";
    flx_mesh_options  o      = flx_mesh_options_default();
    flx_mesh*         m      = NULL;
    flx_doctor_report r;
    FILE*             f = fdopen(mkstemp(path), "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nv 6 5 5\nv 5 6 5\ng near\nf 1 2 3\ng far\nf 4 5 6\n", f);
    fclose(f);
    o.group       = "far";
    o.may_be_open = true;
    notices[0]    = '\0';
    CHECK_OK(flx_mesh_read(ctx, path, &o, &m));
    check_counts(m, 6, 1, 0);
    CHECK_OK(flx_mesh_doctor(ctx, m, &o, &r));
    assert_string_equal(notices, "");
    assert_int_equal(r.unreferenced.count, 3);
    assert_true(r.box_min[0] == 5 && r.box_max[0] == 6); // of what the elements use
    flx_mesh_destroy(ctx, m);
    o.group = "farther";
    CHECK_FAILS(flx_mesh_read(ctx, path, &o, &m), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "no group 'farther'; there are 'near', 'far'"));
    unlink(path);
}

static void components_are_labelled_in_order_of_their_first_vertex(void** state)
{
    (void)state;
    const int32_t triangle[9] = {7, 5, 6, 1, 2, 3, 3, 8, 2};
    int32_t       label[9], count = 0;
    CHECK_OK(flx__mesh_components(ctx, 9, 3, 3, triangle, label, &count));
    assert_int_equal(count, 2);
    const int32_t expected[9] = {-1, 0, 0, 0, -1, 1, 1, 1, 0};
    assert_memory_equal(label, expected, sizeof expected);
}

static void every_failed_allocation_is_clean(void** state)
{
    (void)state;
    static const char* const names[] = {CASE("22-nonmanifold-cloth/tjunction.obj"), CASE("18-degenerate-tets/flat.ele"),
                                        CASE("23-overlapping-tets/crossing_diagonals.msh")};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        flx_mesh_options o = flx_mesh_options_default();
        o.repair           = true;
        for (int64_t n = 0;; ++n)
        {
            flx_mesh*     m    = read_shared(names[i]);
            const int64_t held = flx_context_bytes_now(ctx);
            flx_context_fail_allocation(ctx, n);
            const flx_status status = flx_mesh_doctor(ctx, m, &o, NULL);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), held);
            flx_mesh_destroy(ctx, m);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_true(n < 1000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MESH_TEST(case_17_tets_of_negative_volume_are_turned),
        MESH_TEST(case_17_every_order_of_the_corners_gives_the_same_tet),
        MESH_TEST(case_18_flat_tets_are_refused_by_number_and_dropped_when_asked),
        MESH_TEST(case_19_unused_vertices_keep_their_place),
        MESH_TEST(case_21_soup_is_welded_or_said),
        MESH_TEST(case_21_blocks_that_touch_are_two_until_welded),
        MESH_TEST(case_22_surfaces_that_are_not_clean_are_reported_by_kind),
        MESH_TEST(case_22_repeated_and_flat_triangles),
        MESH_TEST(case_23_overlapping_tets_are_reported),
        MESH_TEST(the_box_area_and_volume_of_a_cube_are_exact),
        MESH_TEST(a_bad_index_or_coordinate_is_refused_by_number),
        MESH_TEST(keeping_a_group_keeps_vertices_and_numbers),
        MESH_TEST(of_a_group_the_rest_of_the_file_is_not_noted),
        MESH_TEST(components_are_labelled_in_order_of_their_first_vertex),
        MESH_TEST(every_failed_allocation_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
