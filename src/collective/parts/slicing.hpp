// SPDX-License-Identifier: BSD-3-Clause
// Reducing by slices: in each round groups of ranks cut the slice that they share, each member takes the
// others' contributions to one piece, and goes on with that. In the end each rank has one place of the sum,
// and the way back collects them. With groups of two this is recursive halving (the butterfly), else radix-k.
#pragma once

#include <span>
#include <vector>

#include "collective/parts/folding.hpp"

namespace convene::collective {

/// The sizes of the groups, round by round, that radices give, one a round, the last one for all further
/// rounds: from what is left of the number of processes, the largest divisor that is at most the radix, or,
/// if there is none, the smallest there is.
std::vector<Rank> radices(Rank procs, std::span<const Rank> wanted);
inline std::vector<Rank> radices(Rank procs, Rank radix) { return radices(procs, std::span(&radix, 1)); }

/// The vector has as many places as there are cores: the product of the radices. The members of a group of
/// the first round are neighbours; in each later round they are farther apart by the last one's size, so that
/// sums are over runs of ranks.
class Slicing {
 public:
  Slicing(const Call& call, Builder& builder, const Folding& folding, const std::vector<Rank>& radices);

  /// Contributions that come from above to the place that this rank keeps.
  std::uint32_t above() const;
  std::uint32_t rounds() const { return rounds_; }

  /// In the end every core has its place of the sum.
  void reduce_scatter(Partial& partial);
  /// From there: the core number `root` gets all places.
  void gather(Partial& partial, Rank root);
  /// From there: all cores get all places.
  void allgather(Partial& partial);

 private:
  struct Round {
    Rank radix, stride,
        digit;    // the group's size, how far apart its members' numbers are, which member this rank is
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
