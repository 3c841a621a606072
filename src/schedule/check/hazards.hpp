// SPDX-License-Identifier: BSD-3-Clause
// Hazards: accesses of one rank to one place that no dependency orders (read after write, write after read,
// write after write). The check reads slots and edges only; it trusts nothing that the builder inferred.
#pragma once

#include <string>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// Empty if
/// - of any two accesses to one place, of which one writes it, one depends on the other;
/// - no step writes a place that it also reads or writes another time (a combine's target apart);
/// - messages n and n + match_window of a pair, and signals to the same rank, are ordered;
/// else the first violation. The schedule must be valid.
std::string find_hazard(const Schedule& schedule);

}  // namespace convene::schedule
