// SPDX-License-Identifier: BSD-3-Clause
// Binomial scatter: blocks go down a binomial tree. A rank that holds 2^j blocks sends the far half to the
// rank 2^(j−1) above, until each rank holds only its own block.
//
// Source:   Viertel, section 5.1.3 (recursive splitting).
// Requires: nothing. If P is no power of two, the far part is the smaller one; nway_binomial with fan-out 1
//           halves.
// Cost:     ⌈log₂P⌉ rounds; the root sends ⌈log₂P⌉ messages and P − 1 blocks, all others receive one message.
//           In scratch up to P/2 blocks, at the ranks inside the tree.
//
//            before      round 0     round 1                         (root 0)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  1 . . .     1 . . .     1 * . .
//   block 2  2 . . .     2 . * .     2 . 2 .
//   block 3  3 . . .     3 . * .     3 . 3 *       (* arrives in this round)
//
//            before      round 0     round 1     round 2      (root 1: ranks 2, 3, 4, 0 are 1, 2, 3, 4 above)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  . 0 . . .   * 0 . . .   0 0 . . .   0 0 . . .
//   block 1  . 1 . . .   . 1 . . .   . 1 . . .   . 1 . . .
//   block 2  . 2 . . .   . 2 . . .   . 2 . . .   . 2 * . .
//   block 3  . 3 . . .   . 3 . . .   . 3 . * .   . 3 . 3 .
//   block 4  . 4 . . .   . 4 . . .   . 4 . * .   . 4 . 4 *
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_scatter_binomial(const Call& call, Builder& builder) {
  scatter_down(knomial_split(1), call, builder);
}

}  // namespace

extern constinit const Algorithm scatter_binomial = {
    .name = "binomial",
    .summary = "A binomial tree: a rank receives all blocks of its subtree as one message.",
    .source = "Viertel 2007, section 5.1.3",
    .collectives = scatters,
    .rounds = "⌈log₂P⌉",
    .relays = true,
    .generate = generate_scatter_binomial,
};

}  // namespace convene::collective
