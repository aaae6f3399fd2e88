// The LAPACK routines this room takes from OpenBLAS. Workspace is always the caller's; matrices by columns.
#ifndef FLX_REDUCE_LAPACK_H
#define FLX_REDUCE_LAPACK_H

#include "sparse/blas.h"

extern void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
                    const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* iwork, int* info,
                    size_t job_length);
extern void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
                    const int* lwork, int* iwork, const int* liwork, int* info, size_t job_length, size_t uplo_length);
extern void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
                    int* info);
extern void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
                    double* work, const int* lwork, int* info);
extern void dgeqp3_(const int* m, const int* n, double* a, const int* lda, int* jpvt, double* tau, double* work,
                    const int* lwork, int* info);
extern void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivot, int* info);
extern void dgetrs_(const char* trans, const int* n, const int* count, const double* a, const int* lda,
                    const int* pivot, double* b, const int* ldb, int* info, size_t trans_length);

#endif
