// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace convene {
namespace {

using Earliest = std::priority_queue<StepId, std::vector<StepId>, std::greater<>>;

class Compiler {
 public:
  Compiler(const Schedule& schedule, const Limits& limits) : schedule_(schedule), limits_(limits) {
    waiting_for_.reserve(schedule.size());
    unready_ = schedule.size();
    for (const Step& step : schedule.steps()) waiting_for_.push_back(step.predecessors);
    order_.reserve(2 * schedule.size());
  }

  Order run() {
    for (StepId id = 0; id < schedule_.size(); ++id)
      if (waiting_for_[id] == 0) ready(id);
    while (issue_one() || wait_for_one()) {
    }
    if (!sends_.empty()) order_.emplace_back(Action::wait_all, 0);
    return std::move(order_);
  }

 private:
  /// A step whose predecessors are all complete. Joins are complete at once.
  void ready(StepId id) {
    --unready_;
    switch (schedule_[id].kind) {
      case StepKind::recv:
        ready_receives_.push(id);
        break;
      case StepKind::send:
        ready_sends_.push(id);
        break;
      case StepKind::copy:
        ready_copies_.push(id);
        break;
      case StepKind::join:
        complete(id);
        break;
    }
  }

  void complete(StepId id) {
    for (StepId next : schedule_.successors(id))
      if (--waiting_for_[next] == 0) ready(next);
  }

  StepId issue(Earliest& queue) {
    const StepId id = queue.top();
    queue.pop();
    order_.emplace_back(Action::issue, id);
    return id;
  }

  bool issue_one() {
    if (!ready_receives_.empty() && receives_.size() < limits_.receives) {
      receives_.push(issue(ready_receives_));
    } else if (!ready_sends_.empty() && sends_.size() < limits_.sends) {
      sends_.push(issue(ready_sends_));
    } else if (!ready_copies_.empty()) {
      complete(issue(ready_copies_));
    } else {
      return false;
    }
    return true;
  }

  /// The earliest receive that is out. Where sends cannot go on, the earlier of the two ends: a rank that waited for
  /// sends alone would keep its receives' window shut, and a ring of such ranks would wait for ever.
  bool wait_for_one() {
    const bool sends_block = !ready_sends_.empty() && sends_.size() >= limits_.sends;
    const bool send_first = sends_block && !receives_.empty() && sends_.top() < receives_.top();
    Earliest& in_flight = receives_.empty() || send_first ? sends_ : receives_;
    if (in_flight.empty()) return false;
    if (&in_flight == &sends_ && unready_ == 0 && ready_sends_.empty() && ready_receives_.empty())
      return false;
    const StepId id = in_flight.top();
    in_flight.pop();
    order_.emplace_back(Action::wait, id);
    complete(id);
    return true;
  }

  const Schedule& schedule_;
  const Limits limits_;
  std::vector<std::uint32_t> waiting_for_;  // by step: predecessors that are not complete
  std::uint32_t unready_ = 0;               // steps of which some predecessor is not complete
  Earliest ready_receives_, ready_sends_, ready_copies_;
  Earliest receives_, sends_;  // in flight
  Order order_;
};

}  // namespace

Order compile_order(const Schedule& schedule, const Limits& limits) {
  return Compiler(schedule, limits).run();
}

bool has_independent_arrivals(const Schedule& schedule) {
  // Some step hangs on receives of a round from some peers but not on those of the same round from others.
  std::vector<std::uint32_t> peers_in_round(schedule.rounds(), 0), last_peer(schedule.rounds(), 0);
  for (const Step& step : schedule.steps())
    if (step.kind == StepKind::recv &&
        (peers_in_round[step.round] == 0 || last_peer[step.round] != step.peer)) {
      ++peers_in_round[step.round];
      last_peer[step.round] = step.peer;
    }
  const auto predecessors = schedule.predecessors();
  for (StepId id = 0; id < schedule.size(); ++id) {
    std::vector<std::uint32_t> rounds;
    for (StepId before : predecessors[id])
      if (schedule[before].kind == StepKind::recv) rounds.push_back(schedule[before].round);
    std::sort(rounds.begin(), rounds.end());
    for (std::size_t i = 0; i < rounds.size();) {
      const auto end =
          std::upper_bound(rounds.begin() + static_cast<std::ptrdiff_t>(i), rounds.end(), rounds[i]);
      const auto waited_for =
          static_cast<std::uint32_t>(end - rounds.begin()) - static_cast<std::uint32_t>(i);
      if (waited_for < peers_in_round[rounds[i]]) return true;
      i += waited_for;
    }
  }
  return false;
}

}  // namespace convene
