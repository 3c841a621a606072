// SPDX-License-Identifier: BSD-3-Clause
// Reductions in shared memory in which all ranks combine: the vector is cut into as many parts as there are
// ranks, all write theirs into shared places, rank j combines part j of all vectors, and the ranks that need
// the result read it.
#pragma once

#include "collective/shm/shm.hpp"

namespace convene::collective {

class InSitu {
 public:
  InSitu(const Call& call, Builder& builder) : call_(call), builder_(builder) {}

  /// Writes the own vector into the shared places, except the part that this rank combines.
  void put() const;
  /// Combines the own part of all vectors, in order, into a scratch place; returns that. Others may read it
  /// afterwards from part(rank, rank).
  Range combine() const;
  /// Writes the combined part into its shared place.
  void put(const Range& sum) const;
  /// Reads the result: the own part from `sum`, those of the others as their signals arrive.
  void collect(const Range& sum) const;

  /// Part `part` of a rank's vector; part(j, j) is the combined part j.
  Range part(Rank rank, Rank part) const { return Range(Buffer::shared, rank * call_.procs + part); }

  static std::uint64_t places(Rank procs, std::span<const Value>) { return std::uint64_t{procs} * procs; }
  static std::uint64_t pieces(Rank procs, std::span<const Value>) { return procs; }

 private:
  const Call& call_;
  Builder& builder_;
};

}  // namespace convene::collective
