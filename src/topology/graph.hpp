// SPDX-License-Identifier: BSD-3-Clause
// Who is whose neighbour: the process topologies of MPI, as neighborhood collectives see them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::topology {

/// For each rank, whom it receives from and whom it sends to, in the order in which MPI has them: that is the order of
/// the blocks. A neighbour may be there several times, and a rank may be its own.
struct Graph {
  /// A neighbour that is none (MPI_PROC_NULL, beyond the edge of a grid): its block is left as it is.
  static constexpr std::uint32_t nobody = UINT32_MAX;

  std::vector<std::vector<std::uint32_t>> sources, targets;  ///< by rank

  explicit Graph(std::uint32_t procs = 0) : sources(procs), targets(procs) {}
  std::uint32_t procs() const { return static_cast<std::uint32_t>(sources.size()); }

  /// A grid, the last dimension contiguous; in each dimension the neighbour below, then the one above (MPI_Cart_create).
  static Graph cartesian(std::span<const std::uint32_t> dims, bool periodic);
  /// A periodic grid in which all ranks that differ by at most one in every dimension are neighbours: 3^d − 1 of them.
  static Graph moore(std::span<const std::uint32_t> dims);
  /// Each rank has so many targets, any ones, itself and the same one again included.
  static Graph random(std::uint32_t procs, std::uint32_t degree, std::uint64_t seed);

  /// Reads "cart:4x4", "torus:4x4", "moore:3x3x3" or "random:DEGREE" (or "random:DEGREE:SEED"); without sizes, "torus"
  /// say, a plane that is as nearly square as the number of processes allows. Throws Error.
  static Graph parse(std::string_view text, std::uint32_t procs);

  /// Whether every rank that sends to another one so many times is so many times a source of that one.
  bool is_consistent() const;

  /// The ranks of a list, each once, in order, without `nobody`.
  static std::vector<std::uint32_t> distinct(std::span<const std::uint32_t> ranks);
};

/// Two numbers, as nearly equal as can be, the larger first, whose product is this.
std::vector<std::uint32_t> nearly_square(std::uint32_t procs);

}  // namespace convene::topology
