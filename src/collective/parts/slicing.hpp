// SPDX-License-Identifier: BSD-3-Clause
// Reduction by slices: in each round groups of ranks cut their common slice into pieces, each member receives
// the others' contributions to one piece, and continues with that. At the end each rank has one place of the
// sum, and the reverse way collects them. With groups of two this is recursive halving (the butterfly), else
// radix-k.
#pragma once

#include <span>
#include <vector>

#include "collective/parts/folding.hpp"

namespace convene::collective {

/// The sizes of the groups, round by round. `wanted` has one radix per round, the last one for all further
/// rounds. Each size is the largest divisor of the remaining number of processes that is at most the radix
/// or, if there is none, the smallest divisor.
std::vector<Rank> radices(Rank procs, std::span<const Rank> wanted);
inline std::vector<Rank> radices(Rank procs, Rank radix) { return radices(procs, std::span(&radix, 1)); }

/// The vector has as many places as there are cores, which is the product of the radices. The members of a
/// group of the first round are neighbours; in each later round they are farther apart by the last one's
/// size, so that sums are over runs of ranks.
class Slicing {
 public:
  Slicing(const Call& call, Builder& builder, const Folding& folding, const std::vector<Rank>& radices);

  /// Number of contributions from above to the place that this rank keeps.
  std::uint32_t above() const;
  std::uint32_t rounds() const { return rounds_; }

  /// At the end every core has its place of the sum.
  void reduce_scatter(Partial& partial);
  /// After the reduce-scatter: the core number `root` collects all places.
  void gather(Partial& partial, Rank root);
  /// After the reduce-scatter: all cores collect all places.
  void allgather(Partial& partial);

 private:
  struct Round {
    Rank radix, stride,
        digit;    // the group's size, the distance of its members' numbers, the member that this rank is
    Place first;  // of the slice
    std::uint32_t piece;        // places of a piece of it
    std::uint32_t first_round;  // label
  };

  Rank member(const Round& round, Rank digit) const;
  std::vector<Place> piece(const Round& round, Rank digit) const;

  const Call& call_;
  Builder& builder_;
  const Folding& folding_;
  const Rank own_;  // number among the cores
  std::vector<Round> levels_;
  std::uint32_t rounds_ = 0;
};

}  // namespace convene::collective
