// Products of packed matrices, with vectors of FLX_PANEL_BYTES that the compiler splits to what the processor has.
#include "reduce/panel.h"

#include <string.h>

#define REAL double
#define NAME(what) what##_f64
#include "reduce/panel_real.inl"
#undef REAL
#undef NAME
#define REAL float
#define NAME(what) what##_f32
#include "reduce/panel_real.inl"

/// Two rows at a time: the sums are then read and written half as often.
static void pull_pair(int32_t columns, const double* m0, const double* m1, const double* x0, const double* x1,
                      double* restrict sum)
{
    const double a0 = x0[0], a1 = x0[1], a2 = x0[2], b0 = x1[0], b1 = x1[1], b2 = x1[2];
    double* restrict s0 = sum, * restrict s1 = sum + columns, * restrict s2 = sum + 2 * (int64_t)columns;
    for (int32_t c = 0; c < columns; ++c)
    {
        const double u = m0[c], v = m1[c];
        s0[c] += a0 * u + b0 * v;
        s1[c] += a1 * u + b1 * v;
        s2[c] += a2 * u + b2 * v;
    }
}

static void pull(int64_t rows, int32_t columns, const double* m, const double* x, double* scratch, double* y)
{
    static const double none[3] = {0};
    const double *      held = NULL, *held_x = none;
    memset(scratch, 0, 3 * (size_t)columns * sizeof *scratch);
    for (int64_t i = 0; i < rows; ++i)
    {
        const double* at = x + 3 * i;
        if (at[0] == 0.0 && at[1] == 0.0 && at[2] == 0.0) continue;
        if (!held)
        {
            held = m + i * columns, held_x = at;
            continue;
        }
        pull_pair(columns, held, m + i * columns, held_x, at, scratch);
        held = NULL;
    }
    if (held) pull_pair(columns, held, held, held_x, none, scratch);
    for (int32_t c = 0; c < columns; ++c)
        for (int32_t d = 0; d < 3; ++d) y[3 * c + d] += scratch[d * columns + c];
}

#define PANEL_KERNELS                                                                                                  \
    {                                                                                                                  \
        .blocks = {blocks_f32, blocks_f64}, .vector = {vector_f32, vector_f64}, .pull = pull                           \
    }
