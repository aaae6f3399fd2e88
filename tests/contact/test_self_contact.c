#include "block_body.h"

#include "flexor/mesh.h"
#include "mesh/mesh_internal.h"

// --- a bar that folds ---------------------------------------------------------------------------------------------
//
// Length along x, folded about y by an angle: the middle |x| < zone becomes an arc about (0, ., radius), the two arms
// stay straight. At 180 degrees the inner faces z = top of the arms are 2 (radius - top) apart, or that deep in each
// other.

#define CELL 0.01
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

static void row_point(const flx_contact* c, const double* x, int from, int to, double out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = 0;
    for (int i = from; i < to; ++i)
        for (int k = 0; k < 3; ++k)
            if (c->vertex[i] >= 0) out[k] += c->weight[i] * x[3 * c->vertex[i] + k];
}

/// What every contact keeps, whatever the deformation.
static void check_contract(const block_body* body, const double* x, int32_t count)
{
    for (int32_t i = 0; i < count; ++i)
    {
        const flx_contact* c = &body->contact[i];
        assert_true(c->proxy >= 0 && c->proxy < body->proxy_count);
        if (i > 0) assert_true(c->proxy > body->contact[i - 1].proxy);
        assert_int_equal(c->obstacle, -1);
        assert_true(c->partner >= 0 && c->partner < body->triangle_count);
        double own = 0, partner = 0, apart[3];
        for (int k = 0; k < 4; ++k) own += c->weight[k], partner += c->weight[4 + k];
        CHECK_NEAR(own, 1, 1e-12); // sums of four weights: rounding
        CHECK_NEAR(partner, -1, 1e-12);
        CHECK_NEAR(flx__norm3(c->normal), 1, 1e-12);
        row_point(c, x, 0, 8, apart);
        flx__sub3(apart, c->target, apart);
        CHECK_NEAR(flx__dot3(apart, c->normal), c->gap, 1e-14); // gap = n . (sum w x - target), m
        assert_true(c->gap <= 1.5 * body->desc.margin);
        assert_true(c->gap >= -body->desc.depth - body->desc.offset);
    }
}

static int32_t find(block_body* body)
{
    const int32_t count = flx__self_contact_find(body->self, body->x, body->contact);
    check_contract(body, body->x, count);
    return count;
}

static const flx_contact* contact_of(const block_body* body, int32_t count, int32_t proxy)
{
    for (int32_t i = 0; i < count; ++i)
        if (body->contact[i].proxy == proxy) return &body->contact[i];
    return NULL;
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

        row_point(c, body.x_rest, 4, 8, y); // minus the partner's rest point
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

/// Two blocks, one above the other with `gap` between them at rest (negative: overlapping). When they touch, the upper
/// one is set aside by half and both are tall: a surface that lies on itself for the most part has no inside.
static void pair_open(flx_context* ctx, block_body* body, double gap, double inset)
{
    const int32_t tall = gap == 0 ? 9 : 3;
    block_desc    b[2] = {{{-0.04, -0.03, -tall * CELL}, {8, 6, tall}, {8, 6, tall}, inset},
                          {{-0.043, -0.028, 0}, {8, 6, tall}, {8, 6, tall}, inset}};
    if (gap == 0) b[1].min[0] += 0.03;
    b[0].min[2] += inset;
    b[1].min[2] += gap - inset;
    block_body_make(ctx, body, CELL, 2, b);
}

/// Move the upper block down by d.
static void press(block_body* body, double d)
{
    memcpy(body->x, body->x_rest, (size_t)body->vertex_count * 3 * sizeof(double));
    for (int32_t v = body->vertex_count / 2; v < body->vertex_count; ++v) body->x[3 * v + 2] -= d;
}

static bool between(const block_body* body, int32_t proxy, double gap, bool upper)
{
    const flx_proxy* p = &body->proxy[proxy];
    return fabs(p->rest[2] - (upper ? gap : 0)) < 1e-9 && fabs(p->normal[2] - (upper ? -1 : 1)) < 1e-9 &&
           fabs(p->rest[0]) < 0.02 && fabs(p->rest[1]) < 0.015; // nearer to this face than to any other
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
        for (int k = 4; k < 8; ++k) assert_true(c->weight[k] <= 1e-9 && c->weight[k] >= -1 - 1e-9); // inside its tet
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
        for (int k = 4; k < 8; ++k) assert_true(body.contact[i].vertex[k] < 0 || prone[body.contact[i].vertex[k]]);
    free(prone);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

// --- overlapping already at rest ------------------------------------------------------------------------------------

static void overlaps_at_rest_are_reported(void** state)
{
    (void)state;
    flx_context* ctx = test_context(2);
    block_body   body;
    double       deepest = -1;
    pair_open(ctx, &body, 0.3 * CELL, 0);
    block_body_open(ctx, &body);
    assert_int_equal(flx__self_contact_rest_overlaps(body.self, &deepest), 0);
    CHECK_NEAR(deepest, 0, 0);
    block_body_close(&body);

    pair_open(ctx, &body, -0.4 * CELL, 0);
    block_body_open(ctx, &body);
    const int32_t overlaps = flx__self_contact_rest_overlaps(body.self, &deepest);
    int32_t       facing   = 0;
    for (int32_t p = 0; p < body.proxy_count; ++p)
        facing += between(&body, p, -0.4 * CELL, true) || between(&body, p, -0.4 * CELL, false);
    assert_true(facing > 30 && overlaps >= facing);
    assert_true(deepest >= 0.4 * CELL - 1e-3 * CELL && deepest <= body.desc.depth);
    block_body_close(&body);
    flx_context_destroy(ctx);
}

/// Rest gap zero or negative: nothing pushes at rest or when parted; going deeper is measured from the rest pose.
static void parts_that_touch_or_overlap_at_rest(double rest_gap, double inset)
{
    flx_context* ctx = test_context(2);
    block_body   body;
    pair_open(ctx, &body, rest_gap, inset);
    block_body_open(ctx, &body);
    for (int step = -4; step <= 6; ++step)
    {
        const double d = 0.1 * step * CELL;
        press(&body, d);
        const int32_t count = find(&body); // the contract holds: finite unit normals, sums, bounds
        for (int32_t i = 0; i < count; ++i) assert_true(body.contact[i].gap >= fmin(0, -d) - 1e-6 * CELL);
        for (int32_t p = 0; p < body.proxy_count; ++p)
            for (int upper = 0; upper < 2; ++upper)
            {
                const flx_contact* c = contact_of(&body, count, p);
                if (step <= 0 || !between(&body, p, rest_gap, upper) || body.proxy[p].rest[0] < 0) continue;
                assert_non_null(c);
                CHECK_NEAR(c->gap, -d, 1e-6 * CELL);
                CHECK_NEAR(c->normal[2], upper ? 1 : -1, 1e-9);
            }
    }
    block_body_close(&body);
    flx_context_destroy(ctx);
}

static void parts_that_touch_at_rest_have_finite_normals_and_resist(void** state)
{
    (void)state;
    parts_that_touch_or_overlap_at_rest(0, 0);
    parts_that_touch_or_overlap_at_rest(0, 0.004);
}

static void parts_that_overlap_at_rest_stay_as_they_are_and_resist_going_deeper(void** state)
{
    (void)state;
    parts_that_touch_or_overlap_at_rest(-0.3 * CELL, 0);
    parts_that_touch_or_overlap_at_rest(-0.3 * CELL, 0.004);
}

/// Two lips of a conforming mesh, 2 mm inside each other at rest.
static void lips_that_overlap_at_rest_are_reported_and_do_not_jump(void** state)
{
    (void)state;
    const char*  path = shared_or_skip("cases/32-initial-self-intersection/lips_overlap_2mm.mesh");
    flx_context* ctx  = test_context(2);
    flx_mesh*    mesh = NULL;
    block_body   body = {0};
    CHECK_OK(flx_mesh_read(ctx, path, NULL, &mesh));
    int32_t* boundary   = NULL;
    int32_t  components = 0;
    CHECK_OK(flx__tet_boundary(ctx, mesh->tet_count, mesh->tet, &body.triangle_count, &boundary));

    const size_t n     = (size_t)mesh->vertex_count;
    int32_t*     label = malloc(n * sizeof *label);
    CHECK_OK(flx__mesh_components(ctx, mesh->vertex_count, mesh->tet_count, 4, mesh->tet, label, &components));
    assert_int_equal(components, 2);

    body.vertex_count = mesh->vertex_count;
    body.tet_count    = mesh->tet_count;
    body.proxy_count  = body.triangle_count;
    body.x            = malloc(3 * n * sizeof(double));
    body.search       = malloc((size_t)body.tet_count * sizeof(int32_t));
    body.surface      = calloc(n, sizeof *body.surface);
    body.proxy        = calloc((size_t)body.proxy_count, sizeof *body.proxy);
    body.contact      = malloc((size_t)body.proxy_count * sizeof *body.contact);
    for (int32_t t = 0; t < body.tet_count; ++t)
    {
        body.search[t] = t;
        for (int k = 0; k < 4; ++k)
        {
            flx_embedded* e = &body.surface[mesh->tet[4 * t + k]];
            *e              = (flx_embedded){.tet = t};
            e->weight[k]    = 1;
        }
    }
    for (int32_t t = 0; t < body.proxy_count; ++t) // one in each boundary triangle: three of its tet's corners
    {
        const int32_t* c = boundary + 3 * t;
        flx_proxy*     p = &body.proxy[t];
        double         e[3], f[3];
        flx__sub3(mesh->x + 3 * c[1], mesh->x + 3 * c[0], e);
        flx__sub3(mesh->x + 3 * c[2], mesh->x + 3 * c[0], f);
        flx__cross3(e, f, p->normal);
        for (int32_t q = 0; q < body.tet_count; ++q)
        {
            int shared = 0, other = 0;
            for (int k = 0; k < 4; ++k)
                for (int i = 0; i < 3; ++i) shared += mesh->tet[4 * q + k] == c[i];
            if (shared < 3) continue;
            for (int k = 0; k < 4; ++k)
            {
                const int32_t v = mesh->tet[4 * q + k];
                other           = v != c[0] && v != c[1] && v != c[2];
                p->vertex[k]    = v;
                p->weight[k]    = other ? 0 : 1.0 / 3;
            }
        }
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 3; ++i) p->rest[k] += mesh->x[3 * c[i] + k] / 3;
    }
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    double middle[2] = {0}; // mean height of each lip
    for (size_t i = 0; i < n; ++i)
    {
        middle[label[i]] += mesh->x[3 * i + 1];
        for (int k = 0; k < 3; ++k) lo[k] = fmin(lo[k], mesh->x[3 * i + k]), hi[k] = fmax(hi[k], mesh->x[3 * i + k]);
    }
    CHECK_OK(flx__triangle_bvh_create(ctx, mesh->vertex_count, mesh->x, body.triangle_count, boundary, &body.bvh));
    CHECK_OK(flx__distance_field_create(ctx, path, body.bvh, lo, hi, 0.002, 0.01, &body.field));
    body.desc = (flx_self_contact_desc){.x_rest           = mesh->x,
                                        .vertex_count     = mesh->vertex_count,
                                        .tet              = mesh->tet,
                                        .tet_count        = mesh->tet_count,
                                        .search_count     = mesh->tet_count,
                                        .search           = body.search,
                                        .proxy_count      = body.proxy_count,
                                        .proxy            = body.proxy,
                                        .field            = body.field,
                                        .bvh              = body.bvh,
                                        .surface_triangle = boundary,
                                        .surface          = body.surface,
                                        .exclude          = 0.012,
                                        .margin           = 0.001,
                                        .depth            = 0.008};
    block_body_open(ctx, &body);

    double deepest = 0;
    assert_true(flx__self_contact_rest_overlaps(body.self, &deepest) > 0);
    CHECK_NEAR(deepest, 0.002, 1e-5); // m

    const int upper = middle[1] > middle[0] ? 1 : 0;
    for (int step = 0; step <= 10; ++step)
    {
        const double d = 2e-4 * step; // the upper lip goes down
        for (size_t i = 0; i < n; ++i)
            for (int k = 0; k < 3; ++k) body.x[3 * i + k] = mesh->x[3 * i + k] - (k == 1 && label[i] == upper ? d : 0);
        const int32_t count = flx__self_contact_find(body.self, body.x, body.contact);
        check_contract(&body, body.x, count);
        int32_t pushing = 0;
        for (int32_t i = 0; i < count; ++i)
        {
            assert_true(body.contact[i].gap >= -d - 1e-9); // no deeper than what moved
            pushing += body.contact[i].gap < -1e-9;
        }
        assert_true((pushing > 0) == (step > 0));
    }
    free(label), flx__free(ctx, boundary);
    block_body_close(&body);
    flx_mesh_destroy(ctx, mesh);
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
            for (int k = 0; k < 8; ++k) assert_true(isfinite(body.contact[i].weight[k]));
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
        cmocka_unit_test(overlaps_at_rest_are_reported),
        cmocka_unit_test(parts_that_touch_at_rest_have_finite_normals_and_resist),
        cmocka_unit_test(parts_that_overlap_at_rest_stay_as_they_are_and_resist_going_deeper),
        cmocka_unit_test(lips_that_overlap_at_rest_are_reported_and_do_not_jump),
        cmocka_unit_test(same_bits_for_any_number_of_workers_and_no_heap_in_find),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(positions_that_are_not_numbers_give_no_contacts),
        cmocka_unit_test(crumpled_flesh_gives_only_sound_contacts),
        cmocka_unit_test(senseless_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
