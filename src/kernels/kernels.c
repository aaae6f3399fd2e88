#include "kernels/isa.h"

flx_kernels flx__kernels_for(flx_isa isa)
{
    flx_kernels k = {0};
    flx__kernels_double(&k);
    flx__kernels_scalar(&k);
    switch (isa)
    {
    case FLX_ISA_SSE2:
        flx__kernels_sse2(&k);
        break;
    case FLX_ISA_AVX2:
        flx__kernels_avx2(&k);
        break;
    case FLX_ISA_AVX512:
        flx__kernels_avx512(&k);
        break;
    case FLX_ISA_NEON:
        flx__kernels_neon(&k);
        break;
    case FLX_ISA_SCALAR:
    case FLX_ISA_COUNT:
        break;
    }
    return k;
}
