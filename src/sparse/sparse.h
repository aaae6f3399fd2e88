// Sparse and dense linear algebra for one symmetric positive definite scalar matrix and three right-hand sides.
// This room knows matrices, not meshes.
#ifndef FLX_SPARSE_SPARSE_H
#define FLX_SPARSE_SPARSE_H

#include "base/base.h"

/// Lower triangle by columns, rows ascending, the diagonal first in each column.
typedef struct flx_csc
{
    int32_t  n;
    int64_t* first; // [n + 1]
    int32_t* row;   // [first[n]]
    double*  value; // [first[n]] N/m
} flx_csc;
void flx__csc_release(flx_context* ctx, flx_csc* a);

/// Symmetric graph without loops: neighbours of v are adjacent[first[v] .. first[v + 1]).
typedef struct flx_graph
{
    int32_t  n;
    int64_t* first;
    int32_t* adjacent;
} flx_graph;

/// Fill-reducing elimination order: the free vertices by nested dissection (METIS), postordered along the elimination
/// tree so that supernodes are contiguous; then the prone ones, in an order of good locality.
/// in   prone  [n] nonzero = collision-prone; NULL = none
/// out  order  [n] order[k] = vertex eliminated k-th
/// Deterministic, as long as no other thread calls rand() meanwhile: METIS seeds and uses the C library's generator.
/// A large graph's order is kept in the context's cache folder, if it has one.
/// Returns FLX_ERR_MEMORY.
flx_status flx__order_nested_dissection(flx_context* ctx, const flx_graph* graph, const uint8_t* prone, int32_t* order);

// --- partial Cholesky factor ---------------------------------------------------------------------------

/// L_11, L_21 and Sigma = A_22 - A_21 A_11^-1 A_12 of a matrix whose first `free_count` unknowns are eliminated.
/// [LLKS] eq. 14. free_count == n is an ordinary factorization; free_count == 0 gives Sigma = A.
typedef struct flx_factor flx_factor;

/// For a factor that may be in the context's cache folder from an earlier run, together with one array of the caller's
/// that is made from it.
typedef struct flx_factor_keep
{
    int32_t     what;         // in: which array, of those that the caller could make
    int64_t     beside_bytes; // in: its size
    void*       beside;       // out: the array, to flx__free(): the factor was found, and has no Sigma. NULL: made anew
    bool        wanted;       // out, as is `key`: for flx__factor_save()
    flx__digest key;
} flx_factor_keep;

typedef struct flx_factor_options
{
    bool single;      // keep single-precision panels, for flx__factor_forward_f32 and _backward_f32
    bool keep_double; // keep double-precision panels, for the _f64 pair
    // Factorize in single precision, Sigma's sums excepted; only with `single` and without `keep_double`. Where a pivot
    // or a translation would suffer, double precision is used all the same.
    bool             single_arithmetic;
    flx_factor_keep* keep; // NULL: make it anew in any case
} flx_factor_options;

typedef struct flx_factor_info
{
    int64_t nonzeros; // stored in L_11 and L_21, padding of relaxed supernodes included
    int32_t supernode_count;
    double  flops;
    int64_t bytes;                             // held
    int64_t forward_entries, backward_entries; // of the panels, padding included, that one substitution reads
    double  ms_analyze, ms_factor;
    bool    single_arithmetic; // made in single precision, not found and not in double
} flx_factor_info;

/// `a` must be in elimination order (see flx__order_nested_dissection; any order is correct, a good one is fast).
/// Same bits for any number of workers. OpenBLAS is held to one thread from here on: a setting of the whole process.
/// Returns FLX_ERR_MEMORY, or FLX_ERR_UNHELD with *bad_row (may be NULL) = the first unknown whose pivot is not
/// safely positive (pivot <= 1e-12 x the diagonal entry, or NaN); the caller names the vertex.
flx_status flx__factor_create(flx_context* ctx, const flx_csc* a, int32_t free_count, const flx_factor_options* options,
                              int32_t* bad_row, flx_factor** out);
void       flx__factor_destroy(flx_factor* factor);
flx_factor_info flx__factor_get_info(const flx_factor* factor);
/// Keep a factor that was made anew, and the caller's array, for later runs; or do nothing when that is not wanted.
void flx__factor_save(const flx_factor* factor, const flx_factor_keep* keep, const void* beside);

/// Sigma, [n_2][n_2], symmetric and full, owned by the factor until flx__factor_take_schur() hands it over
/// (flx__free() it then; later calls give NULL).
const double* flx__factor_schur(const flx_factor* factor);
double*       flx__factor_take_schur(flx_factor* factor);

/// In place on three columns b[c] (each [n]): b_1 = L_11^-1 b_1, then b_2 = b_2 - L_21 b_1. No heap.
void flx__factor_forward_f32(flx_factor* factor, float* const b[3]);
void flx__factor_forward_f64(flx_factor* factor, double* const b[3]);
/// In place: b_1 = L_11^-T (b_1 - L_21^T b_2); b_2 is read only. No heap.
void flx__factor_backward_f32(flx_factor* factor, float* const b[3]);
void flx__factor_backward_f64(flx_factor* factor, double* const b[3]);

// --- dense -----------------------------------------------------------------------------------------------

// Column-major n x n, leading dimension ld, symmetric positive definite; tiled over the context's workers with BLAS
// held to one thread inside each tile: same bits for any number of workers.

/// Lower Cholesky factor in place (the upper triangle is left alone). FLX_ERR_UNHELD with *bad_row if not positive
/// definite.
flx_status flx__dense_cholesky_f64(flx_context* ctx, int32_t n, double* a, int64_t ld, int32_t* bad_row);
flx_status flx__dense_cholesky_f32(flx_context* ctx, int32_t n, float* a, int64_t ld, int32_t* bad_row);
/// b [columns][n] := (L L^T)^-1 b, in place. No heap.
void flx__dense_solve_f64(flx_context* ctx, int32_t n, const double* l, int64_t ld, double* b, int64_t ldb,
                          int32_t columns);
void flx__dense_solve_f32(flx_context* ctx, int32_t n, const float* l, int64_t ld, float* b, int64_t ldb,
                          int32_t columns);
/// Full symmetric inverse in place of a (both triangles written).
flx_status flx__dense_inverse_f64(flx_context* ctx, int32_t n, double* a, int64_t ld, int32_t* bad_row);
flx_status flx__dense_inverse_f32(flx_context* ctx, int32_t n, float* a, int64_t ld, int32_t* bad_row);
/// y[c] = a x[c] for three columns; a is full symmetric. Memory-bound: reads a once, all workers. No heap.
void flx__dense_multiply3_f32(flx_context* ctx, int32_t n, const float* a, int64_t ld, float* const x[3],
                              float* const y[3]);
void flx__dense_multiply3_f64(flx_context* ctx, int32_t n, const double* a, int64_t ld, double* const x[3],
                              double* const y[3]);

// --- conjugate gradients ------------------------------------------------------------------------------------

/// Full symmetric matrix by rows (both triangles), for products; made from the lower triangle.
typedef struct flx_csr
{
    int32_t  n;
    int64_t* first;
    int32_t* column;
    double*  value;
} flx_csr;
flx_status flx__csr_from_lower(flx_context* ctx, const flx_csc* lower, flx_csr* out);
void       flx__csr_release(flx_context* ctx, flx_csr* m);
void       flx__csr_multiply(flx_context* ctx, const flx_csr* m, const double* x, double* y);

/// y += (extra operator) x on three columns: the contacts' W^T C W. May be NULL.
typedef void (*flx_extra_fn)(void* user, double* const x[3], double* const y[3]);

typedef struct flx_pcg
{
    flx_context*   ctx;
    const flx_csr* a;
    const double*  extra_diagonal; // [n] added to diag(a) in the Jacobi preconditioner; may be NULL
    flx_extra_fn   extra;
    void*          extra_user;
    int32_t        max_iterations;
    double         tolerance; // on |r| / |b|, per column
    double*        work;      // [15 n] scratch, caller's
} flx_pcg;
/// Jacobi-preconditioned conjugate gradients from x = 0 (or the given x when `warm`), three columns at once.
/// Returns the iterations done. No heap. Same bits for any number of workers.
int32_t flx__pcg_solve(const flx_pcg* pcg, const double* const b[3], double* const x[3], bool warm);

#endif
