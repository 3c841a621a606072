// SPDX-License-Identifier: BSD-3-Clause
// Noise: random delays of a rank's processor, as an operating system causes them. Each job (a send, a
// receive, a copy) takes longer by a random time.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::simulate {

enum class NoiseKind : std::uint8_t {
  none,
  exponential,  ///< `mean` seconds
  pareto,       ///< heavy-tailed: `mean` seconds, P(X > x) falls as x^−`shape`
  bernoulli,    ///< `mean` seconds with probability `shape`, otherwise 0
};

struct Noise {
  NoiseKind kind = NoiseKind::none;
  double mean = 0;   ///< seconds, 0 or more
  double shape = 0;  ///< pareto: above 1; bernoulli: 0 … 1
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  ///< selects one of the independent sequences of a seed

  /// Throws Error if a number is out of range.
  void validate() const;
};

/// Draws noise from one stream per rank: a rank's noise does not depend on the order of events on other
/// ranks.
class NoiseSource {
 public:
  NoiseSource(const Noise& noise, Rank procs);

  /// The delay of the rank's next job in seconds.
  double draw(Rank rank) { return state_.empty() ? 0 : next(state_[rank]); }

 private:
  double next(std::uint64_t& state) const;

  const Noise noise_;
  std::vector<std::uint64_t> state_;  // by rank; empty without noise
};

/// Numbers from [0, 1) that depend on the seed and the stream of a noise, whatever its kind.
class RandomPhases {
 public:
  explicit RandomPhases(const Noise& noise);
  double next();

 private:
  std::uint64_t state_;
};

}  // namespace convene::simulate
