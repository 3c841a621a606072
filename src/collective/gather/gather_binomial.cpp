// SPDX-License-Identifier: BSD-3-Clause
// Binomial gather: blocks go up a binomial tree. In round j a rank whose distance from the root has j
// trailing zero bits sends its 2^j blocks to the rank 2^j below.
//
// Source:   Viertel, section 5.1.3 (recursive splitting), in reverse.
// Requires: nothing.
// Cost:     ⌈log₂P⌉ rounds; the root receives ⌈log₂P⌉ messages, all others send one. In scratch up to P/2
//           blocks, at the ranks inside the tree.
//
//            before      round 0     round 1                         (root 0)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  . 1 . .     * 1 . .     1 1 . .
//   block 2  . . 2 .     . . 2 .     * . 2 .
//   block 3  . . . 3     . . * 3     * . 3 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2      (root 1: ranks 2, 3, 4, 0 are 1, 2, 3, 4 above)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . .   0 . . . .   0 * . . .
//   block 1  . 1 . . .   . 1 . . .   . 1 . . .   . 1 . . .
//   block 2  . . 2 . .   . * 2 . .   . 2 2 . .   . 2 2 . .
//   block 3  . . . 3 .   . . . 3 .   . * . 3 .   . 3 . 3 .
//   block 4  . . . . 4   . . . * 4   . * . 4 4   . 4 . 4 4
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_gather_binomial(const Call& call, Builder& builder) {
  gather_up(knomial_split(1), call, builder);
}

}  // namespace

extern constinit const Algorithm gather_binomial = {
    .name = "binomial",
    .summary = "A binomial tree: a rank sends all blocks of its subtree as one message.",
    .source = "Viertel 2007, section 5.1.3",
    .collectives = gathers,
    .rounds = "⌈log₂P⌉",
    .relays = true,
    .generate = generate_gather_binomial,
};

}  // namespace convene::collective
