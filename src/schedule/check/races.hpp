// SPDX-License-Identifier: BSD-3-Clause
// Data races: accesses of different ranks to shared memory that no signal orders.
#pragma once

#include <string>

#include "schedule/check/matching.hpp"

namespace convene::schedule {

/// Empty if any two accesses of different ranks to one shared place, of which one writes it, are ordered by
/// dependencies and signals; else the first pair that is not. The plan must be free of deadlock, and
/// `matching` without fault. find_hazard() checks the accesses of one rank. Messages order no accesses to
/// shared memory.
std::string find_race(const Plan& plan, const MessageMatching& matching);

}  // namespace convene::schedule
