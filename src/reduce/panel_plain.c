// Panels, without flags of their own.
#include "reduce/panel.inl"

const flx_panel_kernels flx__panels_plain = PANEL_KERNELS;
