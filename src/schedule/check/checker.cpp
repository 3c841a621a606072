// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/checker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/check/dataflow.hpp"
#include "schedule/check/deadlock.hpp"
#include "schedule/check/hazards.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/check/races.hpp"
#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

std::uint8_t touched(std::span<const Range> ranges) {
  std::uint8_t bits = 0;
  for (const Range& range : ranges)
    bits |= static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
  return bits;
}

std::string find_malformed_range(const Schedule& schedule, const Range& range) {
  const std::uint32_t places = schedule.places(range.buffer());
  if (places == 0) return "uses an undeclared buffer";
  if (range.first >= places || (range.stride >= places && places > 1))
    return "uses a place beyond its buffer";
  return "";
}

std::string find_malformed_step(const Schedule& schedule, StepId id) {
  const Step& step = schedule[id];
  if (step.is_message() && (step.peer >= schedule.procs() || step.peer == schedule.rank()))
    return "has a peer that is not another rank of the plan";
  for (const Range& range : schedule.ranges(id))
    if (std::string why = find_malformed_range(schedule, range); !why.empty()) return why;
  const bool is_local = step.kind == StepKind::copy || step.kind == StepKind::combine;
  if (is_local && places(schedule.from(id)) != places(schedule.to(id)))
    return fmt::format("{} {} blocks {} {} places", step.kind == StepKind::copy ? "copies" : "combines",
                       places(schedule.from(id)), step.kind == StepKind::copy ? "to" : "with",
                       places(schedule.to(id)));
  if (touched(schedule.ranges(id)) != step.touches) return "states a wrong set of buffers";
  for (StepId next : schedule.successors(id))
    if (next <= id || next >= schedule.size())
      return fmt::format("step {} depends on it, but numbers must grow along dependencies", next);
  return "";
}

/// The first inconsistency within a schedule. All later checks rely on consistent schedules.
std::string find_malformed(const Schedule& schedule) {
  std::vector<std::uint32_t> predecessors(schedule.size(), 0);
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (std::string why = find_malformed_step(schedule, id); !why.empty())
      return fmt::format("{}: {}", describe(schedule, id), why);
    for (StepId next : schedule.successors(id)) ++predecessors[next];
  }
  for (StepId id = 0; id < schedule.size(); ++id)
    if (predecessors[id] != schedule[id].predecessors)
      return fmt::format("{}: counts {} predecessors, but has {}", describe(schedule, id),
                         schedule[id].predecessors, predecessors[id]);
  return "";
}

std::string find_malformed(const Plan& plan) {
  for (Rank rank = 0; rank < plan.size(); ++rank) {
    const Schedule& schedule = plan[rank];
    if (schedule.procs() != plan.size() || schedule.rank() != rank)
      return fmt::format("rank {}: its schedule is that of rank {} of {}, in a plan of {} ranks", rank,
                         schedule.rank(), schedule.procs(), plan.size());
    if (std::string why = find_malformed(schedule); !why.empty()) return why;
    const std::uint32_t shared = schedule.places(Buffer::shared);
    const Rank first = schedule.first_sharer();
    if (shared > 0 && first <= rank && plan[first].first_sharer() != first)
      return fmt::format("rank {}: shares memory with rank {}, which shares with rank {}", rank, first,
                         plan[first].first_sharer());
    if (shared > 0 && (first > rank || plan[first].places(Buffer::shared) != shared))
      return fmt::format("rank {}: shares {} places with rank {}, which has {}", rank, shared, first,
                         first < plan.size() ? plan[first].places(Buffer::shared) : 0);
  }
  return "";
}

std::string find_hazard(const Plan& plan) {
  for (const Schedule& schedule : plan)
    if (std::string why = find_hazard(schedule); !why.empty()) return why;
  return "";
}

/// Simulates both ways in which the executor runs schedules.
std::string find_deadlock(const Plan& plan, const MessageMatching& matching, const Limits& limits) {
  if (limits.receives == 0 || limits.sends == 0) return "the limits on steps in flight must be at least 1";
  std::vector<Order> orders;
  orders.reserve(plan.size());
  for (const Schedule& schedule : plan) orders.push_back(compile_order(schedule, limits));
  std::string why = simulate_compiled(plan, matching, orders, limits);
  if (!why.empty()) return why;
  constexpr Limits one_at_a_time{.receives = 1, .sends = 1};
  if (simulate_dynamic(plan, matching, one_at_a_time, Timing::oldest_first).empty())
    return "";  // then free of deadlock with all limits
  why = simulate_dynamic(plan, matching, limits, Timing::oldest_first);
  return why.empty() ? simulate_dynamic(plan, matching, limits, Timing::newest_first) : why;
}

std::string find_fault(const Plan& plan, const Contract& contract, const Limits& limits) {
  if (contract.size() != plan.size())
    return fmt::format("a plan of {} ranks, but a contract of {}", plan.size(), contract.size());
  if (std::string why = find_malformed(plan); !why.empty()) return why;
  const MessageMatching matching = link(plan);
  if (!matching.fault.empty()) return matching.fault;
  if (const Dataflow dataflow(plan, matching, contract); !dataflow.fault().empty()) return dataflow.fault();
  if (std::string why = find_hazard(plan); !why.empty()) return why;
  if (std::string why = find_race(plan, matching); !why.empty()) return why;
  return find_deadlock(plan, matching, limits);
}

}  // namespace

Verdict check(const Plan& plan, const Contract& contract, const Limits& limits) {
  return {find_fault(plan, contract, limits), statistics(plan)};
}

}  // namespace convene::schedule
