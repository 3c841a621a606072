// SPDX-License-Identifier: BSD-3-Clause
// Bine tree (binomial negabinary): a binomial tree over the distances 1, −1, 3, −5, …, alternately above and
// below, which are about two thirds of 1, 2, 4, 8, …. A subtree is a run of ranks on both sides of its root,
// and a rank sends all blocks of its subtree as one message to its parent in the tree of bcast_bine.cpp.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), the tree with distances that halve, in reverse.
// Requires: a power of two.
// Cost:     log₂P rounds; one message per rank; a rank inside the tree keeps the blocks of its subtree in
//           scratch.
//
//            before      round 0     round 1                   (root 0: distances 1, −1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  . 1 . .     * 1 . .     1 1 . .
//   block 2  . . 2 .     . . 2 *     * . 2 2
//   block 3  . . . 3     . . . 3     * . . 3       (* arrives in this round)
#include "collective/parts/bine_tree.hpp"

namespace convene::collective {
namespace {

void generate_gather_bine(const Call& call, Builder& builder) {
  const NegabinaryNode node = bine_node(call);
  const BineBlocks blocks(call, node, builder);
  if (node.subtree > 1 || call.is_root()) builder.copy(own_block(call), blocks.own());
  const std::uint32_t rounds = bine_rounds(call.procs);
  for (const NegabinaryNode::Child& child : std::views::reverse(node.children)) {
    builder.round(rounds - 1 - child.round);
    builder.recv(call.absolute(child.rank), blocks.of(child));
  }
  if (call.is_root()) return;
  builder.round(rounds - 1 - node.round);
  builder.send(call.absolute(node.parent), blocks.all());
}

}  // namespace

extern constinit const Algorithm gather_bine = {
    .name = "bine",
    .summary =
        "A binomial tree over the negabinary distances 1, 1, 3, …: about two thirds of a binomial tree's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = gathers,
    .requirement = Requirement::power_of_two,
    .rounds = "log₂P",
    .relays = true,
    .generate = generate_gather_bine,
};

}  // namespace convene::collective
