// SPDX-License-Identifier: BSD-3-Clause
// Traces of arrivals: N lines of P values, one line a call, one value a process. A value is a duration after
// a time that is common to the line; a number without a unit is in seconds. Values are separated by blanks or
// commas; a comment follows '#'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/durations.hpp"

namespace convene::arrival {

class Trace {
 public:
  /// Throws Error with `name`, line and value if the text is not a trace, or is empty.
  static Trace parse(std::string_view text, std::string_view name = "the trace");
  /// Throws Error if the file cannot be read or is not a trace.
  static Trace read(const std::string& path);

  /// `calls`: vectors of equal length.
  explicit Trace(std::vector<std::vector<Nanoseconds>> calls);

  std::size_t procs() const { return calls_[0].size(); }
  const std::vector<std::vector<Nanoseconds>>& calls() const { return calls_; }

  /// The trace in the form of parse(): seconds with nine decimals.
  std::string text() const;
  /// Throws Error if the file cannot be written.
  void write(const std::string& path) const;

 private:
  std::vector<std::vector<Nanoseconds>> calls_;
};

}  // namespace convene::arrival
