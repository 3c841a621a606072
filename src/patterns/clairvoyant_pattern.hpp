// SPDX-License-Identifier: BSD-3-Clause
// Clairvoyant's schedule: which rank sends which segment to whom in which round of a reduction, given when each rank comes.
//
// Source: Marendic et al. 2016, algorithm 1, with these corrections. Line 33 must say that the receiver holds the segment
// partly combined, M(i, j) = P. Lines 19 to 29 must end where no partner is left. And a rule is missing: a rank may not
// send a segment in the round in which it receives it, because it would send what it had before (without the rule, 64
// ranks and 4 segments take 8 rounds, which is below the bound of 9, and contributions are lost).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// In `round`, counted from the earliest arrival, `from` sends what it has of `segment` to `to`, which combines it with
/// what it has, or, where it has none of it any more, keeps it. In a round every rank sends at most once and receives at
/// most once.
struct SegmentTransfer {
  std::uint32_t round, from, to, segment;
};

/// All transfers, by round. `arrivals`, by rank, are in rounds after the earliest; empty: all at once. Deterministic: the
/// same on every rank. Takes time in proportion to procs · segments for balanced arrivals. Throws Error where the number
/// of arrivals is not that of the ranks.
std::vector<SegmentTransfer> clairvoyant_transfers(std::uint32_t procs, std::uint32_t segments,
                                                   std::uint32_t root,
                                                   std::span<const std::int32_t> arrivals = {});

}  // namespace convene::patterns
