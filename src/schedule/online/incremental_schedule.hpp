// SPDX-License-Identifier: BSD-3-Clause
// A schedule whose steps are decided upon one by one, as they are done. Nothing is inferred here: what must come before
// what is said by whoever adds steps.
#pragma once

#include <utility>
#include <vector>

#include "schedule/online/online_algorithm.hpp"

namespace convene::schedule {

class IncrementalSchedule {
 public:
  /// `frame`: a schedule without steps, with the buffers that the steps will touch.
  explicit IncrementalSchedule(const Schedule& frame) : schedule_(frame) {}

  /// The next step; messages have the number `match` between the two ranks.
  StepId add(const OnlineStep& wanted, std::uint32_t match = 0, std::uint32_t round = 0);
  StepId add_join(std::uint32_t round);
  /// `after` waits until `before` is complete. Ids grow along every dependency.
  void order(StepId before, StepId after) { edges_.emplace_back(before, after); }

  /// What there is so far, without its dependencies.
  const Schedule& schedule() const { return schedule_; }
  /// With them.
  Schedule finish() const;

 private:
  StepId add(Step step, std::span<const Range> from, std::span<const Range> to);

  Schedule schedule_;
  std::vector<std::pair<StepId, StepId>> edges_;
};

}  // namespace convene::schedule
