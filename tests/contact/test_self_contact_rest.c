#include "block_body.h"

#include "flexor/mesh.h"
#include "mesh/mesh_internal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_at_rest_are_reported),
        cmocka_unit_test(parts_that_touch_at_rest_have_finite_normals_and_resist),
        cmocka_unit_test(parts_that_overlap_at_rest_stay_as_they_are_and_resist_going_deeper),
        cmocka_unit_test(lips_that_overlap_at_rest_are_reported_and_do_not_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
