/// @file
/// All of Flexor's public interface.
#ifndef FLEXOR_FLEXOR_H
#define FLEXOR_FLEXOR_H

#include "flexor/base.h"
#include "flexor/mesh.h"
#include "flexor/model.h"
#include "flexor/recording.h"
#include "flexor/reduce.h"
#include "flexor/scene.h"
#include "flexor/solver.h"
#include "flexor/study.h"

#endif
