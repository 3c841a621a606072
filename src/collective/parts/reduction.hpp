// SPDX-License-Identifier: BSD-3-Clause
// Reductions: the parameter "segments", and a numbering of ranks that keeps the order of contributions.
#pragma once

#include "collective/parts/partial.hpp"

namespace convene::collective {

constexpr Parameter segments_parameter(std::int64_t fallback) {
  return {.name = "segments",
          .summary = "number of segments of the vector",
          .fallback = fallback,
          .least = 1,
          .most = 65536,
          .samples = {1, 2, 3, 4, 7, 8, 16}};
}

/// Ranks as numbered in an algorithm whose result is at number 0. With a commutative operator, number 0 is
/// the root. Otherwise numbers are ranks, so that contributions are combined in rank order, and rank 0 sends
/// the result to the root.
struct Numbering {
  const Call& call;

  Rank own() const { return call.commutative ? call.relative() : call.rank; }
  Rank rank(Rank number) const { return call.commutative ? call.absolute(number) : number; }
  bool passes_on() const { return !call.commutative && call.root != 0; }

  /// Number 0 sends a place to the root.
  void pass_on(Partial& partial, Place place) const {
    if (!passes_on()) return;
    if (call.rank == 0) partial.send(call.root, place);
    if (call.is_root()) partial.replace(0, place);
  }
};

/// Options of algorithms with the result at the root: home is the output there.
inline Partial::Options to_root(const Call& call, std::uint32_t above) {
  return {.at_output = call.is_root(), .keeps_order = !call.commutative, .above = above};
}

}  // namespace convene::collective
