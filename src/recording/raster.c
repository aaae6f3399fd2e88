// Triangles to a depth buffer.
//
// Corners are snapped to 1/256 pixel, so that edge functions are exact integers:
//   E(a, b, p) = (b - a) x (p - a),   p inside when all three have the triangle's sign; E = 0 belongs to the side for
// which the edge is a top or a left one. Neighbours therefore neither overlap nor leave holes.
// Depth key k (1/z, or -z in parallel projection) is linear on the screen: k = sum_i k_i E_i / E.
// Triangles are sorted into square tiles; tiles are independent, so any number of workers gives the same bits.
#include "recording/raster.h"

#include "math/mat3.h"

#include <string.h>

#define TILE 64
#define SUB 256
#define FARTHEST 4.0e6 // pixels: corners farther out are taken as unusable (edge functions stay below 2^63)

flx_raster_view flx__raster_look(const double from[3], const double at[3], const double up[3], double width_m,
                                 bool orthographic, int32_t width, int32_t height)
{
    flx_raster_view v = {.orthographic = orthographic, .width = width, .height = height};
    double          forward[3], right[3];
    flx__sub3(at, from, forward);
    double distance = flx__norm3(forward);
    if (!(distance > 0))
    {
        forward[0] = 0, forward[1] = 1, forward[2] = 0;
        distance = 1;
    }
    else
        for (int i = 0; i < 3; ++i) forward[i] /= distance;
    flx__cross3(forward, up, right);
    if (!(flx__norm3(right) > 1e-9 * flx__norm3(up)))
    {
        // looking along `up`: any other direction will do
        const double other[3] = {fabs(forward[0]) < 0.5, fabs(forward[0]) >= 0.5, 0};
        flx__cross3(forward, other, right);
    }
    const double length = flx__norm3(right);
    for (int i = 0; i < 3; ++i)
    {
        v.eye[i]     = from[i];
        v.forward[i] = forward[i];
        v.right[i]   = right[i] / length;
    }
    flx__cross3(v.right, v.forward, v.up);
    const double across = width_m > 0 ? width_m : distance;
    v.scale             = orthographic ? width / across : width * distance / across;
    v.nearest           = 1e-3 * distance;
    return v;
}

flx_status flx__raster_buffer_create(flx_context* ctx, int32_t width, int32_t height, flx_raster_buffer* out)
{
    flx_status        status = FLX_OK;
    flx_raster_buffer b      = {.width = width, .height = height};
    FLX_NEW(ctx, b.triangle, (int64_t)width * height);
    FLX_NEW(ctx, b.key, (int64_t)width * height);
    *out = b;
    return FLX_OK;
done:
    flx__raster_buffer_release(ctx, &b);
    *out = (flx_raster_buffer){0};
    return status;
}

void flx__raster_buffer_release(flx_context* ctx, flx_raster_buffer* buffer)
{
    flx__free(ctx, buffer->triangle);
    flx__free(ctx, buffer->key);
    *buffer = (flx_raster_buffer){0};
}

static flx_raster_corner project(const flx_raster_view* v, const float x[3])
{
    const double d[3] = {x[0] - v->eye[0], x[1] - v->eye[1], x[2] - v->eye[2]};
    const double z    = flx__dot3(d, v->forward);
    double       sx = flx__dot3(d, v->right) * v->scale, sy = -flx__dot3(d, v->up) * v->scale;
    if (!v->orthographic)
    {
        if (!(z > v->nearest)) return (flx_raster_corner){.good = false};
        sx /= z;
        sy /= z;
    }
    sx += 0.5 * v->width;
    sy += 0.5 * v->height;
    if (!(fabs(sx) < FARTHEST && fabs(sy) < FARTHEST && isfinite(z))) return (flx_raster_corner){.good = false};
    return (flx_raster_corner){
        .x = llround(sx * SUB), .y = llround(sy * SUB), .key = (float)(v->orthographic ? -z : 1 / z), .good = true};
}

/// Pixels whose centres may be inside; false when none or when the triangle cannot be drawn.
static bool pixel_box(const flx_raster_corner* a, const flx_raster_corner* b, const flx_raster_corner* c,
                      const flx_raster_buffer* buffer, int32_t box[4])
{
    if (!a->good || !b->good || !c->good) return false;
    int64_t x0 = a->x, x1 = a->x, y0 = a->y, y1 = a->y;
    if (b->x < x0) x0 = b->x;
    if (b->x > x1) x1 = b->x;
    if (c->x < x0) x0 = c->x;
    if (c->x > x1) x1 = c->x;
    if (b->y < y0) y0 = b->y;
    if (b->y > y1) y1 = b->y;
    if (c->y < y0) y0 = c->y;
    if (c->y > y1) y1 = c->y;
    // centre of pixel i lies at i SUB + SUB / 2
    x0 = x0 < 0 ? 0 : x0 / SUB;
    y0 = y0 < 0 ? 0 : y0 / SUB;
    if (x1 < 0 || y1 < 0) return false;
    x1 = x1 / SUB;
    y1 = y1 / SUB;
    if (x1 >= buffer->width) x1 = buffer->width - 1;
    if (y1 >= buffer->height) y1 = buffer->height - 1;
    box[0] = (int32_t)x0, box[1] = (int32_t)y0, box[2] = (int32_t)x1, box[3] = (int32_t)y1;
    return x0 <= x1 && y0 <= y1;
}

static inline int64_t edge(const flx_raster_corner* a, const flx_raster_corner* b, int64_t px, int64_t py)
{
    return (b->x - a->x) * (py - a->y) - (b->y - a->y) * (px - a->x);
}

/// With positive area and y down: 0 when points exactly on the edge count as inside, else -1 is to be added.
static inline int64_t edge_bias(const flx_raster_corner* a, const flx_raster_corner* b)
{
    const int64_t dx = b->x - a->x, dy = b->y - a->y;
    return dy < 0 || (dy == 0 && dx > 0) ? 0 : -1;
}

typedef struct raster_job
{
    const int32_t*           triangle;
    const flx_raster_corner* corner;
    flx_raster_buffer*       buffer;
    int32_t                  tiles_x;
    const int64_t*           first; // [tile + 1] into `member`
    const int32_t*           member;
} raster_job;

static void draw_in_tile(const raster_job* job, int32_t t, const int32_t tile[4])
{
    const flx_raster_corner* a      = &job->corner[job->triangle[3 * (int64_t)t]];
    const flx_raster_corner* b      = &job->corner[job->triangle[3 * (int64_t)t + 1]];
    const flx_raster_corner* c      = &job->corner[job->triangle[3 * (int64_t)t + 2]];
    flx_raster_buffer*       buffer = job->buffer;

    int64_t area = edge(a, b, c->x, c->y);
    if (area == 0) return; // seen exactly from the side, or without area
    if (area < 0)
    {
        const flx_raster_corner* swap = b;
        b                             = c;
        c                             = swap;
        area                          = -area;
    }
    int32_t box[4];
    if (!pixel_box(a, b, c, buffer, box)) return;
    if (box[0] < tile[0]) box[0] = tile[0];
    if (box[1] < tile[1]) box[1] = tile[1];
    if (box[2] > tile[2]) box[2] = tile[2];
    if (box[3] > tile[3]) box[3] = tile[3];

    const int64_t bias_a = edge_bias(b, c), bias_b = edge_bias(c, a), bias_c = edge_bias(a, b);
    const double  scale = 1.0 / (double)area;
    const double  ka = a->key * scale, kb = b->key * scale, kc = c->key * scale;
    for (int32_t y = box[1]; y <= box[3]; ++y)
    {
        const int64_t py = (int64_t)y * SUB + SUB / 2, px = (int64_t)box[0] * SUB + SUB / 2;
        int64_t       ea = edge(b, c, px, py), eb = edge(c, a, px, py), ec = edge(a, b, px, py);
        const int64_t da = -(c->y - b->y) * SUB, db = -(a->y - c->y) * SUB, dc = -(b->y - a->y) * SUB;
        const int64_t row = (int64_t)y * buffer->width;
        for (int32_t x = box[0]; x <= box[2]; ++x, ea += da, eb += db, ec += dc)
        {
            if (((ea + bias_a) | (eb + bias_b) | (ec + bias_c)) < 0) continue;
            const float key = (float)((double)ea * ka + (double)eb * kb + (double)ec * kc);
            if (buffer->triangle[row + x] >= 0 && !(key > buffer->key[row + x])) continue;
            buffer->key[row + x]      = key;
            buffer->triangle[row + x] = t;
        }
    }
}

static void draw_tiles(void* user, int64_t begin, int64_t end, int32_t worker)
{
    (void)worker;
    const raster_job*  job    = user;
    flx_raster_buffer* buffer = job->buffer;
    for (int64_t i = begin; i < end; ++i)
    {
        int32_t tile[4] = {(int32_t)(i % job->tiles_x) * TILE, (int32_t)(i / job->tiles_x) * TILE, 0, 0};
        tile[2]         = tile[0] + TILE - 1 < buffer->width ? tile[0] + TILE - 1 : buffer->width - 1;
        tile[3]         = tile[1] + TILE - 1 < buffer->height ? tile[1] + TILE - 1 : buffer->height - 1;
        for (int32_t y = tile[1]; y <= tile[3]; ++y)
            for (int32_t x = tile[0]; x <= tile[2]; ++x)
            {
                buffer->triangle[(int64_t)y * buffer->width + x] = -1;
                buffer->key[(int64_t)y * buffer->width + x]      = 0;
            }
        for (int64_t k = job->first[i]; k < job->first[i + 1]; ++k) draw_in_tile(job, job->member[k], tile);
    }
}

/// One walk over all triangles and their tiles: counts when member == NULL, else fills. `first` is shifted by one.
static void sort_into_tiles(const raster_job* job, int32_t triangle_count, int64_t* first, int32_t* member)
{
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        const int32_t* v = job->triangle + 3 * (int64_t)t;
        int32_t        box[4];
        if (!pixel_box(&job->corner[v[0]], &job->corner[v[1]], &job->corner[v[2]], job->buffer, box)) continue;
        for (int32_t y = box[1] / TILE; y <= box[3] / TILE; ++y)
            for (int32_t x = box[0] / TILE; x <= box[2] / TILE; ++x)
            {
                int64_t* at = &first[(int64_t)y * job->tiles_x + x + 1];
                if (member) member[*at] = t;
                ++*at;
            }
    }
}

flx_status flx__raster_triangles(flx_context* ctx, const flx_raster_view* view, int32_t vertex_count, const float* x,
                                 int32_t triangle_count, const int32_t* triangle, flx_raster_corner* corner,
                                 flx_raster_buffer* buffer)
{
    flx_status    status  = FLX_OK;
    int64_t*      first   = NULL;
    int32_t*      member  = NULL;
    const int32_t tiles_x = (buffer->width + TILE - 1) / TILE, tiles_y = (buffer->height + TILE - 1) / TILE;
    const int64_t tiles = (int64_t)tiles_x * tiles_y;
    raster_job    job   = {.triangle = triangle, .corner = corner, .buffer = buffer, .tiles_x = tiles_x};

    for (int32_t i = 0; i < vertex_count; ++i) corner[i] = project(view, x + 3 * (int64_t)i);

    FLX_NEW_ZERO(ctx, first, tiles + 2);
    // counts land one place further than needed, so that after the filling walk first[i] is where tile i begins
    sort_into_tiles(&job, triangle_count, first + 1, NULL);
    for (int64_t i = 0; i < tiles; ++i) first[i + 2] += first[i + 1];
    FLX_NEW(ctx, member, first[tiles + 1]);
    sort_into_tiles(&job, triangle_count, first, member);
    job.first  = first;
    job.member = member;
    flx__parallel_for(ctx, tiles, 1, draw_tiles, &job);

done:
    flx__free(ctx, first);
    flx__free(ctx, member);
    return status;
}
