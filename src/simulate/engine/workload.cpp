// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/describe.hpp"

namespace convene::simulate {
namespace {

/// Whether the blocks of a message do not follow each other. A run around the end of its buffer counts as one, so that
/// all ranks of a symmetrical plan are alike.
bool is_scattered(std::span<const Range> ranges) {
  return ranges.size() > 1 || (ranges.size() == 1 && ranges[0].count() > 1 && ranges[0].stride != 1);
}

}  // namespace

void Source::add(const Schedule& schedule) {
  for (StepId id = 0; id < schedule.size(); ++id) {
    const Step& step = schedule[id];
    moves_.push_back({.peer = step.peer,
                      .kind = step.kind,
                      .scattered = step.is_message() && is_scattered(schedule.ranges(id)),
                      .own_input = (step.touches >> index(Buffer::input) & 1) != 0});
    set_successors(moves_.back(), schedule.successors(id));
    predecessors_.push_back(step.predecessors);
  }
  if (edges_.size() >= MessageMatching::none) throw Error("the plan has too many dependencies to be played");
}

void Source::set_successors(Move& move, std::span<const StepId> successors) {
  move.edges = successors.size() == 1 ? successors.front() : static_cast<std::uint32_t>(edges_.size());
  move.degree = static_cast<std::uint16_t>(std::min<std::size_t>(successors.size(), Move::most_degree));
  if (successors.size() == 1) return;
  if (move.degree == Move::most_degree) edges_.push_back(static_cast<StepId>(successors.size()));
  edges_.insert(edges_.end(), successors.begin(), successors.end());
}

Source Source::of(const Plan& plan) {
  const MessageMatching links = link(plan);
  if (!links.fault.empty()) throw Error("the plan cannot be played: " + links.fault);
  Source source;
  source.procs_ = static_cast<Rank>(plan.size());
  source.plan_ = &plan;
  source.base_.assign(links.base.begin(), links.base.end());
  source.moves_.reserve(links.base.back());
  for (const Schedule& schedule : plan) source.add(schedule);
  for (std::size_t i = 0; i < links.partner.size(); ++i) {
    Move& move = source.moves_[i];
    if (links.partner[i] != MessageMatching::none) move.partner = links.step(move.peer, links.partner[i]);
  }
  return source;
}

Source Source::relabelled(const Schedule& schedule, Relabelling how) {
  Source source;
  source.procs_ = schedule.procs();
  source.one_ = &schedule;
  source.how_ = how;
  source.add(schedule);
  source.link_own_messages();
  return source;
}

/// What rank 0 sends to rank d, rank d receives from 0; and as rank 0 itself, it receives that from the rank that is to
/// it what 0 is to d: d's opposite.
void Source::link_own_messages() {
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
      throw Error("the schedule cannot be relabelled: " + describe(*one_, id) +
                  " is what no rank sends under this symmetry");
    moves_[id].partner = other->second;
    moves_[other->second].partner = id;
  }
  if (sends.size() != receives.size())
    throw Error(fmt::format("the schedule cannot be relabelled: it sends {} messages and receives {}",
                            sends.size(), receives.size()));
}

void Source::set_bytes(double per_place) {
  set_bytes([per_place](const Schedule&, std::span<const Range> ranges) {
    return per_place * static_cast<double>(places(ranges));
  });
}

void Source::set_bytes(const Bytes& bytes, Empty empty) {
  std::size_t next = 0;
  const auto set = [&](const Schedule& schedule) {
    for (StepId id = 0; id < schedule.size(); ++id, ++next) {
      const StepKind kind = schedule[id].kind;
      const bool has_source = kind == StepKind::copy || kind == StepKind::combine;
      Move& move = moves_[next];
      const bool is_shm_signal = schedule[id].is_shm_signal();
      move.bytes = is_shm_signal ? 0 : bytes(schedule, has_source ? schedule.from(id) : schedule.ranges(id));
      move.left_out = empty == Empty::left_out && schedule[id].is_message() && move.bytes == 0 &&
                      !schedule.sends_empty_messages() && !is_shm_signal;
    }
  };
  if (one_) return set(*one_);
  for (const Schedule& schedule : *plan_) set(schedule);
}

}  // namespace convene::simulate
