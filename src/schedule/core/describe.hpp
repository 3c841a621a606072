// SPDX-License-Identifier: BSD-3-Clause
// Steps and slots in words, for the messages of the checker and the printers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// "send", "recv", "copy", "combine" or "join".
std::string_view name(StepKind kind);
/// The same, but "signal" and "await" for the ends of a signal.
std::string_view name(const Step& step);

/// "input", "output", "scratch0", …
std::string name(Buffer buffer);

/// Numbers in order, runs of at least three shortened: "0-3,6,8".
std::string list(std::span<const std::uint32_t> numbers);

/// The slots of some ranges: "output 0-3,6" or "input 0 + scratch0 1,2".
std::string describe(const Schedule& schedule, std::span<const Range> ranges);

/// A step as a clause: "rank 3, step 5 (round 1, recv message 0 from rank 2 into output 4,5)".
std::string describe(const Schedule& schedule, StepId id);

/// The total number of places of some ranges.
std::uint64_t places(std::span<const Range> ranges);

}  // namespace convene::schedule
