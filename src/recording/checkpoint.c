// Checkpoints: a state's own bytes under a seal. The state's bytes name their model, so a file of another model is
// refused by whoever reads them.
#include "recording/frame_source.h"

#include "recording/sealed.h"

flx_status flx__checkpoint_save(flx_context* ctx, const char* path, double time, int64_t step, const void* payload,
                                int64_t bytes)
{
    flx_file*        file   = NULL;
    const flx__seal  seal   = {.time = time, .index = step};
    const flx_status status = flx__sealed_begin(ctx, path, FLX__SEAL_CHECKPOINT, &seal, payload, bytes, true, &file);
    return status == FLX_OK ? flx__file_commit(file) : status;
}

flx_status flx__checkpoint_load(flx_context* ctx, const char* path, char** block, const void** payload, int64_t* bytes)
{
    flx__seal        seal   = {0};
    const flx_status status = flx__sealed_read(ctx, path, FLX__SEAL_CHECKPOINT, &seal, block, bytes);
    *payload                = status == FLX_OK ? *block + FLX__SEAL_BYTES : NULL;
    return status;
}
