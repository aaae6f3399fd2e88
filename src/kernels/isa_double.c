// The same kernels in double precision, one lane: the reference path (`precision: double`).
#include "kernels/isa.h"

#define WIDE_REAL double
#define WIDE_LANES 1
#include "kernels/corotated.inl"
#include "kernels/rows.inl"

void flx__kernels_double(flx_kernels* k)
{
    k->corotated_f64  = corotated;
    k->rotation_f64   = rotation;
    k->rows_build_f64 = rows_build;
    k->rows_move_f64  = rows_move;
}
