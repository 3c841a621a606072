// SPDX-License-Identifier: BSD-3-Clause
// Bine tree (binomial negabinary): a binomial tree over the distances …, −5, 3, −1, 1, alternately above and
// below, which are about two thirds of 16, 8, 4, 2, 1. A subtree is a run of ranks on both sides of its root,
// and a rank receives all blocks of its subtree as one message from its parent in the tree of bcast_bine.cpp.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), the tree with distances that halve.
// Requires: a power of two.
// Cost:     log₂P rounds; one message to each rank; a rank inside the tree keeps the blocks of its subtree in
//           scratch.
//
//            before      round 0     round 1                   (root 0: distances −1, 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  1 . . .     1 . . .     1 * . .
//   block 2  2 . . .     2 . . *     2 . * 2
//   block 3  3 . . .     3 . . *     3 . . 3       (* arrives in this round)
#include "collective/parts/bine_tree.hpp"

namespace convene::collective {
namespace {

void generate_scatter_bine(const Call& call, Builder& builder) {
  const NegabinaryNode node = bine_node(call);
  const BineBlocks blocks(call, node, builder);
  if (!call.is_root()) {
    builder.round(node.round);
    builder.recv(call.absolute(node.parent), blocks.all());
  }
  for (const NegabinaryNode::Child& child : node.children) {
    builder.round(child.round);
    builder.send(call.absolute(child.rank), blocks.of(child));
  }
  if (node.subtree > 1 || call.is_root()) builder.copy(blocks.own(), own_block(call));
}

}  // namespace

extern constinit const Algorithm scatter_bine = {
    .name = "bine",
    .summary =
        "A binomial tree over the negabinary distances …, 3, 1, 1: about two thirds of a binomial tree's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = scatters,
    .requirement = Requirement::power_of_two,
    .rounds = "log₂P",
    .relays = true,
    .generate = generate_scatter_bine,
};

}  // namespace convene::collective
