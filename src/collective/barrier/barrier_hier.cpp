// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical barrier: the ranks of a group on one node signal their leader, the leaders of all nodes
// synchronise by any barrier algorithm, and each then releases the ranks of its node.
//
// Source:   Zhu et al. 2009; signals are gathered and distributed like the blocks of a hierarchical
//           allgather.
// Requires: the requirements of its parts on the numbers of nodes and of ranks per node; at least as many
//           ranks on each node as leaders.
// Cost:     the rounds of its three parts. Several leaders do not make a barrier faster.
#include "collective/hierarchy/gather_by_nodes.hpp"

namespace convene::collective {

extern const Algorithm barrier_hier;

namespace {

void generate_barrier_hier(const Call& call, Builder& builder) {
  gather_by_nodes(barrier_hier, call, builder);
}

constexpr PartSlot barrier_hier_parts[] = {{"between", "barrier between the leaders of different nodes",
                                            Collective::barrier, "dissemination", Among::nodes},
                                           gather_slot,
                                           bcast_slot};

constexpr Composition barrier_hier_composition = {
    .parts = barrier_hier_parts,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
    .divides_nodes = divides_nodes,
    .shared_places = shared_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm barrier_hier = {
    .name = "hier",
    .summary =
        "Leaders collect the arrivals of their nodes, synchronise with each other, and release their ranks.",
    .source = "Zhu et al. 2009",
    .collectives = {Collective::barrier},
    .rounds = "those of its parts",
    .parameters = hierarchy_parameters,
    .composition = &barrier_hier_composition,
    .generate = generate_barrier_hier,
};

}  // namespace convene::collective
