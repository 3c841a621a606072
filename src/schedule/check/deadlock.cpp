// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

struct PlannedStep {
  Rank rank;
  StepId step;
};

/// What both plays know of a step.
enum class State : std::uint8_t { idle, issued, matched, complete };

class Compiled {
 public:
  Compiled(const Plan& plan, const MessageMatching& links, const std::vector<Order>& orders,
           const Limits& limits)
      : plan_(plan),
        links_(links),
        orders_(orders),
        limits_(limits),
        state_(links.base.back(), State::idle),
        missing_(links.base.back()),
        at_(plan.size(), 0),
        in_flight_(plan.size()) {}

  std::string run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank) start(rank);
    while (!runnable_.empty() && fault_.empty()) {
      const Rank rank = runnable_.back();
      runnable_.pop_back();
      advance(rank);
    }
    for (Rank rank = 0; rank < plan_.size() && fault_.empty(); ++rank) require_finished(rank);
    return std::move(fault_);
  }

 private:
  struct InFlight {
    std::uint32_t receives = 0, sends = 0;
    std::vector<StepId> steps;  // issued, may since have been waited for
  };

  void start(Rank rank) {
    const Schedule& schedule = plan_[rank];
    for (StepId id = 0; id < schedule.size(); ++id) missing_[links_.at(rank, id)] = schedule[id].predecessors;
    for (StepId id = 0; id < schedule.size(); ++id)
      if (schedule[id].kind == StepKind::join && schedule[id].predecessors == 0) complete(rank, id);
    runnable_.push_back(rank);
  }

  /// Runs a rank until it has to wait.
  void advance(Rank rank) {
    const Order& order = orders_[rank];
    while (at_[rank] < order.size() && fault_.empty()) {
      const Op op = order[at_[rank]];
      if (op.action() == Action::issue) {
        issue(rank, op.step());
      } else if (op.action() == Action::wait) {
        if (!wait(rank, op.step())) return;
      } else if (!wait_all(rank)) {
        return;
      }
      ++at_[rank];
    }
  }

  void issue(Rank rank, StepId id) {
    const Schedule& schedule = plan_[rank];
    const PlanStep index = links_.at(rank, id);
    if (state_[index] != State::idle) return fail(rank, id, "is issued a second time by the compiled order");
    if (missing_[index] > 0)
      return fail(rank, id, "is issued by the compiled order before what it depends on");
    if (schedule[id].is_shm_signal()) runnable_.push_back(schedule[id].peer);
    if (!schedule[id].is_in_flight()) return complete(rank, id);
    in_flight_[rank].steps.push_back(id);
    const bool sends = schedule[id].kind == StepKind::send;
    const std::uint32_t count = ++(sends ? in_flight_[rank].sends : in_flight_[rank].receives);
    if (count > (sends ? limits_.sends : limits_.receives))
      return fail(rank, id, "exceeds the limit on steps in flight");
    state_[index] = State::issued;
    const PlanStep partner = links_.partner[index];
    if (state_[partner] != State::issued) return;
    state_[index] = state_[partner] = State::matched;
    runnable_.push_back(schedule[id].peer);
  }

  bool wait(Rank rank, StepId id) {
    const PlanStep index = links_.at(rank, id);
    const State state = state_[index];
    if (plan_[rank][id].is_shm_signal() && state == State::idle) {
      if (missing_[index] > 0) fail(rank, id, "is awaited by the compiled order before what it depends on");
      const bool has_come = state_[links_.partner[index]] == State::complete;
      if (has_come) complete(rank, id);
      return has_come;
    }
    if (state == State::idle) fail(rank, id, "is waited for by the compiled order before it is issued");
    if (state == State::complete) fail(rank, id, "is waited for a second time by the compiled order");
    if (state == State::matched) retire(rank, id);
    return state == State::matched;
  }

  bool wait_all(Rank rank) {
    std::vector<StepId>& steps = in_flight_[rank].steps;
    while (!steps.empty()) {
      const State state = state_[links_.at(rank, steps.back())];
      if (state == State::issued) return false;
      if (state == State::matched) retire(rank, steps.back());
      steps.pop_back();
    }
    return true;
  }

  void retire(Rank rank, StepId id) {
    --(plan_[rank][id].kind == StepKind::send ? in_flight_[rank].sends : in_flight_[rank].receives);
    complete(rank, id);
  }

  void complete(Rank rank, StepId id) {
    state_[links_.at(rank, id)] = State::complete;
    for (StepId next : plan_[rank].successors(id))
      if (--missing_[links_.at(rank, next)] == 0 && plan_[rank][next].kind == StepKind::join)
        complete(rank, next);
  }

  void fail(Rank rank, StepId id, const char* what) {
    if (fault_.empty()) fault_ = fmt::format("{}: {}", describe(plan_[rank], id), what);
  }

  void require_finished(Rank rank) {
    if (at_[rank] < orders_[rank].size()) return explain_stuck(rank);
    for (StepId id = 0; id < plan_[rank].size(); ++id)
      if (state_[links_.at(rank, id)] != State::complete)
        return fail(rank, id, "is not complete at the end of the compiled order");
  }

  StepId waited_for(Rank rank) const {
    const Op op = orders_[rank][at_[rank]];
    return op.action() == Action::wait ? op.step() : in_flight_[rank].steps.back();
  }

  void explain_stuck(Rank rank) {
    const StepId id = waited_for(rank);
    const Rank peer = plan_[rank][id].peer;
    fault_ = fmt::format(
        "{}: the compiled order waits for it for ever (at most {} receives and {} sends in flight, "
        "sends that complete when their receive is posted)",
        describe(plan_[rank], id), limits_.receives, limits_.sends);
    if (at_[peer] < orders_[peer].size())
      fault_ += fmt::format("; rank {} waits for its {}", peer, describe(plan_[peer], waited_for(peer)));
  }

  const Plan& plan_;
  const MessageMatching& links_;
  const std::vector<Order>& orders_;
  const Limits limits_;
  std::vector<State> state_;
  std::vector<std::uint32_t> missing_;  // by step: predecessors that were not waited for
  std::vector<std::size_t> at_;         // by rank: position in its order
  std::vector<InFlight> in_flight_;
  std::vector<Rank> runnable_;
  std::string fault_;
};

class Dynamic {
 public:
  Dynamic(const Plan& plan, const MessageMatching& links, const Limits& limits, Timing timing)
      : plan_(plan),
        links_(links),
        limits_(limits),
        timing_(timing),
        state_(links.base.back(), State::idle),
        missing_(links.base.back()),
        receives_(plan.size()),
        sends_(plan.size()) {}

  std::string run() {
    std::size_t left = links_.base.back();
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id)
        missing_[links_.at(schedule.rank(), id)] = schedule[id].predecessors;
    for (const Schedule& schedule : plan_) {
      for (StepId id = 0; id < schedule.size(); ++id)
        if (schedule[id].predecessors == 0) ready(schedule.rank(), id);
      left -= do_local_steps();
    }
    while (!completions_.empty()) {
      const PlannedStep next = take();
      complete(next.rank, next.step);
      left -= 1 + do_local_steps();
    }
    return left == 0 ? "" : explain_stuck();
  }

 private:
  using Earliest = std::priority_queue<StepId, std::vector<StepId>, std::greater<>>;
  struct Window {
    Earliest waiting;
    std::uint32_t in_flight = 0;
    StepId first = 0;  // no step of the kind below this one is incomplete
  };

  /// Copies, combines and joins: a rank does them before it looks at its messages again.
  std::size_t do_local_steps() {
    std::size_t count = 0;
    for (; !local_.empty(); ++count) {
      const PlannedStep next = local_.back();
      local_.pop_back();
      complete(next.rank, next.step);
    }
    return count;
  }

  PlannedStep take() {
    const bool oldest = timing_ == Timing::oldest_first;
    const PlannedStep next = oldest ? completions_.front() : completions_.back();
    oldest ? completions_.pop_front() : completions_.pop_back();
    return next;
  }

  Window& window(Rank rank, StepId id) {
    return (plan_[rank][id].kind == StepKind::send ? sends_ : receives_)[rank];
  }

  void ready(Rank rank, StepId id) {
    const Step& step = plan_[rank][id];
    if (step.is_shm_signal() && step.kind == StepKind::recv) return await(rank, id);
    if (!step.is_in_flight()) return local_.push_back({rank, id});
    window(rank, id).waiting.push(id);
    issue_some(rank, plan_[rank][id].kind);
  }

  /// A signal that may have come already.
  void await(Rank rank, StepId id) {
    const PlanStep index = links_.at(rank, id);
    state_[index] = State::issued;
    if (state_[links_.partner[index]] == State::complete) completions_.push_back({rank, id});
  }

  /// Whoever awaits a signal sees it now.
  void give(Rank rank, StepId id) {
    const PlanStep partner = links_.partner[links_.at(rank, id)];
    const Rank peer = plan_[rank][id].peer;
    if (state_[partner] == State::issued) completions_.push_back({peer, links_.step(peer, partner)});
  }

  /// Ready messages of one kind, by number, while the window allows. Its last place is kept for the first message that
  /// is not complete.
  void issue_some(Rank rank, StepKind kind) {
    Window& mine = (kind == StepKind::send ? sends_ : receives_)[rank];
    const std::uint32_t limit = kind == StepKind::send ? limits_.sends : limits_.receives;
    while (mine.in_flight + 1 < limit && !mine.waiting.empty()) {
      const StepId id = mine.waiting.top();
      mine.waiting.pop();
      if (is_ready(rank, id)) issue(rank, id, mine);  // else it was the first, and has gone ahead
    }
    if (mine.in_flight >= limit || mine.waiting.empty()) return;
    const Schedule& schedule = plan_[rank];
    const auto passed = [&](StepId id) {
      return schedule[id].kind != kind || schedule[id].is_shm_signal() ||
             state_[links_.at(rank, id)] == State::complete;
    };
    while (mine.first < schedule.size() && passed(mine.first)) ++mine.first;
    if (mine.first < schedule.size() && is_ready(rank, mine.first)) issue(rank, mine.first, mine);
  }

  bool is_ready(Rank rank, StepId id) const {
    const PlanStep index = links_.at(rank, id);
    return missing_[index] == 0 && state_[index] == State::idle;
  }

  void issue(Rank rank, StepId id, Window& mine) {
    const PlanStep index = links_.at(rank, id), partner = links_.partner[index];
    state_[index] = State::issued;
    ++mine.in_flight;
    if (state_[partner] != State::issued) return;
    const Rank peer = plan_[rank][id].peer;
    completions_.push_back({rank, id});
    completions_.push_back({peer, links_.step(peer, partner)});
  }

  void complete(Rank rank, StepId id) {
    state_[links_.at(rank, id)] = State::complete;
    for (StepId next : plan_[rank].successors(id))
      if (--missing_[links_.at(rank, next)] == 0) ready(rank, next);
    if (plan_[rank][id].is_shm_signal() && plan_[rank][id].kind == StepKind::send) give(rank, id);
    if (!plan_[rank][id].is_in_flight()) return;
    --window(rank, id).in_flight;
    issue_some(rank, plan_[rank][id].kind);
  }

  std::string explain_stuck() const {
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id) {
        const PlanStep index = links_.at(schedule.rank(), id);
        if (state_[index] != State::issued) continue;
        return fmt::format(
            "{}: never completes in the dynamic order with at most {} receives and {} sends in flight, "
            "because {} is never issued",
            describe(schedule, id), limits_.receives, limits_.sends,
            describe(plan_[schedule[id].peer], links_.step(schedule[id].peer, links_.partner[index])));
      }
    return "no step is ready, though some are left";
  }

  const Plan& plan_;
  const MessageMatching& links_;
  const Limits limits_;
  const Timing timing_;
  std::vector<State> state_;
  std::vector<std::uint32_t> missing_;  // by step: predecessors to come
  std::vector<Window> receives_, sends_;
  std::deque<PlannedStep> completions_;
  std::vector<PlannedStep> local_;
};

}  // namespace

std::string simulate_compiled(const Plan& plan, const MessageMatching& links,
                              const std::vector<Order>& orders, const Limits& limits) {
  return Compiled(plan, links, orders, limits).run();
}

std::string simulate_dynamic(const Plan& plan, const MessageMatching& links, const Limits& limits,
                             Timing timing) {
  return Dynamic(plan, links, limits, timing).run();
}

}  // namespace convene::schedule
