// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "interpose/door.hpp"
#include "runtime/progress.hpp"

namespace convene {

/// Whether a call that may wait is to go straight to the MPI: nothing of Convene's is outstanding, or goes on without it.
inline bool goes_straight() {
  return progress::outstanding.load(std::memory_order_relaxed) == 0 || !door_is_open() ||
         progress::may_block();
}

}  // namespace convene
