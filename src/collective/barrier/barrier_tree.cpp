// SPDX-License-Identifier: BSD-3-Clause
// Tree barrier: signals go up a k-ary tree to rank 0 and down again. A rank signals its parent when all its
// children have signalled: its message represents its whole subtree; the one down represents all other ranks.
//
// Source:   Mellor-Crummey and Scott 1991 (tree barrier, there in shared memory).
// Requires: nothing.
// Cost:     twice the tree's height in rounds, about 2⌈log_k P⌉; 2(P − 1) empty messages of all ranks
//           together.
//
//            before      round 0     round 1     round 2     round 3       (k = 2)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 * . *     0 0 * 0
//   block 1  . 1 . .     . 1 . .     * 1 . .     1 1 . *     1 1 * 1
//   block 2  . . 2 .     . * 2 .     * 2 2 .     2 2 2 *     2 2 2 2
//   block 3  . . . 3     . . . 3     * . . 3     3 * . 3     3 3 * 3       (* arrives in this round)
#include "collective/barrier/barrier_tree.hpp"

namespace convene::collective {
namespace {

void generate_barrier_tree(const Call& call, Builder& builder) {
  barrier_over_tree(kary_split(static_cast<Rank>(call.parameters[0])), call, builder);
}

constexpr Parameter barrier_tree_parameters[] = {{.name = "fanout",
                                                  .summary = "maximum number of children of a rank (k)",
                                                  .fallback = 2,
                                                  .least = 1,
                                                  .most = 1024,
                                                  .samples = {1, 2, 3, 7}}};

}  // namespace

extern constinit const Algorithm barrier_tree = {
    .name = "tree",
    .summary = "Empty messages travel up a k-ary tree to rank 0, and down again.",
    .source = "Mellor-Crummey and Scott 1991",
    .collectives = {Collective::barrier},
    .rounds = "2h, h the height of the tree",
    .parameters = barrier_tree_parameters,
    .generate = generate_barrier_tree,
};

}  // namespace convene::collective
