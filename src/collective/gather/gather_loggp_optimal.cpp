// SPDX-License-Identifier: BSD-3-Clause
// LogGP-optimal gather: the LogGP-optimal scatter in reverse. A model in which sends and receives cost the
// same has the same minimal time in both directions.
//
// Source:   Viertel, sections 5.1.3 and 5.2.2, after Alexandrov, Ionescu, Schauser and Scheiman 1997.
// Requires: nothing. All ranks must be given the same parameters.
// Cost:     t(P) in the model (scatter_loggp_optimal.cpp); all but the root send one message, the root
//           receives P − 1 blocks. In scratch up to P − 1 blocks, at the ranks inside the tree.
//
//            before      round 0     round 1     round 2             (root 0; L′ = 8, g = 3, s = 1: t = 16)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . .   0 . . . .   0 . . . .
//   block 1  . 1 . . .   * 1 . . .   1 1 . . .   1 1 . . .
//   block 2  . . 2 . .   . . 2 . .   * . 2 . .   2 . 2 . .
//   block 3  . . . 3 .   . . . 3 .   . . . 3 .   * . . 3 .
//   block 4  . . . . 4   . . . . 4   . . . * 4   * . . 4 4           (* arrives in this round)
//
//   With four ranks each block goes straight to the root under these costs, the farthest last.
#include "collective/parts/loggp_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_gather_loggp_optimal(const Call& call, Builder& builder) {
  const LogGPTree tree(loggp_costs(call.parameters), call.procs);
  gather_up(tree.split(), call, builder);
}

}  // namespace

extern constinit const Algorithm gather_loggp_optimal = {
    .name = "loggp_optimal",
    .summary = "A tree that is optimal under the LogGP model.",
    .source = "Viertel 2007, sections 5.1.3 and 5.2.2, after Alexandrov et al. 1997",
    .collectives = gathers,
    .rounds = "⌈log₂P⌉ to P − 1, depending on the costs",
    .parameters = loggp_parameters,
    .relays = true,
    .generate = generate_gather_loggp_optimal,
};

}  // namespace convene::collective
