// HDF5 files as images in memory: built there and written by us, or read whole by us and opened there. The library
// never touches the disk, so a full disk, a lock or a killed process cannot leave it with half a file, and it prints
// nothing: its error text goes into the context.
//
// An open image holds a process-wide lock (the library's own state is process-wide): keep one open at a time, briefly.
#ifndef FLX_RECORDING_H5_H
#define FLX_RECORDING_H5_H

#include "base/base.h"

typedef struct flx__h5 flx__h5;

typedef enum flx__h5_type
{
    FLX__H5_F32 = 0,
    FLX__H5_F64,
    FLX__H5_I32
} flx__h5_type;

/// A new image with room for arrays of `expected_bytes` in all; `user_block` bytes will stand before it in the file.
flx_status flx__h5_create(flx_context* ctx, int64_t expected_bytes, int32_t user_block, flx__h5** out);
/// An image for reading; `path` for messages; `image` must outlive the call to close.
flx_status flx__h5_open(flx_context* ctx, const char* path, const void* image, int64_t bytes, flx__h5** out);
void       flx__h5_close(flx__h5* h5); // NULL is welcome

/// A dataset [rows][columns], or [rows] when columns is 0; nothing when rows is 0. Groups in `name` are made.
flx_status flx__h5_put(flx__h5* h5, const char* name, flx__h5_type type, int64_t rows, int64_t columns,
                       const void* data);
/// Attributes of the root group.
flx_status flx__h5_put_reals(flx__h5* h5, const char* name, int32_t count, const double* value);
flx_status flx__h5_put_integer(flx__h5* h5, const char* name, int64_t value);
flx_status flx__h5_put_hash(flx__h5* h5, const char* name, uint64_t value);
flx_status flx__h5_put_text(flx__h5* h5, const char* name, const char* value);

/// The finished image, the caller's to flx__free().
flx_status flx__h5_image(flx__h5* h5, void** image, int64_t* bytes);

/// The same, read. `type` is what `data` holds; the file may hold another precision. Shapes must match.
flx_status flx__h5_get(flx__h5* h5, const char* name, flx__h5_type type, int64_t rows, int64_t columns, void* data);
flx_status flx__h5_get_reals(flx__h5* h5, const char* name, int32_t count, double* value);
flx_status flx__h5_get_integer(flx__h5* h5, const char* name, int64_t low, int64_t high, int64_t* value);
flx_status flx__h5_get_hash(flx__h5* h5, const char* name, uint64_t* value);
/// *value is the caller's to flx__free().
flx_status flx__h5_get_text(flx__h5* h5, const char* name, char** value);

#endif
