// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/aggregated_trees.hpp"

#include <algorithm>
#include <bit>

namespace convene::patterns {
namespace {

/// Of `procs` ranks, those at `base`, base + stride, … whose rank `distance` above exists.
AggregatedRound round_of(std::uint32_t procs, std::uint32_t distance, std::uint32_t base,
                         std::uint32_t stride) {
  AggregatedRound round{.distance = distance};
  for (std::uint32_t offset = base; offset + distance < procs; offset += stride)
    round.offsets.push_back(offset);
  return round;
}

/// The edges of the tree of `size` ranks below `top`, to the farthest child and its subtree first.
void pass_down(std::uint32_t procs, std::uint32_t top, std::uint32_t size, std::uint32_t stride,
               std::vector<AggregatedRound>& rounds) {
  for (std::uint32_t distance = size / 2; distance > 0; distance /= 2) {
    rounds.push_back(round_of(procs, distance, top, stride));
    pass_down(procs, top + distance, distance, stride, rounds);
  }
}

}  // namespace

std::vector<AggregatedRound> aggregated_rounds(std::uint32_t procs, std::uint32_t aggregation) {
  const std::uint32_t whole = std::bit_ceil(procs);
  const std::uint32_t together = std::min(aggregation, std::max(whole / 2, 1u));
  const std::uint32_t stride = whole / together;  // of the ranks that have a block before the near rounds
  std::vector<AggregatedRound> rounds;
  for (std::uint32_t distance = whole / 2; distance >= stride; distance /= 2)
    rounds.push_back(round_of(procs, distance, 0, 2 * distance));
  pass_down(procs, 0, stride, stride, rounds);
  std::erase_if(rounds, [](const AggregatedRound& round) { return round.offsets.empty(); });
  return rounds;
}

}  // namespace convene::patterns
