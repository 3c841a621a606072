// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/describe.hpp"

namespace convene::simulate {
namespace {

/// The blocks of a message are not contiguous. A range that wraps around the end of its buffer counts as
/// contiguous, so that all ranks of a symmetric plan are alike.
bool is_scattered(std::span<const Range> ranges) {
  return ranges.size() > 1 || (ranges.size() == 1 && ranges[0].count() > 1 && ranges[0].stride != 1);
}

bool touches(const Step& step, Buffer buffer) { return (step.touches >> index(buffer) & 1) != 0; }

/// The ranges that state a step's bytes. A shared place is as large as the largest block, so those of a copy
/// from it are its target's.
std::span<const Range> sized(const Schedule& schedule, StepId id) {
  const StepKind kind = schedule[id].kind;
  if (kind != StepKind::copy && kind != StepKind::combine) return schedule.ranges(id);
  const std::span<const Range> from = schedule.from(id);
  return !from.empty() && from.front().buffer() == Buffer::shared ? schedule.to(id) : from;
}

/// The rank's output is its input, as that of a broadcast's root: no step writes to it.
bool has_input_as_output(const Schedule& schedule) {
  for (StepId id = 0; id < schedule.size(); ++id)
    if (touches(schedule[id], Buffer::output) &&
        std::ranges::any_of(schedule.to(id), [](Range range) { return range.buffer() == Buffer::output; }))
      return false;
  return true;
}

}  // namespace

void Workload::add(const Schedule& schedule) {
  const Buffer own = has_input_as_output(schedule) ? Buffer::output : Buffer::input;
  for (StepId id = 0; id < schedule.size(); ++id) {
    const Step& step = schedule[id];
    steps_.push_back({.peer = step.peer,
                      .kind = step.kind,
                      .scattered = step.is_message() && is_scattered(schedule.ranges(id)),
                      .own_input = touches(step, Buffer::input) || touches(step, own)});
    set_successors(steps_.back(), schedule.successors(id));
    predecessors_.push_back(step.predecessors);
  }
  if (edges_.size() >= MessageMatching::none)
    throw Error("the plan has more than " + std::to_string(MessageMatching::none - 1) +
                " dependencies; simulate fewer ranks or segments");
}

void Workload::set_successors(SimStep& sim_step, std::span<const StepId> successors) {
  sim_step.edges = successors.size() == 1 ? successors.front() : static_cast<std::uint32_t>(edges_.size());
  sim_step.degree =
      static_cast<std::uint16_t>(std::min<std::size_t>(successors.size(), SimStep::most_degree));
  if (successors.size() == 1) return;
  if (sim_step.degree == SimStep::most_degree) edges_.push_back(static_cast<StepId>(successors.size()));
  edges_.insert(edges_.end(), successors.begin(), successors.end());
}

Workload Workload::of(const Plan& plan) {
  const MessageMatching links = link(plan);
  if (!links.fault.empty()) throw Error("the plan cannot be simulated: " + links.fault);
  Workload workload;
  workload.procs_ = static_cast<Rank>(plan.size());
  workload.plan_ = &plan;
  workload.base_.assign(links.base.begin(), links.base.end());
  workload.steps_.reserve(links.base.back());
  for (const Schedule& schedule : plan) workload.add(schedule);
  for (std::size_t i = 0; i < links.partner.size(); ++i) {
    SimStep& sim_step = workload.steps_[i];
    if (links.partner[i] != MessageMatching::none)
      sim_step.partner = links.step(sim_step.peer, links.partner[i]);
  }
  return workload;
}

Workload Workload::relabelled(const Schedule& schedule, Relabelling how) {
  Workload workload;
  workload.procs_ = schedule.procs();
  workload.one_ = &schedule;
  workload.how_ = how;
  workload.add(schedule);
  workload.link_own_messages();
  return workload;
}

/// Pairs rank 0's messages with each other: rank 0's send to rank d is, relabelled, rank 0's receive from the
/// opposite of d.
void Workload::link_own_messages() {
  const auto opposite = [this](Rank peer) {
    return how_ == Relabelling::exchange ? peer : (procs_ - peer) % procs_;
  };
  std::map<std::pair<Rank, std::uint32_t>, StepId> receives, sends;
  for (StepId id = 0; id < one_->size(); ++id) {
    const Step& step = (*one_)[id];
    if (step.kind == StepKind::recv) receives[{step.peer, step.match}] = id;
    if (step.kind == StepKind::send) sends[{opposite(step.peer), step.match}] = id;
  }
  for (const auto& [message, id] : receives) {
    const auto other = sends.find(message);
    if (other == sends.end())
      throw Error("the schedule cannot be relabelled: no rank sends the message of \"" + describe(*one_, id) +
                  "\" under this symmetry");
    steps_[id].partner = other->second;
    steps_[other->second].partner = id;
  }
  if (sends.size() != receives.size())
    throw Error(fmt::format("the schedule cannot be relabelled: it sends {} messages and receives {}",
                            sends.size(), receives.size()));
}

void Workload::set_bytes(double per_place) {
  set_bytes([per_place](const Schedule&, std::span<const Range> ranges) {
    return per_place * static_cast<double>(places(ranges));
  });
}

void Workload::set_bytes(const Bytes& bytes, Empty empty) {
  std::size_t next = 0;
  const auto set = [&](const Schedule& schedule) {
    for (StepId id = 0; id < schedule.size(); ++id, ++next) {
      SimStep& sim_step = steps_[next];
      const bool is_shm_signal = schedule[id].is_shm_signal();
      sim_step.bytes = is_shm_signal ? 0 : bytes(schedule, sized(schedule, id));
      sim_step.omitted = empty == Empty::omitted && schedule[id].is_message() && sim_step.bytes == 0 &&
                         !schedule.sends_empty_messages() && !is_shm_signal;
    }
  };
  if (one_) return set(*one_);
  for (const Schedule& schedule : *plan_) set(schedule);
}

}  // namespace convene::simulate
