// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/in_order_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace convene::patterns {
namespace {

/// Counts the nodes of a subtree; checks their order and their parents, and determines the height.
std::uint32_t count(std::uint32_t position, std::uint32_t begin, std::uint32_t end, std::uint32_t root,
                    PickRoot pick, std::uint32_t& height) {
  const InOrderNode node = in_order_node(position, begin, end, root, pick);
  height = std::max(height, node.depth);
  std::uint32_t total = 1;
  for (const std::uint32_t child : {node.below, node.above}) {
    if (child == InOrderNode::none) continue;
    EXPECT_EQ(in_order_node(child, begin, end, root, pick).parent, position);
    EXPECT_EQ(child < position, child == node.below);
    total += count(child, begin, end, root, pick, height);
  }
  return total;
}

TEST(InOrderTree, HasEveryPositionOnceBelowAnyRoot) {
  for (const PickRoot pick : {middle, most_even})
    for (std::uint32_t size = 1; size <= 70; ++size)
      for (std::uint32_t root = 0; root < size; ++root) {
        std::uint32_t height = 0;
        EXPECT_EQ(count(root, 0, size, root, pick, height), size);
      }
}

TEST(InOrderTree, HasTheDocumentedHeight) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    const auto wanted = static_cast<std::uint32_t>(std::bit_width(size) - 1);
    std::uint32_t of_middle = 0, of_even = 0;
    count(middle(0, size), 0, size, middle(0, size), middle, of_middle);
    count(most_even(1, size + 1), 1, size + 1, most_even(1, size + 1), most_even, of_even);
    EXPECT_EQ(of_middle, wanted) << size;
    EXPECT_EQ(of_even, wanted) << size;
  }
}

/// The two-tree reduction relies on it: of two trees, shifted by one, each rank is an inner node of at most
/// one.
TEST(InOrderTree, HasLeavesAtOddPositions) {
  for (std::uint32_t begin : {0u, 1u})
    for (std::uint32_t end = begin + 1; end <= 70; ++end)
      for (std::uint32_t position = begin; position < end; ++position) {
        const InOrderNode node = in_order_node(position, begin, end, most_even(begin, end), most_even);
        const bool is_leaf = node.below == InOrderNode::none && node.above == InOrderNode::none;
        EXPECT_TRUE(is_leaf || position % 2 == 0);
      }
}

}  // namespace
}  // namespace convene::patterns
