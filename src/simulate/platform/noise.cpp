// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/noise.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace convene::simulate {
namespace {

/// One step of splitmix64 (Steele, Lea and Flood 2014): eight bytes of state per rank, for a million ranks.
std::uint64_t step(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// In (0, 1].
double uniform(std::uint64_t& state) { return 1 - static_cast<double>(step(state) >> 11) * 0x1p-53; }

}  // namespace

void Noise::validate() const {
  if (!std::isfinite(mean) || mean < 0) throw Error(fmt::format("noise must be 0 s or more, not {} s", mean));
  if (kind == NoiseKind::pareto && !(shape > 1 && std::isfinite(shape)))
    throw Error(fmt::format("Pareto noise needs a finite shape above 1, not {}", shape));
  if (kind == NoiseKind::bernoulli && !(shape >= 0 && shape <= 1))
    throw Error(fmt::format("the probability of noise must be from 0 to 1, not {}", shape));
}

NoiseSource::NoiseSource(const Noise& noise, Rank procs) : noise_(noise) {
  noise.validate();
  if (noise.kind == NoiseKind::none) return;
  state_.resize(procs);
  // Distant initial states: outputs of the same generator.
  std::uint64_t seed = noise.seed;
  seed = step(seed) + noise.stream;
  for (std::uint64_t& state : state_) state = step(seed);
}

double NoiseSource::next(std::uint64_t& state) const {
  const double drawn = uniform(state);
  switch (noise_.kind) {
    case NoiseKind::exponential:
      return -noise_.mean * std::log(drawn);
    case NoiseKind::pareto:
      return noise_.mean * (noise_.shape - 1) / noise_.shape * std::pow(drawn, -1 / noise_.shape);
    case NoiseKind::bernoulli:
      return drawn <= noise_.shape ? noise_.mean : 0;
    case NoiseKind::none:
      break;
  }
  return 0;
}

RandomPhases::RandomPhases(const Noise& noise) : state_(noise.seed) {
  constexpr std::uint64_t apart_from_noise = 0x5bf03635u;
  state_ = step(state_) + noise.stream + apart_from_noise;
}

double RandomPhases::next() { return static_cast<double>(step(state_) >> 11) * 0x1p-53; }

}  // namespace convene::simulate
