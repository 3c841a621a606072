// SPDX-License-Identifier: BSD-3-Clause
// Software prefetch.
#pragma once

#include "base/layers.hpp"

namespace convene::base {

/// Prefetches the cache line at an address, which need not be valid. (The empty asm statement keeps the
/// compiler from treating the function as free of side effects and removing its calls.)
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace convene::base
