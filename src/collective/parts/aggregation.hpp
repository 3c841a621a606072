// SPDX-License-Identifier: BSD-3-Clause
// The parameter "aggregation" of aggregated trees, and the blocks of their messages.
#pragma once

#include <algorithm>
#include <bit>

#include "collective/parts/partial.hpp"
#include "patterns/aggregated_trees.hpp"

namespace convene::collective {

inline constexpr Parameter aggregation_parameter = {
    .name = "aggregation",
    .summary =
        "the most blocks in a message, rounded down to a power of two; fewer need less memory and more "
        "rounds",
    .fallback = 1 << 20,
    .least = 1,
    .most = 1 << 20,
    .samples = {1, 2, 4, 1 << 20}};

inline std::vector<patterns::AggregatedRound> rounds_of_trees(const Call& call) {
  return patterns::aggregated_rounds(call.procs,
                                     std::bit_floor(static_cast<std::uint32_t>(call.parameters[0])));
}

/// The blocks of the ranks `offsets` below a rank, in ascending order of the offsets.
inline std::vector<Place> blocks_below(Rank rank, const patterns::AggregatedRound& round, Rank procs) {
  std::vector<Place> blocks;
  for (const Rank offset : round.offsets) blocks.push_back((rank + procs - offset) % procs);
  std::ranges::sort(blocks);
  return blocks;
}

}  // namespace convene::collective
