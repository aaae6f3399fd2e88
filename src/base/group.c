#include "base/base.h"

flx_status flx__group(flx_context* ctx, int32_t entry_count, const int32_t* key, int32_t key_count, int32_t** first,
                      int32_t** entry)
{
    flx_status status = FLX_OK;
    *first = *entry = NULL;
    FLX_NEW_ZERO(ctx, *first, (int64_t)key_count + 1);
    FLX_NEW(ctx, *entry, entry_count);
    for (int32_t i = 0; i < entry_count; ++i)
        if (key[i] >= 0) ++(*first)[key[i] + 1];
    for (int32_t k = 0; k < key_count; ++k) (*first)[k + 1] += (*first)[k];
    for (int32_t i = 0; i < entry_count; ++i)
        if (key[i] >= 0) (*entry)[(*first)[key[i]]++] = i;
    for (int32_t k = key_count; k > 0; --k) (*first)[k] = (*first)[k - 1]; // each was moved to its end
    (*first)[0] = 0;
done:
    return status;
}
