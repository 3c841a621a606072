// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "schedule/core/describe.hpp"
#include "schedule/core/ready_walk.hpp"

namespace convene::schedule {
namespace {

struct RacingStep {
  Rank rank;
  StepId step;
};

/// Visits the steps in an order in which they can run. The order of accesses is transitive, so two kinds of
/// pairs suffice: each access and the write before it, each write and the reads since the write before.
class RaceDetector {
 public:
  RaceDetector(const Plan& plan, const MessageMatching& matching) : plan_(plan), matching_(matching) {
    visited_by_.assign(matching.base.back(), 0);
    for (const Schedule& schedule : plan) predecessors_.emplace_back(schedule);
  }

  std::string find() {
    std::vector<ReadyWalk> walks = ready_walks(plan_);
    std::deque<RacingStep> ready;
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
      for (StepId id = 0; id < plan_[rank].size(); ++id)
        if (plan_[rank][id].kind == StepKind::recv) walks[rank].hold(id);  // until its message is sent
      walks[rank].start([&](StepId id) { ready.push_back({rank, id}); });
    }
    for (; !ready.empty() && fault_.empty(); ready.pop_front()) {
      const auto [rank, id] = ready.front();
      check(rank, id);
      walks[rank].complete(id, [&, rank = rank](StepId next) { ready.push_back({rank, next}); });
      if (plan_[rank][id].kind != StepKind::send) continue;
      const RacingStep receive = partner(rank, id);
      walks[receive.rank].release(receive.step, [&](StepId) { ready.push_back(receive); });
    }
    return std::move(fault_);
  }

 private:
  /// The accesses to a shared place: the last write, and the reads since.
  struct History {
    bool is_written = false;
    RacingStep writer{};
    std::vector<RacingStep> readers = {};
  };

  RacingStep partner(Rank rank, StepId id) const {
    const Rank peer = plan_[rank][id].peer;
    return {peer, matching_.step(peer, matching_.partner[matching_.at(rank, id)])};
  }

  void check(Rank rank, StepId id) {
    const Schedule& schedule = plan_[rank];
    if ((schedule[id].touches >> index(Buffer::shared) & 1) == 0 || schedule[id].is_message()) return;
    start_search({rank, id});
    const auto each = [&](std::span<const Range> ranges, auto&& visit) {
      for (const Range& range : ranges)
        if (range.buffer() == Buffer::shared)
          for_each_place(range, schedule.places(Buffer::shared), [&](Place place) {
            visit(histories_[{schedule.first_sharer(), place}], place);
          });
    };
    each(schedule.from(id), [&](History& at, Place place) {
      if (at.is_written) require_order(at.writer, {rank, id}, place);
      at.readers.push_back({rank, id});
    });
    each(schedule.to(id), [&](History& at, Place place) {
      if (at.is_written) require_order(at.writer, {rank, id}, place);
      for (const RacingStep& reader : at.readers) require_order(reader, {rank, id}, place);
      at.is_written = true;
      at.writer = {rank, id};
      at.readers.clear();
    });
  }

  void require_order(const RacingStep& first, const RacingStep& second, Place place) {
    if (first.rank == second.rank || !fault_.empty() || is_before(first)) return;
    fault_ = fmt::format("{} and {}: both access shared place {}, one as a write, but no signal orders them",
                         describe(plan_[first.rank], first.step), describe(plan_[second.rank], second.step),
                         place);
  }

  /// Starts the search for the steps before a step, by dependencies and signals.
  void start_search(const RacingStep& from) {
    ++search_;
    todo_.assign(1, from);
  }

  /// True if a step is before the one that the search started from. The search is breadth-first and stops at
  /// the step; most are near.
  bool is_before(const RacingStep& wanted) {
    const PlanStep index = matching_.at(wanted.rank, wanted.step);
    for (; visited_by_[index] != search_ && !todo_.empty(); todo_.pop_front()) {
      const auto [rank, id] = todo_.front();
      for (const StepId earlier : predecessors_[rank][id]) visit({rank, earlier});
      const Step& step = plan_[rank][id];
      if (step.kind == StepKind::recv && step.is_shm_signal()) visit(partner(rank, id));
    }
    return visited_by_[index] == search_;
  }

  void visit(const RacingStep& at) {
    if (std::exchange(visited_by_[matching_.at(at.rank, at.step)], search_) != search_) todo_.push_back(at);
  }

  const Plan& plan_;
  const MessageMatching& matching_;
  std::vector<Predecessors> predecessors_;  // by rank
  std::map<std::pair<Rank, Place>, History> histories_;
  std::vector<std::uint32_t> visited_by_;  // by step: the last search that visited it
  std::uint32_t search_ = 0;
  std::deque<RacingStep> todo_;  // of the search
  std::string fault_;
};

}  // namespace

std::string find_race(const Plan& plan, const MessageMatching& matching) {
  const bool has_shared = std::any_of(
      plan.begin(), plan.end(), [](const Schedule& schedule) { return schedule.places(Buffer::shared) > 0; });
  return has_shared ? RaceDetector(plan, matching).find() : "";
}

}  // namespace convene::schedule
