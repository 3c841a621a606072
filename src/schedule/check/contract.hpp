// SPDX-License-Identifier: BSD-3-Clause
// Contracts: what the buffers of all ranks hold before a collective, and what they must hold afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::schedule {

/// What a place holds: the identity of a block (or of a segment of one), the number of an expression of
/// contributions (schedule/check/contribution.hpp), or `nothing`.
using Content = std::int32_t;
inline constexpr Content nothing = -1;

/// One rank's input and output before the collective, and its output afterwards (`nothing`: any content).
struct RankContract {
  std::vector<Content> input, output, wanted;
};

/// Contents of a reduction. Content r * segments + s is rank r's contribution to segment s of the vector. As
/// a wanted content it is the sum of the contributions of ranks 0 … r to that segment, each exactly once.
struct Reduction {
  std::uint32_t segments = 0;    ///< places of the whole vector; 0: no reduction, contents are blocks
  bool in_order = false;         ///< the operator does not commute: contributions are combined in rank order
  bool same_expression = false;  ///< equal sums are equal expressions on all ranks, and so the same bits
};

/// The contract of a collective, by rank.
struct Contract : std::vector<RankContract> {
  using std::vector<RankContract>::vector;
  Reduction reduction = {};
};

}  // namespace convene::schedule
