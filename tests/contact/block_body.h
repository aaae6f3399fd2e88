// Blocks of tets with a surface embedded in them, made ready for self contact: what the tests of this room bend.
#ifndef FLX_TESTS_CONTACT_BLOCK_BODY_H
#define FLX_TESTS_CONTACT_BLOCK_BODY_H

#include "test.h"

#include "contact/contact.h"
#include "math/mat3.h"

/// A box of material in a grid of cells of edge `cell`, six tets each; the grid reaches `inset` beyond the material.
typedef struct block_desc
{
    double  min[3]; // m, of the grid
    int32_t cells[3];
    int32_t surface[3]; // quads of the surface along each axis
    double  inset;      // m; 0: the surface is the boundary of the tets
} block_desc;

typedef struct block_body
{
    double                cell;
    int32_t               vertex_count, tet_count, surface_count, triangle_count, proxy_count;
    double*               x_rest;
    double*               x;
    int32_t*              tet;
    int32_t*              search;
    double*               surface_x;
    flx_embedded*         surface;
    int32_t*              triangle;
    flx_proxy*            proxy;
    flx_contact*          contact;
    flx_triangle_bvh*     bvh;
    flx_distance_field*   field;
    flx_self_contact_desc desc;
    flx_self_contact*     self;
} block_body;

static inline int32_t block_vertex(const block_desc* b, int32_t first, int32_t i, int32_t j, int32_t k)
{
    return first + (i * (b->cells[1] + 1) + j) * (b->cells[2] + 1) + k;
}

/// Corners of the six tets of a cell, as steps along the axes from its lowest corner: all positive.
static inline void block_cell_tets(const block_desc* b, int32_t first, const int32_t at[3], int32_t tets[6][4])
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int t = 0; t < 6; ++t)
    {
        int32_t step[3] = {at[0], at[1], at[2]};
        tets[t][0]      = block_vertex(b, first, step[0], step[1], step[2]);
        for (int s = 0; s < 3; ++s)
        {
            ++step[order[t][s]];
            tets[t][s + 1] = block_vertex(b, first, step[0], step[1], step[2]);
        }
        if (t < 3) continue;
        const int32_t last = tets[t][3];
        tets[t][3]         = tets[t][2];
        tets[t][2]         = last;
    }
}

static inline void block_weights(const double* x, const int32_t* tet, const double* p, double w[4])
{
    double m[9], inverse[9] = {0}, d[3];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) m[3 * k + i] = x[3 * tet[i + 1] + k] - x[3 * tet[0] + k];
    assert_true(flx__invert3(m, inverse));
    flx__sub3(p, x + 3 * tet[0], d);
    flx__apply3(inverse, d, w + 1);
    w[0] = 1 - w[1] - w[2] - w[3];
}

static inline flx_embedded block_embed(const block_body* body, const block_desc* b, int32_t first, int32_t first_tet,
                                       const double* p)
{
    int32_t at[3];
    for (int k = 0; k < 3; ++k)
    {
        at[k] = (int32_t)floor((p[k] - b->min[k]) / body->cell);
        if (at[k] < 0) at[k] = 0;
        if (at[k] >= b->cells[k]) at[k] = b->cells[k] - 1;
    }
    int32_t tets[6][4];
    block_cell_tets(b, first, at, tets);
    flx_embedded best = {.tet = -1};
    double       low  = -INFINITY;
    for (int t = 0; t < 6; ++t)
    {
        double w[4];
        block_weights(body->x_rest, tets[t], p, w);
        const double least = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
        if (least <= low) continue;
        low      = least;
        best.tet = first_tet + 6 * ((at[0] * b->cells[1] + at[1]) * b->cells[2] + at[2]) + t;
        memcpy(best.weight, w, sizeof w);
    }
    return best;
}

static inline int32_t block_surface_vertex(block_body* body, const block_desc* b, int32_t first, int32_t first_tet,
                                           int32_t* known, const int32_t at[3])
{
    const int32_t key = (at[0] * (b->surface[1] + 1) + at[1]) * (b->surface[2] + 1) + at[2];
    if (known[key] >= 0) return known[key];
    const int32_t v = body->surface_count++;
    for (int k = 0; k < 3; ++k)
        body->surface_x[3 * v + k] =
            b->min[k] + b->inset + at[k] * (b->cells[k] * body->cell - 2 * b->inset) / b->surface[k];
    body->surface[v]  = block_embed(body, b, first, first_tet, body->surface_x + 3 * v);
    return known[key] = v;
}

static inline void block_face(block_body* body, const block_desc* b, int32_t first, int32_t first_tet, int32_t* known,
                              int axis, int side)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int32_t i = 0; i < b->surface[u]; ++i)
        for (int32_t j = 0; j < b->surface[v]; ++j)
        {
            int32_t corner[4];
            for (int c = 0; c < 4; ++c)
            {
                int32_t at[3];
                at[axis]  = side ? b->surface[axis] : 0;
                at[u]     = i + (c == 1 || c == 2);
                at[v]     = j + (c >= 2);
                corner[c] = block_surface_vertex(body, b, first, first_tet, known, at);
            }
            for (int t = 0; t < 2; ++t)
            {
                int32_t* triangle = body->triangle + 3 * body->triangle_count++;
                triangle[0]       = corner[0];
                triangle[1]       = corner[side ? 1 + t : 2 + t];
                triangle[2]       = corner[side ? 2 + t : 1 + t];
            }
        }
}

static inline void block_proxies(block_body* body, const block_desc* b, int32_t first, int32_t first_tet)
{
    for (; body->proxy_count < body->triangle_count; ++body->proxy_count)
    {
        // not the centroid: nothing should depend on lucky places
        static const double part[3] = {0.35, 0.4, 0.25};
        const int32_t*      c       = body->triangle + 3 * body->proxy_count;
        flx_proxy*          p       = &body->proxy[body->proxy_count];
        double              e[3], f[3];
        flx__sub3(body->surface_x + 3 * c[1], body->surface_x + 3 * c[0], e);
        flx__sub3(body->surface_x + 3 * c[2], body->surface_x + 3 * c[0], f);
        flx__cross3(e, f, p->normal);
        const double length = flx__norm3(p->normal);
        for (int k = 0; k < 3; ++k)
        {
            p->normal[k] /= length;
            p->rest[k] = 0;
            for (int i = 0; i < 3; ++i) p->rest[k] += part[i] * body->surface_x[3 * c[i] + k];
        }
        const flx_embedded at = block_embed(body, b, first, first_tet, p->rest);
        memcpy(p->vertex, body->tet + 4 * at.tet, sizeof p->vertex);
        memcpy(p->weight, at.weight, sizeof p->weight);
    }
}

/// Everything up to, not including, the self-contact object; the desc holds usable distances in cells.
static inline void block_body_make(flx_context* ctx, block_body* body, double cell, int32_t count,
                                   const block_desc* block)
{
    memset(body, 0, sizeof *body);
    body->cell       = cell;
    int64_t vertices = 0, tets = 0, quads = 0;
    for (int32_t i = 0; i < count; ++i)
    {
        const int32_t *c = block[i].cells, *s = block[i].surface;
        vertices += (c[0] + 1) * (c[1] + 1) * (c[2] + 1);
        tets += 6 * c[0] * c[1] * c[2];
        quads += 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]);
    }
    body->x_rest    = malloc((size_t)vertices * 3 * sizeof(double));
    body->x         = malloc((size_t)vertices * 3 * sizeof(double));
    body->tet       = malloc((size_t)tets * 4 * sizeof(int32_t));
    body->search    = malloc((size_t)tets * sizeof(int32_t));
    body->surface_x = malloc((size_t)quads * 2 * 3 * sizeof(double));
    body->surface   = malloc((size_t)quads * 2 * sizeof(flx_embedded));
    body->triangle  = malloc((size_t)quads * 6 * sizeof(int32_t));
    body->proxy     = malloc((size_t)quads * 2 * sizeof(flx_proxy));
    body->contact   = malloc((size_t)quads * 2 * sizeof(flx_contact));

    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t n = 0; n < count; ++n)
    {
        const block_desc* b     = &block[n];
        const int32_t     first = body->vertex_count, first_tet = body->tet_count;
        for (int32_t i = 0; i <= b->cells[0]; ++i)
            for (int32_t j = 0; j <= b->cells[1]; ++j)
                for (int32_t k = 0; k <= b->cells[2]; ++k)
                {
                    double* x = body->x_rest + 3 * body->vertex_count++;
                    x[0] = b->min[0] + i * cell, x[1] = b->min[1] + j * cell, x[2] = b->min[2] + k * cell;
                    for (int a = 0; a < 3; ++a) lo[a] = fmin(lo[a], x[a]), hi[a] = fmax(hi[a], x[a]);
                }
        for (int32_t i = 0; i < b->cells[0]; ++i)
            for (int32_t j = 0; j < b->cells[1]; ++j)
                for (int32_t k = 0; k < b->cells[2]; ++k)
                {
                    int32_t tets6[6][4];
                    block_cell_tets(b, first, (const int32_t[3]){i, j, k}, tets6);
                    memcpy(body->tet + 4 * body->tet_count, tets6, sizeof tets6);
                    body->tet_count += 6;
                }
        const int32_t keys  = (b->surface[0] + 1) * (b->surface[1] + 1) * (b->surface[2] + 1);
        int32_t*      known = malloc((size_t)keys * sizeof *known);
        for (int32_t i = 0; i < keys; ++i) known[i] = -1;
        for (int axis = 0; axis < 3; ++axis)
            for (int side = 0; side < 2; ++side) block_face(body, b, first, first_tet, known, axis, side);
        free(known);
        block_proxies(body, b, first, first_tet);
    }
    for (int32_t t = 0; t < body->tet_count; ++t) body->search[t] = t;
    memcpy(body->x, body->x_rest, (size_t)vertices * 3 * sizeof(double));

    CHECK_OK(flx__triangle_bvh_create(ctx, body->surface_count, body->surface_x, body->triangle_count, body->triangle,
                                      &body->bvh));
    CHECK_OK(flx__distance_field_create(ctx, "blocks", body->bvh, lo, hi, 0.5 * cell, 2 * cell, &body->field));
    body->desc = (flx_self_contact_desc){.x_rest           = body->x_rest,
                                         .vertex_count     = body->vertex_count,
                                         .tet              = body->tet,
                                         .tet_count        = body->tet_count,
                                         .search_count     = body->tet_count,
                                         .search           = body->search,
                                         .proxy_count      = body->proxy_count,
                                         .proxy            = body->proxy,
                                         .field            = body->field,
                                         .bvh              = body->bvh,
                                         .surface_triangle = body->triangle,
                                         .surface          = body->surface,
                                         .exclude          = 1.5 * cell,
                                         .margin           = 0.5 * cell,
                                         .depth            = 1.6 * cell};
}

static inline void block_body_open(flx_context* ctx, block_body* body)
{
    CHECK_OK(flx__self_contact_create(ctx, &body->desc, &body->self));
}

static inline void block_body_close(block_body* body)
{
    flx__self_contact_destroy(body->self);
    flx__distance_field_destroy(body->field);
    flx__triangle_bvh_destroy(body->bvh);
    free(body->x_rest), free(body->x), free(body->tet), free(body->search), free(body->surface_x), free(body->surface);
    free(body->triangle), free(body->proxy), free(body->contact);
    memset(body, 0, sizeof *body);
}

// --- shared checks -----------------------------------------------------------------------------------------

#define CELL 0.01

static inline void row_point(const flx_contact* c, const double* x, int from, int to, double out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = 0;
    for (int i = from; i < to; ++i)
        for (int k = 0; k < 3; ++k)
            if (c->vertex[i] >= 0) out[k] += c->weight[i] * x[3 * c->vertex[i] + k];
}

/// What every contact keeps, whatever the deformation.
static inline void check_contract(const block_body* body, const double* x, int32_t count)
{
    for (int32_t i = 0; i < count; ++i)
    {
        const flx_contact* c = &body->contact[i];
        assert_true(c->proxy >= 0 && c->proxy < body->proxy_count);
        if (i > 0) assert_true(c->proxy > body->contact[i - 1].proxy);
        assert_int_equal(c->obstacle, -1);
        assert_true(c->partner >= 0 && c->partner < body->triangle_count);
        double own = 0, partner = 0, apart[3];
        for (int k = 0; k < 4; ++k) own += c->weight[k];
        for (int k = 4; k < FLX_CONTACT_CORNERS; ++k) partner += c->vertex[k] >= 0 ? c->weight[k] : 0;
        CHECK_NEAR(own, 1, 1e-12); // sums of four weights: rounding
        CHECK_NEAR(partner, -1, 1e-12);
        CHECK_NEAR(flx__norm3(c->normal), 1, 1e-12);
        row_point(c, x, 0, FLX_CONTACT_CORNERS, apart);
        flx__sub3(apart, c->target, apart);
        CHECK_NEAR(flx__dot3(apart, c->normal), c->gap, 1e-14); // gap = n . (sum w x - target), m
        assert_true(c->gap <= 1.5 * body->desc.margin);
        assert_true(c->gap >= -body->desc.depth - body->desc.offset);
    }
}

static inline int32_t find(block_body* body)
{
    const int32_t count = flx__self_contact_find(body->self, body->x, body->contact);
    check_contract(body, body->x, count);
    return count;
}

static inline const flx_contact* contact_of(const block_body* body, int32_t count, int32_t proxy)
{
    for (int32_t i = 0; i < count; ++i)
        if (body->contact[i].proxy == proxy) return &body->contact[i];
    return NULL;
}

/// Two blocks, one above the other with `gap` between them at rest (negative: overlapping). When they touch, the upper
/// one is set aside by half and both are tall: a surface that lies on itself for the most part has no inside.
static inline void pair_open(flx_context* ctx, block_body* body, double gap, double inset)
{
    const int32_t tall = gap == 0 ? 9 : 3;
    block_desc    b[2] = {{{-0.04, -0.03, -tall * CELL}, {8, 6, tall}, {8, 6, tall}, inset},
                          {{-0.043, -0.028, 0}, {8, 6, tall}, {8, 6, tall}, inset}};
    if (gap == 0) b[1].min[0] += 0.03;
    b[0].min[2] += inset;
    b[1].min[2] += gap - inset;
    block_body_make(ctx, body, CELL, 2, b);
}

/// Move the upper block down by d.
static inline void press(block_body* body, double d)
{
    memcpy(body->x, body->x_rest, (size_t)body->vertex_count * 3 * sizeof(double));
    for (int32_t v = body->vertex_count / 2; v < body->vertex_count; ++v) body->x[3 * v + 2] -= d;
}

static inline bool between(const block_body* body, int32_t proxy, double gap, bool upper)
{
    const flx_proxy* p = &body->proxy[proxy];
    return fabs(p->rest[2] - (upper ? gap : 0)) < 1e-9 && fabs(p->normal[2] - (upper ? -1 : 1)) < 1e-9 &&
           fabs(p->rest[0]) < 0.02 && fabs(p->rest[1]) < 0.015; // nearer to this face than to any other
}

#endif
