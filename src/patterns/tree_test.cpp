// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace convene::patterns {
namespace {

constexpr std::uint32_t most_ranks = 70;

/// Checks that parents and children agree, that every subtree is a run of ranks, and that tree_rounds() is
/// the last round.
void require_consistent(const Split& split, std::uint32_t size) {
  std::uint32_t rounds = 0, reached = 1;
  EXPECT_EQ(tree_node(split, 0, size).parent, 0u);
  EXPECT_EQ(tree_node(split, 0, size).subtree, size);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const TreeNode node = tree_node(split, rank, size);
    std::uint32_t below = 1;
    for (const TreeNode::Child& child : node.children) {
      const TreeNode other = tree_node(split, child.rank, size);
      EXPECT_EQ(other.parent, rank);
      EXPECT_EQ(other.subtree, child.subtree);
      EXPECT_EQ(other.round, child.round);
      EXPECT_TRUE(rank == 0 || child.round > node.round);
      EXPECT_TRUE(child.rank > rank && child.rank + child.subtree <= rank + node.subtree);
      below += child.subtree;
      rounds = std::max(rounds, child.round + 1);
      ++reached;
    }
    EXPECT_EQ(node.subtree, below) << rank << " of " << size;
    EXPECT_TRUE(std::ranges::is_sorted(node.children, {}, &TreeNode::Child::round));
  }
  EXPECT_EQ(reached, size);
  EXPECT_EQ(tree_rounds(split, size), rounds) << size;
}

std::uint32_t ceil_log(std::uint32_t base, std::uint32_t size) {
  std::uint32_t rounds = 0;
  for (std::uint64_t power = 1; power < size; power *= base) ++rounds;
  return rounds;
}

TEST(Tree, ParentsAndChildrenAgree) {
  for (std::uint32_t size = 1; size <= most_ranks; ++size)
    for (const std::uint32_t fanout : {1u, 2u, 3u, 7u}) {
      require_consistent(knomial_split(fanout), size);
      require_consistent(even_split(fanout), size);
      require_consistent(kary_split(fanout), size);
      require_consistent(chain_split(fanout), size);
    }
}

TEST(Tree, KnomialAndEvenTreesHaveLogarithmicRounds) {
  for (std::uint32_t size = 1; size <= most_ranks; ++size)
    for (const std::uint32_t fanout : {1u, 2u, 3u, 7u}) {
      EXPECT_EQ(tree_rounds(knomial_split(fanout), size), ceil_log(fanout + 1, size))
          << fanout << " " << size;
      EXPECT_EQ(tree_rounds(even_split(fanout), size), ceil_log(fanout + 1, size)) << fanout << " " << size;
    }
}

TEST(Tree, BinomialChildrenArePowersOfTwoAway) {
  for (std::uint32_t size = 1; size <= most_ranks; ++size)
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      std::vector<std::uint32_t> expected, found;
      const std::uint32_t lowest_bit = rank == 0 ? size : 1u << std::countr_zero(rank);
      for (std::uint32_t power = 1; power < lowest_bit && rank + power < size; power *= 2)
        expected.push_back(rank + power);
      for (const TreeNode::Child& child : binomial_node(rank, size).children) found.push_back(child.rank);
      std::ranges::sort(found);
      EXPECT_EQ(found, expected) << rank << " of " << size;
    }
}

TEST(Tree, KaryChildrenHaveEqualSubtrees) {
  for (std::uint32_t size = 2; size <= most_ranks; ++size)
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const std::vector<TreeNode::Child> children = tree_node(kary_split(3), rank, size).children;
      EXPECT_LE(children.size(), 3u);
      if (children.empty()) continue;
      EXPECT_LE(children.front().subtree - children.back().subtree, 1u);
    }
}

TEST(Tree, ChainsStartAtTheRootOnly) {
  for (std::uint32_t size = 2; size <= most_ranks; ++size)
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const std::size_t children = tree_node(chain_split(4), rank, size).children.size();
      EXPECT_LE(children, rank == 0 ? std::min(4u, size - 1) : 1u);
    }
}

TEST(Tree, TheFlatRootHasAllOthersAsChildren) {
  const TreeNode root = flat_node(0, 5);
  ASSERT_EQ(root.children.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(root.children[i].rank, i + 1);
  EXPECT_TRUE(flat_node(3, 5).children.empty());
  EXPECT_EQ(flat_node(3, 5).parent, 0u);
}

}  // namespace
}  // namespace convene::patterns
