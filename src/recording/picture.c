// A depth buffer to a picture: smooth normals, three lights, ambient occlusion, a soft shadow, dark outlines.
//
// For every sample P with normal n (interpolated, turned to the viewer):
//   light     = key light x shadow, wrapped a little more in red than in blue (skin) + sky and ground + rim + gloss
//   occlusion = mean over neighbours S on the screen of max(0, n . (S - P) / |S - P| - b) (1 - |S - P|^2 / R^2)
//   outline   = where the second difference of the depth key, which is 0 on planes, shows that P stands before its
//               neighbours
// Occlusion from the depth buffer follows [Mittring07]. Differs: weighs by the angle to the normal, and every sample of
// a pixel turns its pattern by a hash of its place, so that the pixel's mean has no visible grain.
#include "recording/raster.h"

#include "math/mat3.h"

#include <string.h>

#define SHADOW_PIXELS 1024
#define CREASE 0.70f // cosine
#define NEARBY 4
#define OCCLUSION_SAMPLES 10
#define SHADOW_SAMPLES 5

/// Directions of a sunflower: each turned from the last by the golden angle.
static const double sunflower[OCCLUSION_SAMPLES][2] = {
    {1.00000000, 0.00000000},   {-0.73736888, 0.67549029}, {0.08742572, -0.99617104}, {0.60843886, 0.79360075},
    {-0.98471349, -0.17418195}, {0.84375529, -0.53672805}, {-0.25960430, 0.96571507}, {-0.46090702, -0.88744843},
    {0.93932130, 0.34303863},   {-0.92434556, 0.38155641},
};

/// A turn by the sample's own angle.
typedef struct turned
{
    double c, s;
} turned;

typedef struct picture
{
    const flx_picture_desc*  desc;
    flx_raster_view          view, light_view;
    flx_raster_buffer        buffer, shadow, bones;                   // bones: counts its triangles from first_bone
    int32_t                  first_obstacle, first_plane, first_bone; // triangles
    const flx_raster_corner* corner;
    const float*             normal; // [triangle_count][3 corners][3]
    double                   to_light[3], vertical[3];
    double                   size;   // m, diagonal of what is drawn
    double                   detail; // m, what is drawn or what is shown, the smaller: close-ups have fine shades
    uint8_t*                 rgb;
    int64_t                  stride;
} picture;

// --- colours ------------------------------------------------------------------------------------------------

static inline float to_linear(float s)
{
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

uint8_t flx__to_srgb(float linear)
{
    if (!(linear > 0)) return 0;
    if (linear >= 1) return 255;
    const float s = linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
    return (uint8_t)(255 * s + 0.5f);
}

void flx__color_map(double t, float rgb[3])
{
    // quartics through dark indigo, blue, green, lime and pale yellow; lightness rises all the way
    static const double c[3][5] = {{0.20, 0.6167, -5.3400, 10.9333, -5.4400},
                                   {0.10, 0.8500, 0.5667, -0.4800, -0.1067},
                                   {0.38, 0.8100, 0.9133, -6.2400, 4.5867}};
    t                           = t > 0 ? t < 1 ? t : 1 : 0;
    for (int i = 0; i < 3; ++i)
    {
        const double s = (((c[i][4] * t + c[i][3]) * t + c[i][2]) * t + c[i][1]) * t + c[i][0];
        rgb[i]         = to_linear((float)(s > 0 ? s < 1 ? s : 1 : 0));
    }
}

static inline double smooth_step(double low, double high, double t)
{
    const double s = (t - low) / (high - low);
    return s <= 0 ? 0 : s >= 1 ? 1 : s * s * (3 - 2 * s);
}

// --- geometry -------------------------------------------------------------------------------------------------

static inline uint32_t hash_place(uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x9E3779B1u ^ (y + 0x7F4A7C15u) * 0x85EBCA77u;
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 13;
    return h;
}

/// Normals at the corners of each triangle: the area-weighted sum over the triangles around the vertex that turn away
/// by less than CREASE from this one. Round surfaces come out smooth, the edges of a box sharp. out face
/// [triangle_count][3], normal [triangle_count][3 corners][3]
static flx_status corner_normals(flx_context* ctx, const flx_picture_desc* d, float* face, float* normal)
{
    flx_status status = FLX_OK;
    int32_t *  first = NULL, *around = NULL;
    FLX_NEW_ZERO(ctx, first, (int64_t)d->vertex_count + 2);
    FLX_NEW(ctx, around, 3 * (int64_t)d->triangle_count);

    for (int64_t i = 0; i < 3 * (int64_t)d->triangle_count; ++i) ++first[d->triangle[i] + 2];
    for (int32_t v = 0; v < d->vertex_count; ++v) first[v + 2] += first[v + 1];
    for (int32_t t = 0; t < d->triangle_count; ++t)
    {
        const int32_t* v = d->triangle + 3 * (int64_t)t;
        const float *  a = d->x + 3 * (int64_t)v[0], *b = d->x + 3 * (int64_t)v[1], *c = d->x + 3 * (int64_t)v[2];
        const double   e[3] = {(double)b[0] - a[0], (double)b[1] - a[1], (double)b[2] - a[2]};
        const double   f[3] = {(double)c[0] - a[0], (double)c[1] - a[1], (double)c[2] - a[2]};
        double         n[3];
        flx__cross3(e, f, n);
        const bool good = flx__norm3(n) > 0 && isfinite(flx__norm3(n));
        for (int k = 0; k < 3; ++k)
        {
            face[3 * (int64_t)t + k]  = good ? (float)n[k] : 0;
            around[first[v[k] + 1]++] = t;
        }
    }
    for (int32_t t = 0; t < d->triangle_count; ++t)
    {
        const float* own  = face + 3 * (int64_t)t;
        const float  own2 = own[0] * own[0] + own[1] * own[1] + own[2] * own[2];
        for (int k = 0; k < 3; ++k)
        {
            const int32_t v    = d->triangle[3 * (int64_t)t + k];
            double        n[3] = {0, 0, 0};
            for (int32_t i = first[v]; i < first[v + 1]; ++i)
            {
                const float* f   = face + 3 * (int64_t)around[i];
                const float  dot = own[0] * f[0] + own[1] * f[1] + own[2] * f[2];
                const float  f2  = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
                if (dot > 0 && dot * dot > CREASE * CREASE * own2 * f2)
                    for (int j = 0; j < 3; ++j) n[j] += f[j];
            }
            for (int j = 0; j < 3; ++j) normal[9 * (int64_t)t + 3 * k + j] = (float)n[j];
        }
    }
done:
    flx__free(ctx, first);
    flx__free(ctx, around);
    return status;
}

/// Point of the world at depth key `key` under the sample (x, y).
static inline void point_at(const flx_raster_view* v, double x, double y, double key, double out[3])
{
    const double z  = v->orthographic ? -key : 1 / key;
    const double sx = (x + 0.5 - 0.5 * v->width) / v->scale, sy = -(y + 0.5 - 0.5 * v->height) / v->scale;
    const double k = v->orthographic ? 1 : z;
    for (int i = 0; i < 3; ++i) out[i] = v->eye[i] + z * v->forward[i] + k * (sx * v->right[i] + sy * v->up[i]);
}

typedef struct surface_point
{
    double p[3], n[3], to_eye[3];
    double value;
    double edge; // distance to the triangle's nearest edge, samples
    bool   back;
} surface_point;

static void surface_at(const picture* w, int32_t x, int32_t y, int32_t t, double key, surface_point* s)
{
    const flx_picture_desc*  d    = w->desc;
    const int32_t*           v    = d->triangle + 3 * (int64_t)t;
    const flx_raster_corner* c[3] = {&w->corner[v[0]], &w->corner[v[1]], &w->corner[v[2]]};
    const int64_t            px = (int64_t)x * 256 + 128, py = (int64_t)y * 256 + 128;
    double                   e[3], weight[3], sum = 0;
    s->edge = 1e30;
    for (int i = 0; i < 3; ++i)
    {
        const flx_raster_corner *a = c[(i + 1) % 3], *b = c[(i + 2) % 3];
        const int64_t            dx = b->x - a->x, dy = b->y - a->y;
        e[i]                = (double)(dx * (py - a->y) - dy * (px - a->x));
        const double length = sqrt((double)(dx * dx + dy * dy));
        if (length > 0 && fabs(e[i]) / length < s->edge) s->edge = fabs(e[i]) / length;
        weight[i] = w->view.orthographic ? e[i] : e[i] * c[i]->key; // perspective-correct
        sum += weight[i];
    }
    s->edge /= 256;
    s->back = e[0] + e[1] + e[2] > 0; // y is down: triangles seen from outside turn the other way

    point_at(&w->view, x, y, key, s->p);
    s->value    = 0;
    double n[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i)
    {
        const double b = sum != 0 ? weight[i] / sum : 1.0 / 3;
        for (int k = 0; k < 3; ++k) n[k] += b * w->normal[9 * (int64_t)t + 3 * i + k];
        if (d->value && t < w->first_obstacle) s->value += b * d->value[v[i]];
    }
    if (w->view.orthographic)
        for (int k = 0; k < 3; ++k) s->to_eye[k] = -w->view.forward[k];
    else
    {
        flx__sub3(w->view.eye, s->p, s->to_eye);
        const double far = flx__norm3(s->to_eye);
        for (int k = 0; k < 3; ++k) s->to_eye[k] /= far;
    }
    double length = flx__norm3(n);
    if (!(length > 0)) memcpy(n, s->to_eye, sizeof n), length = 1;
    for (int k = 0; k < 3; ++k) s->n[k] = (s->back ? -n[k] : n[k]) / length;
}

// --- light -----------------------------------------------------------------------------------------------------

/// How much of the key light arrives, 0 to 1: the share of a small disc around p that the light sees.
static double light_at(const picture* w, const double p[3], double radius, double bias, turned turn)
{
    const flx_raster_view* v = &w->light_view;
    double                 d[3];
    flx__sub3(p, v->eye, d);
    const double sx  = flx__dot3(d, v->right) * v->scale + 0.5 * v->width;
    const double sy  = -flx__dot3(d, v->up) * v->scale + 0.5 * v->height;
    const double key = -flx__dot3(d, v->forward) + bias, most = radius * v->scale;
    if (!(sx > -most && sy > -most && sx < v->width + most && sy < v->height + most)) return 1;
    int lit = 0;
    for (int i = 0; i < SHADOW_SAMPLES; ++i)
    {
        static const double reach[SHADOW_SAMPLES] = {0.31622777, 0.54772256, 0.70710678, 0.83666003, 0.94868330};
        const double        r = radius * v->scale * reach[i], *f = sunflower[i];
        const double        qx = floor(sx + r * (turn.c * f[0] - turn.s * f[1]));
        const double        qy = floor(sy + r * (turn.s * f[0] + turn.c * f[1]));
        if (!(qx >= 0 && qy >= 0 && qx < v->width && qy < v->height))
        {
            ++lit;
            continue;
        }
        const int64_t at = (int64_t)qy * v->width + (int64_t)qx;
        if (w->shadow.triangle[at] < 0 || w->shadow.key[at] <= key) ++lit;
    }
    return (double)lit / SHADOW_SAMPLES;
}

/// Share of the neighbourhood that hides the sky from p.
static double occlusion_at(const picture* w, int32_t x, int32_t y, double key, const surface_point* s, turned turn)
{
    const double radius = 0.07 * w->detail;
    double       pixels = radius * w->view.scale * (w->view.orthographic ? 1 : key);
    if (pixels > 0.2 * w->view.width) pixels = 0.2 * w->view.width;
    double hidden = 0;
    for (int i = 0; i < OCCLUSION_SAMPLES; ++i)
    {
        const double  r = pixels * ((i + 0.7) / OCCLUSION_SAMPLES), *f = sunflower[i];
        const int32_t qx = (int32_t)floor(x + 0.5 + r * (turn.c * f[0] - turn.s * f[1]));
        const int32_t qy = (int32_t)floor(y + 0.5 + r * (turn.s * f[0] + turn.c * f[1]));
        if (qx < 0 || qy < 0 || qx >= w->view.width || qy >= w->view.height) continue;
        const int64_t at = (int64_t)qy * w->view.width + qx;
        if (w->buffer.triangle[at] < 0) continue;
        double q[3], v[3];
        point_at(&w->view, qx, qy, w->buffer.key[at], q);
        flx__sub3(q, s->p, v);
        const double d2 = flx__dot3(v, v);
        if (!(d2 > 0 && d2 < radius * radius)) continue;
        const double rise = flx__dot3(v, s->n) / sqrt(d2) - 0.08;
        if (rise > 0) hidden += rise * (1 - d2 / (radius * radius));
    }
    return hidden / OCCLUSION_SAMPLES;
}

/// 1 on the near side of a jump in depth, 0 on smooth ground.
static double outline_at(const picture* w, int32_t x, int32_t y, double key)
{
    static const int8_t step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    const int32_t       reach      = w->desc->samples > 2 ? w->desc->samples / 2 : 1;
    double              line       = 0;
    for (int k = 0; k < 4; ++k)
    {
        double sum = 0;
        for (int side = -1; side <= 1; side += 2)
        {
            const int32_t qx = x + side * reach * step[k][0], qy = y + side * reach * step[k][1];
            if (qx < 0 || qy < 0 || qx >= w->view.width || qy >= w->view.height) continue;
            const int64_t at = (int64_t)qy * w->view.width + qx;
            if (w->buffer.triangle[at] < 0) return 1;
            sum += w->buffer.key[at] - key;
        }
        // from the key's second difference to metres
        const double jump = -sum * (w->view.orthographic ? 1 : 1 / (key * key));
        const double e    = smooth_step(0.010 * w->detail, 0.030 * w->detail, jump);
        if (e > line) line = e;
    }
    return line;
}

static void shade(const picture* w, int32_t x, int32_t y, int32_t t, double key, turned turn, double out[3])
{
    static const float  skin[3] = {0.730f, 0.415f, 0.290f}, inner[3] = {0.20f, 0.23f, 0.38f};
    static const float  stone[3] = {0.40f, 0.42f, 0.45f}, ivory[3] = {0.78f, 0.74f, 0.62f};
    static const double skin_wrap[3] = {0.34, 0.20, 0.14}, hard_wrap[3] = {0.10, 0.10, 0.10};
    static const double key_color[3] = {1.55, 1.47, 1.36};
    static const double sky[3] = {0.46, 0.52, 0.62}, earth[3] = {0.24, 0.19, 0.17};

    surface_point s;
    surface_at(w, x, y, t, key, &s);

    const bool    hard = t >= w->first_obstacle, bone = t >= w->first_bone;
    const double* wrap = hard ? hard_wrap : skin_wrap;
    float         base[3];
    memcpy(base, bone ? ivory : hard ? stone : s.back ? inner : skin, sizeof base);
    if (w->desc->value && !s.back && !hard)
    {
        float color[3];
        flx__color_map(s.value, color);
        const double mix = w->desc->over_skin ? smooth_step(0.02, 0.12, s.value) : 1;
        for (int i = 0; i < 3; ++i) base[i] += (float)mix * (color[i] - base[i]);
    }

    double lifted[3];
    for (int i = 0; i < 3; ++i) lifted[i] = s.p[i] + 0.004 * w->size * s.n[i];
    // of bones only the form is to be seen: nothing that lies over them takes light away
    const double lit     = bone ? 1 : light_at(w, lifted, 0.008 * w->size, 0.004 * w->size, turn);
    const double hidden  = bone ? 0 : occlusion_at(w, x, y, key, &s, turn);
    const double open    = 1 - 1.9 * hidden > 0.08 ? 1 - 1.9 * hidden : 0.08;
    const double facing  = flx__dot3(s.n, w->to_light);
    const double seen    = flx__dot3(s.n, s.to_eye) > 0 ? flx__dot3(s.n, s.to_eye) : 0;
    const double skyward = 0.5 + 0.5 * flx__dot3(s.n, w->vertical);
    const double rim     = pow(1 - seen, 3) * (0.3 + 0.7 * skyward) * open;
    double       half[3];
    for (int i = 0; i < 3; ++i) half[i] = w->to_light[i] + s.to_eye[i];
    const double gloss = pow(fmax(0, flx__dot3(s.n, half) / (flx__norm3(half) + 1e-12)), 28) * lit;

    const double line = bone ? 0 : outline_at(w, x, y, key);
    const double wire = w->desc->wireframe && !hard ? 1 - smooth_step(0.35, 0.75, s.edge / w->desc->samples) : 0;
    for (int i = 0; i < 3; ++i)
    {
        const double diffuse = fmax(0, (facing + wrap[i]) / (1 + wrap[i]));
        const double through = (1 - lit) * 0.06 * (i == 0 && !hard); // a breath of red in the shade
        double       c       = base[i] * (key_color[i] * (diffuse * lit + through) * (0.55 + 0.45 * open) +
                              (skyward * sky[i] + (1 - skyward) * earth[i]) * open);
        c += 0.10 * gloss * open + 0.16 * rim * sky[i];
        c = 1 - exp(-1.12 * c); // highlights roll off
        c *= (1 - 0.72 * line) * (1 - 0.6 * wire);
        out[i] = c;
    }
}

/// Bright paper with the body's shadow on it.
static void background(const picture* w, int32_t x, int32_t y, turned turn, double out[3])
{
    static const double top[3] = {0.90, 0.92, 0.95}, low[3] = {0.80, 0.81, 0.83};
    const double        f = (y + 0.5) / w->view.height;
    for (int i = 0; i < 3; ++i) out[i] = top[i] + f * (low[i] - top[i]);
    if (!w->desc->ground) return;

    double p[3], ray[3];
    if (w->view.orthographic)
    {
        point_at(&w->view, x, y, 0, p);
        memcpy(ray, w->view.forward, sizeof ray);
    }
    else
    {
        memcpy(p, w->view.eye, sizeof p);
        point_at(&w->view, x, y, 1, ray);
        flx__sub3(ray, p, ray);
    }
    const double down = flx__dot3(ray, w->vertical), height = flx__dot3(p, w->vertical) - w->desc->ground_height;
    if (!(down < -1e-3 * flx__norm3(ray) && height > 0)) return;
    for (int i = 0; i < 3; ++i) p[i] -= ray[i] * height / down;
    const double shade_here = 1 - light_at(w, p, 0.035 * w->size, 0.002 * w->size, turn);
    for (int i = 0; i < 3; ++i) out[i] *= 1 - 0.38 * shade_here;
}

/// How much of a plane is left at p: 1 around the middle of its square, 0 towards the edges.
static double plane_at(const picture* w, int32_t t, const double p[3])
{
    const flx_picture_desc* d      = w->desc;
    const int64_t           square = (t - w->first_plane) / d->square_count;
    const int32_t*          v      = d->triangle + 3 * (w->first_plane + square * d->square_count);
    const float *           a = d->x + 3 * (int64_t)v[0], *b = d->x + 3 * (int64_t)v[3 * d->square_count - 1];
    double                  low[3], high[3], middle[3];
    for (int k = 0; k < 3; ++k)
    {
        low[k]    = a[k];
        high[k]   = b[k];
        middle[k] = 0.5 * (low[k] + high[k]);
    }
    const double half = flx__distance3(low, high) / 2.8284271;
    return 1 - smooth_step(0.30 * half, 0.95 * half, flx__distance3(p, middle));
}

/// One sample: what is nearest, the bones shining through.
static void sample(const picture* w, int32_t x, int32_t y, turned turn, double out[3])
{
    const int64_t at = (int64_t)y * w->view.width + x;
    const int32_t t  = w->buffer.triangle[at];
    if (t < 0)
        background(w, x, y, turn, out);
    else
        shade(w, x, y, t, w->buffer.key[at], turn, out);
    if (t >= w->first_plane)
    {
        double p[3], behind[3];
        point_at(&w->view, x, y, w->buffer.key[at], p);
        background(w, x, y, turn, behind);
        const double part = plane_at(w, t, p);
        for (int i = 0; i < 3; ++i) out[i] = behind[i] + part * (out[i] - behind[i]);
    }
    if (w->desc->bone_count == 0 || w->bones.triangle[at] < 0) return;
    const bool nearest = t < 0 || w->bones.key[at] > w->buffer.key[at];
    if (!nearest && t >= w->first_obstacle) return;
    double c[3];
    shade(w, x, y, w->first_bone + w->bones.triangle[at], w->bones.key[at], turn, c);
    for (int i = 0; i < 3; ++i) out[i] += (nearest ? 1 : 0.6) * (c[i] - out[i]);
}

static void draw_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const picture* w = user;
    const int32_t  m = w->desc->samples;
    for (int64_t row = begin; row < end; ++row)
        for (int32_t column = 0; column < w->desc->width; ++column)
        {
            double sum[3] = {0, 0, 0};
            for (int32_t k = 0; k < m * m; ++k)
            {
                const int32_t x = column * m + k % m, y = (int32_t)row * m + k / m;
                const double  angle = hash_place((uint32_t)x, (uint32_t)y) * (6.283185307 / 4294967296.0);
                const turned  turn  = {cos(angle), sin(angle)};
                double        c[3];
                sample(w, x, y, turn, c);
                for (int i = 0; i < 3; ++i) sum[i] += c[i];
            }
            for (int i = 0; i < 3; ++i)
                w->rgb[row * w->stride + 3 * (int64_t)column + i] = flx__to_srgb((float)(sum[i] / (m * m)));
        }
}

/// Bounding box of the finite vertices that triangles use.
static void box_of(const flx_picture_desc* d, int32_t first, int32_t end, double low[3], double high[3])
{
    for (int k = 0; k < 3; ++k) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 3 * (int64_t)first; i < 3 * (int64_t)end; ++i)
    {
        const float* x = d->x + 3 * (int64_t)d->triangle[i];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) continue;
        for (int k = 0; k < 3; ++k)
        {
            low[k]  = x[k] < low[k] ? x[k] : low[k];
            high[k] = x[k] > high[k] ? x[k] : high[k];
        }
    }
}

/// Centre and diagonal (never 0) of the bodies and of the obstacles around them: of a large one only what is not
/// farther off than NEARBY times the bodies are large, or shadows would become coarse.
static double middle_of(const picture* w, double middle[3])
{
    double low[3], high[3], other_low[3], other_high[3], span2 = 0;
    box_of(w->desc, 0, w->first_obstacle, low, high);
    box_of(w->desc, w->first_obstacle, w->first_plane, other_low, other_high);
    const double reach = low[0] <= high[0] ? NEARBY * flx__distance3(low, high) : -1;
    for (int k = 0; k < 3; ++k)
    {
        if (!(other_low[k] <= other_high[k])) break;
        const double bottom = reach < 0 ? -INFINITY : low[k] - reach, top = reach < 0 ? INFINITY : high[k] + reach;
        low[k]  = fmin(low[k], other_low[k] > bottom ? other_low[k] : bottom);
        high[k] = fmax(high[k], other_high[k] < top ? other_high[k] : top);
    }
    for (int k = 0; k < 3; ++k)
    {
        middle[k] = low[k] <= high[k] ? 0.5 * (low[k] + high[k]) : 0;
        span2 += low[k] <= high[k] ? (high[k] - low[k]) * (high[k] - low[k]) : 0;
    }
    return span2 > 0 ? sqrt(span2) : 1;
}

flx_status flx__picture_draw(flx_context* ctx, const flx_picture_desc* desc, uint8_t* rgb, int64_t stride)
{
    FLX_ASSERT(desc->width > 0 && desc->height > 0 && desc->samples >= 1 && desc->samples <= 4);
    flx_status         status = FLX_OK;
    flx_raster_corner* corner = NULL;
    float *            normal = NULL, *face = NULL;
    picture            w = {.desc = desc, .rgb = rgb, .stride = stride};
    const int32_t      m = desc->samples;
    double             middle[3];

    w.vertical[desc->vertical == 1 ? 1 : 2] = 1;
    w.first_bone                            = desc->triangle_count - desc->bone_count;
    w.first_plane                           = w.first_bone - desc->plane_count;
    w.first_obstacle                        = w.first_plane - desc->obstacle_count;
    w.size                                  = middle_of(&w, middle);
    w.view   = flx__raster_look(desc->from, desc->at, desc->up, desc->view_width, desc->orthographic, desc->width * m,
                                desc->height * m);
    w.detail = desc->view_width > 0 && desc->view_width < w.size ? desc->view_width : w.size;
    // the key light stands to the left of the camera, high up
    for (int i = 0; i < 3; ++i)
        w.to_light[i] = -0.52 * w.view.right[i] - 0.40 * w.view.forward[i] + 0.30 * w.view.up[i] + 0.62 * w.vertical[i];
    const double length = flx__norm3(w.to_light);
    double       sun[3];
    for (int i = 0; i < 3; ++i)
    {
        w.to_light[i] /= length;
        sun[i] = middle[i] + 2 * w.size * w.to_light[i];
    }
    w.light_view = flx__raster_look(sun, middle, w.view.up, 1.05 * w.size, true, SHADOW_PIXELS, SHADOW_PIXELS);

    FLX_NEW(ctx, corner, desc->vertex_count);
    FLX_NEW(ctx, face, 3 * (int64_t)desc->triangle_count);
    FLX_NEW(ctx, normal, 9 * (int64_t)desc->triangle_count);
    FLX_TRY(flx__raster_buffer_create(ctx, w.light_view.width, w.light_view.height, &w.shadow));
    FLX_TRY(flx__raster_buffer_create(ctx, w.view.width, w.view.height, &w.buffer));
    FLX_TRY(flx__raster_triangles(ctx, &w.light_view, desc->vertex_count, desc->x, w.first_plane, desc->triangle,
                                  corner, &w.shadow));
    FLX_TRY(flx__raster_triangles(ctx, &w.view, desc->vertex_count, desc->x, w.first_bone, desc->triangle, corner,
                                  &w.buffer));
    if (desc->bone_count > 0)
    {
        FLX_TRY(flx__raster_buffer_create(ctx, w.view.width, w.view.height, &w.bones));
        FLX_TRY(flx__raster_triangles(ctx, &w.view, desc->vertex_count, desc->x, desc->bone_count,
                                      desc->triangle + 3 * (int64_t)w.first_bone, corner, &w.bones));
    }
    FLX_TRY(corner_normals(ctx, desc, face, normal));
    w.corner = corner;
    w.normal = normal;
    flx__parallel_for(ctx, desc->height, 4, draw_rows, &w);

done:
    flx__free(ctx, corner);
    flx__free(ctx, normal);
    flx__free(ctx, face);
    flx__raster_buffer_release(ctx, &w.shadow);
    flx__raster_buffer_release(ctx, &w.buffer);
    flx__raster_buffer_release(ctx, &w.bones);
    return status;
}
