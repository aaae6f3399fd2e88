// Curves and points as inline SVG. Colours are the page's CSS variables --s0 .. --s10, so one plot serves light and
// dark.
#ifndef FLX_STUDY_PLOT_H
#define FLX_STUDY_PLOT_H

#include "base/file.h"

#define FLX_PLOT_COLORS 11

typedef struct flx_plot_curve
{
    const char*   label;
    int32_t       color; // 0 .. FLX_PLOT_COLORS - 1
    bool          dashed;
    bool          points; // marks instead of a line
    int32_t       count;
    const double* x; // [count]
    const double* y; // [count]; a line ends with a cross before the first that is not finite; points are then left out
} flx_plot_curve;

typedef struct flx_plot
{
    const char*           title;
    const char *          x_label, *y_label;
    bool                  log_x;
    double                floor, top; // of y, logarithmic; what is beyond runs along the edge
    int32_t               curve_count;
    const flx_plot_curve* curve;
} flx_plot;

void flx__plot_write(flx_file* file, const flx_plot* plot);
/// The labels and colours of a plot's curves as a line of HTML, for several plots with the same curves.
void flx__plot_legend(flx_file* file, const flx_plot* plot);

#endif
