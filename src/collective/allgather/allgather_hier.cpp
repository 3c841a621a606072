// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical: the blocks of a group of ranks on one node are gathered at its leader, the leaders of all
// nodes exchange them by any allgather algorithm, and each leader distributes all blocks on its node.
//
// Source:   Kandalla et al. 2009 (several leaders a node, each with a group); Träff and Hunold 2020 (lanes).
// Requires: the requirements of its parts on the numbers of nodes and of ranks per node; at least as many
//           ranks on each node as leaders.
// Cost:     the rounds of its three parts; between nodes, each block goes to each other node once or, at
//           most, as often as in the part; extra memory only for the gather.
//
//            before      round 0     round 1     round 2     (linear within, ranks 0 1 and 2 3 share a node)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     * 1 . .     1 1 * .     1 1 1 *
//   block 2  . . 2 .     . . 2 .     * . 2 .     2 * 2 *
//   block 3  . . . 3     . . * 3     * . 3 3     3 * 3 3     (* arrives in this round)
//
//   P = 5 with rank 4 on a third node: its block needs no round 0, and it receives the others in round 1 (or
//   in more rounds).
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/hierarchy/gather_by_nodes.hpp"

namespace convene::collective {

extern const Algorithm allgather_hier;

namespace {

void generate_allgather_hier(const Call& call, Builder& builder) {
  gather_by_nodes(allgather_hier, call, builder);
}

constexpr PartSlot allgather_hier_parts[] = {{"between", "allgather between the leaders of different nodes",
                                              Collective::allgather, "sparbit", Among::nodes},
                                             gather_slot,
                                             bcast_slot};

constexpr Composition allgather_hier_composition = {
    .parts = allgather_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm allgather_hier = {
    .name = "hier",
    .summary =
        "Leaders gather the blocks of their nodes, exchange them, and broadcast the result within the nodes.",
    .source = "Kandalla et al. 2009; Träff and Hunold 2020",
    .collectives = allgathers,
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .composition = &allgather_hier_composition,
    .generate = generate_allgather_hier,
};

}  // namespace convene::collective
