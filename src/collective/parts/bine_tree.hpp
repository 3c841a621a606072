// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a bine tree: gather and scatter of runs of blocks.
#pragma once

#include <bit>
#include <ranges>

#include "collective/parts/rooted.hpp"
#include "patterns/negabinary.hpp"

namespace convene::collective {

using patterns::NegabinaryNode;

inline NegabinaryNode bine_node(const Call& call) {
  return patterns::negabinary_node(call.relative(), call.procs);
}

inline std::uint32_t bine_rounds(Rank procs) { return static_cast<std::uint32_t>(std::bit_width(procs) - 1); }

/// Blocks of a subtree: at the root in its buffer of all blocks, elsewhere in scratch, which begins with the
/// subtree's first block.
class BineBlocks {
 public:
  BineBlocks(const Call& call, const NegabinaryNode& node, Builder& builder) : call_(call), node_(node) {
    if (call.is_root() || node.subtree == 1) return;
    std::vector<Place> sized_like;
    for (Rank below = 0; below < node.subtree; ++below)
      sized_like.push_back(call.absolute((node.first + below) % call.procs));
    held_ = builder.scratch(sized_like);
  }

  Range all() const { return node_.subtree == 1 ? own_block(call_) : Range(held_, 0, node_.subtree); }
  /// The own block among those of the subtree.
  Range own() const { return run(call_.relative(), 1); }
  Range of(const NegabinaryNode::Child& child) const { return run(child.first, child.subtree); }

 private:
  Range run(Rank first, Rank count) const {
    if (call_.is_root()) return all_blocks(call_, call_.absolute(first), count);
    return Range(held_, (first + call_.procs - node_.first) % call_.procs, count);
  }

  const Call& call_;
  const NegabinaryNode& node_;
  Buffer held_ = Buffer::input;
};

}  // namespace convene::collective
