// The system matrix: one scalar block serves x, y and z.
//
//   K_ij = sum_e 2 mu_e Vol_e g_i . g_j,   A = K + sum_j w_j S_j^T S_j + sum_s c_s w_si w_sj + inertia diag(m)
//
// with g the shape-function gradients, S_j the constraints and s the springs. [LLKS] eq. 5, 6; design of the
// attachments: docs/pipeline.md.
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void* a, const void* b)
{
    const int32_t p = *(const int32_t*)a, q = *(const int32_t*)b;
    return p < q ? -1 : p > q;
}

static void gradients(const double* inv, double g[4][3])
{
    for (int c = 0; c < 3; ++c)
    {
        for (int j = 0; j < 3; ++j) g[j + 1][c] = inv[3 * j + c];
        g[0][c] = -(g[1][c] + g[2][c] + g[3][c]);
    }
}

/// No fewer than the rows that constraints around column j have.
static int64_t constraint_rows(const flx_model* m, int32_t j)
{
    int64_t most = 0;
    for (int32_t b = 0; b < m->batch_count; ++b)
        for (int32_t k = m->gather[b].first[j]; k < m->gather[b].first[j + 1]; ++k)
        {
            const int32_t i = m->gather[b].of[m->gather[b].entry[k]];
            most += m->batch[b].first[i + 1] - m->batch[b].first[i];
        }
    return most;
}

static int64_t constraint_pattern(const flx_model* m, int32_t j, int64_t* place, int32_t* row, int64_t at)
{
    for (int32_t b = 0; b < m->batch_count; ++b)
        for (int32_t k = m->gather[b].first[j]; k < m->gather[b].first[j + 1]; ++k)
        {
            const int32_t i = m->gather[b].of[m->gather[b].entry[k]];
            for (int32_t c = m->batch[b].first[i]; c < m->batch[b].first[i + 1]; ++c)
            {
                const int32_t v = m->batch[b].vertex[c];
                if (v > j && place[v] < 0) place[v] = 0, row[at++] = v;
            }
        }
    return at;
}

static void add_constraints(const flx_model* m, int32_t j, const int64_t* place, double* value)
{
    for (int32_t b = 0; b < m->batch_count; ++b)
    {
        const flx_constraint_batch* batch = &m->batch[b];
        const int                   rows  = batch->type->rows;
        for (int32_t k = m->gather[b].first[j]; k < m->gather[b].first[j + 1]; ++k)
        {
            const int32_t own = m->gather[b].entry[k], i = m->gather[b].of[own];
            for (int32_t c = batch->first[i]; c < batch->first[i + 1]; ++c)
            {
                if (batch->vertex[c] < j) continue;
                double dot = 0;
                for (int r = 0; r < rows; ++r)
                    dot += batch->coefficient[(int64_t)own * rows + r] * batch->coefficient[(int64_t)c * rows + r];
                value[place[batch->vertex[c]]] += batch->weight[i] * dot;
            }
        }
    }
}

flx_status flx__model_assemble(const flx_model* m, double time, double inertia, flx_csc* out)
{
    flx_status    status = FLX_OK;
    flx_context*  ctx    = m->ctx;
    const int32_t n      = m->vertex_count;
    int32_t *     first = NULL, *entry = NULL; // tets of a vertex
    int64_t*      place = NULL;                // where a row stands in the current column, -1 = not there
    int64_t       room  = 0;
    flx_csc       a     = {.n = n};

    FLX_TRY(flx__group(ctx, 4 * m->tet_count, m->tet, n, &first, &entry));
    FLX_NEW(ctx, place, n);
    FLX_NEW(ctx, a.first, (int64_t)n + 1);
    for (int32_t i = 0; i < n; ++i) place[i] = -1;

    room = 10 * (int64_t)n + 16;
    FLX_NEW(ctx, a.row, room);
    FLX_NEW(ctx, a.value, room);
    int64_t at = 0;
    for (int32_t j = 0; j < n; ++j)
    {
        const int64_t begin = at;
        const int64_t most  = begin + 1 + 3 * (int64_t)(first[j + 1] - first[j]) +
                             3 * (int64_t)(m->spring_first[j + 1] - m->spring_first[j]) + constraint_rows(m, j);
        if (most > room)
        {
            room          = most * 2;
            int32_t* rows = flx__realloc(ctx, a.row, room, sizeof *rows);
            if (rows) a.row = rows;
            double* values = rows ? flx__realloc(ctx, a.value, room, sizeof *values) : NULL;
            if (values) a.value = values;
            if (!values)
            {
                status = FLX_ERR_MEMORY;
                goto done;
            }
        }
        // pattern: rows of tets and springs around j, sorted
        a.first[j]  = begin;
        place[j]    = 0;
        a.row[at++] = j;
        for (int32_t k = first[j]; k < first[j + 1]; ++k)
            for (int c = 0; c < 4; ++c)
            {
                const int32_t i = m->tet[entry[k] / 4 * 4 + c];
                if (i > j && place[i] < 0) place[i] = 0, a.row[at++] = i;
            }
        for (int32_t k = m->spring_first[j]; k < m->spring_first[j + 1]; ++k)
        {
            const flx_spring* s = &m->spring[m->spring_entry[k] / 4];
            for (int c = 0; c < 4; ++c)
                if (s->weight[c] != 0 && s->vertex[c] > j && place[s->vertex[c]] < 0)
                    place[s->vertex[c]] = 0, a.row[at++] = s->vertex[c];
        }
        at = constraint_pattern(m, j, place, a.row, at);
        qsort(a.row + begin, (size_t)(at - begin), sizeof *a.row, ascending);
        for (int64_t k = begin; k < at; ++k) place[a.row[k]] = k, a.value[k] = 0;

        a.value[begin] = inertia * m->mass[j];
        for (int32_t k = first[j]; k < first[j + 1]; ++k)
        {
            const int32_t e = entry[k] / 4, own = entry[k] % 4;
            double        g[4][3];
            gradients(m->rest_inv + 9 * (int64_t)e, g);
            for (int c = 0; c < 4; ++c)
            {
                const int32_t i = m->tet[4 * (int64_t)e + c];
                if (i < j) continue;
                a.value[place[i]] +=
                    m->stiffness[e] * (g[own][0] * g[c][0] + g[own][1] * g[c][1] + g[own][2] * g[c][2]);
            }
        }
        add_constraints(m, j, place, a.value);
        for (int32_t k = m->spring_first[j]; k < m->spring_first[j + 1]; ++k)
        {
            const flx_spring* s   = &m->spring[m->spring_entry[k] / 4];
            const int         own = m->spring_entry[k] % 4;
            if (!flx__spring_active(s, time)) continue; // the pattern keeps its place
            for (int c = 0; c < 4; ++c)
                if (s->weight[c] != 0 && s->vertex[c] >= j)
                    a.value[place[s->vertex[c]]] += s->stiffness * s->weight[own] * s->weight[c];
        }
        for (int64_t k = begin; k < at; ++k) place[a.row[k]] = -1;
    }
    a.first[n] = at;
    *out       = a;
    a          = (flx_csc){0};

done:
    flx__csc_release(ctx, &a);
    flx__free(ctx, first);
    flx__free(ctx, entry);
    flx__free(ctx, place);
    return status;
}
