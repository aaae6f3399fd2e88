// The dense refactorization of each inner iteration, [LLKS] section 4, as one would write it with LAPACK.
#include "inner.h"
#include "measure.h"

#include <cblas.h>
#include <string.h>

extern void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, size_t uplo_length);
extern void spotrs_(const char* uplo, const int* n, const int* columns, const float* a, const int* lda, float* b,
                    const int* ldb, int* info, size_t uplo_length);

/// dense (lower triangle) += c w w^T, rhs += c w (t - p); positions are zero.
static void add_contact(const inner* in, const flx_contact* c, float* dense, float* rhs)
{
    const int64_t n = in->n2;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
    {
        const int64_t va = c->vertex[a];
        if (va < 0) continue;
        for (int k = 0; k < 3; ++k) rhs[k * n + va] += (float)(in->stiffness * c->weight[a] * c->target[k]);
        for (int b = 0; b < FLX_CONTACT_CORNERS; ++b)
        {
            const int64_t vb = c->vertex[b];
            if (vb >= 0 && va >= vb) dense[vb * n + va] += (float)(in->stiffness * c->weight[a] * c->weight[b]);
        }
    }
}

double inner_refactor(const inner* in, int32_t workers, float* dense, double* delta, double* ms_factor)
{
    const int n = in->n2, three = 3;
    int       info = 0;
    float*    b    = dense + (int64_t)n * n; // the caller's block has room for three columns behind the matrix
    openblas_set_num_threads(workers);

    const double start = now_ms();
    for (int64_t j = 0; j < n; ++j) memcpy(dense + j * n + j, in->sigma + j * n + j, (size_t)(n - j) * sizeof(float));
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < n; ++i) b[(int64_t)k * n + i] = (float)in->r[k][i];
    for (int32_t i = 0; i < in->active; ++i) add_contact(in, &in->contact[i], dense, b);
    const double factor = now_ms();
    spotrf_("L", &n, dense, &n, &info, 1);
    *ms_factor = now_ms() - factor;
    if (info == 0) spotrs_("L", &n, &three, dense, &n, b, &n, &info, 1);
    for (int64_t i = 0; i < 3 * (int64_t)n; ++i) delta[i] = (double)b[i];
    const double ms = now_ms() - start;

    openblas_set_num_threads(1);
    return info == 0 ? ms : -1;
}
