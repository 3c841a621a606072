// SPDX-License-Identifier: BSD-3-Clause
// Names in messages: quoting the user's text, and suggesting known names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::base {

/// 'text', fit for one line of plain ASCII: other bytes are escaped, and long texts are cut.
std::string in_quotes(std::string_view text);

/// The names with a separator between them.
std::string joined(std::span<const std::string_view> names, std::string_view separator = ", ");

/// `text` without leading and trailing blanks.
std::string_view trimmed(std::string_view text);

/// The edit distance: insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known names nearest to `wanted` (at most three), the nearest first.
std::vector<std::string_view> nearest(std::string_view wanted, std::span<const std::string_view> known);

/// The end of a message that `wanted` is unknown: "; did you mean …? Known: …", or "; known: …".
std::string suggestion(std::string_view wanted, std::span<const std::string_view> known);

/// "there is no <kind> 'wanted'; did you mean …? Known: …"
std::string no_such(std::string_view kind, std::string_view wanted, std::span<const std::string_view> known);

}  // namespace convene::base
