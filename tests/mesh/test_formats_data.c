// Real meshes of ../shared/data: counts and sizes as ../shared/data/COUNTS.txt lists them (made by another parser).
#include "mesh_test.h"

typedef struct expected_mesh
{
    const char* path;
    int32_t     vertices, triangles, tets;
    double      box[3];                // extents; four digits in the list
    int64_t     boundary, nonmanifold; // edges; -1: not listed
    double      volume;                // of the tets; 0: not listed
} expected_mesh;

static const expected_mesh all[] = {
    {"spot/spot_triangulated.obj", 2930, 5856, 0, {0.943, 1.69, 1.72}, 0, 0, 0},
    {"spot/spot_quadrangulated.obj", 2930, 5856, 0, {0.943, 1.69, 1.72}, 0, 0, 0},
    {"spot/spot_control_mesh.obj", 188, 372, 0, {1.17, 1.74, 1.77}, 0, 0, 0}, // 4 triangles, 160 quads, 16 pentagons
    {"diff_pd_public/bob.obj", 3087, 6174, 0, {1.85, 1.46, 0.971}, 0, 0, 0},
    {"SkinFlaps/Model/unilatCompleteCleft.obj", 8691, 17378, 0, {4.23, 2.27, 1.83}, 0, 0, 0},
    {"SkinFlaps/Model/LmaxillaFace.obj", 1110, 2037, 0, {1.35, 1.15, 0.93}, 181, 0, 0},
    {"mujoco/torus_quads.obj", 576, 1152, 0, {2.5, 2.5, 0.5}, 0, 0, 0},
    {"trimesh/negative_indices.obj", 8, 12, 0, {2, 2, 2}, 0, 0, 0},
    {"PositionBasedDynamics/plane_30x30.obj", 961, 1800, 0, {1, 0, 1}, 120, 0, 0},
    {"myo_sim/humerus.stl", 309, 588, 0, {0.0486, 0.326, 0.0702}, 45, 3, 0},
    {"myo_sim/ground_skull.stl", 3305, 6589, 0, {0.169, 0.161, 0.139}, 84, 13, 0},
    {"myo_sim/ulna.stl", 211, 396, 0, {0.0424, 0.26, 0.0702}, 29, 7, 0},
    {"assimp/sphereWithHole.stl", 146, 285, 0, {3, 3, 3}, 9, 0, 0}, // ASCII
    {"trimesh/multibody.stl", 20, 32, 0, {0.636, 1.09, 0.34}, 0, 0, 0},
    {"trimesh/fixed_top.ply", 2374, 4772, 0, {0}, -1, -1, 0},
    {"trimesh/comments.off", 8, 12, 0, {0}, 0, 0, 0},
    {"mujoco/cube_22_ascii_vol_gmshApp.msh", 14, 0, 24, {1, 1, 1}, 0, 0, 1.0},
    {"mujoco/cube_22_binary_vol_gmshApp.msh", 14, 0, 24, {1, 1, 1}, 0, 0, 1.0},
    {"mujoco/cube_41_ascii_vol_gmshApp.msh", 14, 0, 24, {1, 1, 1}, 0, 0, 1.0},
    {"mujoco/cube_41_binary_vol_gmshApp.msh", 14, 0, 24, {1, 1, 1}, 0, 0, 1.0},
    {"mujoco/cube_41_binary_surf_gmshApp.msh", 14, 24, 0, {1, 1, 1}, 0, 0, 0},
    {"mujoco/shark_22_ascii_fTetWild.msh", 425, 0, 1070, {0.142, 0.0615, 0.166}, 0, -1, 0.0001103},
    {"mujoco/shark_22_binary_fTetWild.msh", 429, 0, 1073, {0.143, 0.0621, 0.166}, 0, -1, 0.0001103},
    {"polyfem-data/bar-bar-651.msh", 292, 0, 651, {10, 0.5, 1}, 0, 0, 5.0},
    {"polyfem-data/sphere-sphere1K.msh", 1760, 0, 6851, {0.998, 0.997, 0.997}, 0, 0, 0.5185},
    {"polyfem-data/cubes_v22.msh", 7714, 0, 32981, {2.1, 1, 1}, 0, -1, 2.098},
    {"polyfem-data/square_beam.mesh", 739, 0, 2886, {20, 20, 100}, 0, 0, 4e4},
    {"polyfem-data/standard-balloon.msh", 273, 499, 0, {2, 2.14, 0}, 45, 0, 0},
    {"mfem/nested_cubes.msh", 138, 240, 520, {1, 1, 1}, 0, -1, 1.0},
    {"admm-elastic/torus.ele", 798, 0, 4130, {2.5, 2.5, 0.5}, 0, 0, 1.223},
    {"admm-elastic/box768.ele", 413, 0, 1175, {1, 1, 1}, 0, 0, 1.0},
};

static void real_meshes_have_the_listed_counts(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    {
        const expected_mesh* e = all + i;
        char                 path[256];
        snprintf(path, sizeof path, "data/%s", e->path);
        flx_mesh* m = read_shared(path);
        check_counts(m, e->vertices, e->triangles, e->tets);
        const flx_doctor_report r = examine(m);
        for (int d = 0; d < 3 && e->box[0] > 0.0; ++d)
            CHECK_NEAR(r.box_max[d] - r.box_min[d], e->box[d], 0.005 * e->box[d] + 1e-12); // listed with three digits
        if (e->boundary >= 0) assert_int_equal(r.boundary_edges, e->boundary);
        if (e->nonmanifold >= 0) assert_int_equal(r.nonmanifold_edges, e->nonmanifold);
        if (e->volume > 0.0) CHECK_NEAR(r.volume, e->volume, 5e-4 * e->volume); // listed with four digits
        if (e->tets > 0) assert_int_equal(r.reoriented.count, 0);
        flx_mesh_destroy(ctx, m);
    }
}

static void makehuman_has_a_body_and_joints(void** state)
{
    (void)state;
    flx_mesh* m = read_shared("data/makehuman/base.obj");
    check_counts(m, 19158, 2 * 18486, 0); // quads
    assert_int_equal(group_named(m, "body")->triangle_count, 2 * 13378);
    const flx_mesh_group* elbow = group_named(m, "joint-l-elbow");
    assert_int_equal(elbow->triangle_count, 12);                               // a small cube
    assert_true(m->x[0] == -0.3492 && m->x[1] == 7.3299 && m->x[2] == 1.4076); // the file's first vertex

    CHECK_OK(flx__mesh_keep_group(ctx, m, "body"));
    check_counts(m, 19158, 2 * 13378, 0);
    const flx_doctor_report r = examine(m);
    assert_int_equal(r.vertex_count - r.unreferenced.count, 13380);
    assert_int_equal(r.nonmanifold_edges + r.flipped_edges, 0);
    flx_mesh_destroy(ctx, m);
}

static void a_scale_turns_file_units_into_metres(void** state)
{
    (void)state;
    flx_mesh*        m = NULL;
    flx_mesh_options o = flx_mesh_options_default();
    o.scale            = 0.1;
    CHECK_OK(flx_mesh_read(ctx, shared_or_skip("data/makehuman/base.obj"), &o, &m));
    assert_true(m->x[1] == 7.3299 * 0.1);
    flx_mesh_destroy(ctx, m);
    static const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; ++i)
    {
        o.scale = bad[i];
        CHECK_FAILS(flx_mesh_read(ctx, "any.obj", &o, &m), FLX_ERR_ARGUMENT);
    }
}

static void both_versions_of_gmsh_give_the_same_mesh(void** state)
{
    (void)state;
    flx_mesh* a = read_shared("data/polyfem-data/cubes_v22.msh");
    flx_mesh* b = read_shared("data/polyfem-data/cubes_v41.msh");
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->tet_count, b->tet_count);
    for (int g = 1; g <= 3; ++g)
    {
        char name[32];
        snprintf(name, sizeof name, "physical_%d", g);
        assert_int_equal(group_named(a, name)->tet_count, group_named(b, name)->tet_count);
    }
    flx_mesh_destroy(ctx, a);
    flx_mesh_destroy(ctx, b);
    static const char* const four[] = {"22_ascii", "22_binary", "41_ascii", "41_binary"};
    flx_mesh*                first  = read_shared("data/polyfem-data/msh_test/22_ascii.msh");
    for (int i = 1; i < 4; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, "data/polyfem-data/msh_test/%s.msh", four[i]);
        flx_mesh* m = read_shared(path);
        check_counts(m, 8, 0, 5);
        assert_int_equal(group_named(m, "physical_2")->tet_count, group_named(first, "physical_2")->tet_count);
        flx_mesh_destroy(ctx, m);
    }
    flx_mesh_destroy(ctx, first);
}

static void named_sides_next_to_tets_are_groups_of_triangles(void** state)
{
    (void)state;
    flx_mesh* m = read_shared("data/polyfem-data/gmsh_physical_sides_3d_v41.msh");
    check_counts(m, 5, 3, 2);
    static const char* const sides[] = {"side_a", "side_b", "interface"};
    for (int i = 0; i < 3; ++i) assert_int_equal(group_named(m, sides[i])->triangle_count, 1);
    assert_int_equal(group_named(m, "upper")->tet_count, 1);
    flx_mesh_destroy(ctx, m);
}

static void malformed_files_are_refused_with_their_place(void** state)
{
    (void)state;
    static const struct
    {
        const char *path, *text;
    } bad[] = {{"malformed_cube_22_ascii_missing_element", ":46:"},
               {"malformed_cube_22_ascii_missing_node", ":19:"},
               {"malformed_cube_22_ascii_missing_num_elements", ":22:"},
               {"malformed_cube_22_ascii_missing_num_nodes", ":5:"},
               {"malformed_cube_41_ascii_missing_element", ":66:"},
               {"malformed_cube_41_ascii_missing_element_header", ":41:"},
               {"malformed_cube_41_ascii_missing_node", ":38:"},
               {"malformed_cube_41_ascii_missing_node_header", ":13:"},
               {"malformed_cube_41_ascii_missing_node_index", ":24:"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    {
        char path[160];
        snprintf(path, sizeof path, "data/mujoco/%s.msh", bad[i].path);
        check_refused(path, FLX_ERR_FORMAT, bad[i].text);
    }
    check_refused("data/mujoco/abdomen_1_body.msh", FLX_ERR_FORMAT, ":1:"); // another program's .msh
    check_refused("data/assimp/OutOfMemory.off", FLX_ERR_FORMAT, ":2:");
    check_refused("data/assimp/malformed.obj", FLX_ERR_FORMAT, ":28:");
    check_refused("data/assimp/malformed2.obj", FLX_ERR_FORMAT, ":23:");
    check_refused("data/assimp/number_formats.obj", FLX_ERR_FORMAT, ":11:");
    check_refused("data/assimp/box_UTF16BE.obj", FLX_ERR_FORMAT, "UTF-16");
}

static void what_is_not_read_says_how_to_convert(void** state)
{
    (void)state;
    check_refused("data/mfem/beam-tet.vtk", FLX_ERR_UNSUPPORTED, "meshio convert");
    check_refused("data/mfem/escher.mesh", FLX_ERR_UNSUPPORTED, "MFEM");
    check_refused("data/AbaqusReader.jl/tet4.inp", FLX_ERR_UNSUPPORTED, "Abaqus");
    check_refused("data/mfem/periodic-cube.msh", FLX_ERR_UNSUPPORTED, "64 hexahedra");
    check_refused("data/COUNTS.txt", FLX_ERR_FORMAT, "neither its content");
}

static void files_without_elements_are_read_and_fail_in_the_doctor(void** state)
{
    (void)state;
    static const char* const names[] = {"assimp/point_cloud.obj", "trimesh/empty.ply", "trimesh/stl_empty_bin.stl"};
    for (int i = 0; i < 3; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, "data/%s", names[i]);
        flx_mesh* m = read_shared(path);
        assert_int_equal(m->triangle_count + m->tet_count, 0);
        CHECK_FAILS(flx_mesh_doctor(ctx, m, NULL, NULL), FLX_ERR_MESH);
        flx_mesh_destroy(ctx, m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MESH_TEST(real_meshes_have_the_listed_counts),
        MESH_TEST(makehuman_has_a_body_and_joints),
        MESH_TEST(a_scale_turns_file_units_into_metres),
        MESH_TEST(both_versions_of_gmsh_give_the_same_mesh),
        MESH_TEST(named_sides_next_to_tets_are_groups_of_triangles),
        MESH_TEST(malformed_files_are_refused_with_their_place),
        MESH_TEST(what_is_not_read_says_how_to_convert),
        MESH_TEST(files_without_elements_are_read_and_fail_in_the_doctor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
