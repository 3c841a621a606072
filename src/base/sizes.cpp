// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::base {

namespace {

constexpr std::string_view prefixes = "KMGT";
constexpr std::uint64_t largest = INT64_MAX;  // the largest MPI_Count

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// The shift of a unit in bits; -1 if the unit is unknown.
int shift_of(std::string_view unit) {
  std::string capitals(unit);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), upper);
  if (capitals.empty() || capitals == "B") return 0;
  const auto prefix = prefixes.find(capitals[0]);
  const bool is_unit = capitals.size() == 1 || capitals.substr(1) == "IB";
  return is_unit && prefix != std::string_view::npos ? static_cast<int>(10 * (prefix + 1)) : -1;
}

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  throw Error(in_quotes(text) + " is not a size" + why + "; give bytes as in 8, 4KiB or 1MiB");
}

}  // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::uint64_t parse_size(std::string_view text) {
  const std::string_view number_and_unit = trimmed(text);
  const auto digits = std::min(number_and_unit.find_first_not_of("0123456789"), number_and_unit.size());
  const std::string_view unit = trimmed(number_and_unit.substr(digits));
  const int shift = shift_of(unit);
  if (digits == 0) fail(text, "");
  if (shift < 0) fail(text, ": unknown unit " + in_quotes(unit));
  const auto number = parse_whole(number_and_unit.substr(0, digits));
  if (!number || *number > largest >> shift) fail(text, ": it is too large");
  return *number << shift;
}

SizeRange parse_size_range(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::uint64_t size = parse_size(text);
    return {size, size};
  }
  const SizeRange range{parse_size(text.substr(0, colon)), parse_size(text.substr(colon + 1))};
  if (range.least > range.most)
    throw Error("the range " + in_quotes(text) + " is empty; give the smaller size first, as in 8:1MiB");
  return range;
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::uint64_t exact_below = 10 * 1024;  // of a unit
  const auto unit = [](unsigned power) {
    return power == 0 ? std::string(" B") : std::string{' ', prefixes[power - 1], 'i', 'B'};
  };
  for (unsigned power = 4; power-- > 0;)
    if (const std::uint64_t count = bytes >> 10 * power;
        count << 10 * power == bytes && count > 0 && count < exact_below)
      return std::to_string(count) + unit(power);
  if (bytes == 0) return "0 B";
  unsigned power = 3;
  while (bytes >> 10 * power == 0) --power;
  const double count = static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 10 * power);
  const auto tenths = static_cast<std::uint64_t>(count * 10 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + unit(power);
}

}  // namespace convene::base
