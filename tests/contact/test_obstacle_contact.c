#include "test.h"

#include "contact/contact.h"
#include "flexor/mesh.h"
#include "math/mat3.h"

// Proxies in one large tet: the corners of the unit simplex scaled by 2 m and moved, so that every weight is used.
enum
{
    PROXIES = 700
};
static const double tet_x[4][3] = {{-1, -1, -1}, {1.5, -1, -1}, {-1, 1.5, -1}, {-1, -1, 1.5}};

typedef struct cloud
{
    double      x[4][3];
    flx_proxy   proxy[PROXIES];
    int32_t     scratch[PROXIES];
    flx_contact out[PROXIES];
} cloud;

static void cloud_make(cloud* c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    memcpy(c->x, tet_x, sizeof tet_x);
    for (int i = 0; i < PROXIES; ++i)
    {
        double sum = 0;
        for (int k = 0; k < 4; ++k)
        {
            c->proxy[i].vertex[k] = k;
            c->proxy[i].weight[k] = test_random(&seed);
            sum += c->proxy[i].weight[k];
        }
        for (int k = 0; k < 4; ++k) c->proxy[i].weight[k] /= sum;
    }
}

static void place(const cloud* c, int32_t i, double p[3])
{
    for (int k = 0; k < 3; ++k)
    {
        p[k] = 0;
        for (int v = 0; v < 4; ++v) p[k] += c->proxy[i].weight[v] * c->x[v][k];
    }
}

static flx_obstacle_pose pose_about(double x, double y, double z, double angle)
{
    // about the axis (1, 2, 2) / 3
    const double      u[3] = {1.0 / 3, 2.0 / 3, 2.0 / 3}, c = cos(angle), s = sin(angle);
    flx_obstacle_pose p        = {.t = {x, y, z}};
    const double      cross[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) p.R[3 * i + j] = (i == j ? c : 0) + (1 - c) * u[i] * u[j] + s * cross[3 * i + j];
    return p;
}

// --- analytic distances, written anew ------------------------------------------------------------------------

typedef double (*distance_fn)(const flx_shape* s, const double q[3], double n[3]);

static double away(const double q[3], const double c[3], double radius, double n[3])
{
    flx__sub3(q, c, n);
    const double d = flx__norm3(n);
    for (int k = 0; k < 3; ++k) n[k] /= d;
    return d - radius;
}

static double plane_distance(const flx_shape* s, const double q[3], double n[3])
{
    double d[3];
    flx__sub3(q, s->a, d);
    memcpy(n, s->b, 3 * sizeof(double));
    return flx__dot3(d, n);
}

static double sphere_distance(const flx_shape* s, const double q[3], double n[3])
{
    return away(q, s->a, s->radius, n);
}

static double capsule_distance(const flx_shape* s, const double q[3], double n[3])
{
    double ab[3], aq[3], c[3];
    flx__sub3(s->b, s->a, ab);
    flx__sub3(q, s->a, aq);
    const double t = fmax(0, fmin(1, flx__dot3(ab, aq) / flx__dot3(ab, ab)));
    for (int k = 0; k < 3; ++k) c[k] = s->a[k] + t * ab[k];
    return away(q, c, s->radius, n);
}

static double box_distance(const flx_shape* s, const double q[3], double n[3])
{
    double c[3], depth = INFINITY;
    int    axis = 0, side = 0;
    bool   inside = true;
    for (int k = 0; k < 3; ++k)
    {
        c[k] = fmax(s->a[k], fmin(s->b[k], q[k]));
        if (c[k] != q[k]) inside = false;
        if (q[k] - s->a[k] < depth) depth = q[k] - s->a[k], axis = k, side = -1;
        if (s->b[k] - q[k] < depth) depth = s->b[k] - q[k], axis = k, side = 1;
    }
    if (!inside) return away(q, c, 0, n);
    n[0] = n[1] = n[2] = 0;
    n[axis]            = side;
    return -depth;
}

static void agrees(const flx_shape* shape, distance_fn distance, double margin, double offset, double tolerance)
{
    flx_context* ctx   = test_context(2);
    flx_solid*   solid = NULL;
    cloud        c;
    cloud_make(&c, 3);
    CHECK_OK(flx__solid_create(ctx, shape, &solid));
    for (int move = 0; move < 8; ++move)
    {
        const flx_obstacle_pose pose = pose_about(0.05 * move, -0.03 * move, 0.02 * move, 0.4 * move);
        const int32_t           count =
            flx__obstacle_contacts(ctx, solid, &pose, 5, PROXIES, c.proxy, c.x[0], margin, offset, c.scratch, c.out);
        int32_t next = 0, inside = 0;
        for (int32_t i = 0; i < PROXIES; ++i)
        {
            double p[3], q[3], d[3], n[3], world[3];
            place(&c, i, p);
            flx__sub3(p, pose.t, d);
            for (int k = 0; k < 3; ++k) q[k] = pose.R[k] * d[0] + pose.R[3 + k] * d[1] + pose.R[6 + k] * d[2];
            const double gap = distance(shape, q, n) - offset;
            const bool   has = next < count && c.out[next].proxy == i;
            if (fabs(gap - margin) > tolerance) assert_true(has == (gap < margin));
            if (!has) continue;

            const flx_contact* k = &c.out[next++];
            assert_int_equal(k->obstacle, 5);
            assert_int_equal(k->partner, -1);
            if (fabs(gap) < margin + tolerance)
                CHECK_NEAR(k->gap, gap, tolerance); // a mesh's band is exact, its depths are not
            flx__apply3(pose.R, n, world);
            double sum = 0, apart[3];
            for (int v = 0; v < 4; ++v) sum += k->weight[v];
            CHECK_NEAR(sum, 1, 1e-12);
            for (int v = 4; v < FLX_CONTACT_CORNERS; ++v) assert_true(k->vertex[v] == -1 && k->weight[v] == 0);
            flx__sub3(p, k->target, apart);
            CHECK_NEAR(flx__dot3(apart, k->normal), k->gap, 1e-12);
            CHECK_NEAR(flx__norm3(k->normal), 1, 1e-12);
            if (tolerance < 1e-6) CHECK_NEAR(flx__dot3(world, k->normal), 1, 1e-9);
            if (tolerance < 1e-6) // the target is on the surface grown by the offset
            {
                double m[3];
                flx__sub3(k->target, pose.t, d);
                for (int a = 0; a < 3; ++a) q[a] = pose.R[a] * d[0] + pose.R[3 + a] * d[1] + pose.R[6 + a] * d[2];
                CHECK_NEAR(distance(shape, q, m), offset, 1e-9);
            }
            inside += k->gap < 0;
        }
        assert_int_equal(next, count);
        assert_true(inside > 5 && count > inside);
    }
    flx__solid_destroy(solid);
    flx_context_destroy(ctx);
}

static const flx_shape plane   = {.kind = FLX_SHAPE_PLANE, .a = {0, 0, -0.4}, .b = {0.6, 0, 0.8}};
static const flx_shape sphere  = {.kind = FLX_SHAPE_SPHERE, .a = {-0.3, -0.4, -0.3}, .radius = 0.35};
static const flx_shape capsule = {
    .kind = FLX_SHAPE_CAPSULE, .a = {-0.7, -0.5, -0.5}, .b = {0.2, -0.3, -0.4}, .radius = 0.25};
static const flx_shape box = {.kind = FLX_SHAPE_BOX, .a = {-0.6, -0.7, -0.6}, .b = {0.1, 0.1, 0}};

static void gaps_normals_and_targets_are_exact_on_a_plane(void** state)
{
    (void)state;
    agrees(&plane, plane_distance, 0.15, 0, 1e-12);
    agrees(&plane, plane_distance, 0.15, 0.05, 1e-12);
}

static void gaps_normals_and_targets_are_exact_on_a_sphere(void** state)
{
    (void)state;
    agrees(&sphere, sphere_distance, 0.15, 0, 1e-12);
    agrees(&sphere, sphere_distance, 0.15, 0.05, 1e-12);
}

static void gaps_normals_and_targets_are_exact_on_a_capsule(void** state)
{
    (void)state;
    agrees(&capsule, capsule_distance, 0.15, 0, 1e-12);
    agrees(&capsule, capsule_distance, 0.15, 0.05, 1e-12);
}

static void gaps_normals_and_targets_are_exact_on_a_box(void** state)
{
    (void)state;
    agrees(&box, box_distance, 0.15, 0, 1e-12);
    // outside an edge the grown surface is round, inside it is the box: gaps agree, and targets with them
    agrees(&box, box_distance, 0.15, 0.05, 1e-12);
}

/// The box as a file of twelve triangles, in a folder of the test's own.
static void gaps_are_right_to_a_quarter_of_a_cell_on_a_mesh(void** state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/flexor-obstacle-XXXXXX.obj", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    FILE* file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    for (int v = 0; v < 8; ++v)
        fprintf(file, "v %g %g %g\n", v & 1 ? box.b[0] : box.a[0], v & 2 ? box.b[1] : box.a[1],
                v & 4 ? box.b[2] : box.a[2]);
    static const int quad[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5}, {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    for (int f = 0; f < 6; ++f) fprintf(file, "f %d %d %d %d\n", quad[f][0], quad[f][1], quad[f][2], quad[f][3]);
    fclose(file);

    flx_shape mesh = {.kind = FLX_SHAPE_MESH, .path = path, .scale = 1, .cell = 0.02};
    for (int k = 0; k < 3; ++k)
        mesh.a[k] = box.a[k], mesh.b[k] = box.b[k]; // for box_distance; a mesh has no use for it
    // interpolation rounds off the ridges where two faces are equally near
    agrees(&mesh, box_distance, 0.03, 0, 0.25 * mesh.cell);
    agrees(&mesh, box_distance, 0.03, 0.01, 0.25 * mesh.cell);
    unlink(path);
}

static void far_obstacles_give_nothing(void** state)
{
    (void)state;
    flx_context* ctx   = test_context(2);
    flx_solid*   solid = NULL;
    cloud        c;
    cloud_make(&c, 9);
    CHECK_OK(flx__solid_create(ctx, &sphere, &solid));
    const flx_obstacle_pose pose = pose_about(50, 0, 0, 1);
    assert_int_equal(
        flx__obstacle_contacts(ctx, solid, &pose, 0, PROXIES, c.proxy, c.x[0], 1.0, 0.01, c.scratch, c.out), 0);
    assert_int_equal(flx__obstacle_contacts(ctx, solid, &pose, 0, 0, c.proxy, c.x[0], 1.0, 0.01, c.scratch, c.out), 0);
    flx__solid_destroy(solid);
    flx_context_destroy(ctx);
}

static void positions_that_are_not_numbers_give_no_contacts(void** state)
{
    (void)state;
    flx_context*            ctx   = test_context(2);
    const flx_obstacle_pose pose  = pose_about(0, 0, 0, 0);
    const flx_shape*        all[] = {&plane, &sphere, &capsule, &box};
    for (int s = 0; s < 4; ++s)
    {
        flx_solid* solid = NULL;
        cloud      c;
        cloud_make(&c, 9);
        c.x[2][1] = NAN;
        CHECK_OK(flx__solid_create(ctx, all[s], &solid));
        assert_int_equal(
            flx__obstacle_contacts(ctx, solid, &pose, 0, PROXIES, c.proxy, c.x[0], 1.0, 0.0, c.scratch, c.out), 0);
        flx__solid_destroy(solid);
    }
    flx_context_destroy(ctx);
}

static void same_bits_for_any_number_of_workers_and_no_heap(void** state)
{
    (void)state;
    static const int32_t workers[] = {1, 2, 3, 8};
    static flx_contact   first[PROXIES];
    int32_t              first_count = 0;
    for (int w = 0; w < 4; ++w)
    {
        flx_context* ctx   = test_context(workers[w]);
        flx_solid*   solid = NULL;
        cloud        c;
        cloud_make(&c, 21);
        CHECK_OK(flx__solid_create(ctx, &capsule, &solid));
        const flx_obstacle_pose pose        = pose_about(0.1, 0, 0, 0.3);
        const int64_t           allocations = flx_context_allocation_count(ctx);
        const int32_t           count =
            flx__obstacle_contacts(ctx, solid, &pose, 0, PROXIES, c.proxy, c.x[0], 0.2, 0.01, c.scratch, c.out);
        assert_int_equal(flx_context_allocation_count(ctx), allocations);
        assert_true(count > 50 && count < PROXIES);
        if (w == 0)
        {
            first_count = count;
            memcpy(first, c.out, sizeof first);
        }
        assert_int_equal(count, first_count);
        for (int32_t i = 0; i < count; ++i)
        {
            assert_int_equal(c.out[i].proxy, first[i].proxy);
            assert_memory_equal(&c.out[i].gap, &first[i].gap, sizeof first[i].gap);
            assert_memory_equal(c.out[i].normal, first[i].normal, sizeof first[i].normal);
            assert_memory_equal(c.out[i].target, first[i].target, sizeof first[i].target);
            assert_memory_equal(c.out[i].weight, first[i].weight, sizeof first[i].weight);
        }
        flx__solid_destroy(solid);
        flx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_normals_and_targets_are_exact_on_a_plane),
        cmocka_unit_test(gaps_normals_and_targets_are_exact_on_a_sphere),
        cmocka_unit_test(gaps_normals_and_targets_are_exact_on_a_capsule),
        cmocka_unit_test(gaps_normals_and_targets_are_exact_on_a_box),
        cmocka_unit_test(gaps_are_right_to_a_quarter_of_a_cell_on_a_mesh),
        cmocka_unit_test(far_obstacles_give_nothing),
        cmocka_unit_test(positions_that_are_not_numbers_give_no_contacts),
        cmocka_unit_test(same_bits_for_any_number_of_workers_and_no_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
