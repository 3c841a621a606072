// SPDX-License-Identifier: BSD-3-Clause
// The plays as the executor runs schedules: with limits on what is in flight, and with sends that complete only when
// their receive is posted.
#pragma once

#include <string>

#include "schedule/check/matching.hpp"
#include "schedule/core/order.hpp"

namespace convene::schedule {

/// Plays one order a rank. Empty where all ranks finish, no step is issued before what it depends on was waited for,
/// every step is issued exactly once, and the limits are kept; else what went wrong. A rank that waits waits for one
/// message, so one play is exact for all timings. `links` must be without fault.
std::string simulate_compiled(const Plan& plan, const MessageMatching& links,
                              const std::vector<Order>& orders, const Limits& limits);

/// In which order a play takes what could happen next.
enum class Timing { oldest_first, newest_first };

/// Plays the dynamic loop: ready steps are issued while the limits allow, with the last place of each window kept for
/// the rank's first incomplete message of the kind; whatever completes lets its successors go. Empty where all ranks
/// finish, else who is stuck. `links` must be without fault.
///
/// With limits of 1 sends and receives go strictly by number, each after the one before: nothing is left to timing, so
/// one play is exact. Where that play ends well, every play with larger limits does, in whatever timing: of all
/// messages that are not complete take the one that the strict play completes first. All before it are complete, so it
/// is the first of its kind at both ends, has its dependencies, and finds its place.
std::string simulate_dynamic(const Plan& plan, const MessageMatching& links, const Limits& limits,
                             Timing timing);

}  // namespace convene::schedule
