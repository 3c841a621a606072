// SPDX-License-Identifier: BSD-3-Clause
// Arrival patterns as values: how much later than the earliest possible moment each rank comes, call by call. Written as
// text, such as "uniform:5ms", and the same on every machine for the same seed.
//
// Source: Marendic et al. 2016, section 7 (one late, alternating, uniform, normal, gamma, Bernoulli, traces), and Proficz
// 2021, section 4 (uniform). The others are this project's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrival/trace.hpp"
#include "base/durations.hpp"

namespace convene::arrival {

/// What a pattern's text may begin with, and what follows.
struct PatternKind {
  std::string_view name;
  std::string_view parameters;  ///< as in "MEAN:DEVIATION"; empty where there are none
  std::string_view summary;
};

/// All kinds of patterns, in the order in which people should read them.
const std::vector<PatternKind>& pattern_kinds();

class Pattern {
 public:
  /// Everybody at once.
  Pattern() = default;

  /// Throws Error where the text is not a pattern; reads the file of "trace:FILE".
  static Pattern parse(std::string_view text);

  /// Each rank's delay at call number `call`, in nanoseconds. Equal seeds give equal delays, on all ranks and machines.
  /// Throws Error where the pattern does not fit so many processes (a rank that is not there, a trace of others).
  std::vector<Nanoseconds> delays(std::uint32_t procs, std::uint64_t seed = 0, std::uint64_t call = 0) const;

  /// After how many calls the delays come again: 1 where all calls are alike, the lines of a trace; 0: never, by chance.
  std::uint64_t period() const;

  /// What parse() makes this pattern of.
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
