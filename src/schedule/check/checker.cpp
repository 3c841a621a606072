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
  if (places == 0) return "a range in a buffer that is not there";
  if (range.first >= places || (range.stride >= places && places > 1)) return "a range beyond its buffer";
  return "";
}

std::string find_malformed_step(const Schedule& schedule, StepId id) {
  const Step& step = schedule[id];
  if (step.is_message() && (step.peer >= schedule.procs() || step.peer == schedule.rank()))
    return "a message to or from a rank that is not another rank of the plan";
  for (const Range& range : schedule.ranges(id))
    if (std::string why = find_malformed_range(schedule, range); !why.empty()) return why;
  const bool is_local = step.kind == StepKind::copy || step.kind == StepKind::combine;
  if (is_local && places(schedule.from(id)) != places(schedule.to(id)))
    return fmt::format("{} {} blocks {} {} places", step.kind == StepKind::copy ? "copies" : "combines",
                       places(schedule.from(id)), step.kind == StepKind::copy ? "to" : "with",
                       places(schedule.to(id)));
  if (touched(schedule.ranges(id)) != step.touches) return "does not say truly which buffers it touches";
  for (StepId next : schedule.successors(id))
    if (next <= id || next >= schedule.size())
      return fmt::format("step {} depends on it, but numbers must grow along dependencies", next);
  return "";
}

/// Whether the schedules are whole: whatever is asked of them later may rely on it.
std::string find_malformed(const Schedule& schedule) {
  std::vector<std::uint32_t> predecessors(schedule.size(), 0);
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (std::string why = find_malformed_step(schedule, id); !why.empty())
      return fmt::format("{}: {}", describe(schedule, id), why);
    for (StepId next : schedule.successors(id)) ++predecessors[next];
  }
  for (StepId id = 0; id < schedule.size(); ++id)
    if (predecessors[id] != schedule[id].predecessors)
      return fmt::format("{}: counts {} steps before it where there are {}", describe(schedule, id),
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
      return fmt::format("rank {}: shares places with rank {}, which shares with rank {}", rank, first,
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

std::string find_deadlock(const Plan& plan, const MessageMatching& links, const Limits& limits) {
  if (limits.receives == 0 || limits.sends == 0) return "the limits on steps in flight must be at least 1";
  std::vector<Order> orders;
  orders.reserve(plan.size());
  for (const Schedule& schedule : plan) orders.push_back(compile_order(schedule, limits));
  std::string why = simulate_compiled(plan, links, orders, limits);
  if (!why.empty()) return why;
  constexpr Limits one_at_a_time{.receives = 1, .sends = 1};
  if (simulate_dynamic(plan, links, one_at_a_time, Timing::oldest_first).empty())
    return "";  // then so for all limits
  why = simulate_dynamic(plan, links, limits, Timing::oldest_first);
  return why.empty() ? simulate_dynamic(plan, links, limits, Timing::newest_first) : why;
}

std::string find_fault(const Plan& plan, const Contract& contract, const Limits& limits) {
  if (contract.size() != plan.size())
    return fmt::format("a plan of {} ranks, but a contract of {}", plan.size(), contract.size());
  if (std::string why = find_malformed(plan); !why.empty()) return why;
  const MessageMatching links = link(plan);
  if (!links.fault.empty()) return links.fault;
  if (const Dataflow delivery(plan, links, contract); !delivery.fault().empty()) return delivery.fault();
  if (std::string why = find_hazard(plan); !why.empty()) return why;
  if (std::string why = find_race(plan, links); !why.empty()) return why;
  return find_deadlock(plan, links, limits);
}

/// What one rank sends and receives.
struct Traffic {
  std::uint64_t messages_sent = 0, blocks_sent = 0, messages_received = 0, blocks_received = 0,
                blocks_combined = 0, signals = 0;
};

Traffic traffic(const Schedule& schedule) {
  Traffic result;
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].is_shm_signal()) {
      result.signals += schedule[id].kind == StepKind::send;
    } else if (schedule[id].kind == StepKind::send) {
      ++result.messages_sent;
      result.blocks_sent += places(schedule.ranges(id));
    } else if (schedule[id].kind == StepKind::recv) {
      ++result.messages_received;
      result.blocks_received += places(schedule.ranges(id));
    } else if (schedule[id].kind == StepKind::combine) {
      result.blocks_combined += places(schedule.to(id));
    }
  }
  return result;
}

std::uint64_t scratch_places(const Schedule& schedule) {
  std::uint64_t total = 0;
  for (unsigned b = index(Buffer::scratch); b < max_buffers; ++b)
    total += schedule.places(static_cast<Buffer>(b));
  return total;
}

}  // namespace

Statistics statistics(const Plan& plan) {
  Statistics result;
  for (const Schedule& schedule : plan) {
    const Traffic mine = traffic(schedule);
    result.rounds = std::max(result.rounds, schedule.rounds());
    result.messages += mine.messages_sent;
    result.blocks += mine.blocks_sent;
    result.signals += mine.signals;
    result.most_messages_sent = std::max(result.most_messages_sent, mine.messages_sent);
    result.most_blocks_sent = std::max(result.most_blocks_sent, mine.blocks_sent);
    result.most_messages_received = std::max(result.most_messages_received, mine.messages_received);
    result.most_blocks_received = std::max(result.most_blocks_received, mine.blocks_received);
    result.most_blocks_combined = std::max(result.most_blocks_combined, mine.blocks_combined);
    result.scratch = std::max(result.scratch, scratch_places(schedule));
    result.steps += schedule.size();
    result.edges += schedule.edges();
    result.memory += schedule.memory();
  }
  return result;
}

Verdict check(const Plan& plan, const Contract& contract, const Limits& limits) {
  return {find_fault(plan, contract, limits), statistics(plan)};
}

}  // namespace convene::schedule
