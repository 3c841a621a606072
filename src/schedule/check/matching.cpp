// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/matching.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

struct Sender {
  Rank rank;
  StepId step;
};

/// All sends of a plan, by target and then by sender.
struct Inbound {
  std::vector<std::size_t> first;
  std::vector<Sender> sends;
};

Inbound sort_by_target(const Plan& plan) {
  Inbound inbound;
  inbound.first.assign(plan.size() + 1, 0);
  for (const Schedule& schedule : plan)
    for (const Step& step : schedule.steps())
      if (step.kind == StepKind::send) ++inbound.first[step.peer + 1];
  for (std::size_t rank = 0; rank < plan.size(); ++rank) inbound.first[rank + 1] += inbound.first[rank];
  inbound.sends.resize(inbound.first.back());
  std::vector<std::size_t> next(inbound.first.begin(), inbound.first.end() - 1);
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id)
      if (schedule[id].kind == StepKind::send)
        inbound.sends[next[schedule[id].peer]++] = {schedule.rank(), id};
  return inbound;
}

class Matcher {
 public:
  explicit Matcher(const Plan& plan) : plan_(plan), inbound_(sort_by_target(plan)) {
    matching_.base.push_back(0);
    for (const Schedule& schedule : plan) matching_.base.push_back(matching_.base.back() + schedule.size());
    matching_.partner.assign(matching_.base.back(), MessageMatching::none);
    count_.assign(plan.size(), 0);
    first_.assign(plan.size(), 0);
    by_match_.assign(inbound_.sends.size(), MessageMatching::none);
  }

  MessageMatching run() {
    for (Rank rank = 0; rank < plan_.size() && matching_.fault.empty(); ++rank) pair(rank);
    return std::move(matching_);
  }

 private:
  void pair(Rank target) {
    const std::size_t begin = inbound_.first[target], end = inbound_.first[target + 1];
    for (std::size_t i = end; i-- > begin;) {
      first_[inbound_.sends[i].rank] = i;
      ++count_[inbound_.sends[i].rank];
    }
    for (std::size_t i = begin; i < end && matching_.fault.empty(); ++i) enter(inbound_.sends[i]);
    for (StepId id = 0; id < plan_[target].size() && matching_.fault.empty(); ++id)
      if (plan_[target][id].kind == StepKind::recv) take(target, id);
    for (std::size_t i = begin; i < end && matching_.fault.empty(); ++i)
      require_taken(target, inbound_.sends[i]);
    for (std::size_t i = begin; i < end; ++i) count_[inbound_.sends[i].rank] = 0;
  }

  /// Enters a send under its number.
  void enter(const Sender& send) {
    const Schedule& schedule = plan_[send.rank];
    const Step& step = schedule[send.step];
    if (step.match >= count_[send.rank]) {
      matching_.fault = fmt::format("{}: has the number {}, but there are only {} messages to that rank",
                                    describe(schedule, send.step), step.match, count_[send.rank]);
      return;
    }
    PlanStep& entered = by_match_[first_[send.rank] + step.match];
    if (entered != MessageMatching::none)
      matching_.fault = fmt::format("{}: has the same number as {}", describe(schedule, send.step),
                                    describe(schedule, matching_.step(send.rank, entered)));
    entered = matching_.at(send.rank, send.step);
  }

  void take(Rank target, StepId id) {
    const Schedule& schedule = plan_[target];
    const Step& step = schedule[id];
    if (step.match >= count_[step.peer]) {
      matching_.fault =
          fmt::format("{}: waits for a message that is never sent (rank {} sends {} to rank {})",
                      describe(schedule, id), step.peer, count_[step.peer], target);
      return;
    }
    const PlanStep send = by_match_[first_[step.peer] + step.match];
    if (matching_.partner[send] != MessageMatching::none) {
      matching_.fault = fmt::format("{}: the message is received a second time (first by step {})",
                                    describe(schedule, id), matching_.step(target, matching_.partner[send]));
      return;
    }
    const StepId sent_by = matching_.step(step.peer, send);
    const std::uint64_t wanted = places(schedule.ranges(id)), sent = places(plan_[step.peer].ranges(sent_by));
    if (wanted != sent) {
      matching_.fault = fmt::format("{}: takes {} blocks, but {} sends {}", describe(schedule, id), wanted,
                                    describe(plan_[step.peer], sent_by), sent);
      return;
    }
    if (step.is_shm_signal() != plan_[step.peer][sent_by].is_shm_signal()) {
      matching_.fault = fmt::format("{}: matches {}, but one of them is a signal", describe(schedule, id),
                                    describe(plan_[step.peer], sent_by));
      return;
    }
    if (step.is_shm_signal() && !std::ranges::equal(schedule.ranges(id), plan_[step.peer].ranges(sent_by))) {
      matching_.fault = fmt::format("{}: matches {}, which has other places", describe(schedule, id),
                                    describe(plan_[step.peer], sent_by));
      return;
    }
    if (schedule.sends_empty_messages() && step.round != plan_[step.peer][sent_by].round) {
      matching_.fault =
          fmt::format("{}: has round {}, but {} has round {}; a barrier must match round by round",
                      describe(schedule, id), step.round, describe(plan_[step.peer], sent_by),
                      plan_[step.peer][sent_by].round);
      return;
    }
    matching_.partner[send] = matching_.at(target, id);
    matching_.partner[matching_.at(target, id)] = send;
  }

  void require_taken(Rank target, const Sender& send) {
    if (matching_.partner[matching_.at(send.rank, send.step)] != MessageMatching::none) return;
    matching_.fault = fmt::format("{}: remains; rank {} does not receive it",
                                  describe(plan_[send.rank], send.step), target);
  }

  const Plan& plan_;
  const Inbound inbound_;
  MessageMatching matching_;
  std::vector<std::uint32_t> count_;  // by sender: its messages to the current target
  std::vector<std::size_t> first_;    // by sender: the index in `by_match_` of the first of them
  std::vector<PlanStep> by_match_;
};

}  // namespace

MessageMatching link(const Plan& plan) { return Matcher(plan).run(); }

}  // namespace convene::schedule
