#include "base/base.h"

// FNV-1a: for identity of runs and meshes, not for security.
uint64_t flx__hash(uint64_t seed, const void* data, int64_t bytes)
{
    const uint64_t       prime = UINT64_C(1099511628211);
    uint64_t             h     = seed ? seed : UINT64_C(14695981039346656037);
    const unsigned char* p     = data;
    for (int64_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * prime;
    return h ? h : 1;
}
