#include "mesh/embedding.h"
#include "test.h"

// The unit cube as n^3 cells of six tets each (Kuhn): a cage with many shared faces.
typedef struct cage
{
    int32_t  vertex_count, tet_count;
    double*  x;
    int32_t* tet;
} cage;

static cage cage_make(int32_t n)
{
    static const int8_t path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    const int32_t       m          = n + 1;
    cage                c          = {m * m * m, 6 * n * n * n, NULL, NULL};
    c.x                            = malloc(sizeof(double) * 3 * (size_t)c.vertex_count);
    c.tet                          = malloc(sizeof(int32_t) * 4 * (size_t)c.tet_count);
    for (int32_t v = 0; v < c.vertex_count; ++v)
    {
        c.x[3 * v + 0] = (double)(v % m) / n;
        c.x[3 * v + 1] = (double)(v / m % m) / n;
        c.x[3 * v + 2] = (double)(v / m / m) / n;
    }
    int32_t t = 0;
    for (int32_t k = 0; k < n; ++k)
        for (int32_t j = 0; j < n; ++j)
            for (int32_t i = 0; i < n; ++i)
                for (int p = 0; p < 6; ++p, ++t)
                {
                    int32_t at[3] = {i, j, k};
                    for (int s = 0; s < 4; ++s)
                    {
                        c.tet[4 * t + s] = at[0] + m * (at[1] + m * at[2]);
                        if (s < 3) ++at[path[p][s]];
                    }
                    if (p >= 3) // odd paths turn the other way round
                    {
                        const int32_t swap = c.tet[4 * t + 2];
                        c.tet[4 * t + 2]   = c.tet[4 * t + 3];
                        c.tet[4 * t + 3]   = swap;
                    }
                }
    return c;
}

static void cage_free(cage* c)
{
    free(c->x);
    free(c->tet);
}

static void carry(const double* x, const int32_t* tet, const flx_embedded* e, double out[3])
{
    for (int k = 0; k < 3; ++k)
    {
        out[k] = 0.0;
        for (int i = 0; i < 4; ++i) out[k] += e->weight[i] * x[3 * tet[4 * e->tet + i] + k];
    }
}

static void inside_points_come_back_and_weights_are_convex(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    cage             c   = cage_make(5);
    flx_tet_locator* l   = NULL;
    CHECK_OK(flx__tet_locator_create(ctx, c.vertex_count, c.x, c.tet_count, c.tet, &l));
    uint64_t seed = 1;
    for (int i = 0; i < 5000; ++i)
    {
        const double p[3] = {test_random(&seed), test_random(&seed), test_random(&seed)};
        flx_embedded e;
        double       back[3];
        assert_true(flx__tet_locator_find(l, p, &e) == 0.0);
        carry(c.x, c.tet, &e, back);
        for (int k = 0; k < 3; ++k) CHECK_NEAR(back[k], p[k], 1e-14); // a few roundings at size 1
        for (int k = 0; k < 4; ++k) assert_true(e.weight[k] >= -1e-11);
        CHECK_NEAR(e.weight[0] + e.weight[1] + e.weight[2] + e.weight[3], 1.0, 1e-15);
    }
    flx__tet_locator_destroy(l);
    cage_free(&c);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void a_point_on_shared_faces_belongs_to_the_lowest_tet(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    cage             c   = cage_make(3);
    flx_tet_locator* l   = NULL;
    CHECK_OK(flx__tet_locator_create(ctx, c.vertex_count, c.x, c.tet_count, c.tet, &l));
    for (int32_t v = 0; v < c.vertex_count; ++v)
    {
        int32_t lowest = -1;
        for (int32_t t = c.tet_count - 1; t >= 0; --t)
            for (int i = 0; i < 4; ++i)
                if (c.tet[4 * t + i] == v) lowest = t;
        flx_embedded e;
        assert_true(flx__tet_locator_find(l, c.x + 3 * v, &e) == 0.0);
        assert_int_equal(e.tet, lowest);
    }
    flx__tet_locator_destroy(l);
    cage_free(&c);
    flx_context_destroy(ctx);
}

static double brute_distance_to_cube(const double p[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        const double d = fmax(fmax(-p[k], p[k] - 1.0), 0.0);
        sum += d * d;
    }
    return sqrt(sum);
}

static void outside_points_go_to_the_truly_nearest_tet(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    cage             c   = cage_make(4);
    flx_tet_locator* l   = NULL;
    CHECK_OK(flx__tet_locator_create(ctx, c.vertex_count, c.x, c.tet_count, c.tet, &l));
    uint64_t seed = 7;
    for (int i = 0; i < 3000; ++i)
    {
        double p[3];
        for (int k = 0; k < 3; ++k) p[k] = 5.0 * test_random(&seed) - 2.0;
        flx_embedded e;
        double       back[3];
        CHECK_NEAR(flx__tet_locator_find(l, p, &e), brute_distance_to_cube(p), 1e-13); // rounding at size 5
        carry(c.x, c.tet, &e, back);
        for (int k = 0; k < 3; ++k) CHECK_NEAR(back[k], p[k], 1e-12); // weights up to about 20 amplify rounding
    }
    const double nowhere[3] = {NAN, 0.0, 0.0};
    flx_embedded e;
    assert_true(flx__tet_locator_find(l, nowhere, &e) == INFINITY);
    assert_int_equal(e.tet, -1);
    flx__tet_locator_destroy(l);
    cage_free(&c);
    flx_context_destroy(ctx);
}

static void the_nearest_tet_is_by_distance_to_the_tet_not_to_its_planes(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    // p lies in the plane of a face of tet 0, far from it, and close to tet 1
    const double     x[]   = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, -0.5, 10, 0, -0.5, 9, 1, -0.5, 9, 0, -1.5};
    const int32_t    tet[] = {0, 1, 2, 3, 4, 6, 5, 7};
    const double     p[3]  = {9.2, 0.2, 0.0};
    flx_tet_locator* l     = NULL;
    flx_embedded     e;
    CHECK_OK(flx__tet_locator_create(ctx, 8, x, 2, tet, &l));
    CHECK_NEAR(flx__tet_locator_find(l, p, &e), 0.5, 1e-14); // rounding at size 10
    assert_int_equal(e.tet, 1);
    flx__tet_locator_destroy(l);
    flx_context_destroy(ctx);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    cage         c   = cage_make(3);
    for (int64_t n = 0;; ++n)
    {
        flx_tet_locator* l = (flx_tet_locator*)&c;
        flx_context_fail_allocation(ctx, n);
        const flx_status status = flx__tet_locator_create(ctx, c.vertex_count, c.x, c.tet_count, c.tet, &l);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK)
        {
            flx__tet_locator_destroy(l);
            assert_true(n >= 4);
            break;
        }
        assert_int_equal(status, FLX_ERR_MEMORY);
        assert_null(l);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
    }
    flx_tet_locator* l = NULL;
    CHECK_FAILS(flx__tet_locator_create(ctx, c.vertex_count, c.x, 0, c.tet, &l), FLX_ERR_MESH);
    cage_free(&c);
    flx_context_destroy(ctx);
}

// --- shared case 34: a surface that pokes out of its cage ---------------------------------------------

// The smallest readers that do for these two files; the real ones have their own tests.
static int32_t read_medit(const char* path, double x[][3], int32_t tet[][4], int32_t* vertex_count)
{
    char    word[64];
    int32_t tets = 0, ignored;
    FILE*   f    = fopen(path, "r");
    assert_non_null(f);
    *vertex_count = 0;
    while (fscanf(f, "%63s", word) == 1)
    {
        if (!strcmp(word, "Vertices"))
        {
            assert_int_equal(fscanf(f, "%d", vertex_count), 1);
            assert_in_range(*vertex_count, 1, 1000);
            for (int32_t v = 0; v < *vertex_count; ++v)
                assert_int_equal(fscanf(f, "%lf %lf %lf %d", &x[v][0], &x[v][1], &x[v][2], &ignored), 4);
        }
        if (!strcmp(word, "Tetrahedra"))
        {
            assert_int_equal(fscanf(f, "%d", &tets), 1);
            assert_in_range(tets, 1, 1000);
            for (int32_t t = 0; t < tets; ++t)
            {
                int32_t* c = tet[t];
                assert_int_equal(fscanf(f, "%d %d %d %d %d", &c[0], &c[1], &c[2], &c[3], &ignored), 5);
                for (int i = 0; i < 4; ++i) --c[i];
            }
        }
    }
    fclose(f);
    return tets;
}

static int32_t read_obj_vertices(const char* path, double p[][3])
{
    char    line[256];
    int32_t count = 0;
    FILE*   f     = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "v %lf %lf %lf", &p[count][0], &p[count][1], &p[count][2]) == 3) ++count;
    fclose(f);
    return count;
}

static void a_surface_outside_its_cage_extrapolates_and_turns_with_it(void** state)
{
    (void)state;
    static double  x[1000][3], turned[1000][3], p[64][3];
    static int32_t tet[1000][4];
    static const struct
    {
        const char* name;
        int32_t     outside;
        double      farthest;
    } surface[] = {{"far_stray.obj", 1, 49.0}, {"surface.obj", 6, 0.05}, {"surface_on_faces.obj", 0, 0.0}};

    flx_context*  ctx      = test_context(1);
    int32_t       vertices = 0;
    const int32_t tets     = read_medit(shared_or_skip("cases/34-embedded-outside-cage/cage.mesh"), x, tet, &vertices);
    for (int32_t t = 0; t < tets; ++t) // the doctor's job in a run: give every tet positive volume
    {
        double e[3][3];
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) e[i][k] = x[tet[t][i + 1]][k] - x[tet[t][0]][k];
        const double volume = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                              e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                              e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
        if (volume < 0.0)
        {
            const int32_t swap = tet[t][2];
            tet[t][2]          = tet[t][3];
            tet[t][3]          = swap;
        }
    }
    for (int32_t v = 0; v < vertices; ++v) // 90 degrees about z
    {
        turned[v][0] = -x[v][1];
        turned[v][1] = x[v][0];
        turned[v][2] = x[v][2];
    }

    flx_tet_locator* l = NULL;
    CHECK_OK(flx__tet_locator_create(ctx, vertices, x[0], tets, tet[0], &l));
    for (int s = 0; s < 3; ++s)
    {
        char name[128];
        snprintf(name, sizeof name, "cases/34-embedded-outside-cage/%s", surface[s].name);
        const int32_t points   = read_obj_vertices(shared_or_skip(name), p);
        int32_t       outside  = 0;
        double        farthest = 0.0;
        for (int32_t i = 0; i < points; ++i)
        {
            flx_embedded e, again;
            double       back[3];
            const double distance = flx__tet_locator_find(l, p[i], &e);
            const double size     = fmax(1.0, fabs(p[i][0]));
            if (distance > 0.0) ++outside;
            farthest = fmax(farthest, distance);

            carry(x[0], tet[0], &e, back);
            for (int k = 0; k < 3; ++k) CHECK_NEAR(back[k], p[i][k], 1e-12 * size);
            carry(turned[0], tet[0], &e, back);
            CHECK_NEAR(back[0], -p[i][1], 1e-12 * size);
            CHECK_NEAR(back[1], p[i][0], 1e-12 * size);
            CHECK_NEAR(back[2], p[i][2], 1e-12 * size);

            flx__tet_locator_find(l, p[i], &again);
            assert_int_equal(again.tet, e.tet);
        }
        assert_int_equal(outside, surface[s].outside);
        CHECK_NEAR(farthest, surface[s].farthest, 1e-12);
    }
    flx__tet_locator_destroy(l);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inside_points_come_back_and_weights_are_convex),
        cmocka_unit_test(a_point_on_shared_faces_belongs_to_the_lowest_tet),
        cmocka_unit_test(outside_points_go_to_the_truly_nearest_tet),
        cmocka_unit_test(the_nearest_tet_is_by_distance_to_the_tet_not_to_its_planes),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_surface_outside_its_cage_extrapolates_and_turns_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
