// SPDX-License-Identifier: BSD-3-Clause
// The pace of a schedule: whether the messages of a round may start before those of the rounds before are
// complete.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

enum class Pace : std::int64_t { free, rounds };

constexpr Parameter pace_parameter_of(Pace fallback) {
  return {
      .name = "pace",
      .summary = "a rank's messages start when their data is there, or also wait for those of earlier rounds",
      .fallback = static_cast<std::int64_t>(fallback),
      .words = {"free", "rounds"},
      .samples = {0, 1}};
}

inline constexpr Parameter pace_parameter = pace_parameter_of(Pace::free);

/// Call it before the first message.
inline void set_pace(const Value& pace, Builder& builder) {
  if (static_cast<Pace>(pace) == Pace::rounds) builder.pace_rounds();
}

}  // namespace convene::collective
