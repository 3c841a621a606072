// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical reduces and allreduces: combining the contributions of a node's ranks.
#pragma once

#include "collective/hierarchy/hierarchy.hpp"

namespace convene::collective {

/// Reduces this node's contributions to a lane. Part number `slot` of the composition is the algorithm. The
/// result is in `sum` at the lane's leader.
inline void reduce_in_node(HierarchicalCall& at, std::size_t slot, const Call& call, Builder& builder,
                           Rank lane, const Embedding::Places& sum, bool in_place) {
  const Hierarchy& nodes = at.nodes();
  const Ranks& members = nodes.own_members();
  const Embedding::Places mine = at.lane(Buffer::input, lane);
  if (members.size() == 1) return builder.copy(mine, sum);
  const Rank leader = nodes.leader(nodes.own_node(), lane);
  at.run(
      slot,
      {.collective = Collective::reduce,
       .ranks = members,
       .root = number_in(members, leader),
       .in_place = in_place,
       .input = {mine},
       .output = leader == call.rank ? std::vector<Embedding::Places>{sum} : std::vector<Embedding::Places>{},
       .blocks = {at.lane(Buffer::output, lane)}},
      When::arrived);
}

}  // namespace convene::collective
