// SPDX-License-Identifier: BSD-3-Clause
// Progress in the background, where it was asked for (CONVENE_PROGRESS_THREAD=1): an auxiliary thread that
// takes outstanding operations further while the program computes.
//
// Design notes
// - It needs MPI_THREAD_MULTIPLE. Where the program's MPI was initialised with less, that is declared, and
//   there is foreground progress only.
// - It starts with the first operation, sleeps while none is outstanding, and ends before MPI_Finalize begins
//   (process/process.hpp).
// - One driver: it tries the token of progress::advance_all(), and steps back while a thread of the program's
//   is at it (two threads that both poll cost milliseconds). base/poller.hpp says how it sleeps.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::runtime::background {

/// Has progress::add() wake the thread. To be called before the first operation.
void install();

/// Whether there is such a thread, or will be as soon as something is outstanding.
bool is_available();

}  // namespace convene::runtime::background
