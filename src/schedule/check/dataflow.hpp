// SPDX-License-Identifier: BSD-3-Clause
// Dataflow: a symbolic simulation of a plan. It executes all ranks' steps as soon as their dependencies allow
// and tracks the content of every place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/check/contract.hpp"
#include "schedule/check/contribution.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/ready_walk.hpp"

namespace convene::schedule {

/// The contents of all messages, and of all places after the last step. Sends never block in this simulation.
/// A fixed schedule with numbered messages is confluent, so the result holds for every timing.
class Dataflow {
 public:
  /// `matching` must be without fault; the plan and the matching must outlive this object.
  Dataflow(const Plan& plan, const MessageMatching& matching, const Contract& contract);

  /// Empty if the plan fulfils the contract, else the first fault.
  const std::string& fault() const { return fault_; }

  /// The contents that a send carries, in order; empty for other steps and for sends that were not reached.
  std::span<const Content> carried(Rank rank, StepId send) const;

  /// The content of a place after the last step.
  Content holds(Rank rank, Buffer buffer, Place place) const { return held_[at(rank, buffer) + place]; }

  /// The meaning of combined contents; null if the contract is not that of a reduction.
  const Expressions* expressions() const { return expressions_ ? &*expressions_ : nullptr; }

 private:
  struct PlannedStep {
    Rank rank;
    StepId step;
  };

  std::size_t at(Rank rank, Buffer buffer) const {
    if (buffer == Buffer::shared) rank = plan_[rank].first_sharer();
    return first_place_[rank * max_buffers + index(buffer)];
  }
  void lay_out(const Contract& contract);
  void fill(Rank rank, Buffer buffer, const std::vector<Content>& contents);
  void run();
  void execute(Rank rank, StepId id);
  void send(const Schedule& schedule, StepId id);
  void receive(const Schedule& schedule, StepId id);
  void gather(const Schedule& schedule, StepId id, std::span<const Range> from, std::vector<Content>& into);
  void write(const Schedule& schedule, StepId id, std::span<const Range> to, const Content* contents);
  void combine(const Schedule& schedule, StepId id);
  std::string in_words(Content content) const;
  bool is_wanted(Content found, Content wanted) const;
  std::string wanted_in_words(Content wanted) const;
  std::string find_differing_expressions(const Contract& contract) const;
  StepId first_incomplete(Rank rank) const;
  void explain_deadlock();
  void compare(const Contract& contract);

  const Plan& plan_;
  const MessageMatching& matching_;
  std::vector<std::size_t> first_place_;  // by rank and buffer: the index in `held_` of its first place
  std::vector<Content> held_;
  std::vector<ReadyWalk> walks_;         // by rank
  std::vector<std::size_t> payload_at_;  // by send: the index in `payload_` of its first content
  std::vector<Content> payload_, left_, right_;
  std::uint32_t segments_ = 0;  // of the vector that is reduced
  std::optional<Expressions> expressions_;
  std::vector<PlannedStep> ready_;
  std::string fault_;
};

}  // namespace convene::schedule
