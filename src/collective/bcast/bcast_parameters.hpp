// SPDX-License-Identifier: BSD-3-Clause
// The parameter "segments" of broadcasts.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

constexpr Parameter bcast_segments(std::int64_t fallback, std::initializer_list<Value> samples,
                                   std::int64_t least = 1) {
  return {.name = "segments",
          .summary = "number of segments of the vector; each is forwarded as it arrives",
          .fallback = fallback,
          .least = least,
          .most = 4096,
          .samples = samples};
}

}  // namespace convene::collective
