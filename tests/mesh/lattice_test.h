// What is asked of a lattice: components, Euler characteristic, and what holds for every one.
#ifndef FLX_TESTS_MESH_LATTICE_TEST_H
#define FLX_TESTS_MESH_LATTICE_TEST_H

#include "mesh/lattice.h"
#include "mesh/lattice_bodies.h"

static inline flx_status make(flx_context* ctx, const surface* s, const flx_lattice_options* options, flx_lattice** out)
{
    flx_triangle_bvh* bvh = NULL;
    *out                  = NULL;
    flx_status status     = flx__triangle_bvh_create(ctx, s->vertex_count, s->x, s->triangle_count, s->triangle, &bvh);
    if (status == FLX_OK)
        status = flx__lattice_create(ctx, "test.obj", s->vertex_count, s->x, s->triangle_count, s->triangle, bvh,
                                     options, out);
    flx__triangle_bvh_destroy(bvh);
    return status;
}

static inline flx_lattice* lattice_with_cell(flx_context* ctx, const surface* s, double cell)
{
    const flx_lattice_options options = {.cell = cell};
    flx_lattice*              l       = NULL;
    CHECK_OK(make(ctx, s, &options, &l));
    return l;
}

static inline int32_t root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

// Components of the tets whose centroid satisfies x < limit. label may be NULL.
static inline int32_t components_below(const flx_lattice* l, double limit, int32_t* label)
{
    int32_t* parent = malloc(sizeof(int32_t) * (size_t)l->vertex_count);
    char*    used   = calloc((size_t)l->vertex_count, 1);
    int32_t  count  = 0;
    for (int32_t v = 0; v < l->vertex_count; ++v) parent[v] = v;
    for (int32_t t = 0; t < l->tet_count; ++t)
    {
        const int32_t* c = l->tet + 4 * t;
        if (0.25 * (l->x[3 * c[0]] + l->x[3 * c[1]] + l->x[3 * c[2]] + l->x[3 * c[3]]) >= limit) continue;
        for (int i = 0; i < 4; ++i)
        {
            used[c[i]]                 = 1;
            parent[root(parent, c[i])] = root(parent, c[0]);
        }
    }
    for (int32_t v = 0; v < l->vertex_count; ++v)
    {
        if (label) label[v] = root(parent, v);
        count += used[v] && root(parent, v) == v;
    }
    free(parent);
    free(used);
    return count;
}

static inline int32_t components(const flx_lattice* l)
{
    return components_below(l, INFINITY, NULL);
}

static inline int by_ints(const void* a, const void* b)
{
    return memcmp(a, b, 3 * sizeof(int32_t)); // any total order will do
}

static inline int64_t distinct(int32_t (*key)[3], int64_t n)
{
    int64_t count = 0;
    qsort(key, (size_t)n, sizeof *key, by_ints);
    for (int64_t i = 0; i < n; ++i) count += i == 0 || by_ints(key[i], key[i - 1]) != 0;
    return count;
}

static inline int64_t euler(const flx_lattice* l) // vertices - edges + faces - tets
{
    int32_t(*edge)[3] = malloc(sizeof *edge * 6 * (size_t)l->tet_count);
    int32_t(*face)[3] = malloc(sizeof *face * 4 * (size_t)l->tet_count);
    int64_t edges = 0, faces = 0;
    for (int32_t t = 0; t < l->tet_count; ++t)
    {
        int32_t c[4];
        memcpy(c, l->tet + 4 * t, sizeof c);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                if (c[j] < c[i])
                {
                    const int32_t swap = c[i];
                    c[i]               = c[j];
                    c[j]               = swap;
                }
        for (int i = 0; i < 4; ++i)
        {
            for (int j = i + 1; j < 4; ++j, ++edges)
            {
                edge[edges][0] = c[i];
                edge[edges][1] = c[j];
                edge[edges][2] = 0;
            }
            for (int j = 0, n = 0; j < 4; ++j)
                if (j != i) face[faces][n++] = c[j];
            ++faces;
        }
    }
    const int64_t e = distinct(edge, edges), f = distinct(face, faces);
    free(edge);
    free(face);
    return l->vertex_count - e + f - l->tet_count;
}

// What holds for every lattice: equal positive volumes, no unused vertex, the surface inside, rest positions
// reproduced.
static inline void check_lattice(const surface* s, const flx_lattice* l)
{
    char* used = calloc((size_t)l->vertex_count, 1);
    for (int32_t t = 0; t < l->tet_count; ++t)
    {
        double e[3][3];
        for (int i = 0; i < 4; ++i)
        {
            assert_in_range(l->tet[4 * t + i], 0, l->vertex_count - 1);
            used[l->tet[4 * t + i]] = 1;
        }
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) e[i][k] = l->x[3 * l->tet[4 * t + i + 1] + k] - l->x[3 * l->tet[4 * t] + k];
        const double volume =
            (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
             e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
            6.0;
        CHECK_NEAR(volume / (l->cell * l->cell * l->cell), 1.0 / 12.0, 1e-9); // twelve to a cell
    }
    for (int32_t v = 0; v < l->vertex_count; ++v) assert_true(used[v]);
    free(used);

    double size = 0.0;
    for (int32_t i = 0; i < 3 * s->vertex_count; ++i) size = fmax(size, fabs(s->x[i]));
    for (int32_t i = 0; i < l->surface_vertex_count; ++i)
    {
        const flx_embedded* e = &l->surface[i];
        for (int k = 0; k < 3; ++k)
        {
            double p = 0.0;
            for (int c = 0; c < 4; ++c) p += e->weight[c] * l->x[3 * l->tet[4 * e->tet + c] + k];
            CHECK_NEAR(p, s->x[3 * l->surface_vertex[i] + k], 1e-12 * size);
        }
        for (int c = 0; c < 4; ++c) assert_true(e->weight[c] >= -1e-5); // vertices are located on a grid of 1e-6 cells
    }

    uint64_t seed = 3;
    for (int32_t t = 0; t < s->triangle_count; ++t)
        for (int n = 0; n < 1 + 20000 / s->triangle_count; ++n)
        {
            double       a = test_random(&seed), b = test_random(&seed), p[3];
            flx_embedded e;
            if (a + b > 1.0)
            {
                a = 1.0 - a;
                b = 1.0 - b;
            }
            for (int k = 0; k < 3; ++k)
                p[k] = (1.0 - a - b) * s->x[3 * s->triangle[3 * t] + k] + a * s->x[3 * s->triangle[3 * t + 1] + k] +
                       b * s->x[3 * s->triangle[3 * t + 2] + k];
            CHECK_NEAR(flx__lattice_embed(l, p, t, &e), 0.0, 1e-6 * l->cell); // as above
            for (int c = 0; c < 4; ++c) assert_true(e.weight[c] >= -1e-5);
        }
}

#endif
