// Packed products against plain loops, on every instruction set there is.
#include "test.h"

#include "reduce/panel.h"

#define MOST 40

static double value_at(int64_t i)
{
    return (double)((i * 7919) % 1009) / 1009.0 - 0.5;
}

/// y [rows][3] of row-major m [faces][rows][columns]
static double expected(int faces, int rows, int columns, const double* m, const double* x, int i, int d)
{
    double sum = 0.0;
    for (int c = 0; c < columns; ++c)
        sum +=
            faces == 0 ? m[i * columns + c] * x[c] : m[((faces == 3 ? d : 0) * rows + i) * columns + c] * x[3 * c + d];
    return sum;
}

static void check_double(flx_context* ctx, int faces, int rows, int columns)
{
    static double m[3 * MOST * MOST], x[3 * MOST], base[6 * MOST], y[6 * MOST];
    const int     wide = faces == 0 ? 1 : 3;
    flx_panel     panel;
    for (int i = 0; i < 3 * MOST * MOST; ++i) m[i] = value_at(i);
    for (int i = 0; i < 3 * MOST; ++i) x[i] = value_at(3 * i + 1);
    for (int i = 0; i < 6 * MOST; ++i) base[i] = value_at(5 * i + 2);
    CHECK_OK(flx__panel_create(ctx, FLX_PRECISION_DOUBLE, faces, rows, columns, m, &panel));
    flx__panel_multiply(&panel, x, base, y);
    for (int i = 0; i < rows; ++i)
        for (int d = 0; d < wide; ++d)
            CHECK_NEAR(y[wide * i + d], base[wide * i + d] + expected(faces, rows, columns, m, x, i, d), 1e-13);
    flx__panel_multiply(&panel, x, NULL, y);
    for (int i = 0; i < rows; ++i)
        for (int d = 0; d < wide; ++d) CHECK_NEAR(y[wide * i + d], expected(faces, rows, columns, m, x, i, d), 1e-13);
    if (faces == 0 || rows < 9) goto done;
    for (int i = 0; i < 6 * MOST; ++i) y[i] = 7.0;
    flx__panel_multiply_rows(&panel, 8, rows, x, y);
    for (int i = 8; i < rows; ++i)
        for (int d = 0; d < 3; ++d) CHECK_NEAR(y[3 * (i - 8) + d], expected(faces, rows, columns, m, x, i, d), 1e-13);
    for (int i = 3 * (rows - 8); i < 6 * MOST; ++i) assert_true(y[i] == 7.0); // not a row too many
done:
    flx__panel_release(ctx, &panel);
}

static void check_single(flx_context* ctx, int faces, int rows, int columns)
{
    static double m[3 * MOST * MOST], x[3 * MOST];
    static float  x32[3 * MOST], y[9 * MOST];
    const int     wide = faces == 0 ? 1 : 3;
    flx_panel     panel;
    for (int i = 0; i < 3 * MOST * MOST; ++i) m[i] = value_at(i);
    for (int i = 0; i < 3 * MOST; ++i) x32[i] = (float)value_at(3 * i + 1), x[i] = (double)x32[i];
    CHECK_OK(flx__panel_create(ctx, FLX_PRECISION_SINGLE, faces, rows, columns, m, &panel));
    flx__panel_multiply(&panel, x32, NULL, y);
    for (int i = 0; i < rows; ++i)
        for (int d = 0; d < wide; ++d)
            CHECK_NEAR((double)y[wide * i + d], expected(faces, rows, columns, m, x, i, d), 1e-5);
    flx__panel_release(ctx, &panel);
}

static bool open_on(flx_isa isa, flx_context** out)
{
    flx_isa          chosen;
    flx_context_desc desc = flx_context_desc_default();
    if (flx__isa_choose(flx__isa_name(isa), &chosen) != FLX_OK) return false;
    desc.isa          = flx__isa_name(isa);
    desc.worker_count = 1;
    assert_int_equal(flx_context_create(&desc, out), FLX_OK);
    return true;
}

static void products_are_those_of_plain_loops(void** state)
{
    (void)state;
    static const int faces[3] = {0, 1, 3}, sizes[] = {0, 1, 7, 8, 9, 17, 33};
    for (int isa = FLX_ISA_SCALAR; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_context* ctx = NULL;
        if (!open_on((flx_isa)isa, &ctx)) continue;
        for (int f = 0; f < 3; ++f)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
                {
                    check_double(ctx, faces[f], sizes[i], sizes[k]);
                    check_single(ctx, faces[f], sizes[i], sizes[k]);
                }
        flx_context_destroy(ctx);
    }
}

/// y += M^T x, of which rows that are zero may be left out.
static void pulls_are_those_of_plain_loops(void** state)
{
    (void)state;
    static double m[MOST * MOST], x[3 * MOST], y[3 * MOST], scratch[3 * MOST];
    for (int i = 0; i < MOST * MOST; ++i) m[i] = value_at(i);
    for (int isa = FLX_ISA_SCALAR; isa < FLX_ISA_COUNT; ++isa)
    {
        flx_isa chosen;
        if (flx__isa_choose(flx__isa_name((flx_isa)isa), &chosen) != FLX_OK) continue;
        for (int every = 1; every <= 5; ++every) // how many rows are not zero: all of them, or an odd number
            for (int columns = 1; columns <= 19; columns += 6)
            {
                for (int i = 0; i < 3 * MOST; ++i) x[i] = i / 3 % every == 0 ? value_at(3 * i + 1) : 0.0, y[i] = 1.0;
                flx__panel_kernels_for(chosen)->pull(31, columns, m, x, scratch, y);
                for (int c = 0; c < columns; ++c)
                    for (int d = 0; d < 3; ++d)
                    {
                        double sum = 1.0;
                        for (int i = 0; i < 31; ++i) sum += m[i * columns + c] * x[3 * i + d];
                        CHECK_NEAR(y[3 * c + d], sum, 1e-13);
                    }
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_plain_loops),
        cmocka_unit_test(pulls_are_those_of_plain_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
