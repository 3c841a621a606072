// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical scatter: the root sends the blocks of each lane to a leader on its node, these send those of
// each group to its leader, and that to the ranks of its group, each by any scatter algorithm.
//
// Source:   Kandalla et al. 2009 (leaders and groups); Träff and Hunold 2020 (lanes).
// Requires: at least as many ranks on each node as leaders.
// Cost:     the rounds of its parts; each block leaves the root's node once. A leader stores its group's
//           blocks; one on the root's node stores its lane's.
#include "collective/hierarchy/hierarchy.hpp"
#include "collective/parts/rooted.hpp"

namespace convene::collective {

extern const Algorithm scatter_hier;

namespace {

void generate_scatter_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(scatter_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank lane = nodes.own_lane();
  const Ranks group = nodes.group(nodes.own_node(), lane);
  const Ranks leaders = nodes.leaders_of_lane(lane);
  const bool leads = nodes.is_leader(), is_alone = group.size() == 1;
  const bool distributes = leads && nodes.is_on_root_node() && nodes.nodes() > 1;
  const auto sizes = at.all(Buffer::input);  // a place of each block's size, even without such a buffer

  // Where a leader holds its lane's blocks, and later those of its group.
  const HierarchicalCall::Held own = at.own(Buffer::output);
  const HierarchicalCall::Held lanes = call.is_root() ? sizes
                                       : distributes  ? at.scratch(nodes.ranks_of_lane(lane))
                                                      : own;
  const HierarchicalCall::Held groups = call.is_root() || distributes ? lanes
                                        : leads && !is_alone          ? at.scratch(group)
                                                                      : own;

  const Ranks first = nodes.leaders_of_node(nodes.root_node());
  if (leads && nodes.is_on_root_node() && first.size() > 1)
    at.run(within, {.collective = Collective::scatter,
                    .ranks = first,
                    .root = number_in(first, call.root),
                    .input = call.is_root() ? at.by_lane(lanes) : std::vector<Embedding::Places>{},
                    .output = {at.blocks(distributes ? lanes : groups, nodes.ranks_of_lane(lane))},
                    .blocks = at.by_lane(sizes)});
  if (first.size() > 1) at.pass(within, Collective::scatter, first, number_in(first, call.root));

  if (leads && nodes.nodes() > 1)
    at.run(between,
           {.collective = Collective::scatter,
            .ranks = leaders,
            .root = nodes.root_node(),
            .input = distributes ? at.by_node(lanes, lane) : std::vector<Embedding::Places>{},
            .output = {at.blocks(groups, group)},
            .blocks = at.by_node(sizes, lane)},
           When::arrived);
  at.pass(between, Collective::scatter, Among::nodes, When::arrived);

  if (!is_alone)
    at.run(within,
           {.collective = Collective::scatter,
            .ranks = group,
            .root = number_in(group, nodes.leader(nodes.own_node(), lane)),
            .input = leads ? at.each(groups, group) : std::vector<Embedding::Places>{},
            .output = {at.block(own, call.rank)},
            .blocks = at.each(sizes, group)},
           When::arrived);
  else
    builder.copy(at.block(groups, call.rank), at.block(own, call.rank));
}

constexpr PartSlot scatter_hier_parts[] = {
    {"between", "scatter between the leaders of different nodes", Collective::scatter, "binomial",
     Among::nodes},
    {"within", "scatter by the leader within its group", Collective::scatter, "linear", Among::group}};

constexpr Composition scatter_hier_composition = {
    .parts = scatter_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm scatter_hier = {
    .name = "hier",
    .summary = "The root scatters to the leaders; each leader scatters within its node.",
    .source = "Kandalla et al. 2009; Träff and Hunold 2020",
    .collectives = scatters,
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .relays = true,
    .composition = &scatter_hier_composition,
    .generate = generate_scatter_hier,
};

}  // namespace convene::collective
