#ifndef FLX_RECORDING_XDMF_H
#define FLX_RECORDING_XDMF_H

#include "recording/folder.h"
#include "recording/frame_source.h"

/// Replace the XDMF sidecar by one that names frames 0 ... frame_count - 1. Of `shape` only counts are used.
flx_status flx__xdmf_write(flx_context* ctx, const flx__folder* folder, const flx__topology* shape, int32_t frame_count,
                           const double* times);

/// Text as it may stand in XML: & < > " ' escaped, control characters replaced. The caller's to flx__free().
char* flx__xml_text(flx_context* ctx, const char* text);

#endif
