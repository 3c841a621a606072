// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical barrier: the ranks of a group of one node signal to its leader, the leaders of all nodes wait
// for each other by any barrier algorithm, and each then lets the ranks of its node go.
//
// Source:   Zhu et al. 2009; the signals are gathered and handed down as blocks are in a hierarchical
//           allgather.
// Requires: what its parts require of the numbers of nodes and of ranks on a node; on each node as many ranks
//           as leaders.
// Cost:     the rounds of its three parts. Several leaders let a barrier take no less time.
#include "collective/hierarchy/gather_by_nodes.hpp"

namespace convene::collective {

extern const Algorithm barrier_hier;

namespace {

void generate(const Call& call, Builder& builder) { gather_by_nodes(barrier_hier, call, builder); }

constexpr PartSlot slots[] = {{"between", "how leaders of different nodes wait for each other",
                               Collective::barrier, "dissemination", Among::nodes},
                              gather_slot,
                              bcast_slot};

constexpr Composition composition = {
    .parts = slots,
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm barrier_hier = {
    .name = "hier",
    .summary =
        "Signals go up to node leaders, between nodes among leaders, and down again, each by an algorithm.",
    .source = "Zhu et al. 2009",
    .collectives = {Collective::barrier},
    .rounds = "those of its parts",
    .parameters = only(leaders_parameter),
    .composition = &composition,
    .generate = generate,
};

}  // namespace convene::collective
