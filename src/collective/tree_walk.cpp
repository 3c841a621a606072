// SPDX-License-Identifier: BSD-3-Clause
#include "collective/tree_walk.hpp"

#include <ranges>

namespace convene {
namespace {

/// Scratch for the blocks of a subtree, its root's first.
Buffer scratch_for(const TreeNode& node, const Call& call, Builder& builder) {
  std::vector<Place> like;
  for (Rank below = 0; below < node.subtree; ++below) like.push_back(call.up(below));
  return builder.scratch(like);
}

/// Where a child's subtree stands: at the root by rank, elsewhere in scratch.
Range subtree_of(const TreeNode::Child& child, const Call& call, Buffer held) {
  if (call.is_root()) return all_blocks(call, call.absolute(child.rank), child.subtree);
  return Range(held, child.rank - call.relative(), child.subtree);
}

}  // namespace

void scatter_down(const Split& tree, const Call& call, Builder& builder) {
  const TreeNode node = tree_node(tree, call.relative(), call.procs);
  Buffer held = Buffer::input;
  if (!call.is_root()) {
    const bool is_leaf = node.subtree == 1;
    if (!is_leaf) held = scratch_for(node, call, builder);
    builder.round(node.round);
    builder.recv(call.absolute(node.parent), is_leaf ? own_block(call) : Range(held, 0, node.subtree));
    if (is_leaf) return;
  }
  for (const TreeNode::Child& child : node.children) {
    builder.round(child.round);
    builder.send(call.absolute(child.rank), subtree_of(child, call, held));
  }
  builder.copy(call.is_root() ? all_blocks(call, call.rank, 1) : Range(held, 0), own_block(call));
}

void gather_up(const Split& tree, const Call& call, Builder& builder) {
  const TreeNode node = tree_node(tree, call.relative(), call.procs);
  const Rank last_round = tree_rounds(tree, call.procs) - 1;
  const bool is_leaf = node.subtree == 1;
  Buffer held = Buffer::output;
  if (!call.is_root() && !is_leaf) held = scratch_for(node, call, builder);
  if (call.is_root() || !is_leaf)
    builder.copy(own_block(call), call.is_root() ? all_blocks(call, call.rank, 1) : Range(held, 0));
  for (const TreeNode::Child& child : std::views::reverse(node.children)) {
    builder.round(last_round - child.round);
    builder.recv(call.absolute(child.rank), subtree_of(child, call, held));
  }
  if (call.is_root()) return;
  builder.round(last_round - node.round);
  builder.send(call.absolute(node.parent), is_leaf ? own_block(call) : Range(held, 0, node.subtree));
}

void pass_down(const TreeNode& at, Rank first, Rank count, Rank period, const Call& call, Builder& builder) {
  for (Rank segment = 0; segment < count; ++segment) {
    const Range what(Buffer::output, first + segment);
    if (!call.is_root()) {
      builder.round(at.round + segment * period);
      builder.recv(call.absolute(at.parent), what);
    }
    for (const TreeNode::Child& child : at.children) {
      builder.round(child.round + segment * period);
      builder.send(call.absolute(child.rank), what);
    }
  }
}

Rank period_of(const Split& tree, Rank procs) {
  const TreeNode root = tree_node(tree, 0, procs);
  return root.children.empty() ? 1 : root.children.back().round + 1;
}

}  // namespace convene
