// SPDX-License-Identifier: BSD-3-Clause
// Step history: the times of every step and their causes, for the critical path. Internal to the engine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/engine/simulation_result.hpp"
#include "simulate/engine/workload.hpp"

namespace convene::simulate::engine {

class StepHistory {
 public:
  /// Records `steps` steps; 0: nothing is recorded.
  explicit StepHistory(std::uint64_t steps)
      : ready_(steps), finished_(steps), released_by_(steps, by_arrival), other_end_(steps) {}

  void ready(std::uint64_t step, double now) {
    if (!ready_.empty()) ready_[step] = now;
  }
  void finished(std::uint64_t step, double now) {
    if (!ready_.empty()) finished_[step] = now;
  }
  /// `last` is the predecessor of the step that finished last.
  void released(std::uint64_t step, StepId last) {
    if (!ready_.empty()) released_by_[step] = last;
  }
  /// The step waited for the other end of its message.
  void decided_by_other_end(std::uint64_t step) {
    if (!ready_.empty()) other_end_[step] = 1;
  }

  /// The steps from a rank's arrival to the last exit, each of which determined the start of the next.
  std::vector<CriticalStep> critical_path(const Workload& workload, std::span<const double> exits) const;

 private:
  static constexpr StepId by_arrival = 0xffffffffu;

  std::vector<double> ready_, finished_;
  std::vector<StepId> released_by_;
  std::vector<std::uint8_t> other_end_;
};

}  // namespace convene::simulate::engine
