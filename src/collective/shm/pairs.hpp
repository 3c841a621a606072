// SPDX-License-Identifier: BSD-3-Clause
// Blocks of all pairs of ranks in shared memory (alltoall, reduce_scatter): every rank writes its block for
// each other rank into a place of that pair, segment by segment, and signals the other rank.
#pragma once

#include "collective/shm/shm.hpp"

namespace convene::collective {

/// The number of a pair of different ranks, below P(P − 1).
inline Place pair_number(Rank from, Rank to, Rank procs) {
  return from * (procs - 1) + (to < from ? to : to - 1);
}

class SharedPairs {
 public:
  SharedPairs(const Call& call, Builder& builder)
      : call_(call), builder_(builder), segments_(static_cast<std::uint32_t>(call.parameters[0])) {}

  std::uint32_t segments() const { return segments_; }
  /// A segment of the input's block for a rank.
  Range input(Rank to, std::uint32_t segment) const { return Range(Buffer::input, to * segments_ + segment); }
  /// Writes a segment of the blocks for all other ranks. From the third one on, the ranks of each pair first
  /// return their places to each other.
  void put(std::uint32_t segment) const;
  /// Awaits a segment of the block that another rank has for this one; returns its place, which keeps it
  /// until the next call of put().
  Range take(Rank from, std::uint32_t segment) const;

  /// One or two places for each pair, a segment each. The first parameter is the number of segments.
  static std::uint64_t places(Rank procs, std::span<const Value> parameters);

 private:
  Range place(Rank from, Rank to, std::uint32_t segment) const;

  const Call& call_;
  Builder& builder_;
  const std::uint32_t segments_;
};

}  // namespace convene::collective
