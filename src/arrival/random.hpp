// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are equal on every machine: the standard specifies std::mt19937_64, but not the
// algorithms of its distributions.
#pragma once

#include <cstdint>
#include <random>

#include "base/layers.hpp"

namespace convene::arrival {

class Random {
 public:
  /// Streams of different numbers are practically independent.
  Random(std::uint64_t seed, std::uint64_t stream);

  double uniform();                        ///< in [0, 1), a multiple of 2^-53
  std::uint32_t below(std::uint32_t end);  ///< 0 … end − 1, all equally likely; `end` at least 1
  double normal();                         ///< mean 0, standard deviation 1 (Marsaglia's polar method)
  double exponential();                    ///< mean 1
  double gamma(double shape);              ///< scale 1; shape above 0 (Marsaglia and Tsang 2000)

 private:
  std::mt19937_64 engine_;
};

}  // namespace convene::arrival
