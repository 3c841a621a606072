// SPDX-License-Identifier: BSD-3-Clause
// The compiled order of a schedule: a fixed sequence of "issue this step" and "wait for exactly this step"
// that respects every dependency. The checker simulates the same order that the executor runs.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The limits on messages in flight at once. Receives are posted early within their limit.
struct Limits {
  std::uint32_t receives = 16;
  std::uint32_t sends = 64;
};

enum class Action : std::uint8_t {
  issue,    ///< start a send or a receive, or execute a copy or combine
  wait,     ///< until the step is complete
  wait_all  ///< until all issued steps are complete (the step id has no meaning)
};

/// An action and the step that it concerns, in 4 bytes. `wait_all` concerns no step.
class Op {
 public:
  Op(Action action, StepId step) : bits_(static_cast<std::uint32_t>(action) << 30 | step) {}
  Action action() const { return static_cast<Action>(bits_ >> 30); }
  StepId step() const { return bits_ & ((1u << 30) - 1); }

 private:
  std::uint32_t bits_;
};

using Order = std::vector<Op>;

/// The order for a single thread that does not know when messages arrive. All ready steps are issued
/// (receives first, within their limit; then sends; then copies and combines) before the earliest outstanding
/// receive is waited for. Sends are waited for if a step depends on them, if their limit is reached, and at
/// the end. Zero-byte messages run round by round, each round complete before the next: posting their
/// receives early saves no copy, and so each pair can be one native call. Both sides of such a message must
/// give it the same round.
Order compile_order(const Schedule& schedule, const Limits& limits = {});

/// True if a fixed order may wait longer than necessary: messages of several ranks in one round arrive in any
/// order, and some step needs only some of them. The executor runs such schedules dynamically. A sum in the
/// order of the receives is not such a case: each of its steps needs all messages that the fixed order has
/// waited for.
bool has_independent_arrivals(const Schedule& schedule);

}  // namespace convene::schedule
