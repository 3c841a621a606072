// SPDX-License-Identifier: BSD-3-Clause
// Ranks that go through their steps in an order that was fixed before, as the executor does. For player.cpp only.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "schedule/core/order.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::simulate::engine {

class Threads {
 public:
  static constexpr StepId nothing = 0xffffffffu;

  /// An order for each rank, or one for all; the ranks whose order is empty have none. The orders must outlive this.
  void set(std::span<const Order> orders, Rank procs) {
    if (orders.empty()) return;
    threads_.resize(procs);
    for (Rank rank = 0; rank < procs; ++rank)
      if (const Order& order = orders[orders.size() == 1 ? 0 : rank]; !order.empty())
        threads_[rank] = {.next = order.data(), .end = order.data() + order.size()};
  }

  bool has_order(Rank rank) const { return !threads_.empty() && threads_[rank].end != nullptr; }

  /// The rank goes on until it has to wait. issue(step) begins a step and returns whether the rank's processor has to work for
  /// it now; then somebody calls this again. is_over(step): whether the rank need not wait for the step.
  template <class Issue, class IsOver>
  void go_on(Rank rank, Issue&& issue, IsOver&& is_over) {
    Thread& thread = threads_[rank];
    while (thread.next != thread.end) {
      const Op op = *thread.next;
      if (op.action() == Action::issue) {
        ++thread.next;
        if (issue(op.step())) return;
        continue;
      }
      const bool is_for_all = op.action() != Action::wait;
      if (is_for_all ? thread.open > 0 : !is_over(op.step())) {
        thread.awaited = is_for_all ? everything : op.step();
        return;
      }
      ++thread.next;
    }
  }

  /// The rank has begun a step. Returns the step for which it waited last, or `nothing`.
  StepId opened(Rank rank) {
    ++threads_[rank].open;
    return threads_[rank].last;
  }

  /// A step of the rank is finished: whether the rank has waited for that, and goes on.
  bool closed(Rank rank, StepId step) {
    Thread& thread = threads_[rank];
    --thread.open;
    if (thread.awaited != step && !(thread.awaited == everything && thread.open == 0)) return false;
    thread.awaited = nothing;
    thread.last = step;
    return true;
  }

 private:
  static constexpr StepId everything = nothing - 1;

  struct Thread {
    const Op* next = nullptr;
    const Op* end = nullptr;
    StepId awaited = nothing;  // the step that it waits for
    StepId last = nothing;     // what it waited for last
    std::uint32_t open = 0;    // steps that are not finished
  };

  std::vector<Thread> threads_;  // by rank, where there are orders
};

}  // namespace convene::simulate::engine
