// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical allreduce: each node's contributions are combined at a leader, the leaders of all nodes
// combine these sums by any allreduce algorithm, and each leader distributes the result on its node. With
// several leaders per node, each serves its lane, a part of the vector.
//
// Source:   Träff and Hunold 2020 (lanes); Zhu et al. 2009 (one leader).
// Requires: the requirements of its parts on the numbers of nodes and of ranks per node; at least as many
//           ranks on each node as leaders. For an operator that does not commute: consecutive ranks on each
//           node.
// Cost:     the rounds of its three parts; the extra memory of its parts.
#include "collective/hierarchy/reduce_in_node.hpp"

namespace convene::collective {

extern const Algorithm allreduce_hier;

namespace {

void generate_allreduce_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(allreduce_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank own = nodes.own_lane();
  const Embedding::Places sum = at.lane(Buffer::output, own);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    reduce_in_node(at, up, call, builder, lane, at.lane(Buffer::output, lane), call.in_place);
  at.pass(up, Collective::reduce, Among::node, When::arrived);

  if (nodes.is_leader() && nodes.nodes() > 1)
    at.run(between,
           {.collective = Collective::allreduce,
            .ranks = nodes.leaders_of_lane(own),
            .in_place = true,
            .input = {sum},
            .output = {sum},
            .blocks = {sum}},
           When::node_arrived);
  at.pass(between, Collective::allreduce, Among::nodes, When::node_arrived);

  const Ranks& members = nodes.own_members();
  for (Rank lane = 0; lane < nodes.lanes() && members.size() > 1; ++lane)
    at.run(down, {.collective = Collective::bcast,
                  .ranks = members,
                  .root = number_in(members, nodes.leader(nodes.own_node(), lane)),
                  .output = {at.lane(Buffer::output, lane)},
                  .blocks = {at.lane(Buffer::output, lane)}});
}

constexpr PartSlot allreduce_hier_parts[] = {
    {"between", "combines the partial results of the nodes", Collective::allreduce, "recursive_doubling",
     Among::nodes},
    {"reduce", "reduction within a node", Collective::reduce, "linear", Among::node},
    {"bcast", "broadcast of the result within a node", Collective::bcast, "linear", Among::node}};

constexpr Composition allreduce_hier_composition = {
    .parts = allreduce_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm allreduce_hier = {
    .name = "hier",
    .summary =
        "Leaders reduce within their nodes, combine their results, and broadcast them within the nodes.",
    .source = "Zhu et al. 2009; Träff and Hunold 2020",
    .collectives = {Collective::allreduce},
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .composition = &allreduce_hier_composition,
    .generate = generate_allreduce_hier,
};

}  // namespace convene::collective
