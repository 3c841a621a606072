// SPDX-License-Identifier: BSD-3-Clause
// Asking for memory before it is needed.
#pragma once

#include "base/layers.hpp"

namespace convene::base {

/// Has a line of memory brought nearer while other things are done. The address need not exist. (The empty
/// statement is for the compiler: a function that did nothing else would count as one without any effect, and
/// its calls would be left out.)
inline void fetch_soon(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace convene::base
