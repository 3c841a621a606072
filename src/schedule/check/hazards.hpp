// SPDX-License-Identifier: BSD-3-Clause
// Whether a schedule's graph orders what must be ordered. Looks at slots and edges only, not at how they came about.
#pragma once

#include <string>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// Empty where any two accesses to one place of which one writes are connected in the graph, no step writes a place
/// that it also reads or writes another time, and messages n and n + match_window of a pair are connected; else the
/// first pair that is not. The schedule must be valid.
std::string find_hazard(const Schedule& schedule);

}  // namespace convene::schedule
