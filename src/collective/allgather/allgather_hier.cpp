// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical: the blocks of a group of ranks of one node go up to its leader, the leaders of all nodes gather them by
// any allgather algorithm, and each leader hands down to its node what it has then.
//
// Source:   Kandalla et al. 2009 (several leaders a node, each with a group); Träff and Hunold 2020 (lanes).
// Requires: what its parts require of the numbers of nodes and of ranks on a node; on each node as many ranks as leaders.
// Cost:     the rounds of its three parts; between nodes, each block goes to each other node once or, at most, as often as
//           the part says; no extra memory, but what the gather needs.
//
//            before      round 0     round 1     round 2     (linear within, ranks 0 1 and 2 3 share a node)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     * 1 . .     1 1 * .     1 1 1 *
//   block 2  . . 2 .     . . 2 .     * . 2 .     2 * 2 *
//   block 3  . . . 3     . . * 3     * . 3 3     3 * 3 3     (* arrives in this round)
//
//   P = 5 with rank 4 on a third node: its block needs no round 0, and it gets the others' in round 1 (or more rounds).
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/hierarchy.hpp"

namespace convene {

extern const Algorithm allgather_hier, barrier_hier;

namespace {

enum Slot : std::size_t { between, up, down };

/// Tokens of a barrier are blocks, too.
void generate(const Call& call, Builder& builder, const Algorithm& algorithm) {
  HierarchicalCall at(algorithm, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Ranks group = nodes.group(nodes.own_node(), nodes.own_lane());
  const Rank leader = nodes.leader(nodes.own_node(), nodes.own_lane());
  const bool leads = nodes.is_leader();
  const auto own = at.own(Buffer::input), all = at.all(Buffer::output);

  if (group.size() > 1)
    at.run(up, {.collective = Collective::gather,
                .ranks = group,
                .root = number_in(group, leader),
                .input = {at.block(own, call.rank)},
                .output = leads ? at.each(all, group) : std::vector<View::Places>{},
                .blocks = at.each(all, group)});
  if (!leads || group.size() == 1) builder.copy(at.block(own, call.rank), at.block(all, call.rank));
  at.pass(up, Collective::gather, Among::group);

  const Collective part = algorithm.composition->parts[between].collective;
  if (leads && nodes.nodes() > 1)
    at.run(between, {.collective = part,
                     .ranks = nodes.leaders_of_lane(nodes.own_lane()),
                     .input = {at.blocks(all, group)},
                     .output = at.by_node(all, nodes.own_lane()),
                     .blocks = at.by_node(all, nodes.own_lane())});
  at.pass(between, part, Among::nodes);

  const Ranks& members = nodes.own_members();
  for (Rank lane = 0; lane < nodes.lanes() && members.size() > 1; ++lane)
    at.run(down, {.collective = Collective::bcast,
                  .ranks = members,
                  .root = number_in(members, nodes.leader(nodes.own_node(), lane)),
                  .output = {at.blocks(all, nodes.ranks_of_lane(lane))},
                  .blocks = {at.blocks(all, nodes.ranks_of_lane(lane))},
                  .has = [&](Rank rank, const Range& places) {  // nobody needs its own block
                    return places.first / at.segments() == members[rank];
                  }});
}

const PartSlot gathering = {"gather", "how a group's blocks come to its leader", Collective::gather, "linear",
                            Among::group};
const PartSlot handing_down = {"bcast", "how a leader hands on what it has to its node", Collective::bcast,
                               "linear", Among::node};

const Composition of_allgather = {
    .parts = {{"between", "how leaders of different nodes gather blocks", Collective::allgather, "sparbit",
               Among::nodes},
              gathering,
              handing_down},
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
};
const Composition of_barrier = {
    .parts = {{"between", "how leaders of different nodes wait for each other", Collective::barrier,
               "dissemination", Among::nodes},
              gathering,
              handing_down},
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
};

}  // namespace

extern const Algorithm allgather_hier = {
    .name = "hier",
    .summary =
        "Blocks go up to node leaders, between nodes among leaders, and down again, each by an algorithm.",
    .source = "Kandalla et al. 2009; Träff and Hunold 2020",
    .collectives = allgathers,
    .rounds = "those of its parts",
    .parameters = {leaders_parameter},
    .composition = &of_allgather,
    .generate = [](const Call& call, Builder& builder) { generate(call, builder, allgather_hier); },
};

extern const Algorithm barrier_hier = {
    .name = "hier",
    .summary =
        "Signals go up to node leaders, between nodes among leaders, and down again, each by an algorithm.",
    .source = "Kandalla et al. 2009",
    .collectives = {Collective::barrier},
    .rounds = "those of its parts",
    .parameters = {leaders_parameter},
    .composition = &of_barrier,
    .generate = [](const Call& call, Builder& builder) { generate(call, builder, barrier_hier); },
};

}  // namespace convene
