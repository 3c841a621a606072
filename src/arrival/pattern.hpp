// SPDX-License-Identifier: BSD-3-Clause
// Arrival patterns: the delay of each rank after the earliest possible arrival, call by call. A pattern is
// written as text, such as "uniform:5ms", and is the same on every machine for the same seed.
//
// Source: Marendic et al. 2016, section 7 (one late, alternating, uniform, normal, gamma, Bernoulli, traces),
// and Proficz 2021, section 4 (uniform). The others are extensions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrival/trace.hpp"
#include "base/durations.hpp"

namespace convene::arrival {

/// The name of a kind of pattern, and its parameters.
struct PatternKind {
  std::string_view name;
  std::string_view parameters;  ///< as in "MEAN:DEVIATION"; may be empty
  std::string_view summary;
};

/// All kinds of patterns, in the order of help.
const std::vector<PatternKind>& pattern_kinds();

/// Returns the trace of a name. Throws Error if there is none.
using TraceReader = std::function<Trace(const std::string& name)>;

class Pattern {
 public:
  /// No delays.
  Pattern() = default;

  /// Throws Error if the text is not a pattern. `read` is called for "trace:NAME"; by default NAME is a file.
  static Pattern parse(std::string_view text, const TraceReader& read = Trace::read);

  /// Each rank's delay at call number `call`, in nanoseconds. Equal seeds give equal delays, on all ranks and
  /// machines. Throws Error if the pattern does not fit the number of processes.
  std::vector<Nanoseconds> delays(std::uint32_t procs, std::uint64_t seed = 0, std::uint64_t call = 0) const;

  /// The number of calls after which the delays repeat: 1 if all calls are equal, the lines of a trace; 0 for
  /// random delays.
  std::uint64_t period() const;

  /// The pattern in the form of parse().
  std::string text() const;

 private:
  enum class Kind : std::uint8_t {
    none,
    late,
    alternating,
    half,
    linear,
    permutation,
    uniform,
    normal,
    gamma,
    exponential,
    bernoulli,
    trace
  };
  static constexpr std::uint32_t any_rank = 0xffffffffu;

  Kind kind_ = Kind::none;
  std::uint32_t rank_ = 0;     // late
  double number_ = 0;          // gamma: the shape; bernoulli: the probability
  Nanoseconds first_ = 0;      // the delay, the mean, the maximum or the scale
  Nanoseconds deviation_ = 0;  // normal
  std::string path_;           // trace
  std::shared_ptr<const Trace> trace_;

  friend class PatternParser;
};

}  // namespace convene::arrival
