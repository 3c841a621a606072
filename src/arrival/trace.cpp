// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::arrival {
namespace {

constexpr std::string_view separators = " \t\r,";

Nanoseconds parse_value(std::string_view text) {
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  return parse_duration(is_bare ? std::string(text) + "s" : std::string(text));
}

std::vector<Nanoseconds> parse_line(std::string_view line) {
  std::vector<Nanoseconds> values;
  line = line.substr(0, line.find('#'));
  for (;;) {
    const auto begin = line.find_first_not_of(separators);
    if (begin == std::string_view::npos) return values;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(separators), line.size());
    values.push_back(parse_value(line.substr(0, end)));
    line.remove_prefix(end);
  }
}

}  // namespace

Trace::Trace(std::vector<std::vector<Nanoseconds>> calls) : calls_(std::move(calls)) {
  if (calls_.empty() || calls_[0].empty()) throw std::invalid_argument("a trace without values");
  for (const auto& call : calls_)
    if (call.size() != calls_[0].size()) throw std::invalid_argument("a trace with lines of unequal length");
}

Trace Trace::parse(std::string_view text, std::string_view name) {
  std::vector<std::vector<Nanoseconds>> calls;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::vector<Nanoseconds> values;
    try {
      values = parse_line(text.substr(0, end));
    } catch (const Error& error) {
      throw Error(fmt::format("{}, line {}: {}", name, number, error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    if (values.empty()) continue;
    if (!calls.empty() && values.size() != calls[0].size())
      throw Error(fmt::format(
          "{}, line {}: there are {} values, but {} in the lines before; each line needs one value for "
          "each process",
          name, number, values.size(), calls[0].size()));
    calls.push_back(std::move(values));
  }
  if (calls.empty())
    throw Error(
        fmt::format("{} has no values; write one line for each call, with one value for each process", name));
  return Trace(std::move(calls));
}

Trace Trace::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();
  if (!file.is_open() || file.bad())  // the latter for a directory
    throw Error("the trace " + in_quotes(path) + " cannot be read; check that it exists and is readable");
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), in_quotes(path));
}

std::string Trace::text() const {
  std::string result =
      fmt::format("# arrivals in seconds: {} calls of {} processes\n", calls_.size(), procs());
  for (const auto& call : calls_)
    for (std::size_t i = 0; i < call.size(); ++i)
      result += fmt::format("{}.{:09}{}", call[i] / 1'000'000'000, call[i] % 1'000'000'000,
                            i + 1 < call.size() ? ' ' : '\n');
  return result;
}

void Trace::write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << text() << std::flush;
  if (!file)
    throw Error("the trace " + in_quotes(path) + " cannot be written; check that its directory exists");
}

}  // namespace convene::arrival
