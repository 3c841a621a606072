// SPDX-License-Identifier: BSD-3-Clause
// Background progress, if requested (CONVENE_PROGRESS_THREAD=1): a progress thread that advances pending
// operations while the program computes.
//
// Design notes
// - It needs MPI_THREAD_MULTIPLE. If the program's MPI was initialised with less, that is declared, and there
//   is foreground progress only.
// - It starts with the first operation, sleeps while none is pending, and ends before MPI_Finalize begins
//   (process/process.hpp).
// - One driver: it tries the token of progress::advance_all(), and backs off while a thread of the program is
//   driving (two polling threads cost milliseconds). base/poller.hpp describes its sleep.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::runtime::background {

/// Lets progress::add() wake the thread. Call it before the first operation.
void install();

/// True if there is such a thread, or will be as soon as an operation is pending.
bool is_available();

}  // namespace convene::runtime::background
