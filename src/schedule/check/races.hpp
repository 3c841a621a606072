// SPDX-License-Identifier: BSD-3-Clause
// Whether signals order what the ranks of a node do in memory that they share.
#pragma once

#include <string>

#include "schedule/check/matching.hpp"

namespace convene::schedule {

/// Empty where any two accesses of different ranks to one shared place, one of which writes it, are connected by
/// dependencies and signals; else the first pair that is not. The plan must play to its end, and `links` be without
/// fault. (Accesses of one rank are find_hazard()'s business. A message orders nothing here: its two ends say nothing of
/// memory.)
std::string find_race(const Plan& plan, const MessageMatching& links);

}  // namespace convene::schedule
