// SPDX-License-Identifier: BSD-3-Clause
// Linear program: the minimum of a weighted sum over values that bound each other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::model {

/// factor · x[left] ≤ bound · x[right]
struct HalfSpace {
  std::size_t left;
  double factor;
  std::size_t right;
  double bound;
};

/// The least Σ weights[i]·x[i] over 0 ≤ x ≤ 1 within all half-spaces, in units of the largest weight: 0 if no
/// x of the cone makes the sum negative. (Simplex with Bland's rule, which cannot cycle; for some tens of
/// variables.)
double least_in_cone(std::span<const double> weights, std::span<const HalfSpace> cone);

}  // namespace convene::model
