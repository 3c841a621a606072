// SPDX-License-Identifier: BSD-3-Clause
// Gather + broadcast: all blocks go up a tree to rank 0, and down the same tree again. On the way down a rank
// does not receive the blocks of its own subtree again.
//
// Source:   Viertel, section 5.3.2; Proficz, section 2 (as a baseline).
// Requires: nothing.
// Cost:     2⌈log₂P⌉ rounds with the binomial tree, 2 with the flat one; the root sends up to (P − 1)·log₂P
//           blocks.
//
//            before      round 0     round 1     round 2     round 3       (binomial tree)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     * 1 . .     1 1 . .     1 1 * .     1 1 1 *
//   block 2  . . 2 .     . . 2 .     * . 2 .     2 . 2 .     2 * 2 *
//   block 3  . . . 3     . . * 3     * . 3 3     3 . 3 3     3 * 3 3       (* arrives in this round)
//
// P = 5 adds rank 4 as a third child of rank 0: its block goes up in round 2, and it receives the others in
// round 3.
#include <bit>

#include "collective/allgather/allgather_blocks.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

enum class TreeShape : std::int64_t { binomial, flat };

/// The round in which a rank of the binomial tree sends upwards: its subtree of 2^j ranks is complete after j
/// rounds.
Rank round_up(TreeShape shape, Rank child, Rank parent) {
  return shape == TreeShape::flat ? 0 : static_cast<Rank>(std::countr_zero(child - parent));
}

void generate_allgather_gather_bcast(const Call& call, Builder& builder) {
  const auto shape = static_cast<TreeShape>(call.parameters[0]);
  const auto node_of = shape == TreeShape::binomial ? binomial_node : flat_node;
  const TreeNode node = node_of(call.rank, call.procs);
  const Rank levels = shape == TreeShape::flat ? 1 : static_cast<Rank>(std::bit_width(call.procs - 1));
  const auto others_than = [&](Rank rank, Rank subtree) {  // all blocks but those of its own subtree
    return blocks(rank + subtree, call.procs - subtree);
  };

  place_own_block(call, builder);
  for (auto child = node.children.rbegin(); child != node.children.rend();
       ++child) {  // the smallest is ready first
    builder.round(round_up(shape, child->rank, call.rank));
    builder.recv(child->rank, blocks(child->rank, child->subtree));
  }
  if (call.rank != 0) {
    const Rank up = round_up(shape, call.rank, node.parent);
    builder.round(up);
    builder.send(node.parent, held_blocks(call.rank, node.subtree));
    builder.round(2 * levels - 1 - up);  // rounds on the way down are those on the way up in reverse order
    builder.recv(node.parent, others_than(call.rank, node.subtree));
  }
  builder.join(blocks(0, call.procs));
  for (const TreeNode::Child& child : node.children) {
    builder.round(2 * levels - 1 - round_up(shape, child.rank, call.rank));
    builder.send(child.rank, others_than(child.rank, child.subtree));
  }
}

constexpr Parameter allgather_gather_bcast_parameters[] = {
    {.name = "tree",
     .summary = "tree: binomial, or flat (all ranks are children of rank 0)",
     .fallback = 0,
     .words = {"binomial", "flat"},
     .samples = {0, 1}}};

}  // namespace

extern constinit const Algorithm allgather_gather_bcast = {
    .name = "gather_bcast",
    .summary = "Rank 0 gathers all blocks along a tree and broadcasts them along the same tree.",
    .source = "Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .rounds = "2⌈log₂P⌉ (binomial), 2 (flat)",
    .parameters = allgather_gather_bcast_parameters,
    .generate = generate_allgather_gather_bcast,
};

}  // namespace convene::collective
