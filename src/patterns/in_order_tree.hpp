// SPDX-License-Identifier: BSD-3-Clause
// In-order binary trees: lower positions are in a node's left subtree, higher ones in its right subtree. A
// reduction along such a tree keeps the order of its operands.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::patterns {

/// The node of one position.
struct InOrderNode {
  static constexpr std::uint32_t none = 0xffffffffu;

  std::uint32_t parent = none, below = none,
                above = none;  ///< `below` and `above`: the left and the right child
  std::uint32_t depth = 0;     ///< the root's is 0
};

/// Chooses the root of the tree over the positions begin … end − 1.
using PickRoot = std::uint32_t (*)(std::uint32_t begin, std::uint32_t end);

/// The middle position, the lower one of two, so that a single child is above. The tree over n positions has
/// height bit_width(n) − 1.
std::uint32_t middle(std::uint32_t begin, std::uint32_t end);

/// The position that is divisible by the highest power of two (0: by all). Odd positions are leaves. The tree
/// over the positions 1 … n has height bit_width(n) − 1.
std::uint32_t most_even(std::uint32_t begin, std::uint32_t end);

/// The node of a position in the tree over begin … end − 1 whose root is `root`; `pick` chooses the roots of
/// the subtrees.
InOrderNode in_order_node(std::uint32_t position, std::uint32_t begin, std::uint32_t end, std::uint32_t root,
                          PickRoot pick);

}  // namespace convene::patterns
