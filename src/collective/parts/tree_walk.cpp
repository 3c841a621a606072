// SPDX-License-Identifier: BSD-3-Clause
#include "collective/parts/tree_walk.hpp"

#include <algorithm>
#include <ranges>

namespace convene::collective {
namespace {

/// Scratch for the blocks of a subtree, its root's first; or only for those below the root, from `first` on.
Buffer scratch_for(const TreeNode& node, const Call& call, Builder& builder, Rank first = 0) {
  std::vector<Place> sized_like;
  for (Rank below = first; below < node.subtree; ++below) sized_like.push_back(call.up(below));
  return builder.scratch(sized_like);
}

/// Location of a child's subtree: at the root by rank, elsewhere in scratch.
Range subtree_of(const TreeNode::Child& child, const Call& call, Buffer held, Rank first = 0) {
  if (call.is_root()) return all_blocks(call, call.absolute(child.rank), child.subtree);
  return Range(held, child.rank - call.relative() - first, child.subtree);
}

}  // namespace

void on_positions(const std::vector<Rank>& ranks, const Call& call, Builder& builder,
                  const std::function<void(const Call& inner)>& write) {
  Call inner = call;
  inner.rank = static_cast<Rank>(std::ranges::find(ranks, call.rank) - ranks.begin());
  inner.root = 0;
  Embedding view;
  view.rank = inner.rank;
  view.ranks = ranks;
  for (const Rank rank : ranks) view.blocks.push_back({Range(Buffer::output, rank)});
  const Places size = places(call, 1);
  const auto places_of = [&](Buffer buffer, std::uint32_t count) -> std::vector<Embedding::Places> {
    if (count == 0) return {};
    if (count == 1) return {{Range(buffer, 0)}};
    std::vector<Embedding::Places> blocks;
    for (const Rank rank : ranks) blocks.push_back({Range(buffer, rank)});
    return blocks;
  };
  view.input = places_of(Buffer::input, size.input);
  view.output = places_of(Buffer::output, size.output);
  builder.enter(std::move(view));
  write(inner);
  builder.leave();
}

void scatter_down(const Split& tree, const Call& call, Builder& builder, Begins begins) {
  const TreeNode node = tree_node(tree, call.relative(), call.procs);
  Buffer held = Buffer::input;
  const Rank first_held =
      begins == Begins::at_call ? 1 : 0;  // then the own block is received directly into the output
  if (!call.is_root()) {
    const bool holds = node.subtree > 1 || begins == Begins::in_background;
    if (holds) held = scratch_for(node, call, builder, first_held);
    builder.round(node.round);
    if (holds && begins == Begins::at_call)
      builder.recv(call.absolute(node.parent), {own_block(call), Range(held, 0, node.subtree - 1)});
    else
      builder.recv(call.absolute(node.parent), holds ? Range(held, 0, node.subtree) : own_block(call));
    if (!holds) return;
  }
  for (const TreeNode::Child& child : node.children) {
    builder.round(child.round);
    builder.send(call.absolute(child.rank), subtree_of(child, call, held, first_held));
  }
  if (call.is_root())
    builder.copy(all_blocks(call, call.rank, 1), own_block(call));
  else if (begins != Begins::at_call)
    builder.copy(Range(held, 0), own_block(call));
}

void gather_up(const Split& tree, const Call& call, Builder& builder, Begins begins) {
  const TreeNode node = tree_node(tree, call.relative(), call.procs);
  const Rank last_round = tree_rounds(tree, call.procs) - 1;
  const bool is_leaf = node.subtree == 1;
  Buffer held = Buffer::output;
  if (!call.is_root() && !is_leaf) held = scratch_for(node, call, builder);
  if (call.is_root() || !is_leaf)
    builder.copy(own_block(call), call.is_root() ? all_blocks(call, call.rank, 1) : Range(held, 0));
  if (begins == Begins::at_call && !is_leaf) {  // children's blocks are received next to the own one
    const Range own = call.is_root() ? all_blocks(call, call.rank, 1) : Range(held, 0);
    const Range others =
        call.is_root() ? all_blocks(call, call.up(), call.procs - 1) : Range(held, 1, node.subtree - 1);
    builder.join({own, others});
  }
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

}  // namespace convene::collective
