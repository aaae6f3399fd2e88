// What the pattern alone decides: supernodes, their rows, the tree between them and how it is divided among workers.
#ifndef FLX_SPARSE_SYMBOLIC_H
#define FLX_SPARSE_SYMBOLIC_H

#include "sparse/tree.h"

/// Supernodes are numbered in postorder: children before parents, each subtree a contiguous range.
/// Written once by flx__symbolic_create(), read-only after.
typedef struct flx__symbolic
{
    int32_t  n;
    int32_t  free_count;
    int32_t  count;     // of supernodes
    int32_t* first;     // [count] first column
    int32_t* width;     // [count] columns; first .. first + width - 1
    int64_t* row_first; // [count + 1]
    int32_t* row;       // [row_first[count]] rows of each supernode, ascending: its own columns, then those below
    int32_t* parent;    // [count] -1: the first row below is prone, or there is none
    int32_t* begin;     // [count] the subtree of s is [begin[s], s]
    int64_t  nonzeros;  // trapezoids of all supernodes
    double   flops;
} flx__symbolic;

flx_status flx__symbolic_create(flx_context* ctx, const flx_csc* a, int32_t free_count, flx__symbolic* out);
void       flx__symbolic_release(flx_context* ctx, flx__symbolic* sym);

/// Rows of supernode s, its own columns included, and how many of them are prone.
static inline int32_t flx__row_count(const flx__symbolic* sym, int32_t s)
{
    return (int32_t)(sym->row_first[s + 1] - sym->row_first[s]);
}
static inline const int32_t* flx__row_list(const flx__symbolic* sym, int32_t s)
{
    return sym->row + sym->row_first[s];
}

/// Ranges of supernodes that independent tasks take, and the top of the tree that is left.
/// A task is a run of whole subtrees; the shape depends on the weights only.
typedef struct flx__division
{
    int32_t  task_count;
    int32_t* begin;    // [task_count] supernodes [begin, end)
    int32_t* end;      // [task_count]
    int32_t* schedule; // [task_count] tasks by falling weight
    int32_t* task_of;  // [supernodes] -1 = top
    int32_t  top_count;
    int32_t* top; // [top_count] ascending
} flx__division;

/// in  weight  [supernodes] work of each supernode alone; negative = belongs to the top whatever its subtree weighs
/// A subtree that weighs more than `limit` is divided further.
flx_status flx__division_create(flx_context* ctx, const flx__symbolic* sym, const double* weight, double limit,
                                flx__division* out);
void       flx__division_release(flx_context* ctx, flx__division* division);

#endif
