// The plane of a plot is [0, WIDTH] x [0, HEIGHT] px; y is always logarithmic, x as asked.
#include "study/plot.h"

#include <math.h>

enum // px
{
    WIDTH  = 300,
    HEIGHT = 170,
    LEFT   = 46,
    RIGHT  = 16,
    ABOVE  = 22,
    BELOW  = 38
};

typedef struct axes
{
    double x_min, x_max, y_min, y_max; // of the logarithms where an axis is logarithmic
    bool   log_x;
} axes;

static double across(const axes* a, double x)
{
    const double at = a->log_x ? log10(x) : x;
    return LEFT + WIDTH * (at - a->x_min) / (a->x_max - a->x_min);
}

static double down(const axes* a, double y)
{
    const double at = fmin(fmax(y > 0 ? log10(y) : a->y_min, a->y_min), a->y_max);
    return ABOVE + HEIGHT * (a->y_max - at) / (a->y_max - a->y_min);
}

static axes fit(const flx_plot* p)
{
    axes a = {INFINITY, -INFINITY, log10(p->floor), log10(p->top), p->log_x};
    for (int32_t k = 0; k < p->curve_count; ++k)
        for (int32_t i = 0; i < p->curve[k].count; ++i)
        {
            const double x = p->curve[k].x[i];
            if (!isfinite(x) || (p->log_x && x <= 0)) continue;
            a.x_min = fmin(a.x_min, p->log_x ? log10(x) : x);
            a.x_max = fmax(a.x_max, p->log_x ? log10(x) : x);
        }
    if (!(a.x_min <= a.x_max)) a.x_min = a.x_max = 0.0;
    if (p->log_x)
    {
        a.x_min = floor(a.x_min + 1e-9);
        a.x_max = ceil(a.x_max - 1e-9);
    }
    if (a.x_max <= a.x_min) a.x_max = a.x_min + 1.0;
    return a;
}

static void power_of_ten(flx_file* f, int exponent, double x, double y, const char* anchor)
{
    if (exponent >= -2 && exponent <= 3)
        flx__file_printf(f, "<text x='%.1f' y='%.1f' text-anchor='%s'>%g</text>", x, y, anchor, pow(10, exponent));
    else
        flx__file_printf(f, "<text x='%.1f' y='%.1f' text-anchor='%s'>10<tspan dy='-4' font-size='8'>%d</tspan></text>",
                         x, y, anchor, exponent);
}

static void vertical(flx_file* f, const axes* a)
{
    const int apart = (int)ceil((a->y_max - a->y_min) / 6.0);
    for (int e = (int)ceil(a->y_min - 1e-9); e <= (int)floor(a->y_max + 1e-9); e += apart)
    {
        const double y = down(a, pow(10, e));
        flx__file_printf(f, "<path class='g' d='M%d %.1fh%d'/>", LEFT, y, WIDTH);
        power_of_ten(f, e, LEFT - 5, y + 3.5, "end");
    }
}

static void horizontal(flx_file* f, const axes* a)
{
    const double bottom = ABOVE + HEIGHT, span = a->x_max - a->x_min;
    if (a->log_x)
    {
        const int apart = (int)ceil(span / 6.0);
        for (int e = (int)a->x_min; e <= (int)a->x_max; e += apart)
        {
            flx__file_printf(f, "<path class='g' d='M%.1f %dv%d'/>", across(a, pow(10, e)), ABOVE, HEIGHT);
            power_of_ten(f, e, across(a, pow(10, e)), bottom + 14, "middle");
        }
        return;
    }
    double step = pow(10, floor(log10(span)));
    if (span / step < 2) step /= 5;
    if (span / step < 4) step /= 2;
    for (double x = ceil(a->x_min / step) * step; x <= a->x_max + 1e-9 * span; x += step)
    {
        flx__file_printf(f, "<path class='g' d='M%.1f %dv%d'/>", across(a, x), ABOVE, HEIGHT);
        flx__file_printf(f, "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>", across(a, x), bottom + 14, x);
    }
}

static void draw_points(flx_file* f, const axes* a, const flx_plot_curve* c)
{
    flx__file_printf(f, "<g class='p%d'>", c->color);
    for (int32_t i = 0; i < c->count; ++i)
        if (isfinite(c->x[i]) && !isnan(c->y[i]) && (!a->log_x || c->x[i] > 0))
            flx__file_printf(f, "<circle cx='%.1f' cy='%.1f' r='3'/>", across(a, c->x[i]), down(a, c->y[i]));
    flx__file_printf(f, "</g>\n");
}

static void draw_line(flx_file* f, const axes* a, const flx_plot_curve* c)
{
    int32_t i = 0;
    flx__file_printf(f, "<polyline class='l%d'%s points='", c->color, c->dashed ? " stroke-dasharray='5 3'" : "");
    for (; i < c->count && isfinite(c->y[i]); ++i)
        flx__file_printf(f, "%.1f,%.1f ", across(a, c->x[i]), down(a, c->y[i]));
    flx__file_printf(f, "'/>\n");
    if (i > 0 && i < c->count)
        flx__file_printf(f, "<path class='l%d' d='M%.1f %.1fl7 7m0 -7l-7 7'/>\n", c->color,
                         across(a, c->x[i - 1]) - 3.5, down(a, c->y[i - 1]) - 3.5);
}

void flx__plot_write(flx_file* f, const flx_plot* p)
{
    const axes a = fit(p);
    flx__file_printf(f, "<svg viewBox='0 0 %d %d' role='img' aria-label='%s'>\n", LEFT + WIDTH + RIGHT,
                     ABOVE + HEIGHT + BELOW, p->title);
    flx__file_printf(f, "<text class='t' x='%d' y='14'>%s</text>", LEFT, p->title);
    vertical(f, &a);
    horizontal(f, &a);
    flx__file_printf(f, "<rect class='b' x='%d' y='%d' width='%d' height='%d'/>\n", LEFT, ABOVE, WIDTH, HEIGHT);
    flx__file_printf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", LEFT + WIDTH / 2, ABOVE + HEIGHT + 31,
                     p->x_label);
    flx__file_printf(f, "<text transform='translate(11 %d) rotate(-90)' text-anchor='middle'>%s</text>\n",
                     ABOVE + HEIGHT / 2, p->y_label);
    for (int32_t k = 0; k < p->curve_count; ++k)
        if (p->curve[k].points)
            draw_points(f, &a, &p->curve[k]);
        else
            draw_line(f, &a, &p->curve[k]);
    flx__file_printf(f, "</svg>\n");
}

void flx__plot_legend(flx_file* f, const flx_plot* p)
{
    flx__file_printf(f, "<p class='legend'>");
    for (int32_t k = 0; k < p->curve_count; ++k)
    {
        const flx_plot_curve* c = &p->curve[k];
        flx__file_printf(f, "<span><svg viewBox='0 0 26 10'>");
        if (c->points)
            flx__file_printf(f, "<circle class='p%d' cx='13' cy='5' r='3.5'/>", c->color);
        else
            flx__file_printf(f, "<path class='l%d'%s d='M1 5h24'/>", c->color,
                             c->dashed ? " stroke-dasharray='5 3'" : "");
        flx__file_printf(f, "</svg>%s</span> ", c->label);
    }
    flx__file_printf(f, "</p>\n");
}
