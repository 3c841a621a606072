// SPDX-License-Identifier: BSD-3-Clause
// Progress in the background, where it was asked for (CONVENE_PROGRESS_THREAD=1): an auxiliary thread that takes
// outstanding operations further while the program computes.
//
// Design notes
// - It needs MPI_THREAD_MULTIPLE. Where the program's MPI was initialised with less, that is declared, and there is
//   foreground progress only.
// - It starts with the first operation, sleeps while none is outstanding, and ends before MPI_Finalize begins
//   (finalize.cpp).
// - One driver: it tries the token of progress::advance_all(), and steps back while a thread of the program's is at it (two
//   threads that both poll cost milliseconds). base/poller.hpp says how it sleeps.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::runtime::background {

/// Something is outstanding now. Starts the thread if it is wanted and not there yet.
void wake();

/// Whether there is such a thread, or will be as soon as something is outstanding.
bool is_available();

/// Ends it, and keeps what usage() tells.
void stop();

struct Usage {
  bool was_wanted = false, ran = false;
  double cpu_seconds = 0;
  std::uint64_t polls = 0;
};
Usage usage();

}  // namespace convene::runtime::background
