#ifndef FLX_RECORDING_READER_H
#define FLX_RECORDING_READER_H

#include "base/base.h"
#include "flexor/recording.h"

/// Time of a frame in s, from its header alone.
flx_status flx__recording_time(flx_recording* recording, int32_t index, double* time);

#endif
