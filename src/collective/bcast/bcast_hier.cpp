// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical bcast: the vector goes from the root to a leader on each node, and from there to the ranks of
// the node, each by any bcast algorithm. With several leaders per node, the root's node receives the whole
// vector first. Then each leader there sends its lane, a part of the vector, to a leader on each other node,
// which distributes it.
//
// Source:   Graham et al. 2011 (Cheetah: one leader); Träff and Hunold 2020 (lanes).
// Requires: the requirements of its parts on the numbers of nodes and of ranks per node; at least as many
//           ranks on each node as leaders.
// Cost:     the rounds of its parts; the vector enters each node once. No extra memory.
#include "collective/hierarchy/hierarchy.hpp"

namespace convene::collective {

extern const Algorithm bcast_hier;

namespace {

void generate_bcast_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(bcast_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Ranks& members = nodes.own_members();
  const Embedding::Places vector = {Range(Buffer::output, 0, at.segments())};
  const auto hand_on = [&](Rank root, const Embedding::Places& what) {
    if (members.size() > 1)
      at.run(within,
             {.collective = Collective::bcast,
              .ranks = members,
              .root = number_in(members, root),
              .output = {what},
              .blocks = {what}},
             When::arrived);
  };
  const bool root_node_first = nodes.lanes() > 1;

  if (root_node_first && nodes.is_on_root_node()) hand_on(call.root, vector);
  if (root_node_first) {
    const Ranks& first = nodes.members(nodes.root_node());
    at.pass(within, Collective::bcast, first, number_in(first, call.root));
  }
  if (nodes.is_leader() && nodes.nodes() > 1) {
    const Embedding::Places lane = at.lane(Buffer::output, nodes.own_lane());
    at.run(between,
           {.collective = Collective::bcast,
            .ranks = nodes.leaders_of_lane(nodes.own_lane()),
            .root = nodes.root_node(),
            .output = {lane},
            .blocks = {lane}},
           When::arrived);
  }
  at.pass(between, Collective::bcast, Among::nodes, When::arrived);
  if (root_node_first && nodes.is_on_root_node()) return;
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    hand_on(nodes.leader(nodes.own_node(), lane), at.lane(Buffer::output, lane));
}

constexpr PartSlot bcast_hier_parts[] = {
    {"between", "broadcast to a leader on each node", Collective::bcast, "binomial", Among::nodes},
    {"within", "broadcast within a node", Collective::bcast, "linear", Among::node}};

constexpr Composition bcast_hier_composition = {
    .parts = bcast_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm bcast_hier = {
    .name = "hier",
    .summary = "The root broadcasts to the leaders of all nodes; each leader broadcasts within its node.",
    .source = "Graham et al. 2011; Träff and Hunold 2020",
    .collectives = {Collective::bcast},
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .composition = &bcast_hier_composition,
    .generate = generate_bcast_hier,
};

}  // namespace convene::collective
