// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

struct Access {
  Rank rank;
  StepId step;
};

/// Goes through the steps in an order in which they can happen. Being connected is transitive, so it is enough to ask
/// whether each access is connected with the write before it, and each write with the reads since the write before.
class Races {
 public:
  Races(const Plan& plan, const MessageMatching& links) : plan_(plan), links_(links) {
    passed_.assign(links.base.back(), 0);
    for (const Schedule& schedule : plan) before_.push_back(schedule.predecessors());
  }

  std::string find() {
    std::vector<std::uint32_t> missing(links_.base.back());
    std::deque<Access> todo;
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id) {
        const bool waits = schedule[id].kind == StepKind::recv;
        missing[links_.at(schedule.rank(), id)] = schedule[id].predecessors + waits;
        if (schedule[id].predecessors + waits == 0) todo.push_back({schedule.rank(), id});
      }
    const auto release = [&](Rank rank, StepId id) {
      if (--missing[links_.at(rank, id)] == 0) todo.push_back({rank, id});
    };
    for (; !todo.empty() && fault_.empty(); todo.pop_front()) {
      const auto [rank, id] = todo.front();
      look_at(rank, id);
      for (StepId next : plan_[rank].successors(id)) release(rank, next);
      if (plan_[rank][id].kind != StepKind::send) continue;
      const Rank peer = plan_[rank][id].peer;
      release(peer, links_.step(peer, links_.partner[links_.at(rank, id)]));
    }
    return std::move(fault_);
  }

 private:
  struct Place {
    bool is_written = false;
    Access writer{};
    std::vector<Access> readers = {};  // since then
  };

  void look_at(Rank rank, StepId id) {
    const Schedule& schedule = plan_[rank];
    if ((schedule[id].touches >> index(Buffer::shared) & 1) == 0 || schedule[id].is_message()) return;
    start_search({rank, id});
    const auto each = [&](std::span<const Range> ranges, auto&& visit) {
      for (const Range& range : ranges)
        if (range.buffer() == Buffer::shared)
          for_each_place(range, schedule.places(Buffer::shared), [&](convene::schedule::Place place) {
            visit(places_[{schedule.first_sharer(), place}], place);
          });
    };
    each(schedule.from(id), [&](Place& at, convene::schedule::Place place) {
      if (at.is_written) require(at.writer, {rank, id}, place);
      at.readers.push_back({rank, id});
    });
    each(schedule.to(id), [&](Place& at, convene::schedule::Place place) {
      if (at.is_written) require(at.writer, {rank, id}, place);
      for (const Access& reader : at.readers) require(reader, {rank, id}, place);
      at.is_written = true;
      at.writer = {rank, id};
      at.readers.clear();
    });
  }

  void require(const Access& first, const Access& second, convene::schedule::Place place) {
    if (first.rank == second.rank || !fault_.empty() || is_behind(first)) return;
    fault_ = fmt::format(
        "{} and {}: both touch shared place {}, one of them writes it, and no signal orders them",
        describe(plan_[first.rank], first.step), describe(plan_[second.rank], second.step), place);
  }

  /// Starts the search for what is before a step by dependencies and signals.
  void start_search(const Access& from) {
    ++search_;
    todo_.assign(1, from);
  }

  /// Whether a step is before it. Breadth first, and no further than is asked for: most are near.
  bool is_behind(const Access& wanted) {
    const PlanStep index = links_.at(wanted.rank, wanted.step);
    for (; passed_[index] != search_ && !todo_.empty(); todo_.pop_front()) {
      const auto [rank, id] = todo_.front();
      for (StepId earlier : before_[rank][id]) pass(rank, earlier);
      const Step& step = plan_[rank][id];
      if (step.kind == StepKind::recv && step.is_shm_signal())
        pass(step.peer, links_.step(step.peer, links_.partner[links_.at(rank, id)]));
    }
    return passed_[index] == search_;
  }

  void pass(Rank rank, StepId id) {
    if (std::exchange(passed_[links_.at(rank, id)], search_) != search_) todo_.push_back({rank, id});
  }

  const Plan& plan_;
  const MessageMatching& links_;
  std::vector<std::vector<std::vector<StepId>>> before_;  // by rank and step
  std::map<std::pair<Rank, convene::schedule::Place>, Place> places_;
  std::vector<std::uint32_t> passed_;  // by step: the last search that came by
  std::uint32_t search_ = 0;
  std::deque<Access> todo_;  // of the search
  std::string fault_;
};

}  // namespace

std::string find_race(const Plan& plan, const MessageMatching& links) {
  const bool has_shared = std::any_of(
      plan.begin(), plan.end(), [](const Schedule& schedule) { return schedule.places(Buffer::shared) > 0; });
  return has_shared ? Races(plan, links).find() : "";
}

}  // namespace convene::schedule
