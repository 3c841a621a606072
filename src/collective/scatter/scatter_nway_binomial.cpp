// SPDX-License-Identifier: BSD-3-Clause
// N-way binomial scatter: in each round a rank with several blocks divides them into k + 1 equal parts, keeps
// the first and sends each of the others to its first rank. For networks on which up to k small messages cost
// as much as one.
//
// Source:   Viertel, section 5.1.3 (the listing's tree is left open by an undefined variable: this one splits
//           evenly).
// Requires: nothing. With k = 1 it is recursive splitting into halves.
// Cost:     ⌈log_{k+1} P⌉ rounds of up to k messages sent per rank; all but the root receive one. In scratch
//           up to ⌈P/(k+1)⌉ blocks, at the ranks inside the tree.
//
//            before      round 0     round 1                         (k = 2, root 0)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . .   0 . . . .
//   block 1  1 . . . .   1 . . . .   1 * . . .
//   block 2  2 . . . .   2 . * . .   2 . 2 . .
//   block 3  3 . . . .   3 . * . .   3 . 3 * .
//   block 4  4 . . . .   4 . . . *   4 . . . 4       (* arrives in this round)
//
//   P = 4 and k = 2: in round 0 rank 0 sends blocks 2 and 3 to their ranks and keeps 0 and 1; in round 1 it
//   sends block 1.
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_scatter_nway_binomial(const Call& call, Builder& builder) {
  scatter_down(nway_tree(call), call, builder);
}

constexpr Parameter scatter_nway_binomial_parameters[] = {
    nway_fanout("messages that a rank sends in a round (k)")};

}  // namespace

extern constinit const Algorithm scatter_nway_binomial = {
    .name = "nway_binomial",
    .summary = "In each round a rank sends k of k + 1 equal parts of its blocks to k ranks.",
    .source = "Viertel 2007, section 5.1.3",
    .collectives = scatters,
    .rounds = "⌈log_{k+1} P⌉",
    .parameters = scatter_nway_binomial_parameters,
    .relays = true,
    .generate = generate_scatter_nway_binomial,
};

}  // namespace convene::collective
