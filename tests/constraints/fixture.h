// Bodies to put constraints on: a sheet, a block, random deformations and rotations.
#ifndef FLX_TESTS_CONSTRAINTS_FIXTURE_H
#define FLX_TESTS_CONSTRAINTS_FIXTURE_H

#include "test.h"

#include "constraints/constraints.h"
#include "math/mat3.h"
#include "math/rotation.h"

/// A mesh: triangles or tetrahedra.
typedef struct body
{
    int32_t  n, count;
    double*  x;
    int32_t* element;
} body;

/// m x m vertices on the unit square of the xz plane, each cell cut from (i, j) to (i + 1, j + 1).
static inline body sheet(int32_t m)
{
    body b     = {.n = m * m, .count = 2 * (m - 1) * (m - 1)};
    b.x        = calloc(3 * (size_t)b.n, sizeof *b.x);
    b.element  = malloc(3 * (size_t)b.count * sizeof *b.element);
    int32_t* t = b.element;
    for (int32_t i = 0; i < m; ++i)
        for (int32_t j = 0; j < m; ++j)
        {
            const int32_t p = i * m + j, q = p + m, r = q + 1, s = p + 1;
            b.x[3 * p] = i / (m - 1.0), b.x[3 * p + 2] = j / (m - 1.0);
            if (i == m - 1 || j == m - 1) continue;
            const int32_t two[6] = {p, r, q, p, s, r};
            memcpy(t, two, sizeof two);
            t += 6;
        }
    return b;
}

/// The same, on a sphere: curved everywhere.
static inline body dome(int32_t m)
{
    body b = sheet(m);
    for (int32_t v = 0; v < b.n; ++v)
    {
        const double x = b.x[3 * v] - 0.5, z = b.x[3 * v + 2] - 0.5;
        b.x[3 * v + 1] = sqrt(1 - x * x - z * z);
    }
    return b;
}

/// m x m x m cells of six tetrahedra in the unit cube.
static inline body block(int32_t m)
{
    static const int32_t path[6][2] = {{1, 3}, {5, 1}, {3, 2}, {4, 5}, {2, 6}, {6, 4}}; // corners between 0 and 7
    const int32_t        k          = m + 1;
    body                 b          = {.n = k * k * k, .count = 6 * m * m * m};
    b.x                             = malloc(3 * (size_t)b.n * sizeof *b.x);
    b.element                       = malloc(4 * (size_t)b.count * sizeof *b.element);
    int32_t* t                      = b.element;
    for (int32_t v = 0; v < b.n; ++v)
    {
        const int32_t at[3] = {v % k, v / k % k, v / k / k};
        for (int i = 0; i < 3; ++i) b.x[3 * v + i] = at[i] / (double)m;
        if (at[0] == m || at[1] == m || at[2] == m) continue;
        for (int c = 0; c < 6; ++c, t += 4)
        {
            const int32_t corner[4] = {0, path[c][0], path[c][1], 7};
            for (int i = 0; i < 4; ++i)
                t[i] = v + (corner[i] & 1) + k * (corner[i] >> 1 & 1) + k * k * (corner[i] >> 2);
        }
    }
    return b;
}

static inline void body_free(body* b)
{
    free(b->x);
    free(b->element);
}

static inline double between(uint64_t* seed, double low, double high)
{
    return low + (high - low) * test_random(seed);
}

static inline void random_rotation(uint64_t* seed, double R[9])
{
    double axis[3], size;
    do
    {
        for (int i = 0; i < 3; ++i) axis[i] = between(seed, -1, 1);
        size = flx__norm3(axis);
    } while (!(size > 0.1 && size < 1));
    for (int i = 0; i < 3; ++i) axis[i] /= size;
    flx__axis_rotation(axis, between(seed, -3.1, 3.1), R);
}

/// x moved by up to `size` in each direction; the caller frees it.
static inline double* shaken(const body* b, double size, uint64_t seed)
{
    double* q = malloc(3 * (size_t)b->n * sizeof *q);
    for (int32_t i = 0; i < 3 * b->n; ++i) q[i] = b->x[i] + between(&seed, -size, size);
    return q;
}

typedef enum kind
{
    SPRING,
    STRAIN,
    BENDING,
    TET_STRAIN,
    TET_VOLUME,
    ATTACHMENT,
    KINDS
} kind;

/// Constraints of a kind on a small body that suits it.
typedef struct specimen
{
    body                  body;
    flx_constraint_batch  batch;
    flx_constraint_gather gather;
} specimen;

static inline flx_status specimen_build(flx_context* ctx, kind k, const body* b, double least, double most,
                                        flx_constraint_batch* batch)
{
    flx_status status = FLX_OK;
    double*    weight = malloc((size_t)(b->n + 6 * b->count) * sizeof *weight); // enough for edges, too
    for (int32_t i = 0; i < b->n + 6 * b->count; ++i) weight[i] = 1 + i % 5;
    int32_t  edge_count = 0;
    int32_t* edge       = NULL;
    switch (k)
    {
    case SPRING:
        status = flx__triangle_edges(ctx, b->count, b->element, &edge_count, &edge);
        *batch = (flx_constraint_batch){0};
        if (status == FLX_OK) status = flx__edge_springs(ctx, b->x, edge_count, edge, weight, batch);
        break;
    case STRAIN:
        status = flx__triangle_strains(ctx, b->x, b->count, b->element, weight, least, most, NULL, batch);
        break;
    case BENDING:
        status = flx__bendings(ctx, b->n, b->x, b->count, b->element, weight, batch);
        break;
    case TET_STRAIN:
        status = flx__tet_strains(ctx, b->x, b->count, b->element, weight, least, most, batch);
        break;
    case TET_VOLUME:
        status = flx__tet_volumes(ctx, b->x, b->count, b->element, weight, least, most, batch);
        break;
    case ATTACHMENT:
    {
        double* middle = calloc(3 * (size_t)b->count, sizeof *middle);
        double* share  = malloc(4 * (size_t)b->count * sizeof *share);
        for (int32_t i = 0; i < 4 * b->count; ++i) share[i] = (1 + i % 4) / 10.0;
        for (int32_t i = 0; i < 12 * b->count; ++i)
            middle[3 * (i / 12) + i % 3] += share[i / 3] * b->x[3 * b->element[i / 3] + i % 3];
        status = flx__attachments(ctx, b->count, 4, b->element, share, middle, weight, batch);
        free(middle);
        free(share);
        break;
    }
    case KINDS:
        break;
    }
    flx__free(ctx, edge);
    free(weight);
    return status;
}

static inline bool is_solid(kind k)
{
    return k == TET_STRAIN || k == TET_VOLUME || k == ATTACHMENT;
}

static inline body body_for(kind k, int32_t m)
{
    return is_solid(k) ? block(m) : dome(m + 2);
}

static inline specimen specimen_make(flx_context* ctx, kind k, int32_t m, double least, double most)
{
    specimen s = {.body = body_for(k, m)};
    CHECK_OK(specimen_build(ctx, k, &s.body, least, most, &s.batch));
    CHECK_OK(flx__constraint_gather_create(ctx, &s.batch, s.body.n, &s.gather));
    return s;
}

static inline void specimen_free(flx_context* ctx, specimen* s)
{
    flx__constraint_gather_release(ctx, &s->gather);
    flx__constraint_batch_release(ctx, &s->batch);
    body_free(&s->body);
}

static inline size_t z_size(const flx_constraint_batch* b)
{
    return 3 * (size_t)b->type->rows * (size_t)b->count;
}

/// Energy at q; force [n][3], which may be NULL.
static inline double energy_and_force(flx_context* ctx, const specimen* s, const double* q, double* force)
{
    double* z = malloc(z_size(&s->batch) * sizeof *z);
    double* p = malloc(z_size(&s->batch) * sizeof *p);
    flx__constraints_measure(ctx, &s->batch, q, z);
    flx__constraints_project(ctx, &s->batch, z, p);
    const double e = flx__constraints_energy(ctx, &s->batch, z, p);
    if (force)
    {
        for (size_t i = 0; i < z_size(&s->batch); ++i) p[i] -= z[i];
        memset(force, 0, 3 * (size_t)s->body.n * sizeof *force);
        flx__constraints_gather(ctx, &s->batch, &s->gather, p, force);
    }
    free(z);
    free(p);
    return e;
}

#endif
