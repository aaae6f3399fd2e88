// The context's insides. Only src/base looks in here; kernels ask flx__context_isa().
#ifndef FLX_BASE_CONTEXT_H
#define FLX_BASE_CONTEXT_H

#include "base/base.h"
#include "base/cpu.h"

typedef struct flx_workers flx_workers;

struct flx_context
{
    flx_context_desc desc;
    flx_isa          isa;
    int32_t          worker_count;
    flx_workers*     workers; // NULL when worker_count == 1

    int64_t bytes_now;
    int64_t bytes_peak;
    int64_t allocation_count;
    int64_t fail_at; // allocations left before failure; -1 = never

    char* cache_dir;        // own copy; NULL = none
    bool  cache_unwritable; // said once; nothing more is tried

    char error[8192]; // up to twenty scene mistakes
};

bool flx__workers_start(flx_context* ctx);
void flx__workers_stop(flx_context* ctx);

#endif
