// SPDX-License-Identifier: BSD-3-Clause
// N-way binomial gather: the n-way binomial scatter in reverse. In each round a rank receives from up to k
// others, whose subtrees are as large as its own part.
//
// Source:   Viertel, section 5.1.3 (the listing's tree is left open by an undefined variable: this one splits
//           evenly) and section 5.2.
// Requires: nothing.
// Cost:     ⌈log_{k+1} P⌉ rounds of up to k messages received per rank; all but the root send one. In scratch
//           up to ⌈P/(k+1)⌉ blocks, at the ranks inside the tree.
//
//            before      round 0     round 1                         (k = 2, root 0)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . .   0 . . . .
//   block 1  . 1 . . .   * 1 . . .   1 1 . . .
//   block 2  . . 2 . .   . . 2 . .   * . 2 . .
//   block 3  . . . 3 .   . . * 3 .   * . 3 3 .
//   block 4  . . . . 4   . . . . 4   * . . . 4       (* arrives in this round)
//
//   P = 4 and k = 2: block 1 goes to rank 0 in round 0, blocks 2 and 3 in round 1, each from its own rank.
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_gather_nway_binomial(const Call& call, Builder& builder) {
  gather_up(nway_tree(call), call, builder);
}

constexpr Parameter gather_nway_binomial_parameters[] = {
    nway_fanout("messages that a rank receives in a round (k)")};

}  // namespace

extern constinit const Algorithm gather_nway_binomial = {
    .name = "nway_binomial",
    .summary = "In each round a rank receives from k ranks, from each as many blocks as it holds.",
    .source = "Viertel 2007, sections 5.1.3 and 5.2.2",
    .collectives = gathers,
    .rounds = "⌈log_{k+1} P⌉",
    .parameters = gather_nway_binomial_parameters,
    .relays = true,
    .generate = generate_gather_nway_binomial,
};

}  // namespace convene::collective
