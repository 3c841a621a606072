// SPDX-License-Identifier: BSD-3-Clause
// Names in messages: quoting what somebody wrote, and finding what they may have meant.
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

/// `text` without the blanks at its ends.
std::string_view trimmed(std::string_view text);

/// How many insertions, deletions, replacements and swaps of neighbours make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Those of the known names that somebody who wrote `wanted` may have meant (at most three), the nearest
/// first.
std::vector<std::string_view> nearest(std::string_view wanted, std::span<const std::string_view> known);

/// "; did you mean …? Known: …", to stand behind what says that `wanted` is not known.
std::string suggestion(std::string_view wanted, std::span<const std::string_view> known);

/// "there is no <kind> 'wanted'; did you mean …? Known: …"
std::string no_such(std::string_view kind, std::string_view wanted, std::span<const std::string_view> known);

}  // namespace convene::base
