// Where contacts are looked for: proxies, collision-prone vertices, search tets, and the region proposed from the
// motion.
#include "model_fixture.h"

static bool holds_proxy(const flx_model* m, int32_t e)
{
    for (int32_t i = 0; i < m->proxy_count; ++i)
    {
        int shared = 0;
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) shared += m->proxy[i].vertex[a] == m->tet[4 * e + b];
        if (shared == 4) return true;
    }
    return false;
}

/// Proxies lie where they say, and the prone vertices are the corners of the tets that hold one, with self contact
/// those of all tets around as well: no more, no fewer.
static void check_proxies(const flx_model* m)
{
    uint8_t* prone = calloc((size_t)m->vertex_count, 1);
    for (int32_t i = 0; i < m->proxy_count; ++i)
    {
        const flx_proxy* p     = &m->proxy[i];
        double           at[3] = {0};
        for (int c = 0; c < 4; ++c)
        {
            prone[p->vertex[c]] = 1;
            for (int a = 0; a < 3; ++a) at[a] += p->weight[c] * m->x_rest[3 * p->vertex[c] + a];
        }
        CHECK_BELOW(flx__distance3(at, p->rest), 1e-12 * m->size + 1e-15);
        CHECK_NEAR(flx__norm3(p->normal), 1, 1e-12);
        assert_in_range(m->proxy_surface[i], 0, m->surface_vertex_count - 1);
    }
    for (int32_t k = 0; k < m->group_count; ++k) // with self contact, all tets around its own proxies' corners as well
    {
        const flx_contact_group* g = &m->group[k];
        if (g->obstacle >= 0) continue;
        uint8_t* core = calloc((size_t)m->vertex_count, 1);
        for (int32_t i = g->proxy_first; i < g->proxy_first + g->proxy_count; ++i)
            for (int c = 0; c < 4; ++c) core[m->proxy[i].vertex[c]] = 1;
        for (int32_t e = 0; e < m->tet_count; ++e)
        {
            const int32_t* v = m->tet + 4 * e;
            if (!core[v[0]] && !core[v[1]] && !core[v[2]] && !core[v[3]]) continue;
            for (int c = 0; c < 4; ++c) prone[v[c]] = 1;
        }
        free(core);
    }
    for (int32_t v = 0; v < m->vertex_count; ++v) assert_int_equal(prone[v] != 0, v >= m->free_count);
    free(prone);
}

static void prone_vertices_are_the_corners_of_tets_that_hold_a_proxy(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    model_tube(&f, "tube.obj", -0.2, 0.2, 0.05, 24, 16);
    model_open(&f, "flexor: 1\nbodies: [{name: t, surface: tube.obj, lattice: {cell: 0.025}}]\n"
                   "obstacles: [{name: floor, plane: {point: [0, 0, -0.05], normal: [0, 0, 1]}}]\n"
                   "contact:\n"
                   "  - {body: t, obstacle: floor, region: {box: {min: [-1, -1, -1], max: [-0.05, 1, 0]}}, stiffness: "
                   "55, margin: 3 mm, offset: 1 mm}\n"
                   "  - {self: t, region: {sphere: {center: [0.1, 0, 0.05], radius: 0.06}}, spacing: 0.01}\n"
                   "run: {frames: 1, fps: 30}\n");
    const flx_model* m = f.model;
    check_proxies(m);
    assert_int_equal(m->group_count, 2);
    assert_int_equal(m->group[0].proxy_first, 0);
    assert_int_equal(m->group[1].proxy_first, m->group[0].proxy_count);
    assert_int_equal(m->group[0].proxy_count + m->group[1].proxy_count, m->proxy_count);
    assert_true(m->group[0].stiffness == 55 && m->group[0].margin == 3e-3 && m->group[0].offset == 1e-3);
    assert_true(m->group[0].obstacle == 0 && m->group[1].obstacle == -1);

    // group 0: each surface vertex of the region, once
    int32_t expected = 0;
    for (int32_t i = 0; i < m->surface_vertex_count; ++i)
        expected += m->surface_rest[3 * i] <= -0.05 && m->surface_rest[3 * i + 2] <= 0;
    assert_int_equal(m->group[0].proxy_count, expected);
    for (int32_t i = 0; i < expected; ++i)
    {
        const double* s = m->surface_rest + 3 * m->proxy_surface[i];
        for (int c = 0; c < 3; ++c) assert_true(m->proxy[i].rest[c] == s[c]);
        const double x = fmin(fmax(s[0], -0.2), 0.2), out[3] = {s[0] - x, s[1], s[2]};
        assert_true(flx__dot3(out, m->proxy[i].normal) > 0.9 * 0.05); // outwards
        if (i > 0) assert_true(m->proxy_surface[i] > m->proxy_surface[i - 1]);
    }
    // group 1: about area / spacing^2 points on the skin, inside the region
    const flx_contact_group* g = &m->group[1];
    assert_in_range(g->proxy_count, 60, 130); // a disc of radius 0.06 has 113
    for (int32_t i = g->proxy_first; i < m->proxy_count; ++i)
    {
        const double* p = m->proxy[i].rest;
        assert_true(flx__distance3(p, (const double[3]){0.1, 0, 0.05}) < 0.06 + 1e-12);
        CHECK_NEAR(sqrt(p[1] * p[1] + p[2] * p[2]), 0.05, 1e-3); // facets
    }
    // search tets are sorted, and all that hold a proxy of the group are among them
    for (int32_t k = 1; k < g->search_count; ++k) assert_true(g->search[k] > g->search[k - 1]);
    int32_t found = 0;
    for (int32_t k = 0; k < g->search_count; ++k) found += holds_proxy(m, g->search[k]);
    assert_true(found > 10);
    assert_non_null(g->field);
    assert_null(m->group[0].field);
    model_end(&f);
}

static void two_laws_in_one_scene_are_refused(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    fixture_box(&f, "b.mesh", (const int[3]){2, 2, 2}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    assert_int_equal(
        model_try(
            &f, "flexor: 1\nbodies: [{name: b, tets: b.mesh}]\n"
                "contact: [{self: b, region: all}, {self: b, region: all, law: spring}]\nrun: {frames: 1, fps: 30}\n"),
        FLX_ERR_SCENE);
    assert_non_null(strstr(flx_context_error(f.ctx), "contact[1]"));
    model_end(&f);
}

static const char limb_yaml[] =
    "flexor: 1\n"
    "bodies: [{name: limb, surface: limb.obj, lattice: {cell: 0.02}}]\n"
    "bones:\n"
    "  - {name: upper, capsule: {from: [-0.3, 0, 0], to: [-0.05, 0, 0], radius: 12 mm}}\n"
    "  - {name: lower, capsule: {from: [0.05, 0, 0], to: [0.3, 0, 0], radius: 12 mm}}\n"
    "attach: {body: limb, bones: [upper, lower], points: 100}\n"
    "motion: [{bone: lower, about: [0, 0, 0], axis: [0, -1, 0], degrees_per_frame: 10, to: %d}]\n"
    "obstacles: [{name: wall, plane: {point: [0, 0, 0.2], normal: [0, 0, -1]}}]\n"
    "contact: [{%s, region: auto}]\n"
    "run: {frames: 14, fps: 30}\n";

static void open_limb(fixture* f, model_log* log, int degrees, const char* contact)
{
    char yaml[2048];
    snprintf(yaml, sizeof yaml, limb_yaml, degrees, contact);
    model_start(f, log);
    model_tube(f, "limb.obj", -0.32, 0.32, 0.04, 24, 32);
    model_open(f, yaml);
}

static void a_proposed_region_is_the_fold_and_not_the_hand(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_limb(&f, &log, 120, "self: limb");
    const flx_model* m = f.model;
    assert_true(flx_model_get_info(m).region_proposed);
    assert_non_null(strstr(log.text, "was proposed"));
    check_proxies(m);
    int inner = 0, crease = 0;
    for (int32_t i = 0; i < m->surface_vertex_count; ++i)
    {
        const double* p = m->surface_rest + 3 * i;
        const bool    wanted =
            fabs(p[0]) < 0.04 && p[2] > 0.03; // the skin that folds: the lower limb turns up, towards +z
        crease += wanted;
        for (int32_t k = 0; wanted && k < m->proxy_count; ++k) inner += m->proxy_surface[k] == i;
    }
    assert_true(crease > 10);
    assert_int_equal(inner, crease);
    for (int32_t k = 0; k < m->proxy_count; ++k)
        assert_true(fabs(m->proxy[k].rest[0]) < 0.26); // not the ends, which stay apart at 120 degrees
    assert_in_range(m->proxy_count, crease, m->surface_vertex_count / 2);
    model_end(&f);
}

static void a_motion_that_folds_nothing_proposes_nothing(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    open_limb(&f, &log, 20, "self: limb");
    assert_int_equal(f.model->proxy_count, 0);
    assert_int_equal(f.model->prone_count, 0);
    assert_non_null(strstr(log.text, "this contact does nothing"));
    model_end(&f);
}

static void against_an_obstacle_the_part_that_comes_near_is_proposed(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    // the lower limb swings up to the ceiling at z = 0.2; the upper one stays 0.16 m below it
    open_limb(&f, &log, 90, "body: limb, obstacle: wall");
    const flx_model* m   = f.model;
    bool             end = false;
    assert_true(m->proxy_count > 10);
    for (int32_t k = 0; k < m->proxy_count; ++k)
    {
        assert_true(m->proxy[k].rest[0] > 0.05);
        end = end || m->proxy[k].rest[0] > 0.35;
    }
    assert_true(end);
    check_proxies(m);
    model_end(&f);
}

static void a_body_without_bones_may_touch_an_obstacle_anywhere(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    model_start(&f, &log);
    fixture_box(&f, "b.mesh", (const int[3]){3, 3, 3}, (const double[3]){0, 0, 0}, 0.1, 1, 0);
    model_open(&f, "flexor: 1\nbodies: [{name: b, tets: b.mesh}]\n"
                   "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]\n"
                   "contact: [{body: b, obstacle: floor}]\nrun: {frames: 1, fps: 30}\n");
    assert_int_equal(f.model->proxy_count, 64 - 8); // every vertex of the boundary
    check_proxies(f.model);
    model_end(&f);
}

static void springs_are_as_stiff_as_the_material_and_unilateral_contacts_a_hundred_times(void** state)
{
    (void)state;
    static const char* const law[] = {"spring", "unilateral"};
    for (int i = 0; i < 2; ++i)
    {
        fixture   f;
        model_log log;
        char      yaml[512];
        snprintf(
            yaml, sizeof yaml,
            "flexor: 1\nbodies: [{name: t, surface: tube.obj, lattice: {cell: 0.025}, material: {young: 20 kPa}}]\n"
            "contact: [{self: t, region: {sphere: {center: [0.1, 0, 0.05], radius: 0.06}}, law: %s}]\n"
            "run: {frames: 1, fps: 30}\n",
            law[i]);
        model_start(&f, &log);
        model_tube(&f, "tube.obj", -0.2, 0.2, 0.05, 24, 16);
        model_open(&f, yaml);
        CHECK_NEAR(f.model->group[0].stiffness, (i ? 100 : 1) * 20e3 * 0.025, 1e-9); // 2 mu = E, times the cell
        model_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prone_vertices_are_the_corners_of_tets_that_hold_a_proxy),
        cmocka_unit_test(two_laws_in_one_scene_are_refused),
        cmocka_unit_test(a_proposed_region_is_the_fold_and_not_the_hand),
        cmocka_unit_test(a_motion_that_folds_nothing_proposes_nothing),
        cmocka_unit_test(against_an_obstacle_the_part_that_comes_near_is_proposed),
        cmocka_unit_test(a_body_without_bones_may_touch_an_obstacle_anywhere),
        cmocka_unit_test(springs_are_as_stiff_as_the_material_and_unilateral_contacts_a_hundred_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
