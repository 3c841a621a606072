// SPDX-License-Identifier: BSD-3-Clause
// In-order ranks: ranks that start their steps and wait for them in a compiled order, as the executor does.
// Internal to the engine.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "schedule/core/order.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::simulate::engine {

class InOrderRanks {
 public:
  static constexpr StepId nothing = 0xffffffffu;

  /// One order per rank, or one for all ranks. A rank with an empty order has none. The orders must outlive
  /// this object.
  void set(std::span<const Order> orders, Rank procs) {
    if (orders.empty()) return;
    progress_.resize(procs);
    for (Rank rank = 0; rank < procs; ++rank)
      if (const Order& order = orders[orders.size() == 1 ? 0 : rank]; !order.empty())
        progress_[rank] = {.next = order.data(), .end = order.data() + order.size()};
  }

  bool has_order(Rank rank) const { return !progress_.empty() && progress_[rank].end != nullptr; }

  /// Executes the rank's order until it has to wait. issue(step) starts a step and returns true if the rank's
  /// processor is busy with it now; advance() must be called again when it has. is_over(step): the rank need
  /// not wait for the step.
  template <class Issue, class IsOver>
  void advance(Rank rank, Issue&& issue, IsOver&& is_over) {
    Progress& progress = progress_[rank];
    while (progress.next != progress.end) {
      const Op op = *progress.next;
      if (op.action() == Action::issue) {
        ++progress.next;
        if (issue(op.step())) return;
        continue;
      }
      const bool is_for_all = op.action() != Action::wait;
      if (is_for_all ? progress.open > 0 : !is_over(op.step())) {
        progress.awaited = is_for_all ? everything : op.step();
        return;
      }
      ++progress.next;
    }
  }

  /// Counts a step that the rank has begun. Returns the step for which the rank waited last, or `nothing`.
  StepId begun(Rank rank) {
    ++progress_[rank].open;
    return progress_[rank].last;
  }

  /// Counts a finished step. Returns true if the rank waited for it: call advance() then.
  bool finished(Rank rank, StepId step) {
    Progress& progress = progress_[rank];
    --progress.open;
    if (progress.awaited != step && !(progress.awaited == everything && progress.open == 0)) return false;
    progress.awaited = nothing;
    progress.last = step;
    return true;
  }

 private:
  static constexpr StepId everything = nothing - 1;

  struct Progress {
    const Op* next = nullptr;
    const Op* end = nullptr;
    StepId awaited = nothing;  // the step that the rank waits for
    StepId last = nothing;     // the step that it waited for last
    std::uint32_t open = 0;    // steps that are begun and not finished
  };

  std::vector<Progress> progress_;  // by rank; empty without orders
};

}  // namespace convene::simulate::engine
