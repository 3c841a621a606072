// SPDX-License-Identifier: BSD-3-Clause
// K-nomial broadcast: in each round every rank that has the vector sends it to k that have not: the binomial
// tree with fan-out k, over distances that are powers of k + 1.
//
// Source:   Viertel, section 5.1.3 (the n-way binomial tree), as a broadcast.
// Requires: nothing.
// Cost:     ⌈log_{k+1} P⌉ rounds, in each of which a rank sends at most k vectors; no extra memory.
//
//            before      round 0     round 1                         (k = 2, root 0)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   vector   0 . . .     0 . . *     0 * * 0       (* arrives in this round)
//
//            before          round 0         round 1
//   rank     0 1 2 3 4 5 6   0 1 2 3 4 5 6   0 1 2 3 4 5 6
//   vector   0 . . . . . .   0 . . * . . *   0 * * 0 * * 0
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_bcast_knomial(const Call& call, Builder& builder) {
  const Split tree = knomial_split(static_cast<Rank>(call.parameters[0]));
  pass_down(tree_node(tree, call.relative(), call.procs), 0, static_cast<Rank>(call.parameters[1]),
            period_of(tree, call.procs), call, builder);
}

constexpr Parameter bcast_knomial_parameters[] = {{.name = "fanout",
                                                   .summary = "messages that a rank sends in a round (k)",
                                                   .fallback = 3,
                                                   .least = 1,
                                                   .most = 1024,
                                                   .samples = {2, 3, 7}},
                                                  bcast_segments(1, {1})};

}  // namespace

extern constinit const Algorithm bcast_knomial = {
    .name = "knomial",
    .summary = "In each round every rank that has the vector sends it to k ranks that do not.",
    .source = "Viertel 2007, section 5.1.3",
    .collectives = {Collective::bcast},
    .rounds = "N⌈log_{k+1} P⌉, N segments",
    .parameters = bcast_knomial_parameters,
    .generate = generate_bcast_knomial,
};

}  // namespace convene::collective
