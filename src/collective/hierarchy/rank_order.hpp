// SPDX-License-Identifier: BSD-3-Clause
// Orders of ranks for remapping: which rank an algorithm is to take for its number 0, 1, ….
#pragma once

#include "collective/core/composition.hpp"

namespace convene::collective {

enum class RankOrder : std::int64_t { sequential, cyclic, fitted };

/// The ranks by their new numbers. With a root, it is number 0, and its node comes first.
///
/// sequential: node after node. cyclic: from each node in turn one. fitted: the ranks of a node take numbers
/// that the part has exchange most, found greedily from its plan (O(P²) work); or sequential, cyclic or as
/// they are, if that sends less between nodes.
Ranks ordered_ranks(RankOrder order, const Call& call, const Spec& part);

/// How many places of a plan's messages go from node to node.
std::uint64_t places_between_nodes(const Plan& plan, const Ranks& rank_of_number,
                                   const std::vector<Rank>& nodes);

}  // namespace convene::collective
