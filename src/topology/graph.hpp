// SPDX-License-Identifier: BSD-3-Clause
// Neighbour graphs: the process topologies of MPI, for neighborhood collectives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::topology {

/// The sources and targets of each rank in MPI's order, which is the order of the blocks. A neighbour may
/// occur several times, and a rank may be its own neighbour.
struct Graph {
  /// No neighbour (MPI_PROC_NULL, beyond the edge of a grid): its block is not changed.
  static constexpr std::uint32_t no_rank = UINT32_MAX;

  std::vector<std::vector<std::uint32_t>> sources, targets;  ///< by rank
  /// A Cartesian grid: what a rank sends down in a dimension arrives from above, and the other way round.
  bool is_grid = false;

  explicit Graph(std::uint32_t procs = 0) : sources(procs), targets(procs) {}
  std::uint32_t procs() const { return static_cast<std::uint32_t>(sources.size()); }

  /// A grid, the last dimension contiguous. In each dimension the lower neighbour precedes the upper one
  /// (MPI_Cart_create).
  static Graph cartesian(std::span<const std::uint32_t> dims, bool periodic);
  /// A periodic grid whose neighbours differ by at most one in every dimension: 3^d − 1 of them.
  static Graph moore(std::span<const std::uint32_t> dims);
  /// Random targets, `degree` for each rank; a rank may be its own target, and targets may repeat.
  static Graph random(std::uint32_t procs, std::uint32_t degree, std::uint64_t seed);

  /// Reads "cart:4x4", "torus:4x4", "moore:3x3x3" or "random:DEGREE" (or "random:DEGREE:SEED"). Without
  /// sizes, as in "torus", the grid is the plane of `procs` ranks that is nearest to a square. Throws Error.
  static Graph parse(std::string_view text, std::uint32_t procs);

  /// Every rank is a source of each of its targets, as many times as the target occurs.
  bool is_consistent() const;

  // Which block of a neighborhood alltoall is which (MPI 4.1, section 8.6): the n-th block that a rank sends
  // to another is the n-th that it receives from there, in the order of receive_order().

  /// The places of a rank's sources: in order, but on a grid the upper neighbour of each dimension first.
  std::vector<std::uint32_t> receive_order(std::uint32_t rank) const;
  /// The place among its targets of the block that a source sends to place `place` of a rank. Of a consistent
  /// graph, and not for `no_rank`.
  std::uint32_t sent_from(std::uint32_t rank, std::uint32_t place) const;
  /// The largest number of targets of a rank.
  std::uint32_t most_targets() const;

  /// The ranks of a list, each once, in order, without `no_rank`.
  static std::vector<std::uint32_t> distinct(std::span<const std::uint32_t> ranks);
};

/// The two factors of a number that differ least, the larger first.
std::vector<std::uint32_t> nearly_square(std::uint32_t procs);

}  // namespace convene::topology
