// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical gather: the blocks of a group of ranks on one node are gathered at its leader, those of a
// lane's groups at its leader on the root's node, and from there at the root, each by any gather algorithm.
//
// Source:   Kandalla et al. 2009 (leaders and groups); Träff and Hunold 2020 (lanes).
// Requires: at least as many ranks on each node as leaders.
// Cost:     the rounds of its parts; each block enters the root's node once. A leader stores its group's
//           blocks; one on the root's node stores its lane's.
#include "collective/hierarchy/hierarchy.hpp"
#include "collective/parts/rooted.hpp"

namespace convene::collective {

extern const Algorithm gather_hier;

namespace {

void generate_gather_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(gather_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank lane = nodes.own_lane();
  const Ranks group = nodes.group(nodes.own_node(), lane);
  const Ranks leaders = nodes.leaders_of_lane(lane);
  const bool leads = nodes.is_leader(), collects = leads && nodes.is_on_root_node() && nodes.nodes() > 1;
  const auto sizes = at.all(Buffer::output);  // a place of each block's size, even without such a buffer

  // Where a leader holds its group's blocks, and later those of its lane.
  const HierarchicalCall::Held own = at.own(Buffer::input);
  const HierarchicalCall::Held lanes = call.is_root() ? sizes
                                       : collects     ? at.scratch(nodes.ranks_of_lane(lane))
                                                      : own;
  const bool is_alone = group.size() == 1;
  const HierarchicalCall::Held groups = call.is_root() || (collects && !is_alone) ? lanes
                                        : leads && !is_alone                      ? at.scratch(group)
                                                                                  : own;
  if (!is_alone)
    at.run(within,
           {.collective = Collective::gather,
            .ranks = group,
            .root = number_in(group, nodes.leader(nodes.own_node(), lane)),
            .input = {at.block(own, call.rank)},
            .output = leads ? at.each(groups, group) : std::vector<Embedding::Places>{},
            .blocks = at.each(sizes, group)},
           When::arrived);
  else if (call.is_root())
    builder.copy(at.block(own, call.rank), at.block(groups, call.rank));
  at.pass(within, Collective::gather, Among::group, When::arrived);

  if (leads && nodes.nodes() > 1)
    at.run(between,
           {.collective = Collective::gather,
            .ranks = leaders,
            .root = nodes.root_node(),
            .input = {at.blocks(groups, group)},
            .output = collects ? at.by_node(lanes, lane) : std::vector<Embedding::Places>{},
            .blocks = at.by_node(sizes, lane)},
           When::node_arrived);
  at.pass(between, Collective::gather, Among::nodes, When::node_arrived);

  const Ranks last = nodes.leaders_of_node(nodes.root_node());
  if (leads && nodes.is_on_root_node() && last.size() > 1)
    at.run(within, {.collective = Collective::gather,
                    .ranks = last,
                    .root = number_in(last, call.root),
                    .input = {at.blocks(collects ? lanes : groups, nodes.ranks_of_lane(lane))},
                    .output = call.is_root() ? at.by_lane(lanes) : std::vector<Embedding::Places>{},
                    .blocks = at.by_lane(sizes)});
}

constexpr PartSlot gather_hier_parts[] = {
    {"between", "gather between the leaders of different nodes", Collective::gather, "binomial",
     Among::nodes},
    {"within", "gather to the leader within its group", Collective::gather, "linear", Among::group}};

constexpr Composition gather_hier_composition = {
    .parts = gather_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm gather_hier = {
    .name = "hier",
    .summary = "Leaders gather the blocks of their nodes; the root gathers from the leaders.",
    .source = "Kandalla et al. 2009; Träff and Hunold 2020",
    .collectives = gathers,
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .relays = true,
    .composition = &gather_hier_composition,
    .generate = generate_gather_hier,
};

}  // namespace convene::collective
