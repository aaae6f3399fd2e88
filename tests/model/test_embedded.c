// A surface embedded in the user's own tets: inside, on faces, outside (case 34).
#include "model_fixture.h"

static flx_status open_case(fixture* f, model_log* log, const char* surface)
{
    char        yaml[2048];
    const char* cage = shared_or_skip("cases/34-embedded-outside-cage/cage.mesh"); // and the surface beside it
    snprintf(yaml, sizeof yaml,
             "flexor: 1\nbodies: [{name: b, tets: '%s', surface: '%.*s%s'}]\nrun: {frames: 1, fps: 30}\n", cage,
             (int)(strlen(cage) - strlen("cage.mesh")), cage, surface);
    model_start(f, log);
    return model_try(f, yaml);
}

/// Rest positions are reproduced, and a rigid motion of the cage moves the surface by the same motion.
static void check_embedding(const flx_model* m)
{
    static const double turn[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, move[3] = {3, -2, 5}; // 90 degrees
    for (int32_t i = 0; i < m->surface_vertex_count; ++i)
    {
        const flx_embedded* e       = &m->surface[i];
        double              rest[3] = {0}, moved[3] = {0}, want[3];
        assert_in_range(e->tet, 0, m->tet_count - 1);
        for (int k = 0; k < 4; ++k)
        {
            const double* x = m->user_rest + 3 * m->user_tet[4 * e->tet + k];
            double        y[3];
            flx__apply3(turn, x, y);
            for (int c = 0; c < 3; ++c) rest[c] += e->weight[k] * x[c], moved[c] += e->weight[k] * (y[c] + move[c]);
        }
        flx__apply3(turn, m->surface_rest + 3 * i, want);
        for (int c = 0; c < 3; ++c)
        {
            CHECK_NEAR(rest[c], m->surface_rest[3 * i + c], 1e-12); // m, of a cage of 1 m
            CHECK_NEAR(moved[c], want[c] + move[c], 1e-12);
        }
    }
}

static void vertices_outside_follow_the_nearest_element_and_are_counted(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    assert_int_equal(open_case(&f, &log, "surface.obj"), FLX_OK);
    assert_int_equal(f.model->surface_vertex_count, 6);
    assert_int_equal(f.model->embedded_outside, 6);
    assert_non_null(strstr(log.text, "6 of 6 vertices lie outside"));
    assert_non_null(strstr(log.text, "the farthest by 0.05 m"));
    check_embedding(f.model);
    model_end(&f);
}

static void vertices_on_faces_take_the_same_element_each_time(void** state)
{
    (void)state;
    fixture   f, again;
    model_log log;
    assert_int_equal(open_case(&f, &log, "surface_on_faces.obj"), FLX_OK);
    assert_int_equal(f.model->embedded_outside, 0);
    check_embedding(f.model);
    assert_int_equal(open_case(&again, &log, "surface_on_faces.obj"), FLX_OK);
    assert_memory_equal(f.model->surface, again.model->surface,
                        sizeof(flx_embedded) * (size_t)f.model->surface_vertex_count);
    assert_true(f.model->hash == again.model->hash);
    model_end(&f);
    model_end(&again);
}

static void a_stray_vertex_that_nothing_uses_is_left_out(void** state)
{
    (void)state;
    fixture   f;
    model_log log;
    assert_int_equal(open_case(&f, &log, "far_stray.obj"), FLX_OK); // its vertex at 50 m is in no triangle
    assert_int_equal(f.model->surface_vertex_count, 3);
    check_embedding(f.model);
    model_end(&f);
}

static void a_surface_far_from_its_cage_is_refused(void** state)
{
    (void)state;
    // of another size than its cage
    static const char far_obj[] = "v 0.5 0.5 0.5\nv 0.5 0.6 0.5\nv 50 0.5 0.5\nf 1 2 3\n";
    fixture           f;
    model_log         log;
    char              yaml[2048], path[128];
    const char*       cage = shared_or_skip("cases/34-embedded-outside-cage/cage.mesh");
    model_start(&f, &log);
    snprintf(path, sizeof path, "%s/far.obj", f.folder);
    FILE* out = fopen(path, "w");
    assert_non_null(out);
    fputs(far_obj, out);
    fclose(out);
    snprintf(yaml, sizeof yaml,
             "flexor: 1\nbodies: [{name: b, tets: '%s', surface: far.obj}]\nrun: {frames: 1, fps: 30}\n", cage);
    assert_int_equal(model_try(&f, yaml), FLX_ERR_MESH);
    if (!strstr(flx_context_error(f.ctx), "49 m outside")) fail_msg("%s", flx_context_error(f.ctx));
    model_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_outside_follow_the_nearest_element_and_are_counted),
        cmocka_unit_test(vertices_on_faces_take_the_same_element_each_time),
        cmocka_unit_test(a_stray_vertex_that_nothing_uses_is_left_out),
        cmocka_unit_test(a_surface_far_from_its_cage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
