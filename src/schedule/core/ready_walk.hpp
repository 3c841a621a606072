// SPDX-License-Identifier: BSD-3-Clause
// Dependency counters. A walk over a schedule's graph keeps the number of incomplete predecessors of each
// step and reports a step when its last predecessor completes. The checker, the compiler of orders, the
// models, the printers and the executor walk schedules with it.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The walk over one schedule, which must outlive it. The caller completes steps in any order that the
/// dependencies allow. `Counters` is a vector of one counter a step, or a pointer to memory for them.
///
/// Joins need no work: start() and complete() complete a join with its last predecessor and report what
/// follows it.
template <class Counters>
class BasicReadyWalk {
 public:
  explicit BasicReadyWalk(
      const Schedule& schedule) requires std::same_as<Counters, std::vector<std::uint32_t>>
      : BasicReadyWalk(schedule, Counters(schedule.size())) {}

  /// `counters` has one element for each step of the schedule.
  BasicReadyWalk(const Schedule& schedule, Counters counters)
      : schedule_(&schedule), unmet_(std::move(counters)) {
    for (StepId id = 0; id < schedule.size(); ++id) unmet_[id] = schedule[id].predecessors;
  }

  /// Adds a condition to a step in addition to its predecessors, such as the arrival of its message. Call it
  /// before start().
  void hold(StepId id) { ++unmet_[id]; }

  /// Meets a condition that hold() added. Calls ready(id) if no predecessor and no other condition is left.
  template <class Ready>
  void release(StepId id, Ready&& ready) {
    if (--unmet_[id] == 0) ready(id);
  }

  /// Calls ready(id) for each step without predecessors and conditions, in ascending order.
  template <class Ready>
  void start(Ready&& ready) {
    for (StepId id = 0; id < schedule_->size(); ++id)
      if (unmet_[id] == 0 && (*schedule_)[id].predecessors == 0) pass(id, ready);
  }

  /// Completes a step. Calls ready(next) for each step that this makes ready.
  template <class Ready>
  void complete(StepId id, Ready&& ready) {
    complete_one(id, [&](StepId next) { pass(next, ready); });
  }

  /// The same for callers that treat joins as steps: a join is reported like any other successor.
  template <class Ready>
  void complete_one(StepId id, Ready&& ready) {
    unmet_[id] = completed;
    for (const StepId next : schedule_->successors(id))
      if (--unmet_[next] == 0) ready(next);
  }

  /// Marks a ready step as begun: is_ready() is false from here on.
  void begin(StepId id) { unmet_[id] = begun; }

  /// All predecessors are complete, all conditions met, and the step is not begun.
  bool is_ready(StepId id) const { return unmet_[id] == 0; }
  bool is_complete(StepId id) const { return unmet_[id] == completed; }
  /// The number of steps that are not complete. O(steps).
  std::uint32_t incomplete() const {
    std::uint32_t count = 0;
    for (StepId id = 0; id < schedule_->size(); ++id) count += !is_complete(id);
    return count;
  }

 private:
  // Values of a counter for steps that have begun or are complete.
  static constexpr std::uint32_t begun = 0xfffffffeu, completed = 0xffffffffu;

  template <class Ready>
  void pass(StepId id, Ready& ready) {
    if ((*schedule_)[id].kind == StepKind::join)
      complete(id, ready);
    else
      ready(id);
  }

  const Schedule* schedule_;
  Counters unmet_;  // by step: predecessors that are not complete, and conditions that are not met
};

using ReadyWalk = BasicReadyWalk<std::vector<std::uint32_t>>;

/// The walks over all schedules of a plan, by rank.
inline std::vector<ReadyWalk> ready_walks(const Plan& plan) { return {plan.begin(), plan.end()}; }

}  // namespace convene::schedule
