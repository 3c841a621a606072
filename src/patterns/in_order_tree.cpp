// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/in_order_tree.hpp"

#include <bit>

namespace convene::patterns {

std::uint32_t middle(std::uint32_t begin, std::uint32_t end) { return begin + (end - begin - 1) / 2; }

std::uint32_t most_even(std::uint32_t begin, std::uint32_t end) {
  if (begin == 0) return 0;
  // The last position, with all bits cleared below the highest one in which the positions differ.
  const int differing = std::bit_width((begin - 1) ^ (end - 1));
  return (end - 1) >> (differing - 1) << (differing - 1);
}

InOrderNode in_order_node(std::uint32_t position, std::uint32_t begin, std::uint32_t end, std::uint32_t root,
                          PickRoot pick) {
  InOrderNode node;
  for (; root != position; root = pick(begin, end), ++node.depth) {
    node.parent = root;
    (position < root ? end : begin) = position < root ? root : root + 1;
  }
  if (begin < position) node.below = pick(begin, position);
  if (position + 1 < end) node.above = pick(position + 1, end);
  return node;
}

}  // namespace convene::patterns
