#include "flexor/mesh.h"
#include "tools/program.h"

static void write_file(const char* name, const char* text)
{
    FILE* f = fopen(in_folder(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int fit(const char* mhclo)
{
    write_file("base.obj", "v 0 0 0\nv 4 0 0\nv 0 3 0\nv 0 0 2\ng helper\nf 1 2 3\n"); // vertex 4 is in no face
    write_file("garment.obj", "v 9 9 9\nv 9 8 9\nv 8 9 9\nv 7 7 7\nv 6 7 7\nv 7 6 7\nf 1 2 3\nf 4 5 6\n");
    write_file("garment.mhclo", mhclo);
    return run_program(FLX_FIT_GARMENT, "'%s' '%s' '%s' -o '%s'", in_folder("base.obj"), in_folder("garment.obj"),
                       in_folder("garment.mhclo"), in_folder("out.obj"));
}

#define REST "0\n1\n2\n3\n"
#define HEAD "# a comment\nname rag\nx_scale 0 1 2.0\nverts 0\n"

static void vertices_go_where_they_are_tied(void** state)
{
    (void)state;
    flx_context* ctx  = test_context(1);
    flx_mesh*    mesh = NULL;
    // the body is 4 wide where it was 2, as deep as nobody said
    assert_int_equal(fit(HEAD "1 2 3 0.5 0.25 0.25 1 10 -100\n0 1 2 -1 1 1 0 0 0\n" REST "delete_verts\n0 - 2\n"), 0);
    CHECK_OK(flx_mesh_read(ctx, in_folder("out.obj"), NULL, &mesh));
    static const double want[6][3] = {
        {2 + 2 * 1, 0.75 + 10, 0.5 - 100}, {4, 3, 0}, {0, 0, 0}, {4, 0, 0}, {0, 3, 0}, {0, 0, 2}};
    assert_int_equal(mesh->vertex_count, 6);
    for (int i = 0; i < 18; ++i) CHECK_NEAR(mesh->x[i], 0.1 * want[i / 3][i % 3], 1e-14); // m
    assert_int_equal(mesh->group_count, 2); // two triangles that share no vertex
    for (int g = 0; g < 2; ++g)
    {
        assert_string_equal(mesh->group[g].name, g == 0 ? "part1" : "part2");
        assert_int_equal(mesh->group[g].triangle_count, 1);
        assert_int_equal(mesh->group[g].triangle[0], g);
    }
    flx_mesh_destroy(ctx, mesh);
    flx_context_destroy(ctx);
}

static void mistakes_are_told_in_one_line_and_nothing_is_written(void** state)
{
    (void)state;
    static const struct
    {
        const char *mhclo, *said;
    } all[] = {
        {"name rag\n", "no line 'verts'"},
        {"verts 0\nmaterial x\n", "no vertices follow 'verts'"},
        {"x_scale 0 4 1\nverts 0\n", ":1: vertex of the base mesh"},
        {"x_scale 0 1 0\nverts 0\n", ":1: distance 0; it must be above 0"},
        {"x_scale 0 2 1\nverts 0\n", ":1: vertices 0 and 2 of the base mesh have the same x"},
        {"y_scale 1 1 1\nverts 0\n", ":1: vertices 1 and 1 of the base mesh have the same y"},
        {"x_scale 0 1\nverts 0\n", ":1: the line ends where the distance should be"},
        {HEAD "0\n-1\n" REST, ":6: vertex of the base mesh"},
        {HEAD "0\n7\n" REST, ":6: vertex of the base mesh"},
        {HEAD "0\n1.5\n" REST, ":6: vertex of the base mesh"},
        {HEAD "0 1\n0\n" REST, ":5: the line ends where the vertex of the base mesh should be"},
        {HEAD "0 1 2 0.5 0.5 0 0 0\n0\n" REST, ":5: the line ends where the offset should be"},
        {HEAD "0 1 2 0.5 0.5 nan 0 0 0\n0\n" REST, ":5: weight"},
        {HEAD "0 1 2 0.5 0.5 0.5 0 0 0\n0\n" REST, ":5: the weights' sum is 1.5; it must be 1"},
        {HEAD "0 1 2 0.5 0.5 0 0 0 0 0\n0\n" REST, ":5: "},
        {HEAD REST, "4 vertices are tied to the base mesh, but"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    {
        long bytes = 0;
        unlink(in_folder("out.obj"));
        assert_int_equal(fit(all[i].mhclo), 1);
        char* said = read_all(in_folder("said"), &bytes);
        if (!strstr(said, all[i].said) || strchr(said, '\n') != said + bytes - 1) fail_msg("%zu: %s", i, said);
        assert_null(read_all(in_folder("out.obj"), &bytes));
        free(said);
    }
}

static void the_command_line_is_checked(void** state)
{
    (void)state;
    assert_int_equal(run_program(FLX_FIT_GARMENT, "--help"), 0);
    assert_int_equal(run_program(FLX_FIT_GARMENT, "a.obj b.obj c.mhclo"), 2);
    assert_int_equal(run_program(FLX_FIT_GARMENT, "a.obj b.obj -o d.obj"), 2);
    assert_int_equal(run_program(FLX_FIT_GARMENT, "a.obj b.obj c.mhclo d.obj -o e.obj"), 2);
    assert_int_equal(run_program(FLX_FIT_GARMENT, "a.obj b.obj c.mhclo --tight -o d.obj"), 2);
    assert_int_equal(run_program(FLX_FIT_GARMENT, "missing.obj b.obj c.mhclo -o d.obj"), 1);
}

/// Mean distance of a garment's vertices from the nearest vertex of the body, m.
static double mean_distance(const flx_mesh* body, const flx_mesh* garment, double scale)
{
    double sum = 0;
    for (int32_t i = 0; i < garment->vertex_count; ++i)
    {
        double best = INFINITY;
        for (int32_t j = 0; j < 13380; ++j) // the body's own, the helpers come after
        {
            double d = 0;
            for (int k = 0; k < 3; ++k) d += pow(scale * garment->x[3 * i + k] - 0.1 * body->x[3 * j + k], 2);
            best = fmin(best, d);
        }
        sum += sqrt(best) / garment->vertex_count;
    }
    return sum;
}

static void a_suit_lies_on_the_base_body(void** state)
{
    (void)state;
    char base[1024], suit[1024], tie[1024];
    snprintf(base, sizeof base, "%s", shared_or_skip("data/makehuman/base.obj"));
    snprintf(suit, sizeof suit, "%s", shared_or_skip("data/makehuman-assets/female_elegantsuit01.obj"));
    snprintf(tie, sizeof tie, "%s", shared_or_skip("data/makehuman-assets/female_elegantsuit01.mhclo"));
    assert_int_equal(run_program(FLX_FIT_GARMENT, "'%s' '%s' '%s' -o '%s'", base, suit, tie, in_folder("suit.obj")), 0);
    flx_context* ctx  = test_context(1);
    flx_mesh *   body = NULL, *before = NULL, *after = NULL;
    CHECK_OK(flx_mesh_read(ctx, base, NULL, &body));
    CHECK_OK(flx_mesh_read(ctx, suit, NULL, &before));
    CHECK_OK(flx_mesh_read(ctx, in_folder("suit.obj"), NULL, &after));
    CHECK_BELOW(mean_distance(body, after, 1), 0.02); // m: a skirt stands off the legs, a jacket does not
    assert_true(mean_distance(body, before, 0.1) > 2 * mean_distance(body, after, 1)); // it was made on another body
    assert_int_equal(after->group_count, 2);                                           // a skirt and a jacket
    assert_int_equal(after->group[0].triangle_count + after->group[1].triangle_count, after->triangle_count);
    flx_mesh_destroy(ctx, body);
    flx_mesh_destroy(ctx, before);
    flx_mesh_destroy(ctx, after);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_go_where_they_are_tied),
        cmocka_unit_test(mistakes_are_told_in_one_line_and_nothing_is_written),
        cmocka_unit_test(the_command_line_is_checked),
        cmocka_unit_test(a_suit_lies_on_the_base_body),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
