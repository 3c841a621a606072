// SPDX-License-Identifier: BSD-3-Clause
// Common part of the sorted scatters: the order in which the root serves the ranks.
#pragma once

#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {

/// The root's sends in the order in which the others are expected; ranks expected together from the root
/// upwards.
inline void scatter_in_turn(const Call& call, Builder& builder, Begins begins) {
  const std::vector<Rank> order = others_in_expected_order(call);
  if (call.is_root()) {
    for (Rank turn = 0; turn < order.size(); ++turn) {
      builder.round(turn);
      builder.send(order[turn], all_blocks(call, order[turn], 1));
    }
    return builder.copy(all_blocks(call, call.rank, 1), own_block(call));
  }
  builder.round(static_cast<std::uint32_t>(std::ranges::find(order, call.rank) - order.begin()));
  if (begins == Begins::at_call) return builder.recv(call.root, own_block(call));
  const Place sized_like[] = {call.rank};
  const Range staged(builder.scratch(sized_like), 0);
  builder.recv(call.root, staged);
  builder.copy(staged, own_block(call));
}

/// The positions of a binomial tree: those that receive first are first, and of these those with the largest
/// subtrees. A late rank should have no rank below it, and should delay no other send of its parent.
inline std::vector<Rank> by_round_of_hearing(Rank procs) {
  std::vector<TreeNode> nodes;
  for (Rank position = 0; position < procs; ++position) nodes.push_back(binomial_node(position, procs));
  std::vector<Rank> positions(procs);
  for (Rank position = 0; position < procs; ++position) positions[position] = position;
  std::stable_sort(positions.begin(), positions.end(), [&](Rank a, Rank b) {
    return nodes[a].round != nodes[b].round ? nodes[a].round < nodes[b].round
                                            : nodes[a].subtree > nodes[b].subtree;
  });
  return positions;
}

inline void scatter_sorted_binomial(const Call& call, Builder& builder, Begins begins) {
  on_positions(ranks_at(by_round_of_hearing(call.procs), call), call, builder,
               [&](const Call& inner) { scatter_down(knomial_split(1), inner, builder, begins); });
}

}  // namespace convene::collective
