// A yardstick: one solver of the test body's system, ours or another's, behind the same few functions. Everyone times
// the core calls of his own; converting to his precision and numbering is not counted.
#ifndef FLX_BENCH_YARD_H
#define FLX_BENCH_YARD_H

#include <stdbool.h>
#include <stdint.h>

/// Lower triangle by columns, rows ascending. What yardsticks see of flx_csc: C++ and the module need no more.
typedef struct yard_matrix
{
    int32_t        n, free_count; // the unknowns from free_count on are collision-prone
    const int64_t* first;         // [n + 1]
    const int32_t* row;
    const double*  value;
} yard_matrix;

typedef struct yard
{
    const char* name;
    char        version[160];
    char        note[96]; // of the last setup
    void*       state;
    bool        partial;   // forward leaves b_2 - L_21 y_1 and backward needs x_2: someone solves with Sigma in between
    bool        own_order; // wants the matrix in mesh order
    /// Order and analyse, then factorize: ms of both. Anything made before is released. False if it
    /// cannot.
    bool (*setup)(struct yard* y, const yard_matrix* a, double ms[2]);
    /// In place on x [3][n]. Returns ms. backward is NULL where forward solves completely.
    double (*forward)(void* state, double* x);
    double (*backward)(void* state, double* x);
    void (*destroy)(void* state);
} yard;

#endif
