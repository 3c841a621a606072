// SPDX-License-Identifier: BSD-3-Clause
// Incremental schedules: steps are added one by one as they are executed, with explicit dependencies.
#pragma once

#include <utility>
#include <vector>

#include "schedule/online/online_algorithm.hpp"

namespace convene::schedule {

class IncrementalSchedule {
 public:
  /// `empty` is a schedule without steps that has the buffers.
  explicit IncrementalSchedule(const Schedule& empty) : schedule_(empty) {}

  /// Adds a step; `match` is the number of a message between its two ranks.
  StepId add(const OnlineStep& wanted, std::uint32_t match = 0, std::uint32_t round = 0);
  StepId add_join(std::uint32_t round);
  /// Adds a step with its ranges. Its counts and indices are set here.
  StepId add(Step step, std::span<const Range> from, std::span<const Range> to);
  /// Adds a dependency: `after` starts when `before` is complete. Ids grow along every dependency.
  void order(StepId before, StepId after) { edges_.emplace_back(before, after); }

  /// Sets the lowest of the ranks that share places with this one.
  void share_from(Rank first_sharer) { schedule_.first_sharer_ = first_sharer; }
  /// Sets the number of rounds, which is otherwise that of all steps.
  void set_rounds(std::uint32_t rounds) { schedule_.rounds_ = rounds; }

  /// The steps so far, without dependencies.
  const Schedule& schedule() const { return schedule_; }
  /// The steps with their dependencies.
  Schedule finish() const;

 private:
  Schedule schedule_;
  std::vector<std::pair<StepId, StepId>> edges_;
};

}  // namespace convene::schedule
