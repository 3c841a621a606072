// SPDX-License-Identifier: BSD-3-Clause
// What the player remembers of every step where the critical path is asked for: when it was ready and when it was
// finished, and who decided that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/engine/simulator.hpp"

namespace convene::simulate {

class History {
 public:
  /// Of so many steps, or of none.
  explicit History(std::uint64_t steps)
      : ready_(steps), finished_(steps), released_by_(steps, by_arrival), other_end_(steps) {}

  void ready(std::uint64_t step, double now) {
    if (!ready_.empty()) ready_[step] = now;
  }
  void finished(std::uint64_t step, double now) {
    if (!ready_.empty()) finished_[step] = now;
  }
  /// Of all that this step depends on, that one was done last.
  void released(std::uint64_t step, StepId last) {
    if (!ready_.empty()) released_by_[step] = last;
  }
  /// The other end of the message was not ready when this one was.
  void decided_by_other_end(std::uint64_t step) {
    if (!ready_.empty()) other_end_[step] = 1;
  }

  /// From the last exit backwards along what decided, to a rank's arrival; the steps in the order of time.
  std::vector<CriticalStep> critical_path(const Source& source, std::span<const double> exits) const;

 private:
  static constexpr StepId by_arrival = 0xffffffffu;

  std::vector<double> ready_, finished_;
  std::vector<StepId> released_by_;
  std::vector<std::uint8_t> other_end_;
};

}  // namespace convene::simulate
