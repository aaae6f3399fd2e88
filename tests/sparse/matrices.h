// Matrices the tests and the benchmark of this room are made from: symmetric positive definite, built from edges.
#ifndef FLX_TESTS_SPARSE_MATRICES_H
#define FLX_TESTS_SPARSE_MATRICES_H

#include "sparse/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// a = sum over edges of value at (i, j), plus a diagonal. Entries may repeat: they add up.
typedef struct edges
{
    int32_t  n;
    int64_t  count, capacity;
    int32_t* i;
    int32_t* j;
    double*  value;    // off-diagonal
    double*  diagonal; // [n]
} edges;

static inline edges edges_new(int32_t n)
{
    edges e    = {.n = n, .capacity = 64};
    e.i        = malloc((size_t)e.capacity * sizeof *e.i);
    e.j        = malloc((size_t)e.capacity * sizeof *e.j);
    e.value    = malloc((size_t)e.capacity * sizeof *e.value);
    e.diagonal = calloc((size_t)n + 1, sizeof *e.diagonal);
    return e;
}

static inline void edges_free(edges* e)
{
    free(e->i);
    free(e->j);
    free(e->value);
    free(e->diagonal);
}

static inline void edges_add(edges* e, int32_t i, int32_t j, double value)
{
    if (e->count == e->capacity)
    {
        e->capacity *= 2;
        e->i     = realloc(e->i, (size_t)e->capacity * sizeof *e->i);
        e->j     = realloc(e->j, (size_t)e->capacity * sizeof *e->j);
        e->value = realloc(e->value, (size_t)e->capacity * sizeof *e->value);
    }
    e->i[e->count]       = i;
    e->j[e->count]       = j;
    e->value[e->count++] = value;
}

/// A spring between i and j: positive semidefinite, zero row sums.
static inline void edges_spring(edges* e, int32_t i, int32_t j, double stiffness)
{
    edges_add(e, i, j, -stiffness);
    e->diagonal[i] += stiffness;
    e->diagonal[j] += stiffness;
}

/// Body-centred cubic lattice: a node for each corner and centre of the kept cells, springs along the edges of its
/// tets. node_at (may be NULL): [3] position of each node in half cells, malloc'ed for the caller.
static inline edges edges_lattice(int32_t nx, int32_t ny, int32_t nz, bool (*keep)(int32_t, int32_t, int32_t),
                                  int32_t (**node_at)[3])
{
    const int64_t mx = 2 * nx + 1, my = 2 * ny + 1, mz = 2 * nz + 1;
    int32_t*      id = malloc((size_t)(mx * my * mz) * sizeof *id);
    int32_t(*at)[3]  = malloc((size_t)(mx * my * mz / 2 + 8) * sizeof *at);
    int32_t count    = 0;
#define LATTICE_ID(x, y, z) id[(((int64_t)(z)) * my + (y)) * mx + (x)]
    memset(id, 0xff, (size_t)(mx * my * mz) * sizeof *id);
    for (int32_t z = 0; z < nz; ++z)
        for (int32_t y = 0; y < ny; ++y)
            for (int32_t x = 0; x < nx; ++x)
            {
                if (keep && !keep(x, y, z)) continue;
                LATTICE_ID(2 * x + 1, 2 * y + 1, 2 * z + 1) = 0;
                for (int32_t c = 0; c < 8; ++c)
                    LATTICE_ID(2 * (x + (c & 1)), 2 * (y + (c >> 1 & 1)), 2 * (z + (c >> 2))) = 0;
            }
    for (int32_t z = 0; z < mz; ++z)
        for (int32_t y = 0; y < my; ++y)
            for (int32_t x = 0; x < mx; ++x)
                if (LATTICE_ID(x, y, z) == 0)
                {
                    at[count][0]        = x;
                    at[count][1]        = y;
                    at[count][2]        = z;
                    LATTICE_ID(x, y, z) = count++;
                }
    edges e = edges_new(count);
    for (int32_t v = 0; v < count; ++v)
    {
        const int32_t x = at[v][0], y = at[v][1], z = at[v][2];
        for (int32_t a = 0; a < 3; ++a) // two corners or two centres along an axis
        {
            const int32_t px = x + 2 * (a == 0), py = y + 2 * (a == 1), pz = z + 2 * (a == 2);
            if (px < mx && py < my && pz < mz && LATTICE_ID(px, py, pz) >= 0)
                edges_spring(&e, v, LATTICE_ID(px, py, pz), 1.0);
        }
        for (int32_t c = 0; (x & 1) && c < 8; ++c) // a centre and its corners
        {
            const int32_t w = LATTICE_ID(x - 1 + 2 * (c & 1), y - 1 + 2 * (c >> 1 & 1), z - 1 + 2 * (c >> 2));
            if (w >= 0) edges_spring(&e, v, w, 0.75);
        }
    }
#undef LATTICE_ID
    free(id);
    if (node_at)
        *node_at = at;
    else
        free(at);
    return e;
}

/// Graph of the edges, without loops and repetitions; free with graph_free.
static inline flx_graph edges_graph(const edges* e)
{
    flx_graph g = {.n = e->n};
    g.first     = calloc((size_t)e->n + 2, sizeof *g.first);
    g.adjacent  = malloc(((size_t)e->count * 2 + 1) * sizeof *g.adjacent);
    for (int64_t k = 0; k < e->count; ++k)
    {
        ++g.first[e->i[k] + 1];
        ++g.first[e->j[k] + 1];
    }
    for (int32_t v = 0; v < e->n; ++v) g.first[v + 1] += g.first[v];
    int64_t* cursor = malloc(((size_t)e->n + 1) * sizeof *cursor);
    memcpy(cursor, g.first, (size_t)e->n * sizeof *cursor);
    for (int64_t k = 0; k < e->count; ++k)
    {
        g.adjacent[cursor[e->i[k]]++] = e->j[k];
        g.adjacent[cursor[e->j[k]]++] = e->i[k];
    }
    int32_t* seen = malloc(((size_t)e->n + 1) * sizeof *seen);
    for (int32_t v = 0; v < e->n; ++v) seen[v] = -1;
    int64_t end = 0;
    for (int32_t v = 0; v < e->n; ++v)
    {
        const int64_t begin = end;
        for (int64_t p = g.first[v]; p < cursor[v]; ++p)
            if (g.adjacent[p] != v && seen[g.adjacent[p]] != v)
            {
                seen[g.adjacent[p]] = v;
                g.adjacent[end++]   = g.adjacent[p];
            }
        g.first[v] = begin;
    }
    g.first[e->n] = end;
    free(seen);
    free(cursor);
    return g;
}

static inline void graph_free(flx_graph* g)
{
    free(g->first);
    free(g->adjacent);
}

static inline int csc_compare(const void* a, const void* b)
{
    const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

/// The matrix in elimination order (order[k] = vertex eliminated k-th; NULL = as it is); free with csc_free.
static inline flx_csc edges_matrix(const edges* e, const int32_t* order)
{
    const int32_t n     = e->n;
    flx_csc       a     = {.n = n};
    int32_t*      place = malloc(((size_t)n + 1) * sizeof *place);
    int64_t*      key   = malloc(((size_t)e->count + 1) * 2 * sizeof *key);
    double*       value = malloc(((size_t)e->count + 1) * sizeof *value);
    int64_t*      first = calloc((size_t)n + 2, sizeof *first);
    for (int32_t k = 0; k < n; ++k) place[order ? order[k] : k] = k;

    // bucket the entries by column, sort each column by row, add up repetitions
    for (int64_t k = 0; k < e->count; ++k)
    {
        const int32_t i = place[e->i[k]], j = place[e->j[k]];
        ++first[(i < j ? i : j) + 1];
    }
    for (int32_t j = 0; j < n; ++j) first[j + 1] += first[j];
    for (int64_t k = 0; k < e->count; ++k)
    {
        const int32_t i = place[e->i[k]], j = place[e->j[k]];
        const int64_t at = first[i < j ? i : j]++;
        key[2 * at]      = i < j ? j : i;
        key[2 * at + 1]  = k;
    }
    a.first     = malloc(((size_t)n + 1) * sizeof *a.first);
    a.row       = malloc(((size_t)e->count + (size_t)n + 1) * sizeof *a.row);
    a.value     = malloc(((size_t)e->count + (size_t)n + 1) * sizeof *a.value);
    int64_t end = 0, begin = 0;
    for (int32_t j = 0; j < n; ++j)
    {
        a.first[j]   = end;
        a.row[end]   = j;
        a.value[end] = e->diagonal[order ? order[j] : j];
        ++end;
        qsort(key + 2 * begin, (size_t)(first[j] - begin), 2 * sizeof *key, csc_compare);
        for (int64_t k = begin; k < first[j]; ++k)
        {
            if (a.row[end - 1] != key[2 * k])
            {
                a.row[end]   = (int32_t)key[2 * k];
                a.value[end] = 0.0;
                ++end;
            }
            a.value[end - 1] += e->value[key[2 * k + 1]];
        }
        begin = first[j];
    }
    a.first[n] = end;
    free(place);
    free(key);
    free(value);
    free(first);
    return a;
}

static inline void csc_free(flx_csc* a)
{
    free(a->first);
    free(a->row);
    free(a->value);
}

/// y = A x
static inline void csc_multiply(const flx_csc* a, const double* x, double* y)
{
    for (int32_t i = 0; i < a->n; ++i) y[i] = 0.0;
    for (int32_t j = 0; j < a->n; ++j)
        for (int64_t p = a->first[j]; p < a->first[j + 1]; ++p)
        {
            y[a->row[p]] += a->value[p] * x[j];
            if (a->row[p] != j) y[j] += a->value[p] * x[a->row[p]];
        }
}

#endif
