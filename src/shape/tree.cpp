// SPDX-License-Identifier: BSD-3-Clause
#include "shape/tree.hpp"

#include <algorithm>
#include <bit>

namespace convene {

TreeNode binomial_node(std::uint32_t rank, std::uint32_t size) {
  TreeNode node;
  const std::uint32_t span =
      rank == 0 ? std::bit_ceil(size) : rank & -rank;  // the subtree's size if size were a power of two
  node.parent = rank & (rank - 1);
  node.subtree = std::min(span, size - rank);
  if (rank == 0) node.parent = 0;
  for (std::uint32_t step = span / 2; step > 0; step /= 2)
    if (rank + step < size) node.children.push_back(rank + step);
  return node;
}

TreeNode flat_node(std::uint32_t rank, std::uint32_t size) {
  TreeNode node;
  if (rank > 0) return node;
  node.subtree = size;
  for (std::uint32_t child = 1; child < size; ++child) node.children.push_back(child);
  return node;
}

}  // namespace convene
