// SPDX-License-Identifier: BSD-3-Clause
// One rank of a pipelined tree with at most two children per node.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "collective/parts/partial.hpp"
#include "patterns/in_order_tree.hpp"

namespace convene::collective {

/// The edge to a child or the parent: it carries one segment in every second round.
struct TreeEdge {
  Rank peer = 0;
  OperandOrder side = OperandOrder::above;
  std::uint32_t first_round = 0;  ///< for the first segment
};

struct TreeRole {
  std::vector<TreeEdge> children;
  std::optional<TreeEdge> parent = {};

  std::uint32_t above() const {
    std::uint32_t number = 0;
    for (const TreeEdge& child : children) number += child.side == OperandOrder::above;
    return number;
  }

  /// Adds the steps of a segment, the n-th in this tree: receives the children's sums, sends the own one up.
  void pass(Builder& builder, Partial& partial, Place segment, std::uint32_t n) const {
    for (const TreeEdge& child : children) {
      builder.round(child.first_round + 2 * n);
      partial.take(child.peer, segment, child.side);
    }
    if (!parent) return;
    builder.round(parent->first_round + 2 * n);
    partial.send(parent->peer, segment);
  }
};

/// The role of a position in an in-order tree. The child above is first: the own contribution then needs no
/// copy. `height` is the tree's, and `rank` gives the rank at a position; a mirrored tree has its left and
/// right exchanged.
inline TreeRole role_of(const InOrderNode& node, std::uint32_t height, bool mirrored,
                        const std::function<Rank(std::uint32_t)>& rank, std::uint32_t position) {
  constexpr std::uint32_t none = InOrderNode::none;
  const std::uint32_t first = mirrored ? node.below : node.above, second = mirrored ? node.above : node.below;
  TreeRole role;
  const std::uint32_t round = 2 * (height - node.depth - 1);  // a leaf at the bottom has no rank before it
  if (first != none) role.children.push_back({rank(first), OperandOrder::above, round});
  if (second != none) role.children.push_back({rank(second), OperandOrder::below, round + 1});
  if (node.parent != none) {
    const bool is_first = (position > node.parent) != mirrored;
    role.parent =
        TreeEdge{rank(node.parent), OperandOrder::above, 2 * (height - node.depth) + (is_first ? 0 : 1)};
  }
  return role;
}

}  // namespace convene::collective
