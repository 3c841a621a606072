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

[[noreturn]] void fail_as_size(std::string_view text, const std::string& why) {
  throw Error(in_quotes(text) + " is not a size" + why + "; give bytes as in 8, 4KiB or 1MiB");
}

constexpr std::size_t most_decimals = 6;

/// Decimals of a unit in bytes, rounded: "5" of KiB is 512. They must be digits.
std::uint64_t part_of_unit(std::string_view decimals, int shift) {
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
  return ((*parse_whole(decimals) << shift) + scale / 2) / scale;
}

/// A size as a number of parts, each 1/`parts` of the unit 1024^power, rounded.
std::uint64_t in_parts(std::uint64_t bytes, unsigned power, std::uint64_t parts) {
  const unsigned shift = 10 * power;
  const std::uint64_t rest = bytes & ((std::uint64_t{1} << shift) - 1);
  return (bytes >> shift) * parts + ((rest * parts + (std::uint64_t{1} << (shift - 1))) >> shift);
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
  const auto digits = std::min(number_and_unit.find_first_not_of("0123456789."), number_and_unit.size());
  const std::string_view unit = trimmed(number_and_unit.substr(digits));
  const int shift = shift_of(unit);
  if (digits == 0) fail_as_size(text, "");
  if (shift < 0) fail_as_size(text, ": unknown unit " + in_quotes(unit));
  const auto point = std::min(number_and_unit.find('.'), digits);
  const std::string_view decimals = number_and_unit.substr(point, digits - point);
  if (decimals.size() == 1 || point == 0 || decimals.rfind('.') != decimals.find('.')) fail_as_size(text, "");
  if (!decimals.empty() && shift == 0) fail_as_size(text, ": bytes have no decimals");
  if (decimals.size() > 1 + most_decimals) fail_as_size(text, ": more than 6 decimals");
  const auto number = parse_whole(number_and_unit.substr(0, point));
  if (!number || *number > largest >> shift) fail_as_size(text, ": it is too large");
  const std::uint64_t size =
      (*number << shift) + (decimals.empty() ? 0 : part_of_unit(decimals.substr(1), shift));
  if (size > largest) fail_as_size(text, ": it is too large");
  return size;
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
  if (bytes < 1024) return std::to_string(bytes) + " B";
  unsigned power = 1;
  while (power < prefixes.size() && in_parts(bytes, power, 10) >= std::uint64_t{1024} * 10) ++power;
  const bool is_short = in_parts(bytes, power, 100) < 1000;
  const std::uint64_t scale = is_short ? 100 : 10;
  const std::uint64_t parts = in_parts(bytes, power, scale);
  std::string decimals = std::to_string(scale + parts % scale).substr(1);
  const std::uint64_t rest = bytes & ((std::uint64_t{1} << 10 * power) - 1);
  if ((rest * scale) << (64 - 10 * power) == 0) decimals.resize(decimals.find_last_not_of('0') + 1);
  return std::to_string(parts / scale) + (decimals.empty() ? "" : "." + decimals) + ' ' +
         prefixes[power - 1] + "iB";
}

}  // namespace convene::base
