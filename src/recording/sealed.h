// Sealed files: a 512-byte header with sizes and checksums, then the payload. Whoever reads one knows before looking at
// the payload that it is whole and unchanged. Frames put an HDF5 image behind the header, where the HDF5 library
// looks for one by itself (it calls those 512 bytes a user block), so other programs open them as they are.
#ifndef FLX_RECORDING_SEALED_H
#define FLX_RECORDING_SEALED_H

#include "base/base.h"
#include "base/file.h"

#define FLX__SEAL_BYTES 512

typedef enum flx__seal_kind
{
    FLX__SEAL_TOPOLOGY = 0,
    FLX__SEAL_FRAME,
    FLX__SEAL_CHECKPOINT,
    FLX__SEAL_REDUCTION
} flx__seal_kind;

/// Facts of a file that can be read without its payload.
typedef struct flx__seal
{
    uint64_t model_hash; // 0 where the payload itself knows its model
    double   time;       // s
    int64_t  index;      // frame, or step of a checkpoint
} flx__seal;

/// Write header and payload; the caller commits or aborts `*out`.
flx_status flx__sealed_begin(flx_context* ctx, const char* path, flx__seal_kind kind, const flx__seal* seal,
                             const void* payload, int64_t bytes, bool overwrite, flx_file** out);

/// Read and check everything. *block is the caller's to flx__free(); the payload is the `*bytes` bytes at
/// *block + FLX__SEAL_BYTES. FLX_ERR_FORMAT says whether the file is another kind of file, cut short or damaged.
flx_status flx__sealed_read(flx_context* ctx, const char* path, flx__seal_kind kind, flx__seal* seal, char** block,
                            int64_t* bytes);

/// The header only.
flx_status flx__sealed_peek(flx_context* ctx, const char* path, flx__seal_kind kind, flx__seal* seal);

/// Not cryptographic: finds flipped bits and lost blocks. Fast enough for every frame.
uint64_t flx__checksum(const void* data, int64_t bytes);

#endif
