// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical reduce: each node's contributions are combined at a leader, those of the nodes at the root,
// each by any reduce algorithm. With several leaders per node, each serves its lane, a part of the vector,
// and those on the root's node finally send theirs to the root.
//
// Source:   Träff and Hunold 2020 (lanes); Zhu et al. 2009 (one leader).
// Requires: the requirements of its parts on the numbers of nodes and of ranks per node; at least as many
//           ranks on each node as leaders. For an operator that does not commute: consecutive ranks on each
//           node.
// Cost:     the rounds of its parts, one more with several leaders; each node's sum leaves it once. A leader
//           stores a sum of its lane, and the extra memory of its parts.
#include "collective/hierarchy/reduce_in_node.hpp"

namespace convene::collective {

extern const Algorithm reduce_hier;

namespace {

void generate_reduce_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(reduce_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank own = nodes.own_lane();
  const bool leads = nodes.is_leader(), is_alone = nodes.own_members().size() == 1;
  const Embedding::Places sum = call.is_root()       ? at.lane(Buffer::output, own)
                                : leads && !is_alone ? at.scratch_of_lane(own)
                                                     : at.lane(Buffer::input, own);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    if (!is_alone || call.is_root())
      reduce_in_node(at, within, call, builder, lane, sum,
                     call.in_place && nodes.leader(nodes.own_node(), lane) == call.root);
  at.pass(within, Collective::reduce, Among::node, When::arrived);

  if (leads && nodes.nodes() > 1)
    at.run(between,
           {.collective = Collective::reduce,
            .ranks = nodes.leaders_of_lane(own),
            .root = nodes.root_node(),
            .in_place = true,  // its node's sum is in the place of the final one
            .input = {sum},
            .output = nodes.is_on_root_node() ? std::vector<Embedding::Places>{sum}
                                              : std::vector<Embedding::Places>{},
            .blocks = {at.lane(Buffer::output, own)}},
           When::node_arrived);
  at.pass(between, Collective::reduce, Among::nodes, When::node_arrived);

  if (!leads || !nodes.is_on_root_node()) return;
  builder.round(at.round());
  if (!call.is_root()) return builder.send(call.root, sum);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    if (lane != own) builder.recv(nodes.leader(nodes.root_node(), lane), at.lane(Buffer::output, lane));
}

constexpr PartSlot reduce_hier_parts[] = {
    {"between", "combines the partial results of the nodes", Collective::reduce, "binomial", Among::nodes},
    {"within", "reduction within a node", Collective::reduce, "linear", Among::node}};

constexpr Composition reduce_hier_composition = {
    .parts = reduce_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};
}  // namespace

extern constinit const Algorithm reduce_hier = {
    .name = "hier",
    .summary = "Leaders reduce within their nodes; the root reduces over the leaders.",
    .source = "Zhu et al. 2009; Träff and Hunold 2020",
    .collectives = {Collective::reduce},
    .rounds = "those of its parts, one more with several leaders",
    .parameters = hierarchy_parameters,
    .composition = &reduce_hier_composition,
    .generate = generate_reduce_hier,
};

}  // namespace convene::collective
