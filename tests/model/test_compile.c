// Scenes to models: numbering, masses, what no element uses, which way tets are given.
#include "model_fixture.h"

#include "math/mat3.h"

/// Scene of one tet mesh, lying at `path`.
static const char* scene_of(const char* path, const char* more)
{
    static char yaml[2048];
    snprintf(yaml, sizeof yaml,
             "flexor: 1\nbodies: [{name: b, tets: '%s', material: {young: 30 kPa, density: 800 kg/m3}}]\n%srun: "
             "{frames: 1, fps: 30}\n",
             path, more);
    return yaml;
}

static void numbering_of_a_conforming_mesh_is_kept(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    fixture_box(&f, "two.mesh", (const int[3]){3, 2, 1}, (const double[3]){0.1, 0.2, 0.3}, 0.1, 2, 1);
    model_open(
        &f,
        "flexor: 1\n"
        "bodies:\n"
        "  - {name: a, tets: two.mesh, material: {young: 30 kPa, density: 800 kg/m3}}\n"
        "  - {name: b, tets: two.mesh, translate: [0, 3, 0], scale: 2, material: {young: 30 kPa, density: 100 kg/m3}}\n"
        "contact: [{self: a, region: {box: {min: [-1, -1, -1], max: [0.15, 9, 9]}}}]\n"
        "run: {frames: 1, fps: 30}\n");
    char path[128];
    snprintf(path, sizeof path, "%s/two.mesh", f.folder);
    flx_context*     ctx     = f.ctx;
    flx_mesh*        mesh    = NULL;
    flx_mesh_options options = flx_mesh_options_default();
    CHECK_OK(flx_mesh_read(ctx, path, &options, &mesh));
    const flx_model_info info = flx_model_get_info(f.model);
    assert_int_equal(info.body_count, 2);
    assert_int_equal(info.vertex_count, 2 * mesh->vertex_count);
    assert_int_equal(info.tet_count, 2 * mesh->tet_count);
    const double*  rest = flx_model_rest_positions(f.model);
    const int32_t *tet = flx_model_tets(f.model), *body = flx_model_tet_body(f.model);
    for (int32_t i = 0; i < mesh->vertex_count; ++i)
        for (int c = 0; c < 3; ++c)
        {
            assert_true(rest[3 * i + c] == mesh->x[3 * i + c]); // the same bits
            CHECK_NEAR(rest[3 * (mesh->vertex_count + i) + c], 2 * mesh->x[3 * i + c] + 3 * (c == 1), 1e-15);
        }
    for (int32_t e = 0; e < mesh->tet_count; ++e)
    {
        assert_int_equal(body[e], 0);
        assert_int_equal(body[mesh->tet_count + e], 1);
        for (int c = 0; c < 4; ++c)
        {
            assert_int_equal(tet[4 * e + c], mesh->tet[4 * e + c]);
            assert_int_equal(tet[4 * (mesh->tet_count + e) + c], mesh->vertex_count + mesh->tet[4 * e + c]);
        }
    }
    // the solver's numbering and back
    const flx_model* m = f.model;
    assert_int_equal(m->vertex_count, info.vertex_count);
    assert_int_equal(m->free_count + m->prone_count, m->vertex_count);
    for (int32_t i = 0; i < m->vertex_count; ++i)
    {
        assert_int_equal(m->of_user[m->user_of[i]], i);
        for (int c = 0; c < 3; ++c) assert_true(m->x_rest[3 * i + c] == rest[3 * m->user_of[i] + c]);
    }
    // each body weighs its density times its volume: two boxes of 0.3 x 0.2 x 0.1 m, and eight times as much
    double mass[2] = {0};
    for (int32_t i = 0; i < m->vertex_count; ++i)
    {
        assert_true(m->mass[i] > 0);
        mass[m->user_of[i] >= mesh->vertex_count] += m->mass[i];
    }
    CHECK_NEAR(mass[0], 2 * 0.006 * 800, 1e-12 * mass[0]);
    CHECK_NEAR(mass[1], 2 * 0.048 * 100, 1e-12 * mass[1]);
    flx_mesh_destroy(ctx, mesh);
    model_end(&f);
}

static double mass_of(const flx_model* m)
{
    double mass = 0;
    for (int32_t i = 0; i < m->vertex_count; ++i) mass += m->mass[i];
    return mass;
}

/// m^3, by the divergence theorem
static double enclosed(const flx_model* m)
{
    double volume = 0;
    for (int32_t t = 0; t < m->surface_triangle_count; ++t)
    {
        const int32_t* v = m->surface_triangle + 3 * t;
        double         n[3];
        flx__cross3(m->surface_rest + 3 * v[1], m->surface_rest + 3 * v[2], n);
        volume += flx__dot3(m->surface_rest + 3 * v[0], n) / 6;
    }
    return volume;
}

static void lattices_weigh_the_more_exactly_the_finer_they_are(void** state)
{
    (void)state;
    double before = 1;
    for (int k = 0; k < 3; ++k)
    {
        static const char* const cells[] = { "0.03", "0.015", "0.0075" };
        fixture   f;
        model_log log;
        char      yaml[256];
        model_start(&f, &log);
        model_tube(&f, "tube.obj", -0.1, 0.1, 0.05, 48, 16);
        snprintf(yaml, sizeof yaml, "flexor: 1\nbodies: [{name: t, surface: tube.obj, lattice: {cell: %s}}]\nrun: {frames: 1, fps: 30}\n", cells[k]);
        model_open(&f, yaml);
        const double wanted = f.model->body[0].density * enclosed(f.model), error = fabs(mass_of(f.model) - wanted) / wanted;
        CHECK_BELOW(error, before);
        before = error;
        model_end(&f);
    }
    CHECK_BELOW(before, 0.005); // 13 cells across
}

static void share_of_a_cut_tet_is_its_volume(void** state)
{
    (void)state;
    uint64_t seed = 2;
    for (int k = 0; k < 200; ++k)
    {
        double phi[4];
        for (int i = 0; i < 4; ++i) phi[i] = test_random(&seed) - (k % 5) * 0.25;
        // uniform points of the tet: sorted differences of three uniform numbers
        int negative = 0;
        enum { POINTS = 20000 };
        for (int p = 0; p < POINTS; ++p)
        {
            double a = test_random(&seed), b = test_random(&seed), c = test_random(&seed), t;
            if (a > b) t = a, a = b, b = t;
            if (b > c) t = b, b = c, c = t;
            if (a > b) t = a, a = b, b = t;
            negative += a * phi[0] + (b - a) * phi[1] + (c - b) * phi[2] + (1 - c) * phi[3] < 0;
        }
        CHECK_NEAR(flx__negative_share(phi), (double)negative / POINTS, 0.02); // five standard deviations of the sampling
    }
}

static void a_lattice_weighs_what_its_surface_encloses_and_carries_it(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    model_tube(&f, "tube.obj", -0.1, 0.1, 0.05, 16, 4);
    model_open(&f, "flexor: 1\nbodies: [{name: t, surface: tube.obj, lattice: {cell: 0.03}, material: {young: 30 kPa, "
                   "density: 1000 kg/m3}}]\n"
                   "run: {frames: 1, fps: 30}\n");
    const flx_model* m      = f.model;
    CHECK_NEAR(mass_of(m), 1000 * enclosed(m), 0.05 * mass_of(m)); // 3 cells across: cut tets are taken as flat
    // the embedded surface at rest is the input
    char path[128];
    snprintf(path, sizeof path, "%s/tube.obj", f.folder);
    flx_context*     ctx     = f.ctx;
    flx_mesh*        mesh    = NULL;
    flx_mesh_options options = flx_mesh_options_default();
    CHECK_OK(flx_mesh_read(ctx, path, &options, &mesh));
    assert_int_equal(m->surface_vertex_count, mesh->vertex_count);
    assert_int_equal(m->surface_triangle_count, mesh->triangle_count);
    for (int32_t i = 0; i < m->surface_vertex_count; ++i)
    {
        const flx_embedded* e = &m->surface[i];
        for (int c = 0; c < 3; ++c)
        {
            double p = 0;
            for (int k = 0; k < 4; ++k)
            {
                assert_true(e->weight[k] > -1e-12);
                p += e->weight[k] * m->user_rest[3 * m->user_tet[4 * e->tet + k] + c];
            }
            CHECK_NEAR(p, mesh->x[3 * i + c], 1e-15); // m, of a body of 0.3 m: rounding
        }
    }
    for (int32_t t = 0; t < 3 * mesh->triangle_count; ++t) assert_int_equal(m->surface_triangle[t], mesh->triangle[t]);
    flx_mesh_destroy(ctx, mesh);
    model_end(&f);
}

static void unreferenced_vertices_stay_in_their_place_and_carry_no_mass(void** state)
{
    (void)state;
    fixture     f;
    model_log   log;
    const char* path = shared_or_skip("cases/19-unreferenced-vertices/cube_plus3.node");
    model_start(&f, &log);
    model_open(&f, scene_of(path, "fix: {body: b, region: all}\n"));
    const flx_model* m = f.model;
    assert_int_equal(flx_model_get_info(m).vertex_count, 11);
    assert_int_equal(m->vertex_count, 8); // no row in any matrix
    static const double unused[3][3] = {{5, 5, 5}, {9, 0, 0}, {0.5, 0.5, 0.5}};
    for (int i = 0; i < 3; ++i)
    {
        assert_int_equal(m->of_user[8 + i], -1);
        for (int c = 0; c < 3; ++c) assert_true(flx_model_rest_positions(m)[3 * (8 + i) + c] == unused[i][c]);
    }
    double mass = 0;
    for (int32_t i = 0; i < m->vertex_count; ++i) mass += m->mass[i];
    CHECK_NEAR(mass, 800, 1e-10); // the unit cube and nothing else
    assert_int_equal(m->spring_count, 8);
    assert_non_null(strstr(log.text, "3 vertices of body 'b' in the region belong to no element"));
    if (!strstr(log.text, "3 vert")) fail_msg("no notice: %s", log.text);
    model_end(&f);
}

static void tets_given_inside_out_are_turned_and_said_to_be(void** state)
{
    (void)state;
    static const char* const file[2]  = {"all_negative.node", "mixed.node"};
    static const char* const words[2] = {"5 of 5", "2 of 5"};
    for (int i = 0; i < 2; ++i)
    {
        fixture   f;
        model_log log;
        char      relative[128];
        snprintf(relative, sizeof relative, "cases/17-negative-volume-orientation/%s", file[i]);
        const char* path = shared_or_skip(relative);
        model_start(&f, &log);
        model_open(&f, scene_of(path, ""));
        double volume = 0;
        for (int32_t e = 0; e < f.model->tet_count; ++e)
        {
            assert_true(f.model->stiffness[e] > 0);
            volume += f.model->stiffness[e] / 30e3;
        }
        CHECK_NEAR(volume, 1, 1e-14);
        if (!strstr(log.text, words[i])) fail_msg("'%s' is not said in: %s", words[i], log.text);
        for (int32_t v = 0; v < 8; ++v) // numbering unchanged: vertex v is a corner of the unit cube
            for (int c = 0; c < 3; ++c) assert_true(flx_model_rest_positions(f.model)[3 * v + c] == (v >> c & 1));
        // the boundary's normals point outwards
        double outward = 0;
        for (int32_t t = 0; t < f.model->surface_triangle_count; ++t)
        {
            const int32_t* v = f.model->surface_triangle + 3 * t;
            const double * a = f.model->surface_rest + 3 * v[0], *b = f.model->surface_rest + 3 * v[1],
                         *c = f.model->surface_rest + 3 * v[2];
            double n[3];
            flx__cross3(b, c, n);
            outward += flx__dot3(a, n) / 6;
        }
        CHECK_NEAR(outward, 1, 1e-14); // the enclosed volume
        model_end(&f);
    }
}

static void equal_scenes_have_equal_hashes_and_others_do_not(void** state)
{
    (void)state;
    uint64_t          hash[6];
    const char* const change[6] = {
        "",
        "",
        "gravity: 9.81\n",
        "fix: {body: b, region: {sphere: {center: [0, 0, 0], radius: 0.01}}}\n",
        "fix: {body: b, region: {sphere: {center: [0, 0, 0], radius: 0.01}}, stiffness: 77}\n",
        "contact: [{self: b, region: all}]\n"};
    for (int i = 0; i < 6; ++i)
    {
        fixture   f;
        model_log log;
        model_start(&f, &log);
        fixture_box(&f, "b.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
        model_open(&f, scene_of("b.mesh", change[i]));
        hash[i] = flx_model_get_info(f.model).hash;
        model_end(&f);
    }
    assert_true(hash[0] == hash[1]);
    for (int i = 1; i < 6; ++i)
        for (int j = 1; j < i; ++j) assert_true(hash[i] != hash[j]);
}

static bool stop_after(void* user, const char* what, double done)
{
    int* left = user;
    assert_non_null(what);
    assert_true(done >= 0 && done <= 1);
    return (*left)-- > 0;
}

static void a_compile_can_be_cancelled_at_every_report(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    fixture_box(&f, "b.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    model_open(&f, scene_of("b.mesh", "contact: [{self: b, region: all}]\n"));
    flx_model_destroy(f.model);
    f.model               = NULL;
    const int64_t bytes   = flx_context_bytes_now(f.ctx); // the scene
    int           reports = 0;
    for (;; ++reports)
    {
        int              left   = reports;
        const flx_status status = flx_model_compile(f.ctx, f.scene, stop_after, &left, &f.model);
        if (status == FLX_OK) break;
        assert_int_equal(status, FLX_ERR_CANCELLED);
        assert_null(f.model);
        assert_true(flx_context_bytes_now(f.ctx) == bytes);
    }
    assert_true(reports >= 5);
    model_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbering_of_a_conforming_mesh_is_kept),
        cmocka_unit_test(a_lattice_weighs_what_its_surface_encloses_and_carries_it),
        cmocka_unit_test(lattices_weigh_the_more_exactly_the_finer_they_are),
        cmocka_unit_test(share_of_a_cut_tet_is_its_volume),
        cmocka_unit_test(unreferenced_vertices_stay_in_their_place_and_carry_no_mass),
        cmocka_unit_test(tets_given_inside_out_are_turned_and_said_to_be),
        cmocka_unit_test(equal_scenes_have_equal_hashes_and_others_do_not),
        cmocka_unit_test(a_compile_can_be_cancelled_at_every_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
