// Frames of a run, whoever makes its steps: stepped, recorded, and stopped between two steps when somebody asks.
#ifndef FLEXOR_FRAMES_H
#define FLEXOR_FRAMES_H

#include "cli.h"

typedef enum ending
{
    ENDING_DONE,
    ENDING_STOPPED,
    ENDING_DIVERGED, // said already
    ENDING_FAILED    // said already
} ending;

typedef struct frame_loop
{
    cli*          c;
    void*         user;
    flx_state*    state;
    flx_recorder* recorder; // NULL: nothing is recorded
    int32_t       frames, substeps;
    double        since; // out: when stepping began

    /// One step.
    ending (*step)(void* user, flx_step_stats* stats);
    void (*begin)(void* user);                                                 // of a frame; NULL: nothing to do
    flx_status (*end)(void* user, int32_t frame, const flx_step_stats* stats); // recorded by now; NULL
} frame_loop;

/// From where the state is to the last frame. Frame 0 is recorded when nothing has been stepped yet.
ending step_frames(frame_loop* loop);

#endif
