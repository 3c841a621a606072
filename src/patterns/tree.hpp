// SPDX-License-Identifier: BSD-3-Clause
// Trees as values: who is whose parent, and in which round it hears from it. Ranks here are relative to the root, which
// is 0, and every subtree is a run of consecutive ranks that begins with its own root.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// One rank's place in a tree.
struct TreeNode {
  struct Child {
    std::uint32_t rank, subtree;  ///< and how many ranks from it on are below it, itself included
    std::uint32_t round;          ///< in which it hears from its parent, on the way down
  };
  std::uint32_t parent = 0;  ///< the root's is itself
  std::uint32_t subtree = 1;
  std::uint32_t round = 0;      ///< in which it hears from its parent; the root's is 0
  std::vector<Child> children;  ///< by round
};

/// Consecutive ranks, the first of which has what is for all of them.
struct Run {
  std::uint32_t first = 0, size = 1;
};

/// A kind of tree: how a run of at least two ranks divides in one round. The first rank keeps the beginning and hands
/// the rest on in parts; writes their sizes, in the order of ranks, into `parts` (empty before). What it kept divides
/// in the next round, and so does each part, under its own first rank.
using Split = std::function<void(const Run& run, std::vector<std::uint32_t>& parts)>;

/// A rank's place in the tree of `size` ranks. O(rounds · parts).
TreeNode tree_node(const Split& split, std::uint32_t rank, std::uint32_t size);

/// How many rounds it takes until all ranks have heard.
std::uint32_t tree_rounds(const Split& split, std::uint32_t size);

/// The k-nomial tree: the beginning that is kept is a power of k + 1, and so are all parts but the last. With k = 1 it is
/// the binomial tree, in which rank v's children are v + 2^j for every 2^j below v's lowest set bit.
/// ⌈log_{k+1} size⌉ rounds.
Split knomial_split(std::uint32_t fanout);

/// The n-way tree: k parts as large as what is kept, as far as that is possible (recursive splitting with k = 1).
/// ⌈log_{k+1} size⌉ rounds.
Split even_split(std::uint32_t fanout);

/// The k-ary tree: a rank keeps nothing but itself, and its k children have equal subtrees as far as that is possible.
Split kary_split(std::uint32_t fanout);

/// Equal chains that hang at the root.
Split chain_split(std::uint32_t chains);

/// The binomial tree: rank v's children are v + 2^j for every 2^j below v's lowest set bit.
TreeNode binomial_node(std::uint32_t rank, std::uint32_t size);

/// The flat tree: all others are the root's children.
TreeNode flat_node(std::uint32_t rank, std::uint32_t size);

}  // namespace convene::patterns
