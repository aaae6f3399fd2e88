#include "block_body.h"

// --- a bar that folds ---------------------------------------------------------------------------------------------
//
// Length along x, folded about y by an angle: the middle |x| < zone becomes an arc about (0, ., radius), the two arms
// stay straight. At 180 degrees the inner faces z = top of the arms are 2 (radius - top) apart, or that deep in each
// other.

#define ZONE (4 * CELL)
#define TOP (2 * CELL)

static const block_desc bar_conforming = {{-0.2, -0.03, -0.02}, {40, 6, 4}, {40, 6, 4}, 0};
static const block_desc bar_embedded   = {{-0.2, -0.035, -0.025}, {40, 7, 5}, {57, 8, 5}, 0.005};

static void fold(block_body* body, double angle, double radius)
{
    for (int32_t v = 0; v < body->vertex_count; ++v)
    {
        const double* r    = body->x_rest + 3 * v;
        const double  bent = fmax(-ZONE, fmin(ZONE, r[0])), phi = angle * bent / (2 * ZONE), past = r[0] - bent;
        body->x[3 * v + 0] = (radius - r[2]) * sin(phi) + past * cos(phi);
        body->x[3 * v + 1] = r[1];
        body->x[3 * v + 2] = radius - (radius - r[2]) * cos(phi) + past * sin(phi);
    }
}

/// Signed distance of a point of the right arm from the inner face of the left arm, and that face's outward normal.
static double fold_gap(double angle, double radius, const double p[3], double n[3])
{
    const double s = sin(angle / 2), c = cos(angle / 2);
    const double a[3] = {-(radius - TOP) * s, 0, radius - (radius - TOP) * c};
    double       d[3];
    n[0] = s, n[1] = 0, n[2] = c;
    flx__sub3(p, a, d);
    return flx__dot3(n, d);
}

static void bar_open(flx_context* ctx, block_body* body, const block_desc* desc)
{
    block_body_make(ctx, body, CELL, 1, desc);
    block_body_open(ctx, body);
}

/// On the inner face of an arm (side +1 right, -1 left), away from the arc and from the edges.
static bool on_arm(const flx_proxy* p, int side)
{
    return fabs(p->rest[2] - TOP) < 1e-9 && p->normal[2] > 0.5 && side * p->rest[0] > ZONE + 3 * CELL &&
           side * p->rest[0] < 0.2 - 3 * CELL && fabs(p->rest[1]) < 0.02;
}

static void a_folded_bar_finds_the_mirrored_partner(const block_desc* desc, double radius)
{
    flx_context* ctx = test_context(2);
    block_body   body;
    bar_open(ctx, &body, desc);
    fold(&body, M_PI, radius);
    const int32_t count   = find(&body);
    int32_t       checked = 0;
    for (int32_t p = 0; p < body.proxy_count; ++p)
    {
        if (!on_arm(&body.proxy[p], 1)) continue;
        const flx_contact* c = contact_of(&body, count, p);
        assert_non_null(c);
        double n[3], at[3], y[3];
        row_point(c, body.x, 0, 4, at);
        CHECK_NEAR(c->gap, fold_gap(M_PI, radius, at, n),
                   1e-3 * CELL); // arms are rigid: only the field's gradient errs
        assert_true(flx__dot3(c->normal, n) > 0.9999);

        row_point(c, body.x_rest, 4, FLX_CONTACT_CORNERS, y); // minus the partner's rest point
        CHECK_NEAR(-y[0], -body.proxy[p].rest[0], 1e-3 * CELL);
        CHECK_NEAR(-y[1], body.proxy[p].rest[1], 1e-3 * CELL);
        CHECK_NEAR(-y[2], TOP, 1e-6 * CELL); // on the surface
        ++checked;
    }
    assert_true(checked > 50);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void a_folded_conforming_bar_finds_the_mirrored_partner(void** state)
{
    (void)state;
    a_folded_bar_finds_the_mirrored_partner(&bar_conforming, TOP - 0.35 * CELL); // 0.7 cells deep
    a_folded_bar_finds_the_mirrored_partner(&bar_conforming, TOP - 0.05 * CELL);
}

static void a_folded_embedded_bar_finds_the_mirrored_partner(void** state)
{
    (void)state;
    a_folded_bar_finds_the_mirrored_partner(&bar_embedded, TOP - 0.35 * CELL);
    a_folded_bar_finds_the_mirrored_partner(&bar_embedded, TOP + 0.15 * CELL); // a candidate, 0.3 cells apart
}

static void normals_of_both_sides_oppose(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    block_body   body;
    bar_open(ctx, &body, &bar_embedded);
    fold(&body, 0.97 * M_PI, TOP - 0.1 * CELL);
    const int32_t count     = find(&body);
    double        sum[2][3] = {{0}};
    int32_t       found[2]  = {0};
    for (int32_t i = 0; i < count; ++i)
        for (int side = 0; side < 2; ++side)
            if (on_arm(&body.proxy[body.contact[i].proxy], side ? 1 : -1))
            {
                ++found[side];
                for (int k = 0; k < 3; ++k) sum[side][k] += body.contact[i].normal[k];
            }
    assert_true(found[0] > 10 && found[1] > 10);
    CHECK_BELOW(flx__dot3(sum[0], sum[1]) / (flx__norm3(sum[0]) * flx__norm3(sum[1])), -0.98); // cos 0.03 pi = 0.9956
    block_body_close(&body);
    flx_context_destroy(ctx);
}

/// Follow the proxies of one arm while the fold closes in small steps.
static void follow(const block_desc* desc, bool by_angle)
{
    enum
    {
        STEPS = 60
    };
    flx_context* ctx = test_context(2);
    block_body   body;
    bar_open(ctx, &body, desc);
    double* before = malloc((size_t)body.proxy_count * sizeof *before);
    double* at     = malloc((size_t)body.proxy_count * 3 * sizeof *at);
    for (int32_t p = 0; p < body.proxy_count; ++p) before[p] = NAN;

    int32_t positive = 0, negative = 0;
    for (int step = 0; step <= STEPS; ++step)
    {
        const double s      = (double)step / STEPS;
        const double angle  = by_angle ? (0.96 + 0.09 * s) * M_PI : M_PI;
        const double radius = by_angle ? TOP + 0.1 * CELL : TOP + (0.4 - 0.7 * s) * CELL;
        fold(&body, angle, radius);
        const int32_t count = find(&body);
        for (int32_t p = 0; p < body.proxy_count; ++p)
        {
            if (!on_arm(&body.proxy[p], 1)) continue;
            double n[3], now[3] = {0};
            for (int i = 0; i < 4; ++i)
                for (int k = 0; k < 3; ++k) now[k] += body.proxy[p].weight[i] * body.x[3 * body.proxy[p].vertex[i] + k];
            const double       gap   = fold_gap(angle, radius, now, n);
            const double       moved = step ? 2 * flx__distance3(now, at + 3 * p) : 0; // the partner moves as much
            const flx_contact* c     = contact_of(&body, count, p);
            memcpy(at + 3 * p, now, sizeof now);
            if (gap > 1.05 * body.desc.margin) assert_null(c);
            if (gap < 0.95 * body.desc.margin && gap > -0.9 * CELL) assert_non_null(c);
            if (c && gap > -0.9 * CELL) // deeper: the bar's side is nearer
            {
                CHECK_NEAR(c->gap, gap, 0.02 * CELL);
                if (!isnan(before[p])) CHECK_BELOW(fabs(c->gap - before[p]), moved + 1e-3 * CELL);
                c->gap > 0 ? ++positive : ++negative;
            }
            before[p] = c ? c->gap : NAN;
        }
    }
    assert_true(positive > 500 && negative > 500);
    free(before), free(at);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void the_gap_runs_through_zero_as_the_fold_closes(void** state)
{
    (void)state;
    follow(&bar_conforming, false);
    follow(&bar_embedded, false);
}

static void the_gap_runs_through_zero_as_the_angle_grows(void** state)
{
    (void)state;
    follow(&bar_conforming, true);
    follow(&bar_embedded, true);
}

// --- what is not a contact ------------------------------------------------------------------------------------------

static void deform_affine(block_body* body, const double m[9], const double t[3])
{
    for (int32_t v = 0; v < body->vertex_count; ++v)
    {
        flx__apply3(m, body->x_rest + 3 * v, body->x + 3 * v);
        for (int k = 0; k < 3; ++k) body->x[3 * v + k] += t[k];
    }
}

static void the_own_neighbourhood_is_never_a_partner(void** state)
{
    (void)state;
    static const double affine[][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},                       // rest
        {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}, // a rotation
        {0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3},                 // squeezed from all sides
        {1, 0, 0, 0, 1, 0, 0, 0, 0.2},                     // and from one
        {1, 0.8, 0, 0, 1, 0, 0.5, 0, 1},                   // sheared
        {2, 0, 0, 0, 0.7, 0, 0, 0, 0.7},
        {-1, 0, 0, 0, 1, 0, 0, 0, 1}, // turned inside out, all of it
        {1, 0, 0, 0, 1, 0, 0, 0, 0},  // flattened
        {0},                          // a point
    };
    static const double t[3] = {3, -20, 0.7};
    flx_context*        ctx  = test_context(2);
    for (int kind = 0; kind < 2; ++kind)
    {
        block_body body;
        bar_open(ctx, &body, kind ? &bar_embedded : &bar_conforming);
        for (size_t i = 0; i < sizeof affine / sizeof *affine; ++i)
        {
            deform_affine(&body, affine[i], t);
            assert_int_equal(find(&body), 0);
        }
        fold(&body, 0.6 * M_PI, 3 * TOP); // bent, not touching
        assert_int_equal(find(&body), 0);
        block_body_close(&body);
    }
    flx_context_destroy(ctx);
}

static void blocks_far_apart_do_not_touch(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    pair_open(ctx, &body, 0.5, 0);
    block_body_open(ctx, &body);
    assert_int_equal(find(&body), 0);
    press(&body, 0.45);
    assert_int_equal(find(&body), 0);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void check_pressed(block_body* body, double rest_gap, double d)
{
    press(body, d);
    const int32_t count   = find(body);
    int32_t       checked = 0;
    for (int32_t p = 0; p < body->proxy_count; ++p)
        for (int upper = 0; upper < 2; ++upper)
        {
            if (!between(body, p, rest_gap, upper)) continue;
            const flx_contact* c = contact_of(body, count, p);
            assert_non_null(c);
            CHECK_NEAR(c->gap, rest_gap - d - body->desc.offset, 1e-3 * CELL);
            CHECK_NEAR(c->normal[2], upper ? 1 : -1, 1e-3); // the field's gradient, a cell from an edge of it
            ++checked;
        }
    assert_true(checked > 30);
}

static void two_blocks_pressed_together_touch_with_the_right_gap(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int kind = 0; kind < 2; ++kind)
    {
        block_body body;
        pair_open(ctx, &body, 0.1, kind ? 0.004 : 0);
        body.desc.offset = 0.1 * CELL;
        block_body_open(ctx, &body);
        check_pressed(&body, 0.1, 0.1 - 0.3 * CELL); // apart
        check_pressed(&body, 0.1, 0.1);              // touching exactly
        check_pressed(&body, 0.1, 0.1 + 0.8 * CELL); // overlapping
        block_body_close(&body);
    }
    flx_context_destroy(ctx);
}

static void surfaces_that_face_each_other_at_rest_are_partners_however_near(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    for (int kind = 0; kind < 2; ++kind)
    {
        block_body body;
        pair_open(ctx, &body, 0.2 * CELL, kind ? 0.004 : 0); // far less than exclude
        block_body_open(ctx, &body);
        check_pressed(&body, 0.2 * CELL, 0);
        check_pressed(&body, 0.2 * CELL, 0.2 * CELL);
        check_pressed(&body, 0.2 * CELL, 0.6 * CELL);
        block_body_close(&body);
    }
    flx_context_destroy(ctx);
}

static void partners_under_coarse_triangles_are_held_by_the_tet_that_contains_them(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    block_desc   b[2] = {{{-0.04, -0.03, -0.03}, {8, 6, 3}, {2, 1, 1}, 0.004}, // triangles of many cells
                         {{-0.043, -0.028, 0.1}, {8, 6, 3}, {16, 12, 6}, 0.004}};
    block_body_make(ctx, &body, CELL, 2, b);
    block_body_open(ctx, &body);
    press(&body, 0.1 + 0.008 + 0.3 * CELL); // 0.3 cells deep
    const int32_t count   = find(&body);
    int32_t       checked = 0;
    for (int32_t p = 0; p < body.proxy_count; ++p)
    {
        const flx_proxy* proxy = &body.proxy[p];
        if (fabs(proxy->rest[2] - 0.104) > 1e-9 || fabs(proxy->rest[0]) > 0.025 || fabs(proxy->rest[1]) > 0.015)
            continue;
        const flx_contact* c = contact_of(&body, count, p);
        assert_non_null(c);
        CHECK_NEAR(c->gap, -0.3 * CELL, 1e-3 * CELL);
        for (int k = 4; k < FLX_CONTACT_CORNERS; ++k) assert_true(c->weight[k] <= 1e-9 && c->weight[k] >= -1 - 1e-9); // inside its tet
        ++checked;
    }
    assert_true(checked > 50);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void penetrations_beyond_depth_are_left_out(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    block_body   body;
    pair_open(ctx, &body, 0.1, 0);
    body.desc.depth = 0.5 * CELL;
    block_body_open(ctx, &body);
    press(&body, 0.1 + 0.8 * CELL);
    const int32_t count = find(&body);
    for (int32_t p = 0; p < body.proxy_count; ++p)
        if (between(&body, p, 0.1, false)) assert_null(contact_of(&body, count, p));
    check_pressed(&body, 0.1, 0.1 + 0.45 * CELL);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void rows_on_vertices_that_are_not_prone_are_skipped_and_counted(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    pair_open(ctx, &body, 0.1, 0);
    block_body_open(ctx, &body);
    press(&body, 0.1 + 0.4 * CELL);
    const int32_t all = find(&body);
    assert_int_equal(flx__self_contact_skipped(body.self), 0);
    flx__self_contact_destroy(body.self);

    uint8_t* prone =
        malloc((size_t)body.vertex_count); // the lower block may not be acted on: upper proxies lose theirs
    for (int32_t v = 0; v < body.vertex_count; ++v) prone[v] = v >= body.vertex_count / 2;
    body.desc.prone = prone;
    block_body_open(ctx, &body);
    const int32_t some = find(&body);
    assert_true(some > 0 && some < all);
    assert_int_equal(flx__self_contact_skipped(body.self), all - some);
    for (int32_t i = 0; i < some; ++i)
        for (int k = 4; k < FLX_CONTACT_CORNERS; ++k) assert_true(body.contact[i].vertex[k] < 0 || prone[body.contact[i].vertex[k]]);
    free(prone);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

// --- promises of the whole ------------------------------------------------------------------------------------------

static uint64_t hash_contacts(const flx_contact* c, int32_t count)
{
    uint64_t hash = FLX_HASH_START;
    for (int32_t i = 0; i < count; ++i)
    {
        hash = flx__hash(hash, &c[i].proxy, sizeof c[i].proxy);
        hash = flx__hash(hash, &c[i].partner, sizeof c[i].partner);
        hash = flx__hash(hash, c[i].vertex, sizeof c[i].vertex);
        hash = flx__hash(hash, c[i].weight, sizeof c[i].weight);
        hash = flx__hash(hash, c[i].normal, sizeof c[i].normal);
        hash = flx__hash(hash, c[i].target, sizeof c[i].target);
        hash = flx__hash(hash, &c[i].gap, sizeof c[i].gap);
    }
    return hash;
}

static void same_bits_for_any_number_of_workers_and_no_heap_in_find(void** state)
{
    (void)state;
    static const int32_t workers[] = {1, 2, 3, 8};
    uint64_t             first     = 0;
    for (size_t w = 0; w < sizeof workers / sizeof *workers; ++w)
    {
        flx_context* ctx = test_context(workers[w]);
        block_body   body;
        bar_open(ctx, &body, &bar_embedded);
        const int64_t allocations = flx_context_allocation_count(ctx);
        uint64_t      hash        = FLX_HASH_START;
        for (int step = 0; step < 5; ++step)
        {
            fold(&body, (0.9 + 0.04 * step) * M_PI, TOP - 0.1 * step * CELL);
            const int32_t count = find(&body);
            assert_true(count > 50);
            hash = hash_contacts(body.contact, count) + 31 * hash;
        }
        assert_int_equal(flx_context_allocation_count(ctx), allocations);
        if (w == 0) first = hash;
        assert_true(hash == first);
        block_body_close(&body);
        flx_context_destroy(ctx);
    }
}

static void a_failed_allocation_leaves_nothing_behind(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    block_body   body;
    pair_open(ctx, &body, 0.1, 0);
    const int64_t bytes  = flx_context_bytes_now(ctx);
    flx_status    status = FLX_ERR_MEMORY;
    for (int64_t n = 0; status == FLX_ERR_MEMORY; ++n)
    {
        assert_true(n < 100);
        body.self = (void*)1;
        flx_context_fail_allocation(ctx, n);
        status = flx__self_contact_create(ctx, &body.desc, &body.self);
        flx_context_fail_allocation(ctx, -1);
        if (status == FLX_OK) break;
        assert_null(body.self);
        assert_int_equal(flx_context_bytes_now(ctx), bytes);
    }
    CHECK_OK(status);
    block_body_close(&body);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void positions_that_are_not_numbers_give_no_contacts(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    uint64_t     seed = 7;
    bar_open(ctx, &body, &bar_conforming);
    for (int32_t i = 0; i < 3 * body.vertex_count; ++i) body.x[i] = NAN;
    assert_int_equal(find(&body), 0);
    for (int32_t i = 0; i < 3 * body.vertex_count; ++i) body.x[i] = INFINITY;
    assert_int_equal(find(&body), 0);
    for (int trial = 0; trial < 20; ++trial)
    {
        fold(&body, M_PI, TOP - 0.3 * CELL);
        for (int k = 0; k < 30; ++k)
        {
            const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e39, 1e30};
            body.x[(int32_t)(test_random(&seed) * 3 * body.vertex_count)] = bad[k % 6];
        }
        const int32_t count = flx__self_contact_find(body.self, body.x, body.contact);
        assert_true(count > 20); // the rest of the fold is still seen
        for (int32_t i = 0; i < count; ++i)
        {
            assert_true(isfinite(body.contact[i].gap));
            CHECK_NEAR(flx__norm3(body.contact[i].normal), 1, 1e-12);
            for (int k = 0; k < FLX_CONTACT_CORNERS; ++k) assert_true(isfinite(body.contact[i].weight[k]));
        }
    }
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void crumpled_flesh_gives_only_sound_contacts(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    uint64_t     seed = 11;
    bar_open(ctx, &body, &bar_embedded);
    for (int trial = 0; trial < 10; ++trial)
    {
        fold(&body, M_PI, TOP - 0.3 * CELL);
        for (int32_t i = 0; i < 3 * body.vertex_count; ++i)
            body.x[i] += (0.1 + 0.1 * trial) * CELL * (2 * test_random(&seed) - 1); // inverts many tets
        find(&body);
    }
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void senseless_descriptions_are_refused(void** state)
{
    (void)state;
    flx_context* ctx = test_context(1);
    block_body   body;
    pair_open(ctx, &body, 0.1, 0);
    const flx_self_contact_desc good = body.desc;

    body.desc.depth = 0;
    CHECK_FAILS(flx__self_contact_create(ctx, &body.desc, &body.self), FLX_ERR_SETTING);
    body.desc        = good;
    body.desc.margin = NAN;
    CHECK_FAILS(flx__self_contact_create(ctx, &body.desc, &body.self), FLX_ERR_SETTING);
    body.desc = good;

    body.search[5] = body.tet_count;
    CHECK_FAILS(flx__self_contact_create(ctx, &body.desc, &body.self), FLX_ERR_ARGUMENT);
    body.search[5]          = 5;
    body.proxy[3].vertex[2] = -1;
    CHECK_FAILS(flx__self_contact_create(ctx, &body.desc, &body.self), FLX_ERR_ARGUMENT);
    assert_null(body.self);

    body.proxy[3].vertex[2] = 0;
    body.desc.search_count  = 0; // nothing to search is fine
    body.desc.proxy_count   = 0;
    CHECK_OK(flx__self_contact_create(ctx, &body.desc, &body.self));
    assert_int_equal(find(&body), 0);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folded_conforming_bar_finds_the_mirrored_partner),
        cmocka_unit_test(a_folded_embedded_bar_finds_the_mirrored_partner),
        cmocka_unit_test(normals_of_both_sides_oppose),
        cmocka_unit_test(the_gap_runs_through_zero_as_the_fold_closes),
        cmocka_unit_test(the_gap_runs_through_zero_as_the_angle_grows),
        cmocka_unit_test(the_own_neighbourhood_is_never_a_partner),
        cmocka_unit_test(blocks_far_apart_do_not_touch),
        cmocka_unit_test(two_blocks_pressed_together_touch_with_the_right_gap),
        cmocka_unit_test(surfaces_that_face_each_other_at_rest_are_partners_however_near),
        cmocka_unit_test(partners_under_coarse_triangles_are_held_by_the_tet_that_contains_them),
        cmocka_unit_test(penetrations_beyond_depth_are_left_out),
        cmocka_unit_test(rows_on_vertices_that_are_not_prone_are_skipped_and_counted),
        cmocka_unit_test(same_bits_for_any_number_of_workers_and_no_heap_in_find),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(positions_that_are_not_numbers_give_no_contacts),
        cmocka_unit_test(crumpled_flesh_gives_only_sound_contacts),
        cmocka_unit_test(senseless_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
