// SPDX-License-Identifier: BSD-3-Clause
// Binomial broadcast: in each round every rank that has the vector sends it to one that has not, over
// distances that halve. Segments are sent down the same tree one after the other.
//
// Source:   Rico-Gallego (τ-Lop), section 4.1; Loch, section 2.4.6 (as the tree that Sparbit multiplies).
// Requires: nothing.
// Cost:     ⌈log₂P⌉ rounds, in each of which a rank sends at most one vector; no extra memory.
//
//            before      round 0     round 1                         (root 0)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   vector   0 . . .     0 . * .     0 * 0 *       (* arrives in this round)
//
//            before      round 0     round 1     round 2      (root 1: ranks 2, 3, 4, 0 are 1, 2, 3, 4 above)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   vector   . 0 . . .   * 0 . . .   0 0 . * .   0 0 * 0 *
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_bcast_binomial(const Call& call, Builder& builder) {
  const Split tree = knomial_split(1);
  pass_down(tree_node(tree, call.relative(), call.procs), 0, static_cast<Rank>(call.parameters[0]),
            period_of(tree, call.procs), call, builder);
}

constexpr Parameter bcast_binomial_parameters[] = {bcast_segments(1, {1, 3})};

}  // namespace

extern constinit const Algorithm bcast_binomial = {
    .name = "binomial",
    .summary = "In each round every rank that has the vector sends it to a rank that does not.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.1",
    .collectives = {Collective::bcast},
    .rounds = "N⌈log₂P⌉, N segments",
    .parameters = bcast_binomial_parameters,
    .generate = generate_bcast_binomial,
};

}  // namespace convene::collective
