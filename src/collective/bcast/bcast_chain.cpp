// SPDX-License-Identifier: BSD-3-Clause
// Chain broadcast: every rank forwards the vector to the next one. With segments it is the pipelined chain,
// in which all ranks are busy at once; with several chains the root feeds each of them.
//
// Source:   Marendic et al., section 2 (linear pipeline).
// Requires: nothing.
// Cost:     P − 2 + N rounds with N segments and one chain, in which a rank receives and sends one segment;
//           no extra memory.
//
//            round 0     round 1     round 2     round 3             (root 0, segments a and b)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   a        a * . .     a a * .     a a a *     a a a a
//   b        b . . .     b * . .     b b * .     b b b *       (* arrives in this round)
//
//   P = 5 and two chains: 0 → 1 → 2 and 0 → 3 → 4.
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_bcast_chain(const Call& call, Builder& builder) {
  const Split tree = chain_split(static_cast<Rank>(call.parameters[1]));
  pass_down(tree_node(tree, call.relative(), call.procs), 0, static_cast<Rank>(call.parameters[0]), 1, call,
            builder);
}

constexpr Parameter bcast_chain_parameters[] = {bcast_segments(8, {1, 4}),
                                                {.name = "chains",
                                                 .summary = "number of chains",
                                                 .fallback = 1,
                                                 .least = 1,
                                                 .most = 1024,
                                                 .samples = {1, 3}}};

}  // namespace

extern constinit const Algorithm bcast_chain = {
    .name = "chain",
    .summary = "Every rank forwards the vector to the next rank, segment by segment.",
    .source = "Marendic et al. 2016, section 2",
    .collectives = {Collective::bcast},
    .rounds = "P − 2 + N, N segments",
    .parameters = bcast_chain_parameters,
    .generate = generate_bcast_chain,
};

}  // namespace convene::collective
