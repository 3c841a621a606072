// SPDX-License-Identifier: BSD-3-Clause
// The play: all ranks' steps are done as soon as they may be, and what every place holds is tracked.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/check/checker.hpp"
#include "schedule/check/contribution.hpp"
#include "schedule/check/matching.hpp"

namespace convene::schedule {

/// What every message carries and what every place holds in the end. Sends never block in this play; a fixed
/// schedule with numbered messages is confluent, so what it finds is true of every timing.
class Dataflow {
 public:
  /// `links` must be without fault; the plan and the links must outlive this object.
  Dataflow(const Plan& plan, const MessageMatching& links, const Contract& contract);

  /// Empty where everything is delivered as the contract wants it, else what went wrong first.
  const std::string& fault() const { return fault_; }

  /// The contents that a send carries, in order; empty for any other step and where the play did not reach it.
  std::span<const Content> carried(Rank rank, StepId send) const;

  /// What a place holds in the end.
  Content holds(Rank rank, Buffer buffer, Place place) const { return held_[at(rank, buffer) + place]; }

  /// What combined contents stand for; null where the contract is not that of a reduction.
  const Expressions* expressions() const { return expressions_ ? &*expressions_ : nullptr; }

 private:
  struct Todo {
    Rank rank;
    StepId step;
  };

  std::size_t at(Rank rank, Buffer buffer) const {
    if (buffer == Buffer::shared) rank = plan_[rank].first_sharer();
    return first_place_[rank * max_buffers + index(buffer)];
  }
  void lay_out(const Contract& contract);
  void fill(Rank rank, Buffer buffer, const std::vector<Content>& contents);
  void start();
  void run();
  bool execute(Rank rank, StepId id);
  void gather(const Schedule& schedule, StepId id, std::span<const Range> from, std::vector<Content>& into);
  void write(const Schedule& schedule, StepId id, std::span<const Range> to, const Content* contents);
  void combine(const Schedule& schedule, StepId id);
  std::string in_words(Content content) const;
  bool is_wanted(Content found, Content wanted) const;
  std::string wanted_in_words(Content wanted) const;
  std::string find_unlike(const Contract& contract) const;
  void complete(const Schedule& schedule, StepId id);
  void explain_stuck();
  void compare(const Contract& contract);

  const Plan& plan_;
  const MessageMatching& links_;
  std::vector<std::size_t> first_place_;  // by rank and buffer: where its places begin in `held_`
  std::vector<Content> held_;
  std::vector<std::uint32_t> missing_;   // by step: predecessors to come
  std::vector<std::size_t> payload_at_;  // by send: where its contents begin in `payload_`
  std::vector<Content> payload_, between_, beneath_;
  std::uint32_t segments_ = 0;  // of the vector that is reduced
  std::optional<Expressions> expressions_;
  std::vector<Todo> todo_;
  std::uint64_t left_ = 0;
  std::string fault_;
};

}  // namespace convene::schedule
