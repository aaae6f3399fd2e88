// Panels, avx512. cmake/kernels.cmake gives this file its flags.
#if defined(__AVX512F__)
#include "reduce/panel.inl"

const flx_panel_kernels flx__panels_avx512 = PANEL_KERNELS;
#else
#include "reduce/panel.h"

const flx_panel_kernels flx__panels_avx512 = {0};
#endif
