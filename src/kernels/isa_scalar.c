// Single-precision kernels, scalar: 1 lane(s). cmake/kernels.cmake gives this file its flags.
#include "kernels/isa.h"

#if 1
#define WIDE_REAL float
#define WIDE_LANES 1
#include "kernels/corotated.inl"
#include "kernels/rows.inl"

void flx__kernels_scalar(flx_kernels* k)
{
    k->name           = "scalar";
    k->corotated_f32  = corotated;
    k->rotation_f32   = rotation;
    k->rows_build_f32 = rows_build;
    k->rows_move_f32  = rows_move;
}
#else
void flx__kernels_scalar(flx_kernels* k)
{
    (void)k;
}
#endif
