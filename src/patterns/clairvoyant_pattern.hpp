// SPDX-License-Identifier: BSD-3-Clause
// The transfer pattern of the Clairvoyant reduction: the sender, receiver, segment and round of each message,
// for known arrivals.
//
// Source: Marendic et al. 2016, algorithm 1, with these corrections. Line 33 must say that the receiver holds
// the segment partly combined, M(i, j) = P. Lines 19 to 29 must end when no partner is left. A rule is
// missing: a rank must not send a segment in the round in which it receives it, because it would send the
// content before the round. Without the rule, 64 ranks and 4 segments take 8 rounds, below the bound of 9,
// and contributions are lost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// In `round`, counted from the earliest arrival, `from` sends its part of `segment` to `to`, which combines
/// it with its own part or, if it has sent that, keeps it. In a round every rank sends at most once and
/// receives at most once.
struct SegmentTransfer {
  std::uint32_t round, from, to, segment;
};

/// All transfers, by round. `arrivals`, by rank, are in rounds after the earliest; empty: all at once.
/// Deterministic: the same on every rank. O(procs · segments) for balanced arrivals. Throws Error if the
/// number of arrivals is not the number of ranks.
std::vector<SegmentTransfer> clairvoyant_transfers(std::uint32_t procs, std::uint32_t segments,
                                                   std::uint32_t root,
                                                   std::span<const std::int32_t> arrivals = {});

}  // namespace convene::patterns
