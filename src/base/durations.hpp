// SPDX-License-Identifier: BSD-3-Clause
// Durations as text, such as "5ms", "1.5s" or "200us", and as whole nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/layers.hpp"

namespace convene::base {

using Nanoseconds = std::int64_t;

/// The longest accepted duration: about 31 years. Sums of thousands of them fit 64 bits.
inline constexpr Nanoseconds longest_duration = 1'000'000'000'000'000'000;

/// A number with a unit (ns, us, ms, s), without sign; 0 needs no unit. Rounded to whole nanoseconds. Throws
/// Error.
Nanoseconds parse_duration(std::string_view text);

/// In the largest unit in which it is a whole number: 5000000 is "5ms", 1500 is "1500ns", 0 is "0".
std::string format_duration(Nanoseconds duration);

}  // namespace convene::base
