// SPDX-License-Identifier: BSD-3-Clause
// The compiled order of a schedule: one fixed sequence of "issue this", "wait for exactly this" that respects every
// dependency. Pure, so that the checker plays what the executor runs.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// How much may be in flight at once. Receives are posted early up to their window.
struct Limits {
  std::uint32_t receives = 16;
  std::uint32_t sends = 64;
};

enum class Action : std::uint8_t {
  issue,    ///< start a send or a receive, or do a copy or combine
  wait,     ///< until the step is complete
  wait_all  ///< until every step that was issued is complete (its step id means nothing)
};

/// One action on one step, in 4 bytes.
class Op {
 public:
  Op(Action action, StepId step) : bits_(static_cast<std::uint32_t>(action) << 30 | step) {}
  Action action() const { return static_cast<Action>(bits_ >> 30); }
  StepId step() const { return bits_ & ((1u << 30) - 1); }

 private:
  std::uint32_t bits_;
};

using Order = std::vector<Op>;

/// The order in which a single thread does best without knowing who comes when: whatever is ready is issued
/// (receives first, up to the window; then sends; then copies and combines), and only then the earliest outstanding receive is
/// waited for. Sends are waited for where something depends on them, where their window is full, and at the end.
/// Messages that only signal go round by round, each complete before the next: a receive that is posted early saves no
/// copy there, and so each pair can be one call of the MPI's. (That orders rounds, which must be numbered alike on both sides.)
Order compile_order(const Schedule& schedule, const Limits& limits = {});

/// Whether several ranks' messages of a round may arrive in any order, and something could already be done after some of
/// them for which a fixed order waits longer: then the executor runs the schedule dynamically. (A sum in the order of the
/// receives is no such case: each of its steps needs all messages that the fixed order has waited for.)
bool has_independent_arrivals(const Schedule& schedule);

}  // namespace convene::schedule
