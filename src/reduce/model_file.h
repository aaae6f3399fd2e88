// Trained models on disk: one sealed HDF5 file, whole or not there, that other programs can open.
#ifndef FLX_REDUCE_MODEL_FILE_H
#define FLX_REDUCE_MODEL_FILE_H

#include "reduce/model.h"

/// FLX_ERR_EXISTS unless `overwrite`; FLX_ERR_IO, FLX_ERR_MEMORY.
flx_status flx__model_file_write(const flx_reduced_model* model, const char* path, bool overwrite);

/// `system`: the one it will be used with, NULL to look at it only. FLX_ERR_FORMAT for a file that is another thing,
/// cut short, damaged or inconsistent; FLX_ERR_ARGUMENT for a model of another system; FLX_ERR_IO, FLX_ERR_MEMORY.
flx_status flx__model_file_read(flx_context* ctx, const char* path, const flx_pd_system* system,
                                flx_reduced_model** out);

#endif
