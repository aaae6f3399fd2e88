// Single-precision kernels, sse2: 4 lane(s). cmake/kernels.cmake gives this file its flags.
#include "kernels/isa.h"

#if defined(__SSE2__) && !defined(FLX_ONLY_SCALAR)
#define WIDE_REAL float
#define WIDE_LANES 4
#include "kernels/corotated.inl"
#include "kernels/rows.inl"

void flx__kernels_sse2(flx_kernels* k)
{
    k->name           = "sse2";
    k->corotated_f32  = corotated;
    k->rotation_f32   = rotation;
    k->rows_build_f32 = rows_build;
    k->rows_move_f32  = rows_move;
}
#else
void flx__kernels_sse2(flx_kernels* k)
{
    (void)k;
}
#endif
