// SPDX-License-Identifier: BSD-3-Clause
// Message matching: the pairs of sends and receives of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The index of a step among all steps of a plan, rank by rank.
using PlanStep = std::uint32_t;

/// The n-th send from a to b and the n-th receive of b from a, for every message of a plan.
struct MessageMatching {
  static constexpr PlanStep none = 0xffffffffu;

  std::vector<PlanStep> base;  ///< by rank: the index of its first step; and, last, the number of all steps
  std::vector<PlanStep> partner;  ///< by index: the other end of the message; `none` for other steps
  std::string fault;              ///< empty if every message has one send and one receive of equal size

  PlanStep at(Rank rank, StepId step) const { return base[rank] + step; }
  /// The step of `rank` that has this index.
  StepId step(Rank rank, PlanStep index) const { return index - base[rank]; }
};

/// Matches the messages. The schedules must be those of ranks 0 … P−1 and valid. O(steps + ranks).
MessageMatching link(const Plan& plan);

}  // namespace convene::schedule
