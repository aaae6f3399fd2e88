// A software rasteriser on plain arrays: triangles to a buffer of depths and triangle numbers, and that to pixels.
#ifndef FLX_RECORDING_RASTER_H
#define FLX_RECORDING_RASTER_H

#include "base/base.h"

/// Where from and how large. Perspective: `scale` pixels per unit of x/z. Orthographic: `scale` pixels per m.
typedef struct flx_raster_view
{
    double  eye[3];
    double  right[3], up[3], forward[3]; // unit, orthogonal
    double  scale;
    double  nearest; // m, perspective: triangles that come nearer than this are left out
    bool    orthographic;
    int32_t width, height; // pixels of the buffer; the axis goes through its middle
} flx_raster_view;

/// Look from `from` to `at`, `width_m` metres across at `at`. Degenerate input (from == at, up along the view, zero
/// width) gives some valid view.
flx_raster_view flx__raster_look(const double from[3], const double at[3], const double up[3], double width_m,
                                 bool orthographic, int32_t width, int32_t height);

/// What one pass leaves behind. Row 0 is the top.
typedef struct flx_raster_buffer
{
    int32_t  width, height;
    int32_t* triangle; // [height][width] nearest triangle, -1 = none
    float*   key;      // [height][width] larger is nearer: 1/z (perspective) or -z (orthographic); linear on the screen
} flx_raster_buffer;

/// A vertex on the screen.
typedef struct flx_raster_corner
{
    int64_t x, y; // 1/256 pixel
    float   key;
    bool    good; // in front of the eye and finite
} flx_raster_corner;

/// Draw: corner [vertex_count] is written, then the buffer. Pixel centres are tested, shared edges belong to one side
/// (top-left rule), equal depth goes to the lower triangle. Parallel over tiles; same bits for any number of workers.
flx_status flx__raster_triangles(flx_context* ctx, const flx_raster_view* view, int32_t vertex_count, const float* x,
                                 int32_t triangle_count, const int32_t* triangle, flx_raster_corner* corner,
                                 flx_raster_buffer* buffer);

flx_status flx__raster_buffer_create(flx_context* ctx, int32_t width, int32_t height, flx_raster_buffer* out);
void       flx__raster_buffer_release(flx_context* ctx, flx_raster_buffer* buffer);

// --- pictures -----------------------------------------------------------------------------------------------

typedef struct flx_picture_desc
{
    int32_t        vertex_count;
    int32_t        triangle_count;
    const float*   x;              // [vertex_count][3] m
    const int32_t* triangle;       // [triangle_count][3]: bodies, then as many as said of the following, in this order
    int32_t        obstacle_count; // grey
    int32_t      plane_count; // of obstacles without end: they fade towards the edges of what is drawn of them, squares
    int32_t      square_count; // of one square. The first corner of the first and the last of the last are opposite
    int32_t      bone_count;   // drawn through the skin
    const float* value;        // [vertices of the bodies] in [0, 1] through the colour map; NULL = skin
    bool         over_skin;    // small values show the skin (contact), else the map's low end
    bool         wireframe;

    double  from[3], at[3], up[3]; // camera, m
    double  view_width;            // m across at `at`
    bool    orthographic;
    int32_t width, height; // pixels
    int32_t samples;       // per side of a pixel, 1 to 4

    bool    ground;        // a soft shadow on a floor
    double  ground_height; // m along `vertical`
    int32_t vertical;      // axis that is up in the world: 1 or 2
} flx_picture_desc;

/// rgb: first pixel of the picture, rows `stride` bytes apart. Same bits for any number of workers.
flx_status flx__picture_draw(flx_context* ctx, const flx_picture_desc* desc, uint8_t* rgb, int64_t stride);

/// Perceptually even from dark blue over green to yellow; t is clamped. Linear light out.
void    flx__color_map(double t, float rgb[3]);
uint8_t flx__to_srgb(float linear);

// --- text and files -------------------------------------------------------------------------------------------

/// Digits and a few letters, 5 x 7, each dot `size` pixels. Clipped to width x height. Returns the width in pixels.
int32_t flx__text_draw(uint8_t* rgb, int64_t stride, int32_t width, int32_t height, int32_t left, int32_t top,
                       int32_t size, const char* text, const uint8_t color[3]);

/// 8-bit RGB, rows without padding. Whole or not at all.
flx_status flx__png_write(flx_context* ctx, const char* path, int32_t width, int32_t height, const uint8_t* rgb,
                          bool overwrite);

#endif
