// The rasteriser and the pictures made with it.
#include "test.h"

#include "recording/raster.h"

#include <png.h>

#define SIDE 64

/// Parallel view down the z axis: one pixel is 1 m, pixel (x, y) has its centre at (x + 0.5, y + 0.5), y down.
static flx_raster_view flat_view(int32_t side)
{
    const double from[3] = {0.5 * side, -0.5 * side, 10}, at[3] = {0.5 * side, -0.5 * side, 0}, up[3] = {0, 1, 0};
    return flx__raster_look(from, at, up, side, true, side, side);
}

static flx_raster_buffer draw(flx_context* ctx, const flx_raster_view* view, int32_t vertices, const float* x,
                              int32_t triangles, const int32_t* triangle)
{
    flx_raster_buffer  b;
    flx_raster_corner* corner = malloc(sizeof *corner * (size_t)(vertices + 1));
    CHECK_OK(flx__raster_buffer_create(ctx, view->width, view->height, &b));
    CHECK_OK(flx__raster_triangles(ctx, view, vertices, x, triangles, triangle, corner, &b));
    free(corner);
    return b;
}

static void a_triangle_covers_exactly_the_pixels_whose_centres_lie_inside(void** state)
{
    (void)state;
    flx_context*          ctx         = test_context(1);
    const float           x[]         = {3.2f, -5.1f, 0, 50.7f, -20.3f, 0, 17.9f, -60.2f, 0};
    const int32_t         triangle[3] = {0, 1, 2};
    const flx_raster_view view        = flat_view(SIDE);
    flx_raster_buffer     b           = draw(ctx, &view, 3, x, 1, triangle);
    for (int32_t py = 0; py < SIDE; ++py)
        for (int32_t px = 0; px < SIDE; ++px)
        {
            const double cx = px + 0.5, cy = -(py + 0.5);
            int          left    = 0;
            double       nearest = 1e9;
            for (int i = 0; i < 3; ++i)
            {
                const float *a = x + 3 * i, *c = x + 3 * ((i + 1) % 3);
                const double e = (c[0] - a[0]) * (cy - a[1]) - (c[1] - a[1]) * (cx - a[0]);
                left += e > 0;
                nearest = fmin(nearest, fabs(e) / hypot(c[0] - a[0], c[1] - a[1]));
            }
            if (nearest < 0.005) continue; // corners are snapped to 1/256 pixel
            assert_int_equal(b.triangle[py * SIDE + px] == 0, left == 0 || left == 3);
        }
    flx__raster_buffer_release(ctx, &b);
    flx_context_destroy(ctx);
}

static void triangles_that_share_edges_leave_no_hole_and_no_overlap(void** state)
{
    (void)state;
    // a fan around a pixel centre, with corners on pixel centres too: every pixel inside exactly one triangle
    flx_context* ctx      = test_context(1);
    float        x[3 * 9] = {32.5f, -32.5f, 0};
    int32_t      triangle[3 * 8];
    const float  ring[8][2] = {{4.5f, -4.5f},   {32.5f, -4.5f},  {60.5f, -4.5f}, {60.5f, -32.5f},
                               {60.5f, -60.5f}, {32.5f, -60.5f}, {4.5f, -60.5f}, {4.5f, -32.5f}};
    for (int i = 0; i < 8; ++i)
    {
        x[3 * (i + 1)]     = ring[i][0];
        x[3 * (i + 1) + 1] = ring[i][1];
        x[3 * (i + 1) + 2] = 0;
        triangle[3 * i] = 0, triangle[3 * i + 1] = i + 1, triangle[3 * i + 2] = (i + 1) % 8 + 1;
    }
    const flx_raster_view view                 = flat_view(SIDE);
    int                   covered[SIDE * SIDE] = {0};
    for (int i = 0; i < 8; ++i)
    {
        flx_raster_buffer b = draw(ctx, &view, 9, x, 1, triangle + 3 * i);
        for (int k = 0; k < SIDE * SIDE; ++k) covered[k] += b.triangle[k] == 0;
        flx__raster_buffer_release(ctx, &b);
    }
    int total = 0;
    for (int k = 0; k < SIDE * SIDE; ++k)
    {
        assert_true(covered[k] <= 1);
        total += covered[k];
    }
    assert_int_equal(total, 56 * 56); // 4.5 .. 60.5: top and left edges belong to it, bottom and right ones do not
    flx_context_destroy(ctx);
}

static void the_nearer_triangle_wins_whatever_the_order(void** state)
{
    (void)state;
    flx_context*          ctx          = test_context(2);
    const float           x[]          = {0, 0, 1, 64, 0, 1, 0, -64, 1, 0, 0, 3, 64, 0, 3, 0, -64, 3};
    const int32_t         near_last[6] = {0, 1, 2, 3, 4, 5}, near_first[6] = {3, 4, 5, 0, 1, 2};
    const double          eye[3] = {20, -20, 60}, at[3] = {20, -20, 0}, up[3] = {0, 1, 0};
    const flx_raster_view views[2] = {flat_view(SIDE), flx__raster_look(eye, at, up, 64, false, SIDE, SIDE)};
    for (int k = 0; k < 2; ++k)
    {
        flx_raster_buffer a = draw(ctx, &views[k], 6, x, 2, near_last), b = draw(ctx, &views[k], 6, x, 2, near_first);
        assert_int_equal(a.triangle[24 * SIDE + 24], 1);
        assert_int_equal(b.triangle[24 * SIDE + 24], 0);
        assert_memory_equal(a.key, b.key, sizeof(float) * SIDE * SIDE);
        flx__raster_buffer_release(ctx, &a);
        flx__raster_buffer_release(ctx, &b);
    }
    flx_context_destroy(ctx);
}

static void depth_is_right_in_perspective(void** state)
{
    (void)state;
    // a plane z = 2 + x / 10 seen from the origin along z: 1/key must be the depth of the ray's hit, to float rounding
    flx_context*          ctx     = test_context(1);
    const double          from[3] = {0, 0, 0}, at[3] = {0, 0, 1}, up[3] = {0, 1, 0};
    const flx_raster_view view        = flx__raster_look(from, at, up, 1.0, false, SIDE, SIDE);
    const float           x[]         = {-9, -9, 1.1f, 9, -9, 2.9f, 0, 9, 2.0f};
    const int32_t         triangle[3] = {0, 1, 2};
    flx_raster_buffer     b           = draw(ctx, &view, 3, x, 1, triangle);
    for (int32_t px = 4; px < SIDE; px += 7)
    {
        // looking along +z with y up, the right hand points to -x
        const double slope = -(px + 0.5 - SIDE / 2) / view.scale;
        const double z     = 2 / (1 - 0.1 * slope);
        assert_int_equal(b.triangle[32 * SIDE + px], 0);
        CHECK_NEAR(1 / (double)b.key[32 * SIDE + px], z, 2e-3); // snapping 1/256 pixel of a slope
    }
    flx__raster_buffer_release(ctx, &b);
    flx_context_destroy(ctx);
}

static void unusable_corners_drop_their_triangle_only(void** state)
{
    (void)state;
    flx_context*          ctx = test_context(1);
    const float           x[] = {NAN, 0, 0, 64, 0, 0, 0, -64, 0, INFINITY, 0, 0, 1e30f, 0, 0, 64, -64, 0, 0, 0, 0};
    const int32_t         triangle[] = {0, 1, 2, 3, 1, 2, 4, 1, 2, 2, 2, 2, 1, 2, 5};
    const flx_raster_view view       = flat_view(SIDE);
    flx_raster_buffer     b          = draw(ctx, &view, 7, x, 5, triangle);
    for (int k = 0; k < SIDE * SIDE; ++k) assert_true(b.triangle[k] == -1 || b.triangle[k] == 4);
    assert_int_equal(b.triangle[60 * SIDE + 60], 4);
    flx__raster_buffer_release(ctx, &b);
    flx_context_destroy(ctx);
}

// --- pictures ---------------------------------------------------------------------------------------------------

/// A closed ball of `rings` x 2 `rings` quads, radius 1.
static flx_picture_desc ball(int32_t rings)
{
    const int32_t around = 2 * rings, n = (rings + 1) * around;
    float*        x = malloc(sizeof(float) * 3 * (size_t)n);
    int32_t*      t = malloc(sizeof(int32_t) * 6 * (size_t)(rings * around));
    int32_t       k = 0;
    for (int32_t i = 0; i <= rings; ++i)
        for (int32_t j = 0; j < around; ++j)
        {
            const double a = 3.14159265358979 * i / rings, b = 2 * 3.14159265358979 * j / around;
            float*       p = x + 3 * (i * around + j);
            p[0] = (float)(sin(a) * cos(b)), p[1] = (float)(sin(a) * sin(b)), p[2] = (float)cos(a);
        }
    for (int32_t i = 0; i < rings; ++i)
        for (int32_t j = 0; j < around; ++j)
        {
            const int32_t a = i * around + j, b = i * around + (j + 1) % around, c = a + around, d = b + around;
            const int32_t quad[6] = {a, c, b, b, c, d};
            memcpy(t + 3 * k, quad, sizeof quad);
            k += 2;
        }
    return (flx_picture_desc){.vertex_count   = n,
                              .triangle_count = k,
                              .x              = x,
                              .triangle       = t,
                              .from           = {5, -6, 3},
                              .up             = {0, 0, 1},
                              .view_width     = 3,
                              .width          = 120,
                              .height         = 90,
                              .samples        = 2,
                              .vertical       = 2,
                              .ground         = true,
                              .ground_height  = -1};
}

static void release_ball(flx_picture_desc* d)
{
    free((void*)(uintptr_t)d->x);
    free((void*)(uintptr_t)d->triangle);
}

static double mean_of(const uint8_t* rgb, int32_t stride, int32_t left, int32_t top, int32_t side)
{
    double sum = 0;
    for (int32_t y = 0; y < side; ++y)
        for (int32_t i = 0; i < 3 * side; ++i) sum += rgb[(top + y) * stride + 3 * left + i];
    return sum / (3.0 * side * side);
}

static void a_ball_is_round_lit_from_above_and_casts_a_shadow(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    flx_picture_desc d   = ball(24);
    static uint8_t   rgb[90][120][3], empty[90][120][3];
    CHECK_OK(flx__picture_draw(ctx, &d, rgb[0][0], sizeof rgb[0]));
    flx_picture_desc nothing = d;
    nothing.triangle_count   = 0;
    CHECK_OK(flx__picture_draw(ctx, &nothing, empty[0][0], sizeof empty[0]));

    // the ball's outline has radius 40 pixels times the perspective of a ball at distance sqrt(70): 40.29
    for (int32_t y = 0; y < 90; ++y)
        for (int32_t x = 0; x < 120; ++x)
        {
            const double r    = hypot(x + 0.5 - 60, y + 0.5 - 45);
            const int    warm = rgb[y][x][0] - rgb[y][x][2]; // skin is red, paper is not
            if (r < 38) assert_true(warm > 8);
            if (r > 42) assert_true(warm < 8);
        }
    assert_true(mean_of(rgb[0][0], 360, 40, 15, 8) > 1.2 * mean_of(rgb[0][0], 360, 75, 70, 8)); // upper left is bright
    int darker = 0;
    for (int32_t y = 0; y < 90; ++y)
        for (int32_t x = 0; x < 120; ++x)
            darker += hypot(x + 0.5 - 60, y + 0.5 - 45) > 43 && rgb[y][x][1] + 20 < empty[y][x][1];
    assert_true(darker > 100); // the shadow, and nowhere light
    release_ball(&d);
    flx_context_destroy(ctx);
}

/// The ball, with a square of two triangles 10 m wide under it as an obstacle or a plane, and a small upright triangle
/// in its middle as a bone.
static flx_picture_desc ball_and_solids(bool plane, bool bone)
{
    static const float floor[4][3] = {{-5, -5, -1}, {5, -5, -1}, {-5, 5, -1}, {5, 5, -1}};
    static const float thorn[3][3] = {{-0.3f, -0.3f, -0.3f}, {0.3f, 0.3f, -0.3f}, {0, 0, 0.4f}};
    flx_picture_desc   d           = ball(24);
    const int32_t      n = d.vertex_count, t = d.triangle_count, square[6] = {n, n + 1, n + 3, n + 2, n, n + 3};
    const int32_t      upright[3] = {n + 4, n + 5, n + 6};
    float*             x          = realloc((void*)(uintptr_t)d.x, sizeof *x * 3 * (size_t)(n + 7));
    int32_t*           triangle   = realloc((void*)(uintptr_t)d.triangle, sizeof *triangle * 3 * (size_t)(t + 3));
    memcpy(x + 3 * n, floor, sizeof floor);
    memcpy(x + 3 * (n + 4), thorn, sizeof thorn);
    memcpy(triangle + 3 * t, square, sizeof square);
    memcpy(triangle + 3 * (t + 2), upright, sizeof upright);
    d.x              = x;
    d.triangle       = triangle;
    d.vertex_count   = n + 7;
    d.triangle_count = t + 2 + bone;
    d.obstacle_count = plane ? 0 : 2;
    d.plane_count    = plane ? 2 : 0;
    d.square_count   = 2;
    d.bone_count     = bone;
    d.ground         = false;
    return d;
}

static void obstacles_are_grey_and_take_shadows_and_planes_fade(void** state)
{
    (void)state;
    flx_context*   ctx = test_context(1);
    static uint8_t alone[90][120][3], box[90][120][3], plane[90][120][3];
    for (int i = 0; i < 3; ++i)
    {
        flx_picture_desc d = ball_and_solids(i == 2, false);
        d.view_width       = 9;
        if (i == 0) d.obstacle_count = 0, d.triangle_count -= 2;
        uint8_t(*rgb)[120][3] = i == 0 ? alone : i == 1 ? box : plane;
        CHECK_OK(flx__picture_draw(ctx, &d, rgb[0][0], sizeof rgb[0]));
        release_ball(&d);
    }
    for (int i = 0; i < 3; ++i) assert_in_range(box[75][20][i] - box[75][20][2] + 12, 0, 24); // grey
    assert_true(alone[75][20][1] > box[75][20][1] + 10);
    int shaded = 0, changed = 0; // the ball stands on it and darkens a part; the same part of a plane
    for (int32_t y = 0; y < 90; ++y)
        for (int32_t x = 0; x < 120; ++x)
        {
            shaded += box[y][x][1] < 0.75 * box[75][20][1];
            changed += abs(alone[y][x][1] - plane[y][x][1]) > 3;
        }
    assert_in_range(shaded, 100, 3000);
    assert_in_range(changed, 1000, 9000);
    // straight ahead, far off: the square's edge, where a plane has faded away and a thing with an end has not
    assert_int_equal(plane[12][60][1], alone[12][60][1]);
    flx_context_destroy(ctx);
}

static void bones_shine_through_the_skin_only(void** state)
{
    (void)state;
    flx_context*   ctx = test_context(1);
    static uint8_t without[90][120][3], with[90][120][3];
    for (int i = 0; i < 2; ++i)
    {
        flx_picture_desc d = ball_and_solids(false, i == 1);
        CHECK_OK(flx__picture_draw(ctx, &d, i ? with[0][0] : without[0][0], sizeof with[0]));
        release_ball(&d);
    }
    int changed = 0, far = 0;
    for (int32_t y = 0; y < 90; ++y)
        for (int32_t x = 0; x < 120; ++x)
        {
            const bool differs = memcmp(with[y][x], without[y][x], 3) != 0;
            changed += differs;
            far += differs && hypot(x + 0.5 - 60, y + 0.5 - 45) > 0.55 * 40;
        }
    assert_in_range(changed, 60, 1500);
    assert_int_equal(far, 0); // the bone reaches 0.52 m from the middle, a metre is 40 pixels
    assert_true(with[45][60][2] > without[45][60][2] + 8); // ivory has more blue than skin
    flx_context_destroy(ctx);
}

static void pictures_are_the_same_for_any_number_of_workers(void** state)
{
    (void)state;
    static uint8_t   rgb[3][90][120][3];
    flx_picture_desc d = ball(40);
    for (int workers = 1; workers <= 3; ++workers)
    {
        flx_context* ctx = test_context(workers);
        CHECK_OK(flx__picture_draw(ctx, &d, rgb[workers - 1][0][0], sizeof rgb[0][0]));
        flx_context_destroy(ctx);
        assert_memory_equal(rgb[0], rgb[workers - 1], sizeof rgb[0]);
    }
    release_ball(&d);
}

static void back_faces_have_another_tint(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    flx_picture_desc d   = ball(24);
    int32_t*         t   = malloc(sizeof(int32_t) * 3 * (size_t)d.triangle_count);
    for (int32_t i = 0; i < d.triangle_count; ++i)
        for (int k = 0; k < 3; ++k) t[3 * i + k] = d.triangle[3 * i + 2 - k];
    static uint8_t   rgb[90][120][3];
    flx_picture_desc inside_out = d;
    inside_out.triangle         = t;
    CHECK_OK(flx__picture_draw(ctx, &inside_out, rgb[0][0], sizeof rgb[0]));
    assert_true(rgb[45][60][2] > rgb[45][60][0]);
    free(t);
    release_ball(&d);
    flx_context_destroy(ctx);
}

static void degenerate_meshes_and_cameras_make_a_picture(void** state)
{
    (void)state;
    flx_context*   ctx = test_context(1);
    static uint8_t rgb[32][32][3];
    const float    x[]            = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.5f, 0, 0, NAN, INFINITY, -INFINITY};
    const int32_t  triangle[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 0, 0}, {0, 1, 4}};
    const double   from[4][3]     = {{3, 3, 3}, {0, 0, 3}, {0, 0, 0}, {0.3, 0.3, 1e-9}};
    for (int c = 0; c < 4; ++c)
        for (int n = 0; n <= 4; ++n)
            for (int parallel = 0; parallel < 2; ++parallel)
            {
                flx_picture_desc d = {.vertex_count   = 5,
                                      .triangle_count = n,
                                      .x              = x,
                                      .triangle       = triangle[0],
                                      .from           = {from[c][0], from[c][1], from[c][2]},
                                      .up             = {0, 0, 1},
                                      .view_width     = c == 2 ? 0 : 2,
                                      .width          = 32,
                                      .height         = 32,
                                      .samples        = 1,
                                      .vertical       = 2,
                                      .ground         = true,
                                      .orthographic   = parallel == 1};
                CHECK_OK(flx__picture_draw(ctx, &d, rgb[0][0], sizeof rgb[0]));
                d.value = x; // any numbers: clamped
                CHECK_OK(flx__picture_draw(ctx, &d, rgb[0][0], sizeof rgb[0]));
            }
    flx_context_destroy(ctx);
}

static void lightness_rises_along_the_colour_map(void** state)
{
    (void)state;
    double before = -1;
    for (int i = 0; i <= 100; ++i)
    {
        float c[3];
        flx__color_map(i / 100.0, c);
        const double light = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        assert_true(light > before);
        before = light;
    }
    float low[3], beyond[3];
    flx__color_map(0, low);
    flx__color_map(NAN, beyond);
    assert_memory_equal(low, beyond, sizeof low);
}

static void text_stays_inside_the_picture(void** state)
{
    (void)state;
    uint8_t       page[16 * 16 * 3 + 2] = {0}, *rgb = page + 1;
    const uint8_t ink[3] = {255, 255, 255};
    page[0] = page[sizeof page - 1] = 7;
    const int32_t places[][2]       = {{-3, -3}, {12, 12}, {100, 0}, {0, -100}, {4, 4}};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
        assert_int_equal(flx__text_draw(rgb, 48, 16, 16, places[i][0], places[i][1], 2, "12", ink), 22);
    assert_int_equal(page[0], 7);
    assert_int_equal(page[sizeof page - 1], 7);
    assert_int_equal(flx__text_draw(rgb, 48, 16, 16, 0, 0, 1, "?", ink), 5); // unknown letters leave a blank
}

static void a_png_holds_its_pixels_and_is_not_overwritten_unasked(void** state)
{
    (void)state;
    flx_context* ctx    = test_context(1);
    char         path[] = "flexor-test-XXXXXX.png";
    const int    file   = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    uint8_t rgb[5 * 7 * 3];
    for (size_t i = 0; i < sizeof rgb; ++i) rgb[i] = (uint8_t)(37 * i);
    CHECK_FAILS(flx__png_write(ctx, path, 7, 5, rgb, false), FLX_ERR_EXISTS);
    CHECK_OK(flx__png_write(ctx, path, 7, 5, rgb, true));

    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, 7);
    assert_int_equal(image.height, 5);
    image.format = PNG_FORMAT_RGB;
    uint8_t back[sizeof rgb];
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(back, rgb, sizeof rgb);

    CHECK_FAILS(flx__png_write(ctx, "/nowhere/x.png", 7, 5, rgb, true), FLX_ERR_IO);
    assert_non_null(strstr(flx_context_error(ctx), "/nowhere/x.png"));
    unlink(path);
    flx_context_destroy(ctx);
}

static void failed_allocations_leave_nothing_behind(void** state)
{
    (void)state;
    flx_context*     ctx = test_context(1);
    flx_picture_desc d   = ball(6);
    d.width = 24, d.height = 18;
    static uint8_t rgb[18][24][3];
    const int64_t  before = flx_context_bytes_now(ctx);
    flx_status     status = FLX_ERR_MEMORY;
    int            count  = 0;
    for (; status == FLX_ERR_MEMORY && count < 100; ++count)
    {
        flx_context_fail_allocation(ctx, count);
        status = flx__picture_draw(ctx, &d, rgb[0][0], sizeof rgb[0]);
        flx_context_fail_allocation(ctx, -1);
        assert_true(status == FLX_OK || status == FLX_ERR_MEMORY);
        assert_int_equal(flx_context_bytes_now(ctx), before);
    }
    assert_int_equal(status, FLX_OK);
    assert_true(count > 5);
    release_ball(&d);
    flx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_triangle_covers_exactly_the_pixels_whose_centres_lie_inside),
        cmocka_unit_test(triangles_that_share_edges_leave_no_hole_and_no_overlap),
        cmocka_unit_test(the_nearer_triangle_wins_whatever_the_order),
        cmocka_unit_test(depth_is_right_in_perspective),
        cmocka_unit_test(unusable_corners_drop_their_triangle_only),
        cmocka_unit_test(a_ball_is_round_lit_from_above_and_casts_a_shadow),
        cmocka_unit_test(obstacles_are_grey_and_take_shadows_and_planes_fade),
        cmocka_unit_test(bones_shine_through_the_skin_only),
        cmocka_unit_test(pictures_are_the_same_for_any_number_of_workers),
        cmocka_unit_test(back_faces_have_another_tint),
        cmocka_unit_test(degenerate_meshes_and_cameras_make_a_picture),
        cmocka_unit_test(lightness_rises_along_the_colour_map),
        cmocka_unit_test(text_stays_inside_the_picture),
        cmocka_unit_test(a_png_holds_its_pixels_and_is_not_overwritten_unasked),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
