// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

#include "schedule/core/describe.hpp"
#include "schedule/core/ready_walk.hpp"

namespace convene::schedule {
namespace {

struct PlannedStep {
  Rank rank;
  StepId step;
};

/// The state of a message, or of any other step that is complete.
enum class State : std::uint8_t { idle, issued, matched, complete };

class CompiledSimulation {
 public:
  CompiledSimulation(const Plan& plan, const MessageMatching& matching, const std::vector<Order>& orders,
                     const Limits& limits)
      : plan_(plan),
        matching_(matching),
        orders_(orders),
        limits_(limits),
        state_(matching.base.back(), State::idle),
        walks_(ready_walks(plan)),
        at_(plan.size(), 0),
        in_flight_(plan.size()) {}

  std::string run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
      walks_[rank].start([](StepId) {});  // completes joins without predecessors
      runnable_.push_back(rank);
    }
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
    std::vector<StepId> steps;  // all issued ones; some may be complete
  };

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
    const PlanStep index = matching_.at(rank, id);
    if (state_[index] != State::idle || walks_[rank].is_complete(id))
      return fail(rank, id, "is issued a second time by the compiled order");
    if (!walks_[rank].is_ready(id))
      return fail(rank, id, "is issued by the compiled order before what it depends on");
    if (schedule[id].is_shm_signal()) runnable_.push_back(schedule[id].peer);
    if (!schedule[id].is_in_flight()) return complete(rank, id);
    in_flight_[rank].steps.push_back(id);
    const bool sends = schedule[id].kind == StepKind::send;
    const std::uint32_t count = ++(sends ? in_flight_[rank].sends : in_flight_[rank].receives);
    if (count > (sends ? limits_.sends : limits_.receives))
      return fail(rank, id, "exceeds the limit on steps in flight");
    state_[index] = State::issued;
    const PlanStep partner = matching_.partner[index];
    if (state_[partner] != State::issued) return;
    state_[index] = state_[partner] = State::matched;
    runnable_.push_back(schedule[id].peer);
  }

  /// False if the rank has to wait.
  bool wait(Rank rank, StepId id) {
    const PlanStep index = matching_.at(rank, id);
    const State state = state_[index];
    if (plan_[rank][id].is_shm_signal() && state == State::idle) {
      if (!walks_[rank].is_ready(id))
        fail(rank, id, "is awaited by the compiled order before what it depends on");
      const bool is_signalled = state_[matching_.partner[index]] == State::complete;
      if (is_signalled) complete(rank, id);
      return is_signalled;
    }
    if (state == State::idle) fail(rank, id, "is awaited by the compiled order before it is issued");
    if (state == State::complete) fail(rank, id, "is awaited a second time by the compiled order");
    if (state == State::matched) retire(rank, id);
    return state == State::matched;
  }

  bool wait_all(Rank rank) {
    std::vector<StepId>& steps = in_flight_[rank].steps;
    while (!steps.empty()) {
      const State state = state_[matching_.at(rank, steps.back())];
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
    state_[matching_.at(rank, id)] = State::complete;
    walks_[rank].complete(id, [](StepId) {});  // the order names the next step
  }

  void fail(Rank rank, StepId id, const char* what) {
    if (fault_.empty()) fault_ = fmt::format("{}: {}", describe(plan_[rank], id), what);
  }

  void require_finished(Rank rank) {
    if (at_[rank] < orders_[rank].size()) return explain_deadlock(rank);
    for (StepId id = 0; id < plan_[rank].size(); ++id)
      if (!walks_[rank].is_complete(id))
        return fail(rank, id, "is not complete at the end of the compiled order");
  }

  StepId waited_for(Rank rank) const {
    const Op op = orders_[rank][at_[rank]];
    return op.action() == Action::wait ? op.step() : in_flight_[rank].steps.back();
  }

  void explain_deadlock(Rank rank) {
    const StepId id = waited_for(rank);
    const Rank peer = plan_[rank][id].peer;
    fault_ = fmt::format(
        "{}: never completes in the compiled order (at most {} receives and {} sends in flight; sends "
        "complete when their receive is posted)",
        describe(plan_[rank], id), limits_.receives, limits_.sends);
    if (at_[peer] < orders_[peer].size())
      fault_ += fmt::format("; rank {} waits for its {}", peer, describe(plan_[peer], waited_for(peer)));
  }

  const Plan& plan_;
  const MessageMatching& matching_;
  const std::vector<Order>& orders_;
  const Limits limits_;
  std::vector<State> state_;
  std::vector<ReadyWalk> walks_;
  std::vector<std::size_t> at_;  // by rank: position in its order
  std::vector<InFlight> in_flight_;
  std::vector<Rank> runnable_;
  std::string fault_;
};

class DynamicSimulation {
 public:
  DynamicSimulation(const Plan& plan, const MessageMatching& matching, const Limits& limits, Timing timing)
      : plan_(plan),
        matching_(matching),
        limits_(limits),
        timing_(timing),
        is_issued_(matching.base.back(), false),
        walks_(ready_walks(plan)),
        receives_(plan.size()),
        sends_(plan.size()) {}

  std::string run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
      walks_[rank].start([&](StepId id) { on_ready(rank, id); });
      do_local_steps();
    }
    while (!completions_.empty()) {
      const PlannedStep next = take();
      complete(next.rank, next.step);
      do_local_steps();
    }
    const auto is_finished = [](const ReadyWalk& walk) { return walk.incomplete() == 0; };
    return std::ranges::all_of(walks_, is_finished) ? "" : explain_deadlock();
  }

 private:
  using Earliest = std::priority_queue<StepId, std::vector<StepId>, std::greater<>>;
  struct Window {
    Earliest ready;
    std::uint32_t in_flight = 0;
    StepId first = 0;  // all steps of the kind below this one are complete
  };

  /// Copies and combines: a rank executes them before it polls its messages again.
  void do_local_steps() {
    while (!local_.empty()) {
      const PlannedStep next = local_.back();
      local_.pop_back();
      complete(next.rank, next.step);
    }
  }

  PlannedStep take() {
    const bool oldest = timing_ == Timing::oldest_first;
    const PlannedStep next = oldest ? completions_.front() : completions_.back();
    oldest ? completions_.pop_front() : completions_.pop_back();
    return next;
  }

  Window& window(Rank rank, StepKind kind) { return (kind == StepKind::send ? sends_ : receives_)[rank]; }

  void on_ready(Rank rank, StepId id) {
    const Step& step = plan_[rank][id];
    if (step.is_shm_signal() && step.kind == StepKind::recv) return await_signal(rank, id);
    if (!step.is_in_flight()) return local_.push_back({rank, id});
    window(rank, step.kind).ready.push(id);
    issue_some(rank, step.kind);
  }

  /// The signal may have been given already.
  void await_signal(Rank rank, StepId id) {
    const PlanStep index = matching_.at(rank, id), partner = matching_.partner[index];
    const Rank peer = plan_[rank][id].peer;
    is_issued_[index] = true;
    if (walks_[peer].is_complete(matching_.step(peer, partner))) completions_.push_back({rank, id});
  }

  /// A rank that awaits the signal sees it now.
  void give_signal(Rank rank, StepId id) {
    const PlanStep partner = matching_.partner[matching_.at(rank, id)];
    const Rank peer = plan_[rank][id].peer;
    if (is_issued_[partner]) completions_.push_back({peer, matching_.step(peer, partner)});
  }

  /// Issues ready messages of one kind, by number, within the window. Its last place is reserved for the
  /// first message that is not complete.
  void issue_some(Rank rank, StepKind kind) {
    Window& mine = window(rank, kind);
    const std::uint32_t limit = kind == StepKind::send ? limits_.sends : limits_.receives;
    while (mine.in_flight + 1 < limit && !mine.ready.empty()) {
      const StepId id = mine.ready.top();
      mine.ready.pop();
      if (walks_[rank].is_ready(id)) issue(rank, id, mine);  // else it took the reserved place
    }
    if (mine.in_flight >= limit || mine.ready.empty()) return;
    const Schedule& schedule = plan_[rank];
    const auto is_passed = [&](StepId id) {
      return schedule[id].kind != kind || schedule[id].is_shm_signal() || walks_[rank].is_complete(id);
    };
    while (mine.first < schedule.size() && is_passed(mine.first)) ++mine.first;
    if (mine.first < schedule.size() && walks_[rank].is_ready(mine.first)) issue(rank, mine.first, mine);
  }

  void issue(Rank rank, StepId id, Window& mine) {
    const PlanStep index = matching_.at(rank, id), partner = matching_.partner[index];
    walks_[rank].begin(id);
    is_issued_[index] = true;
    ++mine.in_flight;
    if (!is_issued_[partner]) return;
    const Rank peer = plan_[rank][id].peer;
    completions_.push_back({rank, id});
    completions_.push_back({peer, matching_.step(peer, partner)});
  }

  void complete(Rank rank, StepId id) {
    const Step& step = plan_[rank][id];
    walks_[rank].complete(id, [&](StepId next) { on_ready(rank, next); });
    if (step.is_shm_signal() && step.kind == StepKind::send) give_signal(rank, id);
    if (!step.is_in_flight()) return;
    --window(rank, step.kind).in_flight;
    issue_some(rank, step.kind);
  }

  std::string explain_deadlock() const {
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id) {
        const PlanStep index = matching_.at(schedule.rank(), id);
        if (!is_issued_[index] || walks_[schedule.rank()].is_complete(id)) continue;
        const Rank peer = schedule[id].peer;
        return fmt::format(
            "{}: never completes in the dynamic order with at most {} receives and {} sends in flight, "
            "because {} is never issued",
            describe(schedule, id), limits_.receives, limits_.sends,
            describe(plan_[peer], matching_.step(peer, matching_.partner[index])));
      }
    return "no step is ready, but some remain";
  }

  const Plan& plan_;
  const MessageMatching& matching_;
  const Limits limits_;
  const Timing timing_;
  std::vector<bool> is_issued_;  // by step: messages and awaited signals
  std::vector<ReadyWalk> walks_;
  std::vector<Window> receives_, sends_;
  std::deque<PlannedStep> completions_;
  std::vector<PlannedStep> local_;
};

}  // namespace

std::string simulate_compiled(const Plan& plan, const MessageMatching& matching,
                              const std::vector<Order>& orders, const Limits& limits) {
  return CompiledSimulation(plan, matching, orders, limits).run();
}

std::string simulate_dynamic(const Plan& plan, const MessageMatching& matching, const Limits& limits,
                             Timing timing) {
  return DynamicSimulation(plan, matching, limits, timing).run();
}

}  // namespace convene::schedule
