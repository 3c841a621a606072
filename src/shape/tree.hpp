// SPDX-License-Identifier: BSD-3-Clause
// Trees as values: who is whose parent. Ranks here are relative to the root, which is 0.
#pragma once

#include <cstdint>
#include <vector>

namespace convene {

/// One rank's place in a tree of `size` ranks in which every subtree is a run of consecutive ranks.
struct TreeNode {
  std::uint32_t parent = 0;             ///< the root's is itself
  std::vector<std::uint32_t> children;  ///< largest subtree first
  std::uint32_t subtree = 1;            ///< how many ranks from this one on are below it, itself included
};

/// The binomial tree: rank v's children are v + 2^j for every 2^j below v's lowest set bit.
TreeNode binomial_node(std::uint32_t rank, std::uint32_t size);

/// The flat tree: all others are the root's children.
TreeNode flat_node(std::uint32_t rank, std::uint32_t size);

}  // namespace convene
