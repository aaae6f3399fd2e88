// The dense kernels this room takes from OpenBLAS: column-major, one thread, called inside our own fixed tiles.
#ifndef FLX_SPARSE_BLAS_H
#define FLX_SPARSE_BLAS_H

#include <cblas.h>
#include <stddef.h>

extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t uplo_length);
extern void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, size_t uplo_length);
extern void strtri_(const char* uplo, const char* diag, const int* n, float* a, const int* lda, int* info,
                    size_t uplo_length, size_t diag_length);
extern void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info,
                    size_t uplo_length, size_t diag_length);

/// BLAS threads would fight our workers and change the order of sums. This setting belongs to the whole process.
static inline void blas_single_thread(void)
{
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
}

/// Lower Cholesky in place; 0, or k if the k-th pivot (from 1) is not positive.
static inline int blas_cholesky_f64(int n, double* a, int lda)
{
    int info = 0;
    dpotrf_("L", &n, a, &lda, &info, 1);
    return info;
}

static inline int blas_cholesky_f32(int n, float* a, int lda)
{
    int info = 0;
    spotrf_("L", &n, a, &lda, &info, 1);
    return info;
}

/// Inverse of a lower triangle in place; its diagonal is not zero.
static inline void blas_invert_lower_f64(int n, double* a, int lda)
{
    int info = 0;
    dtrtri_("L", "N", &n, a, &lda, &info, 1, 1);
}

static inline void blas_invert_lower_f32(int n, float* a, int lda)
{
    int info = 0;
    strtri_("L", "N", &n, a, &lda, &info, 1, 1);
}

/// c = beta c - a b^T; c [m][n], a [m][k], b [n][k]
static inline void blas_subtract_abt_f64(int m, int n, int k, const double* a, int lda, const double* b, int ldb,
                                         double beta, double* c, int ldc)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1.0, a, lda, b, ldb, beta, c, ldc);
}

/// Lower triangle of c = beta c - a a^T; c [n][n], a [n][k]
static inline void blas_subtract_aat_f64(int n, int k, const double* a, int lda, double beta, double* c, int ldc)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1.0, a, lda, beta, c, ldc);
}

/// b = b L^-T; b [m][n], L [n][n] lower
static inline void blas_solve_right_f64(int m, int n, const double* l, int ldl, double* b, int ldb)
{
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0, l, ldl, b, ldb);
}

static inline void blas_subtract_abt_f32(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                                         float beta, float* c, int ldc)
{
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1.0f, a, lda, b, ldb, beta, c, ldc);
}

static inline void blas_subtract_aat_f32(int n, int k, const float* a, int lda, float beta, float* c, int ldc)
{
    cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1.0f, a, lda, beta, c, ldc);
}

static inline void blas_solve_right_f32(int m, int n, const float* l, int ldl, float* b, int ldb)
{
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0f, l, ldl, b, ldb);
}

#endif
