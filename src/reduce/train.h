// What the methods share while a model is trained: snapshots, bases, and the way from modes to positions.
#ifndef FLX_REDUCE_TRAIN_H
#define FLX_REDUCE_TRAIN_H

#include "reduce/model.h"
#include "reduce/pod.h"

typedef struct flx_batch_snapshots
{
    int64_t rows;   // count x type->rows
    int32_t frames; // T
    double* z;      // [T][rows][3] S q
    double* p;      // [T][rows][3] projections
} flx_batch_snapshots;

typedef struct flx_trainer
{
    flx_context*                 ctx;
    flx_pd_system*               system;
    const flx_training*          training;
    const flx_reduction_options* options;
    flx_reduced_model*           model;
    flx_batch_snapshots*         snapshot; // [batch_count], of reduced batches
    flx_pod*                     basis;    // [batch_count] modes V; rows of flattened vectors are 3 x rows
} flx_trainer;

// One batch: elements and the fit M, from trainer->basis[b].
flx_status flx__train_block_deim(flx_trainer* trainer, int32_t b); // block_deim.c
flx_status flx__train_deim(flx_trainer* trainer, int32_t b);       // deim_scalar.c
flx_status flx__train_gpd(flx_trainer* trainer, int32_t b);        // gpd.c
/// The fit of the batch's elements, all their rows, by least squares. gpd.c
flx_status flx__train_least_squares(flx_trainer* trainer, int32_t b, double lambda);
flx_status flx__pou_basis(flx_trainer* trainer, int32_t b); // pou.c: makes trainer->basis[b]
flx_status flx__train_pou(flx_trainer* trainer, int32_t b); // pou.c
// All batches.
flx_status flx__secs_basis(flx_trainer* trainer, int32_t b); // secs.c: makes trainer->basis[b]
flx_status flx__train_secs(flx_trainer* trainer);            // secs.c
/// Elements and weights of all reduced batches, and model->c [R][R] = C, which is zeroed and [R][R] before; kernel
/// [R][R]: how modes answer to forces on them. It is made symmetric. secs.c
flx_status flx__secs_weigh(flx_trainer* trainer, double* kernel);
flx_status flx__train_subspace(flx_trainer* trainer); // w_space.c

/// How many elements a batch may use: as asked, or `each` a mode; never more than there are.
int32_t flx__train_element_count(const flx_trainer* trainer, int32_t b, int32_t each);
/// Elements that hold the given rows (each element `rows_each` of them), ascending, into the batch.
flx_status flx__train_take_rows(flx_trainer* trainer, int32_t b, int32_t count, const int64_t* row, int32_t rows_each);
/// Place of a row among those of the batch's elements.
int64_t flx__train_row_place(const flx_reduced_batch* batch, int64_t row, int32_t rows_each);
/// S^T W V of a batch's modes into model->load, and with `solve` A^-1 of it into model->response.
flx_status flx__train_modes(flx_trainer* trainer, int32_t b, double* load, double* response);

#endif
