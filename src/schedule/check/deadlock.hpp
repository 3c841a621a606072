// SPDX-License-Identifier: BSD-3-Clause
// Deadlock detection: simulations of both ways in which the executor runs schedules, with limits on the steps
// in flight and with sends that complete only when their receive is posted (rendezvous).
#pragma once

#include <string>

#include "schedule/check/matching.hpp"
#include "schedule/core/order.hpp"

namespace convene::schedule {

/// Simulates one compiled order a rank. Empty if all ranks finish, every step is issued exactly once and
/// after the steps that it depends on, and the limits are kept; else the first fault. A waiting rank waits
/// for one message, so one simulation is exact for all timings. `matching` must be without fault.
std::string simulate_compiled(const Plan& plan, const MessageMatching& matching,
                              const std::vector<Order>& orders, const Limits& limits);

/// Which of several possible completions a simulation takes.
enum class Timing { oldest_first, newest_first };

/// Simulates the dynamic loop: ready steps are issued within the limits; the last place of each window is
/// reserved for the rank's first incomplete message of the kind. Empty if all ranks finish, else a step that
/// never completes. `matching` must be without fault.
///
/// With limits of 1, sends and receives run strictly by number, each after the one before. Nothing depends on
/// timing, so one simulation is exact. If it finishes, so does every simulation with larger limits, with any
/// timing: of all incomplete messages take the one that the strict simulation completes first. All before it
/// are complete, so it is the first of its kind at both ends, its dependencies are complete, and its place in
/// the window is reserved.
std::string simulate_dynamic(const Plan& plan, const MessageMatching& matching, const Limits& limits,
                             Timing timing);

}  // namespace convene::schedule
