// SPDX-License-Identifier: BSD-3-Clause
// Barrier over any tree: signals go up to the root and down again.
#pragma once

#include "collective/core/algorithm.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {

/// Ranks are relative to rank 0, which is the tree's root.
inline void barrier_over_tree(const Split& tree, const Call& call, Builder& builder) {
  const auto zero_byte_blocks = [](Rank first, Rank count) { return Range(Buffer::output, first, count); };
  const TreeNode node = tree_node(tree, call.rank, call.procs);
  const Rank height = tree_rounds(tree, call.procs);
  const auto others_than = [&](Rank rank, Rank subtree) {
    return zero_byte_blocks(rank + subtree, call.procs - subtree);
  };
  builder.copy(Range(Buffer::input, 0), zero_byte_blocks(call.rank, 1));
  for (const TreeNode::Child& child : node.children) {
    builder.round(height - 1 - child.round);
    builder.recv(child.rank, zero_byte_blocks(child.rank, child.subtree));
  }
  if (call.rank != 0) {
    builder.round(height - 1 - node.round);
    builder.send(node.parent, zero_byte_blocks(call.rank, node.subtree));
    builder.round(height + node.round);
    builder.recv(node.parent, others_than(call.rank, node.subtree));
  }
  builder.join(zero_byte_blocks(0, call.procs));
  for (const TreeNode::Child& child : node.children) {
    builder.round(height + child.round);
    builder.send(child.rank, others_than(child.rank, child.subtree));
  }
}

}  // namespace convene::collective
