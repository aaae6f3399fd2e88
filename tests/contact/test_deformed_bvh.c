#include "test.h"

#include "contact/deformed_bvh.h"

// Random tets: a tree that has seen a random rest pose must answer for any later positions.
enum
{
    MOST = 3000
};

typedef struct soup
{
    double  x[12 * MOST];
    int32_t tet[4 * MOST];
    int32_t search[MOST];
    int32_t visits[MOST]; // by slot
} soup;

static void scatter(soup* s, int32_t count, double size, uint64_t* seed)
{
    for (int32_t t = 0; t < count; ++t)
    {
        const double at[3] = {test_random(seed), test_random(seed), test_random(seed)};
        for (int c = 0; c < 4; ++c)
            for (int k = 0; k < 3; ++k) s->x[12 * t + 3 * c + k] = at[k] + size * (test_random(seed) - 0.5);
    }
}

static void soup_make(soup* s, int32_t count, uint64_t* seed)
{
    for (int32_t t = 0; t < count; ++t)
    {
        for (int c = 0; c < 4; ++c) s->tet[4 * t + c] = 4 * t + c;
        s->search[t] = t;
    }
    scatter(s, count, 0.1, seed);
}

static void count_visit(void* user, int32_t slot)
{
    ++((soup*)user)->visits[slot];
}

static bool boxes_meet(const soup* s, int32_t t, const double lo[3], const double hi[3], double slack)
{
    for (int k = 0; k < 3; ++k)
    {
        double a = INFINITY, b = -INFINITY;
        for (int c = 0; c < 4; ++c)
        {
            a = fmin(a, s->x[12 * t + 3 * c + k]);
            b = fmax(b, s->x[12 * t + 3 * c + k]);
        }
        if (a - slack > hi[k] || b + slack < lo[k]) return false;
    }
    return true;
}

static void queries_visit_every_tet_whose_box_is_met_and_each_once(void** state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 7, 8, 9, 16, 17, 33, 129, 513, 1000, MOST};
    static soup          s;
    uint64_t             seed = 5;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n)
    {
        flx_context*      ctx   = test_context(1 + (int32_t)(n % 3));
        flx_deformed_bvh* bvh   = NULL;
        const int32_t     count = sizes[n];
        soup_make(&s, count, &seed);
        CHECK_OK(flx__deformed_bvh_create(ctx, s.x, s.tet, count, s.search, &bvh));
        for (int round = 0; round < 3; ++round)
        {
            if (round > 0) scatter(&s, count, 0.3, &seed); // far from the rest pose
            const int64_t allocations = flx_context_allocation_count(ctx);
            flx__deformed_bvh_refit(bvh, s.x);
            for (int q = 0; q < 50; ++q)
            {
                double lo[3], hi[3];
                for (int k = 0; k < 3; ++k)
                {
                    lo[k] = test_random(&seed) * 1.2 - 0.1;
                    hi[k] = lo[k] + (q % 2 ? 0 : 0.1 * test_random(&seed)); // points and boxes
                }
                memset(s.visits, 0, sizeof s.visits);
                flx__deformed_bvh_query(bvh, lo, hi, count_visit, &s);
                for (int32_t t = 0; t < count; ++t)
                {
                    if (boxes_meet(&s, t, lo, hi, 0)) assert_int_equal(s.visits[t], 1);
                    if (!boxes_meet(&s, t, lo, hi, 1e-6)) assert_int_equal(s.visits[t], 0); // single precision
                }
            }
            assert_int_equal(flx_context_allocation_count(ctx), allocations);
        }
        flx__deformed_bvh_destroy(bvh);
        assert_int_equal(flx_context_bytes_now(ctx), 0);
        flx_context_destroy(ctx);
    }
}

static void numbers_that_are_none_hide_only_their_own_tets(void** state)
{
    (void)state;
    static soup       s;
    uint64_t          seed = 8;
    flx_context*      ctx  = test_context(2);
    flx_deformed_bvh* bvh  = NULL;
    soup_make(&s, 600, &seed);
    CHECK_OK(flx__deformed_bvh_create(ctx, s.x, s.tet, 600, s.search, &bvh));
    static bool broken[600];
    for (int32_t t = 0; t < 600; t += 7)
    {
        broken[t] = true;
        for (int i = 0; i < 12; ++i) s.x[12 * t + i] = t % 2 ? NAN : (i % 2 ? INFINITY : -INFINITY);
    }
    flx__deformed_bvh_refit(bvh, s.x);
    for (int32_t t = 0; t < 600; ++t)
    {
        if (broken[t]) continue;
        memset(s.visits, 0, sizeof s.visits);
        flx__deformed_bvh_query(bvh, s.x + 12 * t, s.x + 12 * t, count_visit, &s);
        assert_int_equal(s.visits[t], 1);
    }
    const double nowhere[3] = {NAN, 0.5, 0.5};
    memset(s.visits, 0, sizeof s.visits);
    flx__deformed_bvh_query(bvh, nowhere, nowhere, count_visit, &s);
    for (int32_t t = 0; t < 600; ++t) assert_int_equal(s.visits[t], 0);
    flx__deformed_bvh_destroy(bvh);
    flx_context_destroy(ctx);
}

static void nothing_to_search_is_fine(void** state)
{
    (void)state;
    static soup       s;
    flx_context*      ctx   = test_context(1);
    flx_deformed_bvh* bvh   = NULL;
    const double      lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1};
    CHECK_OK(flx__deformed_bvh_create(ctx, s.x, s.tet, 0, s.search, &bvh));
    flx__deformed_bvh_refit(bvh, s.x);
    flx__deformed_bvh_query(bvh, lo, hi, count_visit, &s);
    assert_int_equal(s.visits[0], 0);
    flx__deformed_bvh_destroy(bvh);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_visit_every_tet_whose_box_is_met_and_each_once),
        cmocka_unit_test(numbers_that_are_none_hide_only_their_own_tets),
        cmocka_unit_test(nothing_to_search_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
