// SPDX-License-Identifier: BSD-3-Clause
#include "base/durations.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::base {
namespace {

struct Unit {
  std::string_view name;
  Nanoseconds size;
};
constexpr Unit units[] = {
    {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};  // the largest first

[[noreturn]] void fail_as_time(std::string_view text, const std::string& why) {
  throw Error(in_quotes(text) + " is not a time" + why + "; give it as in 5ms, 1.5s, 200us or 80ns");
}

Nanoseconds size_of(std::string_view unit, std::string_view text) {
  for (const Unit& known : units)
    if (known.name == unit) return known.size;
  fail_as_time(text, unit.empty() ? ": the unit is missing" : ": unknown unit " + in_quotes(unit));
}

/// The digits after a decimal point. (strtod depends on the locale's decimal point; from_chars would make the
/// drop-in libraries need the mathematical library.)
double fraction_of(std::string_view digits) {
  constexpr std::size_t most = 15;  // more digits than this do not fit a double
  double number = 0, whole = 1;
  for (const char digit : digits.substr(0, most)) {
    number = 10 * number + (digit - '0');
    whole *= 10;
  }
  return number / whole;
}

}  // namespace

Nanoseconds parse_duration(std::string_view text) {
  const std::string_view given = trimmed(text);
  const auto end = std::min(given.find_first_not_of("0123456789."), given.size());
  const std::string_view number = given.substr(0, end), unit = trimmed(given.substr(end));
  const auto dot = std::min(number.find('.'), number.size());
  const std::string_view before = number.substr(0, dot),
                         behind = number.substr(std::min(dot + 1, number.size()));
  if (before.empty() || behind.find('.') != std::string_view::npos) fail_as_time(text, "");

  // The whole and the fractional part are converted separately, so that long durations lose no nanosecond.
  const double fraction = fraction_of(behind);
  const auto whole = parse_whole(before);
  if (whole == 0u && fraction == 0 && unit.empty()) return 0;
  const Nanoseconds size = size_of(unit, text);
  if (!whole || *whole > static_cast<std::uint64_t>(longest_duration / size))
    fail_as_time(text, ": it is too long");
  const Nanoseconds duration = static_cast<Nanoseconds>(*whole) * size +
                               static_cast<Nanoseconds>(fraction * static_cast<double>(size) + 0.5);
  if (duration > longest_duration) fail_as_time(text, ": it is too long");
  return duration;
}

std::string format_duration(Nanoseconds duration) {
  if (duration == 0) return "0";
  for (const Unit& unit : units)
    if (duration % unit.size == 0) return std::to_string(duration / unit.size) + std::string(unit.name);
  return "";  // not reached: the last unit divides every duration
}

}  // namespace convene::base
