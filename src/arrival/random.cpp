// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/random.hpp"

#include <cmath>

namespace convene::arrival {
namespace {

/// Spreads neighbouring numbers over all 64 bits (the finaliser of splitmix64, Steele et al. 2014).
std::uint64_t spread(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) : engine_(spread(spread(seed) + stream)) {}

double Random::uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

std::uint32_t Random::below(std::uint32_t end) {
  const std::uint64_t rest = (UINT64_MAX % end + 1) % end;  // rejecting the highest numbers avoids a bias
                                                            // towards small results
  std::uint64_t drawn = engine_();
  while (drawn > UINT64_MAX - rest) drawn = engine_();
  return static_cast<std::uint32_t>(drawn % end);
}

double Random::normal() {
  for (;;) {
    const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

double Random::exponential() { return -std::log(1 - uniform()); }

double Random::gamma(double shape) {
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(), root = 1 + c * x, v = root * root * root;
    if (v > 0 && std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace convene::arrival
