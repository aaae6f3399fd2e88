// Splitting polygons and finding points: against sums that do not depend on the split, and against slow searches.
#include "mesh_test.h"

#include "mesh/point_tree.h"
#include "mesh/polygon.h"
#include "mesh/weld.h"

typedef struct split
{
    int64_t           count;
    int32_t           triangle[3 * 4000];
    flx_polygon_notes notes;
} split;

static split split_polygon(const double* x, int32_t n)
{
    static split        s;
    static int32_t      corner[4000];
    flx_polygon_scratch scratch = {0};
    memset(&s, 0, sizeof s);
    for (int32_t i = 0; i < n; ++i) corner[i] = i;
    CHECK_OK(flx__polygon_split(ctx, &scratch, x, n, corner, 1, s.triangle, &s.count, &s.notes));
    flx__polygon_scratch_end(ctx, &scratch);
    return s;
}

static double area_in_plane(const double* x, int32_t a, int32_t b, int32_t c)
{
    return 0.5 * ((x[3 * b] - x[3 * a]) * (x[3 * c + 1] - x[3 * a + 1]) -
                  (x[3 * b + 1] - x[3 * a + 1]) * (x[3 * c] - x[3 * a]));
}

static void check_areas(const double* x, int32_t n, const split* s)
{
    double outline = 0.0, sum = 0.0;
    for (int32_t i = 1; i + 1 < n; ++i) outline += area_in_plane(x, 0, i, i + 1);
    for (int64_t i = 0; i < s->count; ++i)
    {
        const double a = area_in_plane(x, s->triangle[3 * i], s->triangle[3 * i + 1], s->triangle[3 * i + 2]);
        assert_true(a > 0.0);
        sum += a;
    }
    CHECK_NEAR(sum, outline, 1e-12 * outline); // positive parts that sum to the outline's area do not overlap
}

static void star_shaped_polygons_are_covered_once(void** state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 200; ++round)
    {
        double        x[3 * 60];
        const int32_t n = 4 + (int32_t)(56.0 * test_random(&seed));
        for (int32_t i = 0; i < n; ++i)
        {
            const double angle  = 2.0 * M_PI * (i + 0.4 * test_random(&seed)) / n;
            const double radius = 0.2 + test_random(&seed);
            x[3 * i]            = radius * cos(angle);
            x[3 * i + 1]        = radius * sin(angle);
            x[3 * i + 2]        = 0.0;
        }
        const split s = split_polygon(x, n);
        assert_int_equal(s.count, n - 2);
        assert_int_equal(s.notes.crossing, 0);
        check_areas(x, n, &s);
    }
}

static void a_spiral_is_covered_once(void** state)
{
    (void)state;
    enum
    {
        TURN = 300
    };
    static double x[3 * 2 * TURN]; // out along the spiral and back on a wider one
    for (int i = 0; i < TURN; ++i)
    {
        const double angle = 6.0 * M_PI * i / TURN;
        const int    back  = 2 * TURN - 1 - i;
        x[3 * i]           = (1.0 + angle) * cos(angle) * 1.1;
        x[3 * i + 1]       = (1.0 + angle) * sin(angle) * 1.1;
        x[3 * back]        = (1.0 + angle) * cos(angle);
        x[3 * back + 1]    = (1.0 + angle) * sin(angle);
    }
    for (int i = 0; i < TURN; ++i) // the outer one first turns right: reverse, to turn left
    {
        const int back = 2 * TURN - 1 - i;
        for (int d = 0; d < 2; ++d)
        {
            const double t  = x[3 * i + d];
            x[3 * i + d]    = x[3 * back + d];
            x[3 * back + d] = t;
        }
    }
    double outline = 0.0;
    for (int32_t i = 1; i + 1 < 2 * TURN; ++i) outline += area_in_plane(x, 0, i, i + 1);
    if (outline < 0.0)
        for (int i = 0; i < 2 * TURN; ++i) x[3 * i + 1] = -x[3 * i + 1];
    const split s = split_polygon(x, 2 * TURN);
    assert_int_equal(s.count, 2 * TURN - 2);
    check_areas(x, 2 * TURN, &s);
}

static void corners_on_a_straight_line_get_their_triangles(void** state)
{
    (void)state;
    // a square with a corner in the middle of each side, begun at every corner in turn
    static const double square[8][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    for (int start = 0; start < 8; ++start)
    {
        double x[24] = {0};
        for (int i = 0; i < 8; ++i) memcpy(x + 3 * i, square[(start + i) % 8], 2 * sizeof *x);
        const split s = split_polygon(x, 8);
        assert_int_equal(s.count, 6); // n - 2: none is left out, so no vertex lies on a foreign edge
        assert_int_equal(s.notes.flat_parts, 0);
        check_areas(x, 8, &s);
    }
}

static void quads_far_from_flat_keep_both_triangles(void** state)
{
    (void)state;
    uint64_t seed = 9;
    for (int round = 0; round < 1000; ++round)
    {
        double x[12];
        for (int i = 0; i < 12; ++i) x[i] = test_random(&seed);
        const split s = split_polygon(x, 4);
        assert_int_equal(s.count, 2); // a hole in the surface would be worse than a guess
        assert_int_equal(s.notes.vanished + s.notes.flat_parts, 0);
    }
}

static void polygons_without_area_vanish_with_a_note(void** state)
{
    (void)state;
    const double line[15] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
    const split  s        = split_polygon(line, 5);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.notes.vanished, 1);
    assert_int_equal(s.notes.first_vanished, 1);
}

// --- points ---------------------------------------------------------------------------------------

static bool count_visit(void* user, int32_t point)
{
    uint64_t* sum = user;
    sum[0] += 1;
    sum[1] += (uint64_t)point * (uint64_t)point;
    return true;
}

static void boxes_hold_the_points_that_a_slow_search_finds(void** state)
{
    (void)state;
    enum
    {
        COUNT = 2000
    };
    static double  x[3 * COUNT];
    uint64_t       seed = 11;
    flx_point_tree tree;
    for (int i = 0; i < 3 * COUNT; ++i)
        x[i] = floor(8.0 * test_random(&seed)) / 8.0; // many share coordinates and places
    CHECK_OK(flx__point_tree_begin(ctx, &tree, COUNT, NULL, x));
    for (int round = 0; round < 200; ++round)
    {
        double   low[3], high[3];
        uint64_t fast[2] = {0, 0}, slow[2] = {0, 0};
        for (int d = 0; d < 3; ++d)
        {
            low[d]  = test_random(&seed) - 0.2;
            high[d] = low[d] + 0.5 * test_random(&seed);
        }
        flx__point_tree_box(&tree, low, high, count_visit, fast);
        for (int32_t i = 0; i < COUNT; ++i)
        {
            bool in = true;
            for (int d = 0; d < 3; ++d) in &= x[3 * i + d] >= low[d] && x[3 * i + d] <= high[d];
            if (in) count_visit(slow, i);
        }
        assert_int_equal(fast[0], slow[0]);
        assert_int_equal(fast[1], slow[1]);
    }
    flx__point_tree_end(ctx, &tree);
}

static void first_at_place_is_the_first_and_zero_has_no_sign(void** state)
{
    (void)state;
    const double x[15] = {0, 0, 0, 1, 2, 3, -0.0, 0, -0.0, 1, 2, 3, 1, 2, 3.0000000000000004};
    int32_t      first[5];
    CHECK_OK(flx__first_at_place(ctx, 5, x, first));
    const int32_t expected[5] = {0, 1, 0, 1, 4};
    assert_memory_equal(first, expected, sizeof expected);
}

static void welding_within_a_tolerance_does_not_chain(void** state)
{
    (void)state;
    double   x[15]       = {0, 0, 0, 0.8, 0, 0, 1.6, 0, 0, 2.4, 0, 0, 0, 5, 0};
    int32_t  triangle[9] = {0, 2, 4, 1, 3, 4, 0, 1, 4};
    flx_mesh m           = {.vertex_count = 5, .triangle_count = 3, .x = x, .triangle = triangle};
    CHECK_OK(flx__mesh_weld(ctx, &m, 1.0));
    assert_int_equal(m.vertex_count, 3); // 1 joins 0; 2 is too far from 0 and takes 3 in
    assert_true(x[3] == 1.6 && x[7] == 5.0);
    assert_int_equal(m.triangle_count, 2); // the third lost a corner
    const int32_t expected[6] = {0, 1, 2, 0, 1, 2};
    assert_memory_equal(triangle, expected, sizeof expected);
    CHECK_SAID("1 triangles with coinciding corners were dropped, the first is 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MESH_TEST(star_shaped_polygons_are_covered_once),
        MESH_TEST(a_spiral_is_covered_once),
        MESH_TEST(corners_on_a_straight_line_get_their_triangles),
        MESH_TEST(quads_far_from_flat_keep_both_triangles),
        MESH_TEST(polygons_without_area_vanish_with_a_note),
        MESH_TEST(boxes_hold_the_points_that_a_slow_search_finds),
        MESH_TEST(first_at_place_is_the_first_and_zero_has_no_sign),
        MESH_TEST(welding_within_a_tolerance_does_not_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
