// Conjugate gradients with the Jacobi preconditioner, three columns at once, and the full matrix by rows.
//
//   z = r / d;  p = z + (r'z / r'z_old) p;  q = A p;  alpha = r'z / p'q;  x += alpha p;  r -= alpha q
// Based on [HestenesStiefel52]; the comparison method of [LLKS] section 5. The matrix is read once for the three
// columns; each column has its own alpha and stops by itself. Sums run over fixed chunks, added in their order.
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

#define CHUNK 4096
// Partial sums of the reductions live on the stack: at most this many chunks, each CHUNK rows or more.
#define CHUNKS 512

// --- the matrix by rows ----------------------------------------------------------------------------------------

flx_status flx__csr_from_lower(flx_context* ctx, const flx_csc* lower, flx_csr* out)
{
    flx_status    status = FLX_OK;
    const int32_t n      = lower->n;
    int64_t*      cursor = NULL;
    *out                 = (flx_csr){.n = n};
    FLX_NEW_ZERO(ctx, out->first, (int64_t)n + 1);
    for (int32_t j = 0; j < n; ++j)
        for (int64_t p = lower->first[j]; p < lower->first[j + 1]; ++p)
        {
            ++out->first[j + 1];
            if (lower->row[p] != j) ++out->first[lower->row[p] + 1];
        }
    for (int32_t i = 0; i < n; ++i) out->first[i + 1] += out->first[i];

    FLX_NEW(ctx, out->column, out->first[n]);
    FLX_NEW(ctx, out->value, out->first[n]);
    FLX_NEW(ctx, cursor, n);
    memcpy(cursor, out->first, (size_t)n * sizeof *cursor);
    for (int32_t j = 0; j < n; ++j) // entries left of the diagonal: columns arrive ascending
        for (int64_t p = lower->first[j]; p < lower->first[j + 1]; ++p)
        {
            const int32_t i = lower->row[p];
            if (i == j) continue;
            out->column[cursor[i]]  = j;
            out->value[cursor[i]++] = lower->value[p];
        }
    for (int32_t j = 0; j < n; ++j) // the diagonal and what lies right of it
        for (int64_t p = lower->first[j]; p < lower->first[j + 1]; ++p)
        {
            out->column[cursor[j]]  = lower->row[p];
            out->value[cursor[j]++] = lower->value[p];
        }

done:
    flx__free(ctx, cursor);
    if (status != FLX_OK) flx__csr_release(ctx, out);
    return status;
}

void flx__csr_release(flx_context* ctx, flx_csr* m)
{
    flx__free(ctx, m->first);
    flx__free(ctx, m->column);
    flx__free(ctx, m->value);
    *m = (flx_csr){0};
}

typedef struct product
{
    const flx_csr* m;
    const double*  x;
    double*        y;
} product;

static void multiply_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const product* p = user;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        double sum = 0.0;
        for (int64_t q = p->m->first[i]; q < p->m->first[i + 1]; ++q) sum += p->m->value[q] * p->x[p->m->column[q]];
        p->y[i] = sum;
    }
}

void flx__csr_multiply(flx_context* ctx, const flx_csr* m, const double* x, double* y)
{
    product p = {m, x, y};
    flx__parallel_for(ctx, m->n, CHUNK, multiply_rows, &p);
}

// --- the iteration ---------------------------------------------------------------------------------------------

typedef struct iteration
{
    const flx_pcg*       pcg;
    const double* const* b;
    double* const*       x;
    double*              r[3];
    double*              z[3];
    double*              p[3];
    double*              q[3];
    double*              inverse; // [n] of the preconditioner's diagonal
    double               alpha[3];
    double               beta[3];
    double (*sum)[6]; // [chunks] partial sums of each column: two kinds
    int64_t grain;
} iteration;

static void add_up(const iteration* it, int64_t n, double out[6])
{
    for (int c = 0; c < 6; ++c) out[c] = 0.0;
    for (int64_t k = 0; k * it->grain < n; ++k)
        for (int c = 0; c < 6; ++c) out[c] += it->sum[k][c];
}

static void invert_diagonal(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it = user;
    const flx_csr*   a  = it->pcg->a;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        double d = it->pcg->extra_diagonal ? it->pcg->extra_diagonal[i] : 0.0;
        for (int64_t q = a->first[i]; q < a->first[i + 1]; ++q)
            if (a->column[q] == i) d += a->value[q];
        it->inverse[i] = d > 0.0 ? 1.0 / d : 1.0;
    }
}

/// to = A from, three columns; the partial sums of from' to only where no extra operator follows.
static void apply_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it = user;
    const flx_csr*   a  = it->pcg->a;
    (void)worker;
    for (int64_t i = begin; i < end; ++i)
    {
        double s0 = 0.0, s1 = 0.0, s2 = 0.0;
        for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k)
        {
            const double  e = a->value[k];
            const int32_t j = a->column[k];
            s0 += e * it->p[0][j];
            s1 += e * it->p[1][j];
            s2 += e * it->p[2][j];
        }
        it->q[0][i] = s0;
        it->q[1][i] = s1;
        it->q[2][i] = s2;
    }
}

/// q = (A + extra) p
static void apply(iteration* it)
{
    const flx_pcg* pcg = it->pcg;
    flx__parallel_for(pcg->ctx, pcg->a->n, it->grain, apply_rows, it);
    if (pcg->extra) pcg->extra(pcg->extra_user, it->p, it->q);
}

/// r = b - q, z = r / d, p = z; sums r'z and b'b.
static void start_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it  = user;
    double*          sum = it->sum[begin / it->grain];
    (void)worker;
    for (int c = 0; c < 3; ++c)
    {
        double rz = 0.0, bb = 0.0;
        for (int64_t i = begin; i < end; ++i)
        {
            const double r = it->b[c][i] - it->q[c][i];
            const double z = r * it->inverse[i];
            it->r[c][i]    = r;
            it->z[c][i]    = z;
            it->p[c][i]    = z;
            rz += r * z;
            bb += it->b[c][i] * it->b[c][i];
        }
        sum[c]     = rz;
        sum[3 + c] = bb;
    }
}

/// Sums p'q and r'r.
static void curvature_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it  = user;
    double*          sum = it->sum[begin / it->grain];
    (void)worker;
    for (int c = 0; c < 3; ++c)
    {
        double pq = 0.0, rr = 0.0;
        for (int64_t i = begin; i < end; ++i)
        {
            pq += it->p[c][i] * it->q[c][i];
            rr += it->r[c][i] * it->r[c][i];
        }
        sum[c]     = pq;
        sum[3 + c] = rr;
    }
}

/// x += alpha p, r -= alpha q, z = r / d; sums r'z and r'r.
static void advance_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it  = user;
    double*          sum = it->sum[begin / it->grain];
    (void)worker;
    for (int c = 0; c < 3; ++c)
    {
        double rz = 0.0, rr = 0.0;
        for (int64_t i = begin; i < end; ++i)
        {
            it->x[c][i] += it->alpha[c] * it->p[c][i];
            const double r = it->r[c][i] - it->alpha[c] * it->q[c][i];
            const double z = r * it->inverse[i];
            it->r[c][i]    = r;
            it->z[c][i]    = z;
            rz += r * z;
            rr += r * r;
        }
        sum[c]     = rz;
        sum[3 + c] = rr;
    }
}

static void direct_rows(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const iteration* it = user;
    (void)worker;
    for (int c = 0; c < 3; ++c)
        for (int64_t i = begin; i < end; ++i) it->p[c][i] = it->z[c][i] + it->beta[c] * it->p[c][i];
}

static void prepare(iteration* it, bool warm)
{
    const flx_pcg* pcg = it->pcg;
    const int64_t  n   = pcg->a->n;
    for (int c = 0; c < 3; ++c)
    {
        it->r[c] = pcg->work + c * n;
        it->z[c] = pcg->work + (3 + c) * n;
        it->p[c] = pcg->work + (6 + c) * n;
        it->q[c] = pcg->work + (9 + c) * n;
        if (warm)
            memcpy(it->p[c], it->x[c], (size_t)n * sizeof(double));
        else
        {
            memset(it->x[c], 0, (size_t)n * sizeof(double));
            memset(it->q[c], 0, (size_t)n * sizeof(double));
        }
    }
    it->inverse = pcg->work + 12 * n;
    it->grain   = (n + CHUNKS - 1) / CHUNKS > CHUNK ? (n + CHUNKS - 1) / CHUNKS : CHUNK;
    flx__parallel_for(pcg->ctx, n, it->grain, invert_diagonal, it);
    if (warm) apply(it);
    flx__parallel_for(pcg->ctx, n, it->grain, start_rows, it);
}

int32_t flx__pcg_solve(const flx_pcg* pcg, const double* const b[3], double* const x[3], bool warm)
{
    const int64_t n = pcg->a->n;
    double        partial[CHUNKS][6];
    double        sums[6];
    double        rz[3], limit[3];
    iteration     it = {.pcg = pcg, .b = b, .x = x, .sum = partial};

    if (n == 0) return 0;
    prepare(&it, warm);
    add_up(&it, n, sums);
    for (int c = 0; c < 3; ++c)
    {
        rz[c]    = sums[c];
        limit[c] = pcg->tolerance * pcg->tolerance * sums[3 + c];
    }
    flx__parallel_for(pcg->ctx, n, it.grain, curvature_rows, &it);
    add_up(&it, n, sums);

    int32_t iterations = 0;
    for (; iterations < pcg->max_iterations; ++iterations)
    {
        bool running[3];
        for (int c = 0; c < 3; ++c) running[c] = sums[3 + c] > limit[c]; // false for NaN too
        if (!running[0] && !running[1] && !running[2]) break;

        apply(&it);
        flx__parallel_for(pcg->ctx, n, it.grain, curvature_rows, &it);
        add_up(&it, n, sums);
        for (int c = 0; c < 3; ++c) it.alpha[c] = running[c] && sums[c] > 0.0 ? rz[c] / sums[c] : 0.0;

        flx__parallel_for(pcg->ctx, n, it.grain, advance_rows, &it);
        add_up(&it, n, sums);
        for (int c = 0; c < 3; ++c)
        {
            it.beta[c] = running[c] && rz[c] > 0.0 ? sums[c] / rz[c] : 0.0;
            rz[c]      = sums[c];
        }
        flx__parallel_for(pcg->ctx, n, it.grain, direct_rows, &it);
    }
    return iterations;
}
