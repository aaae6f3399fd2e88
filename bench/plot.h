// Curves on logarithmic axes, as SVG: panels in a grid, one legend for all.
#ifndef FLEXOR_BENCH_PLOT_H
#define FLEXOR_BENCH_PLOT_H

#include <stdint.h>
#include <stdio.h>

typedef struct plot_curve
{
    const char*   color; // as SVG takes it
    const char*   dash;  // stroke-dasharray, "none" for a solid line
    const char*   label;
    int32_t       count;
    const double* x; // [count], positive; a point with an x or y that is not finite is left out
    const double* y; // [count]
} plot_curve;

typedef struct plot_panel
{
    const char*       title;
    const char*       x_label;
    double            floor; // smallest y shown, positive; what is below, zeros too, runs along the bottom
    int32_t           curve_count;
    const plot_curve* curve;
} plot_panel;

/// panel [rows][columns]; the legend names the curves of the first panel.
void plot_write(FILE* file, const char* title, int32_t rows, int32_t columns, const plot_panel* panel);

#endif
