#include "base/cpu.h"

#include "base/context.h"

#include <string.h>

static const char* const names[FLX_ISA_COUNT] = {"scalar", "sse2", "avx2", "avx512", "neon"};

static bool available(flx_isa isa)
{
    switch (isa)
    {
    case FLX_ISA_SCALAR:
        return true;
#if defined(FLX_ONLY_SCALAR)
    default:
        return false;
#elif defined(__x86_64__)
    case FLX_ISA_SSE2:
        return true;
    case FLX_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case FLX_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    default:
        return false;
#elif defined(__aarch64__)
    case FLX_ISA_NEON:
        return true;
    default:
        return false;
#else
    default:
        return false;
#endif
    }
}

const char* flx__isa_name(flx_isa isa)
{
    return names[isa];
}
flx_isa flx__context_isa(const flx_context* ctx)
{
    return ctx->isa;
}

flx_status flx__isa_choose(const char* name, flx_isa* out)
{
    if (strcmp(name, "auto") == 0)
    {
        *out = FLX_ISA_SCALAR;
        for (int i = 0; i < FLX_ISA_COUNT; ++i)
            if (available((flx_isa)i)) *out = (flx_isa)i;
        return FLX_OK;
    }
    for (int i = 0; i < FLX_ISA_COUNT; ++i)
    {
        if (strcmp(name, names[i]) != 0) continue;
        if (!available((flx_isa)i)) return FLX_ERR_UNSUPPORTED;
        *out = (flx_isa)i;
        return FLX_OK;
    }
    return FLX_ERR_ARGUMENT;
}
