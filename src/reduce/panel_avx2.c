// Panels, avx2. cmake/kernels.cmake gives this file its flags.
#if defined(__AVX2__)
#include "reduce/panel.inl"

const flx_panel_kernels flx__panels_avx2 = PANEL_KERNELS;
#else
#include "reduce/panel.h"

const flx_panel_kernels flx__panels_avx2 = {0};
#endif
