// SPDX-License-Identifier: BSD-3-Clause
// Noise: what holds up a rank's processor, as an operating system does. Each piece of its work (a send, a receive, a copy)
// takes longer by a random time.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::simulate {

enum class NoiseKind : std::uint8_t {
  none,
  exponential,  ///< `mean` seconds
  pareto,       ///< heavy-tailed: `mean` seconds, P(X > x) falls as x^−`shape`
  bernoulli,    ///< `mean` seconds, with a probability of `shape`; else none
};

struct Noise {
  NoiseKind kind = NoiseKind::none;
  double mean = 0;   ///< seconds from 0 on
  double shape = 0;  ///< pareto: above 1; bernoulli: 0 … 1
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  ///< of the seed: each is a series of its own

  /// Throws Error where a number does not fit.
  void validate() const;
};

/// Draws it, for every rank from a stream of its own: what a rank gets does not depend on what others do meanwhile.
class NoiseSource {
 public:
  NoiseSource(const Noise& noise, Rank procs);

  /// Seconds that the rank's next piece of work takes longer.
  double draw(Rank rank) { return state_.empty() ? 0 : next(state_[rank]); }

 private:
  double next(std::uint64_t& state) const;

  const Noise noise_;
  std::vector<std::uint64_t> state_;  // by rank; none without noise
};

}  // namespace convene::simulate
