// Block principal pivoting: guess which rows push, solve for them, exchange all rows that are wrong.
//
//   F = {pushing}: B_FF lambda_F = -q_F,  lambda_G = 0,  w_G = q_G + B_GF lambda_F
//
// It needs a handful of exchanges or none that help; then an active-set method takes over, which lowers the objective
// 1/2 lambda B lambda + q lambda with every change and so ends for certain.
// Based on [KimPark11] (blocks), [LawsonHanson74] (active set). The problem is strictly convex: the answer does not
// depend on the path.
#include "solver/lcp.h"

#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

#define BLOCK_TRIES 3 // full exchanges allowed without progress

flx_status flx__lcp_create(flx_context* ctx, int32_t most, flx_lcp* out)
{
    flx_status status = FLX_OK;
    *out              = (flx_lcp){.most = most};
    FLX_NEW(ctx, out->factor, (int64_t)most * most);
    FLX_NEW(ctx, out->rhs, most);
    FLX_NEW(ctx, out->free_row, most);
    FLX_NEW(ctx, out->is_free, most);
done:
    if (status != FLX_OK) flx__lcp_release(ctx, out);
    return status;
}

void flx__lcp_release(flx_context* ctx, flx_lcp* lcp)
{
    flx__free(ctx, lcp->factor);
    flx__free(ctx, lcp->rhs);
    flx__free(ctx, lcp->free_row);
    flx__free(ctx, lcp->is_free);
    *lcp = (flx_lcp){0};
}

/// lambda_F from the current guess. A matrix that rounding made indefinite is lifted a little and tried again.
static void solve_free(flx_context* ctx, flx_lcp* l, int32_t k, const double* b, int64_t ld, const double* q,
                       int32_t* count)
{
    int32_t f = 0;
    for (int32_t i = 0; i < k; ++i)
        if (l->is_free[i]) l->free_row[f++] = i;
    *count = f;
    if (f == 0) return;
    double trace = 0;
    for (int32_t i = 0; i < f; ++i) trace += b[(int64_t)l->free_row[i] * ld + l->free_row[i]];
    for (double lift = 0;; lift = lift > 0 ? lift * 100 : 1e-10 * trace / f)
    {
        for (int32_t j = 0; j < f; ++j)
        {
            const double* from = b + (int64_t)l->free_row[j] * ld;
            double*       to   = l->factor + (int64_t)j * f;
            for (int32_t i = j; i < f; ++i) to[i] = from[l->free_row[i]];
            to[j] += lift;
        }
        int32_t bad;
        if (flx__dense_cholesky_f64(ctx, f, l->factor, f, &bad) == FLX_OK || !(lift < trace)) break;
    }
    for (int32_t i = 0; i < f; ++i) l->rhs[i] = -q[l->free_row[i]];
    flx__dense_solve_f64(ctx, f, l->factor, f, l->rhs, f, 1);
}

/// w_i of a row that does not push, at the values `lambda` of all rows.
static double approach(const double* b, int64_t ld, const double* q, int32_t k, const double* lambda, int32_t i)
{
    const double* row    = b + (int64_t)i * ld;
    double        sum[8] = {0};
    int32_t       j      = 0;
    for (; j + 8 <= k; j += 8)
        for (int l = 0; l < 8; ++l) sum[l] += row[j + l] * lambda[j + l];
    for (; j < k; ++j) sum[0] += row[j] * lambda[j];
    return q[i] + ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/// Exchange every wrong row until none is or the exchanges stop helping. Returns the changes made, -1 = did not get
/// there; lambda is then the last guess, clipped.
static int32_t exchange_blocks(flx_context* ctx, flx_lcp* l, int32_t k, const double* b, int64_t ld, const double* q,
                               double w_small, int32_t most_changes, double* lambda)
{
    int32_t fewest = k + 1, tries = BLOCK_TRIES;
    for (int32_t change = 0;; ++change)
    {
        int32_t f;
        solve_free(ctx, l, k, b, ld, q, &f);
        double most_push = 0;
        for (int32_t i = 0; i < f; ++i) most_push = fmax(most_push, fabs(l->rhs[i]));
        for (int32_t i = 0; i < k; ++i) lambda[i] = 0;
        for (int32_t i = 0; i < f; ++i) lambda[l->free_row[i]] = l->rhs[i];

        int32_t wrong = 0;
        for (int32_t i = 0; i < k; ++i)
        {
            const bool bad =
                l->is_free[i] ? lambda[i] < -1e-12 * most_push : approach(b, ld, q, k, lambda, i) < -w_small;
            if (!bad) continue;
            ++wrong;
            l->is_free[i] = (uint8_t)(l->is_free[i] | 2); // marked for exchange: 2 was held, 3 was free
        }
        for (int32_t i = 0; i < k; ++i) lambda[i] = fmax(lambda[i], 0);
        if (wrong == 0) return change;
        for (int32_t i = 0; i < k; ++i)
            if (l->is_free[i] & 2) l->is_free[i] = l->is_free[i] == 2;
        if (wrong < fewest)
            fewest = wrong, tries = BLOCK_TRIES;
        else
            --tries;
        if (tries == 0 || change + 1 >= most_changes) return -1;
    }
}

/// From lambda >= 0: minimise over the rows that push, stopping where one would pull; then let the row join that
/// approaches fastest. The objective falls with each change.
static int32_t active_set(flx_context* ctx, flx_lcp* l, int32_t k, const double* b, int64_t ld, const double* q,
                          double w_small, int32_t most_changes, double* lambda)
{
    for (int32_t i = 0; i < k; ++i) l->is_free[i] = lambda[i] > 0;
    for (int32_t change = 0; change < most_changes; ++change)
    {
        int32_t f;
        solve_free(ctx, l, k, b, ld, q, &f);
        double  along = 1; // how far towards the minimiser before a row would pull
        int32_t first = -1;
        for (int32_t i = 0; i < f; ++i)
        {
            const double from = lambda[l->free_row[i]], to = l->rhs[i];
            if (to > 0) continue;
            const double at = from / (from - to);
            if (!(at >= along)) along = at, first = l->free_row[i];
        }
        for (int32_t i = 0; i < f; ++i)
        {
            const int32_t row = l->free_row[i];
            lambda[row]       = fmax(lambda[row] + along * (l->rhs[i] - lambda[row]), 0);
        }
        if (first >= 0)
        {
            lambda[first]     = 0;
            l->is_free[first] = 0;
            continue;
        }
        double  fastest = -w_small;
        int32_t joins   = -1;
        for (int32_t i = 0; i < k; ++i)
        {
            if (l->is_free[i]) continue;
            const double w = approach(b, ld, q, k, lambda, i);
            if (w < fastest) fastest = w, joins = i;
        }
        if (joins < 0) return change;
        l->is_free[joins] = 1;
    }
    return -1;
}

int32_t flx__lcp_solve(flx_context* ctx, flx_lcp* l, int32_t k, const double* b, int64_t ld, const double* q,
                       int32_t most_changes, double* lambda)
{
    FLX_ASSERT(k <= l->most);
    double scale = 0;
    for (int32_t i = 0; i < k; ++i)
    {
        l->is_free[i] = lambda[i] > 0;
        scale         = fmax(scale, fabs(q[i]));
    }
    const double  w_small = 1e-10 * scale;
    const int32_t blocks  = exchange_blocks(ctx, l, k, b, ld, q, w_small, most_changes, lambda);
    return blocks >= 0 ? blocks : active_set(ctx, l, k, b, ld, q, w_small, most_changes, lambda);
}
