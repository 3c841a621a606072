// SPDX-License-Identifier: BSD-3-Clause
// List schedule of a reduction: the sender, receiver, segment and round of each message, for known arrivals
// and places. As in Clairvoyant's pattern, a receiver holds a part of the segment, which it combines.
//
// Design notes
// - The rank that has arrived last has priority, as a receiver and as a sender: it still has all of its
//   segments to send, one a round. (Clairvoyant has early ranks first. 64 ranks that arrive within 21 rounds
//   then take 47.8 rounds with 16 segments, and here 39.2; the bound is 36.)
// - The ranks of a node that are present combine their parts of a segment before one leaves the node. In a
//   round one message leaves each node, and one enters it. These have priority over messages within nodes.
// - The sink is the root, or until it arrives the first rank. It gives a part to a rank of its own node if
//   others hold parts, too: so these can receive what enters the node. Otherwise it keeps what it has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/layers.hpp"
#include "patterns/clairvoyant_pattern.hpp"

namespace convene::patterns {

/// All transfers, by round. `arrivals`, by rank, are in rounds; only differences matter; empty: all at once.
/// `nodes`, by rank: any numbers, the same for ranks that share a node; empty, one node, or one for each
/// rank: places do not matter. Deterministic: the same on every rank. O(procs · segments) for balanced
/// arrivals. Throws Error if the number of arrivals or nodes is not the number of ranks.
std::vector<SegmentTransfer> list_scheduled_reduction(std::uint32_t procs, std::uint32_t segments,
                                                      std::uint32_t root,
                                                      std::span<const std::int32_t> arrivals = {},
                                                      std::span<const std::uint32_t> nodes = {});

}  // namespace convene::patterns
