// SPDX-License-Identifier: BSD-3-Clause
// Circulant graphs: their skips, which are P halved again and again, rounded up, and the reduce-scatter over
// them.
#pragma once

#include <algorithm>
#include <vector>

#include "collective/parts/partial.hpp"

namespace convene::collective {

/// 1, …, ⌈⌈P/2⌉/2⌉, ⌈P/2⌉, P: ⌈log₂P⌉ skips below P. A skip is at least half of the next one.
inline std::vector<Rank> circulant_skips(Rank procs) {
  std::vector<Rank> skips = {procs};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  std::ranges::reverse(skips);
  return skips;
}

/// The places first, first + 1, …, modulo P.
inline std::vector<Place> places_upwards(Place first, std::uint32_t count, Rank procs) {
  std::vector<Place> places = run_of_places(first, count);
  for (Place& place : places) place %= procs;
  return places;
}

/// Leaves each rank with the sum of its own block. Returns the number of rounds.
inline std::uint32_t circulant_reduce_scatter(const Call& call, Builder& builder, Partial& partial) {
  const std::vector<Rank> skips = circulant_skips(call.procs);
  std::uint32_t round = 0;
  for (std::size_t i = skips.size() - 1; i > 0; --i, ++round) {
    const Rank skip = skips[i - 1], count = skips[i] - skip;
    builder.round(round);
    partial.send(call.up(skip), places_upwards(call.up(skip), count, call.procs));
    partial.take(call.down(skip), places_upwards(call.rank, count, call.procs), OperandOrder::above);
  }
  return round;
}

}  // namespace convene::collective
