// SPDX-License-Identifier: BSD-3-Clause
// Trees as values: parents, children and rounds. Ranks are relative to the root, which is 0; every subtree is
// a run of consecutive ranks that starts with its root.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// One rank's node in a tree.
struct TreeNode {
  struct Child {
    std::uint32_t rank, subtree;  ///< `subtree`: the size, itself included
    std::uint32_t round;          ///< in which it receives from its parent, in a broadcast
  };
  std::uint32_t parent = 0;  ///< of the root: itself
  std::uint32_t subtree = 1;
  std::uint32_t round = 0;      ///< in which it receives from its parent; of the root: 0
  std::vector<Child> children;  ///< by round
};

/// Consecutive ranks, the first of which has the data for all of them.
struct Run {
  std::uint32_t first = 0, size = 1;
};

/// A kind of tree: the division of a run of at least two ranks in one round. The first rank keeps the
/// beginning and sends the rest in parts. Writes the sizes of the parts, in the order of ranks, into `parts`
/// (empty before). The beginning and each part, under its own first rank, divide in the next round.
using Split = std::function<void(const Run& run, std::vector<std::uint32_t>& parts)>;

/// A rank's node in the tree of `size` ranks. O(rounds · parts).
TreeNode tree_node(const Split& split, std::uint32_t rank, std::uint32_t size);

/// The number of rounds of a broadcast.
std::uint32_t tree_rounds(const Split& split, std::uint32_t size);

/// The k-nomial tree: the size of the beginning is a power of k + 1, and so are those of all parts but the
/// last. With k = 1 it is the binomial tree, in which rank v's children are v + 2^j for every 2^j below v's
/// lowest set bit. ⌈log_{k+1} size⌉ rounds.
Split knomial_split(std::uint32_t fanout);

/// The n-way tree: k parts as large as the beginning, as far as possible (recursive splitting for k = 1).
/// ⌈log_{k+1} size⌉ rounds.
Split even_split(std::uint32_t fanout);

/// The k-ary tree: a rank keeps only itself; its k children have equal subtrees as far as possible.
Split kary_split(std::uint32_t fanout);

/// Chains of equal length below the root.
Split chain_split(std::uint32_t chains);

/// The binomial tree: rank v's children are v + 2^j for every 2^j below v's lowest set bit.
TreeNode binomial_node(std::uint32_t rank, std::uint32_t size);

/// The flat tree: all other ranks are the root's children.
TreeNode flat_node(std::uint32_t rank, std::uint32_t size);

}  // namespace convene::patterns
