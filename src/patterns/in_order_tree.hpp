// SPDX-License-Identifier: BSD-3-Clause
// Binary trees in order: all that is below a node stands to the left of it, all that is above to the right. A sum that goes
// up such a tree keeps the order of its terms.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::patterns {

/// One position's place in a tree over the positions of a run.
struct InOrderNode {
  static constexpr std::uint32_t none = 0xffffffffu;

  std::uint32_t parent = none, below = none, above = none;  ///< `below` and `above` are its children
  std::uint32_t depth = 0;                                  ///< the root's is 0
};

/// Which position of the run begin … end − 1 is the root of the tree over it.
using PickRoot = std::uint32_t (*)(std::uint32_t begin, std::uint32_t end);

/// The middle; of an even number the lower one, so that a single child is above. n positions make height
/// bit_width(n) − 1.
std::uint32_t middle(std::uint32_t begin, std::uint32_t end);

/// The position that is divisible by the highest power of two (0 is by all). Odd positions are leaves. The positions 1 … n
/// make height bit_width(n) − 1.
std::uint32_t most_even(std::uint32_t begin, std::uint32_t end);

/// The node of a position in the tree over begin … end − 1 whose root is `root`; further down, `pick` chooses.
InOrderNode in_order_node(std::uint32_t position, std::uint32_t begin, std::uint32_t end, std::uint32_t root,
                          PickRoot pick);

}  // namespace convene::patterns
