// Surfaces that lattices are made in: blocks, boxes, spheres, tori, several at once.
#ifndef FLX_TESTS_MESH_LATTICE_BODIES_H
#define FLX_TESTS_MESH_LATTICE_BODIES_H

#include "mesh/surfaces.h"

static inline void add_vertex(surface* s, double x, double y, double z)
{
    s->x      = realloc(s->x, sizeof(double) * 3 * (size_t)(s->vertex_count + 1));
    double* p = s->x + 3 * s->vertex_count++;
    p[0]      = x;
    p[1]      = y;
    p[2]      = z;
}

static inline void add_triangle(surface* s, int32_t a, int32_t b, int32_t c)
{
    s->triangle = realloc(s->triangle, sizeof(int32_t) * 3 * (size_t)(s->triangle_count + 1));
    int32_t* t  = s->triangle + 3 * s->triangle_count++;
    t[0]        = a;
    t[1]        = b;
    t[2]        = c;
}

static inline void append(surface* s, const surface* other)
{
    const int32_t first = s->vertex_count;
    for (int32_t v = 0; v < other->vertex_count; ++v)
        add_vertex(s, other->x[3 * v], other->x[3 * v + 1], other->x[3 * v + 2]);
    for (int32_t t = 0; t < other->triangle_count; ++t)
        add_triangle(s, first + other->triangle[3 * t], first + other->triangle[3 * t + 1],
                     first + other->triangle[3 * t + 2]);
}

// Boundary of the filled blocks of a rectilinear grid with the given planes; full[i + nx (j + ny k)] over nx ny nz
// blocks.
static inline surface blocks(int nx, const double* px, int ny, const double* py, int nz, const double* pz,
                             const char* full)
{
    surface  s      = {0};
    int32_t* number = malloc(sizeof(int32_t) * (size_t)((nx + 1) * (ny + 1) * (nz + 1)));
    for (int i = 0; i < (nx + 1) * (ny + 1) * (nz + 1); ++i) number[i] = -1;
    const int n[3] = {nx, ny, nz};
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
                for (int side = 0; side < 6 && full[i + nx * (j + ny * k)] == '#'; ++side)
                {
                    const int axis = side / 2, up = side % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
                    int       at[3] = {i, j, k};
                    at[axis] += up ? 1 : -1;
                    if (at[axis] >= 0 && at[axis] < n[axis] && full[at[0] + nx * (at[1] + ny * at[2])] == '#') continue;
                    int32_t q[4];
                    for (int c = 0; c < 4; ++c)
                    {
                        int g[3] = {i, j, k};
                        g[axis] += up;
                        g[u] += c == 1 || c == 2;
                        g[v] += c >= 2;
                        int32_t* id = &number[g[0] + (nx + 1) * (g[1] + (ny + 1) * g[2])];
                        if (*id < 0)
                        {
                            *id = s.vertex_count;
                            add_vertex(&s, px[g[0]], py[g[1]], pz[g[2]]);
                        }
                        q[c] = *id;
                    }
                    add_triangle(&s, q[0], q[up ? 1 : 2], q[up ? 2 : 1]);
                    add_triangle(&s, q[0], q[up ? 2 : 3], q[up ? 3 : 2]);
                }
    free(number);
    return s;
}

static inline surface box(double x0, double y0, double z0, double x1, double y1, double z1)
{
    const double x[2] = {x0, x1}, y[2] = {y0, y1}, z[2] = {z0, z1};
    return blocks(1, x, 1, y, 1, z, "#");
}

// n x n x n unit blocks, with the blocks from a to b (exclusive) of each axis missing
static inline surface unit_blocks(int nx, int ny, int nz, const int a[3], const int b[3])
{
    double px[16];
    char   full[512];
    for (int i = 0; i < 16; ++i) px[i] = i;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
            {
                const bool hole             = i >= a[0] && i < b[0] && j >= a[1] && j < b[1] && k >= a[2] && k < b[2];
                full[i + nx * (j + ny * k)] = hole ? '.' : '#';
            }
    return blocks(nx, px, ny, px, nz, px, full);
}

static inline surface sphere(double radius, int rings)
{
    surface   s = {0};
    const int m = 2 * rings;
    add_vertex(&s, 0, 0, radius);
    for (int i = 1; i < rings; ++i)
        for (int j = 0; j < m; ++j)
            add_vertex(&s, radius * sin(M_PI * i / rings) * cos(2 * M_PI * j / m),
                       radius * sin(M_PI * i / rings) * sin(2 * M_PI * j / m), radius * cos(M_PI * i / rings));
    add_vertex(&s, 0, 0, -radius);
    for (int j = 0; j < m; ++j)
    {
        const int next = (j + 1) % m, last = 1 + (rings - 2) * m;
        add_triangle(&s, 0, 1 + j, 1 + next);
        add_triangle(&s, s.vertex_count - 1, last + next, last + j);
        for (int i = 0; i + 2 < rings; ++i)
        {
            const int a = 1 + i * m, b = a + m;
            add_triangle(&s, a + j, b + j, b + next);
            add_triangle(&s, a + j, b + next, a + next);
        }
    }
    return s;
}

static inline surface torus(double R, double r, int n, int m)
{
    surface s = {0};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
        {
            const double u = 2 * M_PI * i / n, v = 2 * M_PI * j / m;
            add_vertex(&s, (R + r * cos(v)) * cos(u), (R + r * cos(v)) * sin(u), r * sin(v));
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
        {
            const int a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                      d = i * m + (j + 1) % m;
            add_triangle(&s, a, b, c);
            add_triangle(&s, a, c, d);
        }
    return s;
}

static inline void turn(surface* s) // so that nothing lies along the lattice
{
    const double c = cos(0.7), d = sin(0.7), e = cos(0.4), f = sin(0.4);
    for (int32_t v = 0; v < s->vertex_count; ++v)
    {
        double*      p = s->x + 3 * v;
        const double x = c * p[0] - d * p[1], y = d * p[0] + c * p[1], z = p[2];
        p[0] = x;
        p[1] = e * y - f * z;
        p[2] = f * y + e * z;
    }
}

#endif
