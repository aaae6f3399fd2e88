// Which instruction sets exist, which this processor has.
#ifndef FLX_BASE_CPU_H
#define FLX_BASE_CPU_H

#include "flexor/base.h"

typedef enum flx_isa
{
    FLX_ISA_SCALAR = 0,
    FLX_ISA_SSE2,
    FLX_ISA_AVX2,
    FLX_ISA_AVX512,
    FLX_ISA_NEON,
    FLX_ISA_COUNT
} flx_isa;

const char* flx__isa_name(flx_isa isa);
/// "auto" gives the widest that this processor and build have. FLX_ERR_ARGUMENT: no such name;
/// FLX_ERR_UNSUPPORTED: not on this processor.
flx_status flx__isa_choose(const char* name, flx_isa* out);
flx_isa    flx__context_isa(const flx_context* ctx);

#endif
