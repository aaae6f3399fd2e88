#include "mesh/mesh_internal.h"
#include "mesh/predicates.h"
#include "mesh/surfaces.h"

static void orientation_has_the_sign_of_the_exact_determinant(void** state)
{
    (void)state;
    uint64_t seed = 1;
    int      zero = 0, differ = 0;
    for (int q = 0; q < 200000; ++q)
    {
        // integers up to 2^28, d a combination of the others, so that most determinants are tiny or zero
        int64_t p[4][3];
        double  x[4][3];
        for (int k = 0; k < 3; ++k)
        {
            for (int i = 0; i < 3; ++i) p[i][k] = (int64_t)(0x1p28 * test_random(&seed));
            if (q % 4 == 0) p[2][k] = p[0][k] + (p[1][k] - p[0][k]) / 2; // a flat triangle, almost
        }
        const int64_t m = (int64_t)(4 * test_random(&seed)) - 2, n = (int64_t)(4 * test_random(&seed)) - 2;
        for (int k = 0; k < 3; ++k)
        {
            p[3][k] = p[0][k] + m * (p[1][k] - p[0][k]) + n * (p[2][k] - p[0][k]);
            if (q % 3 == 0) p[3][k] += (int64_t)(3 * test_random(&seed)) - 1;
            for (int i = 0; i < 4; ++i) x[i][k] = (double)p[i][k] * 0x1p-20;
        }
        __extension__ typedef __int128 wide;
        wide                           e[3][3], det = 0;
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) e[i][k] = p[i + 1][k] - p[0][k];
        for (int k = 0; k < 3; ++k)
            det += e[2][k] * (e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3]);
        const int sign = (det > 0) - (det < 0);
        zero += sign == 0;
        assert_int_equal(flx__orient(x[0], x[1], x[2], x[3]), sign);
        assert_int_equal(flx__orient(x[1], x[0], x[2], x[3]), -sign);
        assert_int_equal(flx__orient(x[3], x[1], x[2], x[0]), -sign);
        double plain = 0; // what rounding makes of it, with d as the origin
        for (int k = 0; k < 3; ++k)
        {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            plain += (x[0][k] - x[3][k]) *
                     ((x[1][i] - x[3][i]) * (x[2][j] - x[3][j]) - (x[1][j] - x[3][j]) * (x[2][i] - x[3][i]));
        }
        differ += ((plain < 0) - (plain > 0)) != sign;
    }
    assert_true(zero > 10000);  // the hard cases were there,
    assert_true(differ > 1000); // and plain arithmetic would have failed
}

static void orientation_is_exact_with_long_mantissas(void** state)
{
    (void)state;
    uint64_t seed = 2;
    for (int q = 0; q < 20000; ++q)
    {
        // the plane z = x: every point with z = x bit for bit is on it, one bit more is not
        double p[4][3];
        for (int i = 0; i < 4; ++i)
        {
            p[i][0] = test_random(&seed) * pow(2, 20 * test_random(&seed) - 10);
            p[i][1] = test_random(&seed) - 0.5;
            p[i][2] = p[i][0];
        }
        assert_int_equal(flx__orient(p[0], p[1], p[2], p[3]), 0);
        const double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        p[3][2]           = nextafter(p[3][2], 1e9);
        if (fabs(area) > 1e-9) assert_int_equal(flx__orient(p[0], p[1], p[2], p[3]), area > 0 ? 1 : -1);
    }
}

static int64_t count_of(const surface* s)
{
    flx_context* ctx   = test_context(1);
    int64_t      count = -1;
    CHECK_OK(flx__surface_crossings(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &count, NULL, 0));
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
    return count;
}

/// Two triangles with their own corners; the count must not depend on order, turning or turning over.
static void expect_pair(const double a[9], const double b[9], int expected, const char* what)
{
    for (int variant = 0; variant < 72; ++variant)
    {
        surface s = surface_new(6, 2);
        for (int t = 0; t < 2; ++t)
        {
            const double* from = (t == 0) == (variant % 2 == 0) ? a : b;
            const int turn = variant / 2 % 3 + (t ? variant / 6 % 3 : 0), over = t ? variant / 36 : variant / 18 % 2;
            for (int i = 0; i < 3; ++i)
            {
                s.triangle[3 * t + i] = 3 * t + i;
                memcpy(&s.x[9 * t + 3 * i], &from[3 * ((turn + (over ? 3 - i : i)) % 3)], 3 * sizeof(double));
            }
        }
        if (count_of(&s) != expected) fail_msg("%s: variant %d: not %d", what, variant, expected);
        surface_free(&s);
    }
}

static void hand_made_pairs(void** state)
{
    (void)state;
    const double floor_[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    const struct
    {
        double      t[9];
        int         crosses;
        const char* what;
    } pair[] = {
        {{1, 1, -1, 1, 1, 1, 3, 3, 1}, 1, "an edge through the inside"},
        {{1, 1, -1, 1.5, 1, -1, 1, 1, 1}, 1, "standing across the inside"},
        {{-1, 1, -1, -1, 1, 1, 5, 1, 1}, 1, "through two edges"},
        {{5, 5, -1, 5, 5, 1, 6, 6, 1}, 0, "through the plane, outside"},
        {{1, 1, 1, 2, 1, 1, 1, 2, 1}, 0, "above"},
        {{1, 1, 0, 1, 1, 1, 2, 2, 1}, 0, "a corner on the inside"},
        {{1, 1, 0, 2, 1, 0, 1, 1, 1}, 0, "an edge on the inside"},
        {{2, 0, -1, 2, 0, 1, 2, -1, 0}, 0, "an edge touching an edge from outside"},
        {{2, 0, -1, 2, 0, 1, 2, 1, 0}, 1, "an edge through an edge, the rest inside"},
        {{4, 0, -1, 4, 0, 1, 5, -1, 0}, 0, "an edge through a corner"},
        {{0, 0, 0, -1, 0, 1, 0, -1, 1}, 0, "corner to corner"},
        {{0, 0, 0, 1, 1, 1, 2, 1, -1}, 1, "corner to corner, and through the inside"},
        {{0, 0, 0, 1, 1, 1, 2, 1, 1}, 0, "corner to corner, rising"},
        {{0, 0, 0, 4, 0, 0, 2, 1, 1}, 0, "sharing an edge, folded up"},
        {{0, 0, 0, 4, 0, 0, 2, 1, 0}, 0, "sharing an edge, folded flat onto it"},
        {{1, 1, 0, 5, 1, 0, 1, 5, 0}, 0, "overlapping in one plane"},
        {{0, 0, 0, 4, 0, 0, 0, 4, 0}, 0, "the same triangle"},
        {{1, 1, 0, 1, 1, -1, 2, 2, 1}, 1, "a corner on the inside, the others on both sides"},
        {{2, 0, 0, 3, 1, 1, 3, 1, -1}, 1, "a corner on an edge, the others on both sides, inwards"},
        {{2, 0, 0, 3, -1, 1, 3, -1, -1}, 0, "a corner on an edge, the others on both sides, outwards"},
        {{1, 1, -1, 1, 1, 1, 1, 1, 2}, 0, "no area: a line"},
        {{1, 1, 0, 1, 1, 0, 1, 1, 0}, 0, "no area: a point"},
    };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; ++i)
        expect_pair(floor_, pair[i].t, pair[i].crosses, pair[i].what);
}

static void a_bit_more_or_less_decides(void** state)
{
    (void)state;
    const double a[9] = {0.1, 0.1, 0.1, 0.7, 0.3, 0.1, 0.2, 0.9, 0.1}; // z = 0.1
    double       b[9] = {0.3, 0.4, 0.1, 0.3, 0.5, 0.9, 0.4, 0.5, 0.8}; // its lowest corner on the inside of a
    expect_pair(a, b, 0, "touching");
    b[2] = nextafter(0.1, 0);
    expect_pair(a, b, 1, "one bit deeper");
    b[2] = nextafter(0.1, 1);
    expect_pair(a, b, 0, "one bit higher");
}

// --- brute force: some edge of one passes through the open inside of the other --------------------------------

static double volume(const double* a, const double* b, const double* c, const double* d)
{
    double v = 0;
    for (int k = 0; k < 3; ++k)
    {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        v += (d[k] - a[k]) * ((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]));
    }
    return v;
}

static bool edge_pierces(const double* p, const double* q, const double* t[3])
{
    if ((volume(t[0], t[1], t[2], p) > 0) == (volume(t[0], t[1], t[2], q) > 0)) return false;
    const bool s = volume(p, q, t[0], t[1]) > 0;
    return (volume(p, q, t[1], t[2]) > 0) == s && (volume(p, q, t[2], t[0]) > 0) == s;
}

static bool slow_cross(const surface* s, int32_t a, int32_t b)
{
    const double *p[3], *q[3];
    for (int i = 0; i < 3; ++i)
    {
        p[i] = &s->x[3 * s->triangle[3 * a + i]];
        q[i] = &s->x[3 * s->triangle[3 * b + i]];
        for (int j = 0; j < 3; ++j)
            if (s->triangle[3 * a + i] == s->triangle[3 * b + j]) return false; // no crossing neighbours in these tests
    }
    for (int i = 0; i < 3; ++i)
        if (edge_pierces(p[i], p[(i + 1) % 3], q) || edge_pierces(q[i], q[(i + 1) % 3], p)) return true;
    return false;
}

static void check_against_all_pairs(const surface* s, int64_t at_least)
{
    flx_context* ctx      = test_context(2);
    int64_t      expected = 0, count = -1, capacity = 200000;
    int32_t*     slow = malloc((size_t)capacity * 2 * sizeof *slow);
    int32_t*     fast = malloc((size_t)capacity * 2 * sizeof *fast);
    for (int32_t a = 0; a < s->triangle_count; ++a)
        for (int32_t b = a + 1; b < s->triangle_count; ++b)
            if (slow_cross(s, a, b))
            {
                slow[2 * expected]       = a;
                slow[2 * expected++ + 1] = b;
            }
    if (expected < at_least || expected > capacity) fail_msg("%lld pairs", (long long)expected);
    CHECK_OK(
        flx__surface_crossings(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &count, fast, capacity));
    assert_int_equal(count, expected);
    assert_memory_equal(slow, fast, (size_t)expected * 2 * sizeof *slow);
    for (int64_t few = 0; few < expected; few += 1 + expected / 7) // the first of them, and nothing beyond
    {
        memset(fast, 0x55, (size_t)(few + 1) * 2 * sizeof *fast);
        CHECK_OK(flx__surface_crossings(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &count, fast, few));
        assert_int_equal(count, expected);
        assert_memory_equal(slow, fast, (size_t)few * 2 * sizeof *slow);
        assert_int_equal(fast[2 * few], 0x55555555);
    }
    free(slow);
    free(fast);
    flx_context_destroy(ctx);
}

static void counts_equal_the_search_over_all_pairs(void** state)
{
    (void)state;
    uint64_t     seed = 3;
    surface      soup = surface_soup(1500, 0.3, &seed), large = surface_soup(60, 3, &seed);
    surface      ball     = surface_sphere(12);
    const double shift[3] = {0.513, 0.207, 0.331};
    surface      two      = surface_both(&ball, &ball, shift);
    check_against_all_pairs(&soup, 3000);
    check_against_all_pairs(&large, 100);
    check_against_all_pairs(&two, 50);
    surface_free(&soup);
    surface_free(&large);
    surface_free(&two);
    surface_free(&ball);
}

static void clean_surfaces_have_none(void** state)
{
    (void)state;
    surface list[3] = {surface_cube(), surface_sphere(20), surface_torus(30, 20, 1, 0.4)};
    for (int i = 0; i < 3; ++i)
    {
        assert_int_equal(count_of(&list[i]), 0);
        surface_free(&list[i]);
    }
    surface none = surface_new(0, 0);
    assert_int_equal(count_of(&none), 0);
    surface_free(&none);
}

static void flat_sheets_cut_and_folded(void** state)
{
    (void)state;
    const int32_t n     = 30; // a square sheet z = 0 of 2 n^2 triangles, and the same stood upright in its middle
    surface       sheet = surface_new((n + 1) * (n + 1), 2 * n * n);
    int32_t*      t     = sheet.triangle;
    for (int32_t i = 0; i <= n; ++i)
        for (int32_t j = 0; j <= n; ++j)
        {
            double* x = &sheet.x[3 * (i * (n + 1) + j)];
            x[0] = 0.1 * i, x[1] = 0.1 * j, x[2] = 0;
            if (i == n || j == n) continue;
            const int32_t a = i * (n + 1) + j, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t both[6] = {a, c, b, b, c, d};
            memcpy(t, both, sizeof both);
            t += 6;
        }
    assert_int_equal(count_of(&sheet), 0);
    const double none[3] = {0, 0, 0};
    surface      twice   = surface_both(&sheet, &sheet, none); // lying on itself: one plane, no crossing
    assert_int_equal(count_of(&twice), 0);

    // upright through y = 1.45, between grid lines, its own grid line in z = 0: it only touches
    double* x = &twice.x[3 * sheet.vertex_count];
    for (int32_t v = 0; v < sheet.vertex_count; ++v)
    {
        const double u = sheet.x[3 * v], w = sheet.x[3 * v + 1];
        x[3 * v] = u, x[3 * v + 1] = 1.45, x[3 * v + 2] = w - sheet.x[3 * 15 + 1];
    }
    assert_int_equal(count_of(&twice), 0);
    // half a cell lower it cuts: along the line every triangle of one row meets those of the other
    for (int32_t v = 0; v < sheet.vertex_count; ++v) x[3 * v + 2] -= 0.05;
    assert_true(count_of(&twice) >= 2 * n);
    surface_free(&twice);
    surface_free(&sheet);
}

static void spot_does_not_cross_itself(void** state)
{
    (void)state;
    surface s = surface_obj(shared_or_skip("data/spot/spot_triangulated.obj"), NULL);
    assert_int_equal(count_of(&s), 0);
    surface_free(&s);
}

static void same_pairs_for_every_worker_count_and_clean_failures(void** state)
{
    (void)state;
    uint64_t       seed = 4, first = 0;
    surface        s = surface_soup(3000, 0.2, &seed);
    static int32_t pairs[2 * 20000];
    for (int32_t workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5)
    {
        flx_context* ctx   = test_context(workers);
        int64_t      count = 0, tries = 0;
        for (;; ++tries)
        {
            flx_context_fail_allocation(ctx, tries);
            const flx_status status =
                flx__surface_crossings(ctx, s.vertex_count, s.x, s.triangle_count, s.triangle, &count, pairs, 20000);
            flx_context_fail_allocation(ctx, -1);
            assert_int_equal(flx_context_bytes_now(ctx), 0);
            if (status == FLX_OK) break;
            assert_int_equal(status, FLX_ERR_MEMORY);
            assert_int_equal(count, 0);
        }
        assert_true(tries >= 7 && count > 1000);
        const uint64_t hash = flx__hash(FLX_HASH_START, pairs, 2 * (count < 20000 ? count : 20000) * 4);
        if (workers == 1) first = hash;
        assert_true(hash == first);
        flx_context_destroy(ctx);
    }
    surface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_has_the_sign_of_the_exact_determinant),
        cmocka_unit_test(orientation_is_exact_with_long_mantissas),
        cmocka_unit_test(hand_made_pairs),
        cmocka_unit_test(a_bit_more_or_less_decides),
        cmocka_unit_test(counts_equal_the_search_over_all_pairs),
        cmocka_unit_test(clean_surfaces_have_none),
        cmocka_unit_test(flat_sheets_cut_and_folded),
        cmocka_unit_test(spot_does_not_cross_itself),
        cmocka_unit_test(same_pairs_for_every_worker_count_and_clean_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
