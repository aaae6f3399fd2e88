// The factor's insides, shared by factor.c, trial.c, front.c, top.c and solve.c.
#ifndef FLX_SPARSE_FACTOR_INTERNAL_H
#define FLX_SPARSE_FACTOR_INTERNAL_H

#include "sparse/panels.h"
#include "sparse/substitute.h"

/// What a factored supernode hands to its parent: minus the update of the rows below, lower triangle.
/// Tasks pack it (column j has r - j entries, all r columns); the top keeps the free columns with leading dimension r.
typedef struct flx__update
{
    void*   data;  // of the factorization's precision; NULL: nothing below, or consumed
    int64_t ld;    // 0 = packed
    bool    owned; // by itself: free it when consumed
} flx__update;

/// Where column j of an update of r rows begins, with row j.
static inline int64_t flx__update_column(const flx__update* u, int64_t r, int64_t j)
{
    return u->ld ? j * u->ld + j : j * r - j * (j - 1) / 2;
}
static inline int64_t flx__packed_length(int64_t r)
{
    return r * (r + 1) / 2;
}

/// One numeric factorization under way, in one precision: where no type stands, that of `single`.
typedef struct flx__numeric
{
    flx_context*         ctx;
    const flx_csc*       a;
    const flx__symbolic* sym;
    const flx__panels*   panels;
    bool                 single;
    flx__division        division; // by arithmetic
    double*              schur;    // [n_2][n_2], lower triangle
    int32_t              schur_n;

    flx__update* update;  // [supernodes]
    int64_t*     root_at; // [supernodes] place of a task root's update in root_store, -1 = no task root
    void*        root_store;
    void*        stack; // [slots][stack_length]
    int64_t      stack_length;
    int32_t*     map;     // [slots][n]
    void*        scratch; // [slots][scratch_length]
    int32_t      slots;
    int32_t*     bad; // [task_count + 1] first bad row of each task, then of the top; INT32_MAX = none
} flx__numeric;

#define FLX__TOP_TILE 256
#define FLX__SCRATCH (FLX__TOP_TILE * FLX__TOP_TILE)

/// Largest number of rows below a supernode that a task may factor: its update is square in this number.
#define FLX__TASK_ROWS 1536

/// First row of [first, first + width) whose pivot is not safely positive, or -1. `info` is what the Cholesky said,
/// `diagonal` the factored block with leading dimension ld.
int32_t flx__bad_pivot_f64(const flx_csc* a, int32_t first, int32_t width, int info, const double* diagonal,
                           int64_t ld);
int32_t flx__bad_pivot_f32(const flx_csc* a, int32_t first, int32_t width, int info, const float* diagonal, int64_t ld);
/// Add the columns [begin, end) of A that belong to supernode s into its front [rows][ld]; map [n] global to local row.
void flx__scatter_matrix_f64(const flx__numeric* num, int32_t s, int32_t begin, int32_t end, const int32_t* map,
                             double* front, int64_t ld);
void flx__scatter_matrix_f32(const flx__numeric* num, int32_t s, int32_t begin, int32_t end, const int32_t* map,
                             float* front, int64_t ld);

/// front.c: the stack a task needs, in numbers, and the task itself.
int64_t flx__task_stack(const flx__symbolic* sym, int32_t begin, int32_t end);
void    flx__task_run_f64(flx__numeric* num, int32_t task, int32_t slot);
void    flx__task_run_f32(flx__numeric* num, int32_t task, int32_t slot);
/// top.c: everything above the tasks, and what is left for Sigma.
flx_status flx__top_run_f64(flx__numeric* num);
flx_status flx__top_run_f32(flx__numeric* num);

/// Rows of one piece that a worker takes at a time in the top of the tree.
#define FLX__SOLVE_ROWS 256

/// Where a substitution finds and puts values: the vectors of the three columns, four reals a row (the fourth unused),
/// followed by the slots where each task gathers what it adds to rows outside.
typedef struct flx__plan
{
    flx__division division;   // by bytes
    int64_t*      slot_first; // [supernodes] start of a supernode's list in slot
    int32_t*      slot;       // row lists with rows outside of a task renumbered to its slots, padded by 16
    int64_t*      out_first;  // [task_count + 1] slots of each task: out_first + n is the place in the vectors
    int32_t*      out_row;    // [out_first[task_count]] the row that a slot stands for, -1 = padding
    int64_t       vector_rows;
    int32_t       pad;            // the slot that the padding of the top's lists points to
    int64_t       partial_length; // reals for partial sums of the top's backward pass
} flx__plan;

typedef struct flx__work_f32
{
    float* x;       // [vector_rows][4]
    float* scratch; // [workers][FLX__SUBSTITUTE_SCRATCH]
    float* partial;
} flx__work_f32;

typedef struct flx__work_f64
{
    double* x;
    double* scratch;
    double* partial;
} flx__work_f64;

struct flx_factor
{
    flx_context*       ctx;
    flx_factor_options options;
    flx_factor_info    info;
    flx__symbolic      sym;
    flx__panels        panels;
    flx__plan          plan;
    double*            schur;
    flx__substitute    kernels;
    flx__work_f32      f32;
    flx__work_f64      f64;
};

/// trial.c: what rounding does to a translation, relative to 1: the larger of the force that Sigma resists it with
/// beyond A's own, and the deviation of the free unknowns when the prone ones move by 1. Needs single-precision panels.
flx_status flx__translation_error(flx_factor* f, const flx_csc* a, double* out);

flx_status flx__plan_create(flx_context* ctx, const flx__symbolic* sym, const flx__panels* panels, flx__plan* out);
void       flx__plan_release(flx_context* ctx, flx__plan* plan);

#endif
