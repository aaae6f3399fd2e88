// Dense matrices by columns for the tests of reduction.
#ifndef FLX_TESTS_REDUCE_MATRICES_H
#define FLX_TESTS_REDUCE_MATRICES_H

#include "test.h"

static inline double* new_matrix(int64_t rows, int64_t cols)
{
    return calloc((size_t)(rows * cols), sizeof(double));
}

static inline double* random_matrix(uint64_t* seed, int64_t rows, int64_t cols)
{
    double* a = new_matrix(rows, cols);
    for (int64_t i = 0; i < rows * cols; ++i) a[i] = test_random(seed) - 0.5;
    return a;
}

/// c [m][n] = a [m][k] b [k][n], the plain way
static inline double* product(int64_t m, int64_t k, int64_t n, const double* a, const double* b)
{
    double* c = new_matrix(m, n);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
            for (int64_t i = 0; i < m; ++i) c[i + j * m] += a[i + l * m] * b[l + j * k];
    return c;
}

static inline double column_dot(int64_t rows, const double* a, const double* b, const double* weight)
{
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += (weight ? weight[i] : 1) * a[i] * b[i];
    return sum;
}

/// Random orthonormal columns, by Gram-Schmidt twice.
static inline double* orthonormal_matrix(uint64_t* seed, int64_t rows, int64_t cols)
{
    double* a = random_matrix(seed, rows, cols);
    for (int64_t j = 0; j < cols; ++j)
    {
        for (int pass = 0; pass < 2; ++pass)
            for (int64_t k = 0; k < j; ++k)
            {
                const double along = column_dot(rows, a + j * rows, a + k * rows, NULL);
                for (int64_t i = 0; i < rows; ++i) a[i + j * rows] -= along * a[i + k * rows];
            }
        const double size = sqrt(column_dot(rows, a + j * rows, a + j * rows, NULL));
        for (int64_t i = 0; i < rows; ++i) a[i + j * rows] /= size;
    }
    return a;
}

/// u diag(sigma) z^T with random orthonormal u, z.
static inline double* matrix_with(uint64_t* seed, int64_t rows, int64_t cols, int rank, const double* sigma)
{
    double *u = orthonormal_matrix(seed, rows, rank), *z = orthonormal_matrix(seed, cols, rank);
    double* a = new_matrix(rows, cols);
    for (int64_t j = 0; j < cols; ++j)
        for (int k = 0; k < rank; ++k)
            for (int64_t i = 0; i < rows; ++i) a[i + j * rows] += u[i + k * rows] * sigma[k] * z[j + k * cols];
    free(u);
    free(z);
    return a;
}

#endif
