// SPDX-License-Identifier: BSD-3-Clause
// Sizes in bytes as text, such as "8", "4KiB" or "1MiB", and ranges of sizes: "8:1MiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/layers.hpp"

namespace convene::base {

/// A whole number without sign; nullopt if the text is anything else or the number does not fit.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// Bytes. Units: B, KiB, MiB, GiB, TiB, or K, M, G, T; not case-sensitive. "1.5KiB" is rounded. Throws Error.
std::uint64_t parse_size(std::string_view text);

struct SizeRange {
  std::uint64_t least, most;
};

/// "8:1MiB", or one size for both ends. Throws Error, also if the range is empty.
SizeRange parse_size_range(std::string_view text);

/// A size in the largest unit that it reaches, with two decimals below 10 and one above: "3.91 KiB". Exact
/// ones have no zeros at the end: "8 B", "4 KiB", but "64.0 KiB" for 65535. parse_size reads it.
std::string format_size(std::uint64_t bytes);

}  // namespace convene::base
