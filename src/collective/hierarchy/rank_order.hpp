// SPDX-License-Identifier: BSD-3-Clause
// Rank orders for remapping: the ranks that an algorithm uses as its numbers 0, 1, ….
#pragma once

#include "collective/core/composition.hpp"

namespace convene::collective {

enum class RankOrder : std::int64_t { sequential, cyclic, fitted };

/// The ranks by their new numbers. With a root, the root is number 0, and its node is first.
///
/// sequential: node after node. cyclic: one rank from each node in turn. fitted: the ranks of a node get
/// numbers that exchange most in the part, found greedily from its plan (O(P²) work); or sequential, cyclic
/// or unchanged, if that sends less between nodes.
Ranks ordered_ranks(RankOrder order, const Call& call, const Spec& part);

/// Number of places that a plan's messages carry between nodes.
std::uint64_t places_between_nodes(const Plan& plan, const Ranks& rank_of_number,
                                   const std::vector<Rank>& nodes);

}  // namespace convene::collective
