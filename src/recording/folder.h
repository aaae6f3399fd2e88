// Where a recording lies:
//
//   PATH.xdmf                         for ParaView and others: names the files below
//   PATH.frames/topology.h5           written once
//   PATH.frames/frame_000000.h5 ...   one file a frame
//
// Every file gets its name only when it is whole (base/file.h), and frames are removed last first, so at any instant,
// kill -9 included, frames 0 ... n-1 are complete and n is simply the first number that has no file.
#ifndef FLX_RECORDING_FOLDER_H
#define FLX_RECORDING_FOLDER_H

#include "base/base.h"

typedef struct flx__folder
{
    char* path;     // PATH.frames
    char* name;     // points at its last part
    char* xdmf;     // PATH.xdmf
    char* topology; // PATH.frames/topology.h5
} flx__folder;

/// `path` may end in .xdmf, .h5, .frames, or nothing of the kind.
flx_status flx__folder_name(flx_context* ctx, const char* path, flx__folder* out);
void       flx__folder_release(flx_context* ctx, flx__folder* folder);

flx_status flx__folder_make(flx_context* ctx, const flx__folder* folder); // fine when it is there already
bool       flx__folder_has_topology(const flx__folder* folder);
bool       flx__folder_is_taken(const flx__folder* folder); // something of that name is there

/// Path of one frame, the caller's to flx__free(); NULL when memory ran out.
char*      flx__folder_frame(flx_context* ctx, const flx__folder* folder, int32_t frame);
flx_status flx__folder_count(flx_context* ctx, const flx__folder* folder, int32_t* frame_count);
/// Remove frames `keep` ... count - 1, last first.
flx_status flx__folder_remove_frames(flx_context* ctx, const flx__folder* folder, int32_t count, int32_t keep);
/// Remove what killed writers left unfinished, and frames from `first` on that a gap cut off from the others.
flx_status flx__folder_tidy(flx_context* ctx, const flx__folder* folder, int32_t first);

#endif
