// SPDX-License-Identifier: BSD-3-Clause
// Negabinary patterns: butterflies and trees over the distances ρ(s) = Σ_{i ≤ s} (−2)^i = 1, −1, 3, −5, 11,
// …. They are about two thirds of a binomial tree's distances 1, 2, 4, 8, 16, ….
#pragma once

#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// ρ(step).
std::int64_t negabinary_distance(unsigned step);

/// Order of an exchange's distances: by size, or the reverse.
enum class DistanceOrder : std::uint8_t { near_first, far_first };

/// Exchange of all blocks among an even number of ranks: in the round of distance ρ an even rank r exchanges
/// with r + ρ, an odd one with r − ρ, modulo the number of ranks. A block that the partner has already is
/// left out, so that every rank receives every block once.
class NegabinaryButterfly {
 public:
  /// `procs` must be even or 1. O(P log P).
  NegabinaryButterfly(std::uint32_t procs, DistanceOrder order);

  /// ⌈log₂P⌉.
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(offsets_.size()); }
  std::uint32_t partner(std::uint32_t rank, std::uint32_t round) const;
  /// The blocks that a rank receives in a round, by rank. With near distances first they are a run modulo P,
  /// in order; with far distances first, even ones precede odd ones, since each of the two has equal gaps if
  /// P is a power of two.
  std::vector<std::uint32_t> received(std::uint32_t rank, std::uint32_t round) const;

 private:
  std::uint32_t procs_;
  DistanceOrder order_;
  std::vector<std::vector<std::uint32_t>> offsets_;  // by round: the ranks that receive the block of rank 0
};

/// One rank's node in the negabinary tree of a power of two of ranks. Ranks are relative to the root and
/// below the number of ranks. A subtree is a run of ranks, modulo their number, that begins at `first`.
struct NegabinaryNode {
  struct Child {
    std::uint32_t rank, first, subtree;
    std::uint32_t round;  ///< in which it receives from its parent, in a broadcast
  };
  std::uint32_t parent = 0;  ///< of the root: itself
  std::uint32_t first = 0, subtree = 1;
  std::uint32_t round = 0;
  std::vector<Child> children;  ///< by round: distances fall
};

/// The tree in which distances halve: log₂P rounds.
NegabinaryNode negabinary_node(std::uint32_t rank, std::uint32_t procs);

}  // namespace convene::patterns
