// A panel maps [x_min, x_max] x [floor, y_max] to a rectangle by logarithms; both ranges end at whole decades.
#include "plot.h"

#include <math.h>
#include <stdbool.h>

enum // px
{
    PANEL_WIDTH  = 420,
    PANEL_HEIGHT = 200,
    LEFT         = 70,
    RIGHT        = 20,
    ABOVE        = 34,
    BELOW        = 46,
    HEAD         = 40,
    LEGEND_LINE  = 22
};

typedef struct frame
{
    double left, top;                  // px
    double x_min, x_max, y_min, y_max; // log10
} frame;

static double across(const frame* f, double x)
{
    return f->left + PANEL_WIDTH * (log10(x) - f->x_min) / (f->x_max - f->x_min);
}

static double down(const frame* f, double y)
{
    const double l = fmax(y > 0 ? log10(y) : f->y_min, f->y_min);
    return f->top + PANEL_HEIGHT * (f->y_max - l) / (f->y_max - f->y_min);
}

static bool shown(const plot_curve* c, int32_t i)
{
    return c->x[i] > 0 && isfinite(c->x[i]) && isfinite(c->y[i]);
}

static frame fit(const plot_panel* p, double left, double top)
{
    frame f = {left, top, INFINITY, -INFINITY, log10(p->floor), log10(p->floor) + 1};
    for (int32_t k = 0; k < p->curve_count; ++k)
        for (int32_t i = 0; i < p->curve[k].count; ++i)
        {
            if (!shown(&p->curve[k], i)) continue;
            f.x_min = fmin(f.x_min, log10(p->curve[k].x[i]));
            f.x_max = fmax(f.x_max, log10(p->curve[k].x[i]));
            if (p->curve[k].y[i] > 0) f.y_max = fmax(f.y_max, log10(p->curve[k].y[i]));
        }
    if (!(f.x_min <= f.x_max)) f.x_min = f.x_max = 0; // nothing to show
    f.x_min = floor(f.x_min + 1e-9);
    f.x_max = fmax(ceil(f.x_max - 1e-9), f.x_min + 1);
    f.y_max = ceil(f.y_max - 1e-9);
    return f;
}

static void line(FILE* file, const char* color, double x1, double y1, double x2, double y2)
{
    fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>\n", x1, y1, x2, y2, color);
}

static void tick_text(FILE* file, double exponent, double x, double y, const char* anchor)
{
    if (fabs(exponent) < 3.5)
        fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='%s'>%g</text>\n", x, y, anchor, pow(10, exponent));
    else
        fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='%s'>10<tspan dy='-5' font-size='9'>%g</tspan></text>\n", x,
                y, anchor, exponent);
}

static void axes(FILE* file, const plot_panel* p, const frame* f)
{
    const double right = f->left + PANEL_WIDTH, bottom = f->top + PANEL_HEIGHT;
    for (double e = f->x_min; e < f->x_max + 0.5; e += 1)
    {
        for (int k = 1; k < 10 && e < f->x_max - 0.5; ++k)
            line(file, k == 1 ? "#ccc" : "#eee", across(f, k * pow(10, e)), f->top, across(f, k * pow(10, e)), bottom);
        tick_text(file, e, across(f, pow(10, e)), bottom + 16, "middle");
    }
    const double apart = f->y_max - f->y_min > 6 ? 2 : 1; // decades between two labels
    for (double e = f->y_min; e < f->y_max + 0.5; e += apart)
    {
        line(file, "#ccc", f->left, down(f, pow(10, e)), right, down(f, pow(10, e)));
        if (e > f->y_min + 0.5) tick_text(file, e, f->left - 6, down(f, pow(10, e)) + 4, "end");
    }
    fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='end'>below</text>\n", f->left - 6, bottom + 4);
    fprintf(file, "<rect x='%.1f' y='%.1f' width='%d' height='%d' fill='none' stroke='#444'/>\n", f->left, f->top,
            PANEL_WIDTH, PANEL_HEIGHT);
    fprintf(file, "<text x='%.1f' y='%.1f' font-weight='bold'>%s</text>\n", f->left, f->top - 8, p->title);
    fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", f->left + 0.5 * PANEL_WIDTH, bottom + 32,
            p->x_label);
}

static void stroke(FILE* file, const plot_curve* c)
{
    fprintf(file, " fill='none' stroke='%s' stroke-width='1.8' stroke-dasharray='%s'/>\n", c->color, c->dash);
}

static void curve(FILE* file, const plot_curve* c, const frame* f)
{
    fprintf(file, "<polyline points='");
    for (int32_t i = 0; i < c->count; ++i)
        if (shown(c, i)) fprintf(file, "%.1f,%.1f ", across(f, c->x[i]), down(f, c->y[i]));
    fprintf(file, "'");
    stroke(file, c);
}

static void legend(FILE* file, const plot_panel* p, double top)
{
    for (int32_t k = 0; k < p->curve_count; ++k)
    {
        const double y = top + LEGEND_LINE * (k + 0.5);
        fprintf(file, "<path d='M%d %.1f h44'", LEFT, y);
        stroke(file, &p->curve[k]);
        fprintf(file, "<text x='%d' y='%.1f'>%s</text>\n", LEFT + 54, y + 4, p->curve[k].label);
    }
}

void plot_write(FILE* file, const char* title, int32_t rows, int32_t columns, const plot_panel* panel)
{
    const int32_t cell_width = LEFT + PANEL_WIDTH + RIGHT, cell_height = ABOVE + PANEL_HEIGHT + BELOW;
    const int32_t legend_height = LEGEND_LINE * panel[0].curve_count;
    const int32_t width = columns * cell_width, height = HEAD + legend_height + rows * cell_height;
    fprintf(file,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' font-size='12' "
            "font-family='sans-serif'>\n<rect width='%d' height='%d' fill='white'/>\n"
            "<text x='%d' y='26' font-size='16'>%s</text>\n",
            width, height, width, height, width, height, LEFT, title);
    legend(file, &panel[0], HEAD);
    for (int32_t i = 0; i < rows * columns; ++i)
    {
        const frame f = fit(&panel[i], (i % columns) * cell_width + LEFT,
                            HEAD + legend_height + (i / columns) * cell_height + ABOVE);
        axes(file, &panel[i], &f);
        for (int32_t k = 0; k < panel[i].curve_count; ++k) curve(file, &panel[i].curve[k], &f);
    }
    fprintf(file, "</svg>\n");
}
