// Cloth against itself: which pairs are found, on which side they are, and that nothing is found where nothing touches.
#include "test.h"

#include "contact/cloth_contact.h"
#include "contact/cloth_pairs.h"
#include "contact/cloth_topology.h"
#include "math/mat3.h"

#define OFFSET 0.004 // m
#define MARGIN 0.01
#define DEPTH 0.03
#define MOST 20000 // numbers in an array below

/// Cloth of a few triangles, all of it prone.
typedef struct cloth
{
    flx_context*           ctx;
    int32_t                vertex_count, triangle_count;
    double                 rest[MOST], from[MOST], x[MOST];
    int32_t                triangle[MOST];
    flx_cloth_topology     top;
    flx_proxy*             proxy;
    flx_cloth_contact_desc desc;
    flx_cloth_contact*     contact;
    double*                memory;
    flx_contact*           out;
} cloth;

static void open_cloth(cloth* c, int32_t workers)
{
    flx_context* ctx = c->ctx = test_context(workers);
    CHECK_OK(flx__cloth_topology_create(ctx, c->vertex_count, c->triangle_count, c->triangle, "test", 0, &c->top));
    const int32_t points = FLX_CLOTH_PARTNERS * c->vertex_count, proxies = points + c->top.edge_count;
    c->proxy = calloc((size_t)proxies, sizeof *c->proxy);
    for (int32_t i = 0; i < proxies; ++i)
    {
        flx_proxy* p = &c->proxy[i];
        for (int k = 0; k < 4; ++k)
            p->vertex[k] = i < points ? i / FLX_CLOTH_PARTNERS : c->top.edge[2 * (i - points) + k % 2];
        p->weight[0] = i < points ? 1 : 0.5;
        p->weight[1] = i < points ? 0 : 0.5;
    }
    c->desc = (flx_cloth_contact_desc){.x_rest         = c->rest,
                                       .vertex_count   = c->vertex_count,
                                       .triangle_count = c->triangle_count,
                                       .triangle       = c->triangle,
                                       .point_count    = c->vertex_count,
                                       .proxy_count    = proxies,
                                       .proxy          = c->proxy,
                                       .margin         = MARGIN,
                                       .offset         = OFFSET,
                                       .depth          = DEPTH};
    CHECK_OK(flx__cloth_contact_create(ctx, &c->desc, &c->contact));
    c->memory = calloc((size_t)flx__cloth_contact_memory(c->contact), sizeof(double));
    c->out    = malloc(sizeof(flx_contact) * (size_t)proxies);
    memcpy(c->from, c->rest, sizeof c->rest);
    memcpy(c->x, c->rest, sizeof c->rest);
}

static void close_cloth(cloth* c)
{
    flx__cloth_contact_destroy(c->contact);
    flx__cloth_topology_release(c->ctx, &c->top);
    assert_int_equal(flx_context_bytes_now(c->ctx), 0);
    flx_context_destroy(c->ctx);
    free(c->proxy);
    free(c->memory);
    free(c->out);
    free(c);
}

static int32_t find(cloth* c)
{
    flx__cloth_contact_begin(c->contact, c->from);
    return flx__cloth_contact_find(c->contact, c->x, c->memory, c->out);
}

/// x is where the step ends.
static void settle(cloth* c)
{
    flx__cloth_contact_begin(c->contact, c->from);
    flx__cloth_contact_settle(c->contact, c->x, c->memory);
    memcpy(c->from, c->x, sizeof c->x);
}

static int remembered(const cloth* c)
{
    int count = 0;
    for (int64_t i = 0; i < flx__cloth_contact_memory(c->contact); ++i) count += c->memory[i] != 0;
    return count;
}

/// Row of the contact at the present positions, less its target: the gap along the normal.
static double gap_of(const cloth* c, const flx_contact* k)
{
    double gap = 0;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
        for (int i = 0; i < 3 && k->vertex[a] >= 0; ++i)
            gap += k->weight[a] * k->normal[i] * c->x[3 * k->vertex[a] + i];
    return gap - flx__dot3(k->normal, k->target);
}

static void check_row(const cloth* c, const flx_contact* k)
{
    double own = 0, partner = 0;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
        if (k->vertex[a] >= 0) *(k->weight[a] > 0 ? &own : &partner) += k->weight[a];
    CHECK_NEAR(own, 1, 1e-12);
    CHECK_NEAR(partner, -1, 1e-12);
    CHECK_NEAR(flx__norm3(k->normal), 1, 1e-12);
    CHECK_NEAR(gap_of(c, k), k->gap, 1e-12); // m: rounding, of positions below 1 m
    assert_int_equal(k->obstacle, -1);
}

static void put(cloth* c, int32_t vertex, double x, double y, double z)
{
    double* p = c->rest + 3 * vertex;
    p[0] = x, p[1] = y, p[2] = z;
    if (vertex >= c->vertex_count) c->vertex_count = vertex + 1;
}

static void triangle(cloth* c, int32_t a, int32_t b, int32_t d)
{
    int32_t* v = c->triangle + 3 * c->triangle_count++;
    v[0] = a, v[1] = b, v[2] = d;
}

/// Rectangle of m x n squares with edge h from (0, 0, z) on, as new vertices.
static void sheet(cloth* c, int m, int n, double h, double z)
{
    const int32_t first = c->vertex_count;
    for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= m; ++i) put(c, first + i + (m + 1) * j, h * i, h * j, z);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
        {
            const int32_t a = first + i + (m + 1) * j, b = a + 1, d = a + m + 1;
            triangle(c, a, b, d + 1);
            triangle(c, a, d + 1, d);
        }
}

/// A square of two triangles of 0.1 m, and a small triangle that stands on its tip (vertex 4) high above it.
static cloth* tip_over_square(void)
{
    cloth* c = calloc(1, sizeof *c);
    put(c, 0, 0, 0, 0);
    put(c, 1, 0.1, 0, 0);
    put(c, 2, 0.1, 0.1, 0);
    put(c, 3, 0, 0.1, 0);
    triangle(c, 0, 1, 2);
    triangle(c, 0, 2, 3);
    put(c, 4, 0.07, 0.03, 0.5);
    put(c, 5, 0.07, 0.02, 0.7);
    put(c, 6, 0.07, 0.04, 0.7);
    triangle(c, 4, 5, 6);
    open_cloth(c, 1);
    return c;
}

static void move_tip(cloth* c, double x, double y, double z)
{
    const double way[3] = {x - c->rest[12], y - c->rest[13], z - c->rest[14]};
    for (int v = 4; v < 7; ++v)
        for (int k = 0; k < 3; ++k) c->x[3 * v + k] = c->rest[3 * v + k] + way[k];
}

static const flx_contact* only(cloth* c)
{
    const int32_t count = find(c);
    if (count != 1) fail_msg("%d contacts instead of one", count);
    check_row(c, c->out);
    return c->out;
}

static void a_vertex_finds_the_nearest_point_of_the_surface(void** state)
{
    (void)state;
    cloth* c = tip_over_square();
    assert_int_equal(find(c), 0); // far away
    move_tip(c, 0.07, 0.03, OFFSET + MARGIN + 1e-6);
    assert_int_equal(find(c), 0); // beyond the margin
    move_tip(c, 0.07, 0.03, 0.003);
    const flx_contact* k = only(c); // in the first triangle, by weights 0.3, 0.4, 0.3
    CHECK_NEAR(k->gap, 0.003 - OFFSET, 1e-15);
    CHECK_NEAR(k->normal[2], 1, 1e-15);
    assert_int_equal(k->vertex[0], 4);
    CHECK_NEAR(k->weight[1], -0.3, 1e-12);
    CHECK_NEAR(k->weight[2], -0.4, 1e-12);
    CHECK_NEAR(k->weight[3], -0.3, 1e-12);

    move_tip(c, 0.05, 0.05, 0.003); // over the edge between the two: one contact, not two
    CHECK_NEAR(only(c)->gap, 0.003 - OFFSET, 1e-15);
    move_tip(c, 0.11, 0.06, 0.003); // beside the rim
    k = only(c);
    CHECK_NEAR(k->gap, hypot(0.01, 0.003) - OFFSET, 1e-15);
    CHECK_NEAR(k->normal[0], 0.01 / hypot(0.01, 0.003), 1e-12);
    move_tip(c, 0.105, -0.003, 0.004); // beside a corner: each of the two vertices finds the other
    assert_int_equal(find(c), 2);
    for (int i = 0; i < 2; ++i)
    {
        check_row(c, &c->out[i]);
        CHECK_NEAR(c->out[i].gap, sqrt(25 + 9 + 16) * 1e-3 - OFFSET, 1e-15);
        assert_int_equal(c->out[i].vertex[0], i == 0 ? 1 : 4);
    }
    close_cloth(c);
}

static void a_vertex_that_went_through_is_still_on_its_side(void** state)
{
    (void)state;
    for (int deep = 0; deep < 3; ++deep)
    {
        const double depth = (const double[]){0.001, 0.02, 0.15}[deep]; // below the offset, the depth, far
        cloth*       c     = tip_over_square();
        move_tip(c, 0.07, 0.03, 0.003);
        memcpy(c->from, c->x, sizeof c->x);
        move_tip(c, 0.02, 0.03, -depth); // passes the first triangle, ends under the second
        const flx_contact* k = only(c);
        CHECK_NEAR(k->gap, -depth - OFFSET, 1e-14);
        CHECK_NEAR(k->normal[2], 1, 1e-12);
        close_cloth(c);
    }
}

static void a_wrong_side_is_remembered_until_it_is_left_or_too_far(void** state)
{
    (void)state;
    cloth* c = tip_over_square();
    move_tip(c, 0.07, 0.03, 0.003);
    settle(c);
    assert_int_equal(remembered(c), 0); // nothing to remember on the right side
    move_tip(c, 0.07, 0.03, -0.002);
    settle(c);
    assert_int_equal(remembered(c), 1);
    for (int k = 0; k < 4; ++k) // it slides along below
    {
        move_tip(c, 0.06 - 0.01 * k, 0.03, -0.005);
        CHECK_NEAR(only(c)->gap, -0.005 - OFFSET, 1e-14);
        CHECK_NEAR(c->out[0].normal[2], 1, 1e-12);
        settle(c);
        assert_int_equal(remembered(c), 1);
    }
    move_tip(c, 0.03, 0.03, 0.001); // back
    CHECK_NEAR(only(c)->gap, 0.001 - OFFSET, 1e-14);
    settle(c);
    assert_int_equal(remembered(c), 0);

    move_tip(c, 0.03, 0.03, -0.9 * DEPTH);
    settle(c);
    assert_int_equal(remembered(c), 1);
    move_tip(c, 0.03, 0.03, -1.1 * DEPTH); // given up: from now on it is below
    assert_int_equal(find(c), 0);
    settle(c);
    assert_int_equal(remembered(c), 0);
    move_tip(c, 0.03, 0.03, -0.003);
    CHECK_NEAR(only(c)->normal[2], -1, 1e-12);
    close_cloth(c);
}

static void a_vertex_may_go_round_the_rim(void** state)
{
    (void)state;
    cloth* c = tip_over_square();
    for (int k = 0; k <= 20; ++k) // half a turn around the rim at x = 0.1
    {
        const double angle = M_PI * k / 20;
        move_tip(c, 0.1 + 0.006 * sin(angle), 0.06, 0.006 * cos(angle));
        CHECK_NEAR(only(c)->gap, 0.006 - OFFSET, 1e-14); // always pushed away from the rim
        settle(c);
    }
    move_tip(c, 0.08, 0.06, -0.006);
    const flx_contact* k = only(c);
    CHECK_NEAR(k->gap, 0.006 - OFFSET, 1e-14);
    CHECK_NEAR(k->normal[2], -1, 1e-12);
    assert_int_equal(remembered(c), 0);
    close_cloth(c);
}

static void the_two_faces_of_a_vertex_have_contacts_of_their_own(void** state)
{
    (void)state;
    cloth* c = calloc(1, sizeof *c);
    for (int layer = 0; layer < 3; ++layer) sheet(c, 4, 4, 0.1, 0.1 * layer);
    open_cloth(c, 1);
    for (int v = 0; v < 75; ++v) c->x[3 * v + 2] = 0.003 * (v / 25); // shifted, so that no vertex is over another one
    for (int v = 25; v < 50; ++v) c->x[3 * v] += 0.03, c->x[3 * v + 1] += 0.01;
    memcpy(c->from, c->x, sizeof c->x);
    const int32_t count = find(c);
    int           up = 0, down = 0;
    for (int32_t i = 0; i < count; ++i)
    {
        const flx_contact* k = &c->out[i];
        check_row(c, k);
        if (k->proxy >= 75 * FLX_CLOTH_PARTNERS) fail_msg("flat layers have no ridges");
        if (k->vertex[0] / 25 != 1) continue;
        CHECK_BELOW(k->gap, MARGIN);
        up += k->normal[2] > 0.5;
        down += k->normal[2] < -0.5;
    }
    assert_int_equal(up, 16); // 4 x 4 lie over the lower sheet; the outer ones see its rim from aside
    assert_int_equal(down, 16);
    close_cloth(c);
}

/// No pair that a bent sheet does not have pushes.
static void gentle_bends_push_nothing(void** state)
{
    (void)state;
    const double h = 0.02;
    for (int thick = 0; thick < 2; ++thick) // offset: a fifth of an edge, or two edges
        for (int bend = 0; bend < 3; ++bend)
        {
            cloth*       c      = calloc(1, sizeof *c);
            uint64_t     seed   = 5;
            const double radius = (const double[]){1e6, 10, 4}[bend] * h;
            sheet(c, 12, 12, thick ? OFFSET / 2 : h, 0);
            open_cloth(c, 2);
            for (int32_t v = 0; v < c->vertex_count; ++v)
            {
                const double* r    = c->rest + 3 * v;
                const double  size = thick ? 0.1 * radius : radius, angle = r[0] / size;
                c->x[3 * v]     = size * sin(angle) + 0.05 * (thick ? 0.002 : h) * (test_random(&seed) - 0.5);
                c->x[3 * v + 1] = 0.9 * r[1]; // and pressed together
                c->x[3 * v + 2] = size * (1 - cos(angle));
            }
            memcpy(c->from, c->x, sizeof c->x);
            const int32_t count = find(c);
            for (int32_t i = 0; i < count; ++i)
                if (!(c->out[i].gap > 0)) fail_msg("radius %g: contact of %g m", radius, c->out[i].gap);
            close_cloth(c);
        }
}

static void layers_that_lie_close_at_rest_do_not_push(void** state)
{
    (void)state;
    cloth* c = calloc(1, sizeof *c);
    sheet(c, 4, 4, 0.1, 0);
    sheet(c, 4, 4, 0.1, 0.003); // nearer than the offset
    sheet(c, 4, 4, 0.1, 0.003); // and sewn on
    open_cloth(c, 1);
    const int32_t count = find(c);
    assert_true(count > 0);
    for (int32_t i = 0; i < count; ++i)
    {
        check_row(c, &c->out[i]);
        CHECK_NEAR(c->out[i].gap, 0.001, 1e-7); // m: a third of the distance at rest
    }
    close_cloth(c);
}

/// Two roofs across each other, ridge against ridge; only their ridges are near.
static cloth* two_roofs(void)
{
    cloth* c = calloc(1, sizeof *c);
    put(c, 0, -0.1, 0, 0);
    put(c, 1, 0.1, 0, 0);
    put(c, 2, 0, -0.05, -0.05);
    put(c, 3, 0, 0.05, -0.05);
    triangle(c, 0, 1, 2);
    triangle(c, 1, 0, 3);
    put(c, 4, 0.02, -0.1, 0.5);
    put(c, 5, 0.02, 0.1, 0.5);
    put(c, 6, -0.03, 0, 0.55);
    put(c, 7, 0.07, 0, 0.55);
    triangle(c, 4, 5, 6);
    triangle(c, 5, 4, 7);
    open_cloth(c, 1);
    return c;
}

static void ridges_meet_where_no_vertex_is_near(void** state)
{
    (void)state;
    cloth* c = two_roofs();
    for (int v = 4; v < 8; ++v) c->x[3 * v + 2] -= 0.498;
    const flx_contact* k = only(c);
    CHECK_NEAR(k->gap, 0.002 - OFFSET, 1e-15);
    CHECK_NEAR(fabs(k->normal[2]), 1, 1e-15);
    memcpy(c->from, c->x, sizeof c->x);
    for (int v = 4; v < 8; ++v) c->x[3 * v + 2] -= 0.003; // through
    CHECK_NEAR(only(c)->gap, -0.001 - OFFSET, 1e-15);
    memcpy(c->from, c->rest, sizeof c->x); // and from far above
    CHECK_NEAR(only(c)->gap, -0.001 - OFFSET, 1e-15);
    close_cloth(c);
}

static void passing_is_found_at_its_times(void** state)
{
    (void)state;
    // z of the fourth point less the plane's: (t - 0.2) (t - 0.5) (t - 0.7) has degree 3; made of a linear way it has 1
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, d[3] = {0, 1, 0}, above[3] = {0.2, 0.2, 0.3},
                 below[3] = {0.2, 0.2, -0.7};
    double              time[3];
    const double *const from[4] = {a, b, d, above}, *const to[4] = {a, b, d, below};
    assert_int_equal(flx__coplanar_times(from, to, time), 1);
    CHECK_NEAR(time[0], 0.3, 1e-14);
    assert_int_equal(flx__coplanar_times(from, from, time), 0);

    // three times: the volume's cubic, sampled, changes its sign as often as times are given, and there
    uint64_t seed  = 3;
    int      three = 0;
    for (int trial = 0; trial < 5000; ++trial)
    {
        double        p[8][3];
        const double *u[4], *v[4];
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < 3; ++k) p[i][k] = test_random(&seed) - 0.5;
        for (int i = 0; i < 4; ++i) u[i] = p[i], v[i] = p[i + 4];
        const int count = flx__coplanar_times(u, v, time);
        three += count == 3;
        double before  = 0;
        int    changes = 0;
        for (int s = 0; s <= 200; ++s)
        {
            double e[4][3], n[3];
            for (int i = 0; i < 4; ++i)
                for (int k = 0; k < 3; ++k) e[i][k] = u[i][k] + s / 200.0 * (v[i][k] - u[i][k]);
            for (int i = 1; i < 4; ++i) flx__sub3(e[i], e[0], e[i]);
            flx__cross3(e[2], e[3], n);
            const double volume = flx__dot3(e[1], n);
            if (s > 0 && (volume < 0) != (before < 0))
            {
                bool listed = false;
                for (int i = 0; i < count; ++i)
                    listed = listed || (time[i] > (s - 1) / 200.0 - 1e-9 && time[i] < s / 200.0 + 1e-9);
                assert_true(listed);
                ++changes;
            }
            before = volume;
        }
        assert_true(count >= changes && (count - changes) % 2 == 0); // two within one sample are not seen
    }
    assert_true(three > 5);
}

/// Nearest points against a fine sampling of the triangle.
static void nearest_points_of_triangles_are_nearest(void** state)
{
    (void)state;
    uint64_t seed = 9;
    for (int trial = 0; trial < 2000; ++trial)
    {
        double        v[3][3], p[3], w[3], y[3] = {0};
        const double* c[3] = {v[0], v[1], v[2]};
        for (int k = 0; k < 3; ++k)
        {
            p[k] = 2 * test_random(&seed) - 1;
            for (int i = 0; i < 3; ++i) v[i][k] = test_random(&seed);
            if (trial % 10 == 0) v[2][k] = v[1][k]; // flat ones, too
        }
        const double distance = flx__triangle_nearest(p, c, w);
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) y[k] += w[i] * v[i][k];
        CHECK_NEAR(w[0] + w[1] + w[2], 1, 1e-12);
        CHECK_NEAR(flx__distance3(p, y), distance, 1e-9); // a needle's weights are as good as its area
        for (int i = 0; i <= 20; ++i)
            for (int j = 0; j <= 20 - i; ++j)
            {
                for (int k = 0; k < 3; ++k) y[k] = (i * v[0][k] + j * v[1][k] + (20 - i - j) * v[2][k]) / 20;
                assert_true(flx__distance3(p, y) >= distance - 1e-9);
            }
    }
}

static void same_bits_for_any_number_of_workers(void** state)
{
    (void)state;
    uint64_t first = 0;
    for (int32_t workers = 1; workers <= 8; workers = workers == 3 ? 8 : workers + 1)
    {
        cloth*   c    = calloc(1, sizeof *c);
        uint64_t seed = 1, hash = FLX_HASH_START;
        for (int layer = 0; layer < 4; ++layer) sheet(c, 20, 20, 0.02, 0.01 * layer);
        open_cloth(c, workers);
        int32_t count = 0, kept = 0;
        for (int step = 0; step < 3; ++step)
        {
            for (int k = 0; k < 3 * c->vertex_count; ++k) c->x[k] = c->from[k] + 0.02 * (test_random(&seed) - 0.5);
            count = find(c);
            for (int32_t i = 0; i < count; ++i)
            {
                check_row(c, &c->out[i]);
                hash = flx__hash(hash, &c->out[i].proxy, sizeof(int32_t));
                hash = flx__hash(hash, c->out[i].weight, sizeof c->out[i].weight);
                hash = flx__hash(hash, &c->out[i].gap, sizeof(double));
            }
            settle(c);
            kept = remembered(c);
            hash = flx__hash(hash, c->memory, 8 * flx__cloth_contact_memory(c->contact));
        }
        assert_true(count > 1000 && kept > 100);
        if (workers == 1) first = hash;
        assert_true(hash == first);
        close_cloth(c);
    }
}

/// Vertices and edges that were clear are not searched again at once: one that has a history finds what a new one
/// finds.
static void searches_left_out_would_have_found_nothing(void** state)
{
    (void)state;
    cloth*   c    = calloc(1, sizeof *c);
    uint64_t seed = 4;
    for (int layer = 0; layer < 2; ++layer) sheet(c, 12, 12, 0.02, 0.03 * layer);
    open_cloth(c, 2);
    flx_contact* out     = malloc(sizeof(flx_contact) * (size_t)c->desc.proxy_count);
    int32_t      touched = 0, quiet = 0;
    for (int step = 0; step < 60; ++step)
    {
        flx__cloth_contact_begin(c->contact, c->from);
        for (int inner = 0; inner < 4; ++inner)
        {
            flx_context*       ctx = c->ctx;
            flx_cloth_contact* other;
            for (int32_t v = 0; v < c->vertex_count; ++v) // it ripples and falls; the layers meet, pass and part
                for (int k = 0; k < 3; ++k)
                    c->x[3 * v + k] = (inner == 0 ? c->from : c->x)[3 * v + k] + 0.001 * (test_random(&seed) - 0.5) -
                                      (k == 2 && inner == 0 ? 0.002 + (v < 169 ? 0 : 0.001) : 0);
            CHECK_OK(flx__cloth_contact_create(ctx, &c->desc, &other));
            flx__cloth_contact_begin(other, c->from);
            const int32_t count = flx__cloth_contact_find(c->contact, c->x, c->memory, c->out);
            assert_int_equal(flx__cloth_contact_find(other, c->x, c->memory, out), count);
            for (int32_t i = 0; i < count; ++i)
            {
                assert_int_equal(c->out[i].proxy, out[i].proxy);
                assert_memory_equal(c->out[i].weight, out[i].weight, sizeof out[i].weight);
                assert_memory_equal(c->out[i].normal, out[i].normal, sizeof out[i].normal);
                assert_true(c->out[i].gap == out[i].gap);
            }
            touched += count;
            quiet += count == 0;
            flx__cloth_contact_destroy(other);
        }
        flx__cloth_contact_settle(c->contact, c->x, c->memory);
        memcpy(c->from, c->x, sizeof c->x);
    }
    assert_true(touched > 1000 && quiet > 20);
    free(out);
    close_cloth(c);
}

static void finding_allocates_nothing_and_stands_numbers_that_are_none(void** state)
{
    (void)state;
    cloth*   c    = calloc(1, sizeof *c);
    uint64_t seed = 2;
    for (int layer = 0; layer < 3; ++layer) sheet(c, 10, 10, 0.02, 0.01 * layer);
    open_cloth(c, 2);
    const int64_t count = flx_context_allocation_count(c->ctx);
    for (int trial = 0; trial < 20; ++trial)
    {
        const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e39, 1e30};
        for (int k = 0; k < 3 * c->vertex_count; ++k) c->x[k] = c->rest[k] * 0.4;
        for (int k = 0; k < 20; ++k) c->x[(int32_t)(test_random(&seed) * 3 * c->vertex_count)] = bad[k % 6];
        const int32_t found = find(c);
        assert_true(found > 50); // the others are still seen
        for (int32_t i = 0; i < found; ++i)
        {
            assert_true(isfinite(c->out[i].gap));
            CHECK_NEAR(flx__norm3(c->out[i].normal), 1, 1e-12);
        }
        flx__cloth_contact_settle(c->contact, c->x, c->memory);
    }
    assert_true(flx_context_allocation_count(c->ctx) == count);
    close_cloth(c);
}

static void a_failed_allocation_leaves_nothing_behind(void** state)
{
    (void)state;
    cloth*             c = tip_over_square();
    flx_cloth_contact* other;
    const int64_t      bytes  = flx_context_bytes_now(c->ctx);
    flx_status         status = FLX_ERR_MEMORY;
    for (int64_t n = 0; status == FLX_ERR_MEMORY; ++n)
    {
        assert_true(n < 100);
        other = (void*)1;
        flx_context_fail_allocation(c->ctx, n);
        status = flx__cloth_contact_create(c->ctx, &c->desc, &other);
        flx_context_fail_allocation(c->ctx, -1);
        if (status == FLX_OK) break;
        assert_null(other);
        assert_int_equal(flx_context_bytes_now(c->ctx), bytes);
    }
    assert_int_equal(status, FLX_OK);
    flx__cloth_contact_destroy(other);
    close_cloth(c);
}

static void surfaces_without_two_sides_are_refused(void** state)
{
    (void)state;
    flx_context*       ctx = test_context(1);
    flx_cloth_topology top;
    const int32_t      book[] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    CHECK_FAILS(flx__cloth_topology_create(ctx, 5, 3, book, "gown", 0, &top), FLX_ERR_MESH);
    assert_string_equal(flx_context_error(ctx), "gown: three triangles meet at the edge between vertices 1 and 2; "
                                                "cloth that touches itself must have at most two there");
    flx__cloth_topology_release(ctx, &top);
    const int32_t strip[] = {0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5, 4, 5, 1, 1, 5, 0}; // its end is turned over
    CHECK_FAILS(flx__cloth_topology_create(ctx, 6, 6, strip, "gown", 0, &top), FLX_ERR_MESH);
    assert_non_null(strstr(flx_context_error(ctx), "has one side only"));
    flx__cloth_topology_release(ctx, &top);

    const int32_t flipped[] = {0, 1, 2, 0, 3, 2}; // told in any order, it is turned
    CHECK_OK(flx__cloth_topology_create(ctx, 4, 2, flipped, "gown", 0, &top));
    assert_int_equal(top.edge_count, 5);
    assert_int_equal(top.corner[3 + 1], 2);
    flx__cloth_topology_release(ctx, &top);
    assert_int_equal(flx_context_bytes_now(ctx), 0);
    flx_context_destroy(ctx);
}

static void bad_numbers_are_refused(void** state)
{
    (void)state;
    cloth*                       c    = tip_over_square();
    flx_context*                 ctx  = c->ctx;
    const flx_cloth_contact_desc good = c->desc;
    flx_cloth_contact*           other;
    c->desc.offset = 0;
    CHECK_FAILS(flx__cloth_contact_create(ctx, &c->desc, &other), FLX_ERR_SETTING);
    c->desc        = good;
    c->desc.margin = NAN;
    CHECK_FAILS(flx__cloth_contact_create(ctx, &c->desc, &other), FLX_ERR_SETTING);
    c->desc             = good;
    c->desc.proxy_count = 1;
    CHECK_FAILS(flx__cloth_contact_create(ctx, &c->desc, &other), FLX_ERR_ARGUMENT);
    c->desc              = good;
    c->desc.vertex_count = 6;
    CHECK_FAILS(flx__cloth_contact_create(ctx, &c->desc, &other), FLX_ERR_ARGUMENT);
    close_cloth(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vertex_finds_the_nearest_point_of_the_surface),
        cmocka_unit_test(a_vertex_that_went_through_is_still_on_its_side),
        cmocka_unit_test(a_wrong_side_is_remembered_until_it_is_left_or_too_far),
        cmocka_unit_test(a_vertex_may_go_round_the_rim),
        cmocka_unit_test(the_two_faces_of_a_vertex_have_contacts_of_their_own),
        cmocka_unit_test(gentle_bends_push_nothing),
        cmocka_unit_test(layers_that_lie_close_at_rest_do_not_push),
        cmocka_unit_test(ridges_meet_where_no_vertex_is_near),
        cmocka_unit_test(passing_is_found_at_its_times),
        cmocka_unit_test(nearest_points_of_triangles_are_nearest),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(searches_left_out_would_have_found_nothing),
        cmocka_unit_test(finding_allocates_nothing_and_stands_numbers_that_are_none),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(surfaces_without_two_sides_are_refused),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
