// SPDX-License-Identifier: BSD-3-Clause
// Aggregated trees: P binomial broadcasts at once, one per block, over distances that fall. Rounds over far
// distances carry few blocks. Near ones are cut into as many rounds as a limit on the blocks of a message
// requires.
#pragma once

#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// One message of every rank: the rank `distance` above receives the blocks of the ranks `offsets` below the
/// sender.
struct AggregatedRound {
  std::uint32_t distance = 0;
  std::vector<std::uint32_t> offsets;
};

/// The rounds of an allgather of `procs` ranks with at most `aggregation` blocks in a message, a power of
/// two.
///
/// With A = aggregation and N = P rounded up to a power of two: log₂A rounds over the distances N/2, …, N/A,
/// each for all ranks that have the block; then N/A − 1 rounds that pass the blocks down the trees of N/A
/// ranks between them, an edge of all trees a round, depth first and far children first. At most N/2 blocks
/// are ever in a message, and a larger limit is as that.
std::vector<AggregatedRound> aggregated_rounds(std::uint32_t procs, std::uint32_t aggregation);

}  // namespace convene::patterns
