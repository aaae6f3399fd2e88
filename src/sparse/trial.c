// Does a factor made in single precision still know that a body resists translation with nothing but its springs?
//
// Rounding of A's large entries adds stiffness against the softest motion, x = 1, and every scale between follows it:
//   b = A 1,   (y_1, s) = forward b,   s = Sigma 1 without Sigma's rounding;   |1^T (Sigma 1 - s)| / 1^T s
//   x_1 = backward (y_1, 1),   max |x_1 - 1|
#include "sparse/factor_internal.h"

#include <math.h>

static void row_sums(const flx_csc* a, double* sum)
{
    for (int32_t j = 0; j < a->n; ++j)
        for (int64_t p = a->first[j]; p < a->first[j + 1]; ++p)
        {
            sum[a->row[p]] += a->value[p];
            if (a->row[p] != j) sum[j] += a->value[p];
        }
}

flx_status flx__translation_error(flx_factor* f, const flx_csc* a, double* out)
{
    flx_status    status = FLX_OK;
    const int32_t n1     = f->sym.free_count;
    const int64_t n2     = a->n - n1;
    double*       sum    = NULL;
    float*        b      = NULL;
    double        total = 0, beyond = 0;
    *out = 0;
    FLX_NEW_ZERO(f->ctx, sum, a->n);
    FLX_NEW(f->ctx, b, a->n);
    row_sums(a, sum);
    for (int32_t i = 0; i < a->n; ++i) b[i] = (float)sum[i];

    float* const column[3] = {b, b, b}; // one vector three times
    flx__factor_forward_f32(f, column);
    for (int64_t j = 0; j < n2; ++j)
    {
        total += (double)b[n1 + j];
        beyond -= (double)b[n1 + j];
        for (int64_t i = 0; i < n2; ++i) beyond += f->schur[i + j * n2];
        b[n1 + j] = 1;
    }
    if (n2 > 0) *out = fabs(beyond / total);
    if (isnan(*out)) *out = INFINITY; // resisted by nothing
    flx__factor_backward_f32(f, column);
    for (int32_t i = 0; i < n1; ++i)
    {
        const double off = fabs((double)b[i] - 1);
        if (!(off <= *out)) *out = isnan(off) ? INFINITY : off;
    }
done:
    flx__free(f->ctx, sum);
    flx__free(f->ctx, b);
    return status;
}
