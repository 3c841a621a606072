// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical allgathers and barriers: blocks, or zero-byte messages, go up to leaders, between nodes, and
// down.
#pragma once

#include "collective/hierarchy/hierarchy.hpp"

namespace convene::collective {

/// Adds one rank's steps of an algorithm whose parts are between nodes, up and down.
inline void gather_by_nodes(const Algorithm& algorithm, const Call& call, Builder& builder) {
  HierarchicalCall at(algorithm, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Ranks group = nodes.group(nodes.own_node(), nodes.own_lane());
  const Rank leader = nodes.leader(nodes.own_node(), nodes.own_lane());
  const bool leads = nodes.is_leader();
  const auto own = at.own(Buffer::input), all = at.all(Buffer::output);

  if (group.size() > 1)
    at.run(up,
           {.collective = Collective::gather,
            .ranks = group,
            .root = number_in(group, leader),
            .input = {at.block(own, call.rank)},
            .output = leads ? at.each(all, group) : std::vector<Embedding::Places>{},
            .blocks = at.each(all, group)},
           When::arrived);
  if (!leads || group.size() == 1) builder.copy(at.block(own, call.rank), at.block(all, call.rank));
  at.pass(up, Collective::gather, Among::group, When::arrived);

  const Collective part = algorithm.composition->parts[between].collective;
  if (leads && nodes.nodes() > 1)
    at.run(between,
           {.collective = part,
            .ranks = nodes.leaders_of_lane(nodes.own_lane()),
            .input = {at.blocks(all, group)},
            .output = at.by_node(all, nodes.own_lane()),
            .blocks = at.by_node(all, nodes.own_lane())},
           When::node_arrived);
  at.pass(between, part, Among::nodes, When::node_arrived);

  const Ranks& members = nodes.own_members();
  for (Rank lane = 0; lane < nodes.lanes() && members.size() > 1; ++lane)
    at.run(down, {.collective = Collective::bcast,
                  .ranks = members,
                  .root = number_in(members, nodes.leader(nodes.own_node(), lane)),
                  .output = {at.blocks(all, nodes.ranks_of_lane(lane))},
                  .blocks = {at.blocks(all, nodes.ranks_of_lane(lane))},
                  .has = [&](Rank rank, const Range& places) {  // no rank needs its own block
                    return places.first / at.segments() == members[rank];
                  }});
}

inline constexpr PartSlot gather_slot = {"gather", "gather to the leader within its group",
                                         Collective::gather, "linear", Among::group};
inline constexpr PartSlot bcast_slot = {"bcast", "broadcast by the leader within its node", Collective::bcast,
                                        "linear", Among::node};

}  // namespace convene::collective
