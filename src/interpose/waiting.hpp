// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "interpose/interposition.hpp"
#include "runtime/progress/progress_engine.hpp"

namespace convene::interpose {

/// True if a call that may wait passes through: no operation of Convene's is pending, or operations progress
/// without it.
inline bool bypass() {
  return progress::outstanding.load(std::memory_order_relaxed) == 0 || !is_active() || progress::may_block();
}

}  // namespace convene::interpose
