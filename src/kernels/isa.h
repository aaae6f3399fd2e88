// Each instruction set overwrites the entries of the table that it does better; a set that was not compiled leaves it
// alone.
#ifndef FLX_KERNELS_ISA_H
#define FLX_KERNELS_ISA_H

#include "kernels/kernels.h"

void flx__kernels_double(flx_kernels* k);
void flx__kernels_scalar(flx_kernels* k);
void flx__kernels_sse2(flx_kernels* k);
void flx__kernels_avx2(flx_kernels* k);
void flx__kernels_avx512(flx_kernels* k);
void flx__kernels_neon(flx_kernels* k);

#endif
