// Surfaces that geometry tests are made on: cube, sphere, torus, random soups, and a small OBJ reader of its own, so
// that these tests do not depend on the mesh readers.
#ifndef FLX_TESTS_MESH_SURFACES_H
#define FLX_TESTS_MESH_SURFACES_H

#include "test.h"

typedef struct surface
{
    int32_t  vertex_count, triangle_count;
    double*  x;
    int32_t* triangle;
} surface;

static inline surface surface_new(int32_t vertex_count, int32_t triangle_count)
{
    return (surface){vertex_count, triangle_count, calloc((size_t)vertex_count * 3 + 1, sizeof(double)),
                     calloc((size_t)triangle_count * 3 + 1, sizeof(int32_t))};
}

static inline void surface_free(surface* s)
{
    free(s->x);
    free(s->triangle);
    *s = (surface){0};
}

/// [0, 1]^3, outward
static inline surface surface_cube(void)
{
    static const int32_t face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    surface              s           = surface_new(8, 12);
    for (int v = 0; v < 8; ++v)
        for (int k = 0; k < 3; ++k) s.x[3 * v + k] = (v >> k) & 1;
    memcpy(s.triangle, face, sizeof face);
    return s;
}

/// Unit sphere about the origin: `n` rings of 2 n vertices, outward.
static inline surface surface_sphere(int32_t n)
{
    const int32_t m = 2 * n;
    surface       s = surface_new(n * m + 2, 2 * n * m);
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < m; ++j)
        {
            const double theta = M_PI * (i + 1) / (n + 1), phi = 2 * M_PI * j / m;
            double*      x = &s.x[3 * (i * m + j)];
            x[0]           = sin(theta) * cos(phi);
            x[1]           = sin(theta) * sin(phi);
            x[2]           = cos(theta);
        }
    s.x[3 * n * m + 2] = 1;
    s.x[3 * n * m + 5] = -1;
    int32_t* t         = s.triangle;
    for (int32_t j = 0; j < m; ++j)
    {
        const int32_t k = (j + 1) % m;
        *t++ = n * m, *t++ = j, *t++ = k;
        *t++ = n * m + 1, *t++ = (n - 1) * m + k, *t++ = (n - 1) * m + j;
        for (int32_t i = 0; i + 1 < n; ++i)
        {
            const int32_t a = i * m + j, b = i * m + k, c = a + m, d = b + m;
            *t++ = a, *t++ = c, *t++ = b;
            *t++ = b, *t++ = c, *t++ = d;
        }
    }
    return s;
}

/// Torus about z, radii R and r, outward.
static inline surface surface_torus(int32_t n, int32_t m, double R, double r)
{
    surface  s = surface_new(n * m, 2 * n * m);
    int32_t* t = s.triangle;
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < m; ++j)
        {
            const double u = 2 * M_PI * i / n, v = 2 * M_PI * j / m;
            double*      x  = &s.x[3 * (i * m + j)];
            x[0]            = (R + r * cos(v)) * cos(u);
            x[1]            = (R + r * cos(v)) * sin(u);
            x[2]            = r * sin(v);
            const int32_t a = i * m + j, b = (i + 1) % n * m + j, c = i * m + (j + 1) % m,
                          d = (i + 1) % n * m + (j + 1) % m;
            *t++ = a, *t++ = b, *t++ = c;
            *t++ = b, *t++ = d, *t++ = c;
        }
    return s;
}

static inline surface surface_soup(int32_t triangle_count, double size, uint64_t* seed)
{
    surface s = surface_new(3 * triangle_count, triangle_count);
    for (int32_t t = 0; t < triangle_count; ++t)
    {
        double middle[3];
        for (int k = 0; k < 3; ++k) middle[k] = test_random(seed);
        for (int v = 0; v < 3; ++v)
        {
            s.triangle[3 * t + v] = 3 * t + v;
            for (int k = 0; k < 3; ++k) s.x[3 * (3 * t + v) + k] = middle[k] + size * (test_random(seed) - 0.5);
        }
    }
    return s;
}

/// Two surfaces in one, the second moved by `shift`.
static inline surface surface_both(const surface* a, const surface* b, const double shift[3])
{
    surface s = surface_new(a->vertex_count + b->vertex_count, a->triangle_count + b->triangle_count);
    memcpy(s.x, a->x, (size_t)a->vertex_count * 3 * sizeof(double));
    memcpy(s.triangle, a->triangle, (size_t)a->triangle_count * 3 * sizeof(int32_t));
    for (int32_t i = 0; i < 3 * b->vertex_count; ++i) s.x[3 * a->vertex_count + i] = b->x[i] + shift[i % 3];
    for (int32_t i = 0; i < 3 * b->triangle_count; ++i)
        s.triangle[3 * a->triangle_count + i] = b->triangle[i] + a->vertex_count;
    return s;
}

static inline void surface_flip(surface* s, int32_t triangle)
{
    const int32_t v               = s->triangle[3 * triangle + 1];
    s->triangle[3 * triangle + 1] = s->triangle[3 * triangle + 2];
    s->triangle[3 * triangle + 2] = v;
}

/// `v` and `f` lines of an OBJ file, polygons as fans; only the faces of `group` unless that is NULL.
static inline surface surface_obj(const char* path, const char* group)
{
    FILE* file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    surface s = surface_new(200000, 400000);
    char    line[4096], name[256] = "";
    s.vertex_count = s.triangle_count = 0;
    while (fgets(line, sizeof line, file))
    {
        double* x = &s.x[3 * s.vertex_count];
        if (line[0] == 'v' && line[1] == ' ')
        {
            assert_int_equal(sscanf(line + 2, "%lf %lf %lf", x, x + 1, x + 2), 3);
            ++s.vertex_count;
        }
        else if (line[0] == 'g')
            sscanf(line + 1, "%255s", name);
        else if (line[0] == 'f' && (!group || strcmp(group, name) == 0))
        {
            int32_t corner[64], count = 0;
            char*   rest = NULL;
            for (char* word = strtok_r(line + 1, " \r\n", &rest); word; word = strtok_r(NULL, " \r\n", &rest))
                corner[count++] = atoi(word) - 1;
            for (int32_t i = 2; i < count; ++i)
            {
                int32_t* t = &s.triangle[3 * s.triangle_count++];
                t[0] = corner[0], t[1] = corner[i - 1], t[2] = corner[i];
            }
        }
    }
    fclose(file);
    return s;
}

#endif
