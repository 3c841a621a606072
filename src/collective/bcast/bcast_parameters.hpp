// SPDX-License-Identifier: BSD-3-Clause
// The parameter that broadcasts have in common.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

inline Parameter segments_parameter(std::int64_t fallback, std::vector<std::int64_t> samples,
                                    std::int64_t least = 1) {
  return {.name = "segments",
          .summary = "how many parts the vector is cut into, each passed on as it arrives",
          .fallback = fallback,
          .least = least,
          .most = 4096,
          .samples = std::move(samples)};
}

}  // namespace convene::collective
